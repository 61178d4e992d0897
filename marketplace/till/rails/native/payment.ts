import type { Chain } from '../../../../consensus/chain/chain.ts'
import { OUTCOME_OK, outcomeCode } from '../../../../consensus/ledger/outcome.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { formatAmount } from '../../../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { AgentId, BlockId, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../../consensus/primitives/lru.ts'
import type { Transaction, TxBody } from '../../../../consensus/tx/transaction.ts'
import type { Service } from '../../../ledger/agents.ts'
import { closureOf, endText } from '../../../ledger/closures.ts'
import { ESCROWS, type Escrow, lockOf, openerOf } from '../../../ledger/escrow.ts'
import { transactionGap } from '../../../queries/known-past.ts'
import { requestCommitment } from '../../request-hash.ts'
import { confirmationsFor, type MarketSettings, RECEIPT_MARGIN_BLOCKS } from '../../settings.ts'
import type { TransactionSink } from '../../shop.ts'
import { type NativePriceSource, pricesHonouredAt } from './price.ts'
import { workBlocks } from './quote.ts'
import type { ValueAtRisk } from './value-at-risk.ts'

/** A call that a payment is offered for. */
export interface OfferedPayment {
  readonly txId: TxId
  readonly secret: Uint8Array | null
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  /** Null if the asker checks the commitment to the request itself. */
  readonly request: string | null
  readonly service: Service
  readonly timeoutMs: number
}

/** A payment that is not to be taken, yet or ever. */
type Unfit =
  | { readonly state: 'waiting'; readonly confirmations: number; readonly needed: number }
  | { readonly state: 'refused'; readonly fault: Fault }

/** A payment that is mined, with its open escrow. */
interface OpenPayment {
  readonly state: 'good'
  readonly escrow: Escrow
  readonly blockId: BlockId
}

/** What the chain says of an offered payment. */
export type PaymentVerdict = OpenPayment | Unfit

/** What payments are judged by. */
export interface PaymentContext {
  readonly chain: Chain
  readonly sink: Pick<TransactionSink, 'get'>
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly mined: MinedCalls
  readonly atRisk: ValueAtRisk
}

/** The same for the facilitator's sellers: it only asks what is at risk. */
interface JudgingContext extends Omit<PaymentContext, 'atRisk'> {
  readonly atRisk: Pick<ValueAtRisk, 'withOneMore'>
}

/** Judges an offered payment by this node's own chain. Nothing is consumed. */
export function judgePayment(context: JudgingContext, offered: OfferedPayment): PaymentVerdict {
  const open = openPayment(context, offered)
  if (open.state !== 'good') return open
  const wrong = checkAmount(context, open.escrow, offered) ?? checkLock(open.escrow, offered)
  return wrong === null ? checkDepth(context, open, offered) : refused(wrong)
}

/** Finds the open escrow of a payment for an agent's service, whatever was paid. */
export function openPayment(
  { chain, sink, mined }: Pick<PaymentContext, 'chain' | 'sink' | 'mined'>,
  offered: PaidParties,
): PaymentVerdict {
  const { txId } = offered
  // A head that is passed through on the way to another is not one to work on.
  if (chain.moving) return waiting(0, 1)
  const call = mined.find(txId)
  if (call === undefined) {
    const pending = sink.get(txId)
    if (pending === undefined) return refused(unseen(chain, txId))
    // What will never fit is not waited for.
    const misfit = checkKind(pending) ?? checkInvoke(pending, offered, null)
    return misfit === null ? waiting(0, 1) : refused(misfit)
  }
  const noPayment = checkKind({ txId, ...call }) ?? checkOutcome(txId, call)
  if (noPayment !== null) return refused(noPayment)
  const escrow = chain.database.get(ESCROWS, txId)
  if (escrow === undefined) return refused(fault('pay/closed', { txId, end: endText(chain.database, txId) }))
  const misfit = checkInvoke({ txId, ...call }, offered, escrow)
  return misfit === null ? { state: 'good', escrow, blockId: call.blockId } : refused(misfit)
}

/** Which payment is offered, and whom and what it is for. */
type PaidParties = Pick<OfferedPayment, 'txId' | 'agentId' | 'serviceId'>

/** After a start from a snapshot the escrow is known and its block is not: then the payer must not pay again. */
function unseen(chain: Chain, txId: TxId): Fault {
  const gap = chain.database.get(ESCROWS, txId) === undefined ? null : transactionGap(chain, txId)
  return gap ?? fault('pay/not-found', { txId })
}

function waiting(confirmations: number, needed: number): Unfit {
  return { state: 'waiting', confirmations, needed }
}

function refused(cause: Fault): Unfit {
  return { state: 'refused', fault: cause }
}

/** What becomes of an escrow that this call does not take. */
function refundText({ deadline }: Pick<Escrow, 'deadline'>): string {
  return `The escrow returns to the caller by itself at height ${deadline}.`
}

/** What becomes of an escrow that the right call can still take. */
function repeatText(escrow: Pick<Escrow, 'deadline'>): string {
  return `Do not pay again: repeat the call with the one that was paid for. ${refundText(escrow)}`
}

/** What becomes of a payment for another service: at which height it returns is known once it is mined. */
function elsewhereText({ agentId, serviceId, term }: Invoke, escrow: Pick<Escrow, 'deadline'> | null): string {
  const unused =
    escrow === null ? `It returns to the caller by itself ${term} blocks after its own.` : refundText(escrow)
  return `${NOTHING_CONSUMED} The payment still buys ${serviceId} of ${agentId}. ${unused}`
}

type Invoke = Extract<Transaction['body'], { kind: 'agent_invoke' }>['payload']

function mismatch(
  txId: TxId,
  field: string,
  { got, expected, refund }: { got: string; expected: string; refund: string },
): Fault {
  return fault('pay/mismatch', { txId, field, got, expected, refund })
}

const NOTHING_CONSUMED = 'Nothing was consumed.'

type Called = Pick<Transaction, 'txId' | 'body'>

function checkKind({ body, txId }: Called): Fault | null {
  if (body.kind === 'agent_invoke') return null
  const facts = { got: body.kind, expected: 'agent_invoke', refund: NOTHING_CONSUMED }
  return mismatch(txId, 'the transaction type', facts)
}

function checkInvoke(
  { body, txId }: Called,
  offered: PaidParties,
  escrow: Pick<Escrow, 'deadline'> | null,
): Fault | null {
  if (body.kind !== 'agent_invoke') return null
  const { agentId, serviceId } = body.payload
  const refund = elsewhereText(body.payload, escrow)
  if (agentId !== offered.agentId)
    return mismatch(txId, 'the agent', { got: agentId, expected: offered.agentId, refund })
  if (serviceId === offered.serviceId) return null
  return mismatch(txId, 'the service', { got: serviceId, expected: offered.serviceId, refund })
}

function checkOutcome(txId: TxId, { outcome }: MinedCall): Fault | null {
  if (outcome === OUTCOME_OK) return null
  return fault('pay/failed', { txId, outcome: outcomeCode(outcome) ?? `code ${outcome}` })
}

function checkAmount(
  context: Omit<PaymentContext, 'atRisk'>,
  escrow: Escrow,
  { txId, service }: OfferedPayment,
): Fault | null {
  const prices = pricesHonouredAt(context, service, escrow.minedAt)
  if (prices.includes(escrow.amount)) return null
  return wrongAmount(context.chain, txId, escrow, [...new Set(prices)])
}

/** An escrow of another amount than those that would do, none where nothing was quoted; in coins, and in base units beside them. */
export function wrongAmount(
  { ruleBook: { params } }: Pick<Chain, 'ruleBook'>,
  txId: TxId,
  escrow: Escrow,
  wanted: readonly bigint[],
): Fault {
  const coins = (units: bigint): string => `${formatAmount(units, params.decimals)} ${params.ticker}`
  const expected = wanted.length === 0 ? 'none: nothing was quoted then' : wanted.map(coins).join(' or ')
  const facts = { got: coins(escrow.amount), expected, refund: refundText(escrow) }
  const { code, detail } = mismatch(txId, 'the amount', facts)
  return fault(code, { ...detail, gotBaseUnits: escrow.amount.toString(), expectedBaseUnits: wanted.map(String) })
}

/** A payment that serves this call once `field` is corrected: another one would be paid in vain. */
function correctable(txId: TxId, field: string, facts: Parameters<typeof mismatch>[2]): Fault {
  const { code, detail } = mismatch(txId, field, facts)
  return fault(code, { ...detail, correctable: true })
}

/** A secret that is not the one of a payment, which is taken where nothing else is said of it. */
export function wrongSecret(
  txId: TxId,
  refund = 'Do not pay again: the payment was taken for this call, whose answer comes with the secret that was paid with.',
): Fault {
  return correctable(txId, 'payment.secret', { got: 'another secret', expected: 'the secret of this payment', refund })
}

/** A lock opens to the secret alone, a commitment to the very call: a reader of the chain has neither. */
export function checkLock(
  escrow: Escrow,
  { txId, secret, agentId, serviceId, request }: Omit<OfferedPayment, 'service' | 'timeoutMs'>,
): Fault | null {
  const locked = escrow.redeemLock !== ZERO_HEX_32
  const committed = escrow.requestCommitment !== ZERO_HEX_32
  if (!locked && !committed) return null
  if (secret === null) return fault('pay/secret-missing', { txId })
  const refund = repeatText(escrow)
  if (locked && lockOf(openerOf(secret)) !== escrow.redeemLock) return wrongSecret(txId, refund)
  if (!committed || request === null) return null
  if (requestCommitment(secret, { agentId, serviceId, request }) === escrow.requestCommitment) return null
  return correctable(txId, 'the request', {
    got: 'another request',
    expected: 'the request that the payment commits to',
    refund,
  })
}

function checkDepth(
  context: JudgingContext,
  open: OpenPayment,
  { txId, timeoutMs }: Pick<OfferedPayment, 'txId' | 'timeoutMs'>,
): PaymentVerdict {
  const { escrow } = open
  const { confirmations, needed } = depthOf(context, txId, escrow)
  const missing = Math.max(0, needed - confirmations)
  if (blocksToSpare(context.chain, escrow, timeoutMs) < missing) {
    return refused(fault('pay/too-late', { txId, deadline: escrow.deadline }))
  }
  return missing > 0 ? waiting(confirmations, needed) : open
}

type DepthContext = Pick<JudgingContext, 'chain' | 'settings' | 'atRisk'>

/** Confirmations that a payment has, and that what is at risk with it in its block wants. */
function depthOf({ chain, settings, atRisk }: DepthContext, txId: TxId, { minedAt, amount }: Escrow) {
  const needed = confirmationsFor(atRisk.withOneMore(txId, minedAt, amount), settings)
  return { confirmations: chain.head.header.height - minedAt + 1, needed }
}

/** Blocks that may pass before the work must begin; negative where it is too late. */
function blocksToSpare(chain: Chain, { deadline }: Escrow, timeoutMs: number): number {
  return deadline - chain.head.header.height - workBlocks(chain, timeoutMs) - RECEIPT_MARGIN_BLOCKS
}

/** Blocks after which a payment that left the chain is not waited for any more. */
const ADRIFT_BLOCKS_MAX = 12_000

/**
 * How the payment of a claim stands: open with time for the work and its receipt, too late for that, or adrift: neither
 * open nor closed, or no longer as deep as it must be, since a reorganisation took it and it may be mined again.
 */
export function standingOf(
  context: DepthContext,
  { txId, minedAt }: { readonly txId: TxId; readonly minedAt: number },
  timeoutMs: number,
): 'open' | 'late' | 'adrift' {
  const { chain } = context
  const escrow = chain.database.get(ESCROWS, txId)
  if (escrow !== undefined) {
    if (blocksToSpare(chain, escrow, timeoutMs) < 0) return 'late'
    const { confirmations, needed } = depthOf(context, txId, escrow)
    return confirmations >= needed ? 'open' : 'adrift'
  }
  const gone = chain.head.header.height - minedAt > ADRIFT_BLOCKS_MAX
  return gone || closureOf(chain.database, txId) !== undefined ? 'late' : 'adrift'
}

/** What to tell of a payment that was taken and whose work is not done, where a reorganisation is why; else null. */
export function whyAdrift({ chain, sink, mined }: PaymentContext, txId: TxId): Fault | null {
  if (chain.moving || chain.database.get(ESCROWS, txId) !== undefined) return null
  const call = mined.find(txId)
  if (call !== undefined) return checkOutcome(txId, call)
  return sink.get(txId) === undefined ? fault('pay/not-found', { txId }) : null
}

/** Why a good payment is not taken: waiting is worth while where the market opens again, and not where the node stops. */
export function heldFault(
  call: { readonly txId: TxId; readonly serviceId: string },
  reason: string,
  ended: boolean,
): Fault {
  const { txId, serviceId } = call
  return ended ? fault('service/unavailable', { serviceId, reason }) : fault('pay/held', { txId, reason })
}

/** Whether only the payer's secret redeems a payment. */
export function isBound({ redeemLock, requestCommitment }: Escrow): boolean {
  return redeemLock !== ZERO_HEX_32 || requestCommitment !== ZERO_HEX_32
}

/** A mined transaction and what became of it. */
export interface MinedCall {
  readonly blockId: BlockId
  readonly body: TxBody
  /** Outcome number of its receipt. */
  readonly outcome: number
}

const BLOCKS_KEPT = 8

/** Mined transactions by block, read once a block: many calls ask for the payments of the newest one at the same time. */
export class MinedCalls {
  readonly #chain: Chain
  readonly #blocks = new LruMap<BlockId, ReadonlyMap<TxId, MinedCall>>(BLOCKS_KEPT)

  constructor(chain: Chain) {
    this.#chain = chain
  }

  /** A transaction of the best chain, undefined if it is not mined there. */
  find(txId: TxId): MinedCall | undefined {
    const { database } = this.#chain
    const location = database.location(txId)
    const blockId = location === undefined ? undefined : database.idAt(location.height)
    if (blockId === undefined) return undefined
    const known = this.#blocks.get(blockId) ?? this.#read(blockId)
    return known.get(txId)
  }

  #read(blockId: BlockId): ReadonlyMap<TxId, MinedCall> {
    const { database } = this.#chain
    const outcomes = new Map<TxId, number>()
    for (const receipt of (database.receipts(blockId) ?? []).map(decodeReceipt)) {
      if (receipt.type === 'transaction') outcomes.set(receipt.txId, receipt.code)
    }
    const calls = new Map<TxId, MinedCall>()
    for (const { txId, body } of database.block(blockId)?.transactions ?? []) {
      calls.set(txId, { blockId, body, outcome: outcomes.get(txId) ?? OUTCOME_OK })
    }
    this.#blocks.set(blockId, calls)
    return calls
  }
}
