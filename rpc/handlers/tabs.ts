import { fromHex, isHexBytes, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { decodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { TAB_TERMS_TABLE, TABS } from '../../marketplace/ledger/tab-records.ts'
import type { TabQuery } from '../../marketplace/till/rails/tab/tab-call.ts'
import { addressKey, holderOf } from '../edge/client-key.ts'
import { channelStateJson, tabJson, tabReceiptJson, tabTermsJson, voucherStateJson } from '../json/tab-json.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'
import type { TabDesk } from '../node/tab-desk.ts'
import { answer, type Handler, isFault } from '../server/answer.ts'
import { submitTransaction } from './chain.ts'

const PAGE_DEFAULT = 50

/** Takes an opening or a top-up for this seller. What waits here already, or is mined, is a success. */
export const openTab: Handler<'openTab'> = async (node, request) => {
  const { market } = node
  if (market === null) return fault('rpc/no-market')
  if (!market.tabs) return fault('rpc/no-tabs')
  const { transaction: raw } = request.body
  const read = isHexBytes(raw) ? decodeTransaction(fromHex(raw)) : fail(fault('tx/json', NOT_HEX))
  if (!read.ok) return read.fault
  const named = tabNamed(node, market, read.value)
  if (!named.ok) return named.fault
  const { txId } = read.value
  const sent = await submitTransaction(node, { ...request, params: {}, query: {}, body: { raw } })
  if (isFault(sent)) return sent.code === 'mempool/mined' ? answer({ tabId: named.value, txId, status: 'mined' }) : sent
  return answer({ tabId: named.value, txId, status: 'mempool' })
}

const NOT_HEX = { field: 'transaction', reason: 'must be lower-case hex' }

/** The tab of an opening or a top-up. A transaction that this seller could not use, or that would fail, is refused. */
function tabNamed({ chain }: NodeApi, { shop: { operator } }: MarketApi, { txId, body }: Transaction): Result<TxId> {
  const { agentId } = operator
  if (body.kind === 'tab_open') {
    const unfit =
      body.payload.agentId === agentId ? unfitOpening(chain, body.payload) : notOurs(body.payload.agentId, agentId)
    return unfit === null ? ok(txId) : fail(unfit)
  }
  if (body.kind !== 'tab_fund')
    return fail(
      fault('rpc/invalid-request', { fields: [`transaction is a ${body.kind}; taken are tab_open and tab_fund`] }),
    )
  const { tabId } = body.payload
  const tab = chain.database.get(TABS, tabId)
  if (tab === undefined) return fail(fault('tab/unknown', { tabId }))
  return tab.agentId === agentId ? ok(tabId) : fail(notOurs(tab.agentId, agentId))
}

function notOurs(named: string, agentId: string): Fault {
  return fault('rpc/invalid-request', {
    fields: [`transaction is for the agent ${named}, and this node sells as ${agentId}`],
  })
}

/** Why the ledger would refuse the opening at this head, or null: its sender would pay the fee for nothing. */
function unfitOpening(
  { database }: NodeApi['chain'],
  { agentId, deposit, closeDelay }: Extract<Transaction['body'], { kind: 'tab_open' }>['payload'],
): Fault | null {
  const terms = database.get(TAB_TERMS_TABLE, agentId)
  if (terms === undefined || terms.receiptKey === ZERO_HEX_32) return fault('tab/no-terms', { agentId })
  const { minDeposit, minCloseDelay } = terms
  if (deposit < minDeposit) return fault('tab/deposit-low', { agentId, minimum: minDeposit.toString() })
  return closeDelay < minCloseDelay ? fault('tab/delay-short', { agentId, minimum: minCloseDelay }) : null
}

/** The chain's part is public. What the seller knows is for the payer alone. */
export const getTab: Handler<'getTab'> = async (node, { params, query, address }) => {
  const { chain, market } = node
  const tabId = params.tabId as TxId
  const tab = chain.database.get(TABS, tabId)
  if (tab === undefined) return fault('tab/unknown', { tabId })
  const told = { tabId, tab: tabJson(chain, tab), terms: tabTermsJson(chain, tab.agentId) }
  if (query.timeMs === undefined && query.signature === undefined) return answer(told)
  const asked = payersDesk(market, { tabId, ...query }, address)
  if (!asked.ok) return asked.fault
  const state = await asked.value.stateOf(tabId)
  if (state === null) return fault('tab/unknown', { tabId })
  const { lastReceipt } = state
  return answer({
    ...told,
    state: channelStateJson(state),
    voucher: voucherStateJson(state),
    lastReceipt: lastReceipt === null ? null : tabReceiptJson(lastReceipt),
  })
}

/** Signed receipts, oldest first. */
export const listTabReceipts: Handler<'listTabReceipts'> = async ({ market }, { params, query, address }) => {
  const tabId = params.tabId as TxId
  const asked = payersDesk(market, { tabId, ...query }, address)
  if (!asked.ok) return asked.fault
  const { from = 1, limit = PAGE_DEFAULT } = query
  const found = await asked.value.receiptsFrom(tabId, from, limit + 1)
  const receipts = found.slice(0, limit).map(tabReceiptJson)
  return answer({ tabId, receipts, next: found[limit]?.receipt.n ?? null })
}

interface Asked {
  readonly tabId: TxId
  readonly timeMs?: number | undefined
  readonly signature?: string | undefined
}

/** The desk, for a question that the payer has signed. */
function payersDesk(market: MarketApi | null, { tabId, timeMs, signature }: Asked, address: string): Result<TabDesk> {
  if (!market?.tabs) return fail(fault('rpc/no-tabs'))
  if (timeMs === undefined || signature === undefined)
    return fail(
      fault('rpc/invalid-request', { fields: ['timeMs and signature are both needed, as a state query has them'] }),
    )
  const query: TabQuery = { tabId, timeMs, signature: fromHex(signature) }
  const refusal = market.tabs.verifyQuery(query, 'state', holderOf(addressKey(address)))
  if (refusal?.code === 'tabcall/unknown') return fail(fault('tab/unknown', { tabId }))
  return refusal === null ? ok(market.tabs) : fail(refusal)
}
