import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addLiquidity,
  feeOf,
  initialShares,
  inputFor,
  isqrt,
  LOCKED_SHARES,
  outputOf,
  type PoolFunds,
  poolNeverLoses,
  priceImpactPpm,
  removeLiquidity,
  spotPrice,
} from '../../amm/math.ts'
import { type Amount, SUPPLY_BOUND } from '../../consensus/primitives/amount.ts'
import { Fraction, whole } from '../support/fraction.ts'
import { AMOUNT_TOP, fees, pools, sizes } from '../support/pool-actor.ts'
import { runs } from '../support/runs.ts'
import { units } from '../support/unsigned.ts'

const RUNS = { numRuns: runs(1_000) }
const BPS = 10_000n

/** Two reserves and a possible input: reserve plus input stay below 2^112. */
const swaps = fc
  .record({ reserveIn: sizes(AMOUNT_TOP - 1n), reserveOut: sizes(), feeBps: fees })
  .chain((pool) => sizes(AMOUNT_TOP - pool.reserveIn).map((amountIn) => ({ ...pool, amountIn })))

/** Two reserves and an output that the pool can pay. */
const purchases = fc
  .record({ reserveIn: sizes(), reserveOut: sizes().filter((reserve) => reserve > 1n), feeBps: fees })
  .chain((pool) => sizes(pool.reserveOut - 1n).map((amountOut) => ({ ...pool, amountOut })))

/** A pool and an offer of both assets. */
const offers = fc.record({ pool: pools, offeredA: sizes(), offeredB: sizes() })

/** A pool and some of its shares, without the locked ones. */
const withdrawals = pools.chain((pool) => sizes(pool.shares - LOCKED_SHARES).map((shares) => ({ pool, shares })))

/** An input after the fee. */
const less = (amountIn: bigint, feeBps: bigint): Fraction => new Fraction(amountIn * (BPS - feeBps), BPS)

/** The exact output that keeps the product: reserveOut - product / (reserveIn + input). */
function exactOutput(reserveIn: bigint, reserveOut: bigint, input: Fraction): Fraction {
  return whole(reserveOut).minus(whole(reserveIn * reserveOut).over(whole(reserveIn).plus(input)))
}

/** The exact input that keeps the product, plus the fee. */
function exactInput(reserveIn: bigint, reserveOut: bigint, amountOut: bigint, feeBps: bigint): Fraction {
  const swapped = new Fraction(reserveIn * reserveOut, reserveOut - amountOut).minus(whole(reserveIn))
  return swapped.over(new Fraction(BPS - feeBps, BPS))
}

/** The value of a share, squared. */
function shareWorth({ reserveA, reserveB, shares }: PoolFunds): Fraction {
  return new Fraction(reserveA * reserveB, shares * shares)
}

