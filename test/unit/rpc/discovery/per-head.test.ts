import { afterEach, describe, expect, it } from 'vitest'
import type { DollarRail } from '../../../../marketplace/till/rails/dollar/dollar-rail.ts'
import type { FacilitatorFacts } from '../../../../marketplace/till/rails/dollar/facilitators.ts'
import { PerHead } from '../../../../rpc/discovery/per-head.ts'
import { sellingNode, shownRail } from '../../../support/discovery-node.ts'
import { closeMarkets } from '../../../support/market.ts'

afterEach(closeMarkets)

async function counting(keysMax = 10, stable: DollarRail = shownRail()) {
  const { node, market } = await sellingNode({ stable })
  const kept = new PerHead<string>(keysMax)
  let made = 0
  return { market, made: () => made, get: (key = 'a') => kept.get(node, key, () => `${key} ${++made}`) }
}

describe('what is kept for a head', () => {
  it('is made once for a key, and anew when the head moves', async () => {
    const { market, get } = await counting()
    expect([get(), get(), get('b')]).toEqual(['a 1', 'a 1', 'b 2'])
    await market.mine()
    expect([get(), get('b')]).toEqual(['a 3', 'b 4'])
  })

  it('is made anew when the market closes, its rail closes, or a facilitator falls ill', async () => {
    const rail = shownRail() as { closedBecause: string | null; facilitators: readonly FacilitatorFacts[] } & DollarRail
    const { market, get } = await counting(10, rail)
    expect(get()).toBe('a 1')
    rail.closedBecause = 'no facilitator answers'
    expect(get()).toBe('a 2')
    rail.facilitators = [{ url: 'http://there', healthy: false, detail: 'refused', trouble: null }]
    expect(get()).toBe('a 3')
    market.shop.closeWhile(() => 'the node stops')
    expect([get(), get()]).toEqual(['a 4', 'a 4'])
  })

  it('is never more than so many, whatever strangers ask by', async () => {
    const { get, made } = await counting(3)
    for (let i = 0; i < 100; i++) get(String(i))
    expect(made()).toBe(100)
    expect([get('99'), get('98')]).toEqual(['99 100', '98 99'])
    expect(get('0')).toBe('0 101')
  })
})
