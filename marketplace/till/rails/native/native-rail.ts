import type { Chain } from '../../../../consensus/chain/chain.ts'
import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Fault, fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { openerOf } from '../../../../consensus/tx/redeem-lock.ts'
import { requestHash } from '../../../../consensus/tx/request-hash.ts'
import { closureOf, endText } from '../../../ledger/closures.ts'
import { ESCROWS } from '../../../ledger/escrow.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { runsOf } from '../../claim-store.ts'
import type { Caller } from '../../failing-callers.ts'
import type { Ended, Gate, Held, Identity, Rail, Settled, Task, Verdict } from '../../rail.ts'
import { RUNS_MAX } from '../../settings.ts'
import type { TransactionSink } from '../../shop.ts'
import { Till, type TillDependencies } from '../../till.ts'
import {
  type Claim,
  type FinishedClaim,
  isFinished,
  NATIVE_CLAIMS,
  type NativeClaimStore,
  type OpenClaim,
  type PaidCall,
} from './claim.ts'
import {
  blocksToSpare,
  type CallContext,
  checkOutcome,
  depthOf,
  judgeCall,
  MinedCalls,
  type NativeOrder,
  unconfirmed,
  ValueAtRisk,
  wrongSecret,
} from './payment.ts'
import type { NativePriceSource } from './price.ts'
import type { Settler } from './settler.ts'

/** What the native rail works with. */
export interface NativeRailDependencies extends TillDependencies<Claim> {
  readonly store: NativeClaimStore
  readonly sink: TransactionSink
  readonly price: NativePriceSource
  readonly settler: Settler
  /** What is at risk by all rails of the seller. Absent: by this rail alone. */
  readonly atRisk?: ValueAtRisk
}

/** Blocks after which a payment that left the chain is not waited for any more. */
const ADRIFT_BLOCKS_MAX = 12_000
/** Pause before work that a closed market holds back is looked at again. */
const CLOSED_MS = 1_000

type Executed = Extract<Claim, { state: 'executing' }>
type Standing = Verdict<Claim, FinishedClaim>

/**
 * The native rail: the payment is an escrow on the chain. The claim is on disk before any work. Once the end is on disk, the
 * {@link Settler} sends the receipt that earns the payment or gives it back.
 */
export class NativeRail implements Rail<PaidCall, Claim, Identity, FinishedClaim> {
  readonly kind = NATIVE_CLAIMS
  readonly joinMs = null
  readonly beginsPatiently = true
  readonly till: Till<PaidCall, Claim, Identity, FinishedClaim>
  readonly #deps: NativeRailDependencies
  readonly #judge: CallContext

  constructor(dependencies: NativeRailDependencies) {
    this.#deps = dependencies
    const { chain, price, atRisk = new ValueAtRisk(chain, price) } = dependencies
    this.#judge = { ...dependencies, mined: new MinedCalls(chain), atRisk }
    this.till = new Till(dependencies, this)
  }

  identify({ txId }: PaidCall): Identity {
    return { id: txId }
  }

  judge(order: NativeOrder, known: Claim | undefined, hasWaited: boolean): Standing {
    return known === undefined ? judgeCall(this.#judge, order, hasWaited) : this.#taken(known, order)
  }

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
    return this.#whyAdrift(txId) ?? unconfirmed(txId, { confirmations: 1, needed: 1 })
  }

  answer(order: NativeOrder, ended: Result<Claim>, replayed: boolean): Result<Settled<FinishedClaim>> {
    if (ended.ok) return answer(ended.value as FinishedClaim, replayed)
    return replayed ? fail(this.underWay(order)) : ended
  }

  goesOn({ txId }: Claim): Fault {
    return unconfirmed(txId, { confirmations: 1, needed: 1 })
  }

  mayBegin(claim: Claim, { definition: { serviceId, timeoutMs } }: Task): Gate<Claim> {
    if (this.till.isStopped) return { is: 'later', ms: null }
    const standing = this.#standingOf(claim, timeoutMs)
    if (standing === 'adrift') return { is: 'later', ms: null }
    const { shop, clock } = this.#deps
    // A market can open again without a new head.
    if (shop.closedBecause !== null) return { is: 'later', ms: CLOSED_MS }
    if (standing === 'late') return { is: 'refused', cause: fault('service/too-late', { serviceId }) }
    const open = claim as OpenClaim
    return { is: 'open', begun: { ...open, state: 'executing', startedAtMs: clock.now(), runs: runsOf(claim) } }
  }

