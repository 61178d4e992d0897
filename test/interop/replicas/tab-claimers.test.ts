import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { WalletKey } from '../../../src/crypto/wallet-key.ts'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import type { PostgresTabStore } from '../../../src/storage/postgres-tabs.ts'
import { wallet } from '../../support/chain.ts'
import { closeMarkets, SHOP } from '../../support/market.ts'
import { TabSeller } from '../../support/tab-seller.ts'
import { units } from '../../support/unsigned.ts'
import { PostgresServer } from './postgres.ts'
import { StoppableTimers } from './stoppable-timers.ts'

const CHARGE = 20_000_000n
const OWNER = wallet(2).address
const FIRST = wallet(7)
const SECOND = wallet(8)

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())
const sellers: TabSeller[] = []
afterEach(async () => {
  for (const seller of sellers.splice(0).reverse()) await seller.stop()
  await closeMarkets()
})

async function storeOf(home: string): Promise<PostgresTabStore> {
  const place = postgresPlace(server.url('claimers'))
  if (!place.ok) throw new Error(place.fault.code)
  const shared = { place: place.value, network: 'test', home, leaseMs: 30_000, timers: new StoppableTimers() }
  return (await PostgresClaims.open(shared)).tabs()
}

it('a replica whose settler cannot pay for a claim leaves the claims to the others, and says so', async () => {
  const owner = await TabSeller.open()
  sellers.push(owner)
  const { test, shop } = owner.market
  const { name, endpoint, capabilities } = shop.agent!
  const record = { agentId: SHOP, name, endpoint, capabilities, owner: OWNER, payout: OWNER }
  const settlers = [FIRST.address, SECOND.address]
  await owner.mine([await test.tx(wallet(2), 'agent_update', { ...record, settlers })])
  const all = units(test.balance(FIRST.address) - 200_000n)
  await owner.mine([await test.tx(FIRST, 'transfer', { to: wallet(9).address, amount: all, create: false })])
  const replicaOf = async (home: string, settler: WalletKey): Promise<TabSeller> => {
    const operator = { owner: OWNER, payout: OWNER, settler }
    const seller = await TabSeller.open({ test, published: false, operator, tabs: await storeOf(home) })
    sellers.push(seller)
    return seller
  }
  const first = await replicaOf('a', FIRST)
  const second = await replicaOf('b', SECOND)
  const tab = await owner.openTab()
  await first.check()
  await second.serve(tab, [{ charge: CHARGE }])
  await owner.mine([await owner.closeTx(tab)])
  for (let i = 0; i < 100 && second.waiting.length === 0; i++) await setTimeout(50)
  await second.mineWaiting()
  expect(second.tabOnChain(tab)).toMatchObject({ claimed: CHARGE, receipts: 1 })
  expect(first.faults.at(-1)).toMatchObject({ code: 'mempool/balance-exceeded' })
  expect(second.faults).toEqual([])
})
