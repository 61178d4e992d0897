import { describe, expect, it } from 'vitest'
import type { Major } from '../../../../marketplace/ports/crypto-prices.ts'
import type { Sourced } from '../../../../marketplace/ports/sourced.ts'
import { combinedQuotes } from '../../../../src/adapters/combined-quotes.ts'
import type { MajorQuotes } from '../../../../src/adapters/providers/major-quotes.ts'

const AT = '2026-11-20T12:00:00.000Z'

interface Said {
  readonly name: string
  readonly usd: Partial<Record<Major, number>>
  readonly change?: number | null
  readonly asOf?: string
  readonly cap?: number
  readonly stale?: boolean
  readonly fetchedAt?: string
}

function answer({
  name,
  usd,
  change = null,
  asOf = AT,
  cap,
  stale = false,
  fetchedAt = AT,
}: Said): Sourced<MajorQuotes> {
  const prices = Object.entries(usd).map(([major, price]) => [major, { usd: price, change24hPct: change, asOf }])
  const source = { name, url: `https://${name}.example`, fetchedAt, stale, attribution: `by ${name}` }
  return { value: { prices: Object.fromEntries(prices), globalMarketCapUsd: cap ?? null }, source }
}

function combined(...said: readonly Said[]) {
  const result = combinedQuotes(said.map(answer))
  if (!result.ok) throw new Error(result.fault.code)
  return result.value
}

const btc = (...said: readonly Said[]) => combined(...said).value.majors.BTC

describe('prices of several providers', () => {
  it('are those of the one who answered, with its words', () => {
    expect(combined({ name: 'a', usd: { BTC: 100 }, change: 1, cap: 5 })).toEqual({
      value: {
        majors: { BTC: { usd: 100, change24hPct: 1, asOf: AT }, ETH: null, SOL: null, BNB: null, LTC: null },
        globalMarketCapUsd: 5,
        sources: ['a'],
        disagreementPct: null,
      },
      source: { name: 'a', url: 'https://a.example', fetchedAt: AT, stale: false, attribution: 'by a' },
    })
  })

  it('are the median of three, and the mean of the middle two of four', () => {
    const three = [100, 101, 99].map((BTC, index) => ({ name: `p${index}`, usd: { BTC } }))
    expect(btc(...three)?.usd).toBe(100)
    expect(btc(...three, { name: 'p3', usd: { BTC: 102 } })?.usd).toBe(100.5)
  })

  it('are without those that are more than 3 % from the median, and say how far apart all were', () => {
    const far = combined(
      { name: 'a', usd: { BTC: 100 } },
      { name: 'b', usd: { BTC: 103.1 } },
      { name: 'c', usd: { BTC: 99 } },
    )
    expect(far.value).toMatchObject({ majors: { BTC: { usd: 99.5 } }, sources: ['a', 'c'] })
    expect(far.value.disagreementPct).toBeCloseTo((103.1 / 99 - 1) * 100, 10)
    const near = combined(
      { name: 'a', usd: { BTC: 100 } },
      { name: 'b', usd: { BTC: 103 } },
      { name: 'c', usd: { BTC: 99 } },
    )
    expect(near.value.sources).toEqual(['a', 'b', 'c'])
  })

  it('are without an asset whose two are so far apart that none can be believed, and have the others', () => {
    const { value, source } = combined(
      { name: 'a', usd: { BTC: 100, ETH: 100, SOL: 10 }, cap: 5 },
      { name: 'b', usd: { BTC: 101, ETH: 107 } },
    )
    expect(value).toMatchObject({
      majors: { BTC: { usd: 100.5 }, ETH: null, SOL: { usd: 10 } },
      globalMarketCapUsd: 5,
      sources: ['a', 'b'],
    })
    expect(value.disagreementPct).toBeCloseTo(7, 10)
    expect(source.name).toBe('a, b')
    // A provider without a credible price is no source, whatever else it says.
    const doubted = combined({ name: 'c', usd: { ETH: 100 }, cap: 9 }, { name: 'd', usd: { ETH: 107, LTC: 20 } })
    expect(doubted.value).toMatchObject({ majors: { ETH: null, LTC: { usd: 20 } }, sources: ['d'] })
    expect(doubted.value.globalMarketCapUsd).toBeNull()
  })

  it('are refused where nothing can be believed', () => {
    const result = combinedQuotes([answer({ name: 'a', usd: { ETH: 100 } }), answer({ name: 'b', usd: { ETH: 107 } })])
    expect(result).toMatchObject({
      fault: { code: 'provider/answer', detail: { reason: 'providers disagree on the price of ETH' } },
    })
  })

  it('have the change of the first who tells, and the oldest moment of those that count', () => {
    const older = '2026-11-20T11:00:00.000Z'
    const price = btc(
      { name: 'a', usd: { BTC: 100 } },
      { name: 'b', usd: { BTC: 101 }, change: 2, asOf: older },
      { name: 'c', usd: { BTC: 100 }, change: 3 },
      { name: 'd', usd: { BTC: 500 }, change: 9, asOf: '2026-11-20T10:00:00.000Z' },
    )
    expect(price).toEqual({ usd: 100, change24hPct: 2, asOf: older })
  })

  it('are of each asset by itself, and name all who count anywhere', () => {
    const { value, source } = combined(
      { name: 'a', usd: { BTC: 100, SOL: 10 }, fetchedAt: '2026-11-20T11:59:00.000Z' },
      { name: 'b', usd: { BTC: 100, LTC: 20 } },
    )
    expect([value.majors.SOL?.usd, value.majors.LTC?.usd, value.majors.ETH]).toEqual([10, 20, null])
    expect(source).toEqual({
      name: 'a, b',
      fetchedAt: '2026-11-20T11:59:00.000Z',
      stale: false,
      attribution: 'by a; by b',
    })
  })

  it('leave old ones out while there is a fresh one, and are old without', () => {
    const old = { name: 'a', usd: { BTC: 90 }, stale: true }
    expect(combined(old, { name: 'b', usd: { BTC: 100 } })).toMatchObject({
      value: { majors: { BTC: { usd: 100 } }, sources: ['b'] },
      source: { stale: false },
    })
    expect(combined(old)).toMatchObject({ value: { majors: { BTC: { usd: 90 } } }, source: { stale: true } })
  })

  it('are none if no source answered', () => {
    expect(combinedQuotes([])).toMatchObject({ fault: { code: 'provider/none' } })
  })
})
