import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient, type Tab, tabChatFetch } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { SHOP } from '../../support/market.ts'
import { TabChat } from '../../support/tab-chat.ts'
import { closeDoors } from '../../support/tab-door.ts'
import { HOUSE_TEXT } from '../../support/upstreams/openai.ts'

const hello = { model: 'model-1', max_tokens: 64, messages: [{ role: 'user' as const, content: 'Hello?' }] }
let chat: TabChat
let tab: Tab
let openai: OpenAI
let mining: NodeJS.Timeout

beforeAll(async () => {
  chat = await TabChat.open()
  chat.door.market.time.nowMs = Date.now()
  mining = setInterval(() => void chat.door.market.mineWaiting(), 100)
  const agent = createClient({
    ...{ baseUrl: chat.door.url, wallet: walletFromWords(wordsOfSeed(devSeed(4))), settleMs: 20_000 },
    ...{ network: networkFacts(chat.door.market.test.ruleBook.params), maxPerTabCoins: '100', maxPerTabUsd: 1_000 },
    ...{ maxPerDayUsd: 1_000, maxPerCallCoins: '10' },
  })
  tab = await agent.openTab(SHOP, { deposit: '50' })
  // The unchanged client, whose requests are paid on their way.
  openai = new OpenAI({ baseURL: `${chat.door.url}/api/v1`, apiKey: 'none', fetch: tabChatFetch(agent) })
})
afterAll(async () => {
  clearInterval(mining)
  await closeDoors()
  await chat.close()
})

it('the official client takes whole answers with a receipt', async () => {
  const whole = await openai.chat.completions.create(hello)
  expect(whole.choices[0]?.message).toMatchObject({ role: 'assistant', content: HOUSE_TEXT })
  expect(whole).toHaveProperty('x_payment.receipt.tab.outcome', 0)
})

it('the official client reads streams with a receipt, by itself and with its helper', async () => {
  const stream = await openai.chat.completions.create({
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  let tokens = 0
  for await (const { choices, usage } of stream) {
    text += choices[0]?.delta.content ?? ''
    tokens = usage?.total_tokens ?? tokens
  }
  expect([text, tokens]).toEqual([HOUSE_TEXT, 18])
  const final = await openai.chat.completions.stream({ ...hello, model: 'model-2' }).finalChatCompletion()
  expect(final).toMatchObject({ choices: [{ message: { content: HOUSE_TEXT }, finish_reason: 'stop' }] })
  expect(await tab.state()).toMatchObject({ receipts: 3, unanswered: 0 })
})

it('the official client throws for a stream that breaks off, and nothing is charged for it', async () => {
  const { charged } = await tab.state()
  chat.world.fake.profile = 'late-error'
  const read = async (): Promise<void> => {
    for await (const _ of await openai.chat.completions.create({ ...hello, stream: true }, { maxRetries: 0 }));
  }
  await expect(read()).rejects.toBeInstanceOf(APIError)
  expect(await tab.state()).toMatchObject({ charged, receipts: 4, unanswered: 0 })
})
