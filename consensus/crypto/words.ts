import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { fault } from '../primitives/fault.ts'
import { fail, ok, type Result } from '../primitives/result.ts'

/** Length of a wallet seed. */
export const SEED_BYTES = 32

/** The seed as 24 English words: the BIP-39 encoding of 256 bits of entropy with its checksum. */
export function wordsOfSeed(seed: Uint8Array): string {
  return entropyToMnemonic(seed, wordlist)
}

/** The seed that 24 words spell; case and blanks do not matter, any other count or a bad checksum is refused. */
export function seedOfWords(words: string): Result<Uint8Array> {
  const normalised = words.trim().toLowerCase().split(/\s+/)
  if (normalised.length !== 24) return fail(fault('key/words-invalid', { reason: `${normalised.length} words` }))
  try {
    return ok(mnemonicToEntropy(normalised.join(' '), wordlist))
  } catch {
    return fail(fault('key/words-invalid', { reason: 'a word or the checksum is wrong' }))
  }
}
