/** Numbers in [0, 1). */
export type Random = () => number

const BOUNDARIES = [0n, 1n, 2n, 0x7fn, 0x80n, 0xffn, 0x7fffn, 0xffffn, 0x7fffffffn, 0x80000000n, 0xffffffffn, 2n ** 53n]
const WIDTHS = [1, 2, 4, 8, 16, 32]
/** Tokens of all parsed texts: grammars break at their own tokens. */
const WORDS = [
  '/',
  ':',
  '::',
  '.',
  '-',
  '0',
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  'null',
  '1e999',
  '\u0000',
  '\ud7ff',
  '%',
  ' ',
]
const STACK_MAX = 4
const CHUNK_MAX = 64

type Mutation = (bytes: Uint8Array, random: Random, pool: readonly Uint8Array[]) => Uint8Array

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => changed(bytes, random, (copy, at) => (copy[at] = (copy[at] as number) ^ (1 << below(random, 8)))),
  (bytes, random) => changed(bytes, random, (copy, at) => (copy[at] = below(random, 256))),
  boundary,
  tamperedLength,
  (bytes, random) => bytes.subarray(0, below(random, bytes.length + 1)),
  (bytes, random) => joined(bytes, randomBytes(random, 1 + below(random, CHUNK_MAX))),
  (bytes, random) => around(bytes, random, (chunk) => joined(chunk, chunk)),
  (bytes, random) => around(bytes, random, () => new Uint8Array(0)),
  (bytes, random) => around(bytes, random, ({ length }) => randomBytes(random, length)),
  (bytes, random) => around(bytes, random, () => Buffer.from(WORDS[below(random, WORDS.length)] as string)),
  spliced,
]

/** A random integer that is at least 0 and below the bound. */
export function below(random: Random, bound: number): number {
  return Math.floor(random() * bound)
}

/** Random bytes. */
export function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => below(random, 256))
}

/** The bytes of all parts, one part after the other, as a copy. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}

/** An input of the pool with a few random changes. */
export function mutated(random: Random, pool: readonly Uint8Array[]): Uint8Array {
  let bytes = pool[below(random, pool.length)] ?? new Uint8Array(0)
  for (let changes = 1 + below(random, STACK_MAX); changes > 0; changes--) {
    bytes = (MUTATIONS[below(random, MUTATIONS.length)] as Mutation)(bytes, random, pool)
  }
  return Uint8Array.from(bytes)
}

function changed(bytes: Uint8Array, random: Random, change: (copy: Uint8Array, at: number) => void): Uint8Array {
  const copy = Uint8Array.from(bytes)
  if (copy.length > 0) change(copy, below(random, copy.length))
  return copy
}

/** Overwrites bytes with an integer from the edges of common ranges, in one of several widths. */
function boundary(bytes: Uint8Array, random: Random): Uint8Array {
  const width = WIDTHS[below(random, WIDTHS.length)] as number
  const value = BOUNDARIES[below(random, BOUNDARIES.length)] as bigint
  const written = random() < 0.3 ? -1n - value : value
  return changed(bytes, random, (copy, at) => {
    for (let i = 0; i < width && at + i < copy.length; i++) copy[at + i] = Number((written >> BigInt(8 * i)) & 0xffn)
  })
}

/** Changes a number that looks like a length or an offset, since it is not larger than the input. */
function tamperedLength(bytes: Uint8Array, random: Random): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const places: number[] = []
  for (let at = 0; at + 4 <= bytes.length && places.length < CHUNK_MAX; at++) {
    const value = view.getUint32(at, true)
    if (value > 0 && value <= bytes.length) places.push(at)
  }
  const place = places[below(random, places.length)]
  if (place === undefined) return bytes
  const copy = Uint8Array.from(bytes)
  const value = view.getUint32(place, true) + [-4, -1, 1, 4, bytes.length][below(random, 5)]!
  new DataView(copy.buffer).setUint32(place, value >>> 0, true)
  return copy
}

function around(bytes: Uint8Array, random: Random, replace: (chunk: Uint8Array) => Uint8Array): Uint8Array {
  const start = below(random, bytes.length + 1)
  const end = Math.min(bytes.length, start + 1 + below(random, CHUNK_MAX))
  return joined(bytes.subarray(0, start), replace(bytes.subarray(start, end)), bytes.subarray(end))
}

/** Joins the head of one input and the tail of another. */
function spliced(bytes: Uint8Array, random: Random, pool: readonly Uint8Array[]): Uint8Array {
  const other = pool[below(random, pool.length)] ?? bytes
  return joined(bytes.subarray(0, below(random, bytes.length + 1)), other.subarray(below(random, other.length + 1)))
}
