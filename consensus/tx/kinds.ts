import type { CompositeCodec, ValueOf } from '../primitives/codec.ts'
import {
  AGENT_INVOKE,
  AGENT_RECEIPT,
  AGENT_REGISTER,
  AGENT_UPDATE,
  SERVICE_PUBLISH,
  SERVICE_RETIRE,
  TRANSFER,
} from './payloads.ts'

/**
 * The closed table of transaction kinds: number on the wire and payload type. A number outside it is invalid. Numbers
 * are never reused; those below are promised to kinds that a later release brings.
 */
export const TX_KINDS = {
  transfer: { number: 0x01, payload: TRANSFER },
  agent_register: { number: 0x60, payload: AGENT_REGISTER },
  agent_update: { number: 0x61, payload: AGENT_UPDATE },
  service_publish: { number: 0x62, payload: SERVICE_PUBLISH },
  service_retire: { number: 0x63, payload: SERVICE_RETIRE },
  agent_invoke: { number: 0x64, payload: AGENT_INVOKE },
  agent_receipt: { number: 0x65, payload: AGENT_RECEIPT },
} as const satisfies Record<string, { number: number; payload: CompositeCodec<unknown> }>

/** Name of a transaction kind. */
export type TxKind = keyof typeof TX_KINDS
/** Payload of a kind. */
export type PayloadOf<K extends TxKind> = ValueOf<(typeof TX_KINDS)[K]['payload']>

/** All kinds, in the order of their numbers. */
export const TX_KIND_NAMES = Object.keys(TX_KINDS) as readonly TxKind[]

/** Numbers that are taken although this release does not know their kinds: invalid until a rule step activates them. */
export const RESERVED_KINDS: Readonly<Record<string, number>> = {
  account_rekey: 0x02,
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
}

const BY_NUMBER = new Map<number, TxKind>(TX_KIND_NAMES.map((kind) => [TX_KINDS[kind].number, kind]))

/** The kind of a wire number, undefined if the table has none. */
export function kindOfNumber(number: number): TxKind | undefined {
  return BY_NUMBER.get(number)
}

/** Longest payload of any kind. */
export const PAYLOAD_BYTES_MAX = Math.max(...TX_KIND_NAMES.map((kind) => TX_KINDS[kind].payload.maxSize))
