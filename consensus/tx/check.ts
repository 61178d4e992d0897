import { type AccountKeys, addressOfKeys, decodeAccountKeys } from '../crypto/account-keys.ts'
import { KEY_SCHEMES } from '../crypto/schemes.ts'
import { type SignatureJob, type SigningNetwork, transactionMessage } from '../crypto/signing.ts'
import { SUPPLY_BOUND } from '../primitives/amount.ts'
import { unreachable } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { Address } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { type AgentInvoke, type AgentReceipt, OUTCOME_FAILED, type ServicePublish } from './payloads.ts'
import type { TxRules } from './rules.ts'
import { type Transaction, TX_VERSION, type TxBody } from './transaction.ts'

/** Number of capabilities in the closed table; a capability byte lies below it. */
export const CAPABILITY_COUNT = 16
/** Highest price of a service: a million dollars, in millionths. */
export const PRICE_USD_MICROS_MAX = 1_000_000_000_000n

/**
 * Everything that can be decided from the bytes and the rules alone. A transaction that fails here makes a block that
 * holds it invalid.
 */
export function checkTransaction(tx: Transaction, rules: TxRules): Fault | null {
  return checkEnvelope(tx.body, rules) ?? checkPayload(tx.body, rules) ?? checkWitnessForm(tx)
}

function checkEnvelope(body: TxBody, rules: TxRules): Fault | null {
  if (body.version !== TX_VERSION) return fault('tx/version', { version: body.version })
  if (body.chainId !== rules.chainId) return fault('tx/chain-id', { chainId: body.chainId, expected: rules.chainId })
  return null
}

function checkPayload(body: TxBody, rules: TxRules): Fault | null {
  switch (body.kind) {
    case 'transfer':
      return checkAmount('amount', body.payload.amount, 1n)
    case 'agent_register':
    case 'agent_update':
      return checkName(body.payload.name) ?? checkDistinct('settlers', body.payload.settlers)
    case 'service_publish':
      return checkService(body.payload)
    case 'service_retire':
      return null
    case 'agent_invoke':
      return checkInvoke(body.payload, rules)
    case 'agent_receipt':
      return checkEntries(body.payload)
    default:
      return unreachable(body)
  }
}

/** Amounts in transactions lie below every possible supply. */
function checkAmount(field: string, value: bigint, least: bigint): Fault | null {
  if (value >= least && value < SUPPLY_BOUND) return null
  return fault('tx/amount', { field, value: value.toString(), least: least.toString() })
}

function checkName(name: string): Fault | null {
  if (name !== '' && !name.startsWith(' ') && !name.endsWith(' ')) return null
  return fault('tx/field', { field: 'name', reason: 'must not be empty or begin or end with a blank' })
}

function checkDistinct(field: string, values: readonly Address[]): Fault | null {
  if (new Set(values).size === values.length) return null
  return fault('tx/field', { field, reason: 'an address stands twice' })
}

function checkService({ name, capability, priceUsdMicros }: ServicePublish): Fault | null {
  if (capability >= CAPABILITY_COUNT)
    return fault('tx/field', { field: 'capability', reason: `${capability} is unknown` })
  if (priceUsdMicros < 1n || priceUsdMicros > PRICE_USD_MICROS_MAX) {
    return fault('tx/field', { field: 'priceUsdMicros', reason: 'allowed is 1 to 10^12' })
  }
  return checkName(name)
}

function checkInvoke({ amount, units, term }: AgentInvoke, rules: TxRules): Fault | null {
  if (units !== 1) return fault('tx/field', { field: 'units', reason: 'must be 1' })
  if (!rules.invokeTerms.includes(term)) {
    return fault('tx/field', { field: 'term', reason: `must be one of ${rules.invokeTerms.join(', ')}` })
  }
  return checkAmount('amount', amount, rules.invokeAmountMin)
}

function checkEntries({ entries }: AgentReceipt): Fault | null {
  if (entries.length === 0) return fault('tx/field', { field: 'entries', reason: 'must not be empty' })
  const unknown = entries.find(({ outcome }) => outcome > OUTCOME_FAILED)
  return unknown === undefined ? null : fault('tx/field', { field: 'outcome', reason: `${unknown.outcome} is unknown` })
}

/** Keys present exactly at nonce 0 and of the sender; signatures in order. Needs no state. */
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

/** The keys that a first witness carries, proved to be the sender's. */
export function carriedKeys(sender: Address, encoded: Uint8Array): Result<AccountKeys> {
  if (addressOfKeys(encoded) !== sender) return fail(fault('tx/keys-not-of-sender'))
  return decodeAccountKeys(encoded)
}

type Signatures = Transaction['witness']['signatures']

/** Exactly as many signatures as the policy wants, by keys it has, each of its scheme's length. */
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

/** The signature work of a transaction under its account's keys, or why the witness cannot fit them. */
export function signatureJob(tx: Transaction, keys: AccountKeys, network: SigningNetwork): Result<SignatureJob> {
  const misfit = checkWitnessAgainst(keys, tx.witness.signatures)
  if (misfit !== null) return fail(misfit)
  const parts = tx.witness.signatures.map(({ keyIndex, bytes }) => ({
    key: keys.keys[keyIndex] as AccountKeys['keys'][number],
    signature: bytes,
  }))
  return ok({ domain: 'transaction', message: transactionMessage(network, keys.scheme, tx.txId), parts })
}
