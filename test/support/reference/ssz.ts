import { concat, demand, hex, littleEndian, readLittleEndian, unhex, utf8 } from './bytes.ts'
import { decodeText } from './text.ts'

/** One type of encoding.md, section 1; `size` is undefined when values differ in length. */
export interface Ssz<T> {
  readonly size: number | undefined
  decode(bytes: Uint8Array): T
  encode(value: T): Uint8Array
}

/** Decoded value of a type. */
export type Value<S> = S extends Ssz<infer T> ? T : never

function fixed<T>(size: number, decode: (bytes: Uint8Array) => T, encode: (value: T) => Uint8Array): Ssz<T> {
  return {
    size,
    encode,
    decode(bytes) {
      demand(bytes.length === size, 'ssz: length')
      return decode(bytes)
    },
  }
}

const small = (size: number): Ssz<number> =>
  fixed(
    size,
    (bytes) => Number(readLittleEndian(bytes)),
    (value) => littleEndian(BigInt(value), size),
  )

const large = (size: number): Ssz<bigint> => fixed(size, readLittleEndian, (value) => littleEndian(value, size))

export const u8 = small(1)
export const u16 = small(2)
export const u32 = small(4)
export const u64 = large(8)
export const u128 = large(16)
export const u256 = large(32)

/** A 64-bit integer of at most 2^53 - 1. */
export const u64s: Ssz<number> = fixed(
  8,
  (bytes) => {
    const value = readLittleEndian(bytes)
    demand(value <= BigInt(Number.MAX_SAFE_INTEGER), 'ssz: integer above 2^53 - 1')
    return Number(value)
  },
  (value) => littleEndian(BigInt(value), 8),
)

export const bool: Ssz<boolean> = fixed(
  1,
  (bytes) => {
    demand(bytes[0] === 0 || bytes[0] === 1, 'ssz: boolean')
    return bytes[0] === 1
  },
  (value) => Uint8Array.of(value ? 1 : 0),
)

/** 32 bytes, held as hex. */
export const b32: Ssz<string> = fixed(32, hex, unhex)

/** Exactly `size` bytes. */
export const exactly = (size: number): Ssz<Uint8Array> =>
  fixed(
    size,
    (bytes) => bytes,
    (value) => value,
  )

/** At most `limit` bytes. */
export function bytes(limit: number): Ssz<Uint8Array> {
  return {
    size: undefined,
    encode: (value) => value,
    decode(value) {
      demand(value.length <= limit, 'ssz: bytes above the limit')
      return value
    },
  }
}

/** At most `limit` bytes of text, of `grammar` if there is one. */
export function text(limit: number, grammar?: RegExp): Ssz<string> {
  return {
    size: undefined,
    encode: utf8,
    decode(value) {
      demand(value.length <= limit, 'ssz: text above the limit')
      const decoded = decodeText(value)
      demand(grammar === undefined || grammar.test(decoded), 'ssz: text not of its grammar')
      return decoded
    },
  }
}

/** The parts between offsets. Offsets must begin at `start`, never descend and stay inside. */
function sliced(all: Uint8Array, offsets: readonly number[], start: number): Uint8Array[] {
  if (offsets.length > 0) demand(offsets[0] === start, 'ssz: first offset')
  return offsets.map((from, i) => {
    const to = offsets[i + 1] ?? all.length
    demand(from <= to && to <= all.length, 'ssz: offsets')
    return all.subarray(from, to)
  })
}

function joined(parts: readonly Uint8Array[], start: number): Uint8Array[] {
  let at = start
  return parts.map((part) => {
    const offset = u32.encode(at)
    at += part.length
    return offset
  })
}

/** At most `limit` elements. */
export function list<T>(element: Ssz<T>, limit: number): Ssz<T[]> {
  const { size } = element
  const parts = (all: Uint8Array): Uint8Array[] => {
    if (all.length === 0) return []
    const step = size ?? 4
    const end = size === undefined ? u32.decode(all.subarray(0, 4)) : all.length
    demand(end > 0 && end <= all.length && end % step === 0, 'ssz: list length')
    demand(end / step <= limit, 'ssz: list above the limit')
    const cells = Array.from({ length: end / step }, (_, i) => all.subarray(i * step, (i + 1) * step))
    return size === undefined ? sliced(all, cells.map(u32.decode), end) : cells
  }
  return {
    size: undefined,
    decode: (all) => parts(all).map((part) => element.decode(part)),
    encode(values) {
      const encoded = values.map((value) => element.encode(value))
      const offsets = size === undefined ? joined(encoded, 4 * encoded.length) : []
      return concat(...offsets, ...encoded)
    },
  }
}

type Fields = Readonly<Record<string, Ssz<never>>>
type Values<F> = { -readonly [K in keyof F]: Value<F[K]> }

/** A container of named fields in their order. */
export function container<F extends { readonly [K in keyof F]: Ssz<Value<F[K]>> }>(fields: F): Ssz<Values<F>> {
  const entries = Object.entries(fields as unknown as Fields)
  const start = entries.reduce((sum, [, { size }]) => sum + (size ?? 4), 0)
  const variable = entries.some(([, { size }]) => size === undefined)
  return {
    size: variable ? undefined : start,
    decode(all) {
      demand(variable ? all.length >= start : all.length === start, 'ssz: container length')
      let at = 0
      const cells = entries.map(([, { size }]) => {
        const cell = all.subarray(at, at + (size ?? 4))
        at += cell.length
        return cell
      })
      const offsets = cells.filter((_, i) => entries[i]?.[1].size === undefined).map(u32.decode)
      const tails = sliced(all, offsets, start)
      return Object.fromEntries(
        entries.map(([name, type], i) => {
          const part = type.size === undefined ? (tails.shift() as Uint8Array) : (cells[i] as Uint8Array)
          return [name, type.decode(part)]
        }),
      ) as unknown as Values<F>
    },
    encode(value) {
      const encoded = entries.map(([name, type]) => type.encode(value[name as keyof F] as never))
      const tails = encoded.filter((_, i) => entries[i]?.[1].size === undefined)
      const offsets = joined(tails, start)
      const heads = encoded.map((part, i) =>
        entries[i]?.[1].size === undefined ? (offsets.shift() as Uint8Array) : part,
      )
      return concat(...heads, ...tails)
    },
  }
}
