import type { ServiceId } from '../../../../consensus/primitives/ids.ts'
import type { StableClaim, StableClaimStore } from './claim.ts'
import type { StableSales } from './rail.ts'
import type { RepeatKeys } from './repeat-keys.ts'

const PAGE = 500
const NOTHING: StableSales = { calls: 0, amount: 0n }

/** What was settled for each service, as this node knows it: counted once from the store, then with each settlement. */
export class SalesBook {
  readonly #sales = new Map<ServiceId, StableSales>()
  /** Settled while the store is still being read, where the claim would be met again. */
  #meanwhile: Set<string> | null = new Set()
  #stopped = false

  /** What was settled for a service. */
  of(serviceId: ServiceId): StableSales {
    return this.#sales.get(serviceId) ?? NOTHING
  }

  /** Counts a settlement. */
  add(claim: Pick<StableClaim, 'id' | 'serviceId' | 'amount'>): void {
    this.#meanwhile?.add(claim.id)
    this.#count(claim, 1)
  }

  /** Takes a settlement back that turned out to be none. */
  takeBack(claim: Pick<StableClaim, 'id' | 'serviceId' | 'amount'>): void {
    const isCounted = this.#meanwhile === null || this.#meanwhile.has(claim.id)
    this.#meanwhile?.add(claim.id)
    if (isCounted) this.#count(claim, -1)
  }

  /** Counts what the store holds, page by page, and remembers the names that its payments were given. */
  async load(store: StableClaimStore, keys: RepeatKeys): Promise<void> {
    let cursor: string | null = null
    do {
      const page = await store.recent(PAGE, cursor)
      for (const claim of page.claims) {
        keys.recall(claim)
        const isMoney = claim.state === 'settled' && claim.report?.isMissing !== true
        if (isMoney && this.#meanwhile?.has(claim.id) === false) this.#count(claim, 1)
      }
      cursor = page.nextCursor
    } while (cursor !== null && !this.#stopped)
    this.#meanwhile = null
  }

  /** Reads no more. */
  stop(): void {
    this.#stopped = true
  }

  #count({ serviceId, amount }: Pick<StableClaim, 'serviceId' | 'amount'>, sign: 1 | -1): void {
    const before = this.of(serviceId)
    const sum = before.amount + BigInt(sign) * BigInt(amount)
    this.#sales.set(serviceId, { calls: before.calls + sign, amount: sum })
  }
}
