import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { type Closure, closureOf } from '../../marketplace/ledger/closures.ts'
import { ESCROWS } from '../../marketplace/ledger/escrow.ts'
import type { Claim } from '../../marketplace/till/rails/native/claim.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { REFUND, REQUEST_STATUS } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { addressText, coinNumber, moment } from '../json/chain-json.ts'
import type { MarketApi } from '../node/node-api.ts'

/** The API shows states and amounts of paid calls, never inputs or results. */
export interface RequestContext {
  readonly chain: ChainReader
  readonly market: MarketApi
}

/** State of one paid call. */
export function requestStatus({ chain, market }: RequestContext, claim: Claim): Static<typeof REQUEST_STATUS> {
  const { params } = chain.ruleBook
  const closure = closureOf(chain.database, claim.txId)
  const refund = claim.state === 'failed' ? refundOf({ chain, market }, claim) : null
  const expired = closure?.how === 'expired'
  return {
    id: claim.txId,
    txId: claim.txId,
    serviceId: claim.serviceId,
    caller: addressText(params.addressPrefix, claim.caller),
    amount: coinNumber(BigInt(claim.amount), params.decimals),
    asset: params.ticker,
    rail: 'native',
    status: statusOf(claim, closure !== undefined, expired),
    blockHeight: chain.database.location(claim.txId)?.height ?? null,
    createdAt: moment(claim.claimedAtMs),
    completedAt: 'finishedAtMs' in claim ? moment(claim.finishedAtMs) : null,
    refund,
    receiptTxId: closure?.receiptTxId ?? null,
  }
}

/** State of a failed call's refund. */
export function refundOf({ chain, market }: RequestContext, claim: Claim & { state: 'failed' }): Static<typeof REFUND> {
  const closure = closureOf(chain.database, claim.txId)
  const receiptTxId = closure?.receiptTxId ?? receiptInFlight(market, claim.txId)
  return refundJson(chain, claim.txId, {
    status: closure !== undefined ? 'confirmed' : receiptTxId === null ? 'pending' : 'broadcast',
    amount: BigInt(claim.amount),
    to: claim.caller,
    txId: receiptTxId,
    reason: httpFault(claim.reason).api,
  })
}

function refundJson(
  { ruleBook: { params } }: ChainReader,
  paymentId: TxId,
  refund: { status: Static<typeof REFUND>['status']; amount: bigint; to: string; txId: TxId | null; reason: string },
): Static<typeof REFUND> {
  const { status, amount, to, txId, reason } = refund
  return {
    status,
    amount: coinNumber(amount, params.decimals),
    asset: params.ticker,
    to: addressText(params.addressPrefix, to),
    txId,
    reason,
    statusUrl: `/api/x402/requests/${paymentId}`,
  }
}

/** From the chain alone, for a payment without a claim here; undefined if the chain shows no payment to this agent. */
export function unredeemedStatus(
  { chain, market }: RequestContext,
  txId: TxId,
): Static<typeof REQUEST_STATUS> | undefined {
  const { params } = chain.ruleBook
  const invoke = minedInvoke(chain, txId)
  if (invoke === undefined || invoke.payload.agentId !== market.shop.operator.agentId) return undefined
  const closure = closureOf(chain.database, txId)
  // The escrow is neither open nor closed, so the transaction failed and never was a payment.
  if (closure === undefined && chain.database.get(ESCROWS, txId) === undefined) return undefined
  const { payload, sender, height } = invoke
  const refunded = closure !== undefined && closure.how !== 'delivered'
  return {
    id: txId,
    txId,
    serviceId: payload.serviceId,
    caller: addressText(params.addressPrefix, sender),
    amount: coinNumber(payload.amount, params.decimals),
    asset: params.ticker,
    rail: 'native',
    status: closure === undefined ? 'paid' : refunded ? 'refunded' : 'completed',
    blockHeight: height,
    createdAt: moment(blockTime(chain, height)),
    completedAt: closure === undefined ? null : moment(blockTime(chain, closure.height)),
    refund: refunded ? closedRefund(chain, txId, { closure, amount: payload.amount, to: sender }) : null,
    receiptTxId: closure?.receiptTxId ?? null,
  }
}

function minedInvoke({ database }: ChainReader, txId: TxId) {
  const location = database.location(txId)
  const blockId = location === undefined ? undefined : database.idAt(location.height)
  if (location === undefined || blockId === undefined) return undefined
  const body = database.bodyAt(blockId, location.index)
  return body?.kind === 'agent_invoke' ? { ...body, height: location.height } : undefined
}

function closedRefund(
  chain: ChainReader,
  paymentId: TxId,
  { closure, amount, to }: { closure: Closure; amount: bigint; to: string },
): Static<typeof REFUND> {
  const reason = httpFault(closure.how === 'expired' ? 'pay/too-late' : 'service/failed').api
  return refundJson(chain, paymentId, { status: 'confirmed', amount, to, txId: closure.receiptTxId, reason })
}

function blockTime({ database, head }: ChainReader, height: number): number {
  const id = database.idAt(height)
  return (id === undefined ? head : (database.entry(id) ?? head)).header.timeMs
}

function statusOf(claim: Claim, closed: boolean, expired: boolean): string {
  switch (claim.state) {
    case 'claimed':
      return 'paid'
    case 'executing':
      return 'executing'
    case 'delivered':
      return expired ? 'refunded' : 'completed'
    default:
      return closed ? 'refunded' : 'refund_pending'
  }
}

function receiptInFlight({ sender }: MarketApi, txId: TxId): TxId | null {
  const waiting = sender.waiting.find(
    ({ body }) => body.kind === 'agent_receipt' && body.payload.entries.some((entry) => entry.txId === txId),
  )
  return waiting?.txId ?? null
}
