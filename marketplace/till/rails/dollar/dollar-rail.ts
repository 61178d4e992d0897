import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { runsOf } from '../../claim-store.ts'
import { type Caller, NO_CLIENT } from '../../failing-callers.ts'
import type { Ended, Gate, Held, Order, Rail, Steps, Task, Verdict } from '../../rail.ts'
import { RUNS_MAX } from '../../settings.ts'
import { Till, type TillDependencies } from '../../till.ts'
import { Arrivals, type DollarArrivals } from './arrivals.ts'
import type { DollarSales } from './books.ts'
import { Deliveries, Outcomes, RepeatKeys, SalesBook } from './books.ts'
import { holdsLongEnough, isOwnKey } from './checks.ts'
import type { DollarCall, DollarSettled } from './claim.ts'
import { DOLLAR_CLAIMS, type DollarClaim, type DollarClaimStore, type DollarIn } from './claim.ts'
import { isOfPayer, type StableLedger } from './facilitator.ts'
import type { FacilitatorFacts, FacilitatorPool } from './facilitators.ts'
import { type CallIdentity, identify, isOfTerms, isSameCall } from './identity.ts'
import { Intake } from './intake.ts'
import { Payers } from './payers.ts'
import type { Refunder } from './refunds.ts'
import type { Seller } from './requirements.ts'
import { Resolver } from './resolver.ts'
import { type Attempt, Settlement } from './settlement.ts'
import type { DollarTerms } from './terms.ts'
import { asBefore, causeOf, claimedAgain, executing, settling, settlingAgain, unpaid } from './transitions.ts'
import { askerOf, turnedAwayBy, Verification } from './verification.ts'

/** What the dollar rail works with. */
export interface DollarRailDependencies extends TillDependencies<DollarClaim> {
  readonly store: DollarClaimStore
  readonly seller: Seller
  readonly facilitators: FacilitatorPool
  /** The token's chain; null without a node to ask. */
  readonly ledger: StableLedger | null
  readonly refunder: Refunder
  readonly onFault: (fault: Fault) => void
}

/** Calls and arrivals are counted since the process started. */
export interface DollarFigures {
  /** Calls by outcome: `settled`, `replayed`, `refused`, `failed`, `unsettled`, `unavailable`. */
  readonly outcomes: ReadonlyMap<string, number>
  /** Settlements whose outcome is not known yet. */
  readonly unknown: number
  readonly refundsOwed: number
  /** Null without a node of the token's chain: then facilitators are believed. */
  readonly arrivals: DollarArrivals | null
}

/** Longest wait of a repeated call for a settlement of unknown outcome. */
const SETTLING_WAIT_MS = 5_000
const FAILED_RUNS_MAX = 10
/** Newest claims whose names are read before the start ends: a repeat may come with the same name and a new authorization. */
const NAMES_AT_ONCE = 1_000
const UNDER_WAY = fault('stable/under-way')
/** It is not known yet whether the money moved; a repeat of the call finds out. */
const UNSETTLED: Fault = fault('stable/unsettled')

type DollarOrder = Order<DollarCall, CallIdentity>
type Standing = Verdict<DollarClaim, DollarIn<'settled'>>

/**
 * The dollar rail verifies a payment, works, and settles it, in this order. The claim is written while a facilitator verifies, and is on
 * disk before the work. The result is on disk before the money moves.
 */
export class DollarRail implements Rail<DollarCall, DollarClaim, CallIdentity, DollarIn<'settled'>> {
  readonly kind = DOLLAR_CLAIMS
  readonly joinMs: number
  readonly beginsPatiently = false
  readonly till: Till<DollarCall, DollarClaim, CallIdentity, DollarIn<'settled'>>
  readonly #deps: DollarRailDependencies
  readonly #intake: Intake
  readonly #payers: Payers
  readonly #keys = new RepeatKeys()
  readonly #sales = new SalesBook()
  readonly #deliveries: Deliveries
  readonly #outcomes = new Outcomes()
  readonly #settlement: Settlement
  readonly #resolver: Resolver
  readonly #verification: Verification
  readonly #arrivals: Arrivals | null

