import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../../consensus/primitives/lru.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { ClientCounts, ClientTally, RecentCounts } from '../../client-counts.ts'
import { type Caller, FAILED_OUTSIDE, isCausedOutside } from '../../failing-callers.ts'
import { isOwnKey } from './checks.ts'
import type { DollarCall, DollarIn } from './claim.ts'
import { isOfPayer } from './facilitator.ts'
import type { DollarTerms } from './terms.ts'

/** Calls of one payer that may be under way at once. Each that waits costs memory and delays the calls behind it. */
const AT_ONCE_MAX = 64
const SPAN = { withinMs: 10 * 60_000, namesMax: 10_000 }
/** Calls that a payer may leave unpaid within ten minutes, although their work is done. The service works before it is paid. */
const UNPAID = { ...SPAN, most: 5 }
/** Paid calls that are counted for a payer. After so many, all its calls under way may be worked on at once. */
const PAID = { ...SPAN, most: AT_ONCE_MAX }
/**
 * Calls within ten minutes whose work may fail, at any service. Each paid call allows one more. Failed work is done for nothing. Clients
 * are bounded as well as payers, because an attacker can make any number of payers.
 */
export const FAILED_ANY = { ofPayer: 30, ofClient: 40 } as const
/**
 * Calls of a client within ten minutes whose work is done, and whose settlement was refused or is not known yet. Each paid call allows one
 * more. They are counted by client, because an attacker can move the same money from key to key.
 */
export const UNPAID_OF_CLIENT = 40
/** Settlements of unknown outcome whose client is remembered. */
const OPEN_MAX = 10_000
/** Paid calls that are counted for a client. */
const CLIENT_PAID_MAX = 200

interface Failures {
  readonly ofPayer: RecentCounts
  readonly ofClient: ClientCounts
}

/** The calls of one payer: how many are worked on and settled now, and which wait for that. */
interface Line {
  begun: number
  readonly waiting: (() => void)[]
}

/** Bounds the work that payers and clients get before they pay. */
export class Payers {
  readonly #busy = new Map<string, number>()
  readonly #lines = new Map<string, Line>()
  readonly #paid: RecentCounts
  /** Calls of a client whose work has begun and is not settled: each of them may turn out unpaid. */
  readonly #begunOfClient = new ClientTally()
  readonly #unpaid: RecentCounts
  /** Settlements that were refused, perhaps by the facilitator's own fault. */
  readonly #unsettled: RecentCounts
  readonly #paidOfClient: ClientCounts
  readonly #unpaidOfClient: ClientCounts
  /** Clients of settlements of unknown outcome, by claim id. */
  readonly #open = new LruMap<string, Holder>(OPEN_MAX)
  readonly #failedOutside: Failures
  readonly #failed: Failures
  readonly #unknownOf: (payer: string) => number

  /** `unknownOf` returns how many settlements of a payer have an unknown outcome. */
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

