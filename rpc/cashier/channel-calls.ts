import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { unlessAway } from '../../marketplace/till/claim-store.ts'
import {
  depositAnswer,
  failedAnswer,
  refundAnswer,
  voucherAnswer,
} from '../../marketplace/till/rails/dollar/channel/answers.ts'
import { besideOf } from '../../marketplace/till/rails/dollar/channel/call.ts'
import type { ChannelPayment, ChannelPaymentOf } from '../../marketplace/till/rails/dollar/channel/channel.ts'
import { correctiveExtra } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import { channelStateJson } from '../../marketplace/till/rails/dollar/channel/wire.ts'
import { channelWord } from '../../marketplace/till/rails/dollar/channel/words.ts'
import { dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { AnsweredTabRow } from '../../marketplace/till/rails/tab/tab-store.ts'
import { httpFault } from '../contract/http-faults.ts'
import { moment } from '../json/chain-json.ts'
import { tabReceiptJson } from '../json/tab-json.ts'
import type { ChannelDesk } from '../node/channel-desk.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { CallOutcome, CallRoom, PaidCallRequest, Settlement } from './paid-call.ts'

type Refused = Extract<CallOutcome, { is: 'refused' }>

/** Refusals of a refund after which official clients sign again; all others must end their request. */
const CORRECTIVE: ReadonlySet<string> = new Set(['channel/ceiling', 'channel/claimed'])

/** Carries out a call that is paid from a channel of an EVM network, or the wish to get back what is left in it. */
export async function payFromChannel(
  { market }: CallRoom,
  { offer, request, client: from }: PaidCallRequest,
  payment: ChannelPayment,
): Promise<CallOutcome> {
  const desk = deskOf(market)
  if (payment.kind === 'refund') return refundChannel(desk, payment, from)
  const outcome = await desk.settle({ serviceId: offer.definition.serviceId, request, payment, from })
  if (!outcome.ok) return refused(desk, { payment, from }, outcome.fault)
  const { claim, replayed } = outcome.value
  const settlement = await settlementOf(desk, { payment, from }, claim)
  const receipt = receiptOf(desk, claim)
  if (claim.state === 'failed') {
    const message = `${(claim.message ?? 'the service failed').replace(/\.$/, '')}. Nothing was charged to the channel.`
    return { is: 'failed', code: claim.reason ?? 'service/failed', message, told: { receipt }, settlement, replayed }
  }
  if (claim.result === null) {
    const gone = fault('tabcall/result-expired', { tabId: claim.tabId, seq: claim.seq })
    return { is: 'refused', fault: gone, charged: null, settlement, rail: 'channel', corrective: null }
  }
  return { is: 'paid', result: claim.result, receipt, settlement, replayed, sent: () => void desk.handedOver(claim) }
}

interface Asked<P extends ChannelPayment = ChannelPayment> {
  readonly payment: P
  readonly from: Holder
}

async function refundChannel(
  desk: ChannelDesk,
  payment: ChannelPaymentOf<'refund'>,
  from: Holder,
): Promise<CallOutcome> {
  const { channelId } = payment.voucher
  const done = await desk.refund(payment, from)
  if (!done.ok) {
    const said = await refused(desk, { payment, from }, done.fault)
    if (CORRECTIVE.has(done.fault.code)) return said
    const reason = channelWord(done.fault) ?? faultMessage(done.fault)
    return { ...said, settlement: failedAnswer(desk.terms.network.caip2, reason) as unknown as Settlement }
  }
  const { charged, state, amount, transaction } = done.value
  const standing = { channelId, state, charged }
  const basis = { network: desk.terms.network.caip2, payer: payment.config.payer, standing }
  const settlement = refundAnswer(basis, { amount, transaction }) as unknown as Settlement
  const told = { refunded: amount.toString(), channelId, transaction, channelState: channelStateJson(standing) }
  return { is: 'closing', told, settlement }
}

/** How the channel stands is told only to its payer. */
async function refused(desk: ChannelDesk, { payment, from }: Asked, cause: Fault): Promise<Refused> {
  const refusal = { is: 'refused', fault: cause, charged: null, settlement: null, rail: 'channel' } as const
  const isShown = httpFault(cause.code).status === 402 && !desk.isEnding && desk.isOfPayer(payment)
  const view = isShown ? await unlessAway(() => desk.viewOf(payment, from)) : null
  return { ...refusal, corrective: view?.ok === true ? correctiveExtra(view.value.standing, view.value.last) : null }
}

async function settlementOf(
  desk: ChannelDesk,
  { payment, from }: Asked,
  { receipt: { receipt }, voucher }: AnsweredTabRow,
): Promise<Settlement> {
  // An answer that is paid for leaves also while the chain or the store is away.
  const view = await unlessAway(() => desk.viewOf(payment, from))
  // A client adds up what it was charged, so each answer has the total after its own call.
  const standing = view.ok ? { ...view.value.standing, charged: receipt.cumulative } : null
  const basis = { network: desk.terms.network.caip2, payer: payment.config.payer, standing }
  const { deposit } = besideOf(voucher)
  const said =
    deposit === undefined
      ? voucherAnswer(basis, receipt.charged)
      : depositAnswer(basis, receipt.charged, { ...deposit, amount: BigInt(deposit.amount) })
  return said as unknown as Settlement
}

/** `txId` is the id of the channel. */
function receiptOf({ terms: { asset, network } }: ChannelDesk, claim: AnsweredTabRow): object {
  const { receipt } = claim.receipt
  return {
    serviceId: claim.serviceId,
    caller: claim.caller,
    amount: dollarsOf(asset, receipt.charged),
    txId: claim.tabId satisfies TxId,
    rail: 'channel',
    asset: asset.symbol,
    amountBaseUnits: receipt.charged.toString(),
    network: network.word,
    resultHash: receipt.resultHash,
    requestHash: claim.requestHash,
    durationMs: receipt.durationMs,
    completedAt: moment(claim.finishedAtMs),
    tab: tabReceiptJson(claim.receipt),
  }
}

/** A payment from a channel is read only where there is a desk for it. */
function deskOf({ channels }: MarketApi): ChannelDesk {
  return channels as ChannelDesk
}
