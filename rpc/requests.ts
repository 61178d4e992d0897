import type { Chain } from '../consensus/chain/chain.ts'
import { faultRow } from '../consensus/primitives/fault.ts'
import type { TxId } from '../consensus/primitives/ids.ts'
import type { Claim } from '../marketplace/checkout/claim.ts'
import { closureOf } from '../marketplace/ledger/closures.ts'
import { ESCROWS } from '../marketplace/ledger/escrow.ts'
import { addressText, coinNumber, moment } from './json.ts'
import type { MarketApi } from './node.ts'

/** Paid calls as the API lists them: states and amounts, never inputs or results. */
export interface RequestContext {
  readonly chain: Chain
  readonly market: MarketApi
}

/** State of one paid call. */
export function requestStatus({ chain, market }: RequestContext, claim: Claim): object {
  const { params } = chain.ruleBook
  const closure = closureOf(chain.database, claim.txId)
  const refund = claim.state === 'failed' ? refundOf({ chain, market }, claim) : null
  const expired = closure?.how === 'expired'
  return {
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

/** Where the refund of a failed call stands. */
export function refundOf({ chain, market }: RequestContext, claim: Claim & { state: 'failed' }): object {
  const { params } = chain.ruleBook
  const closure = closureOf(chain.database, claim.txId)
  const receiptTxId = closure?.receiptTxId ?? receiptInFlight(market, claim.txId)
  return {
    status: closure !== undefined ? 'confirmed' : receiptTxId === null ? 'pending' : 'broadcast',
    amount: coinNumber(BigInt(claim.amount), params.decimals),
    asset: params.ticker,
    to: addressText(params.addressPrefix, claim.caller),
    txId: receiptTxId,
    reason: faultRow(claim.reason).api,
    statusUrl: `/api/x402/requests/${claim.txId}`,
  }
}

/** State of a payment that nobody redeemed, known from the chain alone; undefined if it is none of ours. */
export function unredeemedStatus({ chain, market }: RequestContext, txId: TxId): object | undefined {
  const { params } = chain.ruleBook
  const escrow = chain.database.get(ESCROWS, txId)
  if (escrow === undefined || escrow.agentId !== market.shop.operator.agentId) return undefined
  return {
    txId,
    serviceId: escrow.serviceId,
    caller: addressText(params.addressPrefix, escrow.caller),
    amount: coinNumber(escrow.amount, params.decimals),
    asset: params.ticker,
    rail: 'native',
    status: 'paid',
    blockHeight: escrow.minedAt,
    createdAt: moment(blockTime(chain, escrow.minedAt)),
    completedAt: null,
    refund: null,
    receiptTxId: null,
  }
}

function blockTime({ database, head }: Chain, height: number): number {
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