describe('the formulas are those of exact fractions, rounded for the pool', () => {
  it('isqrt: the root is not above, the next number is', () => {
    fc.assert(
      fc.property(sizes((1n << 256n) - 1n), (value) => {
        const root = isqrt(value)
        expect(root * root <= value && value < (root + 1n) * (root + 1n)).toBe(true)
      }),
      RUNS,
    )
  })

  it('initialShares: the root of the product', () => {
    fc.assert(
      fc.property(sizes(), sizes(), (a, b) => {
        const shares = initialShares(a, b)
        expect(shares * shares <= a * b && a * b < (shares + 1n) ** 2n).toBe(true)
      }),
      RUNS,
    )
  })

  it('outputOf: rounded down, and below the reserve', () => {
    fc.assert(
      fc.property(swaps, ({ reserveIn, reserveOut, amountIn, feeBps }) => {
        const out = outputOf(reserveIn, reserveOut, amountIn, feeBps)
        expect(out).toBe(exactOutput(reserveIn, reserveOut, less(amountIn, feeBps)).floor())
        expect(out).toBeLessThan(reserveOut)
      }),
      RUNS,
    )
  })

  it('inputFor: rounded up, or nothing that a supply can reach', () => {
    fc.assert(
      fc.property(purchases, ({ reserveIn, reserveOut, amountOut, feeBps }) => {
        const exact = exactInput(reserveIn, reserveOut, amountOut, feeBps).ceil()
        expect(inputFor(reserveIn, reserveOut, amountOut, feeBps)).toBe(exact < SUPPLY_BOUND ? exact : undefined)
      }),
      RUNS,
    )
  })

  it('inputFor: nothing for the whole reserve or more', () => {
    fc.assert(
      fc.property(sizes(), sizes(), sizes(), fees, (reserveIn, one, other, feeBps) => {
        const [reserveOut, amountOut] = one < other ? [one, other] : [other, one]
        expect(inputFor(reserveIn, reserveOut, amountOut, feeBps)).toBeUndefined()
      }),
      RUNS,
    )
  })

  it('feeOf: the part that is not swapped, rounded up', () => {
    fc.assert(
      fc.property(sizes(), fees, (amountIn, feeBps) => {
        expect(feeOf(amountIn, feeBps)).toBe(whole(amountIn).minus(less(amountIn, feeBps)).ceil())
      }),
      RUNS,
    )
  })

  it('addLiquidity: shares for the scarcer asset rounded down, what they cost rounded up', () => {
    fc.assert(
      fc.property(offers, ({ pool, offeredA, offeredB }) => {
        const added = addLiquidity(pool, offeredA, offeredB)
        const portions = [new Fraction(offeredA, pool.reserveA), new Fraction(offeredB, pool.reserveB)] as const
        const scarcer = portions[0].isAtLeast(portions[1]) ? portions[1] : portions[0]
        const shares = scarcer.times(whole(pool.shares)).floor()
        expect(added).toEqual({
          shares,
          amountA: new Fraction(shares, pool.shares).times(whole(pool.reserveA)).ceil(),
          amountB: new Fraction(shares, pool.shares).times(whole(pool.reserveB)).ceil(),
        })
        expect(added.amountA <= offeredA && added.amountB <= offeredB).toBe(true)
      }),
      RUNS,
    )
  })

  it('removeLiquidity: the part of both reserves, rounded down, and something of both stays', () => {
    fc.assert(
      fc.property(withdrawals, ({ pool, shares }) => {
        const removed = removeLiquidity(pool, shares)
        const part = new Fraction(shares, pool.shares)
        expect(removed).toEqual({
          amountA: part.times(whole(pool.reserveA)).floor(),
          amountB: part.times(whole(pool.reserveB)).floor(),
        })
        expect(removed.amountA < pool.reserveA && removed.amountB < pool.reserveB).toBe(true)
      }),
      RUNS,
    )
  })

  it('spotPrice: rounded down, below 2^224', () => {
    fc.assert(
      fc.property(sizes(), sizes(), (reserveA, reserveB) => {
        const price = spotPrice(reserveA, reserveB)
        expect(price).toBe(new Fraction(reserveA, reserveB).times(whole(1n << 112n)).floor())
        expect(price).toBeLessThan(1n << 224n)
      }),
      RUNS,
    )
  })

  it('priceImpactPpm: what is missing to the price before, rounded up', () => {
    fc.assert(
      fc.property(swaps, ({ reserveIn, reserveOut, amountIn, feeBps }) => {
        const out = outputOf(reserveIn, reserveOut, amountIn, feeBps)
        const executed = new Fraction(out, amountIn).over(new Fraction(reserveOut, reserveIn))
        const missing = whole(1n).minus(executed).times(whole(1_000_000n)).ceil()
        expect(priceImpactPpm(reserveIn, reserveOut, amountIn, out)).toBe(missing)
        // The impact includes the fee, so it is never below the fee.
        expect(missing).toBeGreaterThanOrEqual(feeBps * 100n)
      }),
      RUNS,
    )
  })

  it('poolNeverLoses: the worth of a share as a fraction, near its border as well', () => {
    const nudge = fc.bigInt({ min: -1n, max: 1n })
    const near = fc
      .tuple(pools, fc.integer({ min: 1, max: 9 }), nudge, nudge, nudge)
      .map(([pool, times, a, b, shares]): readonly [PoolFunds, PoolFunds] => [
        pool,
        {
          reserveA: units(pool.reserveA * BigInt(times) + a),
          reserveB: units(pool.reserveB * BigInt(times) + b),
          shares: pool.shares * BigInt(times) + shares,
        },
      ])
    fc.assert(
      fc.property(fc.oneof(fc.tuple(pools, pools), near), ([before, after]) => {
        expect(poolNeverLoses(before, after)).toBe(shareWorth(after).isAtLeast(shareWorth(before)))
      }),
      RUNS,
    )
  })
})

