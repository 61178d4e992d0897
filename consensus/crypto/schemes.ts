import { ED25519_PUBLIC_KEY_BYTES, ED25519_SIGNATURE_BYTES } from './ed25519-rules.ts'

/** Parameter sets of FIPS 204. */
export type MlDsaLevel = 44 | 65
/** Scheme of one hybrid key. */
export type KeyScheme = 1 | 2
/** One key of scheme 1 or 2, or an m-of-n policy (3). */
export type AccountScheme = KeyScheme | 3

/** Sizes of one hybrid scheme, in bytes. */
export interface SchemeSizes {
  readonly name: string
  readonly mlDsa: MlDsaLevel
  readonly publicKeyBytes: number
  readonly signatureBytes: number
}

/** FIPS 204, table 2. */
export const ML_DSA_PUBLIC_KEY_BYTES: Readonly<Record<MlDsaLevel, number>> = { 44: 1312, 65: 1952 }
/** FIPS 204, table 2. */
export const ML_DSA_SIGNATURE_BYTES: Readonly<Record<MlDsaLevel, number>> = { 44: 2420, 65: 3309 }

/** A hybrid public key is Ed25519 || ML-DSA, a hybrid signature likewise; both halves must verify. */
export const KEY_SCHEMES: Readonly<Record<KeyScheme, SchemeSizes>> = {
  1: schemeSizes('ML-DSA-44 + Ed25519', 44),
  2: schemeSizes('ML-DSA-65 + Ed25519', 65),
}

/** Most keys of a scheme-3 policy. */
export const POLICY_KEYS_MAX = 8
/** Longest hybrid public key. */
export const PUBLIC_KEY_BYTES_MAX = KEY_SCHEMES[2].publicKeyBytes
/** Longest hybrid signature. */
export const SIGNATURE_BYTES_MAX = KEY_SCHEMES[2].signatureBytes

/** Whether a byte is a key scheme. */
export function isKeyScheme(value: number): value is KeyScheme {
  return value === 1 || value === 2
}

function schemeSizes(name: string, mlDsa: MlDsaLevel): SchemeSizes {
  return {
    name,
    mlDsa,
    publicKeyBytes: ED25519_PUBLIC_KEY_BYTES + ML_DSA_PUBLIC_KEY_BYTES[mlDsa],
    signatureBytes: ED25519_SIGNATURE_BYTES + ML_DSA_SIGNATURE_BYTES[mlDsa],
  }
}
