/** An IP address as 4 or 16 bytes. */
export type Ip = readonly number[]

/** Class of an address, by its use. */
export type AddressRange = 'public' | 'loopback' | 'private' | 'link-local' | 'cgnat' | 'multicast' | 'reserved'

/** Most outbound connections to one group: /16 of IPv4, /32 of IPv6. The owner of one network must not be all that we see. */
export const OUTBOUND_PER_GROUP = 1
/** Most inbound connections from one address. Of IPv6 it is a /64, which one machine has whole. */
export const INBOUND_PER_HOST = 2
/** Most inbound connections from one small network: /24 of IPv4, /48 of IPv6. */
export const INBOUND_PER_NET = 8

type Range = readonly [prefix: Ip, bits: number, range: AddressRange]

const RANGES_4: readonly Range[] = [
  [[0], 8, 'reserved'],
  [[10], 8, 'private'],
  [[100, 64], 10, 'cgnat'],
  [[127], 8, 'loopback'],
  [[169, 254], 16, 'link-local'],
  [[172, 16], 12, 'private'],
  [[192, 0, 0], 24, 'reserved'],
  [[192, 0, 2], 24, 'reserved'],
  [[192, 88, 99], 24, 'reserved'],
  [[192, 168], 16, 'private'],
  [[198, 18], 15, 'reserved'],
  [[198, 51, 100], 24, 'reserved'],
  [[203, 0, 113], 24, 'reserved'],
  [[224], 4, 'multicast'],
  [[240], 4, 'reserved'],
  [[], 0, 'public'],
]

const RANGES_6: readonly Range[] = [
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128, 'loopback'],
  [[0xfc], 7, 'private'],
  [[0xfe, 0x80], 10, 'link-local'],
  [[0xff], 8, 'multicast'],
  [[0x20, 0x01, 0x0d, 0xb8], 32, 'reserved'],
  // Teredo, ORCHID and the like: tunnels and identifiers, not places.
  [[0x20, 0x01, 0, 0], 23, 'reserved'],
  [[0x3f, 0xff, 0], 20, 'reserved'],
  [[0x20], 3, 'public'],
  [[], 0, 'reserved'],
]

