import { isHex } from '../../../../consensus/primitives/bytes.ts'
import { AGENT_ID, SERVICE_ID } from '../../../../consensus/primitives/ids.ts'
import { fieldsOf, textOf } from '../../http.ts'
import { isHeight } from '../../node-client.ts'
import type { NetworkFacts } from '../shapes.ts'
import { isUint32, isUnits, readReceipt } from './tab-receipts.ts'
import type { CallNote, TabReceiptJson } from './tab-types.ts'

type Fields = Readonly<Record<string, unknown>>

/** Scheme of tabs in x402. Channels of other chains have it too, so the network counts as well. */
export const TAB_SCHEME_WORD = 'batch-settlement'
/** Calls in flight where a seller says nothing. */
const IN_FLIGHT_DEFAULT = 8

/** Where a tab stands, by the seller's unproven word. */
export interface SaidState {
  readonly deposit: bigint
  readonly charged: bigint
  readonly receipts: number
  readonly nextSeq: number
  /** The highest voucher that the seller says it holds. */
  readonly voucher: SaidVoucher | null
  readonly lastReceipt: TabReceiptJson | null
}

/** A voucher that a seller shows. */
export interface SaidVoucher {
  readonly seq: number
  readonly ceiling: bigint
  readonly context: string
  readonly signature: string
}

/** The tab option of x402 terms. Nothing in it is trusted. */
export interface TabOffer {
  readonly amount: bigint
  readonly agentId: string
  readonly serviceId: string
  readonly payTo: string
  readonly receiptKey: string
  readonly validUntil: number
  readonly inFlight: number
  readonly usd: number | null
  readonly genesis: string | null
  readonly available: boolean
  readonly unavailableReason: string | null
  readonly offer: Fields
  /** In a corrective answer. */
  readonly state: SaidState | null
}

/** The tab option for this network in x402 terms of version 1 or 2. Undefined if there is none that this client understands. */
export function readTabOffer({ accepts, offers }: Fields, facts: NetworkFacts): TabOffer | undefined {
  const all = [accepts, offers].flatMap((list) => (Array.isArray(list) ? list.map(fieldsOf) : []))
  const offer = all.find((each) => isTabOffer(each, facts))
  if (offer === undefined) return undefined
  const extra = fieldsOf(offer.extra)
  const { agentId, serviceId, receiverAuthorizer, validUntil, priceUsd, inFlight } = extra
  const amount = amountOf(offer)
  if (amount === undefined || typeof agentId !== 'string' || !AGENT_ID.test(agentId)) return undefined
  if (typeof serviceId !== 'string' || !SERVICE_ID.test(serviceId) || !isHeight(validUntil)) return undefined
  const isOffered = extra.available !== false
  return {
    ...{ amount, agentId, serviceId, validUntil, offer },
    payTo: textOf(offer.payTo, ''),
    receiptKey: textOf(receiverAuthorizer, ''),
    inFlight: isUint32(inFlight) && inFlight > 0 ? inFlight : IN_FLIGHT_DEFAULT,
    usd: typeof priceUsd === 'number' && Number.isFinite(priceUsd) && priceUsd > 0 ? priceUsd : null,
    genesis: typeof extra.genesis === 'string' ? extra.genesis : null,
    available: isOffered,
    unavailableReason: isOffered ? null : textOf(extra.unavailableReason, 'no reason given'),
    state: readState(extra),
  }
}

/** Whether an option is of tabs on this network. */
export function isTabOffer({ scheme, network }: Fields, { name, chainId }: NetworkFacts): boolean {
  return scheme === TAB_SCHEME_WORD && (network === `farthing:${chainId}` || network === name || network === 'mainnet')
}

/** If both names of the amount are there and differ, a caller could judge one price and pay the other. */
function amountOf({ maxAmountRequired, amount }: Fields): bigint | undefined {
  const isTwofold = isUnits(maxAmountRequired) && isUnits(amount) && maxAmountRequired !== amount
  const told = isUnits(maxAmountRequired) ? maxAmountRequired : amount
  return isTwofold || !isUnits(told) || told === '0' ? undefined : BigInt(told)
}

/** The state in `extra` of a corrective answer, or in the answer of a query. Null if there is none, or an unusable one. */
export function readState({ channelState, voucherState, lastReceipt }: Fields): SaidState | null {
  const { balance, chargedCumulativeAmount: charged, receipts, nextSeq } = fieldsOf(channelState)
  if (!isUnits(balance) || !isUnits(charged) || !isUint32(receipts) || !isUint32(nextSeq)) return null
  const numbers = { deposit: BigInt(balance), charged: BigInt(charged), receipts, nextSeq }
  return { ...numbers, voucher: readVoucher(fieldsOf(voucherState)), lastReceipt: readReceipt(lastReceipt) ?? null }
}

function readVoucher({ seq, maxClaimableAmount: ceiling, context, signature }: Fields): SaidVoucher | null {
  if (!isUint32(seq) || !isUnits(ceiling)) return null
  if (typeof context !== 'string' || !isHex(context, 32)) return null
  if (typeof signature !== 'string' || !isHex(signature, 64)) return null
  return { seq, ceiling: BigInt(ceiling), context, signature }
}

/** The price of the next call, if the answer names one, and the last height at which it is honoured. */
export function nextPriceIn(settled: Fields): { readonly amount: bigint; readonly validUntil: number } | null {
  const { amount, validUntil } = fieldsOf(fieldsOf(settled.extra).next)
  return isUnits(amount) && amount !== '0' && isHeight(validUntil) ? { amount: BigInt(amount), validUntil } : null
}

/** What stands in `payload` of a call's payment. It has always the same bytes, so a call can be asked again. */
export function voucherPayload(call: CallNote): Fields {
  const { tabId, seq, ceiling, secret, signature, transaction, lastReceipt } = call
  const voucher = { seq, maxClaimableAmount: ceiling, secret, signature }
  const kind = transaction === null ? { type: 'voucher' } : { type: 'deposit', transaction }
  return { ...kind, channelId: tabId, voucher, ...(lastReceipt === undefined ? {} : { lastReceipt }) }
}

/** A payment of x402 version 2 for the scheme of tabs. */
export function tabPayment(payload: Fields, { chainId }: NetworkFacts): Fields {
  return { x402Version: 2, accepted: { scheme: TAB_SCHEME_WORD, network: `farthing:${chainId}` }, payload }
}
