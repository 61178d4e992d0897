import {
  BooleanType,
  ByteListType,
  ByteVectorType,
  type CompositeType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  type Type,
  UintBigintType,
  UintNumberType,
} from '@chainsafe/ssz'
import type { Amount } from './amount.ts'
import { fromHex, toHex } from './bytes.ts'
import { fault } from './fault.ts'
import { fail, ok, type Result } from './result.ts'
import { decodeText, encodeText } from './text.ts'

/** SSZ serialisation. The types below add checks that the library lacks. */
export type Codec<V> = Type<V>
/** A codec of anything but a number, bigint or boolean. */
export type CompositeCodec<V> = CompositeType<V, unknown, unknown>
/** The value that a codec reads and writes. */
export type ValueOf<C> = C extends Type<infer V> ? V : never

// The library wraps numbers and cuts byte strings without an error. The types below throw instead.
class CheckedUint extends UintNumberType {
  override value_serializeToBytes(
    output: Parameters<UintNumberType['value_serializeToBytes']>[0],
    offset: number,
    value: number,
  ): number {
    const bound = this.byteLength === 8 ? Number.MAX_SAFE_INTEGER : 2 ** (8 * this.byteLength) - 1
    if (!Number.isInteger(value) || value < 0 || value > bound)
      throw new RangeError(`${value} is not a uint${8 * this.byteLength}`)
    return super.value_serializeToBytes(output, offset, value)
  }

  override value_deserializeFromBytes(
    data: Parameters<UintNumberType['value_deserializeFromBytes']>[0],
    start: number,
    end: number,
  ): number {
    const value = super.value_deserializeFromBytes(data, start, end)
    // Above 2^53 two different encodings would give the same number.
    if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('integer above 2^53 - 1')
    return value
  }
}

class CheckedBigUint extends UintBigintType {
  override value_serializeToBytes(
    output: Parameters<UintBigintType['value_serializeToBytes']>[0],
    offset: number,
    value: bigint,
  ): number {
    if (value < 0n || value >> BigInt(8 * this.byteLength) !== 0n)
      throw new RangeError(`${value} is not a uint${8 * this.byteLength}`)
    return super.value_serializeToBytes(output, offset, value)
  }
}

/** Unsigned 8-bit integer. */
export const uint8: Codec<number> = new CheckedUint(1)
/** Unsigned 16-bit integer. */
export const uint16: Codec<number> = new CheckedUint(2)
/** Unsigned 32-bit integer. */
export const uint32: Codec<number> = new CheckedUint(4)
/** Unsigned 64-bit integer below 2^53: times and counters. */
export const safeUint64: Codec<number> = new CheckedUint(8)
/** Unsigned 64-bit integer. */
export const uint64: Codec<bigint> = new CheckedBigUint(8)
/** Unsigned 128-bit integer, read as an {@link Amount}. */
export const uint128 = new CheckedBigUint(16) as unknown as Codec<Amount>
/** Unsigned 256-bit integer: targets, work sums. */
export const uint256: Codec<bigint> = new CheckedBigUint(32)
/** One byte; only 0 and 1 are well formed. */
export const bool: Codec<boolean> = new BooleanType()

/** The value is a view on the decoded buffer. */
export function byteVector(length: number): CompositeCodec<Uint8Array> {
  return mapped(new ByteVectorType(length), unchanged, unchanged)
}

/** The value is a view on the decoded buffer. */
export function byteList(limit: number): CompositeCodec<Uint8Array> {
  return mapped(new ByteListType(limit), unchanged, unchanged)
}

/** 32 bytes, read as a branded hex string. */
export function hex32<Id extends string>(): CompositeCodec<Id> {
  return mapped(new ByteVectorType(32), fromHex, (bytes) => toHex(bytes) as Id)
}

