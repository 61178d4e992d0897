import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { Fault } from '../../../../consensus/primitives/fault.ts'
import type { Hash, ServiceId } from '../../../../consensus/primitives/ids.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import type { DollarClaim, DollarClaimStore, DollarIn, DollarSettled } from './claim.ts'
import type { CallIdentity } from './identity.ts'

const KEYS_MAX = 50_000

type Named = Pick<DollarClaim, 'id' | 'requestHash'>

/** The payment for which a payer used a name: a payment identifier or an idempotency key. */
export class RepeatKeys {
  readonly #named = new Map<Hash, Named>()

  get({ repeatKey }: Pick<CallIdentity, 'repeatKey'>): Named | undefined {
    return repeatKey === null ? undefined : this.#named.get(repeatKey)
  }

  put({ repeatKey, id, requestHash }: Named & Pick<DollarClaim, 'repeatKey'>): void {
    if (repeatKey === null) return
    this.#named.delete(repeatKey)
    this.#named.set(repeatKey, { id, requestHash })
    if (this.#named.size <= KEYS_MAX) return
    const [oldest] = this.#named.keys()
    this.#named.delete(oldest as Hash)
  }

  /** Forgets the name of a payment that ended without money. */
  drop({ repeatKey, id }: Named & Pick<DollarClaim, 'repeatKey'>): void {
    if (repeatKey !== null && this.#named.get(repeatKey)?.id === id) this.#named.delete(repeatKey)
  }

  /** Remembers the name of a stored payment, unless a later payment has that name, or there is no room. */
  recall(claim: Named & Pick<DollarClaim, 'repeatKey'>): void {
    if (claim.repeatKey !== null && !this.#named.has(claim.repeatKey) && this.#named.size < KEYS_MAX) this.put(claim)
  }
}

/** Enough for the time until deliveries are in the store. */
const UNDER_WAY_MAX = 4_096

/** Notes the answers that callers have received completely. */
export class Deliveries {
  readonly #store: DollarClaimStore
  readonly #clock: Clock
  /** Claims delivered lately: a repeat may come before the store has the delivery. */
  readonly #ids = new Set<string>()

  constructor({ store, clock }: { readonly store: DollarClaimStore; readonly clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  has({ id, deliveredAtMs }: DollarIn<'settled'>): boolean {
    return deliveredAtMs !== null || this.#ids.has(id)
  }

  async add({ id }: DollarIn<'settled'>): Promise<void> {
    this.#ids.add(id)
    if (this.#ids.size > UNDER_WAY_MAX) this.#ids.delete(this.#ids.values().next().value as string)
    // The claim's report may have changed while the answer was sent.
    const claim = await this.#store.get(id)
    if (claim?.state === 'settled') await this.#store.advance('settled', { ...claim, deliveredAtMs: this.#clock.now() })
  }
}

/** Settled calls of a service, as this node counts them: Farthing's own chain does not show them. */
export interface DollarSales {
  readonly calls: number
  readonly amount: bigint
}

const PAGE = 500
const NOTHING: DollarSales = { calls: 0, amount: 0n }

/** Counts what was settled for each service: once from the store, then with each settlement. */
export class SalesBook {
  readonly #sales = new Map<ServiceId, DollarSales>()
  /** Claims counted or taken back while {@link load} reads the store, which must not count them again. Null afterwards. */
  #meanwhile: Set<string> | null = new Set()
  #stopped = false

  of(serviceId: ServiceId): DollarSales {
    return this.#sales.get(serviceId) ?? NOTHING
  }

  add(claim: Pick<DollarClaim, 'id' | 'serviceId' | 'amount'>): void {
    this.#meanwhile?.add(claim.id)
    this.#count(claim, 1)
  }

  /** Takes back a settlement whose money did not come. */
  takeBack(claim: Pick<DollarClaim, 'id' | 'serviceId' | 'amount'>): void {
    const isCounted = this.#meanwhile === null || this.#meanwhile.has(claim.id)
    this.#meanwhile?.add(claim.id)
    if (isCounted) this.#count(claim, -1)
  }

  /** Counts what the store holds, and remembers the names of its payments. */
  async load(store: DollarClaimStore, keys: RepeatKeys): Promise<void> {
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

  stop(): void {
    this.#stopped = true
  }

  #count({ serviceId, amount }: Pick<DollarClaim, 'serviceId' | 'amount'>, sign: 1 | -1): void {
    const before = this.of(serviceId)
    const sum = before.amount + BigInt(sign) * BigInt(amount)
    this.#sales.set(serviceId, { calls: before.calls + sign, amount: sum })
  }
}

/** Counts calls by outcome. */
export class Outcomes {
  readonly counts = new Map<string, number>()

  add(outcome: Result<DollarSettled>): void {
    const name = outcome.ok ? (outcome.value.replayed ? 'replayed' : 'settled') : nameOf(outcome.fault)
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}

function nameOf({ code }: Fault): string {
  if (code === 'stable/unsettled' || code === 'stable/under-way') return 'unsettled'
  if (code === 'stable/facilitator' || code === 'service/unavailable' || code === 'market/claims-away')
    return 'unavailable'
  return code.startsWith('service/') ? 'failed' : 'refused'
}
