import { type KeyValueStore, keyAfter, type Write } from '../../../consensus/chain/key-value.ts'
import { idOfKey, KEYS } from '../../../consensus/chain/layout.ts'
import type { Pacer } from '../../../consensus/chain/ports.ts'
import { storedPages } from '../../../consensus/chain/state-proof.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { decodeText, encodeText } from '../../../consensus/primitives/text.ts'
import { type GivenPage, hashesOfGiven, leafCount, PageWalk } from '../../../consensus/state/page-proof.ts'
import { type PageId, ROOT_PAGE } from '../../../consensus/state/tree.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import { bytesOf, type Course, type Taken } from './course.ts'
import { dropOthers } from './derived.ts'
import { STAGES, type TakingMark, takingWrite } from './taking-mark.ts'

const PAGES_PER_STEP = 128
const REUSED_PER_BATCH = 2_048

/** `staging` is the store that the snapshot is put together in. */
export interface TakingDependencies {
  readonly staging: KeyValueStore
  readonly pacer: Pacer
  readonly stopped: () => boolean
}

/**
 * Pages of the state tree in the order of their ids, from the root on. A page comes before the pages below it, and gives their ids and
 * hashes. Stored pages of an older snapshot that fit this tree are kept and not asked for. Others are dropped on the way.
 */
export class PageCourse implements Course<'statePages'> {
  readonly protocol = 'statePages'
  bytes = 0
  readonly #parts: TakingDependencies
  #mark: TakingMark
  #walk: PageWalk
  /** The last page that was taken; undefined before the root. */
  #after: PageId | undefined
  /** Whether the stored pages after the last one were gone through, up to the next page that must be asked for. */
  #swept: boolean

  /** Goes on where the mark says. `root` is the state root. */
  constructor(parts: TakingDependencies, mark: TakingMark, root: Uint8Array) {
    this.#parts = parts
    this.#mark = mark
    this.#swept = !mark.stale
    this.#after = mark.begun ? (decodeText(mark.after) as PageId) : undefined
    const formOf = (id: PageId): Uint8Array | undefined => parts.staging.get(KEYS.page(id))
    this.#walk = this.#after === undefined ? PageWalk.from(root) : PageWalk.behind(this.#after, formOf)
  }

  get done(): boolean {
    return this.#walk.next === undefined && this.#swept
  }

  request(): RequestOf<'statePages'> {
    return this.#requestAfter(this.#after)
  }

  following({ pages }: ReplyOf<'statePages'>): RequestOf<'statePages'> | undefined {
    const last = pages.at(-1)
    // If parts of an older snapshot are stored, the next request is known only when this reply is taken.
    if (last === undefined || this.#mark.stale) return undefined
    return this.#requestAfter(decodeText(last.id) as PageId | undefined)
  }

  async take({ pages, done }: ReplyOf<'statePages'>): Promise<Taken> {
    const walk = this.#walk.copy()
    const taken: GivenPage[] = []
    for (let start = 0; start < pages.length; start += PAGES_PER_STEP) {
      const group = pages.slice(start, start + PAGES_PER_STEP).map(({ id, form }) => ({ id: idOf(id), form }))
      const hashes = hashesOfGiven(group)
      for (const [i, page] of group.entries()) {
        // A peer may have leftover pages that are not part of its tree. They prove nothing.
        if (walk.skips(page.id)) continue
        if (!walk.take(page, hashes[i])) return 'bad-state'
        taken.push(page)
      }
      if (this.#parts.pacer.due()) await this.#parts.pacer.pause()
    }
    const last = taken.at(-1)
    if (last === undefined || (done && walk.next !== undefined)) return 'bad-state'
    await this.#store(taken, last.id, walk)
    await this.reuse()
    return this.done ? 'done' : 'more'
  }

  /** Takes stored pages that fit this tree and drops the others, up to the next page that must be asked for. */
  async reuse(): Promise<void> {
    if (!this.#mark.stale) return
    this.#swept = false
    while (!this.#swept && !this.#parts.stopped()) this.#swept = await this.#reuseSome()
  }

  /** Goes through the next stored pages. True if the stored pages after these can be of no use before a peer has given another page. */
  async #reuseSome(): Promise<boolean> {
    const { staging, pacer } = this.#parts
    const stored = await storedPages(staging, this.#after, REUSED_PER_BATCH)
    const walk = this.#walk.copy()
    const strays: Write[] = []
    const taken: GivenPage[] = []
    let missing = false
    for (let start = 0; start < stored.length && !missing; start += PAGES_PER_STEP) {
      const group = stored.slice(start, start + PAGES_PER_STEP)
      const hashes = hashesOfGiven(group)
      for (const [i, page] of group.entries()) {
        if (walk.skips(page.id)) strays.push({ key: KEYS.page(page.id) })
        else if (walk.take(page, hashes[i])) taken.push(page)
        else {
          missing = true
          break
        }
      }
      if (pacer.due()) await pacer.pause()
    }
    const last = taken.at(-1)
    const advance = last === undefined ? [] : [this.#advance(last.id, taken)]
    if (strays.length + advance.length > 0) await staging.batch([...strays, ...advance], () => {})
    this.#walk = walk
    this.#after = last?.id ?? this.#after
    return missing || stored.length < REUSED_PER_BATCH
  }

  async #store(taken: readonly GivenPage[], last: PageId, walk: PageWalk): Promise<void> {
    const { staging } = this.#parts
    if (this.#mark.stale) {
      const ours = new Set(taken.map(({ id }) => toHex(encodeText(id))))
      const gte = this.#after === undefined ? KEYS.page(ROOT_PAGE) : keyAfter(KEYS.page(this.#after))
      await dropOthers(staging, { gte, lt: keyAfter(KEYS.page(last)) }, (key) => ours.has(idOfKey(key)))
    }
    const writes = taken.map(({ id, form }) => ({ key: KEYS.page(id), value: form }))
    await staging.batch([...writes, this.#advance(last, taken)], () => {})
    this.bytes += bytesOf(writes)
    this.#after = last
    this.#walk = walk
  }

  #advance(after: PageId, taken: readonly GivenPage[]): Write {
    this.#mark = {
      ...this.#mark,
      stage: STAGES.pages,
      after: encodeText(after),
      begun: true,
      leaves: this.#mark.leaves + taken.reduce((sum, { form }) => sum + leafCount(form), 0),
    }
    return takingWrite(this.#mark)
  }

  #requestAfter(after: PageId | undefined): RequestOf<'statePages'> {
    return { snapshot: this.#mark.id, after: encodeText(after ?? ''), first: after === undefined }
  }
}

/** The id as text. An invalid one matches no expected id. */
function idOf(bytes: Uint8Array): PageId {
  return (decodeText(bytes) ?? '~') as PageId
}
