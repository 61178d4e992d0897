import { beforeEach, describe, expect, it } from 'vitest'
import type { TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf } from '../../../../consensus/tx/kinds.ts'
import { blocksFrom, fork, importAll } from '../../../support/branches.ts'
import type { TestChain } from '../../../support/chain.ts'
import { type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'
import { units } from '../../../support/unsigned.ts'

const HOUR_MS = 3_600_000
const COIN = 100_000_000n

interface Feed {
  readonly priceUsd: number
  readonly change24hPct: number | null
  readonly change24hAbs: number | null
  readonly changeSince: string | null
  readonly twap1h: { readonly priceUsd: number; readonly fromHeight: number; readonly toHeight: number } | null
  readonly volume24hUsd: number
  readonly trades24h: number
  readonly unknown: readonly string[]
}

interface History {
  readonly window: { readonly from: string; readonly to: string; readonly hours: number }
  readonly candles: readonly { readonly t: string; readonly trades: number }[]
  readonly gaps: readonly { readonly from: string; readonly to: string; readonly hours: number }[]
}

function swap(test: TestChain, from: 'FAR' | 'FUSD', amount: bigint) {
  const hops = [{ asset: (from === 'FAR' ? 'FUSD' : 'FAR') as TokenSymbol, feeBps: 30 }]
  const payload: PayloadOf<'swap'> = {
    ...{ assetIn: from as TokenSymbol, exactOut: false, amount: units(amount), limit: units(0n), hops },
  }
  return test.tx(steadyWallet(4), 'swap', payload)
}

const feedOf = ({ context }: ServiceChain): Promise<Feed> => resultOf('node-price-feed', '', context)
const historyOf = ({ context }: ServiceChain): Promise<History> => resultOf('node-price-history', '', context)

/** The hours of all candles and gaps, sorted. */
function hoursOf({ candles, gaps }: History): readonly number[] {
  const traded = candles.map(({ t }) => Date.parse(t) / HOUR_MS)
  const idle = gaps.flatMap(({ from, hours }) =>
    Array.from({ length: hours }, (_, i) => Date.parse(from) / HOUR_MS + i),
  )
  return [...traded, ...idle].sort((a, b) => a - b)
}

describe('the price of the native coin as time goes by', () => {
  let chain: ServiceChain
  beforeEach(async () => {
    chain = await serviceChain()
  })

  it('has no change in a day before any trade is a day old', async () => {
    const feed = await feedOf(chain)
    expect(feed).toMatchObject({ change24hPct: null, change24hAbs: null, changeSince: null })
    expect(feed.unknown).toEqual(expect.arrayContaining(['change24hPct', 'change24hAbs']))
  })

  it('changes against what it was when the day began', async () => {
    const before = await feedOf(chain)
    await chain.test.mine([], { afterMs: 24 * HOUR_MS })
    await chain.test.mine([await swap(chain.test, 'FAR', 10_000n * COIN)])
    const after = await feedOf(chain)
    expect(after.priceUsd).toBeLessThan(before.priceUsd)
    expect(after.change24hPct).toBeCloseTo(100 * (after.priceUsd / before.priceUsd - 1), 3)
    expect(after.change24hAbs).toBeCloseTo(after.priceUsd - before.priceUsd, 8)
    expect(after.unknown).toEqual([])
    expect(chain.test.nowMs - Date.parse(after.changeSince as string)).toBeLessThanOrEqual(24 * HOUR_MS)
    expect(after.trades24h).toBe(1)
  })

  it('forgets a day later what was traded', async () => {
    await chain.test.mine([], { afterMs: 25 * HOUR_MS })
    expect(await feedOf(chain)).toMatchObject({ volume24hUsd: 0, trades24h: 0, change24hPct: 0 })
  })

  it('is its own mean where it stood still for an hour', async () => {
    while (chain.test.height < 119) await chain.test.mine()
    for (let i = 0; i < 3; i++) await chain.test.mine([], { afterMs: HOUR_MS })
    const { twap1h, priceUsd } = await feedOf(chain)
    expect(twap1h).toEqual({ priceUsd, fromHeight: 120, toHeight: 122 })
  })

  it('has the mean over block ends where it moved', async () => {
    while (chain.test.height < 120) await chain.test.mine()
    const first = (await feedOf(chain)).priceUsd
    await chain.test.mine([], { afterMs: HOUR_MS })
    await chain.test.mine([await swap(chain.test, 'FUSD', 3_000_000_000n)])
    const { twap1h, priceUsd } = await feedOf(chain)
    // The mean is over coins per dollar: two block ends at the first price, one at the second.
    expect(twap1h?.priceUsd).toBeCloseTo(3 / (2 / first + 1 / priceUsd), 8)
  })

  it('has at most 168 hours of candles, and every hour is a candle or a gap', async () => {
    const young = await historyOf(chain)
    expect(young.window.hours).toBe(10)
    expect(hoursOf(young)).toHaveLength(10)
    await chain.test.mine([await swap(chain.test, 'FAR', COIN)], { afterMs: 165 * HOUR_MS })
    const old = await historyOf(chain)
    const from = Date.parse(old.window.from) / HOUR_MS
    expect(old.window.hours).toBe(168)
    expect(hoursOf(old)).toEqual(Array.from({ length: 168 }, (_, i) => from + i))
    expect(old.candles.length).toBeLessThan(young.candles.length + 1)
    expect(old.candles.every(({ trades }) => trades > 0)).toBe(true)
    await chain.test.mine([], { afterMs: 400 * HOUR_MS })
    expect(await historyOf(chain)).toMatchObject({ candles: [], gaps: [{ hours: 168 }] })
  })

  it('is that of the branch that wins a reorganisation', async () => {
    const rival = await fork(chain.test)
    await chain.test.mine([await swap(chain.test, 'FAR', 500n * COIN)])
    const lost = await feedOf(chain)
    await rival.mine([await swap(rival, 'FUSD', 1_000_000_000n)])
    await rival.mine()
    expect(await importAll(chain.test, blocksFrom(rival, 113))).toBe('connected')
    const context = { ...chain.context, chain: rival.chain }
    for (const id of ['node-price-feed', 'node-market-summary', 'node-price-history', 'node-arb-scan']) {
      const won = await resultOf<object>(id, '', chain.context)
      expect({ ...won, asOf: '' }).toEqual({ ...(await resultOf<object>(id, '', context)), asOf: '' })
    }
    expect((await feedOf(chain)).priceUsd).toBeGreaterThan(lost.priceUsd)
  })
})
