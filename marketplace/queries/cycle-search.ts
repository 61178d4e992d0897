import { inputFor, isqrt, outputOf } from '../../amm/math.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'

/** One pool as a trade goes through it. */
export interface CycleHop {
  readonly reserveIn: Amount
  readonly reserveOut: Amount
  readonly feeBps: bigint
}

/** A way from an asset back to it. Every pool stands in it once. */
export type Cycle = readonly CycleHop[]

/** What a way back is good for; all in base units of the asset that it begins and ends with. */
export interface CycleLimits {
  /** Largest input that comes back whole; 0 where none does. */
  readonly maxSize: bigint
  /** Input whose gain is largest, but for rounding inside the pools, and that gain. */
  readonly bestSize: bigint
  readonly bestGain: bigint
}

const BPS = 10_000n
/** Exclusive bound of what a root is taken of. */
const ROOT_BOUND = 1n << 256n
/** Steps that the search goes down one by one before it halves. */
const STEPS_MAX = 4_096

/** What comes back for an input, every pool rounding down. */
export function comesBack(cycle: Cycle, input: bigint): bigint {
  return cycle.reduce(
    (value, { reserveIn, reserveOut, feeBps }) => outputOf(reserveIn, reserveOut, value as Amount, feeBps),
    input,
  )
}

/**
 * Without rounding, pools of x y = k in a row make the curve a x / (b + c x). A hop with reserves r, s and kept share k of
 * 10,000 is s k x / (10,000 r + k x); after a curve (a, b, c) it makes (s k a, 10,000 r b, 10,000 r c + k a).
 */
function curveOf(cycle: Cycle): { readonly a: bigint; readonly b: bigint; readonly c: bigint } {
  return cycle.reduce(
    ({ a, b, c }, { reserveIn, reserveOut, feeBps }) => {
      const kept = BPS - feeBps
      return { a: reserveOut * kept * a, b: BPS * reserveIn * b, c: BPS * reserveIn * c + kept * a }
    },
    { a: 1n, b: 1n, c: 0n },
  )
}

/** How much more than put in comes back for a tiny input, in parts per million, rounded towards -10^6; fees are in it. */
export function marginPpm(cycle: Cycle): bigint {
  const { a, b } = curveOf(cycle)
  return (a * 1_000_000n) / b - 1_000_000n
}

/**
 * Limits of a cycle. The curve without rounding lies above what really comes back and meets the input at (a - b) / c, so no
 * larger input comes back whole. What comes back never falls as the input grows; so from there on down, taking what comes
 * back as the next input, the first input that comes back whole is the largest there is. After {@link STEPS_MAX} steps,
 * where the gain is so slight that rounding eats it, the search halves instead: a few base units may then be missed.
 */
export function cycleLimits(cycle: Cycle): CycleLimits {
  const { a, b, c } = curveOf(cycle)
  if (a <= b) return { maxSize: 0n, bestSize: 0n, bestGain: 0n }
  const maxSize = largestWhole(cycle, (a - b) / c)
  const bestSize = bestOf(cycle, steepestEnd(a, b, c), maxSize)
  return { maxSize, bestSize, bestGain: comesBack(cycle, bestSize) - bestSize }
}

function largestWhole(cycle: Cycle, bound: bigint): bigint {
  let size = bound
  for (let step = 0; step < STEPS_MAX; step++) {
    const back = comesBack(cycle, size)
    if (back >= size) return size
    size = back
  }
  let low = 0n
  while (size - low > 1n) {
    const middle = (low + size) >> 1n
    if (comesBack(cycle, middle) >= middle) low = middle
    else size = middle
  }
  return low
}

/** Where the curve's slope is 1: (sqrt(a b) - b) / c, from scaled down numbers where they are too large for the root. */
function steepestEnd(a: bigint, b: bigint, c: bigint): bigint {
  const longest = a * b
  let shift = 0n
  while (longest >> (2n * shift) >= ROOT_BOUND) shift += 1n
  return ((isqrt(longest >> (2n * shift)) << shift) - b) / c
}

/**
 * The best of some inputs around a place: what comes back for them, each bought with the least that pays it. All of them are
 * at most the largest that comes back whole.
 */
function bestOf(cycle: Cycle, around: bigint, maxSize: bigint): bigint {
  const gain = (size: bigint): bigint => comesBack(cycle, size) - size
  const sizes = [-2n, -1n, 0n, 1n, 2n].map((step) => around + step).filter((size) => size >= 0n && size <= maxSize)
  return sizes.map((size) => leastFor(cycle, size)).reduce((best, size) => (gain(size) > gain(best) ? size : best), 0n)
}

/** The least input that comes back as this one does. */
function leastFor(cycle: Cycle, size: bigint): bigint {
  const wanted = comesBack(cycle, size)
  return cycle.reduceRight(
    (value, { reserveIn, reserveOut, feeBps }) => inputFor(reserveIn, reserveOut, value as Amount, feeBps) ?? size,
    wanted,
  )
}
