import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { ml_dsa44, ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { concat, equal } from '../primitives/bytes.ts'
import type { SignatureBackend } from './hybrid.ts'
import type { MlDsaLevel } from './schemes.ts'

/** Signatures in plain JavaScript: for browsers, and to test the native backend, which is ten times faster. */
export const REFERENCE_BACKEND: SignatureBackend = {
  name: 'noble',
  verifyEd25519: verifyCofactorless,
  verifyMlDsa: (level, message, signature, publicKey, context) =>
    mlDsa(level).verify(signature, message, publicKey, { context }),
  signEd25519: (message, seed) => ed25519.sign(message, seed),
  signMlDsa: (level, message, seed, context) =>
    mlDsa(level).sign(message, mlDsa(level).keygen(seed).secretKey, { context }),
  publicKeyEd25519: (seed) => ed25519.getPublicKey(seed),
  publicKeyMlDsa: (level, seed) => mlDsa(level).keygen(seed).publicKey,
}

/** R == [S]B - [k]A, compared as encodings. Noble's own verify multiplies by the cofactor and accepts more. */
function verifyCofactorless(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  const { Point } = ed25519
  const { Fn } = Point
  const encodedR = signature.subarray(0, 32)
  const s = Fn.fromBytes(signature.subarray(32))
  const k = littleEndianModOrder(sha512(concat(encodedR, publicKey, message)), Fn.ORDER)
  const a = pointOf(publicKey)
  if (a === undefined) return false
  const expected = Point.BASE.multiplyUnsafe(s).subtract(a.multiplyUnsafe(k))
  return equal(expected.toBytes(), encodedR)
}

/** Undefined if the bytes encode no point of the curve, as for half of all y. */
function pointOf(encoded: Uint8Array): InstanceType<typeof ed25519.Point> | undefined {
  try {
    return ed25519.Point.fromBytes(encoded)
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('bad point')) return undefined
    throw error
  }
}

function littleEndianModOrder(bytes: Uint8Array, order: bigint): bigint {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i] as number)
  return value % order
}

function mlDsa(level: MlDsaLevel): typeof ml_dsa44 {
  return level === 44 ? ml_dsa44 : ml_dsa65
}
