import { decodeOwn } from '../primitives/codec.ts'
import { LruMap } from '../primitives/lru.ts'
import type { Page } from '../state/page.ts'
import type { StateKey } from '../state/table.ts'
import type { PageId, TreeUpdate } from '../state/tree.ts'
import type { StateChange } from '../state/view.ts'

const CACHED_RECORDS = 50_000
/** Pages deeper than those that all ways go through; one takes about a kilobyte. */
const CACHED_PAGES = 24_576
/** Pages down to this depth are kept for good: there are 4,369 of them at most. */
const KEPT_PAGE_DEPTH = 3

/** Records and pages of the head's state that were read or written lately. */
export class StateCache {
  /** Records by key; an absent one has the value undefined. */
  readonly records = new LruMap<StateKey, { readonly value: unknown }>(CACHED_RECORDS)
  readonly #pages = new LruMap<PageId, Page>(CACHED_PAGES)
  /** Every change goes through these, so that deep pages must not push them out. */
  readonly #topPages = new Map<PageId, Page>()

  page(id: PageId): Page | undefined {
    return this.#pagesLike(id).get(id)
  }

  setPage(id: PageId, page: Page): void {
    this.#pagesLike(id).set(id, page)
  }

  /** Takes in what a block did, or what taking it back did. */
  remember(changes: readonly StateChange[], tree: TreeUpdate, unwind: boolean): void {
    for (const { table, key, before, after } of changes) {
      const bytes = unwind ? before : after
      this.records.set(key, { value: bytes === undefined ? undefined : decodeOwn(table.codec, bytes) })
    }
    for (const [id, page] of tree.pages) {
      if (page === null) this.#pagesLike(id).delete(id)
      else this.setPage(id, page)
    }
  }

  /** Forgets everything: another state has taken the place. */
  clear(): void {
    this.records.clear()
    this.#pages.clear()
    this.#topPages.clear()
  }

  #pagesLike(id: PageId): LruMap<PageId, Page> | Map<PageId, Page> {
    return id.length <= KEPT_PAGE_DEPTH ? this.#topPages : this.#pages
  }
}
