import { type KeyValueStore, keyAfter, type Write } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import type { Pacer } from '../../../consensus/chain/ports.ts'
import { copy, equal } from '../../../consensus/primitives/bytes.ts'
import { decodeText, encodeText } from '../../../consensus/primitives/text.ts'
import {
  type ExpectedPage,
  type GivenPage,
  hashesOfGiven,
  leafCount,
  pagesBelow,
} from '../../../consensus/state/page-proof.ts'
import { type PageId, ROOT_PAGE } from '../../../consensus/state/tree.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import type { Course, Taken } from './course.ts'
import { STAGES, type TakingMark, takingWrite } from './taking-mark.ts'

/** Pages hashed in one go. */
const PAGES_PER_STEP = 128
/** Nibbles of a path: no page lies deeper. */
const DEPTH_MAX = 64
/** Pages looked at for reuse before the next request is made. */
const REUSE_STEPS = 4_096

/** A store with the room that a snapshot is put together in. */
export interface TakingParts {
  readonly staging: KeyValueStore
  readonly pacer: Pacer
}

/**
 * Pages of the state tree from the root on, in the order of their ids, so that the page above always came before: it says what
 * the next page is called and what it hashes to. Pages that are stored already, of an older snapshot, are not asked for where
 * they are what this tree has.
 */
export class PageCourse implements Course<'statePages'> {
  readonly protocol = 'statePages'
  readonly #parts: TakingParts
  #mark: TakingMark
  /** What comes, the next one last. */
  #expected: ExpectedPage[]
  /** Everything up to this id is there; undefined before the root. */
  #after: string | undefined

  /** Goes on where the mark says. `root` is the state root. */
  constructor(parts: TakingParts, mark: TakingMark, root: Uint8Array) {
    this.#parts = parts
    this.#mark = mark
    this.#after = mark.begun ? (decodeText(mark.after) as string) : undefined
    this.#expected = this.#after === undefined ? [{ id: ROOT_PAGE, hash: root }] : this.#expectedAfter(this.#after)
  }

  /** Whether all pages are there. */
  get done(): boolean {
    return this.#expected.length === 0
  }

  request(): RequestOf<'statePages'> {
    return this.#requestAfter(this.#after)
  }

