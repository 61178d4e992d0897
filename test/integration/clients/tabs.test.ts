import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type AgentClient, type ClientOptions, createClient, memoryJournal } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { ACME, ECHO, OTHER, TabWorld } from '../../support/tab-world.ts'

const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}): AgentClient =>
  createClient({ baseUrl: world.url, wallet, network: world.network, settleMs: 5_000, ...options })

describe('a tab', () => {
  it('is opened, used by many calls at once, topped up and closed', async () => {
    const agent = client()
    const tab = await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const first = await tab.call<{ echo: string }>(ECHO, 'one')
    expect(first).toMatchObject({ result: { echo: 'one' }, verified: { ok: true }, tab: { seq: 1, charged: 200_000n } })
    const many = await Promise.all(Array.from({ length: 20 }, (_, i) => tab.call<{ echo: string }>(OTHER, `slow:${i}`)))
    expect(many.map(({ result }) => result.echo)).toEqual(Array.from({ length: 20 }, (_, i) => `slow:${i}`))
    expect(await tab.state()).toMatchObject({
      ...{ status: 'open', deposit: 10_000_000n, charged: 4_200_000n, available: 5_800_000n, receipts: 21, unanswered: 0 },
    })
    expect(await tab.topUp('0.05')).toMatchObject({ deposit: 15_000_000n, available: 10_800_000n })
    const before = world.test.balance(world.tab(tab.tabId)?.payer as never)
    expect(await tab.close()).toMatchObject({ by: 'seller' })
    expect(world.tab(tab.tabId)).toBeUndefined()
    expect(world.test.balance((await import('../../support/chain.ts')).wallet(1).address) - before).toBe(10_800_000n)
    expect(await tab.state()).toMatchObject({ status: 'ended', available: 0n })
  })
})
