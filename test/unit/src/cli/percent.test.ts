import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AMOUNT_MAX, SUPPLY_BOUND } from '../../../../consensus/primitives/amount.ts'
import {
  atLeast,
  atMost,
  bpsText,
  parsePercent,
  partOf,
  percentText,
  slippageFlag,
} from '../../../../src/cli/percent.ts'

const parts = (text: string): bigint | string => {
  const parsed = parsePercent('percent', text)
  return parsed.ok ? parsed.value : String(parsed.fault.detail.reason)
}

describe('a percentage', () => {
  it('is read exactly, with at most four decimals, from 0 to 100', () => {
    expect(['0', '0.5', '0.5%', '12.3456', '100', '0.0001'].map(parts)).toEqual([
      0n,
      5_000n,
      5_000n,
      123_456n,
      1_000_000n,
      1n,
    ])
    for (const text of ['100.0001', '1e1', '-1', '.5', '5,0', '', ' 1', '0.00001', 'half', '1%%']) {
      expect(parts(text)).toBe('--percent is a percentage of 0 to 100 with at most 4 decimals')
    }
  })

  it('is 0.5 where no slippage is given, and never 100: nothing would be protected', () => {
    const slippage = (flags: Record<string, string>) => slippageFlag({ flags })
    expect(slippage({})).toEqual({ ok: true, value: 5_000n })
    expect(slippage({ slippage: '0' })).toEqual({ ok: true, value: 0n })
    expect(slippage({ slippage: '15' })).toEqual({ ok: true, value: 150_000n })
    expect(slippage({ slippage: '15.0001' })).toMatchObject({ ok: false, fault: { code: 'cli/usage' } })
    expect(slippage({ slippage: '99.9999', 'accept-slippage': 'true' })).toEqual({ ok: true, value: 999_999n })
    expect(slippage({ slippage: '100', 'accept-slippage': 'true' })).toMatchObject({
      ok: false,
      fault: { code: 'cli/usage' },
    })
  })

  it('is shown as it is read', () => {
    expect([0n, 1n, 5_000n, 1_000_000n].map(percentText)).toEqual(['0 %', '0.0001 %', '0.5 %', '100 %'])
    expect([5, 30, 100].map(bpsText)).toEqual(['0.05 %', '0.3 %', '1 %'])
  })
})

describe('a limit', () => {
  it('is rounded so that it never tolerates more than was said', () => {
    expect(atLeast(1_000n, 5_000n)).toBe(995n)
    expect(atLeast(999n, 5_000n)).toBe(995n)
    expect(atLeast(1n, 999_999n)).toBe(1n)
    expect(atMost(1_000n, 5_000n)).toBe(1_005n)
    expect(atMost(199n, 5_000n)).toBe(199n)
  })

  it('is the exact fraction, rounded once, for every amount', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, SUPPLY_BOUND - 1n), fc.bigInt(0n, 999_999n), (expected, slippage) => {
        const [least, most] = [atLeast(expected, slippage), atMost(expected, slippage)]
        const [low, high] = [expected * (1_000_000n - slippage), expected * (1_000_000n + slippage)]
        expect(least * 1_000_000n >= low && (least - 1n) * 1_000_000n < low).toBe(true)
        expect(most * 1_000_000n <= high && (most + 1n) * 1_000_000n > high).toBe(true)
        expect(least <= expected && expected <= most && most < AMOUNT_MAX).toBe(true)
      }),
    )
  })
})

it('a part of what is held is rounded down, and all of it is all of it', () => {
  expect(partOf(999n, 500_000n)).toBe(499n)
  expect(partOf(SUPPLY_BOUND - 1n, 1_000_000n)).toBe(SUPPLY_BOUND - 1n)
  expect(partOf(1n, 999_999n)).toBe(0n)
})
