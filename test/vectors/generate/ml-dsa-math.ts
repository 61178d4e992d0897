import { shake128, shake256 } from './bytes.ts'

/**
 * ML-DSA from the text of FIPS 204, slow and simple: the number-theoretic transform is written as an evaluation at 256
 * points. Signatures and verdicts in the vectors come from here, not from a library.
 */

/** Modulus. */
export const Q = 8_380_417
const N = 256
/** A 512th root of unity modulo q. */
const ZETA = 1753

/** 256 coefficients. */
export type Poly = Int32Array

/** A parameter set (FIPS 204, table 1). */
export interface Params {
  readonly level: 44 | 65
  readonly k: number
  readonly l: number
  readonly eta: 2 | 4
  readonly gamma1: number
  readonly gamma2: number
  readonly tau: number
  readonly beta: number
  readonly omega: number
  /** Length of the commitment hash. */
  readonly hashBytes: number
  /** Bits of a packed coefficient of z, and of w1. */
  readonly zBits: number
  readonly w1Bits: number
}

export const PARAMS: Readonly<Record<44 | 65, Params>> = {
  44: {
    level: 44,
    k: 4,
    l: 4,
    eta: 2,
    gamma1: 2 ** 17,
    gamma2: (Q - 1) / 88,
    tau: 39,
    beta: 78,
    omega: 80,
    hashBytes: 32,
    zBits: 18,
    w1Bits: 6,
  },
  65: {
    level: 65,
    k: 6,
    l: 5,
    eta: 4,
    gamma1: 2 ** 19,
    gamma2: (Q - 1) / 32,
    tau: 49,
    beta: 196,
    omega: 55,
    hashBytes: 48,
    zBits: 20,
    w1Bits: 4,
  },
}

/** Representative from 0 to q - 1. */
export function modQ(value: number): number {
  const rest = value % Q
  return rest < 0 ? rest + Q : rest
}

/** Representative from -(m-1)/2 to m/2. */
export function centred(value: number, m = Q): number {
  const rest = ((value % m) + m) % m
  return rest > m / 2 ? rest - m : rest
}

/** Exponents of zeta at which polynomials are evaluated: 2 brv(i) + 1. */
const POINTS = Array.from({ length: N }, (_, i) => {
  let reversed = 0
  for (let bit = 0; bit < 8; bit++) reversed |= ((i >> bit) & 1) << (7 - bit)
  return 2 * reversed + 1
})

const POWERS = new Int32Array(512)
for (let e = 0, power = 1; e < 512; e++, power = (power * ZETA) % Q) POWERS[e] = power

/** `POINT_POWERS[i]` has the powers 0 to 255 of point i. `INVERSE_POWERS[j]` has the inverse of power j of each point. */
const POINT_POWERS = POINTS.map((point) =>
  Float64Array.from({ length: N }, (_, j) => POWERS[(point * j) & 511] as number),
)
const INVERSE_POWERS = Array.from({ length: N }, (_, j) =>
  Float64Array.from(POINTS, (point) => POWERS[-(point * j) & 511] as number),
)

/** Products of two residues are below 2^46, so 64 of them fit a double. */
const SUMMANDS = 64

function sumOfProducts(a: Float64Array, b: Float64Array): number {
  let total = 0
  for (let from = 0; from < N; from += SUMMANDS) {
    // Two separate sums, which the processor can add in parallel.
    let [even, odd] = [0, 0]
    for (let j = from; j < from + SUMMANDS; j += 2) {
      even += (a[j] as number) * (b[j] as number)
      odd += (a[j + 1] as number) * (b[j + 1] as number)
    }
    total = (total + even + odd) % Q
  }
  return total
}

/** The values of a polynomial at the 256 points. */
export function evaluate(f: Poly): Poly {
  const residues = new Float64Array(f.map(modQ))
  return Int32Array.from(POINT_POWERS, (powers) => sumOfProducts(residues, powers))
}

/** 1/256 modulo q. */
const INVERSE_N = 8_347_681

/** The polynomial with these values: coefficients from 0 to q - 1. */
export function interpolate(values: Poly): Poly {
  const doubles = new Float64Array(values)
  return Int32Array.from(INVERSE_POWERS, (powers) => (sumOfProducts(doubles, powers) * INVERSE_N) % Q)
}

