import { keyAfter, type Write } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import { taggedHash } from '../../../consensus/crypto/hash.ts'
import { compare, concat, copy, toHex } from '../../../consensus/primitives/bytes.ts'
import { hasLeaf } from '../../../consensus/state/page-proof.ts'
import type { StateKey } from '../../../consensus/state/table.ts'
import { type PageId, valueHash } from '../../../consensus/state/tree.ts'
import type { PeerId } from '../network.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import type { Course, Taken } from './course.ts'
import { type LeafTable, leafTableOf } from './leaf-table.ts'
import type { TakingParts } from './page-course.ts'
import { STAGES, type TakingMark, takingWrite } from './taking-mark.ts'

/** Records checked before others may get a turn. */
const RECORDS_PER_STEP = 64
/** Pages down to this depth are held, for every record's way goes through them: there are 4,369 of them at most. */
const KEPT_DEPTH = 3
/** Times that all records are gone through: the second time finds who left some out. */
const PASSES_MAX = 3
/** Byte before the keys of the state in a store. */
const STATE_PREFIX = KEYS.state('' as StateKey)

type Entry = ReplyOf<'stateRecords'>['records'][number]

/** Who sent the records up to a key, from the stretch before on. */
interface Stretch {
  readonly to: Uint8Array
  readonly from: PeerId
}

/**
 * Records of the state in the order of their keys: each is the one leaf of the proven tree that its key and value hash to, so all
 * are true, and none is there twice. That none is left out shows at the end, when they must be as many as the leaves; where
 * they are not, all are gone through again, and whoever left some out the first time is told of to `blame`.
 */
export class RecordCourse implements Course<'stateRecords'> {
  readonly protocol = 'stateRecords'
  readonly #parts: TakingParts
  readonly #blame: (peer: PeerId) => void
  #table: Promise<LeafTable | undefined> | undefined
  readonly #forms = new Map<PageId, Uint8Array>()
  #mark: TakingMark
  #after: Uint8Array
  /** Whether what was stored before came from peers that are not known any more. */
  readonly #resumed: boolean
  #passes = 0
  #stretches: Stretch[] = []
  /** Those of the pass before. */
  #earlier: readonly Stretch[] = []

  constructor(parts: TakingParts, mark: TakingMark, blame: (peer: PeerId) => void) {
    this.#parts = parts
    this.#mark = mark
    this.#blame = blame
    this.#after = copy(mark.after)
    this.#resumed = mark.begun
  }

  request(): RequestOf<'stateRecords'> {
    return { snapshot: this.#mark.id, after: this.#after }
  }

  following({ records, done }: ReplyOf<'stateRecords'>): RequestOf<'stateRecords'> | undefined {
    const last = records.at(-1)
    return last === undefined || done ? undefined : { snapshot: this.#mark.id, after: last.key }
  }

  async take({ records, done }: ReplyOf<'stateRecords'>, from: PeerId): Promise<Taken> {
    if (!(await this.#areTrue(records)) || (records.length === 0 && !done)) return 'bad-state'
    const last = records.at(-1)
    if (last !== undefined) await this.#store(records, last.key, from)
    if (this.#mark.records === this.#mark.leaves) {
      if (done) await this.#dropRest()
      return done ? 'done' : 'more'
    }
    return done ? this.#again(from) : 'more'
  }

  /** Whether every record is a leaf of the tree, in the order of keys. */
  async #areTrue(records: readonly Entry[]): Promise<boolean> {
    const { staging, pacer } = this.#parts
    this.#table ??= leafTableOf(staging, this.#mark.leaves, pacer)
    const table = await this.#table
    const formOf = (id: PageId): Uint8Array | undefined => this.#formOf(id)
    let before = this.#after
    for (const [i, { key, value }] of records.entries()) {
      if (compareKeys(before, key) >= 0) return false
      const [path, hash] = [taggedHash('stateKey', key), valueHash(value)]
      if (!(table === undefined ? hasLeaf(formOf, path, hash) : table.has(path, hash))) return false
      before = key
      if (i % RECORDS_PER_STEP === 0 && pacer.due()) await pacer.pause()
    }
    return true
  }

  #formOf(id: PageId): Uint8Array | undefined {
    const known = this.#forms.get(id)
    if (known !== undefined) return known
    const form = this.#parts.staging.get(KEYS.page(id))
    if (form !== undefined && id.length <= KEPT_DEPTH) this.#forms.set(id, form)
    return form
  }

  async #store(records: readonly Entry[], last: Uint8Array, from: PeerId): Promise<void> {
    const { staging } = this.#parts
    const dropped: Write[] = []
    let added: readonly Entry[] = records
    if (this.#passes > 0) added = records.filter(({ key }) => staging.get(storeKey(key)) === undefined)
    else if (this.#mark.stale) dropped.push(...(await this.#others(records, last)))
    if (this.#passes > 0) for (const { key } of added) this.#tellOf(key)
    const mark = {
      ...this.#mark,
      stage: STAGES.records,
      after: copy(last),
      begun: true,
      records: this.#mark.records + added.length,
    }
    const writes = added.map(({ key, value }) => ({ key: storeKey(key), value }))
    // A later pass is not gone on with after a crash, but begun anew: the mark of its place would not say which it was.
    const marked = this.#passes > 0 ? { ...mark, after: this.#mark.after } : mark
    await staging.batch([...dropped, ...writes, takingWrite(marked)], () => {})
    this.#mark = marked
    this.#after = copy(last)
    this.#stretches.push({ to: this.#after, from })
  }

  /** Records of another snapshot between the last ones and these. */
  async #others(records: readonly Entry[], last: Uint8Array): Promise<readonly Write[]> {
    const ours = new Set(records.map(({ key }) => toHex(key)))
    const gte = keyAfter(storeKey(this.#after))
    const range = { gte: this.#after.length === 0 ? STATE_PREFIX : gte, lt: keyAfter(storeKey(last)) }
    const dropped: Write[] = []
    for await (const [key] of this.#parts.staging.range(range)) {
      if (!ours.has(toHex(key.subarray(STATE_PREFIX.length)))) dropped.push({ key })
    }
    return dropped
  }

  /** Records of another snapshot behind the last one. */
  async #dropRest(): Promise<void> {
    if (!this.#mark.stale || this.#passes > 0) return
    const lt = Uint8Array.of((STATE_PREFIX[0] as number) + 1)
    const dropped: Write[] = []
    for await (const [key] of this.#parts.staging.range({ gte: keyAfter(storeKey(this.#after)), lt }))
      dropped.push({ key })
    await this.#parts.staging.batch(dropped, () => {})
  }

  /** All records once more: some were left out, by this peer if it sent all of them. */
  async #again(from: PeerId): Promise<Taken> {
    await this.#dropRest()
    if (this.#passes + 1 >= PASSES_MAX) return 'useless'
    const others = this.#resumed || this.#stretches.some((stretch) => stretch.from !== from)
    if (this.#passes === 0 && !others) return 'bad-state'
    this.#passes += 1
    this.#earlier = this.#stretches
    this.#stretches = []
    this.#after = new Uint8Array(0)
    return 'more'
  }

  #tellOf(key: Uint8Array): void {
    const stretch = this.#earlier.find(({ to }) => compareKeys(key, to) <= 0)
    if (stretch !== undefined) this.#blame(stretch.from)
  }
}

/** Order of keys in a store: byte by byte, shorter before longer. */
function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const common = Math.min(a.length, b.length)
  return compare(a.subarray(0, common), b.subarray(0, common)) || a.length - b.length
}

function storeKey(key: Uint8Array): Uint8Array {
  return concat(STATE_PREFIX, key)
}
