import { afterEach, describe, expect, it } from 'vitest'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { Registrar } from '../../marketplace/checkout/registrar.ts'
import { Twin } from '../../marketplace/checkout/twin.ts'
import { closeMarkets, type MarketParts, ONCE, TestMarket } from '../support/market.ts'

afterEach(closeMarkets)

const [OURS, OTHERS] = [Uint8Array.of(1, 2, 3, 4), Uint8Array.of(9, 9, 9, 9)]

/** A node of a devnet whose folder has a mark, or of a network where the key is its own. */
async function nodeWith(mark: Uint8Array | null, parts: MarketParts = {}) {
  const market = await TestMarket.open({ ...parts, published: false })
  const faults: Fault[] = []
  const { shop, sender, test } = market
  const twin = mark === null ? null : new Twin(test.chain, shop, mark)
  const registrar = new Registrar({ chain: test.chain, shop, sender, twin, onFault: (cause) => faults.push(cause) })
  registrar.check()
  await market.quiet()
  return { market, twin, registrar, faults }
}

describe('nodes that hold one key', () => {
  it.each([
    ['the same folder after a restart', OURS, OURS, false],
    ['another folder', OURS, OTHERS, true],
    ['a folder whose registration was made by hand', null, OURS, false],
  ] as const)('know who registered: %s', async (_, first, second, sells) => {
    const one = await nodeWith(first)
    await one.market.mineWaiting()
    await one.registrar.stop()
    const other = await nodeWith(second, { test: one.market.test })
    expect(other.twin?.sells).toBe(sells)
    expect(other.faults.map(({ code }) => code)).toEqual(sells ? ['market/shared-keys'] : [])
    expect(other.market.shop.agent).toBeDefined()
  })

  it('publish nothing beside the one that sells', async () => {
    const one = await nodeWith(OTHERS, { services: [] })
    await one.market.mineWaiting()
    await one.registrar.stop()
    const other = await nodeWith(OURS, { test: one.market.test })
    expect(other.market.sender.waiting).toEqual([])
    expect(other.market.shop.record(ONCE)).toBeUndefined()
  })

  it('sell where no other has registered', async () => {
    const { market, twin, faults } = await nodeWith(OURS)
    expect(twin?.sells).toBe(false)
    await market.mineWaiting()
    expect([twin?.sells, faults]).toEqual([false, []])
  })
})
