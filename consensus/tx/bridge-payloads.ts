import { POLICY_KEYS_MAX, PUBLIC_KEY_BYTES_MAX, SIGNATURE_BYTES_MAX } from '../crypto/schemes.ts'
import {
  bool,
  byteList,
  container,
  hex32,
  list,
  text,
  uint8,
  uint32,
  uint128,
  type ValueOf,
} from '../primitives/codec.ts'
import type { Address, TxId } from '../primitives/ids.ts'

/** Most networks of the bridge. */
export const BRIDGE_NETWORKS_MAX = 16
/** Longest address on another chain. */
export const EXTERNAL_ADDRESS_CHARS_MAX = 90
/** Longest transaction id on another chain. */
export const EXTERNAL_TX_ID_BYTES_MAX = 64

/** Text of an address on another chain. */
export const externalAddress = text(EXTERNAL_ADDRESS_CHARS_MAX)
/** Bytes of a transaction id on another chain. */
export const externalTxId = byteList(EXTERNAL_TX_ID_BYTES_MAX)

/** The committee's epoch, and its members' signatures by ascending key index. */
export const ATTESTATION = container('Attestation', {
  epoch: uint32,
  signatures: list(
    container('AttestationSignature', { keyIndex: uint8, bytes: byteList(SIGNATURE_BYTES_MAX) }),
    POLICY_KEYS_MAX,
  ),
})

/** The place in the list is the key index. */
export const COMMITTEE_KEYS = list(
  container('CommitteeKey', { scheme: uint8, bytes: byteList(PUBLIC_KEY_BYTES_MAX) }),
  POLICY_KEYS_MAX,
)
/** Vault addresses by network. */
export const NETWORK_VAULTS = list(
  container('NetworkVault', { network: uint8, address: externalAddress }),
  BRIDGE_NETWORKS_MAX,
)
/** Numbers of networks. */
export const NETWORK_NUMBERS = list(uint8, BRIDGE_NETWORKS_MAX)

/** `bridge_deposit`: mints what arrived in the network's vault. `outputIndex` is the output or log that paid. */
export const BRIDGE_DEPOSIT = container('BridgeDeposit', {
  network: uint8,
  externalTxId,
  outputIndex: uint32,
  to: hex32<Address>(),
  amount: uint128,
  create: bool,
  attestation: ATTESTATION,
})

/** `bridge_withdraw`: burns wrapped tokens, to be paid out on their network. The transaction id is the withdrawal's id. */
export const BRIDGE_WITHDRAW = container('BridgeWithdraw', {
  network: uint8,
  amount: uint128,
  recipient: externalAddress,
})

/** `bridge_sign`: the committee begins to pay. From then on the withdrawal can only be released. */
export const BRIDGE_SIGN = container('BridgeSign', { withdrawalId: hex32<TxId>(), attestation: ATTESTATION })

/** `bridge_release`: the withdrawal was paid by this transaction of its network. */
export const BRIDGE_RELEASE = container('BridgeRelease', {
  withdrawalId: hex32<TxId>(),
  externalTxId,
  attestation: ATTESTATION,
})

/** `bridge_cancel`: gives a pending withdrawal back. */
export const BRIDGE_CANCEL = container('BridgeCancel', { withdrawalId: hex32<TxId>(), attestation: ATTESTATION })

/**
 * `bridge_rotate`: a new committee, new vaults, and networks that resume after a halt; all after the delay. Networks
 * are in ascending order. A network without an entry keeps its vault.
 */
export const BRIDGE_ROTATE = container('BridgeRotate', {
  threshold: uint8,
  keys: COMMITTEE_KEYS,
  vaults: NETWORK_VAULTS,
  resume: NETWORK_NUMBERS,
  attestation: ATTESTATION,
})

/** `bridge_halt`: blocks deposits, new withdrawals and `bridge_sign` of this network until a rotation resumes it. */
export const BRIDGE_HALT = container('BridgeHalt', { network: uint8, attestation: ATTESTATION })

/** Signatures of a committee in a payload. */
export type Attestation = ValueOf<typeof ATTESTATION>
/** Payload of `bridge_deposit`. */
export type BridgeDeposit = ValueOf<typeof BRIDGE_DEPOSIT>
/** Payload of `bridge_withdraw`. */
export type BridgeWithdraw = ValueOf<typeof BRIDGE_WITHDRAW>
/** Payload of `bridge_release`. */
export type BridgeRelease = ValueOf<typeof BRIDGE_RELEASE>
/** Payload of `bridge_rotate`. */
export type BridgeRotate = ValueOf<typeof BRIDGE_ROTATE>