  /** Why a payer gets no work now, or null. Faults: `stable/refused`, `stable/failing`, `service/unavailable`. */
  refusal(caller: Caller, definition: ServiceDefinition): Fault | null {
    const unsettled = this.unsettled(caller, definition)
    if (unsettled !== null) return unsettled
    const failing = this.#failing(caller, definition)
    if (failing !== null || this.#trust(caller.payer) > 0) return failing
    const reason = 'it is not known yet whether this payer has paid for earlier calls'
    return fault('service/unavailable', { serviceId: definition.serviceId, reason })
  }

  /** Why a payer gets neither work nor another settlement, or null. Faults: `stable/refused`, `stable/failing`. */
  unsettled({ payer }: Pick<Caller, 'payer'>, { serviceId }: ServiceDefinition): Fault | null {
    if (this.#unpaid.waitMs(payer) > 0)
      return fault('stable/refused', { reason: 'too_many_failed_settlements_of_this_payer' })
    const waitMs = this.#unsettled.waitMs(payer)
    return waitMs > 0 ? failingOf(serviceId, 'payer', waitMs) : null
  }

  #failing({ payer, client }: Caller, { serviceId, reachesOut }: ServiceDefinition): Fault | null {
    const paid = this.#paid.count(payer)
    const isOutside = reachesOut === true
    // A paid call allows the payer no further failure outside: each such failure disturbs the server that was reached.
    const outsideMs = isOutside ? this.#failedOutside.ofPayer.waitMs(payer, FAILED_OUTSIDE.ofPayer) : 0
    const ofPayerMs = Math.max(outsideMs, this.#failed.ofPayer.waitMs(payer, FAILED_ANY.ofPayer + paid))
    if (ofPayerMs > 0) return failingOf(serviceId, 'payer', ofPayerMs)
    // A payer that mostly pays is not held back by other payers behind the same address. Its other calls under way or of unknown outcome
    // count as unpaid here.
    const ended = [this.#failed.ofPayer, this.#unpaid, this.#unsettled]
    const open = Math.max(0, (this.#lines.get(payer)?.begun ?? 0) - 1) + this.#unknownOf(payer)
    if (paid > ended.reduce((sum, counts) => sum + counts.count(payer), open)) return null
    const { ofClient } = this.#failedOutside
    const outsideOfClientMs = isOutside ? ofClient.waitMs(client, FAILED_OUTSIDE.ofClient, this.#paidOfClient) : 0
    const anyOfClientMs = this.#failed.ofClient.waitMs(client, FAILED_ANY.ofClient, this.#paidOfClient)
    const unpaidMs = this.#unpaidOfClient.waitMs(client, UNPAID_OF_CLIENT, this.#paidOfClient)
    const ofClientMs = Math.max(outsideOfClientMs, anyOfClientMs, unpaidMs)
    if (ofClientMs > 0) return failingOf(serviceId, 'client', ofClientMs)
    const room = this.#unpaidOfClient.room(client, UNPAID_OF_CLIENT, this.#paidOfClient)
    return this.#begunOfClient.exceeds(client, room)
      ? fault('service/unavailable', {
          serviceId,
          reason: 'too many calls of this client are under way and not paid yet',
        })
      : null
  }

  /** The name under which a call is counted. A made-up signature takes no place from the payer it names. */
  placeOf({ payment, from: client }: Pick<DollarCall, 'payment' | 'from'>, terms: DollarTerms): string {
    const { from } = payment.authorization
    return isOwnKey(payment, terms) ? from : `${from} unproven ${client?.address ?? ''}`
  }

  /** `place` is that of {@link placeOf}. */
  crowding(place: string, { serviceId }: ServiceDefinition): Fault | null {
    return (this.#busy.get(place) ?? 0) < AT_ONCE_MAX
      ? null
      : fault('service/unavailable', { serviceId, reason: `${AT_ONCE_MAX} calls of this payer are under way` })
  }

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

  /** Does the work of a call and settles it, once the payer has fewer unsettled calls than it is trusted for. */
  async inTurn<T>({ payer, client }: Caller, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(payer) ?? { begun: 0, waiting: [] }
    this.#lines.set(payer, line)
    if (line.begun < Math.max(1, this.#trust(payer))) line.begun += 1
    else await new Promise<void>((begin) => line.waiting.push(begin))
    this.#begunOfClient.add(client, 1)
    try {
      return await work()
    } finally {
      this.#begunOfClient.add(client, -1)
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

  /** How many calls of a payer may be worked on and unsettled at once. */
  #trust(payer: string): number {
    return UNPAID.most + this.#paid.count(payer) - this.#unpaid.count(payer) - this.#unknownOf(payer)
  }

  /** Notes how a settlement ended. A payer may have more refusals that can be the facilitator's fault than refusals that cannot. */
  ended(claim: DollarIn<'settled' | 'unpaid' | 'owed'>): void {
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

  /** Notes work that a client has not paid: its settlement was refused, or is unknown until {@link ended}. */
  worked(id: string, client: Holder, cause: Fault): void {
    if (cause.code !== 'stable/refused' && cause.code !== 'stable/unsettled') return
    this.#unpaidOfClient.add(client)
    if (cause.code === 'stable/unsettled') this.#open.set(id, client)
  }

  paid(client: Holder): void {
    this.#paidOfClient.add(client)
  }

  paidOf(payer: string): number {
    return this.#paid.count(payer)
  }

  /** Notes that work failed. It counts as outside if an address that the payer chose, or a model, may be the cause. */
  failed({ payer, client }: Caller, definition: ServiceDefinition, cause: Fault): void {
    const isOutside = isCausedOutside(definition, cause)
    for (const { ofPayer, ofClient } of isOutside ? [this.#failedOutside, this.#failed] : [this.#failed]) {
      ofPayer.add(payer)
      ofClient.add(client)
    }
  }
}

function failingOf(serviceId: string, who: 'payer' | 'client', waitMs: number): Fault {
  return fault('stable/failing', { serviceId, who, seconds: Math.ceil(waitMs / 1_000) })
}
