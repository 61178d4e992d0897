import { assert } from '../primitives/assert.ts'
import { concat } from '../primitives/bytes.ts'
import { ED25519_PUBLIC_KEY_BYTES, ED25519_SIGNATURE_BYTES, passesEd25519Rules } from './ed25519-rules.ts'
import { taggedHash } from './hash.ts'
import { KEY_SCHEMES, type KeyScheme, type MlDsaLevel, type SchemeSizes } from './schemes.ts'

/**
 * The two signature schemes under a hybrid signature. {@link verifyHybrid} checks lengths and the rules of Ed25519
 * first. If a backend throws, for example for want of memory, the signature may still be good.
 */
export interface SignatureBackend {
  readonly name: string
  verifyEd25519(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean
  verifyMlDsa(
    level: MlDsaLevel,
    message: Uint8Array,
    signature: Uint8Array,
    publicKey: Uint8Array,
    context: Uint8Array,
  ): boolean
  /** Signs with the private key that the 32-byte seed expands to (RFC 8032, 5.1.5). */
  signEd25519(message: Uint8Array, seed: Uint8Array): Uint8Array
  /** Signs, hedged, with the private key that the 32-byte seed xi expands to (FIPS 204, algorithm 1). */
  signMlDsa(level: MlDsaLevel, message: Uint8Array, seed: Uint8Array, context: Uint8Array): Uint8Array
  publicKeyEd25519(seed: Uint8Array): Uint8Array
  publicKeyMlDsa(level: MlDsaLevel, seed: Uint8Array): Uint8Array
}

const CONTEXT_BYTES_MAX = 255

/** A public key and its scheme. */
export interface HybridPublicKey {
  readonly scheme: KeyScheme
  readonly bytes: Uint8Array
}

/**
 * Whether both halves of the signature verify. Malformed input is invalid. An error of the backend is thrown: a block
 * must not be condemned for it.
 */
export function verifyHybrid(
  backend: SignatureBackend,
  key: HybridPublicKey,
  { message, signature, context }: { message: Uint8Array; signature: Uint8Array; context: Uint8Array },
): boolean {
  const sizes: SchemeSizes | undefined = KEY_SCHEMES[key.scheme]
  if (sizes === undefined) return false
  if (key.bytes.length !== sizes.publicKeyBytes || signature.length !== sizes.signatureBytes) return false
  if (context.length > CONTEXT_BYTES_MAX) return false
  const classicalKey = key.bytes.subarray(0, ED25519_PUBLIC_KEY_BYTES)
  const classicalSignature = signature.subarray(0, ED25519_SIGNATURE_BYTES)
  if (!passesEd25519Rules(classicalKey, classicalSignature)) return false
  return (
    backend.verifyEd25519(message, classicalSignature, classicalKey) === true &&
    backend.verifyMlDsa(
      sizes.mlDsa,
      message,
      signature.subarray(ED25519_SIGNATURE_BYTES),
      key.bytes.subarray(ED25519_PUBLIC_KEY_BYTES),
      context,
    ) === true
  )
}

/** Signature Ed25519 || ML-DSA with the keys of a wallet seed. */
export function signHybrid(
  backend: SignatureBackend,
  { scheme, seed, message, context }: { scheme: KeyScheme; seed: Uint8Array; message: Uint8Array; context: Uint8Array },
): Uint8Array {
  const { mlDsa } = KEY_SCHEMES[scheme]
  return concat(
    backend.signEd25519(message, seedOf('seedEd25519', scheme, seed)),
    backend.signMlDsa(mlDsa, message, seedOf('seedMlDsa', scheme, seed), context),
  )
}

/** The hybrid public key of a wallet seed. */
export function hybridPublicKey(backend: SignatureBackend, scheme: KeyScheme, seed: Uint8Array): HybridPublicKey {
  const { mlDsa } = KEY_SCHEMES[scheme]
  const bytes = concat(
    backend.publicKeyEd25519(seedOf('seedEd25519', scheme, seed)),
    backend.publicKeyMlDsa(mlDsa, seedOf('seedMlDsa', scheme, seed)),
  )
  return { scheme, bytes }
}

/** Length of a wallet seed. */
export const SEED_BYTES = 32

/** The scheme is hashed in, so that one wallet seed gives unrelated keys under each scheme. */
function seedOf(use: 'seedEd25519' | 'seedMlDsa', scheme: KeyScheme, seed: Uint8Array): Uint8Array {
  assert(seed.length === SEED_BYTES, `a wallet seed has ${SEED_BYTES} bytes`)
  return taggedHash(use, Uint8Array.of(scheme), seed)
}
