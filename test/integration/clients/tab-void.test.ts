import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AgentClient, type ClientOptions, memoryJournal, type PaymentJournal } from '../../../rpc/client/client.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, TabWorld } from '../../support/tab-world.ts'

/** Openings and top-ups whose nonce another transaction of the wallet took. */
let world: TabWorld
beforeEach(async () => {
  world = await TabWorld.open()
})
afterEach(() => world.close())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 1_000, verify: false, ...options })
const opening = { deposit: '0.1', term: 1_200 }
const other = { deposit: '0.2', term: 1_200 }
/** A client whose transactions do not arrive. */
const cut = (journal: PaymentJournal): AgentClient => {
  const dead: typeof fetch = (input, init) =>
    String(input).endsWith('/api/v1/tx') ? Promise.reject(new Error('cut')) : fetch(input, init)
  return client({ journal, fetch: dead, settleMs: 0 })
}
/** A fetch whose answers at some paths are changed. */
function changing(path: RegExp, change: (body: Json) => Json): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (!path.test(String(input))) return answer
    return new Response(JSON.stringify(change((await answer.json()) as Json)), { status: answer.status })
  }
}
async function mine(blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) await world.mine()
}

it('an opening is void once the transaction that took its nonce is six blocks deep', async () => {
  const journal = memoryJournal()
  await caught(cut(journal).openTab(ACME, opening))
  // Another process of the wallet, without these notes.
  await client().openTab(ACME, other)
  await client().openTab(ACME, other)
  const [tab] = await client({ journal }).tabs()
  await mine(3)
  expect((await tab?.state())?.status).toBe('opening')
  await mine(3)
  expect(await tab?.state()).toMatchObject({ status: 'void', available: 0n })
  expect(await caught(tab?.ready() ?? Promise.resolve())).toMatchObject({ code: 'payment_void' })
})

it('it is not void where the node is behind, began later, or shows another transaction', async () => {
  const journal = memoryJournal()
  await caught(cut(journal).openTab(ACME, opening))
  await client().openTab(ACME, other)
  await mine(8)
  const shown = async (fetching: typeof fetch) => {
    const [tab] = await client({ journal, fetch: fetching }).tabs()
    return (await tab?.state())?.status
  }
  const account = /\/accounts\/[a-z0-9]+$/
  expect(await shown(changing(account, (body) => ({ ...body, nonce: '0' })))).toBe('opening')
  expect(await shown(changing(/\/history\?/, (body) => ({ ...body, events: [], nextCursor: null })))).toBe('opening')
  const another = (body: Json) => ({ ...body, transaction: { ...(body.transaction as Json), nonce: '77' } })
  expect(await shown(changing(/\/api\/v1\/tx\/[0-9a-f]{64}$/, another))).toBe('opening')
  expect(await shown(fetch)).toBe('void')
})

it('one that is mined is not void, whatever was sent after it', async () => {
  const journal = memoryJournal()
  const tab = await client({ journal }).openTab(ACME, opening)
  await client().openTab(ACME, other)
  await mine(8)
  const hiding = changing(/\/api\/v1\/tabs\/[0-9a-f]{64}$/, (body) => body)
  const hidden: typeof fetch = async (input, init) =>
    /\/api\/v1\/tabs\/[0-9a-f]{64}$/.test(String(input))
      ? new Response('{"error":"none","code":"tab_not_found"}', { status: 404 })
      : hiding(input, init)
  const again = await client({ journal, fetch: hidden }).tab(tab.tabId)
  expect((await again.state()).status).toBe('opening')
})

it('a top-up does not keep automatic mode from another one, and waiting for it ends', async () => {
  const journal = memoryJournal()
  const { tabId } = await client({ journal }).openTab(ACME, opening)
  const dying = await cut(journal).tab(tabId)
  expect(await caught(dying.topUp('0.1'))).toMatchObject({ code: 'interrupted' })
  await client().openTab(ACME, other)
  await mine(6)
  const tab = await client({ journal, maxPerTabCoins: '0.25' }).tab(tabId)
  await tab.topUp('0.1')
  expect(world.tab(tabId)?.deposit).toBe(20_000_000n)
  expect(await tab.state()).toMatchObject({ deposit: 20_000_000n })
})