describe('a swap', () => {
  it('of an exact input never lets the product fall', () => {
    fc.assert(
      fc.property(swaps, ({ reserveIn, reserveOut, amountIn, feeBps }) => {
        const out = outputOf(reserveIn, reserveOut, amountIn, feeBps)
        expect((reserveIn + amountIn) * (reserveOut - out)).toBeGreaterThanOrEqual(reserveIn * reserveOut)
      }),
      RUNS,
    )
  })

  it('for an exact output never lets the product fall', () => {
    fc.assert(
      fc.property(purchases, ({ reserveIn, reserveOut, amountOut, feeBps }) => {
        const needed = inputFor(reserveIn, reserveOut, amountOut, feeBps) ?? AMOUNT_TOP
        fc.pre(needed < AMOUNT_TOP)
        expect((reserveIn + needed) * (reserveOut - amountOut)).toBeGreaterThanOrEqual(reserveIn * reserveOut)
      }),
      RUNS,
    )
  })

  // output >= wanted <=> exact output before rounding >= wanted (an integer) <=> input >= exact input, because the
  // exact output grows with the input <=> input >= exact input rounded up. So the bound is exact.
  it('for an exact output costs exactly the least input that pays it', () => {
    fc.assert(
      fc.property(purchases, ({ reserveIn, reserveOut, amountOut, feeBps }) => {
        const needed = inputFor(reserveIn, reserveOut, amountOut, feeBps)
        fc.pre(needed !== undefined)
        expect(outputOf(reserveIn, reserveOut, needed, feeBps)).toBeGreaterThanOrEqual(amountOut)
        expect(outputOf(reserveIn, reserveOut, units(needed - 1n), feeBps)).toBeLessThan(amountOut)
      }),
      RUNS,
    )
  })

  it('pays an output that would not have cost more than was given', () => {
    fc.assert(
      fc.property(swaps, ({ reserveIn, reserveOut, amountIn, feeBps }) => {
        const out = outputOf(reserveIn, reserveOut, amountIn, feeBps)
        const least = inputFor(reserveIn, reserveOut, out, feeBps) as Amount
        expect(least).toBeLessThanOrEqual(amountIn)
        expect(outputOf(reserveIn, reserveOut, least, feeBps)).toBe(out)
      }),
      RUNS,
    )
  })

  it('there and back never gains, whatever the fee', () => {
    fc.assert(
      fc.property(swaps, ({ reserveIn, reserveOut, amountIn, feeBps }) => {
        const out = outputOf(reserveIn, reserveOut, amountIn, feeBps)
        const after = [units(reserveOut - out), units(reserveIn + amountIn)] as const
        const back = outputOf(...after, out, feeBps)
        expect(back).toBeLessThanOrEqual(amountIn)
        // The second swap pays its fee out of the first one's output, so the round trip always loses.
        if (feeBps > 0n) expect(back).toBeLessThan(amountIn)
      }),
      RUNS,
    )
  })

  // In exact numbers, parts a1 and a2 leave the reserve of the whole swap times 1 + g (1 - g) a1 a2 / (...), where g is
  // the swapped part; that is at least as much, and rounding each part leaves more. Without a fee the reserves are equal, and
  // each part leaves less than 1 unit more than exact numbers would.
  it('of an exact input in parts never pays more than the whole at once, and with no fee hardly less', () => {
    const cuts = fc.array(fc.bigInt({ min: 0n, max: (1n << 112n) - 1n }), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(swaps, cuts, ({ reserveIn, reserveOut, amountIn, feeBps }, at) => {
        const parts = partsOf(amountIn, at)
        for (const fee of [0n, feeBps]) {
          let [given, paid] = [0n, 0n]
          for (const part of parts) {
            paid += outputOf(units(reserveIn + given), units(reserveOut - paid), part, fee)
            given += part
          }
          const atOnce = outputOf(reserveIn, reserveOut, amountIn, fee)
          expect(given).toBe(amountIn)
          expect(paid).toBeLessThanOrEqual(atOnce)
          if (fee === 0n) expect(paid).toBeGreaterThanOrEqual(atOnce - BigInt(parts.length - 1))
        }
      }),
      RUNS,
    )
  })

  it('for an exact output in parts never costs less than the whole at once', () => {
    const cuts = fc.array(fc.bigInt({ min: 0n, max: (1n << 112n) - 1n }), { minLength: 1, maxLength: 7 })
    fc.assert(
      fc.property(purchases, cuts, ({ reserveIn, reserveOut, amountOut, feeBps }, at) => {
        let [cost, got] = [0n, 0n]
        for (const part of partsOf(amountOut, at)) {
          const needed = inputFor(units(reserveIn + cost), units(reserveOut - got), part, feeBps)
          fc.pre(needed !== undefined && reserveIn + cost + needed < SUPPLY_BOUND)
          cost += needed
          got += part
        }
        expect(got).toBe(amountOut)
        expect(inputFor(reserveIn, reserveOut, amountOut, feeBps)).toBeLessThanOrEqual(cost)
      }),
      RUNS,
    )
  })

  it('pays more for more, less for a deeper other side, less for a higher fee', () => {
    const more = fc.tuple(sizes(), sizes(), sizes(), fees)
    fc.assert(
      fc.property(more, more, (one, other) => {
        const [low, high] = ordered(one, other)
        const paid = outputOf(high[0], low[1], low[2], high[3])
        expect(outputOf(low[0], low[1], low[2], high[3])).toBeGreaterThanOrEqual(paid)
        expect(outputOf(high[0], high[1], low[2], high[3])).toBeGreaterThanOrEqual(paid)
        expect(outputOf(high[0], low[1], high[2], high[3])).toBeGreaterThanOrEqual(paid)
        expect(outputOf(high[0], low[1], low[2], low[3])).toBeGreaterThanOrEqual(paid)
      }),
      RUNS,
    )
  })

  it('costs more for more, more with a deeper own side, more with a higher fee', () => {
    const more = fc.tuple(sizes(), sizes(), sizes(), fees)
    const cost = (...of: readonly [Amount, Amount, Amount, bigint]): bigint => inputFor(...of) ?? SUPPLY_BOUND
    fc.assert(
      fc.property(more, more, (one, other) => {
        const [low, high] = ordered(one, other)
        const least = cost(low[0], high[1], low[2], low[3])
        expect(cost(high[0], high[1], low[2], low[3])).toBeGreaterThanOrEqual(least)
        expect(cost(low[0], low[1], low[2], low[3])).toBeGreaterThanOrEqual(least)
        expect(cost(low[0], high[1], high[2], low[3])).toBeGreaterThanOrEqual(least)
        expect(cost(low[0], high[1], low[2], high[3])).toBeGreaterThanOrEqual(least)
      }),
      RUNS,
    )
  })
})

