import { describe, expect, it } from 'vitest'
import { hybridPublicKey, SEED_BYTES } from '../../../../consensus/crypto/hybrid.ts'
import { REFERENCE_BACKEND } from '../../../../consensus/crypto/reference-backend.ts'
import type { KeyScheme } from '../../../../consensus/crypto/schemes.ts'
import { seedOfWords, wordsOfSeed } from '../../../../consensus/crypto/words.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import { loadVectors, type SpelledBytes } from '../../../support/vectors.ts'

interface Seed {
  readonly name: string
  readonly seed: string
  readonly words: string
}
interface Key {
  readonly seed: string
  readonly scheme: KeyScheme
  readonly publicKey: SpelledBytes
}
interface Account {
  readonly name: string
  readonly address: string
}

const vectors = loadVectors<{ seeds: readonly Seed[]; keys: readonly Key[]; accounts: readonly Account[] }>(
  'accounts.json',
  { seeds: 5, keys: 10, accounts: 15 },
)
const [first] = vectors.seeds as [Seed]
const abandon = first.words

const invalid = (reason: string) => ({ ok: false, fault: fault('key/words-invalid', { reason }) })
const WRONG = 'a word or the checksum is wrong'
const NO_LETTER = 'a character is no letter'

describe('the words of a seed', () => {
  it('are those of the vectors and read back', () => {
    for (const { seed, words } of vectors.seeds) {
      expect(seed.length).toBe(2 * SEED_BYTES)
      expect(wordsOfSeed(fromHex(seed))).toBe(words)
      expect(seedOfWords(words)).toEqual({ ok: true, value: fromHex(seed) })
    }
  })

  it('lead to the public keys of the vectors in both backends', () => {
    const seeds = new Map(vectors.seeds.map(({ name, words }) => [name, seedOfWords(words)]))
    for (const { seed, scheme, publicKey } of vectors.keys) {
      const read = seeds.get(seed)
      if (read?.ok !== true) throw new Error(`no seed ${seed}`)
      for (const backend of [NATIVE_BACKEND, REFERENCE_BACKEND]) {
        const key = hybridPublicKey(backend, scheme, read.value)
        expect([key.scheme, toHex(key.bytes)]).toEqual([scheme, toHex(vectors.bytes(publicKey))])
      }
    }
  })

  it('lead to the wallet addresses of the vectors', () => {
    const addresses = new Map(vectors.accounts.map(({ name, address }) => [name, address]))
    for (const { name, seed } of vectors.seeds) {
      for (const scheme of [1, 2] as const)
        expect(walletKey(fromHex(seed), scheme).address).toBe(addresses.get(`single ${name}-${scheme}`))
    }
  })

  it('may be written in any case and with any blanks', () => {
    const expected = { ok: true, value: new Uint8Array(32) }
    expect(seedOfWords(abandon.toUpperCase())).toEqual(expected)
    expect(seedOfWords(`  ${abandon.replaceAll(' ', ' \t\n ')}\n`)).toEqual(expected)
    expect(seedOfWords(abandon.replace('abandon', 'Abandon'))).toEqual(expected)
  })

  it('are 24: a seed of another length has none', () => {
    for (const length of [0, 16, 20, 24, 28, 31, 33, 64])
      expect(() => wordsOfSeed(new Uint8Array(length)), `${length} bytes`).toThrow()
  })
})

describe('words that spell no seed are refused', () => {
  const words = abandon.split(' ')
  const shorter = (count: number, last: string) => [...words.slice(0, count - 1), last].join(' ')
  const cases: readonly [string, string, string][] = [
    ['nothing', '', '0 words'],
    ['blanks', ' \n\t ', '0 words'],
    ['one word', 'abandon', '1 words'],
    ['12 good words', shorter(12, 'about'), '12 words'],
    ['23 words', words.slice(0, 23).join(' '), '23 words'],
    ['25 words', `${abandon} abandon`, '25 words'],
    ['a wrong checksum', [...words.slice(0, 23), 'abandon'].join(' '), WRONG],
    ['a word that is not in the list', ['farthing', ...words.slice(1)].join(' '), WRONG],
    ['a word cut to its first four letters', ['aban', ...words.slice(1)].join(' '), WRONG],
    ['two words swapped', vectors.seeds[2]?.words.split(' ').toReversed().join(' ') as string, WRONG],
    ['words of another language', new Array(24).fill('ábaco').join(' '), NO_LETTER],
    ['letters of full width', abandon.replace('a', '\uff41'), NO_LETTER],
    ['a byte order mark', `\ufeff${abandon}`, NO_LETTER],
    ['commas between the words', abandon.replaceAll(' ', ','), NO_LETTER],
    ['names of object properties', new Array(24).fill('constructor').join(' '), WRONG],
  ]

  it.for(cases)('%s', ([, text, reason]) => {
    expect(seedOfWords(text)).toEqual(invalid(reason))
  })
})
