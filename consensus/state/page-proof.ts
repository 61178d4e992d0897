import { copy, equal } from '../primitives/bytes.ts'
import { INNER, makeLeaf, PAGE_ROOT, PAGE_SLOTS, Page } from './page.ts'
import { FORM_HEAD_BYTES, formBytes, HASH_BYTES, innerIn, leavesIn, slotAt } from './page-form.ts'
import { nibbleOf, type PageId, pageBelow, ROOT_PAGE } from './tree.ts'

/** A page of the tree from an untrusted source. */
export interface GivenPage {
  readonly id: PageId
  readonly form: Uint8Array
}

/** A page that must come, with its hash. */
export interface ExpectedPage {
  readonly id: PageId
  readonly hash: Uint8Array
}

/**
 * What given pages hash to, in their order. The hashes are computed from the leaves and the hashes of the pages below;
 * nothing else in a form can be trusted. Undefined for a form that no page can have, and for a page with a leaf that
 * belongs elsewhere.
 */
export function hashesOfGiven(given: readonly GivenPage[]): readonly (Uint8Array | undefined)[] {
  const pages = given.map(rebuilt)
  Page.rehash(pages.filter((page) => page !== undefined))
  return pages.map((page, i) => {
    const { id, form } = given[i] as GivenPage
    if (page === undefined || !equal(page.form(), form)) return undefined
    // Below the root, no page has fewer than two leaves below it: a single leaf stands in the page above.
    return id === ROOT_PAGE || page.kind(PAGE_ROOT) === INNER ? page.hash(PAGE_ROOT) : undefined
  })
}

/** In the order of their ids. */
function pagesBelow({ id, form }: GivenPage): readonly ExpectedPage[] {
  const inner = innerIn(form)
  const below: ExpectedPage[] = []
  for (let slot = 0; slot < PAGE_SLOTS; slot++) {
    if (((inner >>> slot) & 1) === 0) continue
    const at = slotAt(form, slot)
    below.push({ id: pageBelow(id, slot), hash: form.subarray(at, at + HASH_BYTES) })
  }
  return below
}

/**
 * Walks through a tree from its root, in the order of page ids. The proven pages above say which page comes next and
 * what it must hash to, so nothing is taken that the root does not prove.
 */
export class PageWalk {
  /** Pages to come. The next one stands at the end. */
  readonly #expected: ExpectedPage[]

  private constructor(expected: readonly ExpectedPage[]) {
    this.#expected = [...expected]
  }

  static from(root: Uint8Array): PageWalk {
    return new PageWalk([{ id: ROOT_PAGE, hash: root }])
  }

  /** A walk that goes on after a page. The pages on the path to it must be proven. */
  static behind(after: PageId, formOf: (id: PageId) => Uint8Array | undefined): PageWalk {
    const expected: ExpectedPage[] = []
    for (let depth = 0; depth <= after.length; depth++) {
      const id = after.slice(0, depth) as PageId
      const form = formOf(id)
      if (form === undefined) break
      const right = pagesBelow({ id, form }).filter((below) => below.id > after)
      expected.push(...right.toReversed())
    }
    return new PageWalk(expected)
  }

  /** Undefined at the end. */
  get next(): ExpectedPage | undefined {
    return this.#expected.at(-1)
  }

  /** Whether the tree has no page with this id. The id must come after all pages taken so far. */
  skips(id: PageId): boolean {
    return this.next === undefined || id < this.next.id
  }

  /** Takes the next page, with its hash from {@link hashesOfGiven}. False for any other page, which is not taken. */
  take(page: GivenPage, hash: Uint8Array | undefined): boolean {
    const { next } = this
    if (next?.id !== page.id || hash === undefined || !equal(hash, next.hash)) return false
    this.#expected.pop()
    // Copies: the form may be a small part of a large reply.
    for (const { id, hash } of pagesBelow(page).toReversed()) this.#expected.push({ id, hash: copy(hash) })
    return true
  }

  copy(): PageWalk {
    return new PageWalk(this.#expected)
  }
}

/** How many leaves a page holds. */
export function leafCount(form: Uint8Array): number {
  let [count, leaves] = [0, leavesIn(form)]
  for (; leaves !== 0; leaves &= leaves - 1) count += 1
  return count
}

/** The pages that `formOf` gives must be proven. */
export function hasLeaf(
  formOf: (id: PageId) => Uint8Array | undefined,
  path: Uint8Array,
  valueHash: Uint8Array,
): boolean {
  let id = ROOT_PAGE
  for (let depth = 0; depth < 2 * HASH_BYTES; depth++) {
    const form = formOf(id)
    if (form === undefined) return false
    const slot = nibbleOf(path, depth)
    if (((leavesIn(form) >>> slot) & 1) === 1) return isLeaf(form, slotAt(form, slot), path, valueHash)
    if (((innerIn(form) >>> slot) & 1) === 0) return false
    id = pageBelow(id, slot)
  }
  return false
}

/** Compares without views: a large state has millions of leaves. */
function isLeaf(form: Uint8Array, at: number, path: Uint8Array, valueHash: Uint8Array): boolean {
  for (let i = 0; i < HASH_BYTES; i++) {
    if (form[at + i] !== path[i] || form[at + HASH_BYTES + i] !== valueHash[i]) return false
  }
  return true
}

/** Undefined if the form is not sound. */
function rebuilt({ id, form }: GivenPage): Page | undefined {
  if (form.length < FORM_HEAD_BYTES) return undefined
  const [leaves, inner] = [leavesIn(form), innerIn(form)]
  if ((leaves & inner) !== 0 || form.length !== formBytes(leaves, inner)) return undefined
  const page = Page.empty()
  for (let slot = 0; slot < PAGE_SLOTS; slot++) {
    const at = slotAt(form, slot)
    if (((inner >>> slot) & 1) === 1) page.setInner(slot, form.subarray(at, at + HASH_BYTES))
    if (((leaves >>> slot) & 1) === 0) continue
    const path = form.subarray(at, at + HASH_BYTES)
    if (!belongs(path, id, slot)) return undefined
    page.setLeaf(slot, makeLeaf({ path, value: form.subarray(at + HASH_BYTES, at + 2 * HASH_BYTES) }))
  }
  return page
}

function belongs(path: Uint8Array, id: PageId, slot: number): boolean {
  for (let depth = 0; depth < id.length; depth++) {
    if (nibbleOf(path, depth) !== Number.parseInt(id.charAt(depth), PAGE_SLOTS)) return false
  }
  return nibbleOf(path, id.length) === slot
}