  /** Another replica may have ended the work. Then that replica owes the receipt. */
  async lost(claim: Claim): Promise<Ended<Claim>> {
    const { txId } = claim
    const now = this.till.isAbandoned ? undefined : await this.#deps.store.get(txId)
    return now !== undefined && isFinished(now) ? ok(now) : fail(this.goesOn(claim))
  }

  worked({ definition }: Task, caller: Caller, outcome: Result<string>): void {
    this.#deps.workshop.ended(definition, caller, outcome)
  }

  /** The receipt is owed only once the end is on disk. */
  async end(claim: Claim, outcome: Result<string>): Promise<Ended<Claim>> {
    const { settler, clock } = this.#deps
    const nowMs = clock.now()
    const finished = outcome.ok
      ? delivered(claim as Executed, outcome.value, nowMs)
      : failed(claim as OpenClaim, outcome.fault, nowMs)
    if (!(await this.till.advance(claim.state, finished))) return this.lost(claim)
    settler.owe(finished)
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
    // The process may have ended after a reorganisation, before its receipts were noted as owed again.
    await settler.takeUp([...chain.database.side.ids()])
  }

  forget(): void {
    this.#deps.settler.forget()
  }

  async stop(): Promise<void> {}

  async handedOver({ txId }: FinishedClaim): Promise<void> {
    await this.#deps.store.handedOver(txId)
  }

  /**
   * `open`: there is time for the work and its receipt. `late`: there is not, or the escrow is closed or gone for good. `adrift`: a
   * reorganisation took the payment, which is not mined again yet, or not deep enough.
   */
  #standingOf({ txId, minedAt }: Claim, timeoutMs: number): 'open' | 'late' | 'adrift' {
    const { chain } = this.#deps
    const escrow = chain.database.get(ESCROWS, txId)
    if (escrow !== undefined) {
      if (blocksToSpare(chain, escrow, timeoutMs) < 0) return 'late'
      const { confirmations, needed } = depthOf(this.#judge, txId, escrow)
      return confirmations >= needed ? 'open' : 'adrift'
    }
    const gone = chain.head.header.height - minedAt > ADRIFT_BLOCKS_MAX
    return gone || closureOf(chain.database, txId) !== undefined ? 'late' : 'adrift'
  }

  /** The fault if a reorganisation took the escrow of a payment, which failed in its new block or is unknown now; else null. */
  #whyAdrift(txId: TxId): Fault | null {
    const { chain, sink } = this.#deps
    if (chain.moving || chain.database.get(ESCROWS, txId) !== undefined) return null
    const call = this.#judge.mined.find(txId)
    if (call !== undefined) return checkOutcome(txId, call)
    return sink.get(txId) === undefined ? fault('pay/not-found', { txId }) : null
  }
}

function told(outcome: Result<never> | Result<Settled<FinishedClaim>>): Standing {
  return { is: 'told', outcome }
}

function delivered(claim: Executed, json: string, nowMs: number): FinishedClaim {
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

function answer(claim: FinishedClaim, replayed: boolean): Result<Settled<FinishedClaim>> {
  if (claim.state === 'delivered' && claim.result === null)
    return fail(fault('pay/result-expired', { txId: claim.txId }))
  return ok({ claim, replayed })
}

function takenFault({ database }: Pick<Chain, 'database'>, claim: Claim): Fault {
  const { txId, serviceId, claimedAtMs } = claim
  const facts = { txId, serviceId, redeemedAt: new Date(claimedAtMs).toISOString() }
  if (claim.state !== 'failed') return fault('pay/already-redeemed', facts)
  const isClosed = closureOf(database, txId) !== undefined
  return fault('pay/refunded', { ...facts, end: isClosed ? endText(database, txId) : 'its refund is on the way' })
}

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

/** Never negative: the clock of a machine can be set back. */
function elapsed(sinceMs: number, nowMs: number): number {
  return Math.max(0, nowMs - sinceMs)
}
