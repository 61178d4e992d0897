import { afterAll, beforeAll, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient, tabChatFetch } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { eventsOf } from '../../support/chat-server.ts'
import { SHOP } from '../../support/market.ts'
import { CHAT_PATH, PLAIN, TabChat } from '../../support/tab-chat.ts'
import { closeDoors } from '../../support/tab-door.ts'
import { HOUSE_TEXT } from '../../support/upstreams/openai.ts'

let chat: TabChat
let mining: NodeJS.Timeout
beforeAll(async () => {
  chat = await TabChat.open()
  chat.door.market.time.nowMs = Date.now()
  mining = setInterval(() => void chat.door.market.mineWaiting(), 100)
})
afterAll(async () => {
  clearInterval(mining)
  await closeDoors()
  await chat.close()
})

/** Spoils the texts of paid answers. */
const spoiling: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!new Headers(init?.headers).has('payment-signature')) return response
  return new Response((await response.text()).replaceAll('done.', 'gone.'), response)
}

/** Takes the receipts out of paid answers. */
const stripping: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!new Headers(init?.headers).has('payment-signature')) return response
  const lines = (await response.text()).split('\n').map((line) => {
    const [, head = '', json] = /^(data: )?(\{.*)$/.exec(line) ?? []
    return json === undefined ? line : `${head}${JSON.stringify({ ...JSON.parse(json), x_payment: undefined })}`
  })
  return new Response(lines.join('\n'), response)
}

async function openTab(fetching: typeof fetch = fetch) {
  const client = createClient({
    ...{ baseUrl: chat.door.url, wallet: walletFromWords(wordsOfSeed(devSeed(4))), settleMs: 20_000 },
    ...{ network: networkFacts(chat.door.market.test.ruleBook.params), maxPerTabCoins: '100', maxPerTabUsd: 1_000 },
    ...{ maxPerDayUsd: 1_000, maxPerCallCoins: '10' },
  })
  return { tab: await client.openTab(SHOP, { deposit: '50' }), paying: tabChatFetch(client, fetching) }
}

const post = (fetching: typeof fetch, body: object): Promise<Response> =>
  fetching(`${chat.door.url}${CHAT_PATH}`, { method: 'POST', body: JSON.stringify(body) })

it('passes on no answer that the receipt is not of', async () => {
  const { paying } = await openTab(spoiling)
  await expect(post(paying, PLAIN)).rejects.toMatchObject({ code: 'unverified' })
})

it.each([{}, { stream: true }])('passes on no end of an answer without a receipt: %j', async (how) => {
  const { tab, paying } = await openTab(stripping)
  const read: string[] = []
  const reading = async (): Promise<void> => {
    const { body } = await post(paying, { ...PLAIN, ...how })
    for await (const bytes of body ?? []) read.push(new TextDecoder().decode(bytes))
  }
  await expect(reading()).rejects.toMatchObject({ code: 'unverified' })
  expect(read.join('')).not.toContain('[DONE]')
  expect((await tab.state()).unanswered).toBe(1)
})

it('pays whole and streamed chats from a tab, and notes the receipts', async () => {
  const { tab, paying } = await openTab()
  const whole = (await (await post(paying, PLAIN)).json()) as { choices: { message: object }[] }
  expect(whole.choices[0]?.message).toMatchObject({ content: HOUSE_TEXT })
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  for (const [profile, body] of [
    ['ok', { ...PLAIN, stream: true }],
    ['ok', { ...PLAIN, stream: true, n: 2, stream_options: { include_usage: true } }],
    ['tool-calls', { ...PLAIN, stream: true, tools }],
    ['ok', { ...PLAIN, model: 'model-2', stream: true }],
  ] as const) {
    chat.world.fake.profile = profile
    const response = await post(paying, body)
    expect(eventsOf(await response.text()).at(-1)).toBe('[DONE]')
  }
  chat.world.fake.profile = 'cut'
  expect(await (await post(paying, { ...PLAIN, stream: true })).text().catch(() => '')).not.toContain('[DONE]')
  chat.world.fake.profile = 'ok'
  const { charged, unanswered, receipts } = await tab.state()
  expect([unanswered, receipts]).toEqual([0, 6])
  const known = await tab.receipts()
  expect(known.map(({ outcome }) => outcome)).toEqual([0, 0, 0, 0, 0, 1])
  expect(known.reduce((sum, one) => sum + BigInt(one.charged), 0n)).toBe(charged)
  expect(await tab.verifyReceipts()).toMatchObject({ ok: true, evidence: null })
})
