import type { Timers } from '../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { readRequest } from '../../../services/service.ts'
import { ClaimsAway, unlessAway } from '../../claim-store.ts'
import type { MarketSettings } from '../../settings.ts'
import { type Stay, WaitingRoom } from '../../waiting-room.ts'
import type { Workshop } from '../../workshop.ts'
import { Arrivals } from './arrivals.ts'
import { isOwnKey } from './checks.ts'
import type { StableClaim, StableClaimStore, StableIn } from './claim.ts'
import { Deliveries } from './deliveries.ts'
import type { StableLedger } from './facilitator.ts'
import type { FacilitatorPool } from './facilitators.ts'
import { type CallIdentity, identify, isOfTerms, isSameCall } from './identity.ts'
import { Intake, type IntakeDependencies, type Place } from './intake.ts'
import { Outcomes } from './outcomes.ts'
import { Payers, senderOf } from './payers.ts'
import type { StableCall, StableFigures, StableRail, StableSales, StableSettled } from './rail.ts'
import type { Refunder } from './refunds.ts'
import { RepeatKeys } from './repeat-keys.ts'
import { Resolver } from './resolver.ts'
import { SalesBook } from './sales.ts'
import { Settlement } from './settlement.ts'
import type { StableTerms } from './terms.ts'
import { causeOf, claimedAgain, settlingAgain } from './transitions.ts'
import { type Ended, StableWork, UNSETTLED } from './work.ts'

/** What the stablecoin rail works with. */
export interface StableCheckoutDependencies extends IntakeDependencies {
  readonly store: StableClaimStore
  readonly workshop: Workshop
  readonly facilitators: FacilitatorPool
  /** The token's chain; null where there is no node to ask. */
  readonly ledger: StableLedger | null
  readonly settings: MarketSettings
  readonly refunder: Refunder
  readonly timers: Timers
  /** Hears of settlements that facilitators reported and the chain does not show. */
  readonly onFault: (fault: Fault) => void
  /** Hears of errors that nobody waits for: a failing disk. */
  readonly onError: (error: unknown) => void
}

/** Work under way, and which call it is for. */
interface Running {
  readonly identity: Pick<CallIdentity, 'serviceId' | 'requestHash' | 'signatureHash' | 'repeatKey'>
  readonly ended: Promise<Ended>
}

const POLL_MS = 100
/** A settlement that is not known after this long takes longer: the caller comes again. */
const SETTLING_WAIT_MS = 5_000
/** A claim can move on between two looks; more often than this it does not. */
const TURNS_MAX = 5
/** Failed works for one authorization, however often it is offered again. */
const FAILED_RUNS_MAX = 10
/** Names that are known again at once after a start: who lost an answer to it may come back with a new authorization. */
const NAMES_AT_ONCE = 1_000
const UNDER_WAY = fault('stable/under-way')

/**
 * The stablecoin rail: verify, work, settle, in this order and each once for an authorization. The claim is written while the
 * facilitator is asked and durable before the work; whoever comes second joins; what is not known of the money is found out in the
 * background.
 */
export class StableCheckout implements StableRail {
  readonly #deps: StableCheckoutDependencies
  readonly #running = new Map<string, Running>()
  readonly #room: WaitingRoom
  readonly #intake: Intake
  readonly #payers: Payers
  readonly #keys = new RepeatKeys()
  readonly #sales = new SalesBook()
  readonly #deliveries: Deliveries
  readonly #outcomes = new Outcomes()
  readonly #resolver: Resolver
  /** Null where facilitators have to be believed. */
  readonly #arrivals: Arrivals | null
  readonly #work: StableWork
  #stopped = false
  #abandoned = false

