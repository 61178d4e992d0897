import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { StableClaimStore, StableIn } from './claim.ts'

/** Deliveries that may be on their way into the store at once. */
const UNDER_WAY_MAX = 4_096

/** Answers that were handed over to the end. */
export class Deliveries {
  readonly #store: StableClaimStore
  readonly #clock: Clock
  /** Delivered lately: a repeat may come before that is written. */
  readonly #ids = new Set<string>()

  constructor({ store, clock }: { readonly store: StableClaimStore; readonly clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** Whether a claim's answer was handed over before. */
  has({ id, deliveredAtMs }: StableIn<'settled'>): boolean {
    return deliveredAtMs !== null || this.#ids.has(id)
  }

  /** Writes a delivery down. */
  async add({ id }: StableIn<'settled'>): Promise<void> {
    this.#ids.add(id)
    if (this.#ids.size > UNDER_WAY_MAX) this.#ids.delete(this.#ids.values().next().value as string)
    // What is known of its money can have changed while the answer was on its way.
    const claim = await this.#store.get(id)
    if (claim?.state === 'settled') await this.#store.advance('settled', { ...claim, deliveredAtMs: this.#clock.now() })
  }
}
