import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addLiquidity, initialShares, LOCKED_SHARES, outputOf, type PoolFunds } from '../../amm/math.ts'
import { Fraction } from '../support/fraction.ts'
import {
  AMOUNT_TOP,
  fees,
  type Holdings,
  type PoolStep,
  play,
  playAll,
  poolSteps,
  pools,
  sizes,
  withdraw,
} from '../support/pool-actor.ts'
import { runs } from '../support/runs.ts'
import { units } from '../support/unsigned.ts'

const RUNS = { numRuns: runs(1_000) }
const NOTHING_HELD: Holdings = { a: 0n, b: 0n, shares: 0n }

/** A pool, and an actor with some of its shares and some of both assets; supplies stay below 2^112. */
const beginnings = pools.chain((pool) => {
  const shares = fc.oneof(fc.constant(0n), sizes(pool.shares - LOCKED_SHARES))
  const a = sizes(AMOUNT_TOP - pool.reserveA + 1n).map((size) => size - 1n)
  const b = sizes(AMOUNT_TOP - pool.reserveB + 1n).map((size) => size - 1n)
  return fc.record({ pool: fc.constant(pool), actor: fc.record({ a, b, shares }), feeBps: fees })
})

/** The value of a share, squared. */
function shareWorth({ reserveA, reserveB, shares }: PoolFunds): Fraction {
  return new Fraction(reserveA * reserveB, shares * shares)
}

/** Each reserve per share. */
function perShare({ reserveA, reserveB, shares }: PoolFunds): readonly [Fraction, Fraction] {
  return [new Fraction(reserveA, shares), new Fraction(reserveB, shares)]
}

/** A step that adds as much of both assets as the pool takes. */
function adding(a: bigint, b: bigint): PoolStep {
  return { kind: 'add', fromA: true, size: a, other: b }
}

/**
 * The actor's gain of A and B since the start, in units of 1 / `pool.shares`. Its shares count at the start as their exact fraction
 * of the pool; at the end all are withdrawn.
 */
function gains(pool: PoolFunds, start: Holdings, end: Holdings): readonly [bigint, bigint] {
  return [
    (end.a - start.a) * pool.shares - start.shares * pool.reserveA,
    (end.b - start.b) * pool.shares - start.shares * pool.reserveB,
  ]
}

/**
 * Expects that an actor who alone trades with a pool and then withdraws gains nothing. Let the part of all other holders
 * be (A, B) before and (A - da, B - db) after: they lose what the actor gains. The value of a share never falls,
 * so (A - da)(B - db) >= A B. Hence da >= 0 and db >= 0 only if both are 0. And since the mean of 1 - da/A and 1 - db/B
 * is at least the root of their product, da/A + db/B <= 0: at the price before, the actor gained nothing. At the price
 * after nothing follows, since the actor set it: buying raises the price of what was bought.
 */
function expectNoGain(pool: PoolFunds, start: Holdings, end: Holdings): void {
  const [da, db] = gains(pool, start, end)
  expect(da * pool.reserveB + db * pool.reserveA).toBeLessThanOrEqual(0n)
  expect(da >= 0n && db >= 0n && da + db > 0n).toBe(false)
}

