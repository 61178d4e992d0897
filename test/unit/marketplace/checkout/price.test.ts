import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type NativePriceSource,
  parameterPrice,
  priceIn,
  pricesHonouredAt,
} from '../../../../marketplace/checkout/price.ts'
import type { Service } from '../../../../marketplace/ledger/agents.ts'
import { TestChain } from '../../../support/chain.ts'
import { runs } from '../../../support/runs.ts'

const { chain } = await TestChain.open()
const COIN = 10n ** 8n

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

/** A coin that costs as many millionths as the test says, by epoch. */
const source = (usdMicrosIn: NativePriceSource['usdMicrosIn']): NativePriceSource => ({ usdMicrosIn })

describe('the price of the parameters', () => {
  it('is a quarter of a dollar in every epoch', () => {
    expect([0, 1, 1_000].map((epoch) => parameterPrice(chain).usdMicrosIn(epoch))).toEqual([
      250_000n,
      250_000n,
      250_000n,
    ])
  })
})

describe('the price of a service', () => {
  it('changes with the epoch', () => {
    const prices = [0, 4, 5, 9].map((epoch) => priceIn(parameterPrice(chain), chain, SERVICE, epoch))
    expect(prices).toEqual([800_000n, 800_000n, 1_200_000n, 1_200_000n])
  })

  it('changes with the coin', () => {
    const halves = source((epoch) => 250_000n * 2n ** BigInt(epoch))
    expect([5, 6, 7].map((epoch) => priceIn(halves, chain, SERVICE, epoch))).toEqual([37_500n, 18_750n, 9_375n])
  })

  it('is none where the coin has none', () => {
    expect(
      priceIn(
        source(() => undefined),
        chain,
        SERVICE,
        5,
      ),
    ).toBeUndefined()
  })

  it('is rounded up: the least amount that is worth the price', () => {
    const price = fc.bigInt(1n, 10n ** 12n)
    fc.assert(
      fc.property(price, price, (priceUsdMicros, coinUsdMicros) => {
        const paid = priceIn(
          source(() => coinUsdMicros),
          chain,
          { ...SERVICE, priceUsdMicros },
          5,
        ) as bigint
        expect(paid * coinUsdMicros).toBeGreaterThanOrEqual(priceUsdMicros * COIN)
        expect((paid - 1n) * coinUsdMicros).toBeLessThan(priceUsdMicros * COIN)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('prices that a payment may match', () => {
  const honouredAt = (height: number, prices = parameterPrice(chain)) =>
    pricesHonouredAt(prices, chain, SERVICE, height)

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
    const since5 = source((epoch) => (epoch < 5 ? undefined : 250_000n))
    expect([99, 100, 120].map((height) => honouredAt(height, since5))).toEqual([
      [],
      [1_200_000n],
      [1_200_000n, 1_200_000n],
    ])
  })
})
