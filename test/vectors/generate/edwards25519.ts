import { fromLittleEndian, join, sha512, toLittleEndian } from './bytes.ts'

/**
 * edwards25519 from its definition, in plain integers without shortcuts, so that the vectors' verdicts do not depend on
 * the libraries that they judge.
 */

/** Field prime. */
export const P = 2n ** 255n - 19n
/** Order of the base point. */
export const L = 2n ** 252n + 27742317777372353535851937790883648493n

/** A point in extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
export interface Point {
  readonly x: bigint
  readonly y: bigint
  readonly z: bigint
  readonly t: bigint
}

const D = mod(-121665n * power(121666n, P - 2n))
const SQRT_MINUS_ONE = power(2n, (P - 1n) / 4n)

/** The neutral point. */
export const IDENTITY: Point = { x: 0n, y: 1n, z: 1n, t: 0n }
/** The base point: y = 4/5, x even. */
export const BASE = decodePoint(toLittleEndian(mod(4n * power(5n, P - 2n)), 32)) as Point

function mod(value: bigint): bigint {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = mod(base)
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = mod(result * square)
    square = mod(square * square)
  }
  return result
}

/** The complete addition law for a = -1: it doubles as well. */
export function addPoints(p: Point, q: Point): Point {
  const a = mod((p.y - p.x) * (q.y - q.x))
  const b = mod((p.y + p.x) * (q.y + q.x))
  const c = mod(2n * p.t * mod(q.t * D))
  const d = mod(2n * p.z * q.z)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return { x: mod(e * f), y: mod(g * h), z: mod(f * g), t: mod(e * h) }
}

/** p, 2p, 4p, ... by point, remembered because the same few points are multiplied again and again. */
const doublings = new WeakMap<Point, Point[]>()

/** [scalar]p for any scalar >= 0. The scalar is not reduced, because points may have small order. */
export function multiplyPoint(p: Point, scalar: bigint): Point {
  const powers = doublings.get(p) ?? [p]
  doublings.set(p, powers)
  let sum = IDENTITY
  for (let i = 0, rest = scalar; rest > 0n; i++, rest >>= 1n) {
    const last = powers[powers.length - 1] as Point
    if (i === powers.length) powers.push(addPoints(last, last))
    if (rest & 1n) sum = addPoints(sum, powers[i] as Point)
  }
  return sum
}

export function samePoint(p: Point, q: Point): boolean {
  return mod(p.x * q.z - q.x * p.z) === 0n && mod(p.y * q.z - q.y * p.z) === 0n
}

/** The canonical encoding: y, and the lowest bit of x on top. */
export function encodePoint(p: Point): Uint8Array {
  const inverse = power(p.z, P - 2n)
  return toLittleEndian(mod(p.y * inverse) + ((mod(p.x * inverse) & 1n) << 255n), 32)
}

/** The point of 32 bytes as the most lenient decoder reads them (y modulo p, a negative zero), undefined off the curve. */
export function decodePoint(bytes: Uint8Array): Point | undefined {
  const number = fromLittleEndian(bytes)
  const y = (number & (2n ** 255n - 1n)) % P
  const u = mod(y * y - 1n)
  const v = mod(D * y * y + 1n)
  const ratio = mod(u * power(v, P - 2n))
  let x = power(ratio, (P + 3n) / 8n)
  if (mod(x * x - ratio) !== 0n) x = mod(x * SQRT_MINUS_ONE)
  if (mod(x * x - ratio) !== 0n) return undefined
  if ((x & 1n) !== number >> 255n) x = mod(-x)
  return { x, y, z: 1n, t: mod(x * y) }
}

/** The eight points of small order: multiples of a point of order 8. */
export const TORSION: readonly Point[] = smallOrderPoints()

function smallOrderPoints(): Point[] {
  for (let y = 2n; ; y++) {
    const point = decodePoint(toLittleEndian(y, 32))
    if (point === undefined) continue
    const candidate = multiplyPoint(point, L)
    if (samePoint(multiplyPoint(candidate, 4n), IDENTITY)) continue
    return Array.from({ length: 8 }, (_, i) => multiplyPoint(candidate, BigInt(i)))
  }
}

