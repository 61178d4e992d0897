import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TxId } from '../../../../../../consensus/primitives/ids.ts'
import {
  type ClaimCandidate,
  type ClaimMoment,
  claimsDue,
  feeBudget,
} from '../../../../../../marketplace/till/rails/tab/claim-policy.ts'
import { filled } from '../../../../../support/unsigned.ts'

const HEIGHT = 10_000
const NOW = 1_800_000_000_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** A claim costs 100 and 50 for each tab. */
const fee = (tabs: number): bigint => 100n + 50n * BigInt(tabs)
const ALONE = fee(1)
const MOMENT: ClaimMoment = { height: HEIGHT, nowMs: NOW, fee, riskLimit: null }

const OPEN = { closesAt: 0, expiresAt: HEIGHT + 20_000, closeDelay: 400 }
/** One call a minute ago, worth ten fees. */
function tab(change: Partial<ClaimCandidate> = {}, id = 1): ClaimCandidate {
  const times = { oldestAtMs: NOW - MINUTE }
  const flags = { refundAsked: false, openedFee: ALONE, isBusy: false }
  return { tabId: filled<TxId>(id), tab: OPEN, unclaimed: 10n * ALONE, receipts: 1, ...times, ...flags, ...change }
}

/** The first call that is in no claim is ten minutes old. */
const RIPE = { oldestAtMs: NOW - 10 * MINUTE }

const isDue = (change: Partial<ClaimCandidate>, moment: Partial<ClaimMoment> = {}): boolean =>
  claimsDue([tab(change)], { ...MOMENT, ...moment }).length === 1

describe('a tab', () => {
  it('is claimed ten minutes after its first call if it is worth a hundred times the fee, and not below', () => {
    const at = (unclaimed: bigint) => isDue({ ...RIPE, unclaimed })
    expect([at(100n * ALONE - 1n), at(100n * ALONE)]).toEqual([false, true])
  })

  it('is not claimed before that, whatever it is worth', () => {
    const at = (age: number) => isDue({ unclaimed: 1_000_000n * ALONE, receipts: 5_000, oldestAtMs: NOW - age })
    expect([at(0), at(MINUTE), at(10 * MINUTE - 1), at(10 * MINUTE)]).toEqual([false, false, false, true])
  })

  it('shares the fee with others, so that together they are claimed earlier', () => {
    const together = (value: bigint) =>
      claimsDue(
        [1, 2, 3, 4].map((id) => tab({ ...RIPE, unclaimed: value }, id)),
        MOMENT,
      ).length
    // Four tabs cost 300, so each is due at 7,500 where one alone is due at 15,000.
    expect([together(7_499n), together(7_500n)]).toEqual([0, 4])
  })

  it('is worth its share of a claim for each of its entries: ten thousand receipts fill one', () => {
    const aged = { oldestAtMs: NOW - 6 * HOUR, receipts: 20_001 }
    const at = (unclaimed: bigint) => isDue({ ...aged, unclaimed })
    expect([at(fee(3) - 1n), at(fee(3))]).toEqual([false, true])
    expect(isDue({ ...RIPE, receipts: 20_001, unclaimed: 100n * ALONE })).toBe(false)
    expect(isDue({ ...RIPE, receipts: 20_001, unclaimed: 300n * ALONE })).toBe(true)
  })

  it('shares the fee with none that is not claimed yet', () => {
    const others = [2, 3, 4].map((id) => tab({ unclaimed: 7_500n }, id))
    const at = (unclaimed: bigint) => claimsDue([tab({ ...RIPE, unclaimed }, 1), ...others], MOMENT).length
    expect([at(100n * ALONE - 1n), at(100n * ALONE)]).toEqual([0, 1])
  })

  it('shares the fee with those that are claimed at once', () => {
    const closing = [2, 3, 4].map((id) => tab({ unclaimed: 7_500n, tab: { ...OPEN, closesAt: HEIGHT + 100 } }, id))
    const at = (unclaimed: bigint) => claimsDue([tab({ ...RIPE, unclaimed }, 1), ...closing], MOMENT).length
    expect([at(7_499n), at(7_500n)]).toEqual([3, 4])
  })

  it('does not wait for poorer tabs, nor takes them along', () => {
    const due = claimsDue([tab({ ...RIPE, unclaimed: 20_000n }, 1), tab({ ...RIPE, unclaimed: 1_000n }, 2)], MOMENT)
    expect(due).toEqual([{ tabId: filled(1), close: false }])
  })

  it('that is worth little beside the fee is claimed after six hours', () => {
    const at = (age: number) => isDue({ oldestAtMs: NOW - age })
    expect([at(10 * MINUTE), at(6 * HOUR - 1), at(6 * HOUR)]).toEqual([false, false, true])
  })

  it('waits while the fee is high, so that sellers do not bid for blocks that are full', () => {
    const at = (times: bigint) => isDue({ ...RIPE, unclaimed: 100n * ALONE }, { fee: (tabs) => fee(tabs) * times })
    expect([at(1n), at(2n), at(50n)]).toEqual([true, false, false])
  })

  it('is claimed at once when its payer closes it', () => {
    expect(isDue({ tab: { ...OPEN, closesAt: HEIGHT + 399 } })).toBe(true)
  })

  it('is claimed at once 240 blocks before it expires', () => {
    const at = (left: number) => isDue({ tab: { ...OPEN, expiresAt: HEIGHT + left } })
    expect([at(241), at(240)]).toEqual([false, true])
  })

  it('is claimed at once when three quarters of what may be risked are unclaimed', () => {
    const at = (unclaimed: bigint) => isDue({ unclaimed }, { riskLimit: 2_000n })
    expect([at(1_499n), at(1_500n)]).toEqual([false, true])
  })

  it('is left to its payer when a claim would cost more than it brings, in a claim of several too', () => {
    const closing = { tab: { ...OPEN, closesAt: HEIGHT + 100 }, unclaimed: ALONE - 1n }
    expect(isDue(closing)).toBe(false)
    expect(isDue({ ...closing, unclaimed: ALONE })).toBe(true)
    expect(claimsDue([tab(closing, 1), tab({ ...RIPE, unclaimed: 100n * ALONE }, 2)], MOMENT)).toEqual([
      { tabId: filled(2), close: false },
    ])
  })

  it('with failed calls alone is not claimed, whatever its age', () => {
    expect(isDue({ unclaimed: 0n, receipts: 50, oldestAtMs: 0 })).toBe(false)
  })

  it('is not claimed when no block before its end can hold the claim', () => {
    const at = (left: number) => isDue({ tab: { ...OPEN, closesAt: HEIGHT + left }, unclaimed: 1_000_000n })
    expect([at(1), at(2)]).toEqual([false, true])
  })

  it('ends with a claim when its payer asks for its refund, once no call is under way', () => {
    const asked = tab({ refundAsked: true, unclaimed: 0n, receipts: 0 })
    expect(claimsDue([asked], MOMENT)).toEqual([{ tabId: asked.tabId, close: true }])
    expect(claimsDue([{ ...asked, isBusy: true }], MOMENT)).toEqual([])
    // What is charged already is not held up by the call under way.
    expect(claimsDue([{ ...asked, ...RIPE, isBusy: true, unclaimed: 20_000n, receipts: 3 }], MOMENT)).toEqual([
      { tabId: asked.tabId, close: false },
    ])
  })
})

