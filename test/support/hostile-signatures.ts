import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import type { SignatureBackend } from '../../consensus/crypto/hybrid.ts'
import type { MlDsaLevel } from '../../consensus/crypto/schemes.ts'
import { concat, uintLE } from '../../consensus/primitives/bytes.ts'
import { smallOrderEncodings } from '../vectors/generate/edwards25519.ts'

/** The input of a verifier. */
export interface Shown {
  readonly key: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
}

/** The input of an ML-DSA verifier, which takes a context too. */
export interface ShownInContext extends Shown {
  readonly context: Uint8Array
}

const { Point } = ed25519
const L = Point.Fn.ORDER
/** A point of order 8. */
const TORSION = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05')

type PointValue = typeof TORSION

/** The point plus each of the eight points of small order, encoded. */
function dirtied(point: PointValue): readonly Uint8Array[] {
  const sums = [point]
  for (let i = 1; i < 8; i++) sums.push((sums[i - 1] as PointValue).add(TORSION))
  return sums.map((sum) => sum.toBytes())
}

const SCALARS = Array.from({ length: 12 }, (_, i) => fromLittleEndian(sha512(Uint8Array.of(i))) % L)
const POINTS = SCALARS.map((scalar) => dirtied(Point.BASE.multiply(scalar)))
const SMALL_ORDER = smallOrderEncodings()

function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
}

const index = (count: number): fc.Arbitrary<number> => fc.nat({ max: count - 1 })
/** Mostly 0: a signature stays valid only if the torsion of key and R cancels out. */
const torsion = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: index(8) })
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })

const scalarChange: fc.Arbitrary<(s: bigint) => bigint> = fc.oneof(
  { weight: 12, arbitrary: fc.constant((s: bigint) => s) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 15 }).map((k) => (s: bigint) => s + BigInt(k) * L) },
  { weight: 1, arbitrary: fc.constant((s: bigint) => L - s) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, L - 1n, L, L + 1n, 2n ** 255n - 1n).map((s) => () => s) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map((s) => () => s) },
)

/** Signatures of a signer that adds torsion to its key and R and shifts S. */
const crafted: fc.Arbitrary<Shown> = fc
  .record({
    signer: index(SCALARS.length),
    nonce: index(SCALARS.length),
    onKey: torsion,
    onR: torsion,
    change: scalarChange,
    message: fc.uint8Array({ maxLength: 80 }),
  })
  .map(({ signer, nonce, onKey, onR, change, message }) => {
    const key = POINTS[signer]?.[onKey] as Uint8Array
    const r = POINTS[nonce]?.[onR] as Uint8Array
    const k = fromLittleEndian(sha512(concat(r, key, message))) % L
    const s = change(((SCALARS[nonce] as bigint) + k * (SCALARS[signer] as bigint)) % L)
    return { key, message, signature: concat(r, uintLE(s, 32)) }
  })

type Change<S> = (shown: S) => S

/** Byte-level damage to one part of the input. */
function damage<S extends object>(part: keyof S): fc.Arbitrary<Change<S>> {
  const edited =
    (edit: (bytes: Uint8Array) => Uint8Array): Change<S> =>
    (shown) => ({
      ...shown,
      [part]: edit(shown[part] as Uint8Array),
    })
  const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const put = (share: number, change: (byte: number) => number) =>
    edited((bytes) => {
      const at = Math.floor(share * bytes.length)
      return bytes.map((byte, i) => (i === at ? change(byte) : byte))
    })
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(place, index(8)).map(([share, bit]) => put(share, (byte) => byte ^ (1 << bit))) },
    { weight: 3, arbitrary: fc.tuple(place, fc.nat({ max: 255 })).map(([share, value]) => put(share, () => value)) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((n) => edited((bytes) => bytes.subarray(0, -n))) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ minLength: 1, maxLength: 3 }).map((tail) => edited((bytes) => concat(bytes, tail))),
    },
  )
}

/** Replaces the key or R by random bytes or a point of small order. */
const strangePoint: fc.Arbitrary<Change<Shown>> = fc
  .tuple(fc.oneof(bytes32, fc.constantFrom(...SMALL_ORDER)), fc.boolean())
  .map(
    ([point, onKey]) =>
      (shown) =>
        onKey ? { ...shown, key: point } : { ...shown, signature: concat(point, shown.signature.subarray(32)) },
  )

function changedBy<S>(base: fc.Arbitrary<S>, change: fc.Arbitrary<Change<S>>): fc.Arbitrary<S> {
  const changes = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 5, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
  )
  return fc.tuple(base, changes).map(([shown, list]) => list.reduce((before, apply) => apply(before), shown))
}

/** Ed25519 signatures of all sorts. About one in eight is valid. */
export const hostileEd25519: fc.Arbitrary<Shown> = changedBy(
  crafted,
  fc.oneof(
    { weight: 3, arbitrary: damage<Shown>('signature') },
    { weight: 2, arbitrary: damage<Shown>('key') },
    { weight: 1, arbitrary: damage<Shown>('message') },
    { weight: 2, arbitrary: strangePoint },
  ),
)