  constructor(dependencies: DollarRailDependencies) {
    this.#deps = dependencies
    this.till = new Till(dependencies, this)
    const { clock, timers, store, settings, facilitators, ledger, onError } = dependencies
    this.joinMs = settings.settleWaitMs
    this.#intake = new Intake(dependencies)
    this.#payers = new Payers(clock, (payer) => this.#resolver.unknownOf(payer))
    this.#deliveries = new Deliveries(dependencies)
    const onStep = (claim: DollarIn<'settled' | 'unpaid' | 'owed'>): void => this.#onStep(claim)
    this.#settlement = new Settlement(dependencies)
    this.#resolver = new Resolver({ store, settlement: this.#settlement, facilitators, timers, onStep, onError })
    const onMissing = (claim: DollarIn<'settled'>): void => this.#sales.takeBack(claim)
    this.#arrivals = ledger === null ? null : new Arrivals({ ...dependencies, ledger, onMissing })
    this.#verification = new Verification({ ...dependencies, paidOf: (payer) => this.#payers.paidOf(payer) })
  }

  get terms(): DollarTerms {
    return this.#deps.seller.terms
  }

  get store(): DollarClaimStore {
    return this.#deps.store
  }

  get facilitators(): readonly FacilitatorFacts[] {
    return this.#deps.facilitators.facts
  }

  get verified(): FacilitatorPool['verified'] {
    return this.#deps.facilitators.verified
  }

  get closedBecause(): string | null {
    return this.#deps.facilitators.closedBecause
  }

