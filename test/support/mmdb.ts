/**
 * Writes MaxMind DB files by the public specification, version 2.0 (https://maxmind.github.io/MaxMind-DB/): a binary
 * search tree of 24-bit records, 16 zero bytes, the data section, a marker and the metadata.
 */

/** A value of the format. Whole numbers from 0 on are written as uint32, all other numbers as doubles. */
export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [key: string]: MmdbValue }

/** The contents of a file. */
export interface MmdbParts {
  readonly type: string
  /** Records by network, IPv4 or IPv6: `{'203.0.114.0/24': {...}}`. */
  readonly networks: Readonly<Record<string, MmdbValue>>
  readonly ipVersion?: 4 | 6
  /** Seconds since 1970. */
  readonly buildEpoch?: number
}

const MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex')
const TYPES = { string: 2, double: 3, uint32: 6, map: 7, array: 11, boolean: 14 } as const

export function mmdb({ type, networks, ipVersion = 6, buildEpoch = 1_795_000_000 }: MmdbParts): Buffer {
  const nodes: (number | null)[][] = [[null, null]]
  const data: Buffer[] = []
  let offset = 0
  for (const [network, value] of Object.entries(networks)) {
    const bits = bitsOf(network, ipVersion)
    let at = 0
    for (const bit of bits.slice(0, -1)) {
      const node = nodes[at] as (number | null)[]
      if (node[bit] === null) node[bit] = nodes.push([null, null]) - 1
      at = node[bit] as number
    }
    // Until the number of nodes is known, a negative number stands for an offset in the data section.
    ;(nodes[at] as (number | null)[])[bits.at(-1) as number] = -1 - offset
    data.push(encode(value))
    offset += (data.at(-1) as Buffer).length
  }
  const tree = Buffer.alloc(nodes.length * 6)
  nodes.flat().forEach((to, i) => {
    tree.writeUIntBE(to === null ? nodes.length : to < 0 ? nodes.length + 16 - 1 - to : to, i * 3, 3)
  })
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: buildEpoch,
    database_type: type,
    description: { en: type },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: 24,
  }
  return Buffer.concat([tree, Buffer.alloc(16), ...data, MARKER, encode(metadata)])
}

/** Bits of a network. In an IPv6 tree, IPv4 lies behind 96 zeros. */
function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const [ip = '', length = ''] = network.split('/')
  const isFour = !ip.includes(':')
  const [head = '', tail = ''] = ip.split('::')
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '')
  const zeros = Array<string>(8 - groups(head).length - groups(tail).length).fill('0')
  const hex = [...groups(head), ...(ip.includes('::') ? zeros : []), ...groups(tail)]
  const text = isFour
    ? ip.split('.').map((part) => Number(part).toString(2).padStart(8, '0'))
    : hex.map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
  const bits = Array.from(text.join(''), Number).slice(0, Number(length))
  return isFour && ipVersion === 6 ? [...Array<number>(96).fill(0), ...bits] : bits
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([control(TYPES.string, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'boolean') return control(TYPES.boolean, Number(value))
  if (typeof value === 'number') return encodeNumber(value)
  if (Array.isArray(value)) return Buffer.concat([control(TYPES.array, value.length), ...value.map(encode)])
  const entries = Object.entries(value as Readonly<Record<string, MmdbValue>>)
  return Buffer.concat([
    control(TYPES.map, entries.length),
    ...entries.flatMap(([key, of]) => [encode(key), encode(of)]),
  ])
}

function encodeNumber(value: number): Buffer {
  const isWhole = Number.isInteger(value) && value >= 0
  const bytes = Buffer.alloc(isWhole ? 4 : 8)
  if (isWhole) bytes.writeUInt32BE(value)
  else bytes.writeDoubleBE(value)
  return Buffer.concat([control(isWhole ? TYPES.uint32 : TYPES.double, bytes.length), bytes])
}

/** Control byte: three bits of type, five of size. Types above 7 and sizes from 29 on take one more byte each. */
function control(type: number, size: number): Buffer {
  if (size > 284) throw new Error('the generator writes sizes up to 284')
  const small = size < 29 ? size : 29
  const first = type <= 7 ? [(type << 5) | small] : [small, type - 7]
  return Buffer.from(size < 29 ? first : [...first, size - 29])
}