describe('amounts up to 2^112 - 1', () => {
  const extremes = [0n, 1n, 2n, 1_000n, 1n << 56n, 1n << 111n, AMOUNT_TOP - 1n, AMOUNT_TOP].map(units)
  const reserves = extremes.slice(1)

  it('never overflow in a swap, and what comes out is an amount again', () => {
    for (const reserveIn of reserves)
      for (const reserveOut of reserves)
        for (const size of extremes)
          for (const feeBps of [0n, 30n, 9_999n]) {
            const out = outputOf(reserveIn, reserveOut, size, feeBps)
            expect(out >= 0n && out < reserveOut).toBe(true)
            expect(inputFor(reserveIn, reserveOut, size, feeBps) ?? 0n).toBeLessThan(SUPPLY_BOUND)
            expect(feeOf(size, feeBps)).toBeLessThanOrEqual(size)
            const impact = priceImpactPpm(reserveIn, reserveOut, size, out)
            expect(impact >= 0n && impact <= 1_000_000n).toBe(true)
          }
  })

  it('never overflow in a pool that they can have made', () => {
    for (const a of reserves)
      for (const b of reserves) {
        const most = initialShares(a, b)
        expect(most).toBeLessThan(SUPPLY_BOUND)
        expect(spotPrice(a, b)).toBeLessThan(1n << 224n)
        for (const shares of [LOCKED_SHARES, LOCKED_SHARES + 1n, most].filter((some) => some <= most)) {
          const pool = { reserveA: a, reserveB: b, shares }
          expect(poolNeverLoses(pool, pool)).toBe(true)
          expect(removeLiquidity(pool, shares)).toEqual({ amountA: a, amountB: b })
          for (const offeredA of extremes)
            for (const offeredB of extremes) {
              const added = addLiquidity(pool, offeredA, offeredB)
              expect(added.shares).toBeLessThan(SUPPLY_BOUND)
              expect(added.amountA <= offeredA && added.amountB <= offeredB).toBe(true)
            }
        }
      }
  })
})

/** The pieces between the cuts; together they are the whole. */
function partsOf(amount: bigint, cuts: readonly bigint[]): readonly Amount[] {
  const ends = [...cuts.map((at) => at % (amount + 1n)), amount].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return ends.map((end, i) => units(end - (ends[i - 1] ?? 0n)))
}

/** Exchanges numbers between two rows: at each place the lower one goes to one row, and the higher one to the other. */
function ordered<Row extends readonly bigint[]>(one: Row, other: Row): [Row, Row] {
  const pick = (lower: boolean): Row =>
    one.map((n, i) => (n < (other[i] as bigint) === lower ? n : other[i])) as unknown as Row
  return [pick(true), pick(false)]
}
