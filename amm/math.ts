import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND } from '../consensus/primitives/amount.ts'
import { assert } from '../consensus/primitives/assert.ts'

/** Reserves, each at least 1, and the number of shares, including the locked ones. */
export interface PoolFunds {
  readonly reserveA: Amount
  readonly reserveB: Amount
  readonly shares: bigint
}

/** Shares that belong to no account: they keep both reserves above 0 when all providers have left. */
export const LOCKED_SHARES = 1_000n as Amount

/** The price 1 as a Q112.112 fixed-point number. */
export const PRICE_ONE = 1n << 112n

const [BPS, PPM] = [10_000n, 1_000_000n]

/** Exclusive upper bound of the argument of {@link isqrt}, and the highest bit of its result. */
const [SQUARE_BOUND, ROOT_TOP_BIT] = [1n << 256n, 1n << 127n]

/** floor(sqrt(value)), exact. */
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
 * Shares of a new pool, floor(sqrt(a x b)); {@link LOCKED_SHARES} of them are locked. Since shares^2 never exceeds the
 * product of the reserves (see {@link poolNeverLoses}), shares stay below 2^112.
 */
export function initialShares(a: Amount, b: Amount): bigint {
  return isqrt(a * b)
}

/**
 * Output of a swap of exactly `amountIn`: floor(reserveOut x / (reserveIn 10,000 + x)) with x = amountIn (10,000 -
 * feeBps). Rounded down in favour of the pool; always below `reserveOut`.
 */
export function outputOf(reserveIn: Amount, reserveOut: Amount, amountIn: Amount, feeBps: bigint): Amount {
  assertReserves(reserveIn, reserveOut)
  const swapped = amountIn * keptBps(feeBps)
  return amount(mulDivDown(reserveOut, swapped, reserveIn * BPS + swapped))
}

/**
 * The least input for `amountOut`: ceil(reserveIn amountOut 10,000 / ((reserveOut - amountOut) (10,000 - feeBps))).
 * Rounded up in favour of the pool. Undefined if the pool holds no more than `amountOut`, or if the input exceeds any
 * supply.
 */
export function inputFor(reserveIn: Amount, reserveOut: Amount, amountOut: Amount, feeBps: bigint): Amount | undefined {
  assertReserves(reserveIn, reserveOut)
  if (amountOut >= reserveOut) return undefined
  const input = mulDivUp(reserveIn * BPS, amountOut, (reserveOut - amountOut) * keptBps(feeBps))
  return input < SUPPLY_BOUND ? amount(input) : undefined
}

/** The providers' fee of a swap of exactly `amountIn`, in the asset paid in: ceil(amountIn feeBps / 10,000). */
export function feeOf(amountIn: Amount, feeBps: bigint): Amount {
  return amount(mulDivUp(amountIn, BPS - keptBps(feeBps), BPS))
}

/**
 * Shares for an offer of both assets, and the accepted part of it. The scarcer asset determines the shares, rounded
 * down. What each asset pays for them is rounded up, never more than offered.
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

/** What `shares` withdraw from both reserves, rounded down in favour of the pool. */
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

/** Base units of A per base unit of B in Q112.112, rounded down; below 2^224. */
export function spotPrice(reserveA: Amount, reserveB: Amount): bigint {
  return mulDivDown(reserveA, PRICE_ONE, reserveB)
}

/**
 * How far the price of a swap is below the pool's price before it, fee included, in parts per million, rounded up:
 * ceil(10^6 (1 - (amountOut / amountIn) / (reserveOut / reserveIn))).
 */
export function priceImpactPpm(reserveIn: Amount, reserveOut: Amount, amountIn: Amount, amountOut: Amount): bigint {
  const atSpot = amountIn * reserveOut
  const executed = amountOut * reserveIn
  return executed < atSpot ? mulDivUp(PPM, atSpot - executed, atSpot) : 0n
}

/** Whether a share kept its value sqrt(reserveA reserveB) / shares, without division: A' B' S^2 >= A B S'^2. */
export function poolNeverLoses(before: PoolFunds, after: PoolFunds): boolean {
  return after.reserveA * after.reserveB * before.shares ** 2n >= before.reserveA * before.reserveB * after.shares ** 2n
}

/** The part of 10,000 that is swapped; the other part is the fee. */
function keptBps(feeBps: bigint): bigint {
  assert(feeBps >= 0n && feeBps < BPS, `fee out of range: ${feeBps} bps`)
  return BPS - feeBps
}

/** With an empty reserve there is no price, and the least input would buy the whole other reserve. */
function assertReserves(one: Amount, other: Amount): void {
  assert(one > 0n && other > 0n, 'a pool holds both assets')
}