  constructor(dependencies: StableCheckoutDependencies) {
    this.#deps = dependencies
    const { clock, timers, store, facilitators, ledger, onError } = dependencies
    this.#room = new WaitingRoom(timers)
    this.#intake = new Intake(dependencies)
    this.#payers = new Payers(clock, (payer) => this.#resolver.unknownOf(payer))
    this.#deliveries = new Deliveries(dependencies)
    const onStep = (claim: StableIn<'settled' | 'unpaid' | 'owed'>): void => this.#onStep(claim)
    const settlement = new Settlement(dependencies)
    this.#resolver = new Resolver({ store, settlement, facilitators, timers, onStep, onError })
    const onMissing = (claim: StableIn<'settled'>): void => this.#sales.takeBack(claim)
    this.#arrivals = ledger === null ? null : new Arrivals({ ...dependencies, ledger, onMissing })
    const pause = (ms: number): Promise<void> => this.#room.pause(ms)
    const standing = { isStopped: () => this.#stopped, isAbandoned: () => this.#abandoned, payers: this.#payers }
    this.#work = new StableWork({ ...dependencies, ...standing, settlement, resolver: this.#resolver, pause, onStep })
  }

  get terms(): StableTerms {
    return this.#deps.seller.terms
  }

  get store(): StableClaimStore {
    return this.#deps.store
  }

  get facilitators(): StableRail['facilitators'] {
    return this.#deps.facilitators.facts
  }

  get verified(): StableRail['verified'] {
    return this.#deps.facilitators.verified
  }

  get closedBecause(): string | null {
    return this.#deps.facilitators.closedBecause
  }

  get figures(): StableFigures {
    const [unknown, refundsOwed] = [this.#resolver.unknownCount, this.#deps.refunder.owedCount]
    return { outcomes: this.#outcomes.counts, unknown, refundsOwed, arrivals: this.#arrivals?.counts ?? null }
  }

  /** Calls whose work is under way. */
  get runningCount(): number {
    return this.#running.size
  }

  sales(serviceId: ServiceId): StableSales {
    return this.#sales.of(serviceId)
  }

  async settle(call: StableCall): Promise<Result<StableSettled>> {
    const outcome = await unlessAway(() => this.#settle(call))
    this.#outcomes.add(outcome)
    return outcome
  }

  async delivered(claim: StableIn<'settled'>): Promise<void> {
    if (this.#abandoned || claim.deliveredAtMs !== null) return
    try {
      await this.#deliveries.add(claim)
    } catch (error) {
      // Then it may be delivered once more, to who holds the signature.
      this.#unlessPassing(error)
    }
  }

  /** Takes up what a crash left, or a replica that died; what runs here already is left alone. */
  async takeUp(): Promise<void> {
    for (const claim of await this.store.open()) {
      this.#keys.recall(claim)
      if (!this.#running.has(claim.id) && !this.#resolver.has(claim.id) && isOfTerms(this.terms, claim))
        this.#resume(claim)
    }
  }

  /** Takes up what the last run left, and counts what was sold; counting is not waited for, the names given last are. */
  async resume(): Promise<void> {
    await this.takeUp()
    for (const claim of (await this.store.recent(NAMES_AT_ONCE, null)).claims) {
      this.#keys.recall(claim)
      if (isOfTerms(this.terms, claim)) this.#arrivals?.take(claim)
    }
    void this.#sales.load(this.store, this.#keys).catch((error: unknown) => this.#unlessPassing(error))
  }

  /** Leaves to others what they have taken over. */
  forget(): void {
    this.#resolver.forget()
    this.#deps.refunder.forget()
  }

  /** Refuses new work and waits for the work under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#sales.stop()
    this.#deps.facilitators.stop()
    this.#room.wake()
    const ends = [...this.#running.values()].map(({ ended }) => ended)
    await Promise.allSettled([...ends, this.#resolver.stop(), this.#arrivals?.stop(), this.#deps.refunder.stop()])
  }

  /** Work that is still under way writes nothing any more; the next start takes it up. Call before the store closes. */
  abandon(): void {
    this.#abandoned = true
  }

  async #settle(call: StableCall): Promise<Result<StableSettled>> {
    const { serviceId, request } = call
    const offer = this.#deps.shop.offer(serviceId)
    if (offer === undefined) return fail(fault('service/not-found', { serviceId }))
    const input = readRequest(offer.definition, request)
    // Text that is none has no hash of its own to be compared by; anything else is first held against a known claim.
    if (!input.ok && !request.isWellFormed()) return input
    const place = { call, offer, input, identity: identify(this.terms, call) }
    for (let turn = 0; turn < TURNS_MAX; turn++) {
      if (turn > 0) await this.#learnName(place.identity)
      const outcome = (await this.#named(place)) ?? (await this.#turn(place))
      if (outcome !== null) return outcome
    }
    return fail(UNDER_WAY)
  }

  /** Another replica may have given the name to a payment that nobody here has heard of. */
  async #learnName({ repeatKey }: CallIdentity): Promise<void> {
    const holder = repeatKey === null ? undefined : await this.store.named?.(repeatKey)
    if (holder !== undefined) this.#keys.put(holder)
  }

  /** A name that was given to another payment: its answer, or that the name is taken; null where it is free. */
  async #named({ call, identity }: Place): Promise<Result<StableSettled> | null> {
    const named = this.#keys.get(identity)
    if (named === undefined || named.id === identity.id) return null
    if (named.requestHash !== identity.requestHash) return fail(fault('stable/key-used'))
    const claim = await this.store.get(named.id)
    if (claim === undefined && this.#running.has(named.id)) return fail(UNDER_WAY)
    if (claim === undefined || claim.state === 'unpaid' || claim.state === 'owed') return null
    // Its name is the payer's, who may be a contract: no second charge under it, and no answer for who did not sign.
    if (!isOwnKey(call.payment, this.terms)) return fail(fault('stable/key-used'))
    if (claim.state === 'settled') return this.#replay(claim, identity)
    return fail(claim.state === 'settling' ? UNSETTLED : UNDER_WAY)
  }

  #isTaken(identity: CallIdentity): boolean {
    const named = this.#keys.get(identity)
    return named !== undefined && named.id !== identity.id && this.#running.has(named.id)
  }

  /** One look at how the payment stands, and what follows; null where it has moved on meanwhile. */
  async #turn(place: Place): Promise<Result<StableSettled> | null> {
    const { identity } = place
    const running = this.#running.get(identity.id)
    if (running !== undefined) return this.#join(running, place)
    const known = await this.store.get(identity.id)
    if (known === undefined) return this.#take(place, null)
    if (!isSameCall(known, identity)) return fail(fault('stable/used'))
    if (known.state === 'settled') return this.#replay(known, identity)
    if (known.state === 'owed') return fail(this.#owedFault(known))
    if (known.state === 'unpaid') return this.#again(place, known)
    return this.#awaitElsewhere(known, place)
  }

  /**
   * The answer once more. An authorization is public once it is settled: whoever repeats it shows that it is the buyer by the
   * name that it gave at first, which no chain shows. Without one the first delivery is the last.
   */
  #replay(claim: StableIn<'settled'>, { repeatKey }: CallIdentity): Result<StableSettled> {
    const { transaction } = claim
    if (claim.repeatKey === null ? this.#deliveries.has(claim) : claim.repeatKey !== repeatKey)
      return fail(fault('stable/delivered', { transaction }))
    return claim.result === null ? fail(fault('stable/result-expired', { transaction })) : ok({ claim, replayed: true })
  }

  /** Waits for work that is under way here. */
  async #join(running: Running, { identity, call }: Place): Promise<Result<StableSettled> | null> {
    if (!isSameCall(running.identity, identity)) return fail(fault('stable/used'))
    // While it is being settled others can see its authorization already.
    const { repeatKey } = running.identity
    if (repeatKey !== null && repeatKey !== identity.repeatKey) return fail(UNDER_WAY)
    const { clock, settings } = this.#deps
    const [untilMs, waiting] = [clock.now() + settings.settleWaitMs, { paymentId: identity.id, from: senderOf(call) }]
    // The room is woken by every call that ends: no reason to give up on this one.
    const late = async (stay: Stay): Promise<'late'> => {
      while (clock.now() < untilMs && !this.#stopped && (await stay(untilMs - clock.now())));
      return 'late'
    }
    const ended = await this.#room.run(waiting, async (stay) => ({
      is: await Promise.race([running.ended, late(stay)]),
    }))
    return ended === null || ended.is === 'late' ? fail(UNDER_WAY) : told(ended.is, true)
  }

  /** Waits for work elsewhere, or for the background to find out. */
  async #awaitElsewhere(
    { id, state }: StableIn<'claimed' | 'executing' | 'settling'>,
    { call }: Place,
  ): Promise<Result<StableSettled> | null> {
    const { clock, settings } = this.#deps
    const isSettling = state === 'settling'
    const untilMs = clock.now() + Math.min(isSettling ? SETTLING_WAIT_MS : settings.settleWaitMs, settings.settleWaitMs)
    const moved = await this.#room.run({ paymentId: id, from: senderOf(call) }, async (stay) => {
      while (clock.now() < untilMs && !this.#stopped && (await stay(POLL_MS)))
        if (this.#running.has(id) || (await this.store.get(id))?.state !== state) return true
      return false
    })
    return moved === true ? null : fail(isSettling ? UNSETTLED : UNDER_WAY)
  }

