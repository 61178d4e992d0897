import { type AccountKeys, addressOfKeys, encodeAccountKeys, singleKey } from '../../consensus/crypto/account-keys.ts'
import { hybridPublicKey, signHybrid } from '../../consensus/crypto/hybrid.ts'
import type { AccountScheme, KeyScheme } from '../../consensus/crypto/schemes.ts'
import { type SigningNetwork, signingContext, transactionMessage } from '../../consensus/crypto/signing.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import {
  assembleTransaction,
  encodeBody,
  encodeWitness,
  type Transaction,
  type TxBody,
  transactionId,
  type Witness,
} from '../../consensus/tx/transaction.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'

/** One key of a policy with its secret. */
export interface Member {
  readonly scheme: KeyScheme
  readonly seed: Uint8Array
}

/** How a witness differs from the right one. */
export interface WitnessChange {
  /** Indices of the signing members, in the order of their signatures. */
  readonly signers?: readonly number[]
  /** Indices to write, if they differ from those of the signers. */
  readonly indices?: readonly number[]
  /** Scheme in the signed message. */
  readonly messageScheme?: AccountScheme
  /** Encoded keys in the witness. */
  readonly keys?: Uint8Array
  /** Changes the bytes of each signature after signing. */
  readonly edit?: (bytes: Uint8Array, position: number) => Uint8Array
}

/** A scheme-3 account with the secrets of all members. It can also sign wrongly. */
export class PolicyAccount implements WalletKey {
  readonly keys: AccountKeys
  readonly address: Address
  readonly #members: readonly Member[]

  constructor(threshold: number, members: readonly Member[]) {
    this.#members = members
    const keys = members.map(({ scheme, seed }) => hybridPublicKey(NATIVE_BACKEND, scheme, seed))
    this.keys = { scheme: 3, threshold, keys }
    this.address = addressOfKeys(this.encoded)
  }

  get encoded(): Uint8Array {
    return encodeAccountKeys(this.keys)
  }

  /** Signs with the first members, as many as the threshold asks for. */
  async sign(message: Uint8Array, context: Uint8Array): Promise<Witness['signatures']> {
    return this.#members
      .slice(0, this.keys.threshold)
      .map((member, keyIndex) => ({ keyIndex, bytes: signHybrid(NATIVE_BACKEND, { ...member, message, context }) }))
  }

  /** A transaction whose witness has the signatures of members 0 and 1, and the keys if the nonce is 0, unless `change` says otherwise. */
  transaction(body: TxBody, network: SigningNetwork, change: WitnessChange = {}): Transaction {
    const bodyBytes = encodeBody(body)
    const { signers = [0, 1], indices = signers, messageScheme = 3, edit = (bytes) => bytes } = change
    const message = transactionMessage(network, messageScheme, transactionId(bodyBytes))
    const signatures = signers.map((signer, position) => {
      const member = this.#members[signer] as Member
      const bytes = signHybrid(NATIVE_BACKEND, { ...member, message, context: signingContext('transaction') })
      return { keyIndex: indices[position] as number, bytes: edit(bytes, position) }
    })
    const keys = change.keys ?? (body.nonce === 0n ? this.encoded : new Uint8Array(0))
    const assembled = assembleTransaction(bodyBytes, encodeWitness({ keys, signatures }))
    if (!assembled.ok) throw new Error(assembled.fault.code)
    return assembled.value
  }
}

/** The encoded keys of an account with the key of one member. */
export function encodedSingle({ scheme, seed }: Member): Uint8Array {
  return encodeAccountKeys(singleKey(hybridPublicKey(NATIVE_BACKEND, scheme, seed)))
}
