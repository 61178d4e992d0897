import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { AccountKeys } from '../../consensus/crypto/account-keys.ts'
import type { SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { AGENTS, type Agent, SERVICES } from '../ledger/agents.ts'
import { type Escrow, openerOf } from '../ledger/escrow.ts'
import {
  checkLock,
  judgePayment,
  MinedCalls,
  openPayment,
  type PaymentVerdict,
  ValueAtRisk,
  wrongAmount,
} from '../till/rails/native/payment.ts'
import type { NativePriceSource } from '../till/rails/native/price.ts'
import { requestHash } from '../till/request-hash.ts'
import { FINAL_DEPTH, type MarketSettings } from '../till/settings.ts'
import type { TransactionSink } from '../till/shop.ts'
import type { SettlementRecord, SettlementRecords } from './records.ts'
import { checkSignature, type Settlement } from './settlement.ts'

/** A payment that a seller's server was offered, and what that server asked for. */
export interface FacilitatedPayment {
  readonly txId: TxId
  readonly secret: Uint8Array | null
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  /** Base units that were asked for. */
  readonly amount: bigint
  /** Text of the request and its hash, either may be null: a commitment can be opened with the text alone. */
  readonly request: string | null
  readonly requestHash: Hash | null
  /** Time that the server needs from now to its settlement. */
  readonly timeoutMs: number
}

/** What was found of a payment that may be taken. */
export interface VerifiedPayment {
  readonly escrow: Escrow
  readonly confirmations: number
  /** Whether the request is the one that was paid for; `unchecked` where only its hash was given. */
  readonly commitment: 'opened' | 'none' | 'unchecked'
}

/** A settlement that is on record, now or from before. */
export interface RecordedSettlement {
  readonly record: SettlementRecord
  /** Keys of the asking server. */
  readonly keys: AccountKeys
  readonly replayed: boolean
}

/** What a facilitator works with. */
export interface FacilitatorDependencies {
  readonly chain: Chain
  readonly sink: Pick<TransactionSink, 'get'>
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly verifier: SignatureVerifier
  readonly records: SettlementRecords
  readonly clock: Clock
}

/**
 * Judges payments to any agent of the chain for servers that have no chain of their own, and keeps what their settlers say of
 * them. It moves no money and takes no payment: a seller that does not claim before its work can be made to work twice.
 */
export class Facilitator {
  readonly #deps: FacilitatorDependencies
  readonly #mined: MinedCalls
  readonly #risk: ValueAtRisk

  constructor(dependencies: FacilitatorDependencies) {
    this.#deps = dependencies
    this.#mined = new MinedCalls(dependencies.chain)
    this.#risk = new ValueAtRisk(dependencies.chain, dependencies.price)
  }

  /** Whether a payment may be taken: it is what was asked for, deep enough, opens, and leaves time. Nothing is consumed. */
  verify(payment: FacilitatedPayment): Result<VerifiedPayment> {
    const { agentId, txId } = payment
    const call = this.#callOf(payment)
    if (!call.ok) return call
    const atRisk: Pick<ValueAtRisk, 'withOneMore'> = {
      withOneMore: (id, minedAt, amount) => this.#risk.withOneMore(id, minedAt, amount, agentId),
    }
    const good = resultOf(txId, judgePayment({ ...this.#deps, mined: this.#mined, atRisk }, call.value))
    if (!good.ok) return good
    const verified = this.#checked(payment, good.value)
    // The next one of this block is judged with this one at risk, as where the market takes payments itself.
    if (verified.ok) this.#risk.take(txId, good.value.minedAt, good.value.amount, agentId)
    return verified
  }

  /** Puts on record how a paid call ended. The first record of a payment stays, and the same request gets it again. */
  async settle(payment: FacilitatedPayment, settlement: Settlement): Promise<Result<RecordedSettlement>> {
    const { txId } = payment
    const keys = await this.#settlerKeys(payment, settlement)
    if (!keys.ok) return keys
    const known = await this.#deps.records.get(txId)
    if (known !== undefined) return joined(known, { payment, settlement, keys: keys.value })
    const escrow = this.#settleable(payment, settlement)
    if (!escrow.ok) return escrow
    const record = this.#recordOf(payment, settlement, escrow.value)
    const put = await this.#deps.records.put(record)
    if (put.is === 'known') return joined(put.record, { payment, settlement, keys: keys.value })
    if (put.is === 'full') return fail(fault('facilitator/full', { count: put.count }))
    return ok({ record, keys: keys.value, replayed: false })
  }

  /** Forgets what no reorganisation brings back to life any more. */
  expire(): Promise<number> {
    return this.#deps.records.expire(this.#deps.chain.head.header.height - FINAL_DEPTH)
  }

  /** The call as the judge of payments knows calls. */
  #callOf(payment: FacilitatedPayment) {
    const { agentId, serviceId } = payment
    const service = this.#deps.chain.database.get(SERVICES, { agentId, serviceId })
    if (service === undefined) return fail(fault('facilitator/service', { agentId, serviceId }))
    const misnamed = checkHash(payment)
    return misnamed === null ? ok({ ...payment, service }) : fail(misnamed)
  }

  /** What the judge of payments does not know: the amount that was asked for, and a request that is told by its hash alone. */
  #checked({ txId, amount, request, requestHash: hash }: FacilitatedPayment, escrow: Escrow): Result<VerifiedPayment> {
    if (escrow.amount !== amount) return fail(wrongAmount(this.#deps.chain, txId, escrow, [amount]))
    const committed = escrow.requestCommitment !== ZERO_HEX_32
    if (committed && request === null && hash === null) return fail(fault('facilitator/request-missing', { txId }))
    const commitment = !committed ? 'none' : request === null ? 'unchecked' : 'opened'
    const confirmations = this.#deps.chain.head.header.height - escrow.minedAt + 1
    return ok({ escrow, confirmations, commitment })
  }

  async #settlerKeys({ agentId }: FacilitatedPayment, settlement: Settlement): Promise<Result<AccountKeys>> {
    const agent = this.#deps.chain.database.get(AGENTS, agentId)
    if (agent === undefined) return fail(fault('rpc/agent-not-found', { agentId }))
    if (!maySettle(agent, settlement))
      return fail(fault('facilitator/not-settler', { settler: settlement.signed.address, agentId }))
    return checkSignature(this.#deps, settlement)
  }

  /**
   * The escrow that a settlement is about. Money goes back whatever was wrong with the payment; it is earned only where it is
   * what was asked for and opens. Depth and price were for the work, and both are older now.
   */
  #settleable(payment: FacilitatedPayment, { outcome, requestHash: hash }: Settlement): Result<Escrow> {
    const { txId, requestHash: asked } = payment
    if (asked !== null && asked !== hash)
      return fail(fault('facilitator/settlement', { field: 'requestHash', reason: 'is not that of the requirements' }))
    const named = { ...payment, requestHash: hash }
    const misnamed = checkHash(named)
    if (misnamed !== null) return fail(misnamed)
    const open = this.#inTime(txId, resultOf(txId, openPayment({ ...this.#deps, mined: this.#mined }, payment)))
    if (!open.ok || outcome === 'failed') return open
    const locked = checkLock(open.value, payment)
    if (locked !== null) return fail(locked)
    const checked = this.#checked(named, open.value)
    return checked.ok ? open : checked
  }

  /** A receipt counts in blocks below the deadline. */
  #inTime(txId: TxId, escrow: Result<Escrow>): Result<Escrow> {
    if (!escrow.ok || escrow.value.deadline > this.#deps.chain.head.header.height + 1) return escrow
    return fail(fault('pay/too-late', { txId, deadline: escrow.value.deadline }))
  }

  #recordOf(payment: FacilitatedPayment, settlement: Settlement, escrow: Escrow): SettlementRecord {
    const { txId, agentId, serviceId, secret } = payment
    const { settler, outcome, requestHash: hash, resultHash, durationMs } = settlement
    const opens = outcome === 'delivered' && secret !== null && escrow.redeemLock !== ZERO_HEX_32
    return {
      ...{ txId, agentId, serviceId, settler, outcome, requestHash: hash, resultHash, durationMs },
      opener: opens ? openerOf(secret) : (ZERO_HEX_32 as Hash),
      payer: escrow.caller,
      amount: escrow.amount.toString(),
      deadline: escrow.deadline,
      recordedAtMs: this.#deps.clock.now(),
    }
  }
}

function maySettle({ owner, settlers }: Agent, { settler }: Settlement): boolean {
  return settler === owner || settlers.includes(settler)
}

/** Where both text and hash of a request are given, they must belong together. */
function checkHash({ serviceId, request, requestHash: hash }: FacilitatedPayment): Fault | null {
  if (request === null || hash === null || requestHash(serviceId, request) === hash) return null
  return fault('facilitator/requirements', { field: 'requestHash', reason: 'is not that of the request' })
}

/** A settlement whose signature is good. */
interface Offered {
  readonly payment: FacilitatedPayment
  readonly settlement: Settlement
  readonly keys: AccountKeys
}

/** A payment that is on record: for the same agent and request the record is told again. */
function joined(record: SettlementRecord, { payment, settlement, keys }: Offered): Result<RecordedSettlement> {
  if (record.requestHash === settlement.requestHash && record.agentId === payment.agentId)
    return ok({ record, keys, replayed: true })
  return fail(fault('facilitator/already-settled', { txId: record.txId, requestHash: record.requestHash }))
}

function resultOf(txId: TxId, verdict: PaymentVerdict): Result<Escrow> {
  if (verdict.state === 'good') return ok(verdict.escrow)
  if (verdict.state === 'refused') return fail(verdict.fault)
  const { confirmations, needed } = verdict
  return fail(fault('pay/unconfirmed', { txId, confirmations, needed }))
}
