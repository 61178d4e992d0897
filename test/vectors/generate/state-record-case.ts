import { hex, join } from './bytes.ts'
import { shortHex, tagged, u8 } from './tx-wire.ts'

/** A state record with its key and bytes. */
export interface RecordCase {
  readonly name: string
  readonly table: string
  readonly rooted: boolean
  readonly id: unknown
  readonly record: unknown
  readonly key: string
  readonly bytes: string
  /** Path in the state tree, and hash of the record in its leaf. */
  readonly path: string
  readonly valueHash: string
  /** Units that the record accounts for, without zeros. */
  readonly holdings: readonly { readonly asset: string; readonly amount: string }[]
}

/** A record as the generators define it. */
export interface RecordSample {
  readonly name?: string
  readonly table: string
  readonly prefix: number
  readonly id: unknown
  readonly idBytes: Uint8Array
  readonly record: unknown
  readonly bytes: Uint8Array
  /** Asset in hex and units: positive if held, negative if issued. */
  readonly holds?: readonly (readonly [asset: string, units: bigint])[]
}

/** Asset id of the native coin. */
export const NATIVE = '00'.repeat(32)

export function recordCase({ name, table, prefix, id, idBytes, record, bytes, holds = [] }: RecordSample): RecordCase {
  const key = join(u8(prefix), idBytes)
  return {
    ...{ name: name ?? `a record of ${table}`, table, rooted: prefix < 0xe0, id, record },
    ...{ key: hex(key), bytes: shortHex(bytes) },
    path: hex(tagged('farthing/state-key/1', key)),
    valueHash: hex(tagged('farthing/state-value/1', bytes)),
    holdings: holds.filter(([, units]) => units !== 0n).map(([asset, units]) => ({ asset, amount: units.toString() })),
  }
}
