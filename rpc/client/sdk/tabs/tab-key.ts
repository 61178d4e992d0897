import { passesEd25519Rules } from '../../../../consensus/crypto/ed25519-rules.ts'
import { concat, fromHex, isHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { FarthingError } from '../errors.ts'

/** A key that signs the vouchers and queries of one tab. */
export interface TabKey {
  /** Public key in hex. */
  readonly publicKey: string
  sign(message: Uint8Array): Promise<Uint8Array>
}

/** Begin of a private Ed25519 key in PKCS8 (RFC 8410); the seed follows. */
const PKCS8_HEAD = fromHex('302e020100300506032b657004220420')
const SEED_BYTES = 32

/**
 * The key of a seed. Web Cryptography has Ed25519 in Node and in browsers on https and localhost, so the client needs no
 * curve code of its own.
 */
export async function tabKeyOf(seed: Uint8Array): Promise<TabKey> {
  const subtle = subtleOf()
  const sealed = concat(PKCS8_HEAD, seed) as Uint8Array<ArrayBuffer>
  const key = await subtle.importKey('pkcs8', sealed, 'Ed25519', true, ['sign'])
  const { x = '' } = await subtle.exportKey('jwk', key)
  const publicKey = toHex(bytesOfBase64(x))
  return {
    publicKey,
    sign: async (message) => new Uint8Array(await subtle.sign('Ed25519', key, message as Uint8Array<ArrayBuffer>)),
  }
}

/** A seed that is kept in the journal, for wallets that derive none. */
export function randomSeed(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(SEED_BYTES))
}

/** Whether a key of a tab signed a message. Key and signature in hex; anything else is a bad signature. */
export async function isSignedBy(key: string, message: Uint8Array, signature: string): Promise<boolean> {
  if (!isHex(key, SEED_BYTES) || !isHex(signature, 2 * SEED_BYTES)) return false
  const [keyBytes, signatureBytes] = [fromHex(key), fromHex(signature)] as Uint8Array<ArrayBuffer>[]
  if (keyBytes === undefined || signatureBytes === undefined || !passesEd25519Rules(keyBytes, signatureBytes))
    return false
  const subtle = subtleOf()
  try {
    const imported = await subtle.importKey('raw', keyBytes, 'Ed25519', false, ['verify'])
    return await subtle.verify('Ed25519', imported, signatureBytes, message as Uint8Array<ArrayBuffer>)
  } catch {
    // The key is no point of the curve.
    return false
  }
}

function subtleOf(): SubtleCrypto {
  const { subtle } = globalThis.crypto as { readonly subtle?: SubtleCrypto }
  if (subtle !== undefined) return subtle
  throw new FarthingError('tabs need Web Cryptography: serve the page by https', { code: 'no_web_crypto' })
}

/** Bytes of the base64 of JSON Web Keys, which has two other letters and no padding. */
function bytesOfBase64(text: string): Uint8Array {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/')
  return Uint8Array.from(atob(standard), (letter) => letter.charCodeAt(0))
}
