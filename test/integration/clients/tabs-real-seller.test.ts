import { afterAll, beforeAll, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { AGAIN, SHOP } from '../../support/market.ts'
import { closeDoors, TabDoor } from '../../support/tab-door.ts'

let door: TabDoor
let mining: NodeJS.Timeout
beforeAll(async () => {
  door = await TabDoor.open()
  // Signed queries have the time of the client.
  door.market.time.nowMs = Date.now()
  mining = setInterval(() => void door.market.mineWaiting(), 100)
})
afterAll(async () => {
  clearInterval(mining)
  await closeDoors()
})

/** A client without notes. `cut` loses the answers to paid calls while it is above 0. */
function client(cut = { left: 0 }) {
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!new Headers(init?.headers).has('payment-signature') || cut.left === 0) return response
    cut.left -= 1
    throw new TypeError('the answer was lost')
  }
  return createClient({
    ...{ baseUrl: door.url, wallet: walletFromWords(wordsOfSeed(devSeed(4))), settleMs: 20_000, fetch: losing },
    ...{ network: networkFacts(door.market.test.ruleBook.params), maxPerTabCoins: '100', maxPerTabUsd: 1_000 },
    ...{ maxPerDayUsd: 1_000, maxPerCallCoins: '1' },
  })
}

it('the client and the seller of this repository understand each other', async () => {
  const cut = { left: 0 }
  const tab = await client(cut).openTab(SHOP, { deposit: '50' })
  const texts = Array.from({ length: 12 }, (_, i) => `number ${i}`)
  const answers = await Promise.all(texts.map((text) => tab.call<{ echo: string }>(AGAIN, text)))
  expect(answers.map(({ result }) => result.echo)).toEqual(texts)
  await expect(tab.call(AGAIN, 'fail')).rejects.toMatchObject({ name: 'NotChargedError' })
  expect(await tab.state()).toMatchObject({ status: 'open', receipts: 13, unanswered: 0 })
  cut.left = 2
  expect((await tab.call<{ echo: string }>(AGAIN, 'lost twice')).result).toEqual({ echo: 'lost twice' })
  const { charged } = await tab.state()
  expect(charged).toBe(13n * door.price)
  expect(await tab.verifyReceipts()).toMatchObject({ ok: true, evidence: null })
  const bare = client()
  await bare.recoverTabs({ maxUnnoted: '1' })
  const found = await bare.tab(tab.tabId)
  expect((await found.call<{ echo: string }>(AGAIN, 'found')).result).toEqual({ echo: 'found' })
  expect((await found.state()).charged).toBe(charged + door.price)
})

it('the client signs nothing for a tab that is so near its end that the seller takes no more calls', async () => {
  const tab = await client().openTab(SHOP, { deposit: '5', term: 1_200 })
  const { endsAt } = await tab.state()
  while (door.market.test.height < endsAt - 239) await door.market.mine()
  await expect(tab.call(AGAIN, 'late')).rejects.toMatchObject({ code: 'tab_ending', payment: null })
})
