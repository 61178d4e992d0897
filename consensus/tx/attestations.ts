import { taggedHash, taggedHashHex } from '../crypto/hash.ts'
import { concat, fromHex, uint32LE, uintLE, ZERO_HEX_32 } from '../primitives/bytes.ts'
import { container, encode, uint8, type ValueOf } from '../primitives/codec.ts'
import type { Hash, TxId } from '../primitives/ids.ts'
import { type BridgeDeposit, COMMITTEE_KEYS, NETWORK_NUMBERS, NETWORK_VAULTS } from './bridge-payloads.ts'

/** What a rotation changes: the payload of `bridge_rotate` without its attestation. Members sign over its hash. */
const ROTATION = container('Rotation', {
  threshold: uint8,
  keys: COMMITTEE_KEYS,
  vaults: NETWORK_VAULTS,
  resume: NETWORK_NUMBERS,
})

/** A new committee, new vaults, and networks that resume after a halt. */
export type Rotation = ValueOf<typeof ROTATION>

/** Identifies a payment into a vault: its network, its transaction there, and its place in that transaction. */
export type DepositName = Pick<BridgeDeposit, 'network' | 'externalTxId' | 'outputIndex'>

/** Actions that committee members can attest. */
export type AttestedAction =
  | ({ readonly action: 'deposit' } & DepositName & Pick<BridgeDeposit, 'to' | 'amount'>)
  | { readonly action: 'sign' | 'cancel'; readonly network: number; readonly withdrawalId: TxId }
  | {
      readonly action: 'release'
      readonly network: number
      readonly withdrawalId: TxId
      readonly externalTxId: Uint8Array
    }
  | ({ readonly action: 'rotate' } & Rotation)
  | { readonly action: 'halt'; readonly network: number }

/** Name of an attested action. */
export type AttestedActionName = AttestedAction['action']

/** Numbers of the actions; never changed or reused. */
const ACTION_NUMBERS: Readonly<Record<AttestedActionName, number>> = {
  deposit: 1,
  sign: 2,
  release: 3,
  cancel: 4,
  rotate: 5,
  halt: 6,
}

/** The network byte of a rotation, which concerns all networks. */
const EVERY_NETWORK = 255
const AMOUNT_BYTES = 16
const NO_CONTENT = new Uint8Array(0)

/** Id of a deposit's record: H(bridge-deposit, network: u8 || outputIndex: u32 || externalTxId). */
export function depositRecordId({ network, outputIndex, externalTxId }: DepositName): Hash {
  return taggedHashHex('bridgeDeposit', Uint8Array.of(network), uint32LE(outputIndex), externalTxId)
}

/**
 * What members sign for an action: H(attestation, action: u8 || network: u8 || epoch: u32 || record: 32 bytes ||
 * content).
 */
export function attestationDigest(action: AttestedAction, epoch: number): Uint8Array {
  return taggedHash(
    'attestation',
    Uint8Array.of(ACTION_NUMBERS[action.action], action.action === 'rotate' ? EVERY_NETWORK : action.network),
    uint32LE(epoch),
    fromHex(recordOf(action)),
    contentOf(action),
  )
}

function recordOf(action: AttestedAction): string {
  switch (action.action) {
    case 'deposit':
      return depositRecordId(action)
    case 'rotate':
      return taggedHashHex('bridgeRotation', encode(ROTATION, action))
    case 'halt':
      return ZERO_HEX_32
    default:
      return action.withdrawalId
  }
}

function contentOf(action: AttestedAction): Uint8Array {
  switch (action.action) {
    case 'deposit':
      return concat(fromHex(action.to), uintLE(action.amount, AMOUNT_BYTES))
    case 'release':
      return action.externalTxId
    default:
      return NO_CONTENT
  }
}