  get figures(): DollarFigures {
    const [unknown, refundsOwed] = [this.#resolver.unknownCount, this.#deps.refunder.owedCount]
    return { outcomes: this.#outcomes.counts, unknown, refundsOwed, arrivals: this.#arrivals?.counts ?? null }
  }

  sales(serviceId: ServiceId): DollarSales {
    return this.#sales.of(serviceId)
  }

  identify(call: DollarCall): CallIdentity {
    return identify(this.terms, call)
  }

  /** Null also if the other payment has ended without an answer. */
  async named({ call, identity }: DollarOrder, turn: number): Promise<Result<DollarSettled> | null> {
    if (turn > 0) await this.#learnName(identity)
    const named = this.#keys.get(identity)
    if (named === undefined || named.id === identity.id) return null
    if (named.requestHash !== identity.requestHash) return fail(fault('stable/key-used'))
    const claim = await this.store.get(named.id)
    if (claim === undefined && this.till.isRunning(named.id)) return fail(UNDER_WAY)
    if (claim === undefined || claim.state === 'unpaid' || claim.state === 'owed') return null
    // Without the payer's own signature the name proves nothing, so the call is neither answered nor charged.
    if (!isOwnKey(call.payment, this.terms)) return fail(fault('stable/key-used'))
    if (claim.state === 'settled') return this.#replay(claim, identity)
    return fail(claim.state === 'settling' ? UNSETTLED : UNDER_WAY)
  }

  judge(order: DollarOrder, known: DollarClaim | undefined): Standing {
    const { identity } = order
    if (known === undefined) return this.#judgeNew(order, null)
    if (!isSameCall(known, identity)) return refused(fault('stable/used'))
    if (known.state === 'settled') return { is: 'told', outcome: this.#replay(known, identity) }
    if (known.state === 'owed') return refused(this.#owedFault(known))
    if (known.state === 'unpaid') return this.#judgeAgain(order, known)
    const { settleWaitMs } = this.#deps.settings
    const isSettling = known.state === 'settling'
    const waitMs = isSettling ? Math.min(SETTLING_WAIT_MS, settleWaitMs) : settleWaitMs
    const hasMoved = (now: DollarClaim | undefined): boolean => now?.state !== known.state
    return { is: 'elsewhere', waitMs, hasMoved, why: () => (isSettling ? UNSETTLED : UNDER_WAY) }
  }

  mayJoin({ identity, claim }: Held<DollarClaim, CallIdentity>, order: DollarOrder): Fault | null {
    const taken = identity ?? claim
    if (!isSameCall(taken, order.identity)) return fault('stable/used')
    // While a payment is settled, other parties can see its authorization: only the name shows the buyer.
    return taken.repeatKey !== null && taken.repeatKey !== order.identity.repeatKey ? UNDER_WAY : null
  }

  underWay(): Fault {
    return UNDER_WAY
  }

  goesOn(): Fault {
    return UNDER_WAY
  }

  answer(_: DollarOrder, ended: Result<DollarClaim>, replayed: boolean): Result<DollarSettled> {
    return ended.ok ? ok({ claim: ended.value as DollarIn<'settled'>, replayed }) : ended
  }

  async carry(claim: DollarClaim, steps: Steps<DollarClaim>, order: DollarOrder | null): Promise<Ended<DollarClaim>> {
    if (order === null) return this.#earn(steps, { first: null, isFirst: true })
    this.#keys.put(claim)
    const { call } = order
    const ended = await this.#payers.during(this.#payers.placeOf(call, this.terms), () =>
      claim.state === 'settling' ? this.#settleAgain(claim, steps, order) : this.#begin(claim, steps, order),
    )
    if (ended?.ok === false && ended.fault.code !== 'stable/unsettled') this.#keys.drop(claim)
    return ended
  }

  mayBegin(claim: DollarClaim, { definition, client }: Task): Gate<DollarClaim> {
    const { shop, clock } = this.#deps
    const begun = executing(claim as DollarIn<'claimed' | 'executing'>, clock.now())
    // Interrupted work was judged when it was taken up.
    if (claim.state === 'executing') return { is: 'open', begun }
    const { serviceId, timeoutMs } = definition
    const reason = this.till.isStopped ? 'the node is stopping' : shop.closedBecause
    if (reason !== null) return { is: 'refused', cause: fault('service/unavailable', { serviceId, reason }) }
    if (!holdsLongEnough(claim.validBefore, clock.now(), timeoutMs)) {
      const late = 'invalid_exact_evm_payload_authorization_valid_before'
      return { is: 'refused', cause: fault('stable/refused', { reason: late }) }
    }
    const cause = this.#payers.refusal({ payer: claim.payer, client }, definition)
    return cause === null ? { is: 'open', begun } : { is: 'refused', cause }
  }

  worked({ definition }: Task, caller: Caller, outcome: Result<string>): void {
    if (!outcome.ok) this.#payers.failed(caller, definition, outcome.fault)
  }

  async end(claim: DollarClaim, outcome: Result<string>): Promise<Ended<DollarClaim>> {
    if (!outcome.ok) return this.#giveBack(claim, outcome.fault)
    const done = settling(claim as DollarIn<'executing'>, outcome.value, this.#deps.clock.now())
    return (await this.till.advance('executing', done)) ? ok(done) : null
  }

  async #giveBack(claim: DollarClaim, cause: Fault): Promise<Ended<DollarClaim>> {
    if (claim.state === 'claimed') {
      const refused = await this.#turnAway(claim, cause)
      // A crash came before any work, so calls that wait for the claim are judged again.
      return cause.code === 'service/interrupted' ? null : refused
    }
    const begun = claim as DollarIn<'executing'>
    const failed = { ...begun, failedRuns: (begun.failedRuns ?? 0) + 1 }
    const ended = unpaid(failed, cause, { nowMs: this.#deps.clock.now(), over: false })
    if (!(await this.till.advance('executing', ended))) return null
    this.#resolver.take(ended, null)
    return fail(cause)
  }

  takeUp(claim: DollarClaim, isInHand: boolean): boolean {
    this.#keys.recall(claim)
    if (isInHand || this.#resolver.has(claim.id) || !isOfTerms(this.terms, claim)) return false
    if (claim.state === 'owed') this.#deps.refunder.owe(claim)
    else if (claim.state === 'settling' || claim.state === 'unpaid') this.#resolver.takeUp(claim)
    return claim.state === 'claimed' || claim.state === 'executing'
  }

  whyNotResumed(claim: DollarClaim, { serviceId, timeoutMs, repeatable }: ServiceDefinition): Fault | null {
    const interrupted = fault('service/interrupted', { serviceId })
    // For a claim without work only a facilitator was asked. The caller can offer the payment again without harm.
    if (claim.state === 'claimed' || !repeatable) return interrupted
    const { clock, shop } = this.#deps
    if (!holdsLongEnough(claim.validBefore, clock.now(), timeoutMs)) return fault('service/too-late', { serviceId })
    return shop.closedBecause !== null || runsOf(claim) > RUNS_MAX ? interrupted : null
  }

  /** The start waits for the newest names, not for the counts. */
  async started(): Promise<void> {
    for (const claim of (await this.store.recent(NAMES_AT_ONCE, null)).claims) {
      this.#keys.recall(claim)
      if (isOfTerms(this.terms, claim)) this.#arrivals?.take(claim)
    }
    void this.#sales.load(this.store, this.#keys).catch((error: unknown) => this.till.tellError(error))
  }

  forget(): void {
    this.#resolver.forget()
    this.#deps.refunder.forget()
  }

  stop(): Promise<unknown> {
    this.#sales.stop()
    this.#deps.facilitators.stop()
    return Promise.allSettled([this.#resolver.stop(), this.#arrivals?.stop(), this.#deps.refunder.stop()])
  }

  async handedOver(claim: DollarIn<'settled'>): Promise<void> {
    // If this write is lost, the worst is a second delivery to the caller that holds the signature.
    if (claim.deliveredAtMs === null) await this.#deliveries.add(claim)
  }

  counted(outcome: Result<DollarSettled>): void {
    this.#outcomes.add(outcome)
  }

  /** Another replica may have taken a payment under the name. */
  async #learnName({ repeatKey }: CallIdentity): Promise<void> {
    const holder = repeatKey === null ? undefined : await this.store.named?.(repeatKey)
    if (holder !== undefined) this.#keys.put(holder)
  }

  #isNameTaken(identity: CallIdentity): boolean {
    const named = this.#keys.get(identity)
    return named !== undefined && named.id !== identity.id && this.till.isRunning(named.id)
  }

  /**
   * A settled authorization is public, so it does not show the buyer. The name that the buyer gave with the first call does, since no chain
   * has the name. An answer without a name is delivered once.
   */
  #replay(claim: DollarIn<'settled'>, { repeatKey }: CallIdentity): Result<DollarSettled> {
    const { transaction } = claim
    if (claim.repeatKey === null ? this.#deliveries.has(claim) : claim.repeatKey !== repeatKey)
      return fail(fault('stable/delivered', { transaction }))
    return claim.result === null ? fail(fault('stable/result-expired', { transaction })) : ok({ claim, replayed: true })
  }

  #judgeNew(order: DollarOrder, previous: DollarIn<'unpaid'> | null): Standing {
    const { input } = order.asked
    if (!input.ok) return refused(input.fault)
    const refusal = this.#refusal(order)
    if (refusal !== null) return refused(refusal)
    return this.#take(order, previous === null ? this.#intake.newClaim(order) : claimedAgain(previous))
  }

  /** Work for an unpaid payment runs again only if the service may run twice. */
  #judgeAgain(order: DollarOrder, claim: DollarIn<'unpaid'>): Standing {
    const cause = causeOf(claim)
    if (claim.over) return refused(cause)
    const finished = settlingAgain(claim)
    if (finished === null && !order.offer.definition.repeatable) return refused(cause)
    if (finished === null && (claim.failedRuns ?? 0) < FAILED_RUNS_MAX) return this.#judgeNew(order, claim)
    const refusal = this.#refusal(order, finished !== null)
    if (finished === null) return refused(refusal ?? cause)
    if (refusal !== null) return refused(refusal.code === 'stable/refused' ? cause : refusal)
    return this.#take(order, finished)
  }

  #take({ identity }: DollarOrder, claim: DollarClaim): Standing {
    return this.#isNameTaken(identity) ? { is: 'moved' } : { is: 'take', claim }
  }

  /** Why a payment is not taken now, or null. `isFinished`: its work is done and only the money is missing. */
  #refusal(order: DollarOrder, isFinished = false): Fault | null {
    const { call, offer } = order
    const { serviceId } = offer.definition
    if (this.till.isStopped) return fault('service/unavailable', { serviceId, reason: 'the node is stopping' })
    const refusal = this.#intake.refusal(order)
    if (refusal !== null) return refusal
    const { closedBecause } = this
    if (closedBecause !== null) return fault('stable/facilitator', { detail: closedBecause })
    const crowding = this.#payers.crowding(this.#payers.placeOf(call, this.terms), offer.definition)
    const caller = { payer: call.payment.authorization.from, client: clientOf(call) }
    return crowding ?? this.#payers[isFinished ? 'unsettled' : 'refusal'](caller, offer.definition)
  }

  async #begin(claim: DollarClaim, steps: Steps<DollarClaim>, { call }: DollarOrder): Promise<Ended<DollarClaim>> {
    const { payment } = call
    const client = clientOf(call)
    const opened = claim as DollarIn<'claimed'>
    const foreign = isOwnKey(payment, this.terms) ? null : payment.authorization.signature
    const asked = await this.#verification.ask(opened, client, foreign)
    if (!asked.ok) return asked
    if (!(await steps.claim())) return null
    this.#resolver.drop(opened.id)
    const { verdict, by } = await asked.value.verdict
    if (verdict.is !== 'good') return this.#turnAway(opened, turnedAwayBy(verdict))
    const caller = { payer: opened.payer, client }
    const ended = await this.#payers.inTurn(caller, () =>
      this.#earn(steps, { first: by, isFirst: true, ...askerOf(client) }, client),
    )
    if (ended?.ok === false && isRefusedOfPayer(ended.fault)) asked.value.wasted()
    if (ended?.ok !== true) return ended
    this.#payers.paid(client)
    this.#verification.paid(opened, client, foreign)
    return ended
  }