  /** Offers a payment once more that came to nothing. What failed for good is told again; nothing runs twice unless it may. */
  #again(place: Place, claim: StableIn<'unpaid'>): Promise<Result<StableSettled> | null> | Result<StableSettled> {
    const cause = causeOf(claim)
    if (claim.over) return fail(cause)
    const finished = settlingAgain(claim)
    if (finished === null && !place.offer.definition.repeatable) return fail(cause)
    if (finished === null && (claim.failedRuns ?? 0) < FAILED_RUNS_MAX) return this.#take(place, claim)
    const refusal = this.#refusal(place, finished !== null)
    if (finished === null) return fail(refusal ?? cause)
    if (refusal !== null) return fail(refusal.code === 'stable/refused' ? cause : refusal)
    return this.#do(place, finished, async () => {
      if (!(await this.store.advance('unpaid', finished))) return null
      this.#resolver.drop(claim.id)
      return this.#work.collectAgain(finished, senderOf(place.call))
    })
  }

  /** Takes a payment, and does what it is for. */
  async #take(place: Place, previous: StableIn<'unpaid'> | null): Promise<Result<StableSettled> | null> {
    const { input, offer } = place
    if (!input.ok) return input
    const refusal = this.#refusal(place)
    if (refusal !== null) return fail(refusal)
    const claim = previous === null ? this.#intake.newClaim(place) : claimedAgain(previous)
    const { payment } = place.call
    const task = { definition: offer.definition, input: input.value, previous, client: senderOf(place.call) }
    const foreign = isOwnKey(payment, this.terms) ? null : payment.authorization.signature
    return this.#do(place, claim, () => this.#work.begin(claim, task, foreign))
  }

  /** Does work for a payer under the name that it gave, unless it is under way here already, or another call was given the name meanwhile. */
  async #do({ identity, call }: Place, claim: StableClaim, work: () => Promise<Ended>) {
    if (this.#running.has(identity.id) || this.#isTaken(identity)) return null
    this.#keys.put(claim)
    const payer = this.#payers.placeOf(call, this.terms)
    const outcome = told(await this.#track(identity, () => this.#payers.during(payer, work)), false)
    if (outcome?.ok === false && outcome.fault.code !== 'stable/unsettled') this.#keys.drop(claim)
    return outcome
  }

  #track(identity: Running['identity'] & { readonly id: string }, work: () => Promise<Ended>): Promise<Ended> {
    const ended = work().finally(() => this.#running.delete(identity.id))
    this.#running.set(identity.id, { identity, ended })
    return ended
  }

  /** Why a payment is not taken now, or null; nothing of it is used. Where it `isFinished` nothing runs that could fail. */
  #refusal(place: Place, isFinished = false): Fault | null {
    const { call, offer } = place
    const { serviceId } = offer.definition
    if (this.#stopped) return fault('service/unavailable', { serviceId, reason: 'the node is stopping' })
    const refused = this.#intake.refusal(place)
    if (refused !== null) return refused
    const { closedBecause } = this
    if (closedBecause !== null) return fault('stable/facilitator', { detail: closedBecause })
    const crowding = this.#payers.crowding(this.#payers.placeOf(call, this.terms), offer.definition)
    const caller = { payer: call.payment.authorization.from, client: senderOf(call) }
    return crowding ?? this.#payers[isFinished ? 'unsettled' : 'refusal'](caller, offer.definition)
  }

  #resume(claim: StableClaim): void {
    if (claim.state === 'claimed') this.#background(claim, () => this.#work.letGo(claim))
    else if (claim.state === 'executing') this.#background(claim, () => this.#redo(claim))
    else if (claim.state === 'owed') this.#deps.refunder.owe(claim)
    else if (claim.state !== 'settled') this.#resolver.takeUp(claim)
  }

  /** Work that a crash interrupted is done again where that does no harm. */
  #redo(claim: StableIn<'executing'>): Promise<Ended> {
    const { serviceId, request } = claim
    const definition = this.#deps.shop.offer(serviceId)?.definition
    const input = definition === undefined ? undefined : readRequest(definition, request)
    if (definition?.repeatable === true && input?.ok === true)
      return this.#work.redo(claim, { definition, input: input.value })
    return this.#work.giveUp(claim, fault('service/interrupted', { serviceId }))
  }

  #background(claim: StableClaim, work: () => Promise<Ended>): void {
    this.#track(claim, work).catch((error: unknown) => this.#unlessPassing(error))
  }

  #onStep(claim: StableIn<'settled' | 'unpaid' | 'owed'>): void {
    if (claim.state === 'settled') {
      // It may have been refused at first: no second charge under its name.
      this.#keys.recall(claim)
      this.#sales.add(claim)
      this.#arrivals?.take(claim)
    }
    this.#payers.ended(claim)
    if (claim.state === 'owed') this.#deps.refunder.owe(claim)
    this.#room.wake()
  }

  #owedFault({ amount, payer, transaction, refund }: StableIn<'owed'>): Fault {
    const { status } = refund
    return fault('stable/owed', { amount, asset: this.terms.asset.symbol, payer, status, transaction })
  }

  /** A store that cannot be reached will be again; anything else is told. */
  #unlessPassing(error: unknown): void {
    if (!this.#abandoned && !(error instanceof ClaimsAway)) this.#deps.onError(error)
  }
}

function told(ended: Ended, replayed: boolean): Result<StableSettled> | null {
  return ended === null || !ended.ok ? ended : ok({ claim: ended.value, replayed })
}