/** IPv6 prefixes in front of an IPv4 address: mapped, NAT64, 6to4. */
const CARRIERS: readonly Ip[] = [
  [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
  [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0],
  [0x20, 0x02],
]

const LOCAL: ReadonlySet<AddressRange> = new Set(['loopback', 'private', 'link-local', 'cgnat'])

/** Reads IPv4 in dotted decimals without leading zeros, or IPv6 without a zone; undefined for anything else. */
export function parseIp(text: string): Ip | undefined {
  if (text.length > 45) return undefined
  return text.includes(':') ? parseIp6(text) : parseIp4(text)
}

/** Canonical text: dotted decimals, or RFC 5952. */
export function formatIp(ip: Ip): string {
  if (ip.length === 4) return ip.join('.')
  const words = Array.from({ length: 8 }, (_, i) =>
    (((ip[2 * i] as number) << 8) | (ip[2 * i + 1] as number)).toString(16),
  )
  const text = words.join(':')
  const gaps = [...text.matchAll(/(?<![^:])0(:0)+(?![^:])/g)].toSorted((a, b) => b[0].length - a[0].length)
  const [gap] = gaps
  if (gap === undefined) return text
  return `${text.slice(0, gap.index).replace(/:$/, '')}::${text.slice(gap.index + gap[0].length).replace(/^:/, '')}`
}

/** The IPv4 address inside a mapped, NAT64 or 6to4 address; any other address unchanged. */
export function unwrapped(ip: Ip): Ip {
  if (ip.length === 4) return ip
  const carrier = CARRIERS.find((prefix) => prefix.every((byte, i) => ip[i] === byte))
  return carrier === undefined ? ip : ip.slice(carrier.length, carrier.length + 4)
}

/** Range of an address. */
export function rangeOf(ip: Ip): AddressRange {
  const inner = unwrapped(ip)
  const ranges = inner.length === 4 ? RANGES_4 : RANGES_6
  return (ranges.find(([prefix, bits]) => startsWith(inner, prefix, bits)) as Range)[2]
}

/** Whether limits by address do not apply to an address. In a test network many nodes may share one address. */
export function isExempt(ip: Ip, allowPrivate: boolean): boolean {
  return allowPrivate && LOCAL.has(rangeOf(ip))
}

/** Whether nodes of the network can be at an address, so that it is dialled and passed on. */
export function isDialable(ip: Ip, allowPrivate: boolean): boolean {
  return rangeOf(ip) === 'public' || isExempt(ip, allowPrivate)
}

/** Name of the network of an address as outbound connections count it: /16 of IPv4, /32 of IPv6. */
export function groupOf(ip: Ip): string {
  return keyOf(ip, 2, 4)
}

/** Name of the machine of an address as inbound connections count it: the IPv4 address, or the /64 of IPv6. */
export function hostOf(ip: Ip): string {
  return keyOf(ip, 4, 8)
}

/** Name of the small network of an address as inbound connections count it: /24 of IPv4, /48 of IPv6. */
export function netOf(ip: Ip): string {
  return keyOf(ip, 3, 6)
}

/** Whether an outbound connection to `ip` may be added to those to `others`. */
export function mayReachOut(others: readonly Ip[], ip: Ip, allowPrivate: boolean): boolean {
  return isExempt(ip, allowPrivate) || count(others, ip, groupOf) < OUTBOUND_PER_GROUP
}

/** Whether an inbound connection from `ip` may be added to those from `others`. */
export function mayTakeIn(others: readonly Ip[], ip: Ip, allowPrivate: boolean): boolean {
  if (isExempt(ip, allowPrivate)) return true
  return count(others, ip, hostOf) < INBOUND_PER_HOST && count(others, ip, netOf) < INBOUND_PER_NET
}

function count(others: readonly Ip[], ip: Ip, nameOf: (ip: Ip) => string): number {
  const name = nameOf(ip)
  return others.filter((other) => nameOf(other) === name).length
}

function keyOf(ip: Ip, bytes4: number, bytes6: number): string {
  const inner = unwrapped(ip)
  return inner.length === 4
    ? `4:${inner.slice(0, bytes4).join('.')}`
    : `6:${inner
        .slice(0, bytes6)
        .map((byte) => byte.toString(16).padStart(2, '0'))
        .join('')}`
}

function startsWith(ip: Ip, prefix: Ip, bits: number): boolean {
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 0xff : 0xff & (0xff << (8 - (bits - bit)))
    const at = bit / 8
    if (((ip[at] as number) & mask) !== ((prefix[at] ?? 0) & mask)) return false
  }
  return true
}

function parseIp4(text: string): Ip | undefined {
  if (!/^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$/.test(text)) return undefined
  const bytes = text.split('.').map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : undefined
}

function parseIp6(text: string): Ip | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half) => (half === '' ? [] : bytesOf(half)))
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  // Dotted decimals may only stand at the end.
  if (halves.length === 2 && halves[0]?.includes('.')) return undefined
  const missing = 16 - head.length - (tail?.length ?? 0)
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  return [...head, ...new Array<number>(missing).fill(0), ...(tail ?? [])]
}

/** Bytes of colon-separated words. The last word may be dotted decimals. */
function bytesOf(half: string): number[] | undefined {
  const words = half.split(':')
  const bytes: number[] = []
  for (const [i, word] of words.entries()) {
    const dotted = i === words.length - 1 ? parseIp4(word) : undefined
    if (dotted !== undefined) bytes.push(...dotted)
    else if (/^[0-9a-fA-F]{1,4}$/.test(word))
      bytes.push(Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff)
    else return undefined
  }
  return bytes
}
