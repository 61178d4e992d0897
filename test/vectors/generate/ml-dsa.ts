import { join, shake256 } from './bytes.ts'
import {
  centred,
  combine,
  decompose,
  dot,
  evaluate,
  expandA,
  expandS,
  infinityNorm,
  interpolate,
  modQ,
  multiplyValues,
  type Params,
  type Poly,
  packBits,
  Q,
  sampleInBall,
  unpackBits,
  useHint,
} from './ml-dsa-math.ts'

/** An expanded key pair (FIPS 204, algorithm 6). */
export interface KeyPair {
  readonly params: Params
  readonly publicKey: Uint8Array
  readonly matrix: readonly (readonly Poly[])[]
  readonly nonceSeed: Uint8Array
  readonly s1: readonly Poly[]
  readonly s2: readonly Poly[]
  readonly t0: readonly Poly[]
}

/** Key pair of a 32-byte seed. */
export function keyPair(params: Params, seed: Uint8Array): KeyPair {
  const { k, l } = params
  const expanded = shake256(128, seed, Uint8Array.of(k, l))
  const [rho, rhoPrime, nonceSeed] = [expanded.subarray(0, 32), expanded.subarray(32, 96), expanded.subarray(96)]
  const matrix = expandA(params, rho)
  const s1 = expandS(params, rhoPrime, 0, l)
  const s2 = expandS(params, rhoPrime, l, k)
  const s1Values = s1.map(evaluate)
  const t = matrix.map((row, i) => combine(interpolate(dot(row, s1Values)), s2[i] as Poly))
  const t0 = t.map((poly) => poly.map((value) => centred(value, 2 ** 13)))
  const t1 = t.map((poly, i) => poly.map((value, j) => (value - ((t0[i] as Poly)[j] as number)) / 2 ** 13))
  const publicKey = join(rho, ...t1.map((poly) => packBits(poly, 10)))
  return { params, publicKey, matrix, nonceSeed, s1, s2, t0 }
}

/** The hashed message: 0, length of the context, context, message. */
export function framed(message: Uint8Array, context: Uint8Array): Uint8Array {
  return join(Uint8Array.of(0, context.length), context, message)
}

/** The parts of a signature before they are packed. */
export interface SignatureParts {
  readonly hash: Uint8Array
  readonly z: readonly Poly[]
  readonly hints: readonly Poly[]
}

/** Decides whether an attempt at signing is kept, by the norm of its z; the standard keeps norms below gamma1 - beta. */
export type Keeps = (norm: number) => boolean

/**
 * Signs deterministically (algorithm 7 with rnd = 0). `keeps` lets a hostile signer keep a z that the standard rejects.
 * All else about its signature is right.
 */
export function signMlDsa(
  pair: KeyPair,
  message: Uint8Array,
  context: Uint8Array,
  { keeps, attemptsMax = 2_000 }: { keeps?: Keeps; attemptsMax?: number } = {},
): Uint8Array {
  const { params } = pair
  const mu = shake256(64, shake256(64, pair.publicKey), framed(message, context))
  const nonces = shake256(64, pair.nonceSeed, new Uint8Array(32), mu)
  const accepts = keeps ?? ((norm) => norm < params.gamma1 - params.beta)
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const y = expandMask(params, nonces, attempt * params.l)
    const parts = attemptToSign(pair, mu, y, accepts)
    if (parts !== undefined) return packSignature(params, parts)
  }
  throw new Error('no attempt was kept')
}

function expandMask({ l, gamma1, zBits }: Params, seed: Uint8Array, first: number): Poly[] {
  return Array.from({ length: l }, (_, r) => {
    const counter = Uint8Array.of((first + r) & 255, (first + r) >> 8)
    return unpackBits(shake256(32 * zBits, seed, counter), zBits).map((value) => gamma1 - value)
  })
}

function attemptToSign(pair: KeyPair, mu: Uint8Array, y: readonly Poly[], keeps: Keeps): SignatureParts | undefined {
  const { params, matrix, s1, s2, t0 } = pair
  const { gamma2, beta, omega, hashBytes } = params
  const yValues = y.map(evaluate)
  const w = matrix.map((row) => interpolate(dot(row, yValues)))
  const w1 = w.map((poly) => poly.map((value) => decompose(params, value).high))
  const hash = shake256(hashBytes, mu, ...w1.map((poly) => packBits(poly, params.w1Bits)))
  const c = evaluate(sampleInBall(params, hash))
  const timesC = (poly: Poly) => interpolate(multiplyValues(c, evaluate(poly)))
  const z = y.map((poly, i) => combine(poly, timesC(s1[i] as Poly)))
  if (!keeps(infinityNorm(z))) return undefined
  const reduced = w.map((poly, i) => combine(poly, timesC(s2[i] as Poly), -1))
  const low = reduced.map((poly) => poly.map((value) => decompose(params, value).low))
  if (infinityNorm(low) >= gamma2 - beta) return undefined
  const ct0 = t0.map(timesC)
  if (infinityNorm(ct0) >= gamma2) return undefined
  const shifted = reduced.map((poly, i) => combine(poly, ct0[i] as Poly))
  const hints = shifted.map((poly, i) =>
    poly.map((value, j) =>
      decompose(params, value).high === decompose(params, (reduced[i] as Poly)[j] as number).high ? 0 : 1,
    ),
  )
  const count = hints.reduce((sum, poly) => sum + poly.reduce((a, b) => a + b, 0), 0)
  return count > omega ? undefined : { hash, z, hints }
}