describe('one who trades with a pool in any order', () => {
  it('never lessens what a share of the others is worth, and never empties a reserve', () => {
    fc.assert(
      fc.property(beginnings, fc.array(poolSteps, { maxLength: 30 }), ({ pool, actor, feeBps }, steps) => {
        let [now, holds]: [PoolFunds, Holdings] = [pool, actor]
        for (const step of steps) {
          const before = now
          ;[now, holds] = play(now, holds, step, feeBps)
          expect(shareWorth(now).isAtLeast(shareWorth(before))).toBe(true)
          expect(now.reserveA > 0n && now.reserveB > 0n).toBe(true)
          // Liquidity changes are in proportion, so each reserve per share never falls.
          if (step.kind === 'swap in' || step.kind === 'swap out') continue
          for (const [i, share] of perShare(now).entries())
            expect(share.isAtLeast(perShare(before)[i] as Fraction)).toBe(true)
        }
        expect(now.shares * now.shares).toBeLessThanOrEqual(now.reserveA * now.reserveB)
        expect(holds.a >= 0n && holds.b >= 0n && holds.shares >= 0n).toBe(true)
      }),
      RUNS,
    )
  })

  it('holds in the end no more than at the start, at the price of the start', () => {
    fc.assert(
      fc.property(beginnings, fc.array(poolSteps, { maxLength: 30 }), ({ pool, actor, feeBps }, steps) => {
        const [moved, moving] = playAll(pool, actor, steps, feeBps)
        const [now, holds] = withdraw(moved, moving, moving.shares)
        expect(now.shares).toBe(pool.shares - actor.shares)
        expect(shareWorth(now).isAtLeast(shareWorth(pool))).toBe(true)
        expectNoGain(pool, actor, holds)
      }),
      RUNS,
    )
  })

  it('loses less than one unit of each asset by adding and removing at once', () => {
    fc.assert(
      fc.property(pools, sizes(), sizes(), (pool, a, b) => {
        const { shares, amountA, amountB } = addLiquidity(pool, a, b)
        const full = {
          reserveA: units(pool.reserveA + amountA),
          reserveB: units(pool.reserveB + amountB),
          shares: pool.shares + shares,
        }
        const [, back] = withdraw(full, { ...NOTHING_HELD, shares }, shares)
        expect(amountA - back.a === 0n || amountA - back.a === 1n).toBe(true)
        expect(amountB - back.b === 0n || amountB - back.b === 1n).toBe(true)
      }),
      RUNS,
    )
  })
})

