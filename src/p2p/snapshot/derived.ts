import {
  collect,
  type KeyRange,
  type KeyValueStore,
  keyAfter,
  prefixRange,
  type Write,
} from '../../../consensus/chain/key-value.ts'
import { idOfKey, KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import { type Pacer, runPaced } from '../../../consensus/chain/ports.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import { connectIndexes } from '../../../consensus/chain/writes.ts'
import type { StateRecord } from '../../../consensus/ledger/module.ts'
import { assert } from '../../../consensus/primitives/assert.ts'
import { decodeOwn } from '../../../consensus/primitives/codec.ts'
import { Overlay } from '../../../consensus/state/overlay.ts'
import type { StateKey, StateTable } from '../../../consensus/state/table.ts'
import { MemoryState, type StateChange, type StateView } from '../../../consensus/state/view.ts'

const RECORDS_PER_BATCH = 8_192
const CLEARED_PER_BATCH = 16_384
const INDEXED_PER_STEP = 512

/** What derivation works with. */
export interface Derivation {
  readonly staging: KeyValueStore
  readonly ruleBook: RuleBook
  readonly pacer: Pacer
  readonly stopped: () => boolean
}

/**
 * Makes what follows from the records of a taken state: tables outside the root, and indexes over the state. Other indexes begin with the
 * next block. After an interruption it begins anew. False if it was stopped.
 */
export async function derive(derivation: Derivation): Promise<boolean> {
  const { staging, ruleBook, stopped, pacer } = derivation
  await clearPrefix(staging, prefixKey('index'))
  for (const table of ruleBook.modules.flatMap(({ tables }) => tables)) {
    if (!table.rooted) await clearPrefix(staging, KEYS.state(prefixHex(table.prefix) as StateKey))
  }
  for (let gte = prefixKey('state'); ; ) {
    if (stopped()) return false
    const range = { ...prefixRange(prefixKey('state')), gte, limit: RECORDS_PER_BATCH }
    const records = await collect(staging.range(range), ([key, value]) => ({ key, value }))
    const last = records.at(-1)
    if (last === undefined) return true
    const changes = await runPaced(changesOf(ruleBook, records), pacer)
    await writeIndexes(derivation, changes)
    await staging.batch(await derivedWrites(derivation, changes), () => {})
    gte = keyAfter(last.key)
  }
}

/** Deletes all keys with a prefix in bounded batches. If stopped, only some of them. */
export function clearPrefix(store: KeyValueStore, prefix: Uint8Array, stopped?: () => boolean): Promise<void> {
  return clearRange(store, prefixRange(prefix), stopped)
}

/** Deletes the keys of a range as {@link clearPrefix} does. */
export async function clearRange(
  store: KeyValueStore,
  range: Pick<KeyRange, 'gte' | 'lt'>,
  stopped = () => false,
): Promise<void> {
  for (let { gte } = range; !stopped(); ) {
    const keys = await collect(store.range({ ...range, gte, limit: CLEARED_PER_BATCH }), ([key]) => key)
    const last = keys.at(-1)
    if (last === undefined) return
    await store.batch(
      keys.map((key) => ({ key })),
      () => {},
    )
    gte = keyAfter(last)
  }
}

/** Deletes the keys of a range for which `isOurs` is false, in bounded batches, since there may be any number of them. */
export async function dropOthers(
  store: KeyValueStore,
  range: Pick<KeyRange, 'gte' | 'lt'>,
  isOurs: (key: Uint8Array) => boolean,
): Promise<void> {
  let others: Write[] = []
  for await (const [key] of store.range(range)) {
    if (!isOurs(key)) others.push({ key })
    if (others.length < CLEARED_PER_BATCH) continue
    await store.batch(others, () => {})
    others = []
  }
  if (others.length > 0) await store.batch(others, () => {})
}

function prefixHex(prefix: number): string {
  return prefix.toString(16).padStart(2, '0')
}

/** Records as changes that were just written, without those of tables outside the root. */
export function* changesOf(
  ruleBook: RuleBook,
  records: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[],
): Generator<void, readonly StateChange[]> {
  const changes: StateChange[] = []
  for (const record of records) {
    const key = idOfKey(record.key) as StateKey
    const table = ruleBook.tableOf(key)
    if (table.rooted) changes.push({ table, key, before: undefined, after: record.value })
    if (changes.length % 64 === 0) yield
  }
  return changes
}

/** Index writes for records, as if they had just been written. */
export function stateIndexWrites(
  store: KeyValueStore,
  ruleBook: RuleBook,
  changes: readonly StateChange[],
): readonly Write[] {
  const overState = ruleBook.indexes.filter((index) => 'changesOf' in index)
  const { block } = ruleBook.genesis
  const connected = { block, receipts: [], changes, parentState: new MemoryState(), rules: ruleBook.at(0) }
  return connectIndexes(overState, connected, (key) => store.get(key)).writes
}

/** Writes index entries some records at a time, since a state may bring thousands at once. */
async function writeIndexes({ staging, ruleBook, pacer }: Derivation, changes: readonly StateChange[]): Promise<void> {
  for (let i = 0; i < changes.length; i += INDEXED_PER_STEP) {
    const some = changes.slice(i, i + INDEXED_PER_STEP)
    await staging.batch(stateIndexWrites(staging, ruleBook, some), () => {})
    if (pacer.due()) await pacer.pause()
  }
}

async function derivedWrites(
  { staging, ruleBook, pacer }: Derivation,
  changes: readonly StateChange[],
): Promise<readonly Write[]> {
  const overlay = new Overlay(viewOf(staging))
  await runPaced(deriveAll(ruleBook, overlay, changes), pacer)
  const derived = await runPaced(overlay.diff(), pacer)
  return derived.map(({ table, key, after }) => {
    assert(!table.rooted, 'what is derived from a state is no part of its root')
    const write = { key: KEYS.state(key) }
    return after === undefined ? write : { ...write, value: after }
  })
}

function* deriveAll(ruleBook: RuleBook, overlay: Overlay, changes: readonly StateChange[]): Generator<void, void> {
  for (const { tables, derive } of ruleBook.modules) {
    if (derive === undefined) continue
    const prefixes = new Set(tables.map(({ prefix }) => prefix))
    yield* derive(overlay, recordsOf(changes, prefixes))
  }
}

function* recordsOf(changes: readonly StateChange[], prefixes: ReadonlySet<number>): Iterable<StateRecord> {
  for (const { table, key, after } of changes) {
    if (prefixes.has(table.prefix)) yield { key, value: decodeOwn(table.codec, after as Uint8Array) }
  }
}

function viewOf(store: KeyValueStore): StateView {
  return {
    get<Id, T>(table: StateTable<Id, T>, id: Id): T | undefined {
      const bytes = store.get(KEYS.state(table.key(id)))
      return bytes === undefined ? undefined : decodeOwn(table.codec, bytes)
    },
  }
}
