import { BlockList, type IPVersion, isIPv4, isIPv6 } from 'node:net'
import { withoutPort } from './client-key.ts'

/**
 * The proxies that are believed about the address of a client. `true`: the other end of every connection. `false`:
 * none. Else: these addresses and networks.
 */
export type TrustedProxies = boolean | readonly string[]

/** Whether an address is a trusted proxy: the other end of a connection, or a hop before it. */
export type IsProxy = (address: string | undefined) => boolean

/** Reads `true`, `false`, or addresses and networks separated by commas. Null for any other text. */
export function parseProxies(text: string): TrustedProxies | null {
  if (text === 'true' || text === 'false') return text === 'true'
  const proxies = text.split(',')
  return proxies.every(isPlace) ? proxies : null
}

/** A check whether an address is one of these proxies. */
export function proxiesOf(trusted: TrustedProxies): IsProxy {
  if (typeof trusted === 'boolean') return () => trusted
  const named = new BlockList()
  for (const place of trusted) {
    const [address = '', bits] = place.split('/')
    if (bits === undefined) named.addAddress(address, versionOf(address))
    else named.addSubnet(address, Number(bits), versionOf(address))
  }
  return (written) => {
    const address = withoutPort(written ?? '')
    return named.check(address, versionOf(address))
  }
}

/**
 * The trusted hops of a request, as Fastify asks for them. Hop 0 is the other end of the connection; then come the
 * addresses in `X-Forwarded-For`, from the last to the first. With `true` only hop 0 is believed: a client can have
 * written every other hop.
 */
export function believedHops(trusted: TrustedProxies): false | ((address: string, hop: number) => boolean) {
  if (trusted === false) return false
  const isProxy = proxiesOf(trusted)
  return (address, hop) => (trusted !== true || hop === 0) && isProxy(address)
}

function versionOf(address: string): IPVersion {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

function isPlace(text: string): boolean {
  const [, address = '', bits = '0'] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128)
}
