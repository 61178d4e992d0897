import type { Config } from '../../config/settings.ts'

type Place = Pick<Config['rpc'], 'host' | 'port'>

/** For programs on the same machine. */
export function localUrl({ host, port }: Place): string {
  const reached = isEveryAddress(host) ? '127.0.0.1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** For callers. Null if the node listens on all addresses: which of them callers use is unknown. */
export function callersUrl({ publicUrl, ...place }: Place & Pick<Config['rpc'], 'publicUrl'>): string | null {
  return publicUrl ?? (isEveryAddress(place.host) ? null : localUrl(place))
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