/** Lengths of the parts of an ML-DSA signature, and the bounds of their numbers. */
const LAYOUT = {
  44: { hash: 32, zBits: 18, polys: 4, gamma1: 2 ** 17, beta: 78, omega: 80, k: 4 },
  65: { hash: 48, zBits: 20, polys: 5, gamma1: 2 ** 19, beta: 196, omega: 55, k: 6 },
} as const

/** Sets one coefficient of z to a number at the edge of its range. */
function edgeOfZ(level: MlDsaLevel): fc.Arbitrary<Change<ShownInContext>> {
  const { hash, zBits, polys, gamma1, beta } = LAYOUT[level]
  const packed = [0, 1, beta - 1, beta, beta + 1, gamma1, 2 * gamma1 - beta - 1, 2 * gamma1 - beta, 2 * gamma1 - 1]
  return fc.tuple(index(256 * polys), fc.constantFrom(...packed)).map(([coefficient, value]) => (shown) => {
    const signature = Uint8Array.from(shown.signature)
    for (let bit = 0; bit < zBits; bit++) {
      const at = hash * 8 + coefficient * zBits + bit
      const old = signature[at >> 3] ?? 0
      const mask = 1 << (at & 7)
      signature[at >> 3] = (value >> bit) & 1 ? old | mask : old & ~mask
    }
    return { ...shown, signature }
  })
}

/** Hints that are reordered, doubled, padded or counted wrongly. A lenient verifier accepts some of them. */
function hintTrick(level: MlDsaLevel): fc.Arbitrary<Change<ShownInContext>> {
  const { omega, k } = LAYOUT[level]
  const onHints =
    (edit: (hints: number[]) => void): Change<ShownInContext> =>
    (shown) => {
      const start = Math.max(0, shown.signature.length - omega - k)
      const hints = [...shown.signature.subarray(start)]
      edit(hints)
      return { ...shown, signature: concat(shown.signature.subarray(0, start), Uint8Array.from(hints)) }
    }
  const put = fc.tuple(index(omega + k), fc.nat({ max: 255 }))
  const swapped = index(omega - 1).map((at) =>
    onHints((hints) => hints.splice(at, 2, hints[at + 1] as number, hints[at] as number)),
  )
  const doubled = index(omega - 1).map((at) => onHints((hints) => hints.splice(at + 1, 1, hints[at] as number)))
  const counted = fc.tuple(index(k), fc.constantFrom(-1, 1, 200)).map(([i, by]) =>
    onHints((hints) => {
      hints[omega + i] = ((hints[omega + i] as number) + by + 256) & 255
    }),
  )
  const inserted = fc.tuple(index(k), index(omega)).map(([i, at]) =>
    onHints((hints) => {
      hints.splice(at, 0, hints[at] as number)
      hints.splice(omega, 1)
      for (let j = i; j < k; j++) hints[omega + j] = ((hints[omega + j] as number) + 1) & 255
    }),
  )
  const anywhere = put.map(([at, value]) => onHints((hints) => hints.splice(at, 1, value)))
  return fc.oneof(swapped, doubled, counted, inserted, anywhere)
}

/** ML-DSA signatures of all sorts, made from a few valid ones. */
export function hostileMlDsa(backend: SignatureBackend, level: MlDsaLevel): fc.Arbitrary<ShownInContext> {
  const good = Array.from({ length: 8 }, (_, i): ShownInContext => {
    const seed = new Uint8Array(32).fill(i >> 1)
    const message = new Uint8Array(i * 9).fill(i)
    const context = new Uint8Array([0, 1, 22, 255][i % 4] as number).fill(i)
    return {
      key: backend.publicKeyMlDsa(level, seed),
      message,
      context,
      signature: backend.signMlDsa(level, message, seed, context),
    }
  })
  const contexts = fc
    .uint8Array({ maxLength: 300 })
    .map((context) => (shown: ShownInContext) => ({ ...shown, context }))
  const keys = index(good.length).map((i) => (shown: ShownInContext) => ({ ...shown, key: good[i]?.key as Uint8Array }))
  return changedBy(
    fc.constantFrom(...good),
    fc.oneof(
      { weight: 4, arbitrary: damage<ShownInContext>('signature') },
      { weight: 2, arbitrary: damage<ShownInContext>('key') },
      { weight: 1, arbitrary: damage<ShownInContext>('message') },
      { weight: 1, arbitrary: damage<ShownInContext>('context') },
      { weight: 5, arbitrary: hintTrick(level) },
      { weight: 3, arbitrary: edgeOfZ(level) },
      { weight: 1, arbitrary: contexts },
      { weight: 1, arbitrary: keys },
    ),
  )
}
