import { hex, join, sha256, toLittleEndian, utf8 } from './bytes.ts'

/**
 * SSZ, tagged hashes and list trees in a few lines, written from docs/spec/encoding.md alone, for the generators of the
 * chain's vectors.
 */

/** A part of a container whose length varies; plain bytes are a fixed part. */
export interface Varying {
  readonly varying: Uint8Array
}

type Part = Uint8Array | Varying

/** Marks a part of variable length. */
export function vary(bytes: Uint8Array): Varying {
  return { varying: bytes }
}

/** A text in a container. */
export function words(text: string): Varying {
  return vary(utf8(text))
}

/** Little-endian integers of 8 to 256 bits. */
export const u8 = (value: number | bigint): Uint8Array => toLittleEndian(BigInt(value), 1)
export const u16 = (value: number | bigint): Uint8Array => toLittleEndian(BigInt(value), 2)
export const u32 = (value: number | bigint): Uint8Array => toLittleEndian(BigInt(value), 4)
export const u64 = (value: number | bigint): Uint8Array => toLittleEndian(BigInt(value), 8)
export const u128 = (value: number | bigint): Uint8Array => toLittleEndian(BigInt(value), 16)
export const u256 = (value: number | bigint): Uint8Array => toLittleEndian(BigInt(value), 32)

/** A container: fixed parts and offsets in order, then the varying parts. */
export function container(...parts: readonly Part[]): Uint8Array {
  const fixedLength = parts.reduce((sum, part) => sum + (part instanceof Uint8Array ? part.length : 4), 0)
  const head: Uint8Array[] = []
  const tail: Uint8Array[] = []
  let offset = fixedLength
  for (const part of parts) {
    if (part instanceof Uint8Array) head.push(part)
    else {
      head.push(u32(offset))
      tail.push(part.varying)
      offset += part.varying.length
    }
  }
  return join(...head, ...tail)
}

/** A list of elements of variable length. A list of fixed ones is their concatenation. */
export function listOfVarying(elements: readonly Uint8Array[]): Uint8Array {
  return container(...elements.map(vary))
}

/** H(tag, data) of encoding.md, section 3. */
export function tagged(tag: string, ...data: readonly Uint8Array[]): Uint8Array {
  const name = utf8(tag)
  return sha256(u8(name.length), name, ...data)
}

/** Root of a list tree (encoding.md, section 4), bottom up. `kind` is `tx`, `witness` or `receipt`. */
export function listRoot(kind: string, items: readonly Uint8Array[]): Uint8Array {
  const nodeTag = tagged(`farthing/${kind}-node/1`)
  let level = items.map((item) => tagged(`farthing/${kind}-leaf/1`, item))
  while (level.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i] as Uint8Array, level[i + 1]]
      above.push(right === undefined ? left : sha256(xor(left, nodeTag), right))
    }
    level = above
  }
  return tagged(`farthing/${kind}-root/1`, u32(items.length), level[0] ?? new Uint8Array(32))
}

/** Bitwise exclusive or. */
export function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ (b[i] as number))
}

/** Hex with runs of sixteen or more equal bytes shortened: `[5a*2484]` is 2,484 times 5a. */
export function shortHex(bytes: Uint8Array): string {
  let text = ''
  for (let start = 0; start < bytes.length; ) {
    let end = start
    while (end < bytes.length && bytes[end] === bytes[start]) end++
    const byte = hex(bytes.slice(start, start + 1))
    text += end - start >= 16 ? `[${byte}*${end - start}]` : byte.repeat(end - start)
    start = end
  }
  return text
}

/** A set of vectors as its file holds it. */
export interface VectorSet<Case> {
  readonly about: string
  readonly spec: string
  readonly cases: readonly Case[]
}
