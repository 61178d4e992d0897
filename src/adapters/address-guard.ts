import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** The only part of IPv6 that is assigned for public unicast. `range()` calls unassigned parts unicast, too. */
const PUBLIC_V6: Network = ipaddr.parseCIDR('2000::/3')

/**
 * A public address at which a cloud's own network gives out keys and secrets of this machine
 * (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16). Other clouds use private
 * addresses.
 */
const OF_CLOUDS: readonly Network[] = [ipaddr.parseCIDR('168.63.129.16/32')]

/** An interface with a shorter prefix is misconfigured: its network is not treated as that of this machine. */
const PREFIX_MIN = { ipv4: 16, ipv6: 48 }

/** Fifth and sixth group of an IPv6 address that embeds an IPv4 address in its last two (ISATAP, RFC 5214). */
const TUNNEL_WORDS: readonly (readonly [number, number])[] = [
  [0, 0x5efe],
  [0x200, 0x5efe],
]

/** Whether a text is a network in CIDR form, like `203.0.113.0/24`. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text)
}

interface Own {
  readonly addresses: ReadonlySet<string>
  readonly networks: readonly Network[]
}

/** Keeps callers from reaching private networks through this node: only addresses of the public internet pass. */
export class AddressGuard {
  readonly #deny: readonly Network[]
  readonly #own: () => Iterable<string>

  /**
   * `deny`: further refused networks in CIDR form. `own`: this machine's addresses now, with the prefix length where it
   * is known (`2001:db8::5/64`). Throws if a network in `deny` is malformed.
   */
  constructor(deny: readonly string[], own: () => Iterable<string> = interfaceAddresses) {
    this.#deny = [...OF_CLOUDS, ...deny.map((text) => ipaddr.parseCIDR(text))]
    this.#own = own
  }

  /** Why this node must not connect to one of the addresses, or null. `alsoOwn`: further addresses of this node. */
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
    // `process` turns an IPv4 address that is mapped into IPv6 into the IPv4 address.
    const address = ipaddr.process(text)
    const isPublic =
      address.range() === 'unicast' &&
      (address.kind() === 'ipv4' || (isIn(address, PUBLIC_V6) && !isTunnel(address as ipaddr.IPv6)))
    if (!isPublic) return 'its address is not a public one'
    if (own.addresses.has(address.toString())) return 'its address is that of this node'
    // Neighbours in this machine's network may have public addresses, which a firewall closes to the internet.
    if (own.networks.some((network) => isIn(address, network))) return 'its network is that of this node'
    return this.#deny.some((network) => isIn(address, network)) ? 'its network is never read' : null
  }
}

function isTunnel({ parts }: ipaddr.IPv6): boolean {
  return TUNNEL_WORDS.some(([first, second]) => parts[4] === first && parts[5] === second)
}

/**
 * The key by which addresses are counted. It is the /64 network of an IPv6 address, because one host usually controls
 * its whole /64.
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

function networkAt(text: string): readonly Network[] {
  if (!ipaddr.isValidCIDR(text)) return []
  const [address, bits] = ipaddr.parseCIDR(text)
  const isWhole = bits === (address.kind() === 'ipv4' ? 32 : 128)
  return isWhole || bits < PREFIX_MIN[address.kind()] ? [] : [[address, bits]]
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address, cidr }) => cidr ?? address))
}
