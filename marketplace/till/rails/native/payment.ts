import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { HeadChange } from '../../../../consensus/chain/events.ts'
import { type Clock, runPaced } from '../../../../consensus/chain/ports.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import { OUTCOME_OK, outcomeCode } from '../../../../consensus/ledger/outcome.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { type Amount, formatAmount } from '../../../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { AgentId, BlockId, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../../consensus/primitives/lru.ts'
import { fail, type Result } from '../../../../consensus/primitives/result.ts'
import { lockOf, openerOf } from '../../../../consensus/tx/redeem-lock.ts'
import { requestCommitment, requestHash } from '../../../../consensus/tx/request-hash.ts'
import type { Transaction, TxBody } from '../../../../consensus/tx/transaction.ts'
import { priceInEpoch, type Service } from '../../../ledger/agents.ts'
import { endText } from '../../../ledger/closures.ts'
import { ESCROWS, type Escrow } from '../../../ledger/escrow.ts'
import { transactionGap } from '../../../queries/known-past.ts'
import type { Identity, Order, Verdict } from '../../rail.ts'
import { confirmationsFor, type MarketSettings, type PriceBounds, RECEIPT_MARGIN_BLOCKS } from '../../settings.ts'
import type { Shop, TransactionSink } from '../../shop.ts'
import type { Claim, FinishedClaim, PaidCall } from './claim.ts'
import { type NativePriceSource, notQuoted, priceIn } from './price.ts'
import { workBlocks } from './quote.ts'

/** A call that a payment is offered for. */
export interface PaymentToJudge {
  readonly txId: TxId
  readonly secret: Uint8Array | null
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  /** Null if the text is not known here: then the payment's commitment to it is not checked. */
  readonly request: string | null
  readonly service: Service
  readonly timeoutMs: number
}

/** A payment that is not taken: it waits for confirmations, or it is refused. */
type Unfit =
  | { readonly state: 'waiting'; readonly confirmations: number; readonly needed: number }
  | { readonly state: 'refused'; readonly fault: Fault }

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

/** Judging reads what is at risk and does not change it. */
interface JudgingContext extends Omit<PaymentContext, 'atRisk'> {
  readonly atRisk: Pick<ValueAtRisk, 'withOneMore'>
}

/** What the native rail judges its calls by. */
export interface CallContext extends PaymentContext {
  readonly shop: Shop
  readonly clock: Clock
}

/** A call of this rail. */
export type NativeOrder = Order<PaidCall, Identity>

/** How a payment without a claim stands. A good one counts as at risk from then on. */
export function judgeCall(context: CallContext, order: NativeOrder, hasWaited: boolean): Verdict<Claim, FinishedClaim> {
  const { shop, atRisk } = context
  const { asked, call, offer } = order
  const early = hasWaited ? null : shop.whyNotServed(offer, asked)
  if (early !== null && early.code !== 'service/unavailable') return told(early)
  const { serviceId, timeoutMs } = offer.definition
  const service = shop.record(serviceId)
  if (service === undefined) return told(fault('service/unavailable', { serviceId, reason: 'not published yet' }))
  const offered = { ...call, serviceId, agentId: shop.operator.agentId, service, timeoutMs }
  const verdict = judgePayment(context, offered)
  if (verdict.state === 'waiting') return { is: 'wait', why: unconfirmed(call.txId, verdict) }
  if (verdict.state === 'refused') return told(verdict.fault)
  const { escrow } = verdict
  if (shop.closedBecause !== null) return { is: 'wait', why: heldFault(call, shop.closedBecause, shop.hasEnded) }
  // Counted in this step, since the other calls that waited for this block are judged right after.
  atRisk.take(call.txId, escrow.minedAt, escrow.amount)
  // A wait ends at a later head, where the request may not fit any more.
  const cause = hasWaited ? shop.whyNotServed(offer, asked) : early
  if (cause !== null && cause.code !== 'service/unavailable') return told(cause)
  return { is: 'take', claim: newClaim(context, order, { escrow, service }), cause }
}