describe('the first of a pool who wants to rob the second', () => {
  /** The smallest pool: one share above the locked ones, from amounts between 1 : 10^6 and 10^6 : 1. */
  const smallest = sizes(1_002_001n).map((a): [PoolFunds, Holdings] => {
    const b = (1_002_001n + a - 1n) / a
    const shares = initialShares(a, units(b))
    const pool = { reserveA: a, reserveB: units(b), shares }
    return [pool, { a: 1n << 100n, b: 1n << 100n, shares: shares - LOCKED_SHARES }]
  })
  const attacks = fc.record({ smallest, feeBps: fees, before: fc.array(poolSteps, { maxLength: 20 }) })
  const offer = fc.record({ a: sizes(1n << 100n), b: sizes(1n << 100n) })

  // Donations to a pool are impossible, but swaps at a high fee come close. They do not help an attacker: the victim
  // pays for the received shares, not for its offer; at most 1 unit of each asset above their part of the pool.
  it('takes at most one unit of each asset from who adds', () => {
    fc.assert(
      fc.property(attacks, offer, ({ smallest: [pool, attacker], feeBps, before }, { a, b }) => {
        const [inflated] = playAll(pool, attacker, before, feeBps)
        const [full, victim] = play(inflated, { a, b, shares: 0n }, adding(a, b), feeBps)
        const [, back] = withdraw(full, victim, victim.shares)
        expect(back.a).toBeGreaterThanOrEqual(a - 1n)
        expect(back.b).toBeGreaterThanOrEqual(b - 1n)
      }),
      RUNS,
    )
  })

  // Whatever happens in between, the victim's part keeps its value, and each side of it is rounded down once.
  it('takes no more by what follows', () => {
    const steps = fc.array(poolSteps, { maxLength: 20 })
    fc.assert(
      fc.property(attacks, offer, steps, ({ smallest: [pool, attacker], feeBps, before }, { a, b }, after) => {
        const [inflated, thief] = playAll(pool, attacker, before, feeBps)
        const [full, { shares }] = play(inflated, { a, b, shares: 0n }, adding(a, b), feeBps)
        const [now] = playAll(full, thief, after, feeBps)
        const [, back] = withdraw(now, { ...NOTHING_HELD, shares }, shares)
        const part = new Fraction(shares * shares * full.reserveA * full.reserveB, full.shares * full.shares)
        expect(new Fraction((back.a + 1n) * (back.b + 1n)).isAtLeast(part)).toBe(true)
      }),
      RUNS,
    )
  })

  it('pays a thousand times what its own share is worth then to make a share dear', () => {
    const rich = { a: 1n << 100n, b: 1n << 100n, shares: 1n }
    const pool = { reserveA: units(1_001), reserveB: units(1_001), shares: 1_001n }
    let [inflated, thief]: [PoolFunds, Holdings] = [pool, rich]
    for (let i = 0; i < 20; i++) {
      // A swap of a hundred times the reserve: at this fee the pool keeps it and pays almost nothing.
      const fromA = i % 2 === 0
      const size = 100n * (fromA ? inflated.reserveA : inflated.reserveB)
      ;[inflated, thief] = play(inflated, thief, { kind: 'swap in', fromA, size, other: 0n }, 9_999n)
    }
    expect(inflated.reserveA / inflated.shares).toBeGreaterThan(1n << 60n)
    expect(inflated.reserveB / inflated.shares).toBeGreaterThan(1n << 60n)
    // One share costs more than this victim has, so nothing is taken.
    const poor = { a: 1n << 60n, b: 1n << 90n, shares: 0n }
    expect(play(inflated, poor, adding(poor.a, poor.b), 9_999n)).toEqual([inflated, poor])
    const [full, victim] = play(inflated, { ...rich, shares: 0n }, adding(rich.a, rich.b), 9_999n)
    expect(victim.shares).toBeGreaterThan(0n)
    const [left, back] = withdraw(full, victim, victim.shares)
    expect([rich.a - back.a, rich.b - back.b].every((lost) => lost === 0n || lost === 1n)).toBe(true)
    const [, own] = withdraw(left, thief, 1n)
    expect(1_000n * (own.b - thief.b)).toBeLessThanOrEqual(left.reserveB)
    expect(1_000n * (own.a - thief.a)).toBeLessThanOrEqual(left.reserveA)
  })
})

describe('dust', () => {
  const SWAPS = 10_000
  const made = [
    [1_000n, 1_002n],
    [3n, 1n << 40n],
    [1_000_003n, 999_983n],
    [AMOUNT_TOP / 2n, 1_009n],
  ] as const

  for (const [reserveA, reserveB] of made)
    it(`is not to be had from ${reserveA} : ${reserveB} in ${SWAPS} tiny swaps`, () => {
      for (const feeBps of [0n, 1n, 30n]) {
        const shares = initialShares(units(reserveA), units(reserveB))
        const pool = { reserveA: units(reserveA), reserveB: units(reserveB), shares }
        const start = { a: 1n << 40n, b: 1n << 40n, shares: 0n }
        let [now, holds]: [PoolFunds, Holdings] = [pool, start]
        for (let i = 0; i < SWAPS; i++) {
          const size = 1n + BigInt((i * 7_919) % 13)
          const step = { kind: i % 3 === 0 ? 'swap out' : 'swap in', fromA: i % 2 === 0, size, other: 0n } as const
          ;[now, holds] = play(now, holds, step, feeBps)
          if (i % 100 === 99) expectNoGain(pool, start, holds)
        }
        expect(holds).not.toEqual(start)
      }
    })

  it('is not to be had by going there and back with every size up to 10,000', () => {
    for (const [reserveA, reserveB] of made)
      for (let size = 1n; size <= 10_000n; size++) {
        const out = outputOf(units(reserveA), units(reserveB), units(size), 0n)
        const back = outputOf(units(reserveB - out), units(reserveA + size), out, 0n)
        if (back > size) expect.fail(`${size} became ${back}`)
      }
  })
})
