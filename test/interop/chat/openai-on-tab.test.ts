import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import {
  type AgentClient,
  createClient,
  memoryJournal,
  type PaymentJournal,
  type Tab,
  tabChatFetch,
} from '../../../rpc/client/client.ts'
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
let hasty: OpenAI
const line = { isCut: false, vouchers: [] as (string | null)[] }
let mining: NodeJS.Timeout

beforeAll(async () => {
  chat = await TabChat.open()
  chat.door.market.time.nowMs = Date.now()
  mining = setInterval(() => void chat.door.market.mineWaiting(), 100)
  const clientOf = (settleMs: number, journal: PaymentJournal): AgentClient =>
    createClient({
      ...{ baseUrl: chat.door.url, wallet: walletFromWords(wordsOfSeed(devSeed(4))), settleMs, journal },
      ...{ network: networkFacts(chat.door.market.test.ruleBook.params), maxPerTabCoins: '100', maxPerTabUsd: 1_000 },
      ...{ maxPerDayUsd: 1_000, maxPerCallCoins: '10' },
    })
  const journal = memoryJournal()
  const agent = clientOf(20_000, journal)
  tab = await agent.openTab(SHOP, { deposit: '50' })
  // The unchanged client, whose requests are paid on their way.
  const server = { baseURL: `${chat.door.url}/api/v1`, apiKey: 'none' }
  openai = new OpenAI({ ...server, fetch: tabChatFetch(agent) })
  hasty = new OpenAI({ ...server, fetch: tabChatFetch(clientOf(300, journal), losing) })
})

/** Loses the answers to vouchers while the line is cut. */
const losing: typeof fetch = async (input, init) => {
  const voucher = new Headers(init?.headers).get('payment-signature')
  const response = await fetch(input, init)
  if (voucher === null) return response
  line.vouchers.push(voucher)
  if (!line.isCut) return response
  await response.text()
  throw new TypeError('the answer was lost')
}

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

it('what the official client repeats by itself has the voucher of the first try', async () => {
  const { receipts } = await tab.state()
  line.isCut = true
  const whole = hasty.chat.completions.create(hello)
  const stream = hasty.chat.completions.create({ ...hello, stream: true })
  await new Promise((resolve) => setTimeout(resolve, 600))
  line.isCut = false
  expect((await whole).choices[0]?.message.content).toBe(HOUSE_TEXT)
  for await (const _ of await stream);
  expect(line.vouchers.length).toBeGreaterThan(2)
  expect(new Set(line.vouchers).size).toBe(2)
  expect(await tab.state()).toMatchObject({ receipts: receipts + 2, unanswered: 0 })
})

it('the official client throws for a stream that breaks off, and nothing is charged for it', async () => {
  const { charged, receipts } = await tab.state()
  chat.world.fake.profile = 'late-error'
  const read = async (): Promise<void> => {
    for await (const _ of await openai.chat.completions.create({ ...hello, stream: true }, { maxRetries: 0 }));
  }
  await expect(read()).rejects.toBeInstanceOf(APIError)
  expect(await tab.state()).toMatchObject({ charged, receipts: receipts + 1, unanswered: 0 })
})
