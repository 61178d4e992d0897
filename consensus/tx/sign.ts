import { type AccountKeys, addressOfKeys, encodeAccountKeys } from '../crypto/account-keys.ts'
import { formatAddress } from '../crypto/address.ts'
import { type SigningNetwork, signingContext, textMessage, transactionMessage } from '../crypto/signing.ts'
import { assert } from '../primitives/assert.ts'
import { toHex } from '../primitives/bytes.ts'
import type { Address } from '../primitives/ids.ts'
import type { SignedText } from './signed-text.ts'
import {
  assembleTransaction,
  encodeBody,
  encodeWitness,
  type Transaction,
  type TxBody,
  transactionId,
} from './transaction.ts'

/** Signs for one account: a wallet in memory, a keystore, a device. */
export interface AccountSigner {
  readonly keys: AccountKeys
  /** At least as many signatures as the policy's threshold, by ascending key index. */
  sign(
    message: Uint8Array,
    context: Uint8Array,
  ): Promise<readonly { readonly keyIndex: number; readonly bytes: Uint8Array }[]>
}

/** Address of a signer. */
export function addressOfSigner(signer: Pick<AccountSigner, 'keys'>): Address {
  return addressOfKeys(encodeAccountKeys(signer.keys))
}

/** The witness carries the keys if the nonce is 0. */
export async function signTransaction(
  body: TxBody,
  signer: AccountSigner,
  network: SigningNetwork,
): Promise<Transaction> {
  const bodyBytes = encodeBody(body)
  const message = transactionMessage(network, signer.keys.scheme, transactionId(bodyBytes))
  const signatures = await signer.sign(message, signingContext('transaction'))
  const keys = body.nonce === 0n ? encodeAccountKeys(signer.keys) : new Uint8Array(0)
  const witnessBytes = encodeWitness({ keys, signatures: signatures.slice(0, signer.keys.threshold) })
  const assembled = assembleTransaction(bodyBytes, witnessBytes)
  assert(assembled.ok, 'a transaction of our own making does not decode')
  return assembled.value
}

/** The signed message begins with its domain, so a signed text never passes for a transaction. */
export async function signText(
  text: string,
  signer: AccountSigner,
  { network, prefix }: { readonly network: SigningNetwork; readonly prefix: string },
): Promise<SignedText> {
  const message = textMessage(network, signer.keys.scheme, text)
  const signatures = await signer.sign(message, signingContext('text'))
  const keys = encodeAccountKeys(signer.keys)
  return {
    address: formatAddress(prefix, addressOfKeys(keys)),
    text,
    signature: signatures
      .slice(0, signer.keys.threshold)
      .map(({ keyIndex, bytes }) => ({ keyIndex, bytes: toHex(bytes) })),
    keys: toHex(keys),
  }
}
