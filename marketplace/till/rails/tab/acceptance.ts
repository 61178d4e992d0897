import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { SignatureBackend } from '../../../../consensus/crypto/hybrid.ts'
import { TAB_SCHEME, verifyTabSignature } from '../../../../consensus/crypto/tab-signing.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { fail } from '../../../../consensus/primitives/result.ts'
import { requestHash } from '../../../../consensus/tx/request-hash.ts'
import { voucherMessage } from '../../../../consensus/tx/tab-messages.ts'
import type { TxBody } from '../../../../consensus/tx/transaction.ts'
import { TABS, type Tab } from '../../../ledger/tab-records.ts'
import type { Identity, Order, Verdict } from '../../rail.ts'
import type { Shop, TransactionSink } from '../../shop.ts'
import { workBlocks } from '../native/quote.ts'
import type { BadVouchers } from './bad-vouchers.ts'
import type { Deposits } from './deposits.ts'
import { NEW_WINDOW, nextSeqOf, standingOf } from './seq-window.ts'
import { TAB_IN_FLIGHT_MAX, TAB_MARGIN_BLOCKS, UNCHARGED } from './settings.ts'
import type { HeldVoucher, TabPaidCall } from './tab-call.ts'
import { type PriceInForce, priceOfRequest, type TabPrices } from './tab-price.ts'
import type { AnsweredTabRow, ReservedTabCall, TabCallRow, TabRow, TabStore } from './tab-store.ts'
import type { VoucherChecks } from './voucher-checks.ts'

/** What is compared between a call on a tab and a call in the store. */
export interface TabIdentity extends Identity {
  /** The request commitment of the call, which its voucher signs. */
  readonly context: Hash
}

/** A call of this rail. */
export type TabOrder = Order<TabPaidCall, TabIdentity>

/** What calls on tabs are judged by. */
export interface AcceptanceParts {
  readonly chain: Chain
  readonly shop: Shop
  readonly sink: Pick<TransactionSink, 'get' | 'ofAccount'>
  readonly store: Pick<TabStore, 'peek'>
  readonly clock: Clock
  readonly backend: Pick<SignatureBackend, 'verifyEd25519'>
  /** Public key by which this seller signs receipts. */
  readonly receiptKey: Hash
  readonly prices: TabPrices
  readonly deposits: Deposits
  readonly bad: BadVouchers
  readonly checks: Pick<VoucherChecks, 'verdictOn'>
  /** Calls on a tab that this process works on. */
  readonly underWay: (tabId: TxId) => number
}

type TabVerdict = Verdict<TabCallRow, AnsweredTabRow>

/** The voucher of a call as it is kept. */
export function heldVoucher({ call, identity }: Pick<TabOrder, 'call' | 'identity'>): HeldVoucher {
  const { seq, ceiling, signature } = call.payment.voucher
  return { seq, ceiling, context: identity.context, signature: toHex(signature) }
}

/**
 * How a call stands whose number is not taken. What the chain shows is told to anyone; what the seller knows of the tab only to its payer,
 * so the signature comes before that, and the request last.
 */
export function judgeTabCall(parts: AcceptanceParts, order: TabOrder): TabVerdict {
  const { call, offer, asked } = order
  const { tabId, transaction } = call.payment
  const { chain, shop, store } = parts
  // No work begins during a reorganisation.
  if (chain.moving) return { is: 'wait', why: unconfirmed(tabId, 0, 1) }
  const deposit = transaction === null ? null : awaited(parts, tabId, transaction)
  if (deposit !== null) return deposit
  const tab = chain.database.get(TABS, tabId)
  if (tab === undefined) return told(fault('tabcall/unknown', { tabId }))
  const row = store.peek(tabId)
  const known = { tabId, tab, row }
  const unfit =
    whyNoTab(parts, known, offer.definition.timeoutMs) ??
    whyNotSigned(parts, order) ??
    whyTooMany(parts, known) ??
    whyNoSeq(order, row)
  if (unfit !== null) return told(unfit)
  const { serviceId } = offer.definition
  const perCall = parts.prices.inForce(serviceId)
  if (perCall === null) return told(fault('service/unavailable', { serviceId, reason: reasonOf(parts, order) }))
  const price = priceOfRequest(perCall, offer.definition, asked.input)
  const { charged = 0n, reserved = 0n } = row ?? {}
  const used = (tab.claimed > charged ? tab.claimed : charged) + reserved
  const sum = used + price.amount
  const short = whyTooLow(order, { tab, row, sum })
  if (short !== null) return told(short)
  const limit = parts.deposits.limitOf(tabId, tab, sum)
  if (sum > limit.most) {
    const why = unconfirmed(tabId, limit.confirmations, limit.needed)
    return transaction === null ? told(why) : { is: 'wait', why }
  }
  const refused = shop.whyNotServed(offer, asked)
  if (refused !== null) return told(refused)
  if (used - tab.claimed >= parts.deposits.unclaimedMost)
    return { is: 'wait', why: fault('tabcall/unclaimed', { tabId }) }
  // Counted in this step, since other calls that waited for this block are judged right after.
  parts.deposits.take(tabId, tab, sum)
  return { is: 'take', claim: newCall(parts, order, { tab, price }) }
}

