import type { Chain } from '../../../../consensus/chain/chain.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Fault, fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { priceInEpoch } from '../../../ledger/agents.ts'
import { closureOf, endText } from '../../../ledger/closures.ts'
import { type Escrow, openerOf } from '../../../ledger/escrow.ts'
import { inputFault, type ServiceDefinition } from '../../../services/service.ts'
import { ClaimsAway, runsOf } from '../../claim-store.ts'
import type { Caller } from '../../failing-callers.ts'
import type { Ended, Gate, Held, Identity, Order, Rail, Settled, Steps, Task, TillCall, Verdict } from '../../rail.ts'
import { requestHash } from '../../request-hash.ts'
import { RUNS_MAX } from '../../settings.ts'
import type { TransactionSink } from '../../shop.ts'
import { Till, type TillDependencies } from '../../till.ts'
import { type Claim, type FinishedClaim, isFinished, NATIVE_CLAIMS, type OpenClaim } from './claim.ts'
import {
  heldFault,
  isBound,
  judgePayment,
  MinedCalls,
  type PaymentContext,
  standingOf,
  whyAdrift,
  wrongSecret,
} from './payment.ts'
import type { NativePriceSource } from './price.ts'
import type { Settler } from './settler.ts'
import { ValueAtRisk } from './value-at-risk.ts'

/** What the native rail works with. */
export interface NativeRailDependencies extends TillDependencies<Claim> {
  readonly sink: TransactionSink
  readonly price: NativePriceSource
  readonly settler: Settler
}

/** A call that is paid with an escrow in the native coin. */
export interface PaidCall extends TillCall {
  readonly txId: TxId
  readonly secret: Uint8Array | null
}

/** How often work that a closed market holds back is looked at. */
const CLOSED_MS = 1_000

type NativeOrder = Order<PaidCall, Identity>
type Standing = Verdict<Claim, FinishedClaim>

/**
 * The native rail: the payment is an escrow that the chain judges. It is claimed on disk before any work. The receipt that earns it, or
 * gives it back, is sent by the {@link Settler} once the end is on disk.
 */
export class NativeRail implements Rail<PaidCall, Claim, Identity, FinishedClaim> {
  readonly kind = NATIVE_CLAIMS
  readonly joinMs = null
  readonly beginsPatiently = true
  /** The till that this rail is plugged into. */
  readonly till: Till<PaidCall, Claim, Identity, FinishedClaim>
  readonly #deps: NativeRailDependencies
  readonly #judge: PaymentContext

  constructor(dependencies: NativeRailDependencies) {
    this.#deps = dependencies
    const { chain, price } = dependencies
    this.#judge = { ...dependencies, mined: new MinedCalls(chain), atRisk: new ValueAtRisk(chain, price) }
    this.till = new Till(dependencies, this)
  }

  identify({ txId }: PaidCall): Identity {
    return { id: txId }
  }

