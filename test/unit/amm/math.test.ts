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
  PRICE_ONE,
  poolNeverLoses,
  priceImpactPpm,
  removeLiquidity,
  spotPrice,
} from '../../../amm/math.ts'
import { SUPPLY_BOUND } from '../../../consensus/primitives/amount.ts'
import { AssertionError } from '../../../consensus/primitives/assert.ts'
import { units } from '../../support/unsigned.ts'

const TOP = units(SUPPLY_BOUND - 1n)

const pool = (reserveA: number | bigint, reserveB: number | bigint, shares: number | bigint): PoolFunds => ({
  reserveA: units(reserveA),
  reserveB: units(reserveB),
  shares: BigInt(shares),
})

describe('the square root', () => {
  it('is rounded down', () => {
    const roots = Array.from({ length: 17 }, (_, value) => isqrt(BigInt(value)))
    expect(roots).toEqual([0n, 1n, 1n, 1n, 2n, 2n, 2n, 2n, 2n, 3n, 3n, 3n, 3n, 3n, 3n, 3n, 4n])
  })

  it('steps at each square, for roots of every length up to 128 bits', () => {
    for (let bits = 1n; bits <= 128n; bits++) {
      const root = (1n << bits) - 1n
      expect([isqrt(root * root - 1n), isqrt(root * root)]).toEqual([root - 1n, root])
    }
  })

  it('takes values from 0 to 2^256 - 1', () => {
    const message = 'isqrt takes unsigned numbers below 2^256'
    expect(isqrt((1n << 256n) - 1n)).toBe((1n << 128n) - 1n)
    expect(() => isqrt(1n << 256n)).toThrow(new AssertionError(message))
    expect(() => isqrt(-1n)).toThrow(new AssertionError(message))
  })
})

describe('the first shares of a pool', () => {
  it('are the root of the product of what is put in, 1,000 of which are locked', () => {
    expect(LOCKED_SHARES).toBe(1_000n)
    expect(initialShares(units(1_000), units(4_000))).toBe(2_000n)
    expect(initialShares(units(999), units(1_001))).toBe(999n)
    expect(initialShares(units(1), units(1_002_001))).toBe(1_001n)
    expect(initialShares(TOP, TOP)).toBe(TOP)
  })
})

describe('a swap of an exact input', () => {
  const swap = (reserveIn: number, reserveOut: number, amountIn: number, feeBps: bigint): bigint =>
    outputOf(units(reserveIn), units(reserveOut), units(amountIn), feeBps)

  it('pays what keeps the product, without the fraction', () => {
    expect(swap(1_000, 1_000, 1_000, 0n)).toBe(500n)
    expect(swap(1_000, 3_000, 500, 0n)).toBe(1_000n)
    expect(swap(3_000, 1_000, 500, 0n)).toBe(142n)
    expect(swap(1_000, 1_000, 1, 0n)).toBe(0n)
    expect(swap(1_000, 1_001, 1, 0n)).toBe(1n)
  })

  it('pays for the input less the fee', () => {
    expect(swap(1_000_000, 2_000_000, 10_000, 30n)).toBe(19_743n)
    expect(swap(1_000_000, 2_000_000, 10_000, 9_999n)).toBe(1n)
    expect(swap(1_000_000, 2_000_000, 4_999, 9_999n)).toBe(0n)
    expect(swap(1_000_000, 2_000_000, 0, 30n)).toBe(0n)
  })

  it('never pays the whole reserve', () => {
    expect(outputOf(units(1), units(1), TOP, 0n)).toBe(0n)
    expect(outputOf(units(1), TOP, TOP, 0n)).toBe(TOP - 1n)
    expect(outputOf(TOP, TOP, TOP, 0n)).toBe(TOP / 2n)
  })

  it('knows fees from 0 to 9,999 basis points', () => {
    expect(() => swap(1_000, 1_000, 10, 10_000n)).toThrow(new AssertionError('fee out of range: 10000 bps'))
    expect(() => swap(1_000, 1_000, 10, -1n)).toThrow(new AssertionError('fee out of range: -1 bps'))
  })

  it('is of a pool that holds both assets', () => {
    for (const [reserveIn, reserveOut] of [
      [0, 1],
      [1, 0],
    ] as const)
      expect(() => swap(reserveIn, reserveOut, 1, 0n)).toThrow(new AssertionError('a pool holds both assets'))
  })
})

