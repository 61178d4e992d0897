import {
  BRIDGE_DEPOSIT,
  BRIDGE_HALT,
  BRIDGE_RELEASE,
  BRIDGE_ROTATE,
  BRIDGE_WITHDRAW,
  BRIDGE_WITHDRAWAL,
} from './bridge-schemas.ts'
import {
  LIQUIDITY_ADD,
  LIQUIDITY_REMOVE,
  POOL_CREATE,
  STABLE_REDEEM,
  STAKE,
  STAKE_ID,
  SWAP,
  TOKEN_AMOUNT,
  TOKEN_CREATE,
  TOKEN_FLAGS,
  TOKEN_GIVE,
  TOKEN_ISSUER,
} from './money-schemas.ts'
import {
  AGENT_INVOKE,
  AGENT_RECEIPT,
  AGENT_REGISTER,
  AGENT_UPDATE,
  SERVICE_PUBLISH,
  SERVICE_RETIRE,
  TRANSFER,
} from './schemas.ts'
import type { Value } from './ssz.ts'
import { TAB_CLAIM, TAB_CLOSE, TAB_FUND, TAB_OPEN, TAB_TERMS } from './tab-schemas.ts'

/** Number and payload type by kind: transactions.md, section 3. */
export const KINDS = {
  transfer: [0x01, TRANSFER],
  token_create: [0x10, TOKEN_CREATE],
  token_mint: [0x11, TOKEN_GIVE],
  token_burn: [0x12, TOKEN_AMOUNT],
  token_transfer: [0x13, TOKEN_GIVE],
  token_flags: [0x14, TOKEN_FLAGS],
  token_issuer: [0x15, TOKEN_ISSUER],
  stable_deposit: [0x20, TOKEN_AMOUNT],
  stable_mint: [0x21, TOKEN_GIVE],
  stable_redeem: [0x22, STABLE_REDEEM],
  stable_withdraw: [0x23, TOKEN_AMOUNT],
  pool_create: [0x30, POOL_CREATE],
  liquidity_add: [0x31, LIQUIDITY_ADD],
  liquidity_remove: [0x32, LIQUIDITY_REMOVE],
  swap: [0x33, SWAP],
  stake: [0x40, STAKE],
  unstake: [0x41, STAKE_ID],
  claim: [0x42, STAKE_ID],
  bridge_deposit: [0x50, BRIDGE_DEPOSIT],
  bridge_withdraw: [0x51, BRIDGE_WITHDRAW],
  bridge_sign: [0x52, BRIDGE_WITHDRAWAL],
  bridge_release: [0x53, BRIDGE_RELEASE],
  bridge_cancel: [0x54, BRIDGE_WITHDRAWAL],
  bridge_rotate: [0x55, BRIDGE_ROTATE],
  bridge_halt: [0x56, BRIDGE_HALT],
  agent_register: [0x60, AGENT_REGISTER],
  agent_update: [0x61, AGENT_UPDATE],
  service_publish: [0x62, SERVICE_PUBLISH],
  service_retire: [0x63, SERVICE_RETIRE],
  agent_invoke: [0x64, AGENT_INVOKE],
  agent_receipt: [0x65, AGENT_RECEIPT],
  tab_open: [0x66, TAB_OPEN],
  tab_fund: [0x67, TAB_FUND],
  tab_claim: [0x68, TAB_CLAIM],
  tab_close: [0x69, TAB_CLOSE],
  tab_terms: [0x6a, TAB_TERMS],
} as const

export type Kind = keyof typeof KINDS

/** Decoded payload of a kind. */
export type Fields<K extends Kind> = Value<(typeof KINDS)[K][1]>

/** A payload with the name of its kind. */
export type PayloadOf<K extends Kind> = { readonly kind: K } & Fields<K>
export type Payload = { [K in Kind]: PayloadOf<K> }[Kind]

export function encodePayload<K extends Kind>(kind: K, fields: Fields<K>): Uint8Array {
  const encode = KINDS[kind][1].encode as (value: Fields<K>) => Uint8Array
  return encode(fields)
}
