import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock } from '../../consensus/chain/ports.ts'
import type { AccountKeys } from '../../consensus/crypto/account-keys.ts'
import type { SignatureVerifier } from '../../consensus/crypto/verifier.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { openerOf } from '../../consensus/tx/redeem-lock.ts'
import { requestHash } from '../../consensus/tx/request-hash.ts'
import { AGENTS, type Agent, SERVICES } from '../ledger/agents.ts'
import type { Escrow } from '../ledger/escrow.ts'
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
import { FINAL_DEPTH, type MarketSettings } from '../till/settings.ts'
import type { TransactionSink } from '../till/shop.ts'
import type { SettlementRecord, SettlementRecords } from './records.ts'
import { checkSignature, type Settlement } from './settlement.ts'

/** A payment that a seller's server received, and the price that it asked for. */
export interface FacilitatedPayment {
  readonly txId: TxId
  readonly secret: Uint8Array | null
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  readonly amount: bigint
  /** Either may be null. Only the text can open a commitment. */
  readonly request: string | null
  readonly requestHash: Hash | null
  /** Time from now that the server needs until it settles. */
  readonly timeoutMs: number
}

/** Facts of a payment that may be accepted. */
export interface VerifiedPayment {
  readonly escrow: Escrow
  readonly confirmations: number
  /** Whether the payment commits to this request; `unchecked` if only the request's hash was given. */
  readonly commitment: 'opened' | 'none' | 'unchecked'
}

/** `replayed`: it was recorded before this call. */
export interface RecordedSettlement {
  readonly record: SettlementRecord
  /** Keys of the server that settles. */
  readonly keys: AccountKeys
  readonly replayed: boolean
}

/** The parts that a facilitator works with. */
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
 * Checks payments to any agent, for servers without a node, and records how their settlers say that calls ended. It
 * moves no money and claims no payment: a seller that makes no claim of its own before the work may work twice for one
 * payment.
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

  /** Whether a payment can be accepted. It does not claim the payment. */
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
    // Later payments in the same block count this one as at risk, as on the node's own till.
    if (verified.ok) this.#risk.take(txId, good.value.minedAt, good.value.amount, agentId)
    return verified
  }

  /** The first record of a payment stays; the same request gets it again. */
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

  /**
   * Forgets settlements whose deadline is more than {@link FINAL_DEPTH} blocks ago, a bounded number at once. Returns their
   * number. No reorganisation so deep is expected to reopen their escrows.
   */
  expire(): Promise<number> {
    return this.#deps.records.expire(this.#deps.chain.head.header.height - FINAL_DEPTH)
  }

  #callOf(payment: FacilitatedPayment) {
    const { agentId, serviceId } = payment
    const service = this.#deps.chain.database.get(SERVICES, { agentId, serviceId })
    if (service === undefined) return fail(fault('facilitator/service', { agentId, serviceId }))
    const misnamed = checkHash(payment)
    return misnamed === null ? ok({ ...payment, service }) : fail(misnamed)
  }

  /** The asked amount, and the commitment: a payment that has one must come with its request or the hash of it. */
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
   * A failed call is refunded, whatever amount, lock or commitment its payment has. A delivered one must have paid the
   * asked amount for this request and open the lock. Depth and the price of the service mattered only before the work.
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

  /** A receipt must be mined below the deadline. */
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

function checkHash({ serviceId, request, requestHash: hash }: FacilitatedPayment): Fault | null {
  if (request === null || hash === null || requestHash(serviceId, request) === hash) return null
  return fault('facilitator/requirements', { field: 'requestHash', reason: 'is not that of the request' })
}

interface Offered {
  readonly payment: FacilitatedPayment
  readonly settlement: Settlement
  readonly keys: AccountKeys
}

/** The same agent and request get the record again, any other gets a fault. */
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