describe('a swap for an exact output', () => {
  const needed = (reserveIn: number, reserveOut: number, amountOut: number, feeBps: bigint): bigint | undefined =>
    inputFor(units(reserveIn), units(reserveOut), units(amountOut), feeBps)

  it('costs what keeps the product, with the fraction as a whole unit', () => {
    expect(needed(1_000, 1_000, 500, 0n)).toBe(1_000n)
    expect(needed(1_000, 3_000, 1_000, 0n)).toBe(500n)
    expect(needed(3_000, 1_000, 142, 0n)).toBe(497n)
    expect(needed(1_000, 1_001, 1, 0n)).toBe(1n)
    expect(needed(1_000, 1_000, 0, 30n)).toBe(0n)
  })

  it('costs the fee on top', () => {
    expect(needed(1_000_000, 2_000_000, 19_743, 30n)).toBe(10_000n)
    expect(needed(1_000_000, 2_000_000, 1, 9_999n)).toBe(5_001n)
  })

  it('has no price when the pool holds no more than is wanted', () => {
    expect(needed(1_000, 1_000, 999, 0n)).toBe(999_000n)
    expect(needed(1_000, 1_000, 1_000, 0n)).toBeUndefined()
    expect(needed(1_000, 1_000, 1_001, 0n)).toBeUndefined()
    expect(inputFor(TOP, TOP, TOP, 0n)).toBeUndefined()
  })

  it('has no price that no supply can reach', () => {
    expect(inputFor(TOP, units(2), units(1), 0n)).toBe(TOP)
    expect(inputFor(units(1n << 111n), units(3), units(2), 0n)).toBeUndefined()
    expect(inputFor(TOP, TOP, units(TOP - 1n), 9_999n)).toBeUndefined()
  })

  it('is of a pool that holds both assets and takes a fee below the whole', () => {
    expect(() => needed(0, 2, 1, 0n)).toThrow(new AssertionError('a pool holds both assets'))
    expect(() => needed(2, 0, 1, 0n)).toThrow(new AssertionError('a pool holds both assets'))
    expect(() => needed(2, 2, 1, 10_000n)).toThrow(new AssertionError('fee out of range: 10000 bps'))
  })
})

describe('the fee of an exact input', () => {
  it('is rounded up', () => {
    expect(feeOf(units(10_000), 30n)).toBe(30n)
    expect(feeOf(units(10_001), 30n)).toBe(31n)
    expect(feeOf(units(1), 1n)).toBe(1n)
    expect(feeOf(units(10_000), 9_999n)).toBe(9_999n)
    expect(feeOf(TOP, 0n)).toBe(0n)
    expect(feeOf(units(0), 30n)).toBe(0n)
  })

  it('is that of a fee below the whole', () => {
    expect(() => feeOf(units(1), 10_000n)).toThrow(new AssertionError('fee out of range: 10000 bps'))
  })
})

describe('liquidity', () => {
  it('is added in the proportion of the reserves, as far as the scarcer asset reaches', () => {
    const added = { shares: 100n, amountA: 100n, amountB: 400n }
    expect(addLiquidity(pool(1_000, 4_000, 1_000), units(100), units(400))).toEqual(added)
    expect(addLiquidity(pool(1_000, 4_000, 1_000), units(150), units(400))).toEqual(added)
    expect(addLiquidity(pool(1_000, 4_000, 1_000), units(100), units(900))).toEqual(added)
    expect(addLiquidity(pool(4_000, 1_000, 1_000), units(403), units(101))).toEqual({
      shares: 100n,
      amountA: 400n,
      amountB: 100n,
    })
  })

  it('gets shares rounded down and pays for them rounded up', () => {
    expect(addLiquidity(pool(3_000, 5_000, 2_000), units(100), units(200))).toEqual({
      shares: 66n,
      amountA: 99n,
      amountB: 165n,
    })
    expect(addLiquidity(pool(3_001, 5_001, 2_000), units(100), units(200))).toEqual({
      shares: 66n,
      amountA: 100n,
      amountB: 166n,
    })
  })

  it('that is worth less than one share takes nothing', () => {
    const nothing = { shares: 0n, amountA: 0n, amountB: 0n }
    expect(addLiquidity(pool(5_000, 5_000, 1_000), units(4), units(1_000))).toEqual(nothing)
    expect(addLiquidity(pool(5_000, 5_000, 1_000), units(1_000), units(4))).toEqual(nothing)
    expect(addLiquidity(pool(5_000, 5_000, 1_000), units(0), units(0))).toEqual(nothing)
  })

  it('is added to a pool that holds both assets alone', () => {
    expect(() => addLiquidity(pool(0, 1, 1_000), units(1), units(1))).toThrow('a pool holds both assets')
    expect(() => addLiquidity(pool(1, 0, 1_000), units(1), units(1))).toThrow('a pool holds both assets')
  })

  it('is removed in the proportion of the reserves, both rounded down', () => {
    expect(removeLiquidity(pool(1_000, 4_000, 2_000), 500n)).toEqual({ amountA: 250n, amountB: 1_000n })
    expect(removeLiquidity(pool(1_999, 3_999, 2_000), 1n)).toEqual({ amountA: 0n, amountB: 1n })
    expect(removeLiquidity(pool(3_999, 1_999, 2_000), 0n)).toEqual({ amountA: 0n, amountB: 0n })
  })

  it('is removed up to the whole', () => {
    expect(removeLiquidity(pool(1_000, 4_000, 2_000), 2_000n)).toEqual({ amountA: 1_000n, amountB: 4_000n })
    expect(() => removeLiquidity(pool(1_000, 4_000, 2_000), 2_001n)).toThrow(
      new AssertionError('a pool of 2000 shares gives back 2001'),
    )
  })
})

