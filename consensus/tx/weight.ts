import type { TxKind } from './kinds.ts'
import type { TabRules, TxRules, WeightRules } from './rules.ts'
import type { ClaimEntry } from './tab-payloads.ts'
import type { Transaction, TxBody } from './transaction.ts'

/** Writes of an `agent_receipt` beside its entries: sender, escrow totals, native supply. */
const RECEIPT_BASE_WRITES = 3
/** Writes of one receipt entry: escrow, receiving account, service and agent statistics, payer record. */
export const RECEIPT_ENTRY_WRITES = 5

/** For each kind whose payload does not change the number of its writes: the most records that it can write. */
const DECLARED_WRITES: Readonly<Record<Exclude<TxKind, 'agent_receipt' | 'swap' | 'tab_claim'>, number>> = {
  transfer: 2,
  token_create: 5,
  token_mint: 4,
  token_burn: 3,
  token_transfer: 4,
  token_flags: 2,
  token_issuer: 2,
  stable_deposit: 3,
  stable_mint: 4,
  stable_redeem: 5,
  stable_withdraw: 3,
  pool_create: 5,
  liquidity_add: 5,
  liquidity_remove: 5,
  stake: 4,
  unstake: 4,
  claim: 4,
  bridge_deposit: 6,
  bridge_withdraw: 5,
  bridge_sign: 2,
  bridge_release: 3,
  bridge_cancel: 5,
  bridge_rotate: 2,
  bridge_halt: 2,
  agent_register: 3,
  agent_update: 2,
  service_publish: 3,
  service_retire: 2,
  agent_invoke: 4,
  tab_open: 4,
  tab_fund: 3,
  tab_close: 4,
  tab_terms: 2,
}
/** Writes of a swap beside its pools: sender, asset in, asset out. */
const SWAP_BASE_WRITES = 3

/** Writes of a `tab_claim` beside its entries: sender, totals of tabs, native supply. */
const CLAIM_BASE_WRITES = 3
/** Writes of one entry: tab, payout account, agent statistics. */
const CLAIM_ENTRY_WRITES = 3
/** More writes of an entry that closes its tab: payer account, list of due tabs. */
const CLAIM_CLOSE_WRITES = 2
/** Writes of one service of an entry: its statistics, payer record. */
const CLAIM_SERVICE_WRITES = 2

/**
 * The most records that the transaction can write. The block limit counts these, so it does not depend on the state.
 */
export function declaredWrites(body: TxBody): number {
  switch (body.kind) {
    case 'agent_receipt':
      return RECEIPT_BASE_WRITES + RECEIPT_ENTRY_WRITES * body.payload.entries.length
    case 'swap':
      return SWAP_BASE_WRITES + body.payload.hops.length
    case 'tab_claim':
      return body.payload.entries.reduce((writes, entry) => writes + claimEntryWrites(entry), CLAIM_BASE_WRITES)
    default:
      return DECLARED_WRITES[body.kind]
  }
}

function claimEntryWrites({ close, services }: ClaimEntry): number {
  return CLAIM_ENTRY_WRITES + (close ? CLAIM_CLOSE_WRITES : 0) + CLAIM_SERVICE_WRITES * services.length
}

/** The rules about tabs that count for the weight. */
export type TabWeights = Pick<TabRules, 'perVoucher' | 'openReturn' | 'closeMove'>

/** Weight of the transaction by these rules, whatever the state is. It is charged in full, never refunded. */
export function weightOf(
  { body, witness, size }: Pick<Transaction, 'body' | 'witness' | 'size'>,
  rules: Pick<TxRules, 'weight'> & { readonly tabs?: TabWeights },
): number {
  const { weight } = rules
  return (
    size +
    (witness.signatures.length + attestationSignatures(body)) * weight.perSignature +
    declaredWrites(body) * weight.perStateWrite +
    surchargeOf(body, weight) +
    tabSurchargeOf(body, rules.tabs)
  )
}

function tabSurchargeOf({ kind, payload }: TxBody, tabs: TabWeights | undefined): number {
  if (tabs === undefined) return 0
  switch (kind) {
    case 'tab_open':
      return tabs.openReturn
    case 'tab_close':
      return tabs.closeMove
    case 'tab_claim':
      return tabs.perVoucher * payload.entries.reduce((vouchers, { voucher }) => vouchers + voucher.length, 0)
    default:
      return 0
  }
}

/** Number of signatures inside the payload that consensus checks. */
export function attestationSignatures({ payload }: Pick<TxBody, 'payload'>): number {
  return 'attestation' in payload ? payload.attestation.signatures.length : 0
}

function surchargeOf({ kind, payload }: TxBody, weight: WeightRules): number {
  const create = 'create' in payload && payload.create ? weight.createAccount : 0
  switch (kind) {
    case 'agent_register':
      return weight.registerAgent
    case 'service_publish':
      return weight.publishService
    case 'agent_invoke':
      return weight.invokeRefund
    case 'token_create':
    case 'pool_create':
      return weight.createMarket
    case 'bridge_deposit':
    case 'bridge_withdraw':
      return create + weight.bridgeRecord
    case 'bridge_rotate':
      return weight.bridgeRotation
    default:
      return create
  }
}

/** Fee rate of a transaction at this base fee: min(maxFeeRate, baseFee + tip). */
export function rateOf(body: Pick<TxBody, 'maxFeeRate' | 'tip'>, baseFee: bigint): bigint {
  const wanted = baseFee + body.tip
  return wanted < body.maxFeeRate ? wanted : body.maxFeeRate
}
