import { assert } from '../primitives/assert.ts'
import { fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import {
  abandonAdoption,
  abandonTake,
  adoptingHeight,
  adoptionWrite,
  DISCARD_WRITES,
  finishAdoption,
} from './adoption.ts'
import type { KeyValueStore, Write } from './key-value.ts'
import { type BlockEntry, decodeEntry, KEYS, prefixKey, type Space } from './layout.ts'
import { UNPACED } from './ports.ts'
import type { RuleBook } from './rule-book.ts'
import { otherSpace, SpacedStore, spaceOf } from './spaced-store.ts'
import { isStateOf, type StateCheck } from './state-proof.ts'
import { rulesWrites } from './writes.ts'

const [STATE] = prefixKey('state')
const [PAGE] = prefixKey('page')

/** A room that calls `onChange` before a write to anything that a state root commits to. */
class WatchedRoom extends SpacedStore {
  readonly #isRooted: (table: number) => boolean
  readonly #onChange: () => void

  constructor(store: KeyValueStore, space: Space, isRooted: (table: number) => boolean, onChange: () => void) {
    super(store, space)
    this.#isRooted = isRooted
    this.#onChange = onChange
  }

  override batch(writes: readonly Write[], onDurable: () => void): Promise<void> {
    const changes = ({ key }: Write): boolean =>
      key[0] === PAGE || (key[0] === STATE && this.#isRooted(key[1] as number))
    if (writes.some(changes)) this.#onChange()
    return super.batch(writes, onDurable)
  }
}

/**
 * The state of a snapshot, built up in the other room of a store. It becomes the head's only if all of it was read back
 * from the disk and proven to be its block's, and nothing has changed since.
 */
export class StagedState {
  readonly #raw: KeyValueStore
  readonly #ruleBook: RuleBook
  #proven: BlockId | undefined

  constructor(store: KeyValueStore, ruleBook: RuleBook) {
    this.#raw = store
    this.#ruleBook = ruleBook
  }

  /** The other room, with keys as in the first: see {@link SpacedStore}. */
  store(): KeyValueStore {
    const tables = this.#ruleBook.modules.flatMap((module) => module.tables)
    const derived = new Set(tables.filter(({ rooted }) => !rooted).map(({ prefix }) => prefix))
    return new WatchedRoom(
      this.#raw,
      otherSpace(spaceOf(this.#raw)),
      (table) => !derived.has(table),
      () => this.forget(),
    )
  }

  /**
   * Computes the state root from the disk and compares it with that of the kept header. Faults: `chain/state-unproven`,
   * `chain/stopped`.
   */
  async prove(height: number, means: Omit<StateCheck, 'ruleBook'>): Promise<Result<void>> {
    const kept = keptAt(this.#raw, height)
    const store = this.store()
    this.forget()
    const sound = kept && (await isStateOf(store, kept.header.stateRoot, { ...means, ruleBook: this.#ruleBook }))
    if (kept !== undefined && sound === undefined) return fail(fault('chain/stopped'))
    if (kept === undefined || !sound) return fail(fault('chain/state-unproven', { height }))
    this.#proven = kept.id
    return ok(undefined)
  }

  isProven(height: number): boolean {
    return this.#proven !== undefined && keptAt(this.#raw, height)?.id === this.#proven
  }

  async adopt(height: number, onDone: (head: BlockEntry) => void): Promise<void> {
    assert(this.isProven(height), 'a state is adopted that was not proven')
    await this.#raw.batch([adoptionWrite(height)], () => {})
    await finishAdoption(this.#raw, onDone)
    this.forget()
  }

  forget(): void {
    this.#proven = undefined
  }

  /** Gives the state up. The room must be emptied before the next one. */
  async discard(): Promise<void> {
    this.forget()
    await this.#raw.batch(DISCARD_WRITES, () => {})
  }
}

/**
 * Finishes an adoption that the process died in. The state is proven again, since an older release may have set the
 * mark without a proof. A state that is not its block's is given up.
 */
export async function takeUpAdoption(store: KeyValueStore, ruleBook: RuleBook): Promise<void> {
  const height = adoptingHeight(store)
  if (height === undefined) return
  const proven = await new StagedState(store, ruleBook).prove(height, { pacer: UNPACED, stopped: () => false })
  if (proven.ok) await finishAdoption(store, () => {})
  else await abandonAdoption(store)
}

/** If the store had other rules, a snapshot that was checked under them is given up. */
export async function takeUpRules(store: KeyValueStore, ruleBook: RuleBook): Promise<void> {
  const unsaid = rulesWrites(store, ruleBook)
  if (unsaid.length === 0) return
  await abandonTake(store)
  await store.batch(unsaid, () => {})
}

function keptAt(store: KeyValueStore, height: number): BlockEntry | undefined {
  const bytes = store.get(KEYS.kept(height))
  return bytes && decodeEntry(bytes)
}
