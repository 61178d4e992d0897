import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../../consensus/chain/ports.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, type Result } from '../../../../consensus/primitives/result.ts'
import { priceInEpoch } from '../../../ledger/agents.ts'
import { type Escrow, openerOf } from '../../../ledger/escrow.ts'
import { inputFault, readRequest, type ServiceDefinition } from '../../../services/service.ts'
import { ClaimsAway, unlessAway } from '../../claim-store.ts'
import { NO_CLIENT } from '../../failing-callers.ts'
import { type MarketSettings, RUNS_MAX } from '../../settings.ts'
import type { Offer, Shop, TransactionSink } from '../../shop.ts'
import { advanceSteadily } from '../../steady-advance.ts'
import { type Stay, WaitingRoom } from '../../waiting-room.ts'
import type { Workshop } from '../../workshop.ts'
import {
  type Claim,
  type FinishedClaim,
  isFinished,
  type NativeClaimStore,
  type OpenClaim,
  requestHash,
  runsOf,
} from './claim.ts'
import { answer, delivered, failed, type Settled, takenFault } from './claim-ends.ts'
import { MinedCalls } from './mined-calls.ts'
import {
  heldFault,
  isBound,
  isPassing,
  judgePayment,
  type PaymentContext,
  type PaymentVerdict,
  standingOf,
  whyAdrift,
  wrongSecret,
} from './payment.ts'
import type { NativePriceSource } from './price.ts'
import type { Settler } from './settler.ts'
import { ValueAtRisk } from './value-at-risk.ts'

/** What a checkout works with. */
export interface CheckoutDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: NativeClaimStore
  readonly sink: TransactionSink
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly settler: Settler
  readonly workshop: Workshop
  readonly clock: Clock
  readonly timers: Timers
}

/** How often a claim that is worked on elsewhere is looked at. */
const JOIN_POLL_MS = 100

/** How often work that a closed market holds back is looked at. */
const CLOSED_MS = 1_000

/** A paid call as it arrives. */
export interface PaidCall {
  readonly serviceId: string
  readonly request: string
  readonly txId: TxId
  readonly secret: Uint8Array | null
  /** Who sent it, as the doors tell callers apart. */
  readonly from?: Holder
}

/** What a claim is worked on with. */
interface Task {
  readonly definition: ServiceDefinition
  readonly input: unknown
  readonly client: Holder
}

/**
 * The settle flow: the payment is judged by the chain, bound to the request by a durable claim before any work, the work
 * is done once, and everybody who repeats the call gets the same answer. A failure is owed back by a `failed` receipt.
 */
export class Checkout {
  readonly #deps: CheckoutDependencies
  readonly #judge: PaymentContext
  readonly #running = new Map<TxId, Promise<FinishedClaim | null>>()
  /** Payments that are being claimed: their claims may be there already, and are not taken up. */
  readonly #taking = new Set<TxId>()
  readonly #room: WaitingRoom
  /** Taken calls that do not begin now: a reorganisation took their payments, or the market is closed. Each head is asked anew. */
  readonly #adrift = new Map<TxId, () => void>()
  #stopped = false
  #abandoned = false