describe('the refund of a tab that does not bring its fee', () => {
  const unused = { refundAsked: true, unclaimed: 0n, receipts: 0, openedFee: ALONE }
  const dearer = (times: bigint) => ({ fee: (tabs: number) => fee(tabs) * times })

  it('is made while a claim costs no more than twice what it cost at the opening, and waits above that', () => {
    const at = (times: bigint) => isDue(unused, dearer(times))
    expect([at(1n), at(2n), at(3n), at(1_000n)]).toEqual([true, true, false, false])
    expect(isDue({ ...unused, openedFee: 500n * ALONE }, dearer(1_000n))).toBe(true)
  })

  it('is made at any fee that it brings', () => {
    const worth = (unclaimed: bigint) => isDue({ ...unused, unclaimed, receipts: 1 }, dearer(50n))
    expect([worth(50n * ALONE - 1n), worth(50n * ALONE)]).toEqual([false, true])
  })
})

describe('tabs that are due', () => {
  it('come in the order of their ends, then the largest first', () => {
    const rich = 100n * ALONE
    const due = claimsDue(
      [
        tab({ ...RIPE, unclaimed: rich }, 1),
        tab({ ...RIPE, unclaimed: 2n * rich }, 2),
        tab({ tab: { ...OPEN, closesAt: HEIGHT + 300 } }, 3),
        tab({ tab: { ...OPEN, expiresAt: HEIGHT + 20 } }, 4),
      ],
      MOMENT,
    )
    expect(due.map(({ tabId }) => tabId)).toEqual([filled(4), filled(3), filled(2), filled(1)])
  })

  it('each bring at least the fee that they would cost alone, unless a payer asked for its refund', () => {
    const candidate = fc.record({
      unclaimed: fc.bigInt(0n, 40_000n),
      receipts: fc.integer({ min: 0, max: 5 }),
      age: fc.integer({ min: 0, max: 8 * HOUR }),
      left: fc.integer({ min: -5, max: 1_000 }),
      refundAsked: fc.boolean(),
      isBusy: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 80 }), (drawn) => {
        const tabs = drawn.map(({ age, left, ...rest }, i) =>
          tab({ ...rest, oldestAtMs: NOW - age, tab: { ...OPEN, expiresAt: HEIGHT + left } }, i + 1),
        )
        const due = claimsDue(tabs, MOMENT)
        expect(new Set(due.map(({ tabId }) => tabId)).size).toBe(due.length)
        for (const { tabId, close } of due) {
          const one = tabs.find((each) => each.tabId === tabId)!
          expect(close ? one.refundAsked && !one.isBusy : one.unclaimed >= ALONE && one.receipts > 0).toBe(true)
        }
      }),
    )
  })
})

describe('the fees of a claim', () => {
  const closing = { closesAt: HEIGHT + 400, expiresAt: HEIGHT + 20_000, closeDelay: 400 }

  it('may cost a tenth of its value, and a quarter from half of the close delay on', () => {
    const at = (height: number) => feeBudget(closing, 1_000n, height)
    expect([at(HEIGHT), at(HEIGHT + 199), at(HEIGHT + 200), at(HEIGHT + 399)]).toEqual([100n, 100n, 250n, 250n])
  })

  it('may cost a quarter too when an open tab is about to expire', () => {
    const tabOf = (left: number) => ({ ...closing, closesAt: 0, expiresAt: HEIGHT + left })
    expect([feeBudget(tabOf(201), 1_000n, HEIGHT), feeBudget(tabOf(200), 1_000n, HEIGHT)]).toEqual([100n, 250n])
  })
})
