import { b32, bool, container, exactly, list, text, u8, u32, u64s, u128, type Value } from './ssz.ts'
import { GRAMMAR } from './text.ts'

const agentId = text(32, GRAMMAR.agentId)
const serviceId = text(48, GRAMMAR.serviceId)

// transactions.md, section 3

export const TAB_OPEN = container({
  agentId,
  deposit: u128,
  term: u32,
  closeDelay: u32,
  scheme: u8,
  voucherKey: b32,
})
export const TAB_FUND = container({ tabId: b32, amount: u128 })
const voucher = container({ seq: u32, ceiling: u128, context: b32, signature: exactly(64) })
const claimEntry = container({
  tabId: b32,
  voucher: list(voucher, 1),
  claimed: u128,
  close: bool,
  receipts: u32,
  failed: u32,
  root: b32,
  services: list(container({ serviceId, calls: u32, amount: u128 }), 8),
})
export const TAB_CLAIM = container({ entries: list(claimEntry, 64) })
export const TAB_CLOSE = container({ tabId: b32 })
export const TAB_TERMS = container({ agentId, receiptKey: b32, minDeposit: u128, minCloseDelay: u32 })

export type Voucher = Value<typeof voucher>
export type ClaimEntry = Value<typeof claimEntry>

// encoding.md, section 7

export const TAB_RECEIPT = container({
  tabId: b32,
  seq: u32,
  n: u32,
  serviceId,
  context: b32,
  resultHash: b32,
  outcome: u8,
  charged: u128,
  cumulative: u128,
  durationMs: u32,
  timeMs: u64s,
})

// blocks.md

export const TAB_RETURN_RECEIPT = container({ tabId: b32, payer: b32, amount: u128 })

// ledgers.md

export const TAB = container({
  version: u8,
  agentId,
  payer: b32,
  payout: b32,
  insider: bool,
  scheme: u8,
  voucherKey: b32,
  receiptKey: b32,
  deposit: u128,
  claimed: u128,
  receipts: u32,
  chain: b32,
  openedAt: u32,
  expiresAt: u32,
  closeDelay: u32,
  closesAt: u32,
})
export type Tab = Value<typeof TAB>
export const TAB_TOTALS = container({ open: u64s, locked: u128, claimed: u128, burned: u128 })
export const TERMS_OF_TABS = container({ receiptKey: b32, minDeposit: u128, minCloseDelay: u32 })
