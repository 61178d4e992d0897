import { BlockList, type IPVersion, isIPv4, isIPv6 } from 'node:net'
import { withoutPort } from './client-key.ts'

/**
 * Who is believed about who asks: with `true` the other end of every connection, with `false` none, else those that have one of these
 * addresses or are in one of these networks.
 */
export type TrustedProxies = boolean | readonly string[]

/** Whether the other end of a connection, or an address in front of it, is a proxy that is believed. */
export type IsProxy = (address: string | undefined) => boolean

/** The proxies that a text names: `true`, `false`, or addresses and networks separated by commas; null where it is none of these. */
export function parseProxies(text: string): TrustedProxies | null {
  if (text === 'true' || text === 'false') return text === 'true'
  const proxies = text.split(',')
  return proxies.every(isPlace) ? proxies : null
}

/** Tells proxies from others. */
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
 * The proxies of a request, as Fastify asks for them: its connection's other end is hop 0, then the addresses in `X-Forwarded-For` from
 * the last. Where none are named only the one directly in front is believed: what stands before it, a client can have written.
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
