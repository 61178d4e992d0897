import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { resultHash } from '../../consensus/ledger/receipt.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import { priceInEpoch } from '../ledger/agents.ts'
import { epochOf } from '../ledger/epoch.ts'
import { type Escrow, openerOf } from '../ledger/escrow.ts'
import { readRequest } from '../services/service.ts'
import { type Claim, type FinishedClaim, isFinished, requestHash } from './claim.ts'
import type { ClaimStore } from './claim-store.ts'
import type { Offer, Shop, TransactionSink } from './operator.ts'
import { hasTimeFor, judgePayment, type OfferedPayment, type PaymentVerdict } from './payment.ts'
import type { NativePriceSource } from './price.ts'
import { runService } from './run-service.ts'
import type { MarketSettings } from './settings.ts'
import type { Settler } from './settler.ts'

/** What a checkout works with. */
export interface CheckoutDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: ClaimStore
  readonly sink: TransactionSink
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly settler: Settler
  readonly clock: Clock
  readonly timers: Timers
}

/** How often a claim that is worked on elsewhere is looked at. */
const JOIN_POLL_MS = 100

/** A paid call as it arrives. */
export interface PaidCall {
  readonly serviceId: string
  readonly request: string
  readonly txId: TxId
  readonly secret: Uint8Array | null
}

/** A call that was answered, now or before. */
export interface Settled {
  readonly claim: FinishedClaim
  /** Whether the work had been done for an earlier call. */
  readonly replayed: boolean
}

/**
 * The settle flow: the payment is judged by the chain, bound to the request by a durable claim before any work, the work
 * is done once, and everybody who repeats the call gets the same answer. A failure is owed back by a `failed` receipt.
 */
export class Checkout {
  readonly #deps: CheckoutDependencies
  readonly #running = new Map<TxId, Promise<FinishedClaim>>()
  readonly #waiters = new Set<() => void>()
  #stopped = false

  constructor(dependencies: CheckoutDependencies) {
    this.#deps = dependencies
    dependencies.chain.onHeadChange(() => this.#wake())
  }

  /** Calls whose work is under way. */
  get runningCount(): number {
    return this.#running.size
  }

  /** Answers a paid call. A fault consumed nothing unless it says that the service failed. */
  async settle(call: PaidCall): Promise<Result<Settled>> {
    const offer = this.#deps.shop.offer(call.serviceId)
    if (offer === undefined) return fail(fault('service/not-found', { serviceId: call.serviceId }))
    const input = readRequest(offer.definition, call.request)
    if (!input.ok) return input
    const known = await this.#deps.store.get(call.txId)
    if (known !== undefined) return this.#join(known, call, offer)
    const verdict = await this.#awaitPayment(call, offer)
    if (verdict.state === 'waiting') return fail(unconfirmed(call.txId, verdict))
    if (verdict.state === 'refused') return fail(verdict.fault)
    return this.#take(call, offer, verdict.escrow, input.value)
  }

  /** Takes up what a crash interrupted: unstarted and repeatable work is done, the rest is owed back. */
  async resume(): Promise<void> {
    for (const claim of await this.#deps.store.open()) {
      if (isFinished(claim)) this.#deps.settler.owe(claim)
      else await this.#resumeClaim(claim)
    }
  }

  /** Refuses new work and waits for the work under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await Promise.allSettled(this.#running.values())
  }

  async #resumeClaim(claim: Exclude<Claim, FinishedClaim>): Promise<void> {
    const { serviceId } = claim
    const offer = this.#deps.shop.offer(serviceId)
    const input = offer === undefined ? undefined : readRequest(offer.definition, claim.request)
    const repeatable = claim.state === 'claimed' || offer?.definition.repeatable === true
    if (offer === undefined || input?.ok !== true || !repeatable) {
      await this.#giveUp(claim, fault('service/interrupted', { serviceId }))
    } else if (!hasTimeFor(this.#deps.chain, claim.txId, offer.definition.timeoutMs)) {
      await this.#giveUp(claim, fault('service/too-late', { serviceId }))
    } else {
      await this.#start(claim, offer, input.value)
    }
  }

  async #giveUp(claim: Exclude<Claim, FinishedClaim>, cause: Fault): Promise<void> {
    await this.#finish(claim, failed(claim, cause, this.#now()))
  }

  /** A payment that is taken: the same call waits for or repeats the answer, another one is refused. */
  async #join(claim: Claim, call: PaidCall, offer: Offer): Promise<Result<Settled>> {
    const same =
      claim.serviceId === offer.definition.serviceId && claim.requestHash === requestHash(claim.serviceId, call.request)
    if (!same)
      return fail(
        fault('pay/already-redeemed', {
          txId: call.txId,
          serviceId: claim.serviceId,
          redeemedAt: new Date(claim.claimedAtMs).toISOString(),
        }),
      )
    if (claim.opener !== null && (call.secret === null || openerOf(call.secret) !== claim.opener)) {
      return fail(fault('pay/secret-missing', { txId: call.txId }))
    }
    const finished = await this.#finished(claim)
    return finished === null
      ? fail(fault('pay/unconfirmed', { txId: call.txId, confirmations: 1, needed: 1 }))
      : answer(finished, true)
  }

