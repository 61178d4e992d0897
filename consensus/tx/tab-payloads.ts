import { bool, byteVector, container, hex32, list, uint8, uint32, uint128, type ValueOf } from '../primitives/codec.ts'
import type { Hash, TxId } from '../primitives/ids.ts'
import { agentIdCodec, serviceIdCodec } from './payloads.ts'

/** Most entries of one `tab_claim`. */
export const CLAIM_ENTRIES_MAX = 64
/** Most services of one claim entry. */
export const CLAIM_SERVICES_MAX = 8

const VOUCHER_SIGNATURE_BYTES = 64
const hash = hex32<Hash>()
const tabId = hex32<TxId>()

/** `tab_open`: locks a deposit for one agent. `voucherKey` signs the vouchers; its scheme is Ed25519 alone (0x11). */
export const TAB_OPEN = container('TabOpen', {
  agentId: agentIdCodec,
  deposit: uint128,
  term: uint32,
  closeDelay: uint32,
  scheme: uint8,
  voucherKey: hash,
})

/** `tab_fund`: by the payer; adds to the deposit. The expiry stays. */
export const TAB_FUND = container('TabFund', { tabId, amount: uint128 })

/** A payer's running ceiling: the seller may have claimed at most this in all. `context` binds it to one request. */
const VOUCHER = container('Voucher', {
  seq: uint32,
  ceiling: uint128,
  context: hash,
  signature: byteVector(VOUCHER_SIGNATURE_BYTES),
})

/** What a claim says of one service: delivered calls and what they were charged. */
const CLAIMED_SERVICE = container('ClaimedService', { serviceId: serviceIdCodec, calls: uint32, amount: uint128 })

/**
 * One entry of a `tab_claim`. `claimed` and `receipts` are totals since the opening; `failed`, `root` and `services` are
 * about the receipts since the last claim. At most one voucher.
 */
const CLAIM_ENTRY = container('ClaimEntry', {
  tabId,
  voucher: list(VOUCHER, 1),
  claimed: uint128,
  close: bool,
  receipts: uint32,
  failed: uint32,
  root: hash,
  services: list(CLAIMED_SERVICE, CLAIM_SERVICES_MAX),
})

/** `tab_claim`: by the owner or a settler of the agent; each entry succeeds or fails by itself. */
export const TAB_CLAIM = container('TabClaim', { entries: list(CLAIM_ENTRY, CLAIM_ENTRIES_MAX) })

/** `tab_close`: by the payer. The tab ends after its close delay, or at its expiry if that is sooner. */
export const TAB_CLOSE = container('TabClose', { tabId })

/** `tab_terms`: by the owner. A zero `receiptKey` means that the agent takes no new tabs. */
export const TAB_TERMS = container('TabTerms', {
  agentId: agentIdCodec,
  receiptKey: hash,
  minDeposit: uint128,
  minCloseDelay: uint32,
})

/** Payload of `tab_open`. */
export type TabOpen = ValueOf<typeof TAB_OPEN>
/** A voucher as a claim carries it. */
export type Voucher = ValueOf<typeof VOUCHER>
/** One entry of a `tab_claim`. */
export type ClaimEntry = ValueOf<typeof CLAIM_ENTRY>
/** Payload of `tab_terms`. */
export type TabTerms = ValueOf<typeof TAB_TERMS>
