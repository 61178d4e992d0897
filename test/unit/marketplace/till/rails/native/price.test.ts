import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PRICE_ENTRIES, type PriceEntry } from '../../../../../../amm/pool.ts'
import type { Chain } from '../../../../../../consensus/chain/chain.ts'
import { Overlay } from '../../../../../../consensus/state/overlay.ts'
import type { Service } from '../../../../../../marketplace/ledger/agents.ts'
import { confidenceIn, LOW_DEPTH, nativePrice } from '../../../../../../marketplace/queries/prices.ts'
import { pricesHonouredAt } from '../../../../../../marketplace/till/rails/native/payment.ts'
import {
  chainPrice,
  type NativePriceSource,
  notQuoted,
  pricedPoolName,
  priceIn,
} from '../../../../../../marketplace/till/rails/native/price.ts'
import { DEFAULT_MARKET_SETTINGS, type PriceBounds } from '../../../../../../marketplace/till/settings.ts'
import { ALICE, COIN, DOLLAR, FAR, FUSD, PoolLedger, poolRuleBook } from '../../../../../support/pools.ts'
import { coinAt } from '../../../../../support/price.ts'
import { runs } from '../../../../../support/runs.ts'
import { units } from '../../../../../support/unsigned.ts'

const RULES = poolRuleBook()
const QUARTER = coinAt(() => 250_000n)
const OPEN: PriceBounds = { minPoolDepthMicros: 0n, nativeUsdMinMicros: null, nativeUsdMaxMicros: null }

/** The parts of a chain that prices read. */
function chainOf({ state, ruleBook }: Pick<PoolLedger, 'state' | 'ruleBook'>): Chain {
  return { database: state, ruleBook } as unknown as Chain
}

/** A chain with only these price entries. */
function chainWith(entries: readonly PriceEntry[]): Chain {
  const { state } = new PoolLedger(poolRuleBook([]))
  const overlay = new Overlay(state)
  for (const [epoch, entry] of entries.entries()) overlay.put(PRICE_ENTRIES, epoch, entry)
  return { database: overlay, ruleBook: RULES } as unknown as Chain
}

/** A service whose price rose from 2,000 to 3,000 millionths after epoch 4. */
const SERVICE: Service = {
  version: 1,
  capability: 5,
  retired: false,
  priceUsdMicros: 3_000n,
  previousPriceUsdMicros: 2_000n,
  previousPriceLastEpoch: 4,
  name: 'Test',
  requestFormat: '',
  description: '',
  publishedAt: 1,
}

