import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND } from '../consensus/primitives/amount.ts'
import { assert } from '../consensus/primitives/assert.ts'

/** What a pool holds of both assets, each at least 1, and how many shares of it there are, the locked ones included. */
export interface PoolFunds {
  readonly reserveA: Amount
  readonly reserveB: Amount
  readonly shares: bigint
}

/** Shares that nobody ever holds: they keep both reserves above 0 when everybody else has left. */
export const LOCKED_SHARES = 1_000n as Amount

/** The price 1 as a Q112.112 fixed-point number. */
export const PRICE_ONE = 1n << 112n

/** A whole, in basis points and in parts per million. */
const [BPS, PPM] = [10_000n, 1_000_000n]

/** Exclusive bound of what {@link isqrt} takes, and the highest bit that a root of it can have. */
const [SQUARE_BOUND, ROOT_TOP_BIT] = [1n << 256n, 1n << 127n]

/** floor(sqrt(value)), exact, of a value below 2^256: the bits of the root from the highest down. */
export function isqrt(value: bigint): bigint {
  assert(value >= 0n && value < SQUARE_BOUND, 'isqrt takes unsigned numbers below 2^256')
  let root = 0n
  for (let bit = ROOT_TOP_BIT; bit > 0n; bit >>= 1n) {
    const next = root + bit
    if (next * next <= value) root = next
  }
  return root
}

/**
 * Shares of a new pool, floor(sqrt(a x b)), of which the caller locks {@link LOCKED_SHARES} for ever. From here on
 * shares^2 never exceeds the product of the reserves (see {@link poolNeverLoses}), so shares stay below 2^112.
 */
export function initialShares(a: Amount, b: Amount): bigint {
  return isqrt(a * b)
}

/**
 * What a swap of exactly `amountIn` pays: floor(reserveOut x / (reserveIn 10,000 + x)) with
 * x = amountIn (10,000 - feeBps). Rounded down for the pool, always below `reserveOut`.
 */
export function outputOf(reserveIn: Amount, reserveOut: Amount, amountIn: Amount, feeBps: bigint): Amount {
  assertReserves(reserveIn, reserveOut)
  const swapped = amountIn * keptBps(feeBps)
  return amount(mulDivDown(reserveOut, swapped, reserveIn * BPS + swapped))
}

/**
 * The least input that pays `amountOut`: ceil(reserveIn amountOut 10,000 / ((reserveOut - amountOut) (10,000 - feeBps))).
 * Rounded up for the pool. Undefined when the pool does not hold more than `amountOut` or no supply can reach the input.
 */
export function inputFor(reserveIn: Amount, reserveOut: Amount, amountOut: Amount, feeBps: bigint): Amount | undefined {
  assertReserves(reserveIn, reserveOut)
  if (amountOut >= reserveOut) return undefined
  const input = mulDivUp(reserveIn * BPS, amountOut, (reserveOut - amountOut) * keptBps(feeBps))
  return input < SUPPLY_BOUND ? amount(input) : undefined
}

/** ceil(amountIn feeBps / 10,000): what a swap of exactly `amountIn` leaves with the LPs, in the asset paid in. */
export function feeOf(amountIn: Amount, feeBps: bigint): Amount {
  return amount(mulDivUp(amountIn, BPS - keptBps(feeBps), BPS))
}

/**
 * Shares for an offer of both assets, and what of it is taken: the scarcer asset decides how many shares, rounded down,
 * and each asset pays for exactly those, rounded up and never more than offered. 0 shares take nothing.
 */
export function addLiquidity(
  { reserveA, reserveB, shares }: PoolFunds,
  offeredA: Amount,
  offeredB: Amount,
): { readonly shares: Amount; readonly amountA: Amount; readonly amountB: Amount } {
  assertReserves(reserveA, reserveB)
  const forA = mulDivDown(offeredA, shares, reserveA)
  const forB = mulDivDown(offeredB, shares, reserveB)
  const made = forA < forB ? forA : forB
  return {
    shares: amount(made),
    amountA: amount(mulDivUp(made, reserveA, shares)),
    amountB: amount(mulDivUp(made, reserveB, shares)),
  }
}

/** What `shares`, at most all of them, take out of both reserves, each rounded down for the pool. */
export function removeLiquidity(
  pool: PoolFunds,
  shares: bigint,
): { readonly amountA: Amount; readonly amountB: Amount } {
  assert(shares <= pool.shares, `a pool of ${pool.shares} shares gives back ${shares}`)
  return {
    amountA: amount(mulDivDown(shares, pool.reserveA, pool.shares)),
    amountB: amount(mulDivDown(shares, pool.reserveB, pool.shares)),
  }
}

/** floor(reserveA 2^112 / reserveB): base units of A per base unit of B in Q112.112, below 2^224. */
export function spotPrice(reserveA: Amount, reserveB: Amount): bigint {
  return mulDivDown(reserveA, PRICE_ONE, reserveB)
}

/**
 * How far the price of an executed swap lies below the pool's price before it, fee and rounding included, in parts per
 * million from 0 to 1,000,000 and rounded up: ceil(10^6 (1 - (amountOut / amountIn) / (reserveOut / reserveIn))).
 */
export function priceImpactPpm(reserveIn: Amount, reserveOut: Amount, amountIn: Amount, amountOut: Amount): bigint {
  const atSpot = amountIn * reserveOut
  const executed = amountOut * reserveIn
  return executed < atSpot ? mulDivUp(PPM, atSpot - executed, atSpot) : 0n
}

/**
 * Whether a share is worth no less than before, by sqrt(reserveA reserveB) / shares and without division:
 * A' B' S^2 >= A B S'^2. With equal shares this says that the product of the reserves has not fallen.
 */
export function poolNeverLoses(before: PoolFunds, after: PoolFunds): boolean {
  return after.reserveA * after.reserveB * before.shares ** 2n >= before.reserveA * before.reserveB * after.shares ** 2n
}

/** What of 10,000 parts of an input is swapped; the rest is the LPs' fee. */
function keptBps(feeBps: bigint): bigint {
  assert(feeBps >= 0n && feeBps < BPS, `fee out of range: ${feeBps} bps`)
  return BPS - feeBps
}

/** A pool that holds nothing of an asset has no price, and 0 in would buy all of the other. */
function assertReserves(one: Amount, other: Amount): void {
  assert(one > 0n && other > 0n, 'a pool holds both assets')
}
