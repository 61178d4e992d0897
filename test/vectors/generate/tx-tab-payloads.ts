import { join } from './bytes.ts'
import { expandSeed } from './edwards25519.ts'
import { made } from './tx-fields.ts'
import { container, listOfVarying, u8, u32, u128, vary, words } from './tx-wire.ts'

/** Encoders of the payloads of tabs, and a valid sample of each. Every field may be out of range. */

export interface OpenFields {
  readonly agentId: string
  readonly deposit: bigint
  readonly term: number
  readonly closeDelay: number
  readonly scheme: number
  readonly voucherKey: Uint8Array
}

export interface VoucherFields {
  readonly seq: number
  readonly ceiling: bigint
  readonly context: Uint8Array
  readonly signature: Uint8Array
}

export interface ClaimFields {
  readonly tabId: Uint8Array
  readonly voucher: readonly VoucherFields[]
  readonly claimed: bigint
  readonly close: number
  readonly receipts: number
  readonly failed: number
  readonly root: Uint8Array
  readonly services: readonly { readonly serviceId: string; readonly calls: number; readonly amount: bigint }[]
}

function entry(fields: ClaimFields): Uint8Array {
  const vouchers = fields.voucher.map((one) => join(u32(one.seq), u128(one.ceiling), one.context, one.signature))
  const services = fields.services.map((one) => container(words(one.serviceId), u32(one.calls), u128(one.amount)))
  return container(
    ...[fields.tabId, vary(join(...vouchers)), u128(fields.claimed), u8(fields.close), u32(fields.receipts)],
    ...[u32(fields.failed), fields.root, vary(listOfVarying(services))],
  )
}

export const TAB_PAYLOADS = {
  tab_open: (p: OpenFields) =>
    container(words(p.agentId), u128(p.deposit), u32(p.term), u32(p.closeDelay), u8(p.scheme), p.voucherKey),
  tab_fund: ({ tabId, amount }: { tabId: Uint8Array; amount: bigint }) => container(tabId, u128(amount)),
  tab_claim: ({ entries }: { entries: readonly ClaimFields[] }) => container(vary(listOfVarying(entries.map(entry)))),
  tab_close: ({ tabId }: { tabId: Uint8Array }) => container(tabId),
  tab_terms: (p: TermsFields) => container(words(p.agentId), p.receiptKey, u128(p.minDeposit), u32(p.minCloseDelay)),
}

export interface TermsFields {
  readonly agentId: string
  readonly receiptKey: Uint8Array
  readonly minDeposit: bigint
  readonly minCloseDelay: number
}

/** Keys of tabs in the vectors. */
export const VOUCHER_KEY = expandSeed(made('voucher seed'))
export const RECEIPT_KEY = expandSeed(made('receipt seed'))

const TAB = made('tab')
const ENTRY: ClaimFields = {
  tabId: TAB,
  voucher: [{ seq: 41, ceiling: 1_250_000n, context: made('context'), signature: new Uint8Array(64).fill(0x5a) }],
  ...{ claimed: 1_200_000n, close: 0, receipts: 42, failed: 2, root: made('root of receipts') },
  services: [
    { serviceId: 'summarise', calls: 35, amount: 700_000n },
    { serviceId: 'translate', calls: 5, amount: 500_000n },
  ],
}

/** A valid payload of each kind. */
export const TAB_SOUND = {
  tab_open: {
    ...{ agentId: 'acme-labs', deposit: 50_000_000n, term: 28_800, closeDelay: 1_200, scheme: 0x11 },
    voucherKey: VOUCHER_KEY.publicKey,
  },
  tab_fund: { tabId: TAB, amount: 5_000_000n },
  tab_claim: { entries: [ENTRY] as readonly ClaimFields[] },
  tab_close: { tabId: TAB },
  tab_terms: {
    ...{ agentId: 'acme-labs', receiptKey: RECEIPT_KEY.publicKey, minDeposit: 2_000_000n, minCloseDelay: 400 },
  },
}