/** A tab as the chain and the store have it. */
export interface KnownTab {
  readonly tabId: TxId
  readonly tab: Tab
  readonly row: TabRow | undefined
}

/** Why no call on a tab is taken, whatever the call is; null if calls are taken. */
export function whyNoTab(
  { chain, shop, sink, receiptKey }: Pick<AcceptanceParts, 'chain' | 'shop' | 'sink' | 'receiptKey'>,
  { tabId, tab, row }: KnownTab,
  timeoutMs: number,
): Fault | null {
  const { agentId } = shop.operator
  if (tab.agentId !== agentId) return fault('tabcall/foreign', { tabId, got: tab.agentId, expected: agentId })
  if (tab.receiptKey !== receiptKey) return fault('tabcall/receipt-key', { tabId })
  if (tab.scheme !== TAB_SCHEME) return fault('tabcall/scheme', { tabId })
  const closes = ({ body }: { readonly body: TxBody }): boolean =>
    body.kind === 'tab_close' && body.payload.tabId === tabId
  const isClosing = tab.closesAt !== 0 || sink.ofAccount(tab.payer).some(closes)
  if (isClosing || (row !== undefined && (row.refundAskedAtMs !== null || row.endedAtMs !== null)))
    return fault('tabcall/closing', { tabId })
  const margin = TAB_MARGIN_BLOCKS + workBlocks(chain, timeoutMs)
  if (chain.head.header.height >= tab.expiresAt - margin)
    return fault('tabcall/expiring', { tabId, dueAt: tab.expiresAt })
  const lost = row?.lostReceipt ?? 0
  return lost > tab.receipts ? fault('tabcall/rolled-back', { tabId, receipt: lost }) : null
}

/** Why a tab takes no more calls for now: too many are under way, or were free. */
function whyTooMany({ chain: { head }, underWay }: AcceptanceParts, { tabId, tab, row }: KnownTab): Fault | null {
  if (underWay(tabId) >= TAB_IN_FLIGHT_MAX) return fault('tabcall/in-flight', { tabId, most: TAB_IN_FLIGHT_MAX })
  const { receipts = 0, uncharged = 0 } = row ?? {}
  const { atFirst, perCharged, blocksEach } = UNCHARGED
  const byAge = Math.floor((head.header.height - tab.openedAt) / blocksEach)
  const most = atFirst + perCharged * (receipts - uncharged) + byAge
  return uncharged > most ? fault('tabcall/too-many-failed', { tabId, failed: uncharged, most }) : null
}

/** The fault of a call that needs more confirmations of its tab. */
export function unconfirmed(tabId: TxId, confirmations: number, needed: number): Fault {
  return fault('tabcall/unconfirmed', { tabId, confirmations, needed })
}

/** The fault of a call whose number is used by another one. */
export function seqUsed(
  { tabId, seq }: { readonly tabId: TxId; readonly seq: number },
  row: TabRow | undefined,
): Fault {
  return fault('tabcall/seq-used', { tabId, seq, nextSeq: nextSeqIn(row) })
}

/** The number that a client uses next on a tab. */
export function nextSeqIn(row: TabRow | undefined): number {
  return nextSeqOf(row ?? { window: NEW_WINDOW, seqMax: 0 })
}

