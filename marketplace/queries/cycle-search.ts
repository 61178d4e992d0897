import { inputFor, isqrt, outputOf } from '../../amm/math.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'

/** A pool in the direction of the trade. */
export interface CycleHop {
  readonly reserveIn: Amount
  readonly reserveOut: Amount
  readonly feeBps: bigint
}

/** A route from an asset back to itself; no pool appears twice. */
export type Cycle = readonly CycleHop[]

/** Limits of a cycle, in base units of its start asset. */
export interface CycleLimits {
  /** The largest input that returns without loss; 0 if there is none. */
  readonly maxSize: bigint
  /** The input with the largest gain, but for a few base units because pools round. Its gain is `bestGain`. */
  readonly bestSize: bigint
  readonly bestGain: bigint
}

const BPS = 10_000n
/** Exclusive upper bound of the root's argument. */
const ROOT_BOUND = 1n << 256n
/** Steps of the linear descent before the search switches to bisection. */
const STEPS_MAX = 4_096

/** Output of the cycle for an input; every pool rounds down. */
export function comesBack(cycle: Cycle, input: bigint): bigint {
  return cycle.reduce(
    (value, { reserveIn, reserveOut, feeBps }) => outputOf(reserveIn, reserveOut, value as Amount, feeBps),
    input,
  )
}

/**
 * Without rounding, consecutive pools of x y = k compose to the curve a x / (b + c x). A hop with reserves r, s and
 * kept share k of 10,000 is s k x / (10,000 r + k x); after a curve (a, b, c) it makes (s k a, 10,000 r b, 10,000 r c +
 * k a).
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

/** Gain of a tiny input after fees, in parts per million, rounded down. */
export function marginPpm(cycle: Cycle): bigint {
  const { a, b } = curveOf(cycle)
  return (a * 1_000_000n) / b - 1_000_000n
}

/**
 * The curve without rounding is above the real output and equals the input at (a - b) / c, so no larger input returns
 * without loss. The output never falls as the input grows. So each output is the next input, and the first input that
 * returns without loss is the largest. If rounding eats a very slight gain, {@link STEPS_MAX} steps may not reach it;
 * bisection may then miss a few base units.
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

/** Where the curve's slope is 1: (sqrt(a b) - b) / c. A product too large for the root is scaled down for it. */
function steepestEnd(a: bigint, b: bigint, c: bigint): bigint {
  const longest = a * b
  let shift = 0n
  while (longest >> (2n * shift) >= ROOT_BOUND) shift += 1n
  return ((isqrt(longest >> (2n * shift)) << shift) - b) / c
}

/** Tries the inputs at most 2 from `around`, each reduced to the least with the same output; 0 if none gains. */
function bestOf(cycle: Cycle, around: bigint, maxSize: bigint): bigint {
  const gain = (size: bigint): bigint => comesBack(cycle, size) - size
  const sizes = [-2n, -1n, 0n, 1n, 2n].map((step) => around + step).filter((size) => size >= 0n && size <= maxSize)
  return sizes.map((size) => leastFor(cycle, size)).reduce((best, size) => (gain(size) > gain(best) ? size : best), 0n)
}

/** The least input with the same output. */
function leastFor(cycle: Cycle, size: bigint): bigint {
  const wanted = comesBack(cycle, size)
  return cycle.reduceRight(
    (value, { reserveIn, reserveOut, feeBps }) => inputFor(reserveIn, reserveOut, value as Amount, feeBps) ?? size,
    wanted,
  )
}