  constructor(dependencies: CheckoutDependencies) {
    this.#deps = dependencies
    const { chain, price, timers } = dependencies
    this.#judge = { ...dependencies, mined: new MinedCalls(chain), atRisk: new ValueAtRisk(chain, price) }
    this.#room = new WaitingRoom(timers)
    chain.onHeadChange(() => {
      this.#room.wake()
      for (const txId of [...this.#adrift.keys()]) this.#drift(txId)
    })
  }

  /** Calls whose work is under way. */
  get runningCount(): number {
    return this.#running.size
  }

  /** Answers a paid call. A fault consumed nothing unless it says that the service failed. */
  settle(call: PaidCall): Promise<Result<Settled>> {
    return unlessAway(() => this.#settle(call))
  }

  async #settle(call: PaidCall): Promise<Result<Settled>> {
    const offer = this.#deps.shop.offer(call.serviceId)
    if (offer === undefined) return fail(fault('service/not-found', { serviceId: call.serviceId }))
    const input = readRequest(offer.definition, call.request)
    // Text that is none has no hash of its own to be compared by; anything else is first held against a known claim.
    if (!input.ok && !call.request.isWellFormed()) return input
    const known = await this.#deps.store.get(call.txId)
    if (known !== undefined) return this.#join(known, call, offer)
    if (!input.ok) return input
    const unfit = this.#unfit(offer, input.value)
    if (unfit !== null) return fail(unfit)
    const verdict = await this.#awaitPayment(call, offer)
    if (verdict.state === 'waiting') return fail(unconfirmed(call.txId, verdict))
    if (verdict.state === 'held') return fail(heldFault(call, verdict.reason, this.#deps.shop.hasEnded))
    if (verdict.state === 'refused') return fail(verdict.fault)
    // The chain has gone on while the payment was waited for.
    const unfitNow = this.#unfit(offer, input.value)
    return unfitNow === null ? this.#take(call, offer, verdict.escrow, input.value) : fail(unfitNow)
  }

  /** What is wrong with a request. Where the service only cannot serve it now, the payment is taken, and given back at once. */
  #unfit({ definition }: Offer, input: unknown): Fault | null {
    const unfit = inputFault(definition, input, this.#deps.shop.context)
    return unfit?.code === 'service/unavailable' ? null : unfit
  }

  /** Notes that a call's answer was handed over to the end. */
  async delivered({ txId }: FinishedClaim): Promise<void> {
    if (!this.#abandoned) await this.#deps.store.handedOver(txId).catch(nothingIfAway)
  }

  /**
   * Takes up what a crash interrupted: unstarted and repeatable work is done, the rest is owed back. The work itself is
   * not waited for, so that a node with much of it starts at once.
   */
  async resume(): Promise<void> {
    const { chain, settler } = this.#deps
    // The process may have ended between a move and what it left to be owed again.
    await settler.takeUp([...chain.database.side.ids()])
    await this.takeUp()
  }

  /** Takes up the open claims that this replica is to see to and has not in hand: its own, and those of a dead one. */
  async takeUp(): Promise<void> {
    const { chain, settler, store } = this.#deps
    for (const claim of await store.open()) {
      if (this.#isInHand(claim.txId)) continue
      const minedAt = chain.database.location(claim.txId)?.height ?? claim.minedAt
      this.#judge.atRisk.take(claim.txId, minedAt, BigInt(claim.amount))
      if (isFinished(claim)) settler.owe(claim)
      else this.#resumeClaim(claim)
    }
  }

  #drift(txId: TxId): void {
    const start = this.#adrift.get(txId)
    this.#adrift.delete(txId)
    start?.()
  }

  /** Lets go of everything that is not running: other replicas have it. What runs finds out when it ends. */
  forget(): void {
    this.#adrift.clear()
    this.#deps.settler.forget()
  }

  #isInHand(txId: TxId): boolean {
    return this.#running.has(txId) || this.#taking.has(txId) || this.#adrift.has(txId)
  }

  /** Refuses new work and waits for the work under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#room.wake()
    await Promise.allSettled(this.#running.values())
  }

  /** Work that is still under way writes nothing any more; the next start takes it up. Call after {@link stop}, before the store closes. */
  abandon(): void {
    this.#abandoned = true
  }

  #resumeClaim(claim: OpenClaim): void {
    const { serviceId } = claim
    const offer = this.#deps.shop.offer(serviceId)
    const input = offer === undefined ? undefined : readRequest(offer.definition, claim.request)
    const repeatable = claim.state === 'claimed' || (offer?.definition.repeatable === true && runsOf(claim) <= RUNS_MAX)
    if (offer !== undefined && input?.ok === true && repeatable)
      void this.#start(claim, { ...offer, input: input.value, client: NO_CLIENT })
    else void this.#track(claim.txId, this.#giveUp(claim, fault('service/interrupted', { serviceId })))
  }

  /** A payment that is taken: the same call waits for or repeats the answer, another one is refused. */
  async #join(claim: Claim, call: PaidCall, offer: Offer): Promise<Result<Settled>> {
    const same =
      claim.serviceId === offer.definition.serviceId && claim.requestHash === requestHash(claim.serviceId, call.request)
    if (!same) return fail(takenFault(this.#deps.chain, claim))
    if (claim.opener !== null && call.secret === null) return fail(fault('pay/secret-missing', { txId: call.txId }))
    if (claim.opener !== null && openerOf(call.secret as Uint8Array) !== claim.opener)
      return fail(wrongSecret(call.txId))
    const waiting = { paymentId: claim.txId, from: call.from }
    const finished = isFinished(claim) ? claim : await this.#room.run(waiting, (stay) => this.#finished(claim, stay))
    if (finished !== null) return answer(finished, true)
    return fail(whyAdrift(this.#judge, call.txId) ?? underWay(call.txId))
  }

  /** Waits for the end of a claim's work, here or in another replica; null if that takes too long. */
  async #finished(claim: Claim, stay: Stay): Promise<FinishedClaim | null> {
    const { settings, clock, store } = this.#deps
    const untilMs = clock.now() + settings.settleWaitMs
    let current: Claim | undefined = claim
    while (current !== undefined && !isFinished(current)) {
      const running = this.#running.get(claim.txId)
      if (running !== undefined) return running
      if (clock.now() >= untilMs || this.#stopped || !(await stay(JOIN_POLL_MS))) return null
      current = await store.get(claim.txId)
    }
    return current ?? null
  }

  /** Judges the payment, and waits for it where that can help and there is room. */
  async #awaitPayment(call: PaidCall, offer: Offer): Promise<PaymentVerdict> {
    const { settings, clock } = this.#deps
    const untilMs = clock.now() + settings.settleWaitMs
    const now = this.#verdict(call, offer)
    if (!isPassing(now)) return now
    const later = await this.#room.run({ paymentId: call.txId, from: call.from }, async (stay) => {
      for (let verdict: PaymentVerdict = now; ; verdict = this.#verdict(call, offer)) {
        const leftMs = untilMs - clock.now()
        if (!isPassing(verdict) || leftMs <= 0 || this.#stopped || !(await stay(leftMs))) return verdict
      }
    })
    return later ?? now
  }

  #verdict(call: PaidCall, { definition: { serviceId, timeoutMs } }: Offer): PaymentVerdict {
    const { shop } = this.#deps
    const service = shop.record(serviceId)
    if (service === undefined) return { state: 'refused', fault: unavailable(serviceId, 'not published yet') }
    const offered = { ...call, serviceId, agentId: shop.operator.agentId, service, timeoutMs }
    const verdict = judgePayment(this.#judge, offered)
    if (verdict.state !== 'good') return verdict
    if (shop.closedBecause !== null) return { state: 'held', reason: shop.closedBecause }
    // Counted in the same step: everybody else who waited for this block is judged right after.
    this.#judge.atRisk.take(call.txId, verdict.escrow.minedAt, verdict.escrow.amount)
    return verdict
  }

  /** Claims the payment and does the work; whoever claimed it first does it. */
  async #take(call: PaidCall, offer: Offer, escrow: Escrow, input: unknown): Promise<Result<Settled>> {
    const { store, shop } = this.#deps
    if (this.#stopped) return fail(unavailable(call.serviceId, 'the node is stopping'))
    const claim = this.#newClaim(call, offer, escrow)
    const availability = shop.availability(offer)
    const cause = availability.available
      ? inputFault(offer.definition, input, shop.context)
      : unavailable(call.serviceId, availability.reason)
    this.#taking.add(call.txId)
    const first = await store.claim(claim).finally(() => this.#taking.delete(call.txId))
    if (first !== null) return this.#join(first, call, offer)
    // Where the payment is good but the work cannot be done, nothing runs, and the escrow goes back at once.
    const task = { ...offer, input, client: call.from ?? NO_CLIENT }
    const finished = await (cause === null ? this.#start(claim, task) : this.#giveUp(claim, cause))
    return finished === null ? fail(underWay(call.txId)) : answer(finished, false)
  }

  #newClaim({ txId, request, secret }: PaidCall, { definition }: Offer, escrow: Escrow): Claim & { state: 'claimed' } {
    const { chain, shop } = this.#deps
    const service = shop.record(definition.serviceId)
    const epoch = epochOf(escrow.minedAt, chain.ruleBook.at(escrow.minedAt).market)
    return {
      state: 'claimed',
      txId,
      serviceId: definition.serviceId,
      requestHash: requestHash(definition.serviceId, request),
      request,
      caller: escrow.caller,
      amount: escrow.amount.toString(),
      priceUsdMicros: (service === undefined ? 0n : priceInEpoch(service, epoch)).toString(),
      opener: secret === null || !isBound(escrow) ? null : openerOf(secret),
      minedAt: escrow.minedAt,
      claimedAtMs: this.#now(),
    }
  }

  #start(claim: OpenClaim, task: Task): Promise<FinishedClaim | null> {
    const caller = { payer: claim.caller, client: task.client }
    const work = (): Promise<FinishedClaim | null> => this.#execute(claim, task)
    return this.#track(claim.txId, this.#deps.workshop.inPlace(task.definition, work, caller))
  }

  #track(txId: TxId, work: Promise<FinishedClaim | null>): Promise<FinishedClaim | null> {
    // What a store that is away has not taken is open in it, and taken up when it is back.
    const run = work.catch(nothingIfAway).finally(() => {
      if (this.#running.get(txId) === run) this.#running.delete(txId)
    })
    this.#running.set(txId, run)
    return run
  }

  /** Does the work of a claim; null if somebody else has it, or the next start of this node. */
  async #execute(claim: OpenClaim, task: Task): Promise<FinishedClaim | null> {
    const { definition, input, client } = task
    const { chain, shop, workshop } = this.#deps
    const { serviceId, timeoutMs } = definition
    // A passing head says nothing of a payment.
    while (chain.moving && !this.#stopped) await this.#room.pause(JOIN_POLL_MS)
    if (this.#stopped) return null
    // It may have waited for its turn, or for this node to start again.
    const standing = standingOf(this.#judge, claim, timeoutMs)
    if (standing === 'adrift' || shop.closedBecause !== null) {
      this.#adrift.set(claim.txId, () => void this.#start(claim, task))
      // What closes a market need not end with a head.
      if (standing !== 'adrift') this.#deps.timers.after(CLOSED_MS, () => this.#drift(claim.txId))
      return null
    }
    if (standing === 'late') return this.#giveUp(claim, fault('service/too-late', { serviceId }))
    const startedAtMs = this.#now()
    const executing = { ...claim, state: 'executing', startedAtMs, runs: runsOf(claim) } as const
    if (!(await this.#advance(claim.state, executing))) return this.#stored(claim.txId)
    const outcome = await workshop.run(definition, input, shop.context)
    workshop.ended(definition, { payer: claim.caller, client }, outcome)
    const nowMs = this.#now()
    const finished = outcome.ok ? delivered(executing, outcome.value, nowMs) : failed(executing, outcome.fault, nowMs)
    return this.#finish(executing, finished)
  }

  #giveUp(claim: OpenClaim, cause: Fault): Promise<FinishedClaim | null> {
    return this.#finish(claim, failed(claim, cause, this.#now()))
  }

  /** Writes the end of a claim. Only what the store holds is owed: another replica may have ended it otherwise. */
  async #finish(from: OpenClaim, finished: FinishedClaim): Promise<FinishedClaim | null> {
    // The store may be closed by now: the claim stays open in it, and is taken up at the next start.
    if (this.#abandoned) return null
    if (!(await this.#advance(from.state, finished))) return this.#stored(from.txId)
    this.#deps.settler.owe(finished)
    return finished
  }

  #advance(from: Claim['state'], next: Claim): Promise<boolean> {
    const { clock, store } = this.#deps
    const pause = (ms: number): Promise<void> => this.#room.pause(ms)
    return advanceSteadily(store, { id: next.txId, from, next }, { clock, pause, isOver: () => this.#stopped })
  }

  async #stored(txId: TxId): Promise<FinishedClaim | null> {
    const claim = await this.#deps.store.get(txId)
    return claim !== undefined && isFinished(claim) ? claim : null
  }

  #now(): number {
    return this.#deps.clock.now()
  }
}

function unavailable(serviceId: string, reason: string): Fault {
  return fault('service/unavailable', { serviceId, reason })
}

function unconfirmed(
  txId: TxId,
  { confirmations, needed }: { readonly confirmations: number; readonly needed: number },
): Fault {
  return fault('pay/unconfirmed', { txId, confirmations, needed })
}

/** The work of this payment goes on, elsewhere or after a start. */
function underWay(txId: TxId): Fault {
  return unconfirmed(txId, { confirmations: 1, needed: 1 })
}

function nothingIfAway(error: unknown): null {
  if (error instanceof ClaimsAway) return null
  throw error
}
