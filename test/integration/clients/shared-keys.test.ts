import { afterEach, describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Address, BlockId } from '../../../consensus/primitives/ids.ts'
import { Registrar } from '../../../marketplace/till/rails/native/registrar.ts'
import { Twin } from '../../../marketplace/till/rails/native/twin.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { closeMarkets, type MarketParts, ONCE, TestMarket } from '../../support/market.ts'
import { filled } from '../../support/unsigned.ts'

afterEach(closeMarkets)

const [OURS, OTHERS] = [Uint8Array.of(1, 2, 3, 4), Uint8Array.of(9, 9, 9, 9)]

/** A devnet node whose folder has this mark. Null: a node of a network on which nodes do not share keys, so without `Twin`. */
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

  it('are not misled by a registration of the same name that failed in the same block', async () => {
    const one = await nodeWith(OURS)
    const { market } = one
    const [own] = market.sender.waiting
    if (own?.body.kind !== 'agent_register') throw new Error('no registration waits')
    // The payout of the foreign registration has no account, so the transaction is mined but fails.
    const payload = { ...own.body.payload, payout: filled<Address>(0xee) }
    const foreign = await market.test.tx(wallet(7), 'agent_register', payload, { memo: OTHERS })
    await market.mine([foreign, own])
    expect(market.shop.agent?.owner).toBe(market.operator.owner)
    expect(one.twin?.sells).toBe(false)
  })

  it('know who registered even if the witnesses of that block are pruned', async () => {
    const store = new MemoryKeyValueStore()
    const one = await nodeWith(OTHERS, { test: await TestChain.open(undefined, store) })
    await one.market.mineWaiting()
    await one.registrar.stop()
    const id = one.market.test.chain.database.idAt(one.market.shop.agent?.registeredAt ?? 0) as BlockId
    await store.batch([{ key: KEYS.witnesses(id) }], () => {})
    const test = await TestChain.open(undefined, store)
    expect(test.chain.database.block(id)).toBeUndefined()
    expect((await nodeWith(OURS, { test })).twin?.sells).toBe(true)
  })

  it('publish nothing while another one sells', async () => {
    const one = await nodeWith(OTHERS, { services: [] })
    await one.market.mineWaiting()
    await one.registrar.stop()
    const other = await nodeWith(OURS, { test: one.market.test })
    expect(other.market.sender.waiting).toEqual([])
    expect(other.market.shop.record(ONCE)).toBeUndefined()
  })

  it('sell if no other has registered', async () => {
    const { market, twin, faults } = await nodeWith(OURS)
    expect(twin?.sells).toBe(false)
    await market.mineWaiting()
    expect([twin?.sells, faults]).toEqual([false, []])
  })
})
