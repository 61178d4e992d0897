import type { WtxId } from '../primitives/ids.ts'
import { LruMap } from '../primitives/lru.ts'

const REMEMBERED = 50_000

/**
 * Witnesses that verified: what the mempool checked need not be checked again in a block. Keyed by the hash over body
 * (hence sender, hence keys) and all signatures; only positive results are kept.
 */
export class VerifiedWitnesses {
  readonly #known = new LruMap<WtxId, true>(REMEMBERED)

  has(wtxId: WtxId): boolean {
    return this.#known.has(wtxId)
  }

  add(wtxId: WtxId): void {
    this.#known.set(wtxId, true)
  }
}