describe('the price that the chain’s pool gives', () => {
  it('is a quarter of a dollar with four coins for one, from genesis on', () => {
    const ledger = new PoolLedger(RULES)
    ledger.advanceTo(41)
    const price = chainPrice(chainOf(ledger))
    for (const epoch of [0, 1, 2]) {
      expect(price.usdMicrosPerCoin(epoch)).toBe(250_000n)
      expect(price.priceOfMicros(2_000n, epoch)).toBe(800_000n)
      expect(price.microsOfAmount(800_000n, epoch)).toBe(2_000n)
      expect(price.microsOfAmount(800_001n, epoch)).toBe(2_001n)
      expect(price.depthMicros(epoch)).toBe(1_000n * DOLLAR)
      expect(price.missing(epoch)).toBeNull()
    }
  })

  it('is read from the head as it is whenever it is asked', () => {
    const ledger = new PoolLedger(RULES)
    const price = chainPrice(chainOf(ledger))
    expect(price.usdMicrosPerCoin(1)).toBeUndefined()
    ledger.swap(ALICE, [FUSD, 1_000n * DOLLAR], [FAR])
    ledger.advanceTo(41)
    expect(price.usdMicrosPerCoin(0)).toBe(250_000n)
    // The pool has 2,003.0045 coins for 2,000 dollars: 1.0015 coins a dollar. At one of epoch 1's twenty block ends it
    // had 4 coins a dollar.
    expect(price.usdMicrosPerCoin(1)).toBe(868_487n)
    // 0.9985 dollars, less a fraction of a unit that stayed in the pool.
    expect(price.usdMicrosPerCoin(2)).toBe(998_499n)
  })

  it('is unknown without the pool, and says so', () => {
    const price = chainPrice(chainOf(new PoolLedger(poolRuleBook([]))))
    expect(price.missing(0)).toEqual({
      code: 'no-pool',
      reason: 'the native coin has no price: there is no pool of FAR and FUSD at 0.3 %',
    })
    expect(price.usdMicrosPerCoin(0)).toBeUndefined()
    expect(price.priceOfMicros(1n, 0)).toBeUndefined()
    expect(price.microsOfAmount(1n, 0)).toBeUndefined()
    expect(price.depthMicros(0)).toBeUndefined()
  })

  it('is unknown until the pool has a full epoch behind it, and says so', () => {
    const ledger = new PoolLedger(poolRuleBook([]))
    ledger.advanceTo(5)
    ledger.create(ALICE, [FAR, 4_000n * COIN], [FUSD, 1_000n * DOLLAR])
    ledger.advanceTo(41)
    const price = chainPrice(chainOf(ledger))
    expect([0, 1, 2, 3].map((epoch) => price.missing(epoch)?.code)).toEqual([
      ...['no-full-epoch', 'no-full-epoch', undefined, 'no-full-epoch'],
    ])
    expect(price.missing(1)?.reason).toBe(
      'the native coin has no price: the pool of FAR and FUSD at 0.3 % has no full epoch behind it',
    )
  })

  it('is never 0: a coin that is worth less than a millionth is worth nothing that is quoted', () => {
    const entry = { nativePerDollar: 0n, reserveNative: units(COIN + 1n), reserveDollar: units(1) }
    const price = chainPrice(chainWith([entry]))
    expect(price.usdMicrosPerCoin(0)).toBeUndefined()
    expect(price.missing(0)).toEqual({ code: 'worthless', reason: 'a coin is worth less than $0.000001' })
    expect(chainPrice(chainWith([{ ...entry, reserveNative: units(COIN) }])).usdMicrosPerCoin(0)).toBe(1n)
  })

  it('is none where the mean lies more than a quarter outside the ratios of both entries', () => {
    // Four coins a dollar at the first entry, five at the second. The numbers below are base units for a millionth of a
    // dollar.
    const [reserves, later] = [
      { reserveNative: units(400n), reserveDollar: units(1n) },
      { reserveNative: units(500n), reserveDollar: units(1n) },
    ]
    const chain = (mean: bigint): Chain =>
      chainWith([
        { ...reserves, nativePerDollar: 7n },
        { ...later, nativePerDollar: 7n + 20n * mean * (1n << 112n) },
      ])
    const judge = (mean: bigint) => chainPrice(chain(mean)).missing(1)?.code
    expect([300n, 400n, 500n, 666n].map(judge)).toEqual([undefined, undefined, undefined, undefined])
    expect([1n, 299n, 667n, 50_000n].map(judge)).toEqual(['unsettled', 'unsettled', 'unsettled', 'unsettled'])
    // Valuations give such a price low confidence, however deep its pool is.
    const trusted = (mean: bigint) => {
      const head = { header: { height: 20 } }
      const { market } = nativePrice({ ...chain(mean), head } as unknown as Chain)
      return market && confidenceIn({ ...market, depthUsdMicros: LOW_DEPTH })
    }
    expect([300n, 400n, 666n].map(trusted)).toEqual(['normal', 'normal', 'normal'])
    expect([1n, 299n, 667n].map(trusted)).toEqual(['low', 'low', 'low'])
  })

  it('is none for what would cost 2^112 base units', () => {
    const entry = { nativePerDollar: 0n, reserveNative: units(1n << 111n), reserveDollar: units(1) }
    const price = chainPrice(chainWith([entry]))
    expect(price.priceOfMicros(1n, 0)).toBe(1n << 111n)
    expect(price.priceOfMicros(2n, 0)).toBeUndefined()
  })

  it('has a name for people', () => {
    expect(pricedPoolName({ ruleBook: RULES })).toBe('pool of FAR and FUSD at 0.3 %')
  })
})

