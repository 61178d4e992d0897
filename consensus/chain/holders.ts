import { ACCOUNTS } from '../ledger/account.ts'
import { assetOfBalanceKey, holderOfBalanceKey, TOKEN_BALANCES } from '../ledger/token-balances.ts'
import { type Amount, amount } from '../primitives/amount.ts'
import { fromHex, toHex, writeHex } from '../primitives/bytes.ts'
import { decodeOwn, encode, safeUint64 } from '../primitives/codec.ts'
import type { Address, Hash } from '../primitives/ids.ts'
import { NATIVE_ASSET, type StateKey, type StateTable } from '../state/table.ts'
import type { StateChange } from '../state/view.ts'
import type { IndexRead, IndexWrite, StateIndex } from './chain-index.ts'
import { keyAfter } from './key-value.ts'
import type { DatabaseReader } from './reader.ts'

interface HoldingTable {
  readonly prefix: number
  readonly amountOf: (record: Uint8Array) => bigint
  readonly addressOf: (key: StateKey) => Address
  readonly assetOf: (key: StateKey) => Hash
}

const HOLDING_TABLES: readonly HoldingTable[] = [
  holdings(
    ACCOUNTS,
    ({ balance }) => balance,
    idOf,
    () => NATIVE_ASSET,
  ),
  holdings(TOKEN_BALANCES, ({ amount }) => amount, holderOfBalanceKey, assetOfBalanceKey),
]

const BY_PREFIX = new Map(HOLDING_TABLES.map((table) => [table.prefix, table]))

function holdings<T>(
  { prefix, codec }: StateTable<never, T>,
  amountOf: (record: T) => Amount,
  ...[addressOf, assetOf]: [HoldingTable['addressOf'], HoldingTable['assetOf']]
): HoldingTable {
  return { prefix, amountOf: (record) => amountOf(decodeOwn(codec, record)), addressOf, assetOf }
}

function idOf(key: StateKey): Address {
  return key.slice(2) as Address
}

const ASSET_BYTES = 32
const AMOUNT_BYTES = 16
const ADDRESS_AT = ASSET_BYTES + AMOUNT_BYTES
const HOLDER_BYTES = ADDRESS_AT + 32
const NOTHING = new Uint8Array(0)
const WORD = 0xffff_ffff_ffff_ffffn

/** A balance above zero. */
export interface Holding {
  readonly address: Address
  readonly amount: Amount
}

/**
 * Balances above zero, the native coin included. Key: asset || 2^128 - 1 - amount (16 bytes, big-endian) || address, so
 * that an asset's holders are sorted by amount, the largest first; the value is empty. Under the bare asset as key, the
 * number of its holders is stored.
 */
export const HOLDERS: StateIndex = { name: 'holders', prefix: 0x02, changesOf }

/** Largest first; holders of equal amounts by address. `after` is the last one read before. */
export function topHolders(
  database: DatabaseReader,
  asset: Hash,
  limit: number,
  after?: Holding,
): Promise<readonly Holding[]> {
  const prefix = fromHex(asset)
  // The number of holders is stored under the bare asset, so begin after that key.
  const from = keyAfter(after === undefined ? prefix : new HolderKeys(1).add(asset, after.address, after.amount))
  return database.indexPage(HOLDERS, { prefix, from, limit }, ({ key }) => holdingOf(key))
}

/** How many addresses hold an asset. */
export function holderCount(database: DatabaseReader, asset: Hash): number {
  return readCount(database.indexed(HOLDERS, fromHex(asset)))
}

function changesOf(changes: readonly StateChange[], read: IndexRead): readonly IndexWrite[] {
  const writes: IndexWrite[] = []
  const counts = new Map<Hash, number>()
  const keys = new HolderKeys(2 * changes.length)
  for (const { table, key, before, after } of changes) {
    const found = BY_PREFIX.get(table.prefix)
    if (found === undefined) continue
    const [had, has] = [amountIn(found, before), amountIn(found, after)]
    if (had === has) continue
    const [asset, address] = [found.assetOf(key), found.addressOf(key)]
    if (had > 0n) writes.push({ key: keys.add(asset, address, had) })
    if (has > 0n) writes.push({ key: keys.add(asset, address, has), value: NOTHING })
    const joined = Number(has > 0n) - Number(had > 0n)
    if (joined !== 0) counts.set(asset, (counts.get(asset) ?? 0) + joined)
  }
  return [...writes, ...countWrites(counts, read)]
}

function amountIn({ amountOf }: HoldingTable, record: Uint8Array | undefined): bigint {
  return record === undefined ? 0n : amountOf(record)
}

function countWrites(counts: ReadonlyMap<Hash, number>, read: IndexRead): readonly IndexWrite[] {
  return [...counts].map(([asset, joined]) => {
    const key = fromHex(asset)
    const count = readCount(read(key)) + joined
    return count === 0 ? { key } : { key, value: encode(safeUint64, count) }
  })
}

function readCount(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : decodeOwn(safeUint64, bytes)
}

/** Builds holder keys in one buffer: a block may change thousands. */
class HolderKeys {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #used = 0

  constructor(countMax: number) {
    this.#bytes = new Uint8Array(countMax * HOLDER_BYTES)
    this.#view = new DataView(this.#bytes.buffer)
  }

  add(asset: Hash, address: Address, amount: bigint): Uint8Array {
    const at = this.#used
    this.#used += HOLDER_BYTES
    if (asset !== NATIVE_ASSET) writeHex(this.#bytes, at, asset)
    this.#view.setBigUint64(at + ASSET_BYTES, WORD - (amount >> 64n))
    this.#view.setBigUint64(at + ASSET_BYTES + 8, WORD - (amount & WORD))
    writeHex(this.#bytes, at + ADDRESS_AT, address)
    return this.#bytes.subarray(at, this.#used)
  }
}

function holdingOf(key: Uint8Array): Holding {
  const view = new DataView(key.buffer, key.byteOffset)
  const high = WORD - view.getBigUint64(ASSET_BYTES)
  const low = WORD - view.getBigUint64(ASSET_BYTES + 8)
  return { address: toHex(key.subarray(ADDRESS_AT)) as Address, amount: amount((high << 64n) | low) }
}
