import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { assert } from '../primitives/assert.ts'
import { fault } from '../primitives/fault.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { SEED_BYTES } from './hybrid.ts'

/** 24 English words: the BIP-39 encoding of 256 bits of entropy with its checksum. */
export function wordsOfSeed(seed: Uint8Array): string {
  assert(seed.length === SEED_BYTES, `a wallet seed has ${SEED_BYTES} bytes`)
  return entropyToMnemonic(seed, wordlist)
}

/** ASCII case and white space do not matter; another count or a bad checksum is refused. */
export function seedOfWords(words: string): Result<Uint8Array> {
  if (!/^[A-Za-z\t\n\r ]*$/.test(words)) return fail(fault('key/words-invalid', { reason: 'a character is no letter' }))
  const normalised = words
    .toLowerCase()
    .split(/[\t\n\r ]+/)
    .filter((word) => word !== '')
  if (normalised.length !== 24) return fail(fault('key/words-invalid', { reason: `${normalised.length} words` }))
  try {
    return ok(mnemonicToEntropy(normalised.join(' '), wordlist))
  } catch {
    return fail(fault('key/words-invalid', { reason: 'a word or the checksum is wrong' }))
  }
}
