import type { CompositeCodec, ValueOf } from '../primitives/codec.ts'
import {
  CLAIM,
  LIQUIDITY_ADD,
  LIQUIDITY_REMOVE,
  POOL_CREATE,
  STABLE_DEPOSIT,
  STABLE_MINT,
  STABLE_REDEEM,
  STABLE_WITHDRAW,
  STAKE,
  SWAP,
  TOKEN_BURN,
  TOKEN_CREATE,
  TOKEN_FLAGS,
  TOKEN_ISSUER,
  TOKEN_MINT,
  TOKEN_TRANSFER,
  UNSTAKE,
} from './asset-payloads.ts'
import {
  BRIDGE_CANCEL,
  BRIDGE_DEPOSIT,
  BRIDGE_HALT,
  BRIDGE_RELEASE,
  BRIDGE_ROTATE,
  BRIDGE_SIGN,
  BRIDGE_WITHDRAW,
} from './bridge-payloads.ts'
import {
  AGENT_INVOKE,
  AGENT_RECEIPT,
  AGENT_REGISTER,
  AGENT_UPDATE,
  SERVICE_PUBLISH,
  SERVICE_RETIRE,
  TRANSFER,
} from './payloads.ts'
import { TAB_CLAIM, TAB_CLOSE, TAB_FUND, TAB_OPEN, TAB_TERMS } from './tab-payloads.ts'

/** The closed table of transaction kinds. Other numbers are invalid. A number is never reused. */
export const TX_KINDS = {
  transfer: { number: 0x01, payload: TRANSFER },
  token_create: { number: 0x10, payload: TOKEN_CREATE },
  token_mint: { number: 0x11, payload: TOKEN_MINT },
  token_burn: { number: 0x12, payload: TOKEN_BURN },
  token_transfer: { number: 0x13, payload: TOKEN_TRANSFER },
  token_flags: { number: 0x14, payload: TOKEN_FLAGS },
  token_issuer: { number: 0x15, payload: TOKEN_ISSUER },
  stable_deposit: { number: 0x20, payload: STABLE_DEPOSIT },
  stable_mint: { number: 0x21, payload: STABLE_MINT },
  stable_redeem: { number: 0x22, payload: STABLE_REDEEM },
  stable_withdraw: { number: 0x23, payload: STABLE_WITHDRAW },
  pool_create: { number: 0x30, payload: POOL_CREATE },
  liquidity_add: { number: 0x31, payload: LIQUIDITY_ADD },
  liquidity_remove: { number: 0x32, payload: LIQUIDITY_REMOVE },
  swap: { number: 0x33, payload: SWAP },
  stake: { number: 0x40, payload: STAKE },
  unstake: { number: 0x41, payload: UNSTAKE },
  claim: { number: 0x42, payload: CLAIM },
  bridge_deposit: { number: 0x50, payload: BRIDGE_DEPOSIT },
  bridge_withdraw: { number: 0x51, payload: BRIDGE_WITHDRAW },
  bridge_sign: { number: 0x52, payload: BRIDGE_SIGN },
  bridge_release: { number: 0x53, payload: BRIDGE_RELEASE },
  bridge_cancel: { number: 0x54, payload: BRIDGE_CANCEL },
  bridge_rotate: { number: 0x55, payload: BRIDGE_ROTATE },
  bridge_halt: { number: 0x56, payload: BRIDGE_HALT },
  agent_register: { number: 0x60, payload: AGENT_REGISTER },
  agent_update: { number: 0x61, payload: AGENT_UPDATE },
  service_publish: { number: 0x62, payload: SERVICE_PUBLISH },
  service_retire: { number: 0x63, payload: SERVICE_RETIRE },
  agent_invoke: { number: 0x64, payload: AGENT_INVOKE },
  agent_receipt: { number: 0x65, payload: AGENT_RECEIPT },
  tab_open: { number: 0x66, payload: TAB_OPEN },
  tab_fund: { number: 0x67, payload: TAB_FUND },
  tab_claim: { number: 0x68, payload: TAB_CLAIM },
  tab_close: { number: 0x69, payload: TAB_CLOSE },
  tab_terms: { number: 0x6a, payload: TAB_TERMS },
} as const satisfies Record<string, { number: number; payload: CompositeCodec<unknown> }>

/** Name of a transaction kind. */
export type TxKind = keyof typeof TX_KINDS
/** Payload of a kind. */
export type PayloadOf<K extends TxKind> = ValueOf<(typeof TX_KINDS)[K]['payload']>

/** In the order of their numbers. */
export const TX_KIND_NAMES = Object.keys(TX_KINDS) as readonly TxKind[]

/** Numbers promised to kinds of a later release. They are invalid until a rule step activates them. */
export const RESERVED_KINDS: Readonly<Record<string, number>> = { account_rekey: 0x02 }

const BY_NUMBER = new Map<number, TxKind>(TX_KIND_NAMES.map((kind) => [TX_KINDS[kind].number, kind]))

/** The kind of a wire number; undefined if there is none. */
export function kindOfNumber(number: number): TxKind | undefined {
  return BY_NUMBER.get(number)
}

/** Longest payload of any kind. */
export const PAYLOAD_BYTES_MAX = Math.max(...TX_KIND_NAMES.map((kind) => TX_KINDS[kind].payload.maxSize))
