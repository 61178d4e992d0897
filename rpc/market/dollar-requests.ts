import type { ClaimPage } from '../../marketplace/till/claim-store.ts'
import type { DollarClaim, DollarIn } from '../../marketplace/till/rails/dollar/claim.ts'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { Claim } from '../../marketplace/till/rails/native/claim.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { REFUND, REQUEST_STATUS } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { moment } from '../json/chain-json.ts'
import type { MarketApi } from '../node/node-api.ts'

/** A claim of either rail. */
export type AnyClaim = Claim | DollarClaim

/** Whether a claim is of the native rail. */
export function isNative(claim: AnyClaim): claim is Claim {
  return 'txId' in claim
}

/** Which calls are listed, how many at most, and where their page begins. */
export interface RequestsWindow {
  readonly limit: number
  readonly cursor: string | null
  readonly serviceId: string | undefined
}

/** Newest first. One cursor continues both rails. */
export async function recentOfBoth(
  { store, stable }: MarketApi,
  { limit, cursor, serviceId }: RequestsWindow,
): Promise<ClaimPage<AnyClaim>> {
  const native = store.recent(limit, cursor, serviceId)
  if (stable === null) return native
  const pages = await Promise.all([native, stable.store.recent(limit, cursor, serviceId)])
  // A page that has a next one lacks the older calls of its rail. So the joint page ends with the newest such end.
  const ends = pages.flatMap(({ nextCursor }) => nextCursor ?? []).sort()
  const end = ends.at(-1) ?? null
  const keyed = pages
    .flatMap(({ claims }): readonly AnyClaim[] => claims)
    .map((claim) => ({ claim, key: placeOf(claim) }))
    .sort((a, b) => (a.key < b.key ? 1 : -1))
  const whole = keyed.filter(({ key }) => end === null || key >= end)
  const taken = whole.slice(0, limit)
  const nextCursor = whole.length > limit ? (taken.at(-1)?.key ?? null) : end
  return { claims: taken.map(({ claim }) => claim), nextCursor }
}

/** Sort key of a claim in the listings of every store. */
function placeOf(claim: AnyClaim): string {
  return `${String(claim.claimedAtMs).padStart(15, '0')}/${isNative(claim) ? claim.txId : claim.id}`
}

/** State of one call of the dollar rail, without its input and result. */
export function dollarStatus({ terms }: DollarRail, claim: DollarClaim): Static<typeof REQUEST_STATUS> {
  return {
    id: claim.id,
    txId: 'transaction' in claim ? claim.transaction : null,
    serviceId: claim.serviceId,
    caller: claim.payer,
    amount: dollarsOf(terms.asset, BigInt(claim.amount)),
    asset: terms.asset.symbol,
    rail: 'stable',
    network: claim.network,
    status: statusOf(claim),
    blockHeight: null,
    createdAt: moment(claim.claimedAtMs),
    completedAt: endOf(claim),
    refund: claim.state === 'owed' ? refundOf(terms, claim) : null,
    receiptTxId: null,
  }
}

function statusOf(claim: DollarClaim): string {
  switch (claim.state) {
    case 'claimed':
      return 'paid'
    case 'executing':
    case 'settling':
      return 'executing'
    case 'settled':
      return 'completed'
    case 'unpaid':
      return 'failed'
    default:
      return claim.refund.status === 'paid' ? 'refunded' : 'refund_pending'
  }
}

function endOf(claim: DollarClaim): string | null {
  if (claim.state === 'settled') return moment(claim.settledAtMs)
  return claim.state === 'unpaid' ? moment(claim.endedAtMs) : null
}

const REFUND_STATUS = { owed: 'pending', sent: 'broadcast', paid: 'confirmed' } as const

function refundOf(
  { asset }: DollarRail['terms'],
  { id, amount, payer, reason, refund }: DollarIn<'owed'>,
): Static<typeof REFUND> {
  return {
    status: REFUND_STATUS[refund.status],
    amount: dollarsOf(asset, BigInt(amount)),
    asset: asset.symbol,
    to: payer,
    txId: refund.transaction,
    reason: httpFault(reason).api,
    statusUrl: `/api/x402/requests/${id}`,
  }
}
