import { toHex } from '../../consensus/primitives/bytes.ts'
import { byteList, type Codec, encode } from '../../consensus/primitives/codec.ts'
import { PAGE_SLOTS, type Page } from '../../consensus/state/page.ts'
import { type AnyStateTable, anyTable, type StateKey, stateTable } from '../../consensus/state/table.ts'
import { type PageId, type PageReader, pathOf, type TreeUpdate, valueHash } from '../../consensus/state/tree.ts'
import type { StateChange } from '../../consensus/state/view.ts'
import { treeHash } from '../vectors/generate/state-tree.ts'

const BYTES: Codec<Uint8Array> = byteList(1_024)

/** A table from numbers to byte strings, for tests of the state itself. */
export const THINGS = stateTable<number, Uint8Array>({
  name: 'things',
  prefix: 0x7e,
  codec: BYTES,
  id: (id) => id.toString(16).padStart(8, '0'),
})

/** A table like {@link THINGS} that the state root does not cover. */
export const NOTES = stateTable<number, Uint8Array>({
  name: 'notes',
  prefix: 0x7f,
  codec: BYTES,
  id: (id) => id.toString(16).padStart(8, '0'),
  rooted: false,
})

/** A change of one record of {@link THINGS}. Undefined means that the record is absent. */
export function change(id: number, before: number | undefined, after: number | undefined): StateChange {
  const bytes = (value: number | undefined) => (value === undefined ? undefined : encode(BYTES, Uint8Array.of(value)))
  return { table: anyTable(THINGS) as AnyStateTable, key: THINGS.key(id), before: bytes(before), after: bytes(after) }
}

/** Pages in memory. */
export class PageStore implements PageReader {
  readonly pages = new Map<PageId, Page>()

  page(id: PageId): Page | undefined {
    return this.pages.get(id)
  }

  apply({ pages }: TreeUpdate): void {
    for (const [id, page] of pages) {
      if (page === null) this.pages.delete(id)
      else this.pages.set(id, page)
    }
  }

  /** The stored pages as plain values to compare. */
  dump(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.pages].map(([id, page]) => [id, shownPage(page)]).sort())
  }
}

/** All nodes and leaves of a page, as plain values to compare. */
export function shownPage(page: Page): readonly unknown[] {
  const nodes = Array.from({ length: 2 * PAGE_SLOTS }, (_, node) => [page.kind(node), toHex(page.hash(node))])
  const leaves = Array.from({ length: PAGE_SLOTS }, (_, slot) => {
    const leaf = page.leafAt(slot)
    return leaf === undefined ? null : [toHex(leaf.path), toHex(leaf.value), toHex(leaf.hash)]
  })
  return [nodes, leaves]
}

/** The state root of records, computed directly from its recursive definition. */
export function naiveRoot(records: Iterable<readonly [StateKey, Uint8Array]>): string {
  return toHex(treeHash([...records].map(([key, value]) => ({ path: pathOf(key), value: valueHash(value) }))))
}

/** Ids of {@link THINGS} in groups whose paths share the first `bits` bits, so that several pages lie above them. */
export function crowdedIds(bits: number, groups: number, size: number): readonly number[] {
  const found = new Map<string, number[]>()
  const full: number[] = []
  for (let id = 0; full.length < groups * size; id++) {
    const prefix = toHex(pathOf(THINGS.key(id))).slice(0, bits / 4)
    const group = found.get(prefix) ?? []
    found.set(prefix, [...group, id])
    if (group.length + 1 === size) full.push(...group, id)
  }
  return full
}