describe('the price', () => {
  it('is how much of A one unit of B costs, in 2^-112, rounded down', () => {
    expect(PRICE_ONE).toBe(2n ** 112n)
    expect(spotPrice(units(5), units(5))).toBe(PRICE_ONE)
    expect(spotPrice(units(7), units(2))).toBe((7n * PRICE_ONE) / 2n)
    expect(spotPrice(units(2), units(3))).toBe((2n * PRICE_ONE - 2n) / 3n)
    expect(spotPrice(TOP, units(1))).toBe(TOP * PRICE_ONE)
    expect(spotPrice(units(1), TOP)).toBe(1n)
  })

  it('that a swap got is compared with the one before it, in parts per million rounded up', () => {
    const impact = (...n: [number, number, number, number]): bigint => {
      const [reserveIn, reserveOut, amountIn, amountOut] = n
      return priceImpactPpm(units(reserveIn), units(reserveOut), units(amountIn), units(amountOut))
    }
    expect(impact(1_000, 1_000, 1_000, 500)).toBe(500_000n)
    expect(impact(1_000, 3_000, 500, 1_000)).toBe(333_334n)
    expect(impact(1_000_000, 2_000_000, 10_000, 19_743)).toBe(12_850n)
    expect(impact(1_000, 1_000, 1, 0)).toBe(1_000_000n)
    expect(impact(3, 7, 3, 7)).toBe(0n)
    expect(impact(3, 7, 3, 8)).toBe(0n)
    expect(impact(3, 7, 0, 0)).toBe(0n)
    expect(priceImpactPpm(TOP, TOP, TOP, units(TOP - 1n))).toBe(1n)
    expect(priceImpactPpm(TOP, TOP, TOP, units(1))).toBe(1_000_000n)
  })
})

describe('what a pool may never lose', () => {
  it('is the product of its reserves while the shares stay', () => {
    expect(poolNeverLoses(pool(100, 100, 10), pool(50, 200, 10))).toBe(true)
    expect(poolNeverLoses(pool(100, 100, 10), pool(51, 200, 10))).toBe(true)
    expect(poolNeverLoses(pool(100, 100, 10), pool(50, 199, 10))).toBe(false)
    expect(poolNeverLoses(pool(100, 100, 10), pool(199, 50, 10))).toBe(false)
  })

  it('is the worth of a share when shares come and go', () => {
    expect(poolNeverLoses(pool(100, 100, 10), pool(200, 200, 20))).toBe(true)
    expect(poolNeverLoses(pool(100, 100, 10), pool(400, 100, 20))).toBe(true)
    expect(poolNeverLoses(pool(100, 100, 10), pool(399, 100, 20))).toBe(false)
    expect(poolNeverLoses(pool(100, 100, 10), pool(200, 200, 21))).toBe(false)
    expect(poolNeverLoses(pool(200, 200, 20), pool(100, 100, 10))).toBe(true)
    expect(poolNeverLoses(pool(200, 200, 20), pool(99, 101, 10))).toBe(false)
  })

  it('is compared exactly at every size', () => {
    expect(poolNeverLoses(pool(TOP, TOP, TOP), pool(TOP, TOP, TOP))).toBe(true)
    expect(poolNeverLoses(pool(TOP, TOP, TOP), pool(TOP - 1n, TOP, TOP))).toBe(false)
    expect(poolNeverLoses(pool(TOP, TOP, TOP - 1n), pool(TOP, TOP, TOP))).toBe(false)
  })
})
