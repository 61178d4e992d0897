import { describe, expect, it } from 'vitest'
import type { Agent, Service } from '../../../../../../marketplace/ledger/agents.ts'
import type { ServiceDefinition } from '../../../../../../marketplace/services/service.ts'
import type { NativePriceSource } from '../../../../../../marketplace/till/rails/native/price.ts'
import { computeQuote, type QuoteBasis, workBlocks } from '../../../../../../marketplace/till/rails/native/quote.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../../../../../marketplace/till/settings.ts'
import { TestChain } from '../../../../../support/chain.ts'
import { coinAt } from '../../../../../support/price.ts'
import { TEST_SERVICES } from '../../../../../support/test-services.ts'
import { agentId, filled } from '../../../../../support/unsigned.ts'

const test = await TestChain.open()
const [DEFINITION] = TEST_SERVICES as readonly [ServiceDefinition]
const AGENT: Agent = {
  ...{ version: 1, owner: filled(1), payout: filled(3), settlers: [filled(4)], name: 'Acme', endpoint: '' },
  ...{ capabilities: 1, registeredAt: 1 },
}
const COIN_USD: NativePriceSource = coinAt(() => 250_000n)

/** A service at a price that was never changed. `change` replaces fields. */
function serviceAt(priceUsdMicros: bigint, change: Partial<Service> = {}): Service {
  return {
    ...{ version: 1, capability: 5, retired: false, priceUsdMicros, previousPriceUsdMicros: priceUsdMicros },
    ...{ previousPriceLastEpoch: 0, name: 'Test', requestFormat: '', description: '', publishedAt: 1, ...change },
  }
}

interface Case {
  readonly priceUsdMicros?: bigint
  readonly service?: Service
  readonly timeoutMs?: number
  readonly price?: NativePriceSource
  readonly chain?: TestChain
  readonly settings?: QuoteBasis['settings']
}

function quoted({ priceUsdMicros = 2_000n, timeoutMs = 3_000, price = COIN_USD, ...rest }: Case = {}) {
  const { service = serviceAt(priceUsdMicros), chain = test, settings = DEFAULT_MARKET_SETTINGS } = rest
  return computeQuote({
    ...{
      chain: chain.chain,
      price,
      settings,
      agentId: agentId('acme'),
      agent: AGENT,
      service,
    },
    definition: { ...DEFINITION, timeoutMs },
  })
}

const reasonOf = (one: Case) => quoted(one).reason

describe('a quote', () => {
  it('says what is paid, to whom, for what, until when and for how long', () => {
    expect(quoted()).toEqual({
      reason: null,
      quote: {
        agentId: 'acme',
        serviceId: DEFINITION.serviceId,
        payTo: AGENT.payout,
        amount: 800_000n,
        priceUsdMicros: 2_000n,
        epoch: 0,
        validUntil: 39,
        term: 100,
        confirmations: 1,
        nativeUsdMicros: 250_000n,
      },
    })
  })

  it('holds to the end of the next epoch: at least twenty blocks', async () => {
    const chain = await TestChain.open()
    const until: (number | undefined)[] = []
    for (const height of [0, 19, 20, 39, 40]) {
      await chain.mineTo(height)
      until.push(quoted({ chain }).quote?.validUntil)
    }
    expect(until).toEqual([39, 39, 59, 59, 79])
  })

  it('has the price of its epoch', async () => {
    const chain = await TestChain.open()
    const service = serviceAt(3_000n, { previousPriceUsdMicros: 2_000n, previousPriceLastEpoch: 1 })
    const prices: (bigint | undefined)[] = []
    for (const height of [0, 39, 40]) {
      await chain.mineTo(height)
      prices.push(quoted({ chain, service }).quote?.priceUsdMicros)
    }
    expect(prices).toEqual([2_000n, 2_000n, 3_000n])
  })

  it('wants more confirmations for more money', () => {
    const wanted = [99_999n, 100_000n, 9_999_999n, 10_000_000n, 999_999_999n, 1_000_000_000n].map(
      (priceUsdMicros) => quoted({ priceUsdMicros }).quote?.confirmations,
    )
    expect(wanted).toEqual([1, 6, 6, 40, 40, 420])
  })

  it('wants the least term that leaves time for confirmations, work, receipt and the client', () => {
    const spacing = 3_000
    // Of the shortest term, one block is for the confirmation, forty for the receipt and twenty for the client.
    // Thirty-nine are left for the work.
    const terms = [1, 39 * spacing, 39 * spacing + 1, 339 * spacing, 339 * spacing + 1].map(
      (timeoutMs) => quoted({ timeoutMs }).quote?.term,
    )
    expect(terms).toEqual([100, 100, 400, 400, 1_200])
    expect(quoted({ priceUsdMicros: 1_000_000_000n }).quote?.term).toBe(1_200)
    expect(quoted({ timeoutMs: 9_539 * spacing }).quote?.term).toBe(9_600)
  })
})

describe('there is no quote', () => {
  it('where the price is below the least payment that the chain takes', () => {
    expect(reasonOf({ priceUsdMicros: 249n })).toBe('its price is below the least payment that the chain takes')
    expect(quoted({ priceUsdMicros: 250n })).toMatchObject({ reason: null, quote: { amount: 100_000n } })
    expect(reasonOf({ priceUsdMicros: 0n })).toBe('its price is below the least payment that the chain takes')
  })

  it('where the coin has no price', () => {
    expect(reasonOf({ price: coinAt(() => undefined) })).toBe('there is no pool')
  })

  it('where the price is more than the chain can hold', () => {
    const price = { ...COIN_USD, priceOfMicros: () => undefined }
    expect(reasonOf({ price })).toBe('its price is more than the chain can hold')
  })

  it('where the pool is too shallow or the coin out of bounds', () => {
    const shallow = { ...COIN_USD, depthMicros: () => 1n }
    expect(reasonOf({ price: shallow })).toContain('below market.min-pool-depth-usd of $10000')
    expect(quoted({ settings: { ...DEFAULT_MARKET_SETTINGS, nativeUsdMaxMicros: 249_999n } }).reason).toBe(
      'a coin is worth $0.25, above market.native-usd-max of $0.249999',
    )
  })

  it('where no term is long enough', () => {
    expect(reasonOf({ timeoutMs: 9_539 * 3_000 + 1 })).toBe('no escrow is long enough for its work')
  })
})

describe('the blocks that work takes', () => {
  it('are rounded up', () => {
    expect([1, 3_000, 3_001, 6_000].map((ms) => workBlocks(test.chain, ms))).toEqual([1, 1, 2, 2])
  })
})
