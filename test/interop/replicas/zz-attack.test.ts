import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresClaims } from '../../../src/storage/postgres-claims.ts'
import { postgresPlace } from '../../../src/storage/postgres-place.ts'
import { wallet } from '../../support/chain.ts'
import { closeMarkets, SHOP } from '../../support/market.ts'
import { TabSeller } from '../../support/tab-seller.ts'
import { units } from '../../support/unsigned.ts'
import { PostgresServer } from './postgres.ts'
import { StoppableTimers } from './stoppable-timers.ts'
let server: PostgresServer
beforeAll(async () => { server = await PostgresServer.start() })
afterAll(() => server.remove())
it('X4: claimer without funds', async () => {
  const place = postgresPlace(server.url('x4'))
  if (!place.ok) throw new Error()
  const open = async (home: string) => (await PostgresClaims.open({ place: place.value, network: 'test', home, leaseMs: 30_000, timers: new StoppableTimers() })).tabs()
  const [pa, pb] = [await open('a'), await open('b')]
  const who = { owner: wallet(2).address, payout: wallet(2).address }
  const a = await TabSeller.open({ tabs: pa as never, operator: { ...who, settler: wallet(7) } })
  const { agent } = a.market.shop
  const { name, endpoint, capabilities } = agent!
  const test = a.market.test
  await a.mine([await test.tx(wallet(2), 'agent_update', { agentId: SHOP, name, endpoint, capabilities, ...who, settlers: [wallet(7).address, wallet(8).address] })])
  const b = await TabSeller.open({ tabs: pb as never, test, published: false, operator: { ...who, settler: wallet(8) } })
  const rest = test.balance(wallet(7).address)
  const drain = await test.tx(wallet(7), 'transfer', { to: wallet(9).address, amount: units(rest - 200_000n), create: false })
  await a.mine([drain])
  console.log('left', test.balance(wallet(7).address), a.market.shop.maySettle, b.market.shop.maySettle)
  const tab = await a.openTab()
  const wait = async () => { for (let i = 0; i < 20; i++) { await new Promise((r) => setTimeout(r, 30)); await a.quiet(); await b.quiet() } }
  await a.check(); await wait()
  await b.serve(tab, [{ charge: 20_000_000n }])
  await test.mine([await b.closeTx(tab)]); await wait()
  for (let i = 0; i < 15; i++) { await test.mine([]); await wait(); await b.market.mineWaiting(); await wait() }
  console.log('claimed', b.tabOnChain(tab)?.claimed, 'a', a.faults.length, a.faults.at(-1), 'b', b.faults.at(-1), a.waiting.length, b.waiting.length)
  await b.stop(); await a.stop(); await closeMarkets()
  expect(true).toBe(true)
})
