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

/** Shorter prefixes are not those of a network with this machine in it, whatever an interface says. */
const PREFIX_MIN = { ipv4: 16, ipv6: 48 }

/** Words in the middle of an address that say that one of version 4 follows, wherever it leads (ISATAP, RFC 5214). */
const TUNNEL_WORDS: readonly (readonly [number, number])[] = [
  [0, 0x5efe],
  [0x200, 0x5efe],
]

/** Whether a text is a network like `203.0.113.0/24`. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text)
}

/** Where this machine is. */
interface Own {
  readonly addresses: ReadonlySet<string>
  readonly networks: readonly Network[]
}

/** Tells addresses of the public internet from all others. */
export class AddressGuard {
  readonly #deny: readonly Network[]
  readonly #own: () => Iterable<string>

  /**
   * `deny` are networks like `203.0.113.0/24`; `own` are addresses of this machine at the time, with the length of their network
   * (`2001:db8::5/64`) where that is known. Throws at a network that is none.
   */
  constructor(deny: readonly string[], own: () => Iterable<string> = interfaceAddresses) {
    this.#deny = [...OF_CLOUDS, ...deny.map((text) => ipaddr.parseCIDR(text))]
    this.#own = own
  }

  /** Why one of the addresses is not connected to for a stranger, or null; `alsoOwn` are further addresses of this node. */
  refusal(addresses: readonly string[], alsoOwn: readonly string[] = []): string | null {
    const mine = [...this.#own()]
    const own = { addresses: new Set([...mine, ...alsoOwn].map(plain)), networks: mine.flatMap(networkAt) }
    for (const text of addresses) {
      const reason = this.#refusalOf(text, own)
      if (reason !== null) return reason
    }
    return null
  }

  #refusalOf(text: string, own: Own): string | null {
    if (!ipaddr.isValid(text)) return 'its address is none'
    // A version 4 address in the clothes of version 6 is what it is inside.
    const address = ipaddr.process(text)
    const isPublic =
      address.range() === 'unicast' &&
      (address.kind() === 'ipv4' || (isIn(address, PUBLIC_V6) && !isTunnel(address as ipaddr.IPv6)))
    if (!isPublic) return 'its address is not a public one'
    if (own.addresses.has(address.toString())) return 'its address is that of this node'
    // Who lives in one network with this machine has public addresses, too, which a firewall keeps from everybody else.
    if (own.networks.some((network) => isIn(address, network))) return 'its network is that of this node'
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
  const [address = ''] = text.split('/')
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : text
}

/** The network around an address that is told with its length; none for one address alone. */
function networkAt(text: string): readonly Network[] {
  if (!ipaddr.isValidCIDR(text)) return []
  const [address, bits] = ipaddr.parseCIDR(text)
  const isWhole = bits === (address.kind() === 'ipv4' ? 32 : 128)
  return isWhole || bits < PREFIX_MIN[address.kind()] ? [] : [[address, bits]]
}

/** Addresses of this machine now, with the length of their networks. */
function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address, cidr }) => cidr ?? address))
}
