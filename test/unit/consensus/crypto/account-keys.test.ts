import { describe, expect, it } from 'vitest'
import {
  ACCOUNT_KEYS_BYTES_MAX,
  addressOfKeys,
  decodeAccountKeys,
  encodeAccountKeys,
  singleKey,
} from '../../../../consensus/crypto/account-keys.ts'
import type { HybridPublicKey } from '../../../../consensus/crypto/hybrid.ts'
import type { AccountScheme, KeyScheme } from '../../../../consensus/crypto/schemes.ts'
import { concat, fromHex, toHex, uint32LE } from '../../../../consensus/primitives/bytes.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { loadVectors, type SpelledBytes } from '../../../support/vectors.ts'

interface AccountVector {
  readonly name: string
  readonly scheme: AccountScheme
  readonly threshold: number
  readonly keys: readonly string[]
  readonly encoded: string
  readonly address: string
}
interface KeyVector {
  readonly name: string
  readonly scheme: KeyScheme
  readonly publicKey: SpelledBytes
}

const vectors = loadVectors<{ keys: readonly KeyVector[]; accounts: readonly AccountVector[] }>('accounts.json', {
  seeds: 5,
  keys: 10,
  accounts: 15,
})
const KEYS = new Map<string, HybridPublicKey>(
  vectors.keys.map(({ name, scheme, publicKey }) => [name, { scheme, bytes: vectors.bytes(publicKey) }]),
)

interface RawKey {
  readonly scheme: number
  readonly bytes: Uint8Array
}

/** Any AccountKeys, valid or not, encoded by hand. */
function raw(scheme: number, threshold: number, keys: readonly RawKey[]): Uint8Array {
  const elements = keys.map((key) => concat(Uint8Array.of(key.scheme), uint32LE(5), key.bytes))
  let offset = 4 * keys.length
  const offsets = elements.map(({ length }) => {
    offset += length
    return uint32LE(offset - length)
  })
  return concat(Uint8Array.of(scheme, threshold), uint32LE(6), ...offsets, ...elements)
}

function keyOf(scheme: number, fill: number, length = scheme === 2 ? 1_984 : 1_344): RawKey {
  return { scheme, bytes: new Uint8Array(length).fill(fill) }
}

const unsound = (reason: string) => ({ ok: false, fault: fault('key/malformed', { reason }) })
const undecodable = (reason: string, type = 'AccountKeys') => ({
  ok: false,
  fault: fault('codec/malformed', { type, reason }),
})

describe('account keys', () => {
  it('have the encoding and the address of every vector, and decode to what was encoded', () => {
    for (const { scheme, threshold, keys: names, encoded, address } of vectors.accounts) {
      const keys = names.map((name) => KEYS.get(name) as HybridPublicKey)
      const account = { scheme, threshold, keys }
      expect(toHex(encodeAccountKeys(account))).toBe(encoded)
      expect(addressOfKeys(fromHex(encoded))).toBe(address)
      expect(decodeAccountKeys(fromHex(encoded))).toEqual({ ok: true, value: account })
      if (scheme !== 3) expect(singleKey(keys[0] as HybridPublicKey)).toEqual(account)
    }
  })

  it('fit the longest encoding that is announced: eight keys of scheme 2', () => {
    const keys = Array.from({ length: 8 }, (_, i) => keyOf(2, i) as HybridPublicKey)
    expect(encodeAccountKeys({ scheme: 3, threshold: 8, keys }).length).toBe(ACCOUNT_KEYS_BYTES_MAX)
  })

  it('make another address for another scheme, threshold or order of the same keys', () => {
    const [a, b] = [keyOf(1, 1), keyOf(1, 2)]
    const addresses = [raw(1, 1, [a]), raw(3, 1, [a]), raw(3, 1, [a, b]), raw(3, 2, [a, b]), raw(3, 2, [b, a])]
    expect(new Set(addresses.map((bytes) => addressOfKeys(bytes))).size).toBe(addresses.length)
  })

  it('may be a policy of one key, and of eight that must all sign', () => {
    expect(decodeAccountKeys(raw(3, 1, [keyOf(1, 1)])).ok).toBe(true)
    const eight = Array.from({ length: 8 }, (_, i) => keyOf(1 + (i % 2), i))
    expect(decodeAccountKeys(raw(3, 8, eight)).ok).toBe(true)
  })
})

