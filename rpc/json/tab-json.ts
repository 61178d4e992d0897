import type { ChainReader } from '../../consensus/chain/reader.ts'
import { AMOUNT_MAX, amount } from '../../consensus/primitives/amount.ts'
import type { AgentId } from '../../consensus/primitives/ids.ts'
import { dueHeight, TAB_TERMS_TABLE, type Tab } from '../../marketplace/ledger/tab-records.ts'
import type { SignedTabReceipt, TabPrice, TabState } from '../../marketplace/till/rails/tab/tab-call.ts'
import type { Static } from '../contract/schema.ts'
import * as Type from '../contract/schema.ts'
import {
  type CHANNEL_STATE,
  type NEXT_PRICE,
  type TAB,
  TAB_RECEIPT,
  type TAB_TERMS,
  type VOUCHER_STATE,
} from '../contract/tabs.ts'
import { addressText } from './chain-json.ts'

/** How a tab stands, in the words of x402 `batch-settlement`. */
export function channelStateJson(state: TabState): Static<typeof CHANNEL_STATE> {
  return {
    channelId: state.tabId,
    balance: state.deposit.toString(),
    totalClaimed: state.claimed.toString(),
    chargedCumulativeAmount: state.charged.toString(),
    receipts: state.receipts,
    nextSeq: state.nextSeq,
    withdrawRequestedAt: state.closesAt,
    expiresAt: state.expiresAt,
  }
}

/** The highest voucher that the seller holds; null before the first. */
export function voucherStateJson({ voucher }: TabState): Static<typeof VOUCHER_STATE> | null {
  if (voucher === null) return null
  const { seq, ceiling, context, signature } = voucher
  return { seq, maxClaimableAmount: ceiling.toString(), context, signature }
}

/** A receipt with the seller's signature. */
export function tabReceiptJson({ receipt, signature }: SignedTabReceipt): Static<typeof TAB_RECEIPT> {
  const { charged, cumulative, outcome, ...rest } = receipt
  return {
    ...rest,
    outcome: outcome === 0 ? 0 : 1,
    charged: charged.toString(),
    cumulative: cumulative.toString(),
    signature,
  }
}

/** Reads a receipt from JSON; a text says what is wrong with it, after its name. */
export function readTabReceipt(given: unknown): SignedTabReceipt | string {
  const read = Type.decode(TAB_RECEIPT, given)
  if (read === undefined) return ' must be a receipt as this node gives them'
  const { signature, charged, cumulative, ...rest } = read
  if (BigInt(charged) > AMOUNT_MAX || BigInt(cumulative) > AMOUNT_MAX) return ' has an amount that is too large'
  const amounts = { charged: amount(BigInt(charged)), cumulative: amount(BigInt(cumulative)) }
  return { receipt: { ...rest, ...amounts } as SignedTabReceipt['receipt'], signature }
}

/** What the next call of a service costs, and up to which height. */
export function nextPriceJson({ amount, validUntil }: TabPrice): Static<typeof NEXT_PRICE> {
  return { amount: amount.toString(), validUntil }
}

/** On which terms an agent takes tabs; null if it never said. */
export function tabTermsJson({ database }: ChainReader, agentId: AgentId): Static<typeof TAB_TERMS> | null {
  const terms = database.get(TAB_TERMS_TABLE, agentId)
  if (terms === undefined) return null
  const { receiptKey, minDeposit, minCloseDelay } = terms
  return { receiptKey, minDeposit: minDeposit.toString(), minCloseDelay }
}

/** A tab as the chain has it. */
export function tabJson({ ruleBook }: ChainReader, tab: Tab): Static<typeof TAB> {
  const { params } = ruleBook
  const { agentId, payer, payout, insider, voucherKey, receiptKey, deposit, claimed } = tab
  const { receipts, chain, openedAt, expiresAt, closeDelay, closesAt } = tab
  return {
    agentId,
    payer: addressText(params.addressPrefix, payer),
    payout: addressText(params.addressPrefix, payout),
    insider,
    voucherKey,
    receiptKey,
    deposit: deposit.toString(),
    claimed: claimed.toString(),
    receipts,
    chain,
    openedAt,
    expiresAt,
    closeDelay,
    closesAt,
    dueHeight: dueHeight(tab),
  }
}