  judge(order: NativeOrder, known: Claim | undefined, hasWaited: boolean): Standing {
    if (known !== undefined) return this.#taken(known, order)
    const { input, call } = order
    if (!input.ok) return told(input)
    const unfit = (): Fault | null => this.#unfit(order, input.value)
    const early = hasWaited ? null : unfit()
    if (early !== null) return told(fail(early))
    const { shop } = this.#deps
    const { serviceId, timeoutMs } = order.offer.definition
    const service = shop.record(serviceId)
    if (service === undefined)
      return told(fail(fault('service/unavailable', { serviceId, reason: 'not published yet' })))
    const offered = { ...call, serviceId, agentId: shop.operator.agentId, service, timeoutMs }
    const verdict = judgePayment(this.#judge, offered)
    if (verdict.state === 'waiting') return { is: 'wait', why: unconfirmed(call.txId, verdict) }
    if (verdict.state === 'refused') return told(fail(verdict.fault))
    if (shop.closedBecause !== null) return { is: 'wait', why: heldFault(call, shop.closedBecause, shop.hasEnded) }
    // Counted in the same step: every other call that waited for this block is judged right after.
    this.#judge.atRisk.take(call.txId, verdict.escrow.minedAt, verdict.escrow.amount)
    // The chain has gone on while the payment was waited for.
    const late = hasWaited ? unfit() : null
    return late === null ? { is: 'take', claim: this.#newClaim(order, verdict.escrow) } : told(fail(late))
  }

  /** A payment that is taken: the same call waits for or repeats the answer, another one is refused. */
  #taken(claim: Claim, order: NativeOrder): Standing {
    const refusal = this.mayJoin({ claim }, order)
    if (refusal !== null) return told(fail(refusal))
    if (isFinished(claim)) return told(answer(claim, true))
    const hasMoved = (now: Claim | undefined): boolean => now === undefined || isFinished(now)
    const why = (): Fault => this.underWay(order)
    return { is: 'elsewhere', waitMs: this.#deps.settings.settleWaitMs, hasMoved, why }
  }

  mayJoin({ claim }: Pick<Held<Claim, Identity>, 'claim'>, { call, offer }: NativeOrder): Fault | null {
    const { serviceId } = offer.definition
    const { txId, secret, request } = call
    if (claim.serviceId !== serviceId || claim.requestHash !== requestHash(serviceId, request))
      return takenFault(this.#deps.chain, claim)
    if (claim.opener === null) return null
    if (secret === null) return fault('pay/secret-missing', { txId })
    return openerOf(secret) === claim.opener ? null : wrongSecret(txId)
  }

  underWay({ call: { txId } }: NativeOrder): Fault {
    return whyAdrift(this.#judge, txId) ?? goesOn(txId)
  }

  answer(order: NativeOrder, ended: Result<Claim>, replayed: boolean): Result<Settled<FinishedClaim>> {
    if (ended.ok) return answer(ended.value as FinishedClaim, replayed)
    return replayed ? fail(this.underWay(order)) : ended
  }

  async carry(claim: Claim, steps: Steps<Claim>, order: NativeOrder | null): Promise<Ended<Claim>> {
    const cause = order === null ? null : this.#whyNotServed(order)
    if (!(await steps.claim())) return null
    try {
      // Where the payment is good but the work cannot be done, nothing runs, and the escrow goes back at once.
      return await (cause === null ? steps.work() : this.giveBack(claim, cause))
    } catch (error) {
      // The claim is open in the store, and is taken up when the store is back.
      if (error instanceof ClaimsAway) return fail(goesOn(claim.txId))
      throw error
    }
  }

  mayBegin(claim: Claim, { definition: { serviceId, timeoutMs } }: Task): Gate {
    const why = goesOn(claim.txId)
    if (this.till.isStopped) return { is: 'later', ms: null, why }
    const standing = standingOf(this.#judge, claim, timeoutMs)
    if (standing === 'adrift') return { is: 'later', ms: null, why }
    // What closes a market need not end with a head.
    if (this.#deps.shop.closedBecause !== null) return { is: 'later', ms: CLOSED_MS, why }
    return standing === 'late' ? { is: 'refused', cause: fault('service/too-late', { serviceId }) } : { is: 'open' }
  }

  begun(claim: Claim, nowMs: number): Claim {
    return { ...(claim as OpenClaim), state: 'executing', startedAtMs: nowMs, runs: runsOf(claim) }
  }

  done(claim: Claim, json: string, nowMs: number): Claim {
    return delivered(claim as Claim & { state: 'executing' }, json, nowMs)
  }

  earned(claim: Claim): void {
    this.#deps.settler.owe(claim as FinishedClaim)
  }

  /** Another replica may have ended it. Only what was written here is owed here. */
  async lost({ txId }: Claim): Promise<Ended<Claim>> {
    const now = this.till.isAbandoned ? undefined : await this.#deps.store.get(txId)
    return now !== undefined && isFinished(now) ? ok(now) : fail(goesOn(txId))
  }

  worked({ definition }: Task, caller: Caller, outcome: Result<string>): void {
    this.#deps.workshop.ended(definition, caller, outcome)
  }

  async giveBack(claim: Claim, cause: Fault): Promise<Ended<Claim>> {
    const finished = failed(claim as OpenClaim, cause, this.#deps.clock.now())
    if (!(await this.till.advance(claim.state, finished))) return this.lost(claim)
    this.#deps.settler.owe(finished)
    return ok(finished)
  }

  takeUp(claim: Claim, isInHand: boolean): boolean {
    if (isInHand) return false
    const { chain, settler } = this.#deps
    const minedAt = chain.database.location(claim.txId)?.height ?? claim.minedAt
    this.#judge.atRisk.take(claim.txId, minedAt, BigInt(claim.amount))
    if (!isFinished(claim)) return true
    settler.owe(claim)
    return false
  }

  whyNotResumed(claim: Claim, { serviceId, repeatable }: ServiceDefinition): Fault | null {
    const mayRun = claim.state === 'claimed' || (repeatable && runsOf(claim) <= RUNS_MAX)
    return mayRun ? null : fault('service/interrupted', { serviceId })
  }

  async starting(): Promise<void> {
    const { chain, settler } = this.#deps
    // The process may have ended between a move of the chain and what it left to be owed again.
    await settler.takeUp([...chain.database.side.ids()])
  }

  forget(): void {
    this.#deps.settler.forget()
  }

  async stop(): Promise<void> {}

  async delivered({ txId }: FinishedClaim): Promise<void> {
    await this.#deps.store.handedOver(txId)
  }

  /** What is wrong with a request. Where the service only cannot serve it now, the payment is taken, and given back at once. */
  #unfit({ offer: { definition } }: NativeOrder, input: unknown): Fault | null {
    const unfit = inputFault(definition, input, this.#deps.shop.context)
    return unfit?.code === 'service/unavailable' ? null : unfit
  }

  /** Why a service cannot serve a request that is paid for, or null. */
  #whyNotServed({ offer, input }: NativeOrder): Fault | null {
    const { shop } = this.#deps
    const { definition } = offer
    const availability = shop.availability(offer)
    if (availability.available) return input.ok ? inputFault(definition, input.value, shop.context) : null
    return fault('service/unavailable', { serviceId: definition.serviceId, reason: availability.reason })
  }

  #newClaim({ call, offer: { definition } }: NativeOrder, escrow: Escrow): Claim {
    const { chain, shop, clock } = this.#deps
    const { txId, request, secret } = call
    const { serviceId } = definition
    const service = shop.record(serviceId)
    const epoch = epochOf(escrow.minedAt, chain.ruleBook.at(escrow.minedAt).market)
    return {
      state: 'claimed',
      txId,
      serviceId,
      requestHash: requestHash(serviceId, request),
      request,
      caller: escrow.caller,
      amount: escrow.amount.toString(),
      priceUsdMicros: (service === undefined ? 0n : priceInEpoch(service, epoch)).toString(),
      opener: secret === null || !isBound(escrow) ? null : openerOf(secret),
      minedAt: escrow.minedAt,
      claimedAtMs: clock.now(),
    }
  }
}

function told(outcome: Result<never> | Result<Settled<FinishedClaim>>): Standing {
  return { is: 'told', outcome }
}

function unconfirmed(
  txId: TxId,
  { confirmations, needed }: { readonly confirmations: number; readonly needed: number },
): Fault {
  return fault('pay/unconfirmed', { txId, confirmations, needed })
}

/** The work of this payment goes on, elsewhere or after a start. */
function goesOn(txId: TxId): Fault {
  return unconfirmed(txId, { confirmations: 1, needed: 1 })
}

/** A claim whose work is done, with its result as JSON text; the time is in milliseconds since 1970. */
function delivered(claim: OpenClaim & { readonly startedAtMs: number }, json: string, nowMs: number): FinishedClaim {
  return {
    ...finishedBase(claim),
    state: 'delivered',
    finishedAtMs: nowMs,
    durationMs: elapsed(claim.startedAtMs, nowMs),
    resultHash: resultHash(encodeText(json)),
    result: json,
    settlement: 'owed',
  }
}

/** A claim whose payment is owed back, and why. */
function failed(claim: OpenClaim, cause: Fault, nowMs: number): FinishedClaim {
  return {
    ...finishedBase(claim),
    state: 'failed',
    finishedAtMs: nowMs,
    durationMs: claim.state === 'executing' ? elapsed(claim.startedAtMs, nowMs) : 0,
    reason: cause.code,
    message: faultMessage(cause),
    settlement: 'owed',
  }
}

/** What a call is answered whose claim is over. */
function answer(claim: FinishedClaim, replayed: boolean): Result<Settled<FinishedClaim>> {
  if (claim.state === 'delivered' && claim.result === null)
    return fail(fault('pay/result-expired', { txId: claim.txId }))
  return ok({ claim, replayed })
}

/** Why a payment that is taken does not buy another request. */
function takenFault({ database }: Pick<Chain, 'database'>, claim: Claim): Fault {
  const { txId, serviceId, claimedAtMs } = claim
  const facts = { txId, serviceId, redeemedAt: new Date(claimedAtMs).toISOString() }
  if (claim.state !== 'failed') return fault('pay/already-redeemed', facts)
  const isClosed = closureOf(database, txId) !== undefined
  return fault('pay/refunded', { ...facts, end: isClosed ? endText(database, txId) : 'its refund is on the way' })
}

/** What a claim keeps when its work is over. */
function finishedBase({
  txId,
  serviceId,
  requestHash,
  caller,
  amount,
  priceUsdMicros,
  opener,
  minedAt,
  claimedAtMs,
}: OpenClaim) {
  return { txId, serviceId, requestHash, caller, amount, priceUsdMicros, opener, minedAt, claimedAtMs }
}

/** The clock of a machine can be set back. */
function elapsed(sinceMs: number, nowMs: number): number {
  return Math.max(0, nowMs - sinceMs)
}