function told(cause: Fault): TabVerdict {
  return { is: 'told', outcome: fail(cause) }
}

/** Null once the opening or top-up that a call came with is mined. */
function awaited({ chain, sink }: AcceptanceParts, tabId: TxId, txId: TxId): TabVerdict | null {
  if (chain.database.location(txId) !== undefined) return null
  const pending = sink.get(txId)
  if (pending === undefined) return told(fault('pay/not-found', { txId }))
  const { body } = pending
  const isOpening = body.kind === 'tab_open' && txId === tabId
  if (!isOpening && !(body.kind === 'tab_fund' && body.payload.tabId === tabId))
    return told(fault('tabcall/transaction', { txId, tabId }))
  return { is: 'wait', why: unconfirmed(tabId, 0, 1) }
}

function whyNoSeq({ call }: TabOrder, row: TabRow | undefined): Fault | null {
  const { tabId, voucher } = call.payment
  const { seq } = voucher
  const standing = standingOf(row?.window ?? NEW_WINDOW, seq)
  if (standing === 'free') return null
  if (standing === 'used') return seqUsed({ tabId, seq }, row)
  return fault('tabcall/seq-window', { tabId, seq, nextSeq: nextSeqIn(row) })
}

interface Sum {
  readonly tab: Tab
  readonly row: TabRow | undefined
  readonly sum: bigint
}

/** What was charged, is reserved and would be reserved must be covered by the highest ceiling, and that by the deposit. */
function whyTooLow({ call }: TabOrder, { tab, row, sum }: Sum): Fault | null {
  const { tabId, voucher } = call.payment
  const known = row?.voucher?.ceiling ?? 0n
  const ceiling = voucher.ceiling > known ? voucher.ceiling : known
  const needed = sum.toString()
  if (sum > ceiling)
    return fault('tabcall/ceiling-low', { tabId, ceiling: ceiling.toString(), needed, nextSeq: nextSeqIn(row) })
  if (voucher.ceiling <= tab.deposit && sum <= tab.deposit) return null
  return fault('tabcall/deposit-low', { tabId, deposit: tab.deposit.toString(), needed: ceiling.toString() })
}

function reasonOf({ prices }: AcceptanceParts, { offer }: TabOrder): string {
  const quoted = prices.quoted(offer.definition.serviceId)
  return 'reason' in quoted ? quoted.reason : 'nothing was quoted'
}

/** Why the voucher of a call is not one of the tab's payer; null if it is. */
export function whyNotSigned({ chain, backend, bad, checks }: AcceptanceParts, order: TabOrder): Fault | null {
  const { payment, from } = order.call
  const { tabId, voucher } = payment
  const tab = chain.database.get(TABS, tabId)
  if (tab === undefined) return fault('tabcall/unknown', { tabId })
  const verdict = checks.verdictOn(order)
  if (verdict !== undefined) return verdict ? null : fault('tabcall/signature', { tabId })
  const waitMs = bad.waitMs(tabId, from)
  if (waitMs > 0) return fault('tabcall/failing', { seconds: Math.ceil(waitMs / 1_000) })
  const message = voucherMessage(chain.network, tabId, { ...voucher, context: order.identity.context })
  const isGood = verifyTabSignature(backend, { key: fromHex(tab.voucherKey), message, signature: voucher.signature })
  if (isGood) bad.good(tabId, from)
  else bad.bad(tabId, from)
  return isGood ? null : fault('tabcall/signature', { tabId })
}

function newCall(
  { clock }: AcceptanceParts,
  order: TabOrder,
  { tab, price }: { readonly tab: Tab; readonly price: PriceInForce },
): ReservedTabCall {
  const { tabId, voucher } = order.call.payment
  const { serviceId, repeatable } = order.offer.definition
  const { request } = order.call
  return {
    state: 'claimed',
    tabId,
    seq: voucher.seq,
    serviceId,
    request,
    requestHash: requestHash(serviceId, request),
    caller: tab.payer,
    voucher: heldVoucher(order),
    price: price.amount.toString(),
    priceUsdMicros: price.priceUsdMicros.toString(),
    isRepeatable: repeatable,
    claimedAtMs: clock.now(),
  }
}
