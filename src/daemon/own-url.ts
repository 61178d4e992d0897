import type { Config } from '../../config/settings.ts'

type Place = Pick<Config['rpc'], 'host' | 'port'>

/** Base address of a node's HTTP API as its own machine reaches it. */
export function localUrl({ host, port }: Place): string {
  const reached = isEveryAddress(host) ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** Base address as callers reach it: the public URL, else where the node listens; null where it listens on every address, for which of them callers see is not known. */
export function callersUrl({ publicUrl, ...place }: Place & Pick<Config['rpc'], 'publicUrl'>): string | null {
  return publicUrl ?? (isEveryAddress(place.host) ? null : localUrl(place))
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
