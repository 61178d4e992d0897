import { ACCOUNT_KEYS_BYTES_MAX, type AccountKeys } from '../crypto/account-keys.ts'
import { POLICY_KEYS_MAX, SIGNATURE_BYTES_MAX } from '../crypto/schemes.ts'
import { type SignatureJob, type SigningNetwork, textMessage } from '../crypto/signing.ts'
import { fromHex, isHexBytes } from '../primitives/bytes.ts'
import { fault } from '../primitives/fault.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { checkWitnessAgainst } from './check.ts'

/** One signature of a signed text, in hex. */
export interface TextSignature {
  readonly keyIndex: number
  readonly bytes: string
}

/** A text signed by an account, as JSON. `keys` is the hex encoding of the account's keys; null if left out. */
export interface SignedText {
  readonly address: string
  readonly text: string
  readonly signature: readonly TextSignature[]
  readonly keys: string | null
}

/** Longest text, in UTF-16 units. */
export const SIGNED_TEXT_CHARS_MAX = 10_000
const ADDRESS_CHARS_MAX = 200
const FIELDS = ['address', 'text', 'signature', 'keys']

/** The signatures of a text to check under its account's keys, or why they cannot fit. */
export function textJob(
  { text, signature }: SignedText,
  keys: AccountKeys,
  network: SigningNetwork,
): Result<SignatureJob> {
  const signatures = signature.map(({ keyIndex, bytes }) => ({ keyIndex, bytes: fromHex(bytes) }))
  const misfit = checkWitnessAgainst(keys, signatures)
  if (misfit !== null) return fail(misfit)
  const ordered = signatures.every(({ keyIndex }, i) => i === 0 || keyIndex > (signatures[i - 1]?.keyIndex as number))
  if (!ordered) return fail(fault('tx/signature-order', { keys: keys.keys.length }))
  const parts = signatures.map(({ keyIndex, bytes }) => ({
    key: keys.keys[keyIndex] as AccountKeys['keys'][number],
    signature: bytes,
  }))
  return ok({ domain: 'text', message: textMessage(network, keys.scheme, text), parts })
}

/** Only the form is checked: the caller, who knows the network, checks the address. */
export function readSignedText(json: string): Result<SignedText> {
  const fields = objectOf(json)
  if (fields === undefined) return refused('signed text', 'must be a JSON object')
  const stranger = Object.keys(fields).find((name) => !FIELDS.includes(name))
  if (stranger !== undefined) return refused(stranger.slice(0, 40), 'is unknown')
  const { address, text, keys } = fields
  if (typeof address !== 'string' || address.length > ADDRESS_CHARS_MAX) return refused('address', 'must be a text')
  if (typeof text !== 'string' || text.length > SIGNED_TEXT_CHARS_MAX || !text.isWellFormed()) {
    return refused('text', `must be well-formed text of at most ${SIGNED_TEXT_CHARS_MAX} characters`)
  }
  if (keys !== undefined && keys !== null && !isBytes(keys, ACCOUNT_KEYS_BYTES_MAX)) {
    return refused('keys', 'must be lower-case hex')
  }
  const signature = signaturesOf(fields.signature)
  if (signature === undefined) return refused('signature', 'must be hex, or a list of { keyIndex, bytes in hex }')
  return ok({ address, text, signature, keys: keys ?? null })
}

function objectOf(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json)
    const isObject = value !== null && typeof value === 'object' && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}

/** Hex alone is the signature of the first key. Undefined if the value is malformed. */
function signaturesOf(value: unknown): readonly TextSignature[] | undefined {
  if (isBytes(value, SIGNATURE_BYTES_MAX)) return [{ keyIndex: 0, bytes: value }]
  if (!Array.isArray(value) || value.length === 0 || value.length > POLICY_KEYS_MAX) return undefined
  const items = value as readonly unknown[]
  return items.every(isSignature) ? items.map(({ keyIndex, bytes }) => ({ keyIndex, bytes })) : undefined
}

function isSignature(value: unknown): value is TextSignature {
  if (value === null || typeof value !== 'object') return false
  const { keyIndex, bytes } = value as Readonly<Record<string, unknown>>
  return Number.isInteger(keyIndex) && (keyIndex as number) >= 0 && isBytes(bytes, SIGNATURE_BYTES_MAX)
}

function isBytes(value: unknown, bytesMax: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 2 * bytesMax && isHexBytes(value)
}

function refused(field: string, reason: string): Result<never> {
  return fail(fault('tx/json', { field, reason }))
}
