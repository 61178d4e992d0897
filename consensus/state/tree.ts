import { taggedHash } from '../crypto/hash.ts'
import { fromHex, toHex, ZERO_32 } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import { runNow } from '../primitives/steps.ts'
import { EMPTY, INNER, type Leaf, makeLeaf, PAGE_ROOT, PAGE_SLOTS, Page } from './page.ts'
import type { StateKey } from './table.ts'
import type { StateChange } from './view.ts'

/**
 * The state commitment is a compact sparse Merkle tree. A record's path is H(state-key tag, key), most significant bit
 * first. Its leaf is the root of the largest subtree that holds no other record. An empty tree has the zero root.
 *
 * A page is named by its path from the root, one hex digit for each page below the root page.
 */
export type PageId = string & { readonly __pageId: unique symbol }

/** Where pages are read from. */
export interface PageReader {
  /** The caller must not change the page. */
  page(id: PageId): Page | undefined
}

/** `pages` has every page that changed; null is a page that was removed. */
export interface TreeUpdate {
  readonly root: Hash
  readonly pages: ReadonlyMap<PageId, Page | null>
}

/** The page at the top of the tree. */
export const ROOT_PAGE = '' as PageId

/** Records between two yields of {@link updateTree}, so that the caller can pause often. */
const RECORDS_PER_STEP = 32
const PAGES_PER_STEP = 64

/** Path of a record: the hash of its key. */
export function pathOf(key: StateKey): Uint8Array {
  return taggedHash('stateKey', fromHex(key))
}

/** Hash of a record's value, as in its leaf. */
export function valueHash(value: Uint8Array): Uint8Array {
  return taggedHash('stateValue', value)
}

/** Applies the changes of rooted tables. Yields, so that the caller can pause. */
export function* updateTree(
  reader: PageReader,
  changes: readonly StateChange[],
  unwind = false,
): Generator<void, TreeUpdate> {
  const dirty = new Map<PageId, Page>()
  const open = (id: PageId): Page => {
    let page = dirty.get(id)
    if (page === undefined) {
      page = reader.page(id)?.copy() ?? Page.empty()
      dirty.set(id, page)
    }
    return page
  }
  // A new page begins empty, whatever the store holds under its id.
  const begin = (id: PageId): Page => {
    const page = Page.empty()
    dirty.set(id, page)
    return page
  }
  const rooted = changes.filter(({ table }) => table.rooted)
  for (let start = 0; start < rooted.length; start += RECORDS_PER_STEP) {
    for (const change of rooted.slice(start, start + RECORDS_PER_STEP))
      place({ open, begin }, leafChange(change, unwind))
    yield
  }
  open(ROOT_PAGE)
  return yield* foldPages(dirty)
}

/** Runs {@link updateTree} to its end at once. */
export function updateTreeNow(reader: PageReader, changes: readonly StateChange[], unwind = false): TreeUpdate {
  return runNow(updateTree(reader, changes, unwind))
}

interface LeafChange {
  readonly path: Uint8Array
  /** Undefined removes the leaf. */
  readonly leaf: Leaf | undefined
}

function leafChange({ key, before, after }: StateChange, unwind: boolean): LeafChange {
  const bytes = unwind ? before : after
  const path = pathOf(key)
  return { path, leaf: bytes === undefined ? undefined : makeLeaf({ path, value: valueHash(bytes) }) }
}

const NIBBLES = '0123456789abcdef'

/** Four bits of a path: its slot in the page at this depth. */
export function nibbleOf(path: Uint8Array, depth: number): number {
  const byte = path[depth >> 1] as number
  return depth % 2 === 0 ? byte >> 4 : byte & 0xf
}

/** Page below a slot. */
export function pageBelow(id: PageId, slot: number): PageId {
  return (id + NIBBLES[slot]) as PageId
}

interface Pages {
  /** An existing page of the tree, or an empty one. */
  readonly open: (id: PageId) => Page
  /** A page that is new to the tree. */
  readonly begin: (id: PageId) => Page
}

/** If another leaf is in the way of a new one, it moves one page down. */
function place({ open, begin }: Pages, { path, leaf }: LeafChange): void {
  let id = ROOT_PAGE
  for (let depth = 0; ; depth++) {
    const page = open(id)
    const slot = nibbleOf(path, depth)
    const below = pageBelow(id, slot)
    if (page.slotKind(slot) !== INNER) {
      if (page.slotKind(slot) === EMPTY || page.holds(slot, path)) {
        if (leaf === undefined) page.clear(slot)
        else page.setLeaf(slot, leaf)
        return
      }
      if (leaf === undefined) return
      const there = page.leafAt(slot) as Leaf
      begin(below).setLeaf(nibbleOf(there.path, depth + 1), there)
      page.setInner(slot, ZERO_32)
    }
    id = below
  }
}

/** Hashes the changed pages from the bottom up. A page left with a single leaf is folded into the page above. */
function* foldPages(dirty: ReadonlyMap<PageId, Page>): Generator<void, TreeUpdate> {
  const pages = new Map<PageId, Page | null>()
  const levels: PageId[][] = []
  for (const id of dirty.keys()) {
    const level = levels[id.length] ?? []
    level.push(id)
    levels[id.length] = level
  }
  for (const level of levels.reverse()) {
    for (let start = 0; start < (level?.length ?? 0); start += PAGES_PER_STEP) {
      const group = level.slice(start, start + PAGES_PER_STEP)
      Page.rehash(group.map((id) => dirty.get(id) as Page))
      for (const id of group) pages.set(id, fold(dirty, id))
      yield
    }
  }
  return { root: toHex((dirty.get(ROOT_PAGE) as Page).hash(PAGE_ROOT)) as Hash, pages }
}

/** Null if the page is not needed. */
function fold(dirty: ReadonlyMap<PageId, Page>, id: PageId): Page | null {
  const page = dirty.get(id) as Page
  if (id === ROOT_PAGE) return page
  const parent = dirty.get(id.slice(0, -1) as PageId) as Page
  const slot = Number.parseInt(id.at(-1) as string, PAGE_SLOTS)
  const kind = page.kind(PAGE_ROOT)
  if (kind === INNER) {
    parent.setInner(slot, page.hash(PAGE_ROOT))
    return page
  }
  if (kind === EMPTY) parent.clear(slot)
  else parent.setLeaf(slot, page.singleLeaf(PAGE_ROOT))
  return null
}