/** a + factor x b, coefficient by coefficient, modulo q. */
export function combine(a: Poly, b: Poly, factor = 1): Poly {
  return a.map((coefficient, i) => modQ(coefficient + factor * (b[i] as number)))
}

/** Product of values, point by point. */
export function multiplyValues(a: Poly, b: Poly): Poly {
  return a.map((value, i) => (value * (b[i] as number)) % Q)
}

/** Row of a matrix times a vector, all as values. */
export function dot(row: readonly Poly[], vector: readonly Poly[]): Poly {
  return row.reduce((sum, a, i) => combine(sum, multiplyValues(a, vector[i] as Poly)), new Int32Array(N))
}

export function infinityNorm(polys: readonly Poly[]): number {
  return Math.max(...polys.map((poly) => poly.reduce((most, value) => Math.max(most, Math.abs(centred(value))), 0)))
}

/** ExpandA (algorithm 32): k rows of l polynomials, as values. */
export function expandA({ k, l }: Params, rho: Uint8Array): Poly[][] {
  return Array.from({ length: k }, (_, r) =>
    Array.from({ length: l }, (_, s) => {
      const stream = shake128(3 * 512, rho, Uint8Array.of(s, r))
      const poly = new Int32Array(N)
      for (let i = 0, filled = 0; filled < N; i += 3) {
        const value =
          (stream[i] as number) | ((stream[i + 1] as number) << 8) | (((stream[i + 2] as number) & 127) << 16)
        if (value < Q) poly[filled++] = value
      }
      return poly
    }),
  )
}

/** ExpandS (algorithm 33): `count` polynomials with coefficients from -eta to eta. */
export function expandS({ eta }: Params, rhoPrime: Uint8Array, first: number, count: number): Poly[] {
  return Array.from({ length: count }, (_, r) => {
    const stream = shake256(1024, rhoPrime, Uint8Array.of(first + r, 0))
    const poly = new Int32Array(N)
    for (let i = 0, filled = 0; filled < N; i++) {
      const byte = stream[i] as number
      for (const half of [byte & 15, byte >> 4]) {
        if (filled < N && half < (eta === 2 ? 15 : 9)) poly[filled++] = eta === 2 ? 2 - (half % 5) : 4 - half
      }
    }
    return poly
  })
}

/** SampleInBall (algorithm 29): tau coefficients of 1 or -1. */
export function sampleInBall({ tau }: Params, seed: Uint8Array): Poly {
  const stream = shake256(1024, seed)
  const poly = new Int32Array(N)
  let at = 8
  for (let i = N - tau; i < N; i++) {
    while ((stream[at] as number) > i) at++
    const j = stream[at++] as number
    const bit = i + tau - N
    poly[i] = poly[j] as number
    poly[j] = ((stream[bit >> 3] as number) >> (bit & 7)) & 1 ? -1 : 1
  }
  return poly
}

/** Decompose (algorithm 36). */
export function decompose({ gamma2 }: Params, value: number): { readonly high: number; readonly low: number } {
  const r = modQ(value)
  const low = centred(r, 2 * gamma2)
  return r - low === Q - 1 ? { high: 0, low: low - 1 } : { high: (r - low) / (2 * gamma2), low }
}

/** UseHint (algorithm 40). */
export function useHint(params: Params, hint: number, value: number): number {
  const m = (Q - 1) / (2 * params.gamma2)
  const { high, low } = decompose(params, value)
  if (hint === 0) return high
  return (high + (low > 0 ? 1 : m - 1)) % m
}

/** Coefficients as `bits`-bit numbers, lowest bit first. */
export function packBits(values: Iterable<number>, bits: number): Uint8Array {
  const bytes: number[] = []
  let [pending, filled] = [0, 0]
  for (const value of values) {
    pending += value * 2 ** filled
    for (filled += bits; filled >= 8; filled -= 8) {
      bytes.push(pending % 256)
      pending = Math.floor(pending / 256)
    }
  }
  return Uint8Array.from(bytes)
}

/** Inverse of {@link packBits}. */
export function unpackBits(bytes: Uint8Array, bits: number): Poly {
  const values: number[] = []
  let [pending, filled] = [0, 0]
  for (const byte of bytes) {
    pending += byte * 2 ** filled
    for (filled += 8; filled >= bits; filled -= bits) {
      values.push(pending % 2 ** bits)
      pending = Math.floor(pending / 2 ** bits)
    }
  }
  return Int32Array.from(values)
}
