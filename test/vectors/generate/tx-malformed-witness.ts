import { join } from './bytes.ts'
import {
  accountKeys,
  addressOf,
  bodyBytes,
  fillerKey,
  fillerSignature,
  made,
  type RawSignature,
  wireBytes,
  witnessBytes,
} from './tx-fields.ts'
import { type MalformedCase, malformed } from './tx-malformed-case.ts'
import { PAYLOADS, rawBody, SOUND } from './tx-payloads.ts'

/** Malformed transactions by rules 4 and 5: keys and signatures that do not fit the sender. */

const NO_KEYS = new Uint8Array(0)
const SINGLE = accountKeys(1, 1, [fillerKey(1, 0x11)])
const VAULT = accountKeys(2, 1, [fillerKey(2, 0x22)])
const POLICY = accountKeys(3, 2, [fillerKey(1, 0x11), fillerKey(2, 0x22), fillerKey(1, 0x33)])
const ONE = [fillerSignature(0)]

function wireOf(
  nonce: bigint,
  keys: Uint8Array,
  signatures: readonly RawSignature[],
  sender = nonce === 0n ? addressOf(keys) : made('sender'),
): Uint8Array {
  const body = bodyBytes(rawBody('transfer', PAYLOADS.transfer(SOUND.transfer), { nonce, sender }))
  return wireBytes(body, witnessBytes({ keys, signatures }))
}

function forms(): readonly MalformedCase[] {
  const disorder = { keys: 'the number of keys' }
  const none = { count: 0, expected: 'at least 1' }
  return [
    malformed(4, 'no keys at nonce 0', wireOf(0n, NO_KEYS, ONE), 'tx/keys-misplaced'),
    malformed(4, 'keys at nonce 1', wireOf(1n, SINGLE, ONE, addressOf(SINGLE)), 'tx/keys-misplaced'),
    malformed(4, 'no signature', wireOf(7n, NO_KEYS, []), 'tx/signature-count', none),
    malformed(4, 'no signature at nonce 0', wireOf(0n, SINGLE, []), 'tx/signature-count', none),
    ...[
      [0, 0],
      [1, 0],
      [0, 2, 1],
    ].map((indices) =>
      malformed(
        4,
        `signatures by the keys ${indices.join(', ')}`,
        wireOf(
          7n,
          NO_KEYS,
          indices.map((index) => fillerSignature(index)),
        ),
        'tx/signature-order',
        disorder,
      ),
    ),
  ]
}

function unsoundKeys(): readonly MalformedCase[] {
  const unsound = (name: string, keys: Uint8Array, reason: string) =>
    malformed(5, name, wireOf(0n, keys, ONE), 'key/malformed', { reason })
  const [a, b] = [fillerKey(1, 0x11), fillerKey(1, 0x33)]
  const short = { scheme: 1, bytes: a.bytes.slice(1) }
  return [
    malformed(5, 'the keys of another', wireOf(0n, SINGLE, ONE, made('sender')), 'tx/keys-not-of-sender'),
    malformed(5, 'keys that do not decode', wireOf(0n, SINGLE.slice(0, 9), ONE), 'codec/malformed', {
      ...{ type: 'AccountKeys', reason: null },
    }),
    malformed(5, 'keys with a byte left over', wireOf(0n, join(SINGLE, Uint8Array.of(0)), ONE), 'key/malformed', {
      reason: 'a key has 1345 bytes, scheme 1 has 1344',
    }),
    unsound('account scheme 0', accountKeys(0, 1, [a]), 'unknown scheme 0'),
    unsound('account scheme 4', accountKeys(4, 1, [a]), 'unknown scheme 4'),
    unsound('a key of scheme 3', accountKeys(3, 1, [{ scheme: 3, bytes: a.bytes }]), 'unknown key scheme 3'),
    unsound('a key of scheme 0', accountKeys(1, 1, [{ scheme: 0, bytes: a.bytes }]), 'unknown key scheme 0'),
    unsound('a key a byte short', accountKeys(1, 1, [short]), 'a key has 1343 bytes, scheme 1 has 1344'),
    unsound(
      'a vault key of the wrong length',
      accountKeys(2, 1, [{ scheme: 2, bytes: a.bytes }]),
      'a key has 1344 bytes, scheme 2 has 1984',
    ),
    unsound('scheme 1 without a key', accountKeys(1, 1, []), 'scheme 1 takes one key of its own scheme'),
    unsound('scheme 1 with two keys', accountKeys(1, 1, [a, b]), 'scheme 1 takes one key of its own scheme'),
    unsound('scheme 1 with threshold 0', accountKeys(1, 0, [a]), 'scheme 1 takes one key of its own scheme'),
    unsound('scheme 1 with threshold 2', accountKeys(1, 2, [a]), 'scheme 1 takes one key of its own scheme'),
    unsound('scheme 2 with a key of scheme 1', accountKeys(2, 1, [a]), 'scheme 2 takes one key of its own scheme'),
    unsound('a policy without keys', accountKeys(3, 1, []), '1 of 0 keys cannot be satisfied'),
    unsound('a policy of nobody', accountKeys(3, 0, [a]), '0 of 1 keys cannot be satisfied'),
    unsound('a policy of three of two', accountKeys(3, 3, [a, b]), '3 of 2 keys cannot be satisfied'),
    unsound('a policy with a key twice', accountKeys(3, 1, [a, b, a]), 'a key stands twice in the policy'),
  ]
}

function misfits(): readonly MalformedCase[] {
  const count = (name: string, keys: Uint8Array, signatures: readonly RawSignature[], expected: number) =>
    malformed(5, name, wireOf(0n, keys, signatures), 'tx/signature-count', { count: signatures.length, expected })
  const length = (name: string, keys: Uint8Array, bytes: number, expected: number) =>
    malformed(5, name, wireOf(0n, keys, [{ keyIndex: 0, bytes: new Uint8Array(bytes) }]), 'tx/signature-length', {
      index: 0,
      bytes,
      expected,
    })
  const outside = (name: string, keys: Uint8Array, signatures: readonly RawSignature[], held: number) =>
    malformed(5, name, wireOf(0n, keys, signatures), 'tx/signature-order', { keys: held })
  const three = [fillerSignature(0), fillerSignature(1, 2), fillerSignature(2)]
  return [
    count('two signatures for one key', SINGLE, [fillerSignature(0), fillerSignature(1)], 1),
    count('one signature for two of three', POLICY, ONE, 2),
    count('three signatures for two of three', POLICY, three, 2),
    outside('a signature by key 1 of one', SINGLE, [fillerSignature(1)], 1),
    outside('a signature by key 3 of three', POLICY, [fillerSignature(0), fillerSignature(3)], 3),
    outside('a signature by key 255', SINGLE, [fillerSignature(255)], 1),
    length('an empty signature', SINGLE, 0, 2_484),
    length('a signature a byte short', SINGLE, 2_483, 2_484),
    length('a signature a byte long', SINGLE, 2_485, 2_484),
    length('a vault’s signature for a plain key', SINGLE, 3_373, 2_484),
    length('a plain signature for a vault', VAULT, 2_484, 3_373),
    malformed(
      5,
      'a plain signature by the vault key of a policy',
      wireOf(0n, POLICY, [fillerSignature(0), fillerSignature(1, 1)]),
      'tx/signature-length',
      { index: 1, bytes: 2_484, expected: 3_373 },
    ),
  ]
}

export function txMalformedWitnesses(): readonly MalformedCase[] {
  return [...forms(), ...unsoundKeys(), ...misfits()]
}
