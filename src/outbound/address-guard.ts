import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Of version 6 only this part is given out to the public; the rest has no names, or names that libraries call unicast. */
const PUBLIC_V6: Network = ipaddr.parseCIDR('2000::/3')

/**
 * Public by their number, and yet answered by the network of a cloud from within: what hands out the keys and secrets of this very
 * machine (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16). Others have private addresses.
 */
const OF_CLOUDS: readonly Network[] = [ipaddr.parseCIDR('168.63.129.16/32')]

/** Words in the middle of an address that say that one of version 4 follows, wherever it leads (ISATAP, RFC 5214). */
const TUNNEL_WORDS: readonly (readonly [number, number])[] = [
  [0, 0x5efe],
  [0x200, 0x5efe],
]

/** Whether a text is a network like `203.0.113.0/24`. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text)
}

/** Tells addresses of the public internet from all others. */
export class AddressGuard {
  readonly #deny: readonly Network[]
  readonly #own: () => Iterable<string>

  /** `deny` are networks like `203.0.113.0/24`; `own` are addresses of this machine at the time. Throws at a network that is none. */
  constructor(deny: readonly string[], own: () => Iterable<string> = interfaceAddresses) {
    this.#deny = [...OF_CLOUDS, ...deny.map((text) => ipaddr.parseCIDR(text))]
    this.#own = own
  }

  /** Why one of the addresses is not connected to for a stranger, or null; `alsoOwn` are further addresses of this node. */
  refusal(addresses: readonly string[], alsoOwn: readonly string[] = []): string | null {
    const own = new Set([...this.#own(), ...alsoOwn].map(plain))
    for (const text of addresses) {
      const reason = this.#refusalOf(text, own)
      if (reason !== null) return reason
    }
    return null
  }

  #refusalOf(text: string, own: ReadonlySet<string>): string | null {
    if (!ipaddr.isValid(text)) return 'its address is none'
    // A version 4 address in the clothes of version 6 is what it is inside.
    const address = ipaddr.process(text)
    const isPublic =
      address.range() === 'unicast' &&
      (address.kind() === 'ipv4' || (isIn(address, PUBLIC_V6) && !isTunnel(address as ipaddr.IPv6)))
    if (!isPublic) return 'its address is not a public one'
    if (own.has(address.toString())) return 'its address is that of this node'
    return this.#deny.some((network) => isIn(address, network)) ? 'its network is never read' : null
  }
}

function isTunnel({ parts }: ipaddr.IPv6): boolean {
  return TUNNEL_WORDS.some(([first, second]) => parts[4] === first && parts[5] === second)
}

/**
 * What addresses are counted under: one of version 4 is itself; of version 6 all of a network of 64 bits, as whoever has one
 * address there has them all.
 */
export function placeOf(text: string): string {
  if (!ipaddr.isValid(text)) return text
  const address = ipaddr.process(text)
  if (address.kind() === 'ipv4') return address.toString()
  return (address as ipaddr.IPv6).parts.slice(0, 4).join(':')
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: Network): boolean {
  if (address.kind() === 'ipv4' && network.kind() === 'ipv4')
    return (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
  if (address.kind() === 'ipv6' && network.kind() === 'ipv6')
    return (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits)
  return false
}

function plain(text: string): string {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text
}

/** Addresses of this machine now. */
function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
}
