import { b32, bool, bytes, container, list, text, u8, u32, u64s, u128, type Value } from './ssz.ts'

/** An address on another chain. */
const external = text(90)
const externalTxId = bytes(64)
const keys = list(container({ scheme: u8, bytes: bytes(1_984) }), 8)
const vaults = list(container({ network: u8, address: external }), 16)
const resume = list(u8, 16)

// transactions.md, section 3

const attestation = container({
  epoch: u32,
  signatures: list(container({ keyIndex: u8, bytes: bytes(3_373) }), 8),
})
export type Attestation = Value<typeof attestation>

export const BRIDGE_DEPOSIT = container({
  network: u8,
  externalTxId,
  outputIndex: u32,
  to: b32,
  amount: u128,
  create: bool,
  attestation,
})
export const BRIDGE_WITHDRAW = container({ network: u8, amount: u128, recipient: external })
/** Payload of bridge_sign and bridge_cancel. */
export const BRIDGE_WITHDRAWAL = container({ withdrawalId: b32, attestation })
export const BRIDGE_RELEASE = container({ withdrawalId: b32, externalTxId, attestation })
export const BRIDGE_ROTATE = container({ threshold: u8, keys, vaults, resume, attestation })
export const BRIDGE_HALT = container({ network: u8, attestation })

/** The part of a rotation that its attestation covers. */
export const ROTATION = container({ threshold: u8, keys, vaults, resume })

// ledgers.md

export const COMMITTEE = container({
  epoch: u32,
  threshold: u8,
  keys,
  rotation: list(container({ effectiveAt: u32, threshold: u8, keys, vaults, resume }), 1),
})
export const NETWORK = container({
  version: u8,
  asset: b32,
  vault: external,
  halted: bool,
  deposited: u128,
  released: u128,
  fees: u128,
  pending: u128,
  mintDay: u32,
  mintedToday: u128,
  deposits: u64s,
  withdrawals: u64s,
})
export const DEPOSIT = container({ network: u8, to: b32, amount: u128, height: u32 })
export const WITHDRAWAL = container({
  network: u8,
  sender: b32,
  amount: u128,
  fee: u128,
  recipient: external,
  status: u8,
  createdAt: u32,
  externalTxId,
})