/** sigEncode (algorithm 26). */
export function packSignature({ gamma1, zBits, omega, k }: Params, { hash, z, hints }: SignatureParts): Uint8Array {
  const hintBytes = new Uint8Array(omega + k)
  let at = 0
  hints.forEach((poly, i) => {
    poly.forEach((hint, j) => {
      if (hint === 1) hintBytes[at++] = j
    })
    hintBytes[omega + i] = at
  })
  const packed = z.map((poly) =>
    packBits(
      poly.map((value) => gamma1 - centred(value)),
      zBits,
    ),
  )
  return join(hash, ...packed, hintBytes)
}

/** Checks that a verifier leaves out, to show that a hostile case needs exactly that check. */
export interface Leniency {
  readonly z?: boolean
  readonly hints?: boolean
}

/** Verifies (algorithm 8), contexts and lengths included. */
export function verifyMlDsa(
  params: Params,
  { key, message, context, signature }: Record<'key' | 'message' | 'context' | 'signature', Uint8Array>,
  lenient: Leniency = {},
): boolean {
  const { k, l, gamma1, beta, omega, hashBytes, zBits } = params
  if (context.length > 255 || key.length !== 32 + 320 * k) return false
  if (signature.length !== hashBytes + 32 * zBits * l + omega + k) return false
  const hash = signature.subarray(0, hashBytes)
  const z = Array.from({ length: l }, (_, i) => {
    const start = hashBytes + 32 * zBits * i
    return unpackBits(signature.subarray(start, start + 32 * zBits), zBits).map((value) => gamma1 - value)
  })
  const hints = unpackHints(params, signature.subarray(signature.length - omega - k), lenient.hints === true)
  if (hints === undefined) return false
  if (lenient.z !== true && infinityNorm(z) >= gamma1 - beta) return false
  const mu = shake256(64, shake256(64, key), framed(message, context))
  const c = evaluate(sampleInBall(params, hash))
  const zValues = z.map(evaluate)
  const { matrix, t1 } = expandedKey(params, key)
  const w1 = matrix.map((row, i) => {
    const ct1 = multiplyValues(c, t1[i] as Poly)
    const w = interpolate(dot(row, zValues).map((value, j) => modQ(value - (ct1[j] as number))))
    return w.map((value, j) => useHint(params, (hints[i] as Poly)[j] as number, value))
  })
  const expected = shake256(hashBytes, mu, ...w1.map((poly) => packBits(poly, params.w1Bits)))
  return Buffer.compare(expected, hash) === 0
}

interface ExpandedKey {
  readonly matrix: readonly (readonly Poly[])[]
  /** t1 x 2^13, as values. */
  readonly t1: readonly Poly[]
}

/** Expanded keys by their bytes. Most cases are judged under one key. */
const expandedKeys = new Map<string, ExpandedKey>()

function expandedKey(params: Params, key: Uint8Array): ExpandedKey {
  const name = key.join()
  const known = expandedKeys.get(name)
  if (known !== undefined) return known
  const t1 = Array.from({ length: params.k }, (_, i) => {
    const packed = unpackBits(key.subarray(32 + 320 * i, 352 + 320 * i), 10)
    return evaluate(packed.map((value) => (value * 2 ** 13) % Q))
  })
  const expanded = { matrix: expandA(params, key.subarray(0, 32)), t1 }
  expandedKeys.set(name, expanded)
  return expanded
}

/** HintBitUnpack (algorithm 21). The lenient form reads as much as it can. */
function unpackHints({ k, omega }: Params, bytes: Uint8Array, lenient: boolean): Poly[] | undefined {
  const hints = Array.from({ length: k }, () => new Int32Array(256))
  let at = 0
  for (const [i, poly] of hints.entries()) {
    const end = bytes[omega + i] as number
    if (!lenient && (end < at || end > omega)) return undefined
    const first = at
    for (; at < Math.min(end, omega); at++) {
      const unordered = at > first && (bytes[at - 1] as number) >= (bytes[at] as number)
      if (!lenient && unordered) return undefined
      poly[bytes[at] as number] = 1
    }
  }
  return lenient || bytes.subarray(at, omega).every((byte) => byte === 0) ? hints : undefined
}