function told(cause: Fault): { readonly is: 'told'; readonly outcome: Result<never> } {
  return { is: 'told', outcome: fail(cause) }
}

/** The fault of a payment that is not deep enough, with the confirmations that it has and needs. */
export function unconfirmed(
  txId: TxId,
  { confirmations, needed }: { readonly confirmations: number; readonly needed: number },
): Fault {
  return fault('pay/unconfirmed', { txId, confirmations, needed })
}

function newClaim(
  { chain, clock }: CallContext,
  { call, offer }: NativeOrder,
  { escrow, service }: { readonly escrow: Escrow; readonly service: Service },
): Claim {
  const { txId, request, secret } = call
  const { serviceId } = offer.definition
  const epoch = epochOf(escrow.minedAt, chain.ruleBook.at(escrow.minedAt).market)
  return {
    state: 'claimed',
    txId,
    serviceId,
    requestHash: requestHash(serviceId, request),
    request,
    caller: escrow.caller,
    amount: escrow.amount.toString(),
    priceUsdMicros: priceInEpoch(service, epoch).toString(),
    opener: secret === null || !isBound(escrow) ? null : openerOf(secret),
    minedAt: escrow.minedAt,
    claimedAtMs: clock.now(),
  }
}

/** Judges a payment by this node's chain. Nothing is consumed. */
export function judgePayment(context: JudgingContext, offered: PaymentToJudge): PaymentVerdict {
  const open = openPayment(context, offered)
  if (open.state !== 'good') return open
  const wrong = checkAmount(context, open.escrow, offered) ?? checkLock(open.escrow, offered)
  return wrong === null ? checkDepth(context, open, offered) : refused(wrong)
}