describe('unsound account keys are refused', () => {
  const key = keyOf(1, 1)
  const cases: readonly [string, Uint8Array, string][] = [
    ['scheme 0', raw(0, 1, [key]), 'unknown scheme 0'],
    ['scheme 4', raw(4, 1, [key]), 'unknown scheme 4'],
    ['scheme 255', raw(255, 1, [key]), 'unknown scheme 255'],
    ['a key of scheme 0', raw(1, 1, [keyOf(0, 1)]), 'unknown key scheme 0'],
    ['a key of scheme 4', raw(3, 1, [keyOf(4, 1)]), 'unknown key scheme 4'],
    ['a policy in a policy', raw(3, 1, [keyOf(3, 1)]), 'unknown key scheme 3'],
    ['a policy beside a key in a policy', raw(3, 1, [key, keyOf(3, 1, 100)]), 'unknown key scheme 3'],
    ['scheme 1 without a key', raw(1, 1, []), 'scheme 1 takes one key of its own scheme'],
    ['scheme 2 without a key', raw(2, 1, []), 'scheme 2 takes one key of its own scheme'],
    ['scheme 1 with two keys', raw(1, 1, [key, keyOf(1, 2)]), 'scheme 1 takes one key of its own scheme'],
    ['scheme 1 with threshold 0', raw(1, 0, [key]), 'scheme 1 takes one key of its own scheme'],
    ['scheme 1 with threshold 2', raw(1, 2, [key]), 'scheme 1 takes one key of its own scheme'],
    ['scheme 1 with a key of scheme 2', raw(1, 1, [keyOf(2, 1)]), 'scheme 1 takes one key of its own scheme'],
    ['scheme 2 with a key of scheme 1', raw(2, 1, [key]), 'scheme 2 takes one key of its own scheme'],
    ['a policy without keys', raw(3, 1, []), '1 of 0 keys cannot be satisfied'],
    ['a policy of nothing', raw(3, 0, []), '0 of 0 keys cannot be satisfied'],
    ['a policy that no key must sign', raw(3, 0, [key]), '0 of 1 keys cannot be satisfied'],
    ['a policy that wants more than it has', raw(3, 3, [key, keyOf(1, 2)]), '3 of 2 keys cannot be satisfied'],
    ['a policy that wants 255', raw(3, 255, [key]), '255 of 1 keys cannot be satisfied'],
    ['a key twice', raw(3, 2, [key, keyOf(1, 1)]), 'a key stands twice in the policy'],
    ['a key twice, far apart', raw(3, 1, [key, keyOf(1, 2), keyOf(2, 3), key]), 'a key stands twice in the policy'],
    ['a key twice, of scheme 2', raw(3, 2, [keyOf(2, 9), keyOf(2, 9)]), 'a key stands twice in the policy'],
    ['an empty key', raw(1, 1, [keyOf(1, 1, 0)]), 'a key has 0 bytes, scheme 1 has 1344'],
    ['a key one byte short', raw(1, 1, [keyOf(1, 1, 1_343)]), 'a key has 1343 bytes, scheme 1 has 1344'],
    ['a key one byte long', raw(1, 1, [keyOf(1, 1, 1_345)]), 'a key has 1345 bytes, scheme 1 has 1344'],
    ['a key of scheme 2 named 1', raw(1, 1, [keyOf(1, 1, 1_984)]), 'a key has 1984 bytes, scheme 1 has 1344'],
    ['a key of scheme 1 named 2', raw(2, 1, [keyOf(2, 1, 1_344)]), 'a key has 1344 bytes, scheme 2 has 1984'],
    ['a short key in a policy', raw(3, 1, [key, keyOf(2, 1, 1_983)]), 'a key has 1983 bytes, scheme 2 has 1984'],
  ]

  it.for(cases)('%s', ([, bytes, reason]) => {
    expect(decodeAccountKeys(bytes)).toEqual(unsound(reason))
  })
})

describe('malformed encodings of account keys are refused', () => {
  const good = raw(1, 1, [keyOf(1, 1)])
  const patched = (at: number, byte: number) => good.map((old, i) => (i === at ? byte : old))
  const cases: readonly [string, Uint8Array, string][] = [
    ['nothing', new Uint8Array(0), 'it is cut off'],
    ['a cut head', good.subarray(0, 5), 'it is cut off'],
    ['a first offset before the end of the head', patched(2, 5), 'First offset must equal to fixedEnd 5 != 6'],
    ['a first offset behind the end of the head', patched(2, 7), 'First offset must equal to fixedEnd 7 != 6'],
    ['an offset out of the buffer', patched(5, 1), 'Offset out of bounds 16777222 > 1359'],
    [
      'nine keys',
      raw(
        3,
        1,
        Array.from({ length: 9 }, (_, i) => keyOf(1, i)),
      ),
      'Invalid list length 9 over limit 8',
    ],
    ['a key above every length', raw(2, 1, [keyOf(2, 1, 1_985)]), 'ByteList invalid size 1985 limit 1984'],
    ['an element offset of 0', patched(6, 0), 'First offset must be > 0'],
    ['an element offset that is no multiple of 4', patched(6, 5), 'Offset data length not multiple of 4'],
    ['a key offset that leaves a gap', patched(11, 6), 'First offset must equal to fixedEnd 6 != 5'],
  ]

  it.for(cases)('%s', ([, bytes, reason]) => {
    expect(decodeAccountKeys(bytes)).toEqual(undecodable(reason))
  })

  it('bytes behind the last key count to the key, whose length is then wrong', () => {
    expect(decodeAccountKeys(concat(good, Uint8Array.of(0)))).toEqual(
      unsound('a key has 1345 bytes, scheme 1 has 1344'),
    )
  })

  it('every cut of a good encoding is refused and nothing throws', () => {
    for (let length = 0; length < good.length; length++) {
      const decoded = decodeAccountKeys(good.subarray(0, length))
      expect(decoded.ok ? 'accepted' : decoded.fault.code).toMatch(/^(codec|key)\/malformed$/)
    }
  })
})
