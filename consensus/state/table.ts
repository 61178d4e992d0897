import { toHex } from '../primitives/bytes.ts'
import type { Codec } from '../primitives/codec.ts'
import type { Hash } from '../primitives/ids.ts'
import { encodeText } from '../primitives/text.ts'

/** Key of one state record: table prefix and record id, in hex. */
export type StateKey = string & { readonly __stateKey: unique symbol }

/** Asset id of the native coin. */
export const NATIVE_ASSET = '0'.repeat(64) as Hash

/**
 * Units of an asset that a record accounts for. Coins held count positive, net issuance counts negative. Conservation:
 * for every asset the sum over all records of a state is zero.
 */
export interface Holding {
  readonly asset: Hash
  readonly amount: bigint
}

/** The state root commits to rooted tables. All other tables follow from the rooted ones. */
export interface StateTable<Id, T> {
  readonly name: string
  readonly prefix: number
  readonly codec: Codec<T>
  readonly rooted: boolean
  readonly key: (id: Id) => StateKey
  /** Absent if the table never holds coins. */
  readonly holdings?: (value: T, key: StateKey) => readonly Holding[]
}

/** Any table, as stores see it. */
export type AnyStateTable = StateTable<never, unknown>

/** Forgets a table's types, for lists of tables. */
export function anyTable<Id, T>(table: StateTable<Id, T>): AnyStateTable {
  return table as unknown as AnyStateTable
}

interface TableOptions<Id, T> {
  readonly name: string
  readonly prefix: number
  readonly codec: Codec<T>
  /** Record id in hex; the prefix is added here. */
  readonly id: (id: Id) => string
  readonly rooted?: boolean
  readonly holdings?: (value: T, key: StateKey) => readonly Holding[]
}

/** Declares a table. */
export function stateTable<Id, T>({ id, rooted = true, ...rest }: TableOptions<Id, T>): StateTable<Id, T> {
  const prefixHex = rest.prefix.toString(16).padStart(2, '0')
  return { ...rest, rooted, key: (value) => (prefixHex + id(value)) as StateKey }
}

/** Hex of a text id, for a key. */
export function textKey(value: string): string {
  return toHex(encodeText(value))
}

/** Most significant byte first, so that keys sort by height. */
export function heightKey(height: number): string {
  return height.toString(16).padStart(8, '0')
}

/** Key of a table with a single record. */
export function noKey(): string {
  return ''
}
