import type { Clock } from '../../consensus/chain/ports.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import type { ServiceDefinition } from '../services/service.ts'
import { isOwnKey } from './checks.ts'
import type { StableIn } from './claim.ts'
import { ClientCounts } from './client-counts.ts'
import { isOfPayer } from './facilitator.ts'
import type { StableCall } from './rail.ts'
import { RecentCounts } from './recent-counts.ts'
import type { StableTerms } from './terms.ts'

/** Calls of one payer that may be under way at once: what waits for a place costs memory, and others wait behind it. */
const AT_ONCE_MAX = 64
const SPAN = { withinMs: 10 * 60_000, namesMax: 10_000 }
/** Works that a payer may leave unpaid within the time: the service works before it is paid, so this is what it gives away. */
const UNPAID = { ...SPAN, most: 5 }
/** Settlements that a payer is trusted for: with as many it may have all its calls worked on at once. */
const PAID = { ...SPAN, most: AT_ONCE_MAX }
/**
 * Works that may fail for a payer within the time at addresses of its choice, or in models. They cost it nothing: without this
 * bound it could have this node knock anywhere, and models think, for free. An honest caller meets broken pages, too, so there are
 * more of them.
 */
export const FAILED_OUTSIDE = { ofPayer: 10, ofClient: 30 } as const
/**
 * Works of any service that may fail within the time, beside as many as were paid: each is work for nothing and a claim that is kept.
 * A client counts, too: an attacker has any number of payers.
 */
export const FAILED_ANY = { ofPayer: 30, ofClient: 40 } as const
/**
 * Works of a client whose settlement was refused, for whatever reason, or has an end that is not known yet, beside as many as were paid: an
 * attacker moves the same money from key to key.
 */
export const UNPAID_OF_CLIENT = 40
/** Settlements with an open end whose client is remembered. */
const OPEN_MAX = 10_000
/** Settlements that a client is trusted for. */
const CLIENT_PAID_MAX = 200
/** Ends of work that the other side can cause. A result out of shape or an interruption is ours. */
const CAUSED_OUTSIDE: ReadonlySet<string> = new Set(['service/failed', 'service/timeout'])

/** Who has a call carried out: who pays for it, and who sent it, as the doors tell callers apart. */
export interface Caller {
  readonly payer: string
  readonly client: Holder
}

/** Failures of one kind. */
interface Failures {
  readonly ofPayer: RecentCounts
  readonly ofClient: ClientCounts
}

/** Works of one payer that have begun and not ended, and what waits to begin. */
interface Line {
  begun: number
  readonly waiting: (() => void)[]
}

/** What one payer may have done before it pays: who lets settlements or work fail gets no more work for a while. */
export class Payers {
  readonly #busy = new Map<string, number>()
  readonly #lines = new Map<string, Line>()
  readonly #paid: RecentCounts
  readonly #unpaid: RecentCounts
  /** Settlements that were refused for a reason that may be the facilitator's. */
  readonly #unsettled: RecentCounts
  readonly #paidOfClient: ClientCounts
  readonly #unpaidOfClient: ClientCounts
  /** Whose works have been settled with an end that is not known yet, by the claim. */
  readonly #open = new LruMap<string, Holder>(OPEN_MAX)
  readonly #failedOutside: Failures
  readonly #failed: Failures
  readonly #unknownOf: (payer: string) => number