/** Finds the open escrow of a payment for an agent's service. The amount is not checked. */
export function openPayment(
  { chain, sink, mined }: Pick<PaymentContext, 'chain' | 'sink' | 'mined'>,
  offered: PaidParties,
): PaymentVerdict {
  const { txId } = offered
  // No work begins during a reorganisation.
  if (chain.moving) return waiting(0, 1)
  const call = mined.find(txId)
  if (call === undefined) {
    const pending = sink.get(txId)
    if (pending === undefined) return refused(unseen(chain, txId))
    // A payment that will never fit is refused at once.
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

type PaidParties = Pick<PaymentToJudge, 'txId' | 'agentId' | 'serviceId'>

/** After a start from a snapshot the escrow is known, but not its block. Then the payer must not pay again. */
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

function refundText({ deadline }: Pick<Escrow, 'deadline'>): string {
  return `The escrow returns to the caller by itself at height ${deadline}.`
}

function repeatText(escrow: Pick<Escrow, 'deadline'>): string {
  return `Do not pay again: repeat the call with the one that was paid for. ${refundText(escrow)}`
}

/** The height at which the payment returns is known once it is mined. */
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

/** The fault of a call that was mined and failed, or null. */
export function checkOutcome(txId: TxId, { outcome }: MinedCall): Fault | null {
  if (outcome === OUTCOME_OK) return null
  return fault('pay/failed', { txId, outcome: outcomeCode(outcome) ?? `code ${outcome}` })
}

function checkAmount(
  context: Omit<PaymentContext, 'atRisk'>,
  escrow: Escrow,
  { txId, service }: PaymentToJudge,
): Fault | null {
  const prices = pricesHonouredAt(context, service, escrow.minedAt)
  if (prices.includes(escrow.amount)) return null
  return wrongAmount(context.chain, txId, escrow, [...new Set(prices)])
}

/**
 * Prices that an `agent_invoke` mined at `minedAt` may have paid: of its own epoch, or of the one before. An epoch in which the operator
 * quotes nothing has no price. Otherwise a payer that moves the pool out of the bounds could pay a price that was never offered.
 */
export function pricesHonouredAt(
  { chain, price, settings }: { chain: Chain; price: NativePriceSource; settings: PriceBounds },
  service: Service,
  minedAt: number,
): readonly Amount[] {
  const epoch = epochOf(minedAt, chain.ruleBook.at(minedAt).market)
  return (epoch > 0 ? [epoch, epoch - 1] : [epoch]).flatMap((each) =>
    notQuoted(price, settings, each) === null ? (priceIn(price, service, each) ?? []) : [],
  )
}

/** `wanted` is empty if nothing was quoted. */
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

/** A mismatch that the caller can correct: the payment then serves the call, and must not be made again. */
function correctable(txId: TxId, field: string, facts: Parameters<typeof mismatch>[2]): Fault {
  const { code, detail } = mismatch(txId, field, facts)
  return fault(code, { ...detail, correctable: true })
}

/** Without `refund` the fault says that the payment was taken for this call. */
export function wrongSecret(
  txId: TxId,
  refund = 'Do not pay again: the payment was taken for this call, whose answer comes with the secret that was paid with.',
): Fault {
  return correctable(txId, 'payment.secret', { got: 'another secret', expected: 'the secret of this payment', refund })
}

/**
 * The fault if a call does not open the lock and the commitment of an escrow, else null. A lock opens with the secret alone, a commitment
 * with secret and request. Readers of the chain know neither.
 */
export function checkLock(
  escrow: Escrow,
  { txId, secret, agentId, serviceId, request }: Omit<PaymentToJudge, 'service' | 'timeoutMs'>,
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
  { txId, timeoutMs }: Pick<PaymentToJudge, 'txId' | 'timeoutMs'>,
): PaymentVerdict {
  const { escrow } = open
  const { confirmations, needed } = depthOf(context, txId, escrow)
  const missing = Math.max(0, needed - confirmations)
  if (blocksToSpare(context.chain, escrow, timeoutMs) < missing) {
    return refused(fault('pay/too-late', { txId, deadline: escrow.deadline }))
  }
  return missing > 0 ? waiting(confirmations, needed) : open
}

/** Confirmations that a payment has, and that it needs by the value at risk in its block. */
export function depthOf(
  { chain, settings, atRisk }: Pick<JudgingContext, 'chain' | 'settings' | 'atRisk'>,
  txId: TxId,
  { minedAt, amount }: Escrow,
): { readonly confirmations: number; readonly needed: number } {
  const needed = confirmationsFor(atRisk.withOneMore(txId, minedAt, amount), settings)
  return { confirmations: chain.head.header.height - minedAt + 1, needed }
}

/** Blocks that may pass before the work must begin; negative if it is too late. */
export function blocksToSpare(chain: Chain, { deadline }: Escrow, timeoutMs: number): number {
  return deadline - chain.head.header.height - workBlocks(chain, timeoutMs) - RECEIPT_MARGIN_BLOCKS
}

/** To wait makes sense if the market opens again, and not if the node stops. */
function heldFault(call: { readonly txId: TxId; readonly serviceId: string }, reason: string, ended: boolean): Fault {
  const { txId, serviceId } = call
  return ended ? fault('service/unavailable', { serviceId, reason }) : fault('pay/held', { txId, reason })
}

function isBound({ redeemLock, requestCommitment }: Escrow): boolean {
  return redeemLock !== ZERO_HEX_32 || requestCommitment !== ZERO_HEX_32
}

/** A mined transaction and what became of it. */
export interface MinedCall {
  readonly blockId: BlockId
  readonly body: TxBody
  readonly outcome: number
}

const BLOCKS_KEPT = 8

/** The blocks read last are kept, since many calls ask for payments of the newest block at the same time. */
export class MinedCalls {
  readonly #chain: Chain
  readonly #blocks = new LruMap<BlockId, ReadonlyMap<TxId, MinedCall>>(BLOCKS_KEPT)

  constructor(chain: Chain) {
    this.#chain = chain
  }

  /** Undefined if the transaction is not mined on the best chain. */
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

/** A payment below this many blocks is deep enough for any value, and is forgotten. */
const FORGET_BLOCKS = 1_000

/** A payment that was taken for work. */
interface Taken {
  readonly amount: bigint
  readonly usdMicros: bigint
  readonly seller: string
}

/**
 * What a reorganisation of one block would take from a seller: the payments in the block that were taken for work. Other payments do
 * not count: they go back to their payers, and another party could otherwise make all calls of a block wait.
 */
export class ValueAtRisk {
  readonly #chain: Chain
  readonly #price: NativePriceSource
  readonly #taken = new Map<number, Map<TxId, Taken>>()
  /** Payments that a reorganisation took and no block holds, with the height that they had. */
  readonly #adrift = new Map<TxId, { readonly minedAt: number; readonly amount: bigint; readonly seller: string }>()

  constructor(chain: Chain, price: NativePriceSource) {
    this.#chain = chain
    this.#price = price
    chain.onMove((change, pacer) => runPaced(this.#move(change), pacer))
    chain.onHeadChange((change) => this.#pickUp(change))
  }

  /** Each of several sellers has a risk of its own. */
  take(txId: TxId, minedAt: number, amount: bigint, seller = ''): void {
    this.#place(txId, minedAt, { amount, seller })
    const oldest = this.#chain.head.header.height - FORGET_BLOCKS
    for (const height of this.#taken.keys()) if (height < oldest) this.#taken.delete(height)
    for (const [adrift, { minedAt: height }] of this.#adrift) if (height < oldest) this.#adrift.delete(adrift)
  }

  /** Millionths of a dollar at risk for a seller in a block if this payment is taken too. */
  withOneMore(txId: TxId, minedAt: number, amount: bigint, seller = ''): bigint {
    let sum = this.#usdMicros(minedAt, amount)
    for (const [other, taken] of this.#taken.get(minedAt) ?? [])
      if (other !== txId && taken.seller === seller) sum += taken.usdMicros
    return sum
  }

  #place(txId: TxId, minedAt: number, { amount, seller }: Pick<Taken, 'amount' | 'seller'>): void {
    this.#adrift.delete(txId)
    const block = this.#taken.get(minedAt) ?? new Map<TxId, Taken>()
    block.set(txId, { amount, seller, usdMicros: this.#usdMicros(minedAt, amount) })
    this.#taken.set(minedAt, block)
  }

  /** Moves the payments of unwound blocks, and those adrift, to the blocks of the new branch that hold them. */
  *#move({ disconnected }: HeadChange): Generator<void, void> {
    const lowest = disconnected.at(-1)?.header.height ?? Number.POSITIVE_INFINITY
    for (const [minedAt, block] of [...this.#taken].filter(([height]) => height >= lowest)) {
      this.#taken.delete(minedAt)
      for (const [txId, { amount, seller }] of block) this.#adrift.set(txId, { minedAt, amount, seller })
      yield
    }
    for (const [txId, adrift] of [...this.#adrift]) {
      const location = this.#chain.database.location(txId)
      if (location !== undefined) this.#place(txId, location.height, adrift)
      yield
    }
  }

  #pickUp({ connected, disconnected }: HeadChange): void {
    // In a reorganisation `#move` has placed them.
    if (this.#adrift.size === 0 || disconnected.length > 0) return
    for (const { id, header } of connected) {
      for (const { txId } of this.#chain.database.block(id)?.transactions ?? []) {
        const adrift = this.#adrift.get(txId)
        if (adrift !== undefined) this.#place(txId, header.height, adrift)
      }
    }
  }

  #usdMicros(minedAt: number, amount: bigint): bigint {
    const epoch = epochOf(minedAt, this.#chain.ruleBook.at(minedAt).market)
    // Without a price nothing is quoted. If the price is forgotten, the payment is deep enough.
    return this.#price.microsOfAmount(amount, epoch) ?? 0n
  }
}