describe('what an operator quotes', () => {
  const source = (usdMicros: bigint, depth: bigint): NativePriceSource => ({
    ...coinAt(() => usdMicros),
    depthMicros: () => depth,
  })

  it('needs a price', () => {
    expect(
      notQuoted(
        coinAt(() => undefined),
        OPEN,
        3,
      ),
    ).toEqual({ code: 'no-pool', reason: 'there is no pool' })
    expect(notQuoted(QUARTER, OPEN, 3)).toBeNull()
  })

  it('needs a pool as deep as the settings want, ten thousand dollars by default', () => {
    expect(notQuoted(source(250_000n, 10_000n * DOLLAR), DEFAULT_MARKET_SETTINGS, 3)).toBeNull()
    expect(notQuoted(source(250_000n, 10_000n * DOLLAR - 1n), DEFAULT_MARKET_SETTINGS, 3)).toEqual({
      code: 'pool-too-shallow',
      reason: 'the pool behind the price holds $9999.999999, below market.min-pool-depth-usd of $10000',
    })
  })

  it('needs a price within the bounds, both ends included', () => {
    const bounds = { ...OPEN, nativeUsdMinMicros: 200_000n, nativeUsdMaxMicros: 300_000n }
    const judge = (usdMicros: bigint) => notQuoted(source(usdMicros, 0n), bounds, 3)
    expect([judge(200_000n), judge(300_000n)]).toEqual([null, null])
    expect(judge(199_999n)).toEqual({
      code: 'price-too-low',
      reason: 'a coin is worth $0.199999, below market.native-usd-min of $0.2',
    })
    expect(judge(300_001n)).toEqual({
      code: 'price-too-high',
      reason: 'a coin is worth $0.300001, above market.native-usd-max of $0.3',
    })
  })
})

describe('the price of a service', () => {
  it('changes with the epoch', () => {
    expect([0, 4, 5, 9].map((epoch) => priceIn(QUARTER, SERVICE, epoch))).toEqual([
      800_000n,
      800_000n,
      1_200_000n,
      1_200_000n,
    ])
  })

  it('changes with the coin', () => {
    const halves = coinAt((epoch) => 250_000n * 2n ** BigInt(epoch))
    expect([5, 6, 7].map((epoch) => priceIn(halves, SERVICE, epoch))).toEqual([37_500n, 18_750n, 9_375n])
  })

  it('is none where the coin has none', () => {
    expect(
      priceIn(
        coinAt(() => undefined),
        SERVICE,
        5,
      ),
    ).toBeUndefined()
  })

  it('is rounded up: the least amount that is worth the price', () => {
    const price = fc.bigInt(1n, 10n ** 12n)
    const reserve = fc.bigInt(1n, 10n ** 15n)
    fc.assert(
      fc.property(price, reserve, reserve, (priceUsdMicros, native, dollars) => {
        const entry = { nativePerDollar: 0n, reserveNative: units(native), reserveDollar: units(dollars) }
        const genesis = { ...SERVICE, previousPriceUsdMicros: priceUsdMicros }
        const paid = priceIn(chainPrice(chainWith([entry])), genesis, 0) as bigint
        expect(paid * dollars).toBeGreaterThanOrEqual(priceUsdMicros * native)
        expect((paid - 1n) * dollars).toBeLessThan(priceUsdMicros * native)
      }),
      { numRuns: runs(100) },
    )
  })
})

describe('prices that a payment may match', () => {
  const honouredAt = (height: number, price = QUARTER, settings = OPEN) =>
    pricesHonouredAt(
      { chain: chainOf({ state: new PoolLedger(RULES).state, ruleBook: RULES }), price, settings },
      SERVICE,
      height,
    )

  it('are those of its epoch and of the one before', () => {
    expect(honouredAt(99)).toEqual([800_000n, 800_000n])
    expect(honouredAt(100)).toEqual([1_200_000n, 800_000n])
    expect(honouredAt(119)).toEqual([1_200_000n, 800_000n])
    expect(honouredAt(120)).toEqual([1_200_000n, 1_200_000n])
  })

  it('are one in the first epoch', () => {
    expect([honouredAt(0), honouredAt(19)]).toEqual([[800_000n], [800_000n]])
    expect(honouredAt(20).length).toBe(2)
  })

  it('leave out an epoch in which the coin had no price', () => {
    const since5 = coinAt((epoch) => (epoch < 5 ? undefined : 250_000n))
    expect([99, 100, 120].map((height) => honouredAt(height, since5))).toEqual([
      [],
      [1_200_000n],
      [1_200_000n, 1_200_000n],
    ])
  })

  it('leave out an epoch in which nothing was quoted, and keep what was quoted before it', () => {
    const falling = coinAt((epoch) => (epoch < 5 ? 250_000n : 25_000n))
    const bounds = { ...OPEN, nativeUsdMinMicros: 100_000n }
    // Epoch 5 begins at height 100. The price in its own epoch would be ten times as many coins, and was never quoted.
    expect([99, 100, 119, 120].map((height) => honouredAt(height, falling, bounds))).toEqual([
      [800_000n, 800_000n],
      [800_000n],
      [800_000n],
      [],
    ])
  })
})
