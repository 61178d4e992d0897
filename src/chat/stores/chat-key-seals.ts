import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, readFile, rename } from 'node:fs/promises'
import type { KeySeals } from '../../../marketplace/chat/keys/key-book.ts'
import { createFileAtomically } from '../../storage/atomic-file.ts'

const SECRET_BYTES = 32
/** With the secret, keys could be forged in the database, or guessed against it offline. */
const OWNER_ONLY = 0o600
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(ALPHABET.length)
/** Digits in base 62 for 32 bytes. */
const KEY_DIGITS = 43
const ID_DIGITS = 8

/** Keys of the form `fk-`, eight public characters, 32 random bytes. Sealed by HMAC-SHA-256 under a secret. */
export function keySeals(secret: Uint8Array): KeySeals {
  const seal = (text: string): Buffer => createHmac('sha256', secret).update(text).digest()
  return {
    name: seal('farthing chat keys').toString('hex').slice(0, 16),
    draw: () => {
      const id = base62(randomBytes(16), ID_DIGITS)
      return { id, key: `fk-${id}${base62(randomBytes(32), KEY_DIGITS)}` }
    },
    seal: (key) => seal(key).toString('hex'),
    matches: (key, hex) => {
      const kept = Buffer.from(hex, 'hex')
      const shown = seal(key)
      return kept.length === shown.length && timingSafeEqual(kept, shown)
    },
  }
}

/** The lowest digits. A double click selects a text in base 62 as a whole. */
function base62(bytes: Buffer, digits: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let i = 0; i < digits; i++) {
    text = ALPHABET[Number(rest % BASE)] + text
    rest /= BASE
  }
  return text
}

/** The secret of a data folder: 32 bytes in hex. Created if missing. An unusable one is moved to `<path>.damaged`. */
export async function makeKeySecret(path: string): Promise<Uint8Array> {
  const fresh = randomBytes(SECRET_BYTES)
  for (;;) {
    if (await createFileAtomically(path, `${fresh.toString('hex')}\n`, OWNER_ONLY)) return fresh
    await chmod(path, OWNER_ONLY)
    const text = (await readFile(path, 'utf8')).trim()
    if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex')
    await rename(path, `${path}.damaged`)
  }
}