/** At most `limit` bytes of printable UTF-8, read as a string that `accepts` allows. */
export function text<T extends string = string>(
  limit: number,
  accepts: (value: string) => boolean = () => true,
): CompositeCodec<T> {
  const read = (bytes: Uint8Array): T => {
    const value = decodeText(bytes)
    if (value === undefined || !accepts(value)) throw new RangeError('text outside its grammar')
    return value as T
  }
  const write = (value: T): Uint8Array => {
    const bytes = encodeText(value)
    // The encoder replaces a lone surrogate. Reading back reveals that.
    if (read(bytes) !== value) throw new RangeError('text outside its grammar')
    return bytes
  }
  return mapped(new ByteListType(limit), write, read)
}

function unchanged(bytes: Uint8Array): Uint8Array {
  return bytes
}

/** A record of named fields in the given order. */
export function container<Fields extends Record<string, Codec<unknown>>>(
  name: string,
  fields: Fields,
): CompositeCodec<{ readonly [K in keyof Fields]: ValueOf<Fields[K]> }> {
  return new ContainerType(fields, { typeName: name }) as unknown as CompositeCodec<{
    readonly [K in keyof Fields]: ValueOf<Fields[K]>
  }>
}

/** At most `limit` elements. */
export function list<V>(element: Codec<V>, limit: number): CompositeCodec<readonly V[]> {
  const type = element.isBasic
    ? new ListBasicType(element as never, limit)
    : new ListCompositeType(element as never, limit)
  const size = type.value_serializedSize.bind(type)
  return Object.assign(type, {
    // The library calls this once for every encoding, before it writes anything.
    value_serializedSize: (value: readonly V[]) => {
      if (value.length > limit) throw new RangeError(`${value.length} elements exceed ${limit}`)
      return size(value as never)
    },
  }) as unknown as CompositeCodec<readonly V[]>
}

/** Throws on a value out of range. */
export function encode<V>(codec: Codec<V>, value: V): Uint8Array {
  return codec.serialize(value)
}

/** Decodes untrusted bytes strictly, or gives `codec/malformed`. Byte fields of the value are views on `bytes`. */
export function decode<V>(codec: Codec<V>, bytes: Uint8Array): Result<V> {
  try {
    return ok(codec.deserialize(bytes, { reuseBytes: true }))
  } catch (error) {
    return fail(fault('codec/malformed', { type: codec.typeName, reason: reasonOf(error) }))
  }
}

/** Decodes bytes that this node wrote; throws if they are damaged. Byte fields are views. */
export function decodeOwn<V>(codec: Codec<V>, bytes: Uint8Array): V {
  return codec.deserialize(bytes, { reuseBytes: true })
}

function reasonOf(error: unknown): string {
  const said = error instanceof Error ? error.message : 'unreadable'
  // JavaScript's own message names `DataView` when the library reads past the end of the bytes.
  return said.includes('DataView') ? 'it is cut off' : said.slice(0, 120)
}

type ByteArrayCodec = ByteVectorType | ByteListType

/** Checks lengths and maps the bytes to another value. The library has no hook for this. */
function mapped<V>(
  type: ByteArrayCodec,
  toBytes: (value: V) => Uint8Array,
  fromBytes: (bytes: Uint8Array) => V,
): CompositeCodec<V> {
  const write = type.value_serializeToBytes.bind(type)
  const read = type.value_deserializeFromBytes.bind(type)
  const { minSize, maxSize } = type
  const checked = (value: V): Uint8Array => {
    const bytes = toBytes(value)
    if (bytes.length < minSize || bytes.length > maxSize)
      throw new RangeError(`${bytes.length} bytes in a ${type.typeName}`)
    return bytes
  }
  return Object.assign(type, {
    value_serializedSize: (value: V) => checked(value).length,
    value_serializeToBytes: (output: Parameters<typeof write>[0], offset: number, value: V) =>
      write(output, offset, checked(value)),
    value_deserializeFromBytes: (data: Parameters<typeof read>[0], start: number, end: number) =>
      fromBytes(read(data, start, end, true)),
  }) as unknown as CompositeCodec<V>
}
