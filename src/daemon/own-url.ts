import type { Config } from '../../config/settings.ts'

type Place = Pick<Config['rpc'], 'host' | 'port'>

/** Base address of a node's HTTP API for programs on the same machine. */
export function localUrl({ host, port }: Place): string {
  const reached = isEveryAddress(host) ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/**
 * Base address of the API for callers: the public URL, else the address that the node listens on. Null if it listens on
 * all addresses: which of them callers use is unknown.
 */
export function callersUrl({ publicUrl, ...place }: Place & Pick<Config['rpc'], 'publicUrl'>): string | null {
  return publicUrl ?? (isEveryAddress(place.host) ? null : localUrl(place))
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