  /** Waits for the end of a claim's work, here or in another replica; null if that takes too long. */
  async #finished(claim: Claim): Promise<FinishedClaim | null> {
    const { settings, clock, store } = this.#deps
    const untilMs = clock.now() + settings.settleWaitMs
    let current: Claim | undefined = claim
    while (current !== undefined && !isFinished(current)) {
      const running = this.#running.get(claim.txId)
      if (running !== undefined) return running
      if (clock.now() >= untilMs || this.#stopped) return null
      await this.#nextHead(JOIN_POLL_MS)
      current = await store.get(claim.txId)
    }
    return current ?? null
  }

  async #awaitPayment(call: PaidCall, { definition }: Offer): Promise<PaymentVerdict> {
    const { shop, settings, clock } = this.#deps
    const untilMs = clock.now() + settings.settleWaitMs
    for (;;) {
      const service = shop.record(definition.serviceId)
      if (service === undefined)
        return { state: 'refused', fault: unavailable(definition.serviceId, 'not published yet') }
      const offered: OfferedPayment = {
        ...call,
        serviceId: definition.serviceId,
        agentId: shop.operator.agentId,
        service,
        timeoutMs: definition.timeoutMs,
      }
      const verdict = judgePayment(this.#deps, offered)
      const leftMs = untilMs - clock.now()
      if (verdict.state !== 'waiting' || leftMs <= 0 || this.#stopped) return verdict
      await this.#nextHead(leftMs)
    }
  }

  /** Claims the payment and does the work; whoever claimed it first does it. */
  async #take(call: PaidCall, offer: Offer, escrow: Escrow, input: unknown): Promise<Result<Settled>> {
    const { store, shop } = this.#deps
    if (this.#stopped) return fail(unavailable(call.serviceId, 'the node is stopping'))
    const claim = this.#newClaim(call, offer, escrow)
    const availability = shop.availability(offer)
    const first = await store.claim(claim)
    if (first !== null) return this.#join(first, call, offer)
    if (!availability.available) {
      // The payment is good but the work cannot be done: nothing runs, and the escrow goes back at once.
      const cause = unavailable(call.serviceId, availability.reason)
      return answer(await this.#finish(claim, failed(claim, cause, this.#now())), false)
    }
    return answer(await this.#start(claim, offer, input), false)
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
      opener: escrow.redeemLock === ZERO_HEX_32 || secret === null ? null : openerOf(secret),
      claimedAtMs: this.#now(),
    }
  }

  #start(claim: Exclude<Claim, FinishedClaim>, offer: Offer, input: unknown): Promise<FinishedClaim> {
    const run = this.#execute(claim, offer, input).finally(() => this.#running.delete(claim.txId))
    this.#running.set(claim.txId, run)
    return run
  }

  async #execute(claim: Exclude<Claim, FinishedClaim>, { definition }: Offer, input: unknown): Promise<FinishedClaim> {
    const startedAtMs = this.#now()
    const executing = { ...claim, state: 'executing', startedAtMs } as const
    await this.#deps.store.advance(claim.state, executing)
    const outcome = await runService(definition, input, this.#deps.shop.context)
    const nowMs = this.#now()
    const finished = outcome.ok ? delivered(executing, outcome.value, nowMs) : failed(executing, outcome.fault, nowMs)
    return this.#finish(executing, finished)
  }

  async #finish(from: Claim, finished: FinishedClaim): Promise<FinishedClaim> {
    await this.#deps.store.advance(from.state, finished)
    this.#deps.settler.owe(finished)
    return finished
  }

  #now(): number {
    return this.#deps.clock.now()
  }

  /** Resolves when the head moves, when the time is over, or when the checkout stops. */
  #nextHead(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel()
        this.#waiters.delete(done)
        resolve()
      }
      const cancel = this.#deps.timers.after(ms, done)
      this.#waiters.add(done)
    })
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) waiter()
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

function delivered(claim: Claim & { readonly startedAtMs: number }, json: string, nowMs: number): FinishedClaim {
  const { startedAtMs, ...base } = claim
  return {
    ...base,
    state: 'delivered',
    finishedAtMs: nowMs,
    durationMs: nowMs - startedAtMs,
    resultHash: resultHash(encodeText(json)),
    result: json,
    settlement: 'owed',
  }
}

function failed(claim: Claim, cause: Fault, nowMs: number): FinishedClaim {
  const startedAtMs = claim.state === 'executing' ? claim.startedAtMs : nowMs
  const { txId, serviceId, requestHash: hash, request, caller, amount, priceUsdMicros, opener, claimedAtMs } = claim
  return {
    txId,
    serviceId,
    requestHash: hash,
    request,
    caller,
    amount,
    priceUsdMicros,
    opener,
    claimedAtMs,
    state: 'failed',
    finishedAtMs: nowMs,
    durationMs: nowMs - startedAtMs,
    reason: cause.code,
    message: faultMessage(cause),
    settlement: 'owed',
  }
}

function answer(claim: FinishedClaim, replayed: boolean): Result<Settled> {
  if (claim.state === 'delivered' && claim.result === null)
    return fail(fault('pay/result-expired', { txId: claim.txId }))
  return ok({ claim, replayed })
}
