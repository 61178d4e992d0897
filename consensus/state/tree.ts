import { taggedHash } from '../crypto/hash.ts'
import { equal, fromHex, toHex, ZERO_32 } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import { hashLeaves, PAGE_SLOTS, type Page, pageRoots, type Slot } from './page.ts'
import type { StateKey } from './table.ts'
import type { StateChange } from './view.ts'

/**
 * The state commitment: a compact sparse Merkle tree. A record lives at the path H(state-key tag, key), most
 * significant bit first, as the leaf of the smallest subtree that it has to itself; an empty tree has the zero root.
 */
export type PageId = string & { readonly __pageId: unique symbol }

/** Where pages are read from. */
export interface PageReader {
  /** The page at a path of nibbles (hex digits), undefined if there is none. Pages are never modified in place. */
  page(id: PageId): Page | undefined
}

/** New root and every page that changed; null is a page that is gone. */
export interface TreeUpdate {
  readonly root: Hash
  readonly pages: ReadonlyMap<PageId, Page | null>
}

/** The page at the top of the tree. */
export const ROOT_PAGE = '' as PageId

/** Records between two yields of {@link updateTree}, so that its driver can keep its slices short. */
const RECORDS_PER_STEP = 32
/** Pages hashed between two yields. */
const PAGES_PER_STEP = 64

/** Path of a record: the hash of its key. */
export function pathOf(key: StateKey): Uint8Array {
  return taggedHash('stateKey', fromHex(key))
}

/** Hash of a record's value, as its leaf holds it. */
export function valueHash(value: Uint8Array): Uint8Array {
  return taggedHash('stateValue', value)
}

type MutablePage = (Slot | null)[]

/** Applies the changes of rooted tables. Yields now and then; whoever drives it may pause there. */
export function* updateTree(
  reader: PageReader,
  changes: readonly StateChange[],
  unwind = false,
): Generator<void, TreeUpdate> {
  const dirty = new Map<PageId, MutablePage>()
  const open = (id: PageId): MutablePage => {
    const known = dirty.get(id)
    if (known !== undefined) return known
    const page = [...(reader.page(id) ?? new Array<null>(PAGE_SLOTS).fill(null))]
    dirty.set(id, page)
    return page
  }
  const rooted = changes.filter(({ table }) => table.rooted)
  for (let start = 0; start < rooted.length; start += RECORDS_PER_STEP) {
    for (const leaf of leavesOf(rooted.slice(start, start + RECORDS_PER_STEP), unwind)) place(open, leaf)
    yield
  }
  return yield* foldPages(dirty, open(ROOT_PAGE))
}

/** Runs {@link updateTree} to its end at once. */
export function updateTreeNow(reader: PageReader, changes: readonly StateChange[], unwind = false): TreeUpdate {
  const steps = updateTree(reader, changes, unwind)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

interface LeafChange {
  readonly path: Uint8Array
  /** Undefined removes the leaf. */
  readonly leaf: Slot | undefined
}

function leavesOf(changes: readonly StateChange[], unwind: boolean): readonly LeafChange[] {
  const wanted = changes.map(({ key, before, after }) => {
    const bytes = unwind ? before : after
    return { path: pathOf(key), value: bytes === undefined ? undefined : valueHash(bytes) }
  })
  const present = wanted.filter(
    (change): change is { path: Uint8Array; value: Uint8Array } => change.value !== undefined,
  )
  const hashes = hashLeaves(present)
  let next = 0
  return wanted.map(({ path, value }) => {
    if (value === undefined) return { path, leaf: undefined }
    return { path, leaf: { kind: 'leaf', path, value, hash: hashes[next++] as Uint8Array } }
  })
}

/** Walks to the record's place and sets or clears its leaf; a leaf in the way is moved a page down. */
function place(open: (id: PageId) => MutablePage, { path, leaf }: LeafChange): void {
  const nibbles = toHex(path)
  for (let depth = 0; ; depth++) {
    const id = nibbles.slice(0, depth) as PageId
    const page = open(id)
    const at = Number.parseInt(nibbles[depth] as string, PAGE_SLOTS)
    const slot = page[at] ?? null
    if (slot?.kind === 'inner') continue
    if (slot === null || equal(slot.path, path)) {
      page[at] = leaf ?? null
      return
    }
    if (leaf === undefined) return
    const below = open((id + nibbles[depth]) as PageId)
    below[Number.parseInt(toHex(slot.path)[depth + 1] as string, PAGE_SLOTS)] = slot
    page[at] = { kind: 'inner', hash: ZERO_32 }
  }
}

/** Hashes the changed pages from the bottom up, folding pages that are left with a single leaf into their parents. */
function* foldPages(dirty: Map<PageId, MutablePage>, root: MutablePage): Generator<void, TreeUpdate> {
  const pages = new Map<PageId, Page | null>()
  const depths = [...new Set([...dirty.keys()].map((id) => id.length))].sort((a, b) => b - a)
  for (const depth of depths) {
    const level = [...dirty].filter(([id]) => id.length === depth)
    for (let start = 0; start < level.length; start += PAGES_PER_STEP) {
      const group = level.slice(start, start + PAGES_PER_STEP)
      const roots = pageRoots(group.map(([, page]) => page))
      group.forEach(([id, page], i) => {
        const element = roots[i] ?? null
        const folded = element === null || element.leaf !== null
        pages.set(id, folded && id !== ROOT_PAGE ? null : page)
        if (id === ROOT_PAGE) return
        const parent = dirty.get(id.slice(0, -1) as PageId) as MutablePage
        const slot: Slot | null = element === null ? null : (element.leaf ?? { kind: 'inner', hash: element.hash })
        parent[Number.parseInt(id.at(-1) as string, PAGE_SLOTS)] = slot
      })
      yield
    }
  }
  const top = pageRoots([root])[0] ?? null
  return { root: toHex(top === null ? ZERO_32 : top.hash) as Hash, pages }
}
