import { describe, expect, it } from 'vitest'
import type { StakingRules } from '../../../../consensus/ledger/rules.ts'
import {
  accrueRewards,
  BLOCK_PARTS,
  demandPerPart,
  earned,
  emptyBooks,
  freeUnits,
  paidParts,
  rewardAtRate,
  rewardUnits,
  type StakingFunds,
} from '../../../../consensus/ledger/staking-accrual.ts'
import { SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import { units } from '../../../support/unsigned.ts'

const RULES: StakingRules = {
  tiers: [
    { lockBlocks: 0, yearlyBps: 100n },
    { lockBlocks: 0, yearlyBps: 300n },
  ],
  blocksPerYear: 1_000n,
}
const UNIT = 10_000n * 1_000n * 2n ** 64n

/** Funds with these sums staked and nothing owed yet. */
function funds(pool: bigint, ...staked: readonly bigint[]): StakingFunds {
  return {
    books: { ...emptyBooks(5), tiers: staked.map((sum) => ({ staked: units(sum), index: 0n })) },
    pool: units(pool),
  }
}

describe('reward units', () => {
  it('are such that a base unit at one basis point a year earns one in a part of a block', () => {
    expect(rewardUnits(RULES)).toBe(UNIT)
    expect(demandPerPart(funds(0n, 7n, 5n).books, RULES)).toBe(7n * 100n + 5n * 300n)
    const [tier] = accrueRewards(funds(1_000n, 1n), RULES, 6).books.tiers
    expect(tier?.index).toBe(100n * BLOCK_PARTS)
  })

  it('that no account is owed are those of pool and reserve together', () => {
    const { books, pool } = funds(10n, 1n)
    expect(freeUnits({ books: { ...books, reserved: units(3), owed: 2n * UNIT + 1n }, pool }, RULES)).toBe(
      11n * UNIT - 1n,
    )
  })
})

describe('paid parts', () => {
  it('are all of them where they can be paid, to the last unit', () => {
    expect(paidParts(3n * 7n * BLOCK_PARTS, 7n, 3n)).toBe(3n * BLOCK_PARTS)
    expect(paidParts(3n * 7n * BLOCK_PARTS - 1n, 7n, 3n)).toBe(3n * BLOCK_PARTS - 1n)
    expect(paidParts(20n, 7n, 3n)).toBe(2n)
    expect(paidParts(6n, 7n, 3n)).toBe(0n)
  })

  it('are all of them where nothing is demanded', () => {
    expect(paidParts(0n, 0n, 3n)).toBe(3n * BLOCK_PARTS)
  })
})

describe('an accrual', () => {
  it('reserves what it grants, rounded up', () => {
    // 1 % a year of 1,000,000 and 3 % a year of 500,000 make 25 base units a block: 75 in 3 blocks.
    const three = accrueRewards(funds(1_000n, 1_000_000n, 500_000n), RULES, 8)
    expect(three).toEqual({
      pool: 925n,
      books: {
        ...{ updatedAt: 8, reserved: 75n, owed: 75n * UNIT },
        tiers: [
          { staked: 1_000_000n, index: 300n * BLOCK_PARTS },
          { staked: 500_000n, index: 900n * BLOCK_PARTS },
        ],
      },
    })
    const odd = accrueRewards(funds(1_000n, 1n), RULES, 6)
    expect([odd.pool, odd.books.reserved, odd.books.owed]).toEqual([999n, 1n, 100n * BLOCK_PARTS])
  })

  it('at once again does nothing', () => {
    const once = accrueRewards(funds(1_000n, 1_000_000n, 500_000n), RULES, 8)
    expect(accrueRewards(once, RULES, 8)).toEqual(once)
  })

  it('without stakes takes nothing and opens the tiers that there are', () => {
    const { books, pool } = accrueRewards({ books: emptyBooks(3), pool: units(50) }, RULES, 90)
    expect([pool, books.reserved, books.owed, books.updatedAt, books.tiers.length]).toEqual([50n, 0n, 0n, 90, 2])
  })

  it('empties a pool that is short, and keeps its hands off what is owed', () => {
    const owing = accrueRewards(funds(80n, 1_000_000n, 500_000n), RULES, 8)
    const { books, pool } = accrueRewards(owing, RULES, 100)
    expect([pool, books.reserved]).toEqual([0n, 80n])
    // The rest is less than one part of one block.
    expect(80n * UNIT - books.owed).toBeLessThan(demandPerPart(books, RULES))
    const [one, three] = books.tiers
    expect((three?.index ?? 0n) - 3n * (one?.index ?? 0n)).toBe(0n)
  })

  it('never goes back, and never loses a tier', () => {
    expect(() => accrueRewards(funds(1n, 1n), RULES, 4)).toThrow('accrue forward')
    const fewer = { ...RULES, tiers: RULES.tiers.slice(1) }
    expect(() => accrueRewards(funds(1n, 1n, 1n), fewer, 6)).toThrow('tier is gone')
  })

  it('stays within 256 bits at all bounds of the parameters at once', () => {
    const last = 2 ** 32 - 1
    for (const blocksPerYear of [1n, (1n << 32n) - 1n])
      for (const yearlyBps of [1n, 1_000_000n])
        for (const staked of [1n, SUPPLY_BOUND >> 1n, SUPPLY_BOUND - 2n]) {
          const rules = { tiers: [{ lockBlocks: 0, yearlyBps }], blocksPerYear }
          const begun = {
            ...funds(SUPPLY_BOUND - 1n - staked, staked),
            books: { ...funds(0n, staked).books, updatedAt: 0 },
          }
          const { books, pool } = accrueRewards(begun, rules, last)
          const index = books.tiers[0]?.index ?? 0n
          const { whole, rest } = earned({ amount: units(staked), startIndex: 0n }, index, rules)
          expect(index >> 116n).toBe(0n)
          expect(whole * rewardUnits(rules) + rest).toBe(books.owed)
          expect(pool + books.reserved).toBe(SUPPLY_BOUND - 1n - staked)
          const full = (staked * yearlyBps * BigInt(last)) / (10_000n * blocksPerYear)
          if (full < SUPPLY_BOUND - 1n - staked) expect(whole).toBe(full)
          else
            expect(whole).toBeGreaterThanOrEqual(
              SUPPLY_BOUND - 1n - staked - ((staked * yearlyBps) / rewardUnits(rules) + 1n),
            )
        }
  })
})

describe('a reward by the rate alone', () => {
  it('is a year, a twelfth and a 365th, each rounded down for itself', () => {
    expect(rewardAtRate(1_000_000n, 300n)).toEqual({ yearly: 30_000n, monthly: 2_500n, daily: 82n })
    expect(rewardAtRate(39n, 300n)).toEqual({ yearly: 1n, monthly: 0n, daily: 0n })
  })

  it('takes amounts below 2^112', () => {
    expect(rewardAtRate(SUPPLY_BOUND - 1n, 10_000n).yearly).toBe(SUPPLY_BOUND - 1n)
    expect(() => rewardAtRate(SUPPLY_BOUND, 1n)).toThrow('any supply')
  })
})
