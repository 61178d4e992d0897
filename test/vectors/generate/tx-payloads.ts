import { ASSET_PAYLOADS, ASSET_SOUND } from './tx-asset-payloads.ts'
import { BRIDGE_PAYLOADS, BRIDGE_SOUND } from './tx-bridge-payloads.ts'
import { made, type RawBody, type RawWitness } from './tx-fields.ts'
import { MARKET_PAYLOADS, MARKET_SOUND } from './tx-market-payloads.ts'
import { TAB_PAYLOADS, TAB_SOUND } from './tx-tab-payloads.ts'

/** Payloads by kind; every field may be out of its range. */
export const PAYLOADS = { ...MARKET_PAYLOADS, ...ASSET_PAYLOADS, ...BRIDGE_PAYLOADS, ...TAB_PAYLOADS }

/** A valid payload of each kind. */
export const SOUND = { ...MARKET_SOUND, ...ASSET_SOUND, ...BRIDGE_SOUND, ...TAB_SOUND }

export type PayloadKind = keyof typeof PAYLOADS

/** Bytes of the valid payload of a kind with some fields replaced. */
export function payload<K extends PayloadKind>(kind: K, change: Partial<Parameters<(typeof PAYLOADS)[K]>[0]> = {}) {
  return PAYLOADS[kind]({ ...SOUND[kind], ...change } as never)
}

/** A valid transaction for the vectors. */
export interface Sample {
  readonly name: string
  readonly kind: PayloadKind
  readonly payload: Readonly<Record<string, unknown>>
  readonly envelope?: Partial<RawBody>
  readonly witness?: RawWitness
}

/** Numbers of the kinds on the wire. */
export const KIND_NUMBERS: Readonly<Record<PayloadKind, number>> = {
  transfer: 0x01,
  token_create: 0x10,
  token_mint: 0x11,
  token_burn: 0x12,
  token_transfer: 0x13,
  token_flags: 0x14,
  token_issuer: 0x15,
  stable_deposit: 0x20,
  stable_mint: 0x21,
  stable_redeem: 0x22,
  stable_withdraw: 0x23,
  pool_create: 0x30,
  liquidity_add: 0x31,
  liquidity_remove: 0x32,
  swap: 0x33,
  stake: 0x40,
  unstake: 0x41,
  claim: 0x42,
  bridge_deposit: 0x50,
  bridge_withdraw: 0x51,
  bridge_sign: 0x52,
  bridge_release: 0x53,
  bridge_cancel: 0x54,
  bridge_rotate: 0x55,
  bridge_halt: 0x56,
  agent_register: 0x60,
  agent_update: 0x61,
  service_publish: 0x62,
  service_retire: 0x63,
  agent_invoke: 0x64,
  agent_receipt: 0x65,
  tab_open: 0x66,
  tab_fund: 0x67,
  tab_claim: 0x68,
  tab_close: 0x69,
  tab_terms: 0x6a,
}

/** A body of a kind with a made-up sender; `change` replaces fields of the envelope. */
export function rawBody(kind: PayloadKind, payload: Uint8Array, change: Partial<RawBody> = {}): RawBody {
  return {
    version: 1,
    chainId: 1,
    sender: made('sender'),
    nonce: 7n,
    kind: KIND_NUMBERS[kind],
    maxFeeRate: 64n,
    tip: 2n,
    validUntil: 0,
    memo: new Uint8Array(0),
    payload,
    ...change,
  }
}