  /** `unknownOf` says how many settlements of a payer have an end that is not known yet. */
  constructor(clock: Clock, unknownOf: (payer: string) => number) {
    this.#paid = new RecentCounts(clock, PAID)
    this.#unpaid = new RecentCounts(clock, UNPAID)
    this.#unsettled = new RecentCounts(clock, { ...SPAN, most: FAILED_ANY.ofPayer })
    this.#paidOfClient = new ClientCounts(clock, { ...SPAN, most: CLIENT_PAID_MAX })
    this.#unpaidOfClient = new ClientCounts(clock, { ...SPAN, most: UNPAID_OF_CLIENT + CLIENT_PAID_MAX })
    const counts = ({ ofPayer, ofClient }: typeof FAILED_ANY | typeof FAILED_OUTSIDE): Failures => ({
      ofPayer: new RecentCounts(clock, { ...SPAN, most: ofPayer + AT_ONCE_MAX }),
      ofClient: new ClientCounts(clock, { ...SPAN, most: ofClient + CLIENT_PAID_MAX }),
    })
    this.#failedOutside = counts(FAILED_OUTSIDE)
    this.#failed = counts(FAILED_ANY)
    this.#unknownOf = unknownOf
  }

  /**
   * Why a payer gets no work now, or null. Asked before a payment is taken, and again where the work has waited. Faults:
   * `stable/refused`, `stable/failing`, `service/unavailable`.
   */
  refusal(caller: Caller, definition: ServiceDefinition): Fault | null {
    const unsettled = this.unsettled(caller, definition)
    if (unsettled !== null) return unsettled
    const failing = this.#failing(caller, definition)
    if (failing !== null || this.#trust(caller.payer) > 0) return failing
    const reason = 'it is not known yet whether this payer has paid for earlier calls'
    return fault('service/unavailable', { serviceId: definition.serviceId, reason })
  }

  /** Why a payer gets neither work nor another try to settle what was worked for it, or null. Faults: `stable/refused`, `stable/failing`. */
  unsettled({ payer }: Pick<Caller, 'payer'>, { serviceId }: ServiceDefinition): Fault | null {
    if (this.#unpaid.waitMs(payer) > 0)
      return fault('stable/refused', { reason: 'too_many_failed_settlements_of_this_payer' })
    const waitMs = this.#unsettled.waitMs(payer)
    return waitMs > 0 ? failingOf(serviceId, 'payer', waitMs) : null
  }

  #failing({ payer, client }: Caller, { serviceId, reachesOut }: ServiceDefinition): Fault | null {
    const paid = this.#paid.count(payer)
    const isOutside = reachesOut === true
    // What is reached outside is the same for who has paid: failures there cost others something.
    const outsideMs = isOutside ? this.#failedOutside.ofPayer.waitMs(payer, FAILED_OUTSIDE.ofPayer) : 0
    const ofPayerMs = Math.max(outsideMs, this.#failed.ofPayer.waitMs(payer, FAILED_ANY.ofPayer + paid))
    if (ofPayerMs > 0) return failingOf(serviceId, 'payer', ofPayerMs)
    // Who pays more often than not answers for no others behind the same address.
    const ended = [this.#failed.ofPayer, this.#unpaid, this.#unsettled]
    if (paid > ended.reduce((sum, counts) => sum + counts.count(payer), 0)) return null
    const { ofClient } = this.#failedOutside
    const outsideOfClientMs = isOutside ? ofClient.waitMs(client, FAILED_OUTSIDE.ofClient, this.#paidOfClient) : 0
    const anyOfClientMs = this.#failed.ofClient.waitMs(client, FAILED_ANY.ofClient, this.#paidOfClient)
    const unpaidMs = this.#unpaidOfClient.waitMs(client, UNPAID_OF_CLIENT, this.#paidOfClient)
    const ofClientMs = Math.max(outsideOfClientMs, anyOfClientMs, unpaidMs)
    return ofClientMs > 0 ? failingOf(serviceId, 'client', ofClientMs) : null
  }

  /** Whose places a call takes: who made up a signature takes none from the payer's own key, nor from what others send. */
  placeOf({ payment, client = '' }: Pick<StableCall, 'payment' | 'client'>, terms: StableTerms): string {
    const { from } = payment.authorization
    return isOwnKey(payment, terms) ? from : `${from} unproven ${client}`
  }

  /** Whether as many calls are under way as there may be; `place` is who is counted in {@link during}. */
  crowding(place: string, { serviceId }: ServiceDefinition): Fault | null {
    return (this.#busy.get(place) ?? 0) < AT_ONCE_MAX
      ? null
      : fault('service/unavailable', { serviceId, reason: `${AT_ONCE_MAX} calls of this payer are under way` })
  }

  /** Counts work for somebody while it lasts. */
  async during<T>(place: string, work: () => Promise<T>): Promise<T> {
    this.#busy.set(place, (this.#busy.get(place) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = (this.#busy.get(place) ?? 1) - 1
      if (left === 0) this.#busy.delete(place)
      else this.#busy.set(place, left)
    }
  }

  /**
   * Does work up to its settlement, as soon as no more of the payer's is unsettled than it is trusted for: of what is begun at
   * once, all but one may turn out to have been for nothing.
   */
  async inTurn<T>(payer: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(payer) ?? { begun: 0, waiting: [] }
    this.#lines.set(payer, line)
    if (line.begun < Math.max(1, this.#trust(payer))) line.begun += 1
    else await new Promise<void>((begin) => line.waiting.push(begin))
    try {
      return await work()
    } finally {
      line.begun -= 1
      this.#next(payer, line)
    }
  }

  #next(payer: string, line: Line): void {
    while (line.waiting.length > 0 && line.begun < Math.max(1, this.#trust(payer))) {
      line.begun += 1
      line.waiting.shift()?.()
    }
    if (line.begun === 0) this.#lines.delete(payer)
  }

  /** Works of a payer that may be unsettled at once. */
  #trust(payer: string): number {
    return UNPAID.most + this.#paid.count(payer) - this.#unpaid.count(payer) - this.#unknownOf(payer)
  }

  /**
   * Notes how a settlement ended: work that was done and not paid counts where the payer's settlement was refused. Where the facilitator
   * may be the cause more is borne.
   */
  ended(claim: StableIn<'settled' | 'unpaid' | 'owed'>): void {
    const { id, payer, state } = claim
    const client = this.#open.get(id)
    this.#open.delete(id)
    if (state === 'settled') {
      this.#paid.add(payer)
      if (client !== undefined) this.paid(client)
    }
    if (state !== 'unpaid' || claim.reason !== 'stable/refused') return
    const counts = isOfPayer(String(claim.detail.reason)) ? this.#unpaid : this.#unsettled
    counts.add(payer)
  }

  /** Notes that work was done for a client and is not paid: refused, or with an end that {@link ended} hears of later. */
  worked(id: string, client: Holder, cause: Fault): void {
    if (cause.code !== 'stable/refused' && cause.code !== 'stable/unsettled') return
    this.#unpaidOfClient.add(client)
    if (cause.code === 'stable/unsettled') this.#open.set(id, client)
  }

  /** Notes that a client's call was paid. */
  paid(client: Holder): void {
    this.#paidOfClient.add(client)
  }

  /** How often a payer has paid lately. */
  paidOf(payer: string): number {
    return this.#paid.count(payer)
  }

  /** Notes that work failed; it counts as one outside where the payer chose what the service reached, and that may be the cause. */
  failed({ payer, client }: Caller, { reachesOut }: ServiceDefinition, cause: Fault): void {
    const isOutside = reachesOut === true && CAUSED_OUTSIDE.has(cause.code)
    for (const { ofPayer, ofClient } of isOutside ? [this.#failedOutside, this.#failed] : [this.#failed]) {
      ofPayer.add(payer)
      ofClient.add(client)
    }
  }
}

/** Who sent a call, as bounds count it. */
export function senderOf({ client = '', network = client }: Pick<StableCall, 'client' | 'network'>): Holder {
  return { address: client, network }
}

function failingOf(serviceId: string, who: 'payer' | 'client', waitMs: number): Fault {
  return fault('stable/failing', { serviceId, who, seconds: Math.ceil(waitMs / 1_000) })
}