  following({ pages }: ReplyOf<'statePages'>): RequestOf<'statePages'> | undefined {
    const last = pages.at(-1)
    // Where much is there already, what comes next is known when this reply is taken.
    if (last === undefined || this.#mark.stale) return undefined
    return this.#requestAfter(decodeText(last.id))
  }

  async take({ pages, done }: ReplyOf<'statePages'>): Promise<Taken> {
    const expected = [...this.#expected]
    const taken: GivenPage[] = []
    for (let start = 0; start < pages.length; start += PAGES_PER_STEP) {
      const group = pages.slice(start, start + PAGES_PER_STEP).map(({ id, form }) => ({ id: idOf(id), form }))
      const hashes = hashesOfGiven(group)
      for (const [i, page] of group.entries()) {
        const next = expected.pop()
        const hash = hashes[i]
        if (next?.id !== page.id || hash === undefined || !equal(hash, next.hash)) return 'bad-state'
        expected.push(...pagesBelow(page).toReversed())
        taken.push(page)
      }
      if (this.#parts.pacer.due()) await this.#parts.pacer.pause()
    }
    const last = taken.at(-1)
    if (last === undefined || (done && expected.length > 0 && !this.#mark.stale)) return 'bad-state'
    await this.#store(taken, last.id, expected)
    await this.reuse()
    return this.done ? 'done' : 'more'
  }

  /** Passes over what is there already and right. Call it before the first request where the mark is stale. */
  async reuse(): Promise<void> {
    if (!this.#mark.stale || this.#after === undefined) return
    let after: string = this.#after
    let leaves = 0
    for (let steps = 0; steps < REUSE_STEPS; steps++) {
      const next = this.#expected.at(-1)
      const found = next === undefined ? undefined : await this.#leavesBelow(next)
      if (next === undefined || found === undefined) break
      this.#expected.pop()
      leaves += found
      after = endOf(next.id)
    }
    if (after === this.#after) return
    await this.#parts.staging.batch([this.#advance(after, leaves)], () => {})
    this.#after = after
  }

  /** Leaves of a page and of all below it, if they are there from another snapshot and right. */
  async #leavesBelow({ id, hash }: ExpectedPage): Promise<number | undefined> {
    const { staging, pacer } = this.#parts
    if (endOf(id) > (decodeText(this.#mark.completeTo) as string)) return undefined
    const form = staging.get(KEYS.page(id))
    const own = form && hashesOfGiven([{ id, form }])[0]
    if (own === undefined || !equal(own, hash)) return undefined
    let leaves = 0
    for await (const [, below] of staging.range({
      gte: KEYS.page(id),
      lt: KEYS.page((endOf(id) + NIBBLE_END) as PageId),
    })) {
      leaves += leafCount(below)
      if (pacer.due()) await pacer.pause()
    }
    return leaves
  }

  async #store(taken: readonly GivenPage[], last: string, expected: ExpectedPage[]): Promise<void> {
    const writes: Write[] = taken.map(({ id, form }) => ({ key: KEYS.page(id), value: form }))
    const leaves = taken.reduce((sum, { form }) => sum + leafCount(form), 0)
    const dropped = this.#mark.stale ? await this.#others(taken, last) : []
    await this.#parts.staging.batch([...dropped, ...writes, this.#advance(last, leaves)], () => {})
    this.#after = last
    // Their hashes are views on the reply.
    this.#expected = expected.map(({ id, hash }) => ({ id, hash: copy(hash) }))
  }

  /** Pages of another snapshot between the last ones and these. */
  async #others(taken: readonly GivenPage[], last: string): Promise<readonly Write[]> {
    const ours = new Set<string>(taken.map(({ id }) => id))
    const gte = this.#after === undefined ? KEYS.page(ROOT_PAGE) : keyAfter(KEYS.page(this.#after as PageId))
    const dropped: Write[] = []
    for await (const [key] of this.#parts.staging.range({ gte, lt: keyAfter(KEYS.page(last as PageId)) })) {
      if (!ours.has(idOf(key.subarray(1)))) dropped.push({ key })
    }
    return dropped
  }

  #advance(after: string, leaves: number): Write {
    const known = decodeText(this.#mark.completeTo) as string
    this.#mark = {
      ...this.#mark,
      stage: STAGES.pages,
      after: encodeText(after),
      begun: true,
      leaves: this.#mark.leaves + leaves,
      completeTo: encodeText(after > known ? after : known),
    }
    return takingWrite(this.#mark)
  }

  #requestAfter(after: string | undefined): RequestOf<'statePages'> {
    return { snapshot: this.#mark.id, after: encodeText(after ?? ''), first: after === undefined }
  }

  /** What comes after a page that is stored: what is below it, then what is right of the way to it. */
  #expectedAfter(after: string): ExpectedPage[] {
    const expected: ExpectedPage[] = []
    for (let depth = 0; depth <= after.length; depth++) {
      const id = after.slice(0, depth) as PageId
      const form = this.#parts.staging.get(KEYS.page(id))
      if (form === undefined) break
      expected.push(
        ...pagesBelow({ id, form })
          .filter((below) => below.id > after)
          .toReversed(),
      )
    }
    return expected
  }
}

/** Comes after every nibble. */
const NIBBLE_END = 'g'

/** The greatest id that a page below this one can have. */
function endOf(id: string): string {
  return id + 'f'.repeat(DEPTH_MAX - id.length)
}

/** The id as text; an id that is none matches no expected one. */
function idOf(bytes: Uint8Array): PageId {
  return (decodeText(bytes) ?? '?') as PageId
}