/** Everything that a lenient decoder reads as a point of small order: 14 encodings. */
export function smallOrderEncodings(): Uint8Array[] {
  const ys = new Set(TORSION.map((point) => fromLittleEndian(encodePoint(point)) & (2n ** 255n - 1n)))
  const encodings: Uint8Array[] = []
  for (const y of ys) {
    for (const spelled of y + P < 2n ** 255n ? [y, y + P] : [y]) {
      encodings.push(toLittleEndian(spelled, 32), toLittleEndian(spelled + 2n ** 255n, 32))
    }
  }
  return encodings
}

/** A signing key: the secret scalar, the nonce prefix, the public point. */
export interface SecretKey {
  readonly scalar: bigint
  readonly prefix: Uint8Array
  readonly point: Point
  readonly publicKey: Uint8Array
}

/** Expands a seed (RFC 8032, 5.1.5). */
export function expandSeed(seed: Uint8Array): SecretKey {
  const hashed = sha512(seed)
  const low = fromLittleEndian(hashed.subarray(0, 32))
  const scalar = (low & (2n ** 254n - 8n)) | (2n ** 254n)
  const point = multiplyPoint(BASE, scalar)
  return { scalar, prefix: hashed.subarray(32), point, publicKey: encodePoint(point) }
}

/** The challenge: SHA-512 of R, key and message as a number below L, as every implementation reduces it. */
export function challenge(r: Uint8Array, publicKey: Uint8Array, message: Uint8Array): bigint {
  return fromLittleEndian(sha512(r, publicKey, message)) % L
}

/**
 * Signs. A hostile signer adds points of small order to its key and to R. The challenge hashes the bytes as sent, so
 * only the equation can detect that.
 */
export function signEd25519(
  secret: SecretKey,
  message: Uint8Array,
  { onKey = IDENTITY, onR = IDENTITY }: { onKey?: Point; onR?: Point } = {},
): { readonly publicKey: Uint8Array; readonly signature: Uint8Array } {
  const nonce = fromLittleEndian(sha512(secret.prefix, message)) % L
  const publicKey = encodePoint(addPoints(secret.point, onKey))
  const r = encodePoint(addPoints(multiplyPoint(BASE, nonce), onR))
  const s = (nonce + challenge(r, publicKey, message) * secret.scalar) % L
  return { publicKey, signature: join(r, toLittleEndian(s, 32)) }
}

/** Whether [S]B = R + [k]A holds without the cofactor, for leniently decoded points. False if there is no point. */
export function equationHolds(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const r = signature.subarray(0, 32)
  const [pointR, pointA] = [decodePoint(r), decodeCached(publicKey)]
  if (pointR === undefined || pointA === undefined) return false
  const left = multiplyPoint(BASE, fromLittleEndian(signature.subarray(32)))
  return samePoint(left, addPoints(pointR, multiplyPoint(pointA, challenge(r, publicKey, message))))
}

const decodedKeys = new Map<string, Point | undefined>()

function decodeCached(bytes: Uint8Array): Point | undefined {
  const name = bytes.join()
  if (!decodedKeys.has(name)) decodedKeys.set(name, decodePoint(bytes))
  return decodedKeys.get(name)
}

/** The rule in front of the equation, from its definition: lengths, S < L, y < p, [8]P is not the neutral point. */
export function meetsRules(publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const s = fromLittleEndian(signature.subarray(32))
  return s < L && isAcceptable(publicKey) && isAcceptable(signature.subarray(0, 32))
}

function isAcceptable(encoded: Uint8Array): boolean {
  if ((fromLittleEndian(encoded) & (2n ** 255n - 1n)) >= P) return false
  const point = decodeCached(encoded)
  return point === undefined || !samePoint(multiplyPoint(point, 8n), IDENTITY)
}