  async #earn(steps: Steps<DollarClaim>, attempt: Attempt, client: Holder | null = null): Promise<Ended<DollarClaim>> {
    const worked = await steps.work()
    if (worked?.ok !== true) return worked
    const claim = worked.value as DollarIn<'settling'>
    const ended = await this.#collect(claim, attempt)
    if (client !== null && ended?.ok === false) this.#payers.worked(claim.id, client, ended.fault)
    return ended
  }

  /** A facilitator has refused the settlement of this finished work before. */
  async #settleAgain(
    claim: DollarIn<'settling'>,
    steps: Steps<DollarClaim>,
    { call }: DollarOrder,
  ): Promise<Ended<DollarClaim>> {
    if (!(await steps.claim())) return null
    this.#resolver.drop(claim.id)
    return this.#collect(claim, { first: null, isFirst: true, isRepeat: true, ...askerOf(clientOf(call)) })
  }

  async #collect(claim: DollarIn<'settling'>, attempt: Attempt): Promise<Ended<DollarClaim>> {
    const step = await this.#settlement.attempt(claim, attempt)
    if (this.till.isAbandoned) return fail(UNSETTLED)
    if (step === 'open') {
      this.#resolver.take(claim, attempt.first)
      return fail(UNSETTLED)
    }
    if (!(await this.till.advance('settling', step))) return null
    this.#onStep(step)
    if (step.state === 'settled') return ok(step)
    if (step.state === 'owed') return null
    if (!step.over) this.#resolver.take(step, null)
    return fail(causeOf(step))
  }

  /**
   * Drops a payment that was not used, so that it can be offered again. One that was unpaid before becomes unpaid again
   * and is watched, since its authorization may have been used meanwhile.
   */
  async #turnAway(claim: DollarIn<'claimed'>, cause: Fault): Promise<Result<never>> {
    const before = asBefore(claim)
    if (this.till.isAbandoned) return fail(cause)
    if (before === null) await this.store.release('claimed', claim.id)
    else if (await this.store.advance('claimed', before)) {
      // The resolver has not watched it since the crash.
      if (cause.code === 'service/interrupted') this.#resolver.takeUp(before)
      else this.#resolver.suspect(before)
    }
    return fail(cause)
  }

  #onStep(claim: DollarIn<'settled' | 'unpaid' | 'owed'>): void {
    if (claim.state === 'settled') {
      // An earlier refusal may have dropped the name. It is remembered again, so that a new authorization under it is not charged.
      this.#keys.recall(claim)
      this.#sales.add(claim)
      this.#arrivals?.take(claim)
    }
    this.#payers.ended(claim)
    if (claim.state === 'owed') this.#deps.refunder.owe(claim)
    this.till.wake()
  }

  #owedFault({ amount, payer, transaction, refund }: DollarIn<'owed'>): Fault {
    const { status } = refund
    return fault('stable/owed', { amount, asset: this.terms.asset.symbol, payer, status, transaction })
  }
}

function refused(cause: Fault): Standing {
  return { is: 'told', outcome: fail(cause) }
}

function clientOf({ from = NO_CLIENT }: DollarCall): Holder {
  return from
}

/** Whether the payment was refused for what the payer has signed or holds. */
function isRefusedOfPayer({ code, detail }: Fault): boolean {
  return code === 'stable/refused' && isOfPayer(String(detail.reason))
}
