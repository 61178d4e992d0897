import { keyAfter, prefixRange } from '../../../consensus/chain/key-value.ts'
import { KEYS, prefixKey } from '../../../consensus/chain/layout.ts'
import { type LeafLookup, leafLookup } from '../../../consensus/chain/state-proof.ts'
import { taggedHash } from '../../../consensus/crypto/hash.ts'
import { compare, concat, copy, equal, fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import type { StateKey } from '../../../consensus/state/table.ts'
import { valueHash } from '../../../consensus/state/tree.ts'
import type { PeerId } from '../network.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import { bytesOf, type Course, type Taken } from './course.ts'
import { dropOthers } from './derived.ts'
import type { TakingDependencies } from './page-course.ts'
import { STAGES, type TakingMark, takingWrite } from './taking-mark.ts'

const RECORDS_PER_STEP = 64
/** How often all records are gone through. Each pass that a single peer gave shows whether it leaves some out. */
const PASSES_MAX = 12
const STATE_PREFIX = KEYS.state('' as StateKey)
/** Greater than every key, since no table has this prefix. */
const END = Uint8Array.of(0xff)
const BEGIN = new Uint8Array(0)

type Entry = ReplyOf<'stateRecords'>['records'][number]

/** The peer that claims to have sent all records after the key `after`, up to and including `to`. */
interface Stretch {
  readonly after: Uint8Array
  readonly to: Uint8Array
  readonly from: PeerId
}

/**
 * Records of the state in the order of their keys. Key and value must hash to a leaf of the proven tree, so all are true and none comes
 * twice. Only at the end does it show whether some were left out: then there are fewer records than leaves. If so, all are gone through
 * again, each time with a single peer if it stays. A record that comes late convicts the peers that left it out.
 */
export class RecordCourse implements Course<'stateRecords'> {
  readonly protocol = 'stateRecords'
  bytes = 0
  readonly #parts: TakingDependencies
  readonly #blame: (peer: PeerId) => void
  readonly #blamed = new Set<PeerId>()
  #lookup: Promise<LeafLookup> | undefined
  #mark: TakingMark
  #after: Uint8Array
  /** Whether stored records came from peers that are no longer known. */
  readonly #resumed: boolean
  #passes: number
  #stretches: Stretch[] = []
  readonly #earlier: Stretch[] = []
  sole: PeerId | undefined

  constructor(parts: TakingDependencies, mark: TakingMark, blame: (peer: PeerId) => void) {
    this.#parts = parts
    this.#mark = mark
    this.#blame = blame
    this.#resumed = mark.begun
    this.#passes = equal(mark.after, END) ? 1 : 0
    this.#after = this.#passes > 0 ? BEGIN : copy(mark.after)
  }

  request(): RequestOf<'stateRecords'> {
    return { snapshot: this.#mark.id, after: this.#after }
  }

  following({ records, done }: ReplyOf<'stateRecords'>): RequestOf<'stateRecords'> | undefined {
    const last = records.at(-1)
    return last === undefined || done ? undefined : { snapshot: this.#mark.id, after: last.key }
  }

  async take({ records, done }: ReplyOf<'stateRecords'>, from: PeerId): Promise<Taken> {
    const last = records.at(-1)?.key
    if (last === undefined && !done) return 'bad-state'
    const stretch = { after: this.#after, to: done ? END : copy(last as Uint8Array), from }
    if (!(await this.#areTrue(records)) || !(await this.#hasKnown(records, stretch))) return 'bad-state'
    this.#stretches.push(stretch)
    if (this.#passes > 0) this.sole = from
    if (last !== undefined) await this.#store(records, last)
    this.bytes += bytesOf(records)
    if (this.#mark.records === this.#mark.leaves) {
      await this.#dropRest()
      return 'done'
    }
    return done ? this.#again(from) : 'more'
  }

  async #areTrue(records: readonly Entry[]): Promise<boolean> {
    const { staging, pacer } = this.#parts
    const { leaves, id } = this.#mark
    this.#lookup ??= leafLookup(staging, { leaves, seed: fromHex(id) }, pacer)
    const isLeaf = await this.#lookup
    let before = this.#after
    for (const [i, { key, value }] of records.entries()) {
      if (compareKeys(before, key) >= 0 || !isLeaf(taggedHash('stateKey', key), valueHash(value))) return false
      before = key
      if (i % RECORDS_PER_STEP === 0 && pacer.due()) await pacer.pause()
    }
    return true
  }

  /** Whether a reply of a later pass has all records of its stretch that are stored already. */
  async #hasKnown(records: readonly Entry[], { after, to }: Stretch): Promise<boolean> {
    if (this.#passes === 0) return true
    const given = keysOf(records)
    for await (const [key] of this.#parts.staging.range(rangeOf(after, to))) if (!given.has(toHex(key))) return false
    return true
  }

  async #store(records: readonly Entry[], last: Uint8Array): Promise<void> {
    const { staging } = this.#parts
    const first = this.#passes === 0
    const added = first ? records : records.filter(({ key }) => staging.get(storeKey(key)) === undefined)
    const ours = keysOf(records)
    if (first && this.#mark.stale) await dropOthers(staging, rangeOf(this.#after, last), (key) => ours.has(toHex(key)))
    if (!first) for (const { key } of added) this.#tellOf(key)
    this.#after = copy(last)
    const writes = added.map(({ key, value }) => ({ key: storeKey(key), value }))
    await this.#write(writes, { after: first ? this.#after : END, records: this.#mark.records + added.length })
  }

  /** Drops stored records of another snapshot, and of tables outside the root, after the last record of this one. */
  async #dropRest(): Promise<void> {
    if (this.#mark.stale && this.#passes === 0)
      await dropOthers(this.#parts.staging, rangeOf(this.#after, END), () => false)
  }

  /** Begins another pass, because some records were left out: by this peer, if it sent the whole pass. */
  async #again(from: PeerId): Promise<Taken> {
    await this.#dropRest()
    const alone = this.#stretches.every((stretch) => stretch.from === from) && !(this.#resumed && this.#passes === 0)
    // After a crash a later pass begins anew, because the mark would not say which pass its place is in.
    await this.#write([], { after: END, records: this.#mark.records })
    this.#passes += 1
    this.#earlier.push(...this.#stretches)
    this.#stretches = []
    this.#after = BEGIN
    this.sole = alone ? undefined : from
    if (alone) return 'bad-state'
    return this.#passes < PASSES_MAX ? 'more' : 'stuck'
  }

  async #write(
    writes: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[],
    progress: Pick<TakingMark, 'after' | 'records'>,
  ): Promise<void> {
    const mark = { ...this.#mark, stage: STAGES.records, begun: true, ...progress }
    await this.#parts.staging.batch([...writes, takingWrite(mark)], () => {})
    this.#mark = mark
  }

  #tellOf(key: Uint8Array): void {
    for (const { after, to, from } of this.#earlier) {
      if (this.#blamed.has(from) || compareKeys(after, key) >= 0 || compareKeys(key, to) > 0) continue
      this.#blamed.add(from)
      this.#blame(from)
    }
  }
}

/** Order of keys in a store: byte by byte, shorter before longer. */
function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const common = Math.min(a.length, b.length)
  return compare(a.subarray(0, common), b.subarray(0, common)) || a.length - b.length
}

/** Store keys of the records after one key, up to and including another. */
function rangeOf(after: Uint8Array, to: Uint8Array) {
  const { gte, lt } = prefixRange(prefixKey('state'))
  return {
    gte: after.length === 0 ? gte : keyAfter(storeKey(after)),
    lt: to === END ? lt : keyAfter(storeKey(to)),
  }
}

function keysOf(records: readonly Entry[]): ReadonlySet<string> {
  return new Set(records.map(({ key }) => toHex(storeKey(key))))
}

function storeKey(key: Uint8Array): Uint8Array {
  return concat(STATE_PREFIX, key)
}
