import { bech32Text, fiveBitGroups } from './accounts.ts'
import { madeBytes } from './bytes.ts'
import { fillerKey, fillerSignature, made, type RawSignature } from './tx-fields.ts'
import { container, listOfVarying, u8, u32, u128, vary, words } from './tx-wire.ts'

/** Encoders of the bridge's payloads, and a valid sample of each. Every field may be out of range. */

export interface RawAttestation {
  readonly epoch: number
  readonly signatures: readonly RawSignature[]
}

export interface DepositFields {
  readonly network: number
  readonly externalTxId: Uint8Array
  readonly outputIndex: number
  readonly to: Uint8Array
  readonly amount: bigint
  readonly create: number
  readonly attestation: RawAttestation
}

export interface RotationFields {
  readonly threshold: number
  readonly keys: readonly { readonly scheme: number; readonly bytes: Uint8Array }[]
  readonly vaults: readonly { readonly network: number; readonly address: string }[]
  readonly resume: readonly number[]
}

interface Attested {
  readonly attestation: RawAttestation
}

interface WithdrawalName extends Attested {
  readonly withdrawalId: Uint8Array
}

const attestationBytes = ({ epoch, signatures }: RawAttestation) =>
  container(
    u32(epoch),
    vary(listOfVarying(signatures.map(({ keyIndex, bytes }) => container(u8(keyIndex), vary(bytes))))),
  )
const attested = ({ attestation }: Attested) => vary(attestationBytes(attestation))
const ofWithdrawal = (p: WithdrawalName) => container(p.withdrawalId, attested(p))

/** Keys of a committee as a list of (scheme, bytes). */
export function committeeKeys(keys: RotationFields['keys']): Uint8Array {
  return listOfVarying(keys.map(({ scheme, bytes }) => container(u8(scheme), vary(bytes))))
}

/** Vaults as a list of (network, address). */
export function vaultList(vaults: RotationFields['vaults']): Uint8Array {
  return listOfVarying(vaults.map(({ network, address }) => container(u8(network), words(address))))
}

/** The parts of a rotation, in the order of the payload, of its record's hash and of the state record. */
export function rotationParts({ threshold, keys, vaults, resume }: RotationFields) {
  return [u8(threshold), vary(committeeKeys(keys)), vary(vaultList(vaults)), vary(Uint8Array.from(resume))]
}

export const BRIDGE_PAYLOADS = {
  bridge_deposit: (p: DepositFields) =>
    container(
      ...[u8(p.network), vary(p.externalTxId), u32(p.outputIndex), p.to, u128(p.amount), u8(p.create)],
      attested(p),
    ),
  bridge_withdraw: (p: { network: number; amount: bigint; recipient: string }) =>
    container(u8(p.network), u128(p.amount), words(p.recipient)),
  bridge_sign: ofWithdrawal,
  bridge_release: (p: WithdrawalName & { externalTxId: Uint8Array }) =>
    container(p.withdrawalId, vary(p.externalTxId), attested(p)),
  bridge_cancel: ofWithdrawal,
  bridge_rotate: (p: RotationFields & Attested) => container(...rotationParts(p), attested(p)),
  bridge_halt: (p: { network: number } & Attested) => container(u8(p.network), attested(p)),
}

/** Made-up signatures of scheme 2's length, with these key indices. */
export function attestationBy(keyIndices: readonly number[], epoch = 3): RawAttestation {
  return { epoch, signatures: keyIndices.map((keyIndex) => fillerSignature(keyIndex, 2)) }
}

const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const SOLANA = '1nc1nerator11111111111111111111111111111111'
/** Segwit of 32 bytes: version 1 with the checksum of BIP-350, version 0 with that of BIP-173. */
const [TAPROOT, SCRIPT_HASH] = [
  bech32Text('bc', [1, ...fiveBitGroups(made('taproot'))]),
  bech32Text('ltc', [0, ...fiveBitGroups(made('script hash'))], 1),
]

/** A canonical address of every network, by its number: seven EVM chains, Solana, Bitcoin, Litecoin. */
export const EXTERNAL_ADDRESSES: readonly string[] = [...Array<string>(7).fill(EVM), SOLANA, TAPROOT, SCRIPT_HASH]

/** A made-up transaction id of a network. */
export function externalTxId(network: number): Uint8Array {
  return madeBytes(`external transaction ${network}`, network === 7 ? 64 : 32)
}

/** Made-up committee keys of scheme 2. Only their length matters. */
export function fillerCommittee(count: number): RotationFields['keys'] {
  return Array.from({ length: count }, (_, i) => fillerKey(2, 0x11 * (i + 1)))
}

const WITHDRAWAL: WithdrawalName = { withdrawalId: made('withdrawal'), attestation: attestationBy([0, 2]) }

/** A valid payload of each kind. */
export const BRIDGE_SOUND = {
  bridge_deposit: {
    ...{ network: 1, externalTxId: externalTxId(1), outputIndex: 3, to: made('to'), amount: 25_000_000n, create: 0 },
    attestation: attestationBy([0, 2]),
  },
  bridge_withdraw: { network: 1, amount: 25_000_000n, recipient: EVM },
  bridge_sign: WITHDRAWAL,
  bridge_release: { ...WITHDRAWAL, externalTxId: externalTxId(1) },
  bridge_cancel: WITHDRAWAL,
  bridge_rotate: {
    ...{ threshold: 2, keys: fillerCommittee(3), vaults: [{ network: 1, address: EVM }], resume: [0, 1] },
    attestation: attestationBy([1, 2]),
  },
  bridge_halt: { network: 1, attestation: attestationBy([1]) },
}
