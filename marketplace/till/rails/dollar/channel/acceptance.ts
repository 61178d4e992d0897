import type { Chain } from '../../../../../consensus/chain/chain.ts'
import type { Clock } from '../../../../../consensus/chain/ports.ts'
import { amount } from '../../../../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import type { Shop } from '../../../shop.ts'
import { nextSeqIn } from '../../tab/acceptance.ts'
import { UNCHARGED } from '../../tab/settings.ts'
import type { ReservedTabCall, TabRow, TabStore } from '../../tab/tab-store.ts'
import { honouredPrices } from '../intake.ts'
import { dollarAmount } from '../terms.ts'
import type { BesideVoucher, ChannelOrder } from './call.ts'
import type { ChannelState } from './channel.ts'
import { checkCeiling, checkChannel, checkDeposit, offeredAmount, unclaimedMost } from './checks.ts'
import { busy, chargedOf, type Funding, isInUse } from './funding.ts'
import type { ChannelTerms } from './terms.ts'

/** How long a channel waits for each free call beyond those that are borne. */
const FREE_CALL_MS = 10 * 60_000

/** What calls on channels are judged by. */
export interface AcceptanceParts {
  readonly chain: Chain
  readonly shop: Shop
  readonly store: Pick<TabStore, 'peek'>
  readonly clock: Clock
  readonly terms: ChannelTerms
  readonly funding: Pick<Funding, 'isBusy'>
  /** The most that may be charged on one channel and not claimed, in units. */
  readonly unclaimedMax: bigint
}

/** What a call costs at most. */
export interface ChannelPrice {
  readonly amount: bigint
  readonly priceUsdMicros: bigint
}

/** How a channel stands when a call of it is judged. */
export interface JudgedChannel {
  readonly price: ChannelPrice
  readonly state: ChannelState
  /** Whether the deposit of the call still has to be moved. */
  readonly hasDeposit: boolean
}

/** What the call costs, if it fits an offer of this seller and can be served now. The chain is not asked. */
export function pricedCall(parts: AcceptanceParts, { call, offer, asked }: ChannelOrder): Result<ChannelPrice> {
  const { chain, shop, clock, terms } = parts
  const { serviceId } = offer.definition
  const standing = shop.readiness(offer)
  if (!standing.available) return fail(fault('service/unavailable', { serviceId, reason: standing.reason }))
  const unfit = asked.faultNow(shop.context)
  if (unfit !== null) return fail(unfit)
  const basis = { nowMs: clock.now(), seconds: terms.maxTimeoutSeconds }
  const prices = honouredPrices(chain, standing.service, basis)
  const amounts = prices.map((price) => dollarAmount(terms.asset, price)) as [bigint, ...bigint[]]
  const offered = offeredAmount(call.payment, terms, amounts)
  if (!offered.ok) return offered
  const foreign = checkChannel(call.payment, terms)
  if (foreign !== null) return fail(foreign)
  const priceUsdMicros = prices[amounts.indexOf(offered.value)] as bigint
  return ok({ amount: offered.value, priceUsdMicros })
}

/** Why a call is not taken, now that the state of its channel is known; null if it is. */
export function whyNotTaken(
  parts: AcceptanceParts,
  { call: { payment }, identity, offer }: ChannelOrder,
  { price, state, hasDeposit }: JudgedChannel,
): Fault | null {
  const { store, clock, terms, funding, unclaimedMax } = parts
  const { channelId } = identity
  const row = store.peek(channelId)
  if (funding.isBusy(channelId) || isInUse(row)) return busy(channelId)
  const free = whyTooMany(row, clock.now())
  if (free !== null) return free
  const wrong = hasDeposit && payment.kind === 'deposit' ? checkDeposit(payment, terms, clock.now()) : null
  if (wrong !== null) return wrong
  const charged = chargedOf(row, state)
  const asVoucher = { ...payment, kind: 'voucher' as const }
  const ceiling = checkCeiling(hasDeposit ? payment : asVoucher, { charged, amount: price.amount, state })
  if (ceiling !== null) return ceiling
  const unclaimed = charged - state.totalClaimed
  if (unclaimed === 0n || unclaimed + price.amount <= unclaimedMost(payment, terms, unclaimedMax)) return null
  const reason = 'what was charged on this channel has to be claimed first; try again in some minutes'
  return fault('service/unavailable', { serviceId: offer.definition.serviceId, reason })
}

/** A call that fails is free, and what is written of it stays. So a channel has only so many of them, as a tab. */
function whyTooMany(row: TabRow | undefined, nowMs: number): Fault | null {
  if (row === undefined) return null
  const { tabId, receipts, uncharged, lastReceipt } = row
  const most = UNCHARGED.atFirst + UNCHARGED.perCharged * (receipts - uncharged)
  if (uncharged <= most || nowMs - (lastReceipt?.receipt.timeMs ?? 0) >= FREE_CALL_MS) return null
  return fault('tabcall/too-many-failed', { tabId, failed: uncharged, most })
}

/** What is written of a call that is taken. */
export function newChannelCall(
  { call, identity, offer }: ChannelOrder,
  {
    row,
    price,
    deposit,
    nowMs,
  }: {
    readonly row: TabRow | undefined
    readonly price: ChannelPrice
    readonly deposit: BesideVoucher['deposit']
    readonly nowMs: number
  },
): ReservedTabCall {
  const { payment, request } = call
  const { serviceId, repeatable } = offer.definition
  const seq = nextSeqIn(row)
  const { maxClaimable, signature } = payment.voucher
  return {
    state: 'claimed',
    tabId: identity.channelId as TxId,
    seq,
    serviceId,
    request,
    requestHash: identity.context,
    caller: payment.config.payer,
    voucher: {
      seq,
      ceiling: amount(maxClaimable),
      context: identity.context,
      signature,
      beside: { config: payment.config, deposit } satisfies BesideVoucher,
    },
    price: price.amount.toString(),
    priceUsdMicros: price.priceUsdMicros.toString(),
    isRepeatable: repeatable,
    claimedAtMs: nowMs,
  }
}
