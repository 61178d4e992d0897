import { assert } from '../primitives/assert.ts'
import { equal } from '../primitives/bytes.ts'
import { byteList, container, decode, encode, list, uint8 } from '../primitives/codec.ts'
import { fault } from '../primitives/fault.ts'
import type { Address } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { taggedHashHex } from './hash.ts'
import type { HybridPublicKey } from './hybrid.ts'
import {
  type AccountScheme,
  isKeyScheme,
  KEY_SCHEMES,
  type KeyScheme,
  POLICY_KEYS_MAX,
  PUBLIC_KEY_BYTES_MAX,
} from './schemes.ts'

/** What an address stands for. `threshold` of the keys must sign; their order counts. */
export interface AccountKeys {
  readonly scheme: AccountScheme
  readonly threshold: number
  readonly keys: readonly HybridPublicKey[]
}

const KEY = container('PublicKey', { scheme: uint8, bytes: byteList(PUBLIC_KEY_BYTES_MAX) })
const ACCOUNT_KEYS = container('AccountKeys', { scheme: uint8, threshold: uint8, keys: list(KEY, POLICY_KEYS_MAX) })

/** Longest encoding of {@link AccountKeys}. */
export const ACCOUNT_KEYS_BYTES_MAX = ACCOUNT_KEYS.maxSize

/**
 * The one encoding of account keys; the address is its hash. Unsound keys are a bug: coins sent to their address could
 * never be spent.
 */
export function encodeAccountKeys(keys: AccountKeys): Uint8Array {
  const reason = whyUnsound(keys)
  assert(reason === undefined, `unsound account keys: ${reason}`)
  return encode(ACCOUNT_KEYS, keys)
}

/** Encodes keys that may be unsound, for {@link decodeAccountKeys} to check. */
export function encodeRawAccountKeys(keys: RawKeys): Uint8Array {
  return encode(ACCOUNT_KEYS, keys)
}

/** Strict decoding: known schemes, exact key lengths, a satisfiable policy of distinct keys. */
export function decodeAccountKeys(bytes: Uint8Array): Result<AccountKeys> {
  const decoded = decode(ACCOUNT_KEYS, bytes)
  if (!decoded.ok) return decoded
  const reason = whyUnsound(decoded.value)
  return reason === undefined ? ok(decoded.value as AccountKeys) : fail(fault('key/malformed', { reason }))
}

/** Keys of an account with one hybrid key. */
export function singleKey(key: HybridPublicKey): AccountKeys {
  return { scheme: key.scheme, threshold: 1, keys: [key] }
}

/** Address of the keys: H(address tag, their encoding). */
export function addressOfKeys(encodedKeys: Uint8Array): Address {
  return taggedHashHex<Address>('address', encodedKeys)
}

interface RawKeys {
  readonly scheme: number
  readonly threshold: number
  readonly keys: readonly { readonly scheme: number; readonly bytes: Uint8Array }[]
}

function whyUnsound({ scheme, threshold, keys }: RawKeys): string | undefined {
  for (const key of keys) {
    if (!isKeyScheme(key.scheme)) return `unknown key scheme ${key.scheme}`
    const { publicKeyBytes } = KEY_SCHEMES[key.scheme as KeyScheme]
    if (key.bytes.length !== publicKeyBytes)
      return `a key has ${key.bytes.length} bytes, scheme ${key.scheme} has ${publicKeyBytes}`
  }
  if (isKeyScheme(scheme)) {
    const single = keys.length === 1 && threshold === 1 && keys[0]?.scheme === scheme
    return single ? undefined : `scheme ${scheme} takes one key of its own scheme`
  }
  if (scheme !== 3) return `unknown scheme ${scheme}`
  if (keys.length < 1 || threshold < 1 || threshold > keys.length)
    return `${threshold} of ${keys.length} keys cannot be satisfied`
  const repeated = keys.some((key, i) => keys.slice(0, i).some((other) => equal(other.bytes, key.bytes)))
  return repeated ? 'a key stands twice in the policy' : undefined
}
