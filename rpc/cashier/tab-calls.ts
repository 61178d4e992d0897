import { fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { ok } from '../../consensus/primitives/result.ts'
import { TABS } from '../../marketplace/ledger/tab-records.ts'
import { unlessAway } from '../../marketplace/till/claim-store.ts'
import type {
  AnsweredTabCall,
  TabPaidCall,
  TabPayment,
  TabQuery,
  TabState,
} from '../../marketplace/till/rails/tab/tab-call.ts'
import { httpFault } from '../contract/http-faults.ts'
import { addressText, coinNumber, moment } from '../json/chain-json.ts'
import { channelStateJson, nextPriceJson, tabReceiptJson, voucherStateJson } from '../json/tab-json.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { TabDesk } from '../node/tab-desk.ts'
import { nativeNetwork } from './options.ts'
import type { CallOutcome, CallRoom, PaidCallRequest, Settlement } from './paid-call.ts'

/** Carries out a call that is paid from a tab. */
export async function payOnTab(
  room: CallRoom,
  { offer, request, client: from }: PaidCallRequest,
  payment: TabPayment,
): Promise<CallOutcome> {
  const desk = deskOf(room.market)
  const call: TabPaidCall = { serviceId: offer.definition.serviceId, request, offer, payment, from }
  const outcome = await desk.till.settle(call)
  if (!outcome.ok) {
    const { fault: cause } = outcome
    const mayHelp = httpFault(cause.code).status === 402 && cause.code !== 'tabcall/signature'
    const corrective = mayHelp ? await correctiveOf(desk, call) : null
    return { is: 'refused', fault: cause, charged: null, settlement: null, rail: 'tab', corrective }
  }
  const { claim, replayed } = outcome.value
  const settlement = await settlementOf(room, desk, claim)
  const receipt = receiptOf(room, claim)
  if (claim.state === 'failed') {
    const message = `${(claim.message ?? 'the service failed').replace(/\.$/, '')}. Nothing was charged to the tab.`
    const code = claim.reason ?? 'service/failed'
    return { is: 'failed', code, message, told: { receipt }, settlement, replayed }
  }
  const { result } = claim
  if (result === null) {
    const gone = fault('tabcall/result-expired', { tabId: claim.tabId, seq: claim.receipt.receipt.seq })
    return { is: 'refused', fault: gone, charged: null, settlement, rail: 'tab', corrective: null }
  }
  const sent = (): void => void desk.till.handedOver(claim)
  return { is: 'paid', result, receipt, settlement, replayed, sent }
}

/** Begins the end of a tab, as its payer asks. */
export async function endTab(
  { node, market }: CallRoom,
  { client }: PaidCallRequest,
  query: TabQuery,
): Promise<CallOutcome> {
  const desk = deskOf(market)
  const { tabId } = query
  const tab = node.chain.database.get(TABS, tabId)
  const begun = await desk.refund(query, client)
  if (!begun.ok)
    return { is: 'refused', fault: begun.fault, charged: null, settlement: null, rail: 'tab', corrective: null }
  const channelState = channelStateJson(begun.value)
  const payer = tab === undefined ? '' : addressText(node.chain.ruleBook.params.addressPrefix, tab.payer)
  const settlement: Settlement = {
    success: true,
    transaction: '',
    network: nativeNetwork(node.chain),
    amount: '',
    payer,
    extra: { channelState },
  }
  return { is: 'closing', told: { closing: true, tabId, channelState }, settlement }
}

/**
 * Where the payer can go on from. Only for a voucher that the payer signed: the state shows what it bought, and ids of tabs
 * are public.
 */
async function correctiveOf(desk: TabDesk, call: TabPaidCall): Promise<object | null> {
  if (!desk.isOfPayer(call)) return null
  const state = await stateOf(desk, call.payment.tabId)
  if (state === null) return null
  const voucherState = voucherStateJson(state)
  return {
    channelState: channelStateJson(state),
    ...(voucherState !== null && { voucherState }),
    ...(state.lastReceipt !== null && { lastReceipt: tabReceiptJson(state.lastReceipt) }),
  }
}

async function settlementOf({ node: { chain } }: CallRoom, desk: TabDesk, claim: AnsweredTabCall): Promise<Settlement> {
  const { receipt } = claim.receipt
  const next = desk.priceOf(claim.serviceId)
  const state = await stateOf(desk, claim.tabId)
  return {
    success: claim.state === 'delivered',
    transaction: '',
    network: nativeNetwork(chain),
    amount: '',
    payer: addressText(chain.ruleBook.params.addressPrefix, claim.caller),
    extra: {
      commitmentId: commitmentOf(claim),
      chargedAmount: receipt.charged.toString(),
      ...(state !== null && { channelState: channelStateJson(state) }),
      receipt: tabReceiptJson(claim.receipt),
      ...(!('reason' in next) && { next: nextPriceJson(next) }),
    },
  }
}

/** Null once the tab has ended, and while the store is away: an answer that is paid for leaves without it. */
async function stateOf(desk: TabDesk, tabId: TxId): Promise<TabState | null> {
  const state = await unlessAway(async () => ok(await desk.stateOf(tabId)))
  return state.ok ? state.value : null
}

function receiptOf({ node: { chain } }: CallRoom, claim: AnsweredTabCall): object {
  const { params } = chain.ruleBook
  const { receipt } = claim.receipt
  return {
    serviceId: claim.serviceId,
    caller: addressText(params.addressPrefix, claim.caller),
    amount: coinNumber(receipt.charged, params.decimals),
    txId: claim.tabId,
    rail: 'tab',
    asset: params.ticker,
    amountBaseUnits: receipt.charged.toString(),
    resultHash: receipt.resultHash,
    requestHash: claim.requestHash,
    durationMs: receipt.durationMs,
    completedAt: moment(claim.finishedAtMs),
    tab: tabReceiptJson(claim.receipt),
  }
}

function commitmentOf({ tabId, receipt: { receipt } }: AnsweredTabCall): string {
  return `${tabId}:${receipt.seq}`
}

/** A tab payment is read only where there is a desk for it. */
function deskOf({ tabs }: MarketApi): TabDesk {
  return tabs as TabDesk
}
