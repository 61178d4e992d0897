import { taggedHash } from '../crypto/hash.ts'
import { fromHex } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import { decodeText } from '../primitives/text.ts'
import { LeafTable } from '../state/leaf-table.ts'
import { type GivenPage, hashesOfGiven, hasLeaf, leafCount, PageWalk } from '../state/page-proof.ts'
import { type PageId, valueHash } from '../state/tree.ts'
import { collect, type KeyValueStore, keyAfter, prefixRange } from './key-value.ts'
import { KEYS, prefixKey } from './layout.ts'
import type { Pacer } from './ports.ts'
import type { RuleBook } from './rule-book.ts'

const PAGES_PER_STEP = 128
/** Most leaves in memory, about 44 bytes each. A larger tree is searched on the disk. */
const TABLE_LEAVES_MAX = 2_000_000
/** Pages down to this depth are kept in memory: every record's path goes through them, and there are at most 4,369. */
const KEPT_DEPTH = 3

/** Whether a tree has a leaf with this path and value hash. */
export type LeafLookup = (path: Uint8Array, value: Uint8Array) => boolean

/** What a state is checked with. */
export interface StateCheck {
  readonly ruleBook: Pick<RuleBook, 'modules'>
  readonly pacer: Pacer
  readonly stopped: () => boolean
}

/**
 * Whether the store holds exactly the records and tree pages of a state root, computed from the disk alone. Tables
 * outside the root are ignored. Works in short slices and in bounded memory. Undefined if stopped.
 */
export async function isStateOf(store: KeyValueStore, root: Hash, check: StateCheck): Promise<boolean | undefined> {
  const { ruleBook, pacer, stopped } = check
  const leaves = await provenLeaves(store, root, check)
  if (stopped()) return undefined
  if (leaves === undefined) return false
  const isLeaf = await leafLookup(store, { leaves, seed: fromHex(root) }, pacer)
  const tables = new Map(
    ruleBook.modules.flatMap((module) => module.tables).map(({ prefix, rooted }) => [prefix, rooted]),
  )
  let records = 0
  for await (const [key, value] of store.range(prefixRange(prefixKey('state')))) {
    if (pacer.due()) await pacer.pause()
    if (stopped()) return undefined
    const rooted = tables.get(key[1] as number)
    if (rooted === false) continue
    if (rooted === undefined || !isLeaf(taggedHash('stateKey', key.subarray(1)), valueHash(value))) return false
    records += 1
  }
  // Keys have different paths, so with as many records as leaves none is missing.
  return records === leaves
}

/** At most `limit` stored pages in the order of their ids. */
export function storedPages(
  store: KeyValueStore,
  after: PageId | undefined,
  limit = PAGES_PER_STEP,
): Promise<readonly GivenPage[]> {
  const range = prefixRange(prefixKey('page'))
  const gte = after === undefined ? range.gte : keyAfter(KEYS.page(after))
  return collect(store.range({ ...range, gte, limit }), ([key, form]) => ({
    id: decodeText(key.subarray(1)) as PageId,
    form,
  }))
}

/** `seed` is for {@link LeafTable}. */
export interface ProvenTree {
  readonly leaves: number
  readonly seed: Uint8Array
}

/** A lookup of leaves in a stored tree. */
export async function leafLookup(store: KeyValueStore, tree: ProvenTree, pacer: Pacer): Promise<LeafLookup> {
  const table = tree.leaves > TABLE_LEAVES_MAX ? undefined : await leafTable(store, tree, pacer)
  if (table !== undefined) return (path, value) => table.has(path, value)
  const top = new Map<PageId, Uint8Array>()
  const formOf = (id: PageId): Uint8Array | undefined => {
    const form = top.get(id) ?? store.get(KEYS.page(id))
    if (form !== undefined && id.length <= KEPT_DEPTH) top.set(id, form)
    return form
  }
  return (path, value) => hasLeaf(formOf, path, value)
}

/** Undefined if there are more leaves than were counted. */
async function leafTable(
  store: KeyValueStore,
  { leaves, seed }: ProvenTree,
  pacer: Pacer,
): Promise<LeafTable | undefined> {
  const table = new LeafTable(leaves, seed)
  for await (const [, form] of store.range(prefixRange(prefixKey('page')))) {
    if (!table.add(form)) return undefined
    if (pacer.due()) await pacer.pause()
  }
  return table
}

/** How many leaves the stored pages have, if they are exactly the tree of a root; else, or if stopped, undefined. */
async function provenLeaves(
  store: KeyValueStore,
  root: Hash,
  { pacer, stopped }: StateCheck,
): Promise<number | undefined> {
  const walk = PageWalk.from(fromHex(root))
  let leaves = 0
  for (let after: PageId | undefined; !stopped(); ) {
    const pages = await storedPages(store, after)
    const last = pages.at(-1)
    if (last === undefined) return walk.next === undefined ? leaves : undefined
    const hashes = hashesOfGiven(pages)
    for (const [i, page] of pages.entries()) {
      if (!walk.take(page, hashes[i])) return undefined
      leaves += leafCount(page.form)
    }
    after = last.id
    if (pacer.due()) await pacer.pause()
  }
  return undefined
}
