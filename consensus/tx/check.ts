import { type AccountKeys, addressOfKeys, decodeAccountKeys } from '../crypto/account-keys.ts'
import { KEY_SCHEMES } from '../crypto/schemes.ts'
import { type SignatureJob, type SigningNetwork, transactionMessage } from '../crypto/signing.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { checkPayload } from './check-payload.ts'
import type { TxRules } from './rules.ts'
import { type Transaction, TX_VERSION, type TxBody } from './transaction.ts'

/** All checks that need only the bytes and the rules. A transaction that fails here makes its block invalid. */
export function checkTransaction(tx: Transaction, rules: TxRules): Fault | null {
  return checkEnvelope(tx.body, rules) ?? checkPayload(tx.body, rules) ?? checkWitnessForm(tx)
}

function checkEnvelope(body: TxBody, rules: TxRules): Fault | null {
  if (body.version !== TX_VERSION) return fault('tx/version', { version: body.version })
  if (body.chainId !== rules.chainId) return fault('tx/chain-id', { chainId: body.chainId, expected: rules.chainId })
  return null
}

/** Keys are present exactly at nonce 0 and are the sender's; signatures are in order. */
function checkWitnessForm({ body, witness }: Transaction): Fault | null {
  if ((body.nonce === 0n) !== witness.keys.length > 0) return fault('tx/keys-misplaced')
  const { signatures } = witness
  const ordered = signatures.every(({ keyIndex }, i) => i === 0 || keyIndex > (signatures[i - 1]?.keyIndex as number))
  if (signatures.length === 0) return fault('tx/signature-count', { count: 0, expected: 'at least 1' })
  if (!ordered) return fault('tx/signature-order', { keys: 'the number of keys' })
  if (body.nonce !== 0n) return null
  const keys = carriedKeys(body.sender, witness.keys)
  return keys.ok ? checkWitnessAgainst(keys.value, signatures) : keys.fault
}

/** The keys that the witness of an account's first transaction carries, if they are the sender's. */
export function carriedKeys(sender: Address, encoded: Uint8Array): Result<AccountKeys> {
  if (addressOfKeys(encoded) !== sender) return fail(fault('tx/keys-not-of-sender'))
  return decodeAccountKeys(encoded)
}

type Signatures = Transaction['witness']['signatures']

/** Exactly as many signatures as the policy wants, by existing keys, each as long as its key's scheme says. */
export function checkWitnessAgainst(keys: AccountKeys, signatures: Signatures): Fault | null {
  if (signatures.length !== keys.threshold) {
    return fault('tx/signature-count', { count: signatures.length, expected: keys.threshold })
  }
  for (const { keyIndex, bytes } of signatures) {
    const key = keys.keys[keyIndex]
    if (key === undefined) return fault('tx/signature-order', { keys: keys.keys.length })
    const { signatureBytes } = KEY_SCHEMES[key.scheme]
    if (bytes.length !== signatureBytes) {
      return fault('tx/signature-length', { index: keyIndex, bytes: bytes.length, expected: signatureBytes })
    }
  }
  return null
}

/** The signatures of a transaction to check under its account's keys, or why they cannot fit. */
export function signatureJob(tx: Transaction, keys: AccountKeys, network: SigningNetwork): Result<SignatureJob> {
  const misfit = checkWitnessAgainst(keys, tx.witness.signatures)
  if (misfit !== null) return fail(misfit)
  const parts = tx.witness.signatures.map(({ keyIndex, bytes }) => ({
    key: keys.keys[keyIndex] as AccountKeys['keys'][number],
    signature: bytes,
  }))
  return ok({ domain: 'transaction', message: transactionMessage(network, keys.scheme, tx.txId), parts })
}
