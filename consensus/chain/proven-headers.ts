import type { BlockId } from '../primitives/ids.ts'
import { LruMap } from '../primitives/lru.ts'

const REMEMBERED = 65_536

/** Headers whose proof of work was checked, in threads or when their blocks were announced: it need not be hashed again. */
export class ProvenHeaders {
  readonly #known = new LruMap<BlockId, true>(REMEMBERED)

  has(id: BlockId): boolean {
    return this.#known.has(id)
  }

  add(id: BlockId): void {
    this.#known.set(id, true)
  }
}
