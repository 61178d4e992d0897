import { describe, expect, it } from 'vitest'
import { resolveConfig } from '../../../../config/load.ts'
import { createMarket, type MarketParts } from '../../../../src/market/open-market.ts'
import { fundedRuleBook } from '../../../support/ledger.ts'

/** What a market says of a configuration, before it looks at anything else. */
function refusal(values: Readonly<Record<string, string>>): unknown {
  const resolved = resolveConfig([{ origin: 'flag', values, callsIt: (name) => name }], '/home/somebody')
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.fault))
  const parts = { config: resolved.value.config, services: [], chain: { ruleBook: fundedRuleBook() } }
  return createMarket(parts as unknown as MarketParts)
}

describe('a market', () => {
  it('does not start with bounds that no price of the coin can meet', () => {
    expect(refusal({ 'market.native-usd-min': '0.3', 'market.native-usd-max': '0.25' })).toEqual({
      ok: false,
      fault: {
        code: 'config/value',
        detail: { key: 'market.native-usd-max', value: '0.25', allowed: 'at least market.native-usd-min, 0.3' },
      },
    })
  })
})
