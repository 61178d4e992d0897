import { isIPv4, isIPv6 } from 'node:net'
import type { TrustedProxies } from '../rpc/edge/proxies.ts'

/** The proxies that a text names: `true`, `false`, or addresses and networks separated by commas; null where it is none of these. */
export function parseProxies(text: string): TrustedProxies | null {
  if (text === 'true' || text === 'false') return text === 'true'
  const proxies = text.split(',')
  return proxies.every(isPlace) ? proxies : null
}

function isPlace(text: string): boolean {
  const [, address = '', bits = '0'] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128)
}
