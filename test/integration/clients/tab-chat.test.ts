import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient, tabChatFetch } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { eventsOf } from '../../support/chat-server.ts'
import { SHOP } from '../../support/market.ts'
import { until } from '../../support/processes.ts'
import { CHAT_PATH, PLAIN, TabChat } from '../../support/tab-chat.ts'
import { base64, closeDoors, decoded } from '../../support/tab-door.ts'
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

async function openTab(fetching: typeof fetch = fetch, settleMs = 20_000) {
  const client = createClient({
    ...{ baseUrl: chat.door.url, wallet: walletFromWords(wordsOfSeed(devSeed(4))), settleMs },
    ...{ network: networkFacts(chat.door.market.test.ruleBook.params), maxPerTabCoins: '100', maxPerTabUsd: 1_000 },
    ...{ maxPerDayUsd: 1_000, maxPerCallCoins: '10' },
  })
  return { tab: await client.openTab(SHOP, { deposit: '5' }), paying: tabChatFetch(client, fetching) }
}

const post = (fetching: typeof fetch, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetching(`${chat.door.url}${CHAT_PATH}`, { method: 'POST', body: JSON.stringify(body), headers })

const STREAM = { ...PLAIN, stream: true }
/** What the official client sends with a request that it repeats by itself. */
const REPEATED = { 'x-stainless-retry-count': '1' }

/** A line to the seller. `bend` gets each voucher that was sent, and may bring another answer than the seller's. */
function bent(bend: (send: () => Promise<Response>, vouchers: readonly string[]) => Promise<Response>) {
  const vouchers: string[] = []
  const fetching: typeof fetch = async (input, init) => {
    const voucher = new Headers(init?.headers).get('payment-signature')
    if (voucher === null) return fetch(input, init)
    vouchers.push(voucher)
    return bend(() => fetch(input, init), vouchers)
  }
  return { fetching, vouchers }
}

it('passes on no answer that the receipt is not of, and stops the tab', async () => {
  const { tab, paying } = await openTab(spoiling)
  await expect(post(paying, PLAIN)).rejects.toMatchObject({ code: 'unverified' })
  expect(await tab.state()).toMatchObject({ status: 'stopped' })
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

describe('a chat whose answer does not come', () => {
  it.each([
    ['whole', PLAIN],
    ['streamed', STREAM],
  ])('is asked for again with the same voucher, and the caller sees nothing of it: %s', async (_, body) => {
    const { fetching, vouchers } = bent(async (send, { length }) => {
      if (length === 1) return Response.json({ error: { code: 'rate_limit_exceeded' } }, { status: 429 })
      if (length === 2) return new Response('', { status: 503 })
      return send()
    })
    const { tab, paying } = await openTab(fetching)
    const response = await post(paying, body)
    expect(response.status).toBe(200)
    await response.text()
    expect(vouchers).toEqual([vouchers[0], vouchers[0], vouchers[0]])
    expect(await tab.state()).toMatchObject({ receipts: 1, unanswered: 0, unresolved: 0n })
  })

  it('is not signed for anew when the official client repeats it, but a second chat of the same words is', async () => {
    const line = { isCut: true }
    const { fetching, vouchers } = bent(async (send) => {
      const response = await send()
      if (!line.isCut) return response
      await response.text()
      throw new TypeError('the answer was lost')
    })
    const { tab, paying } = await openTab(fetching, 1_000)
    await expect(post(paying, PLAIN)).rejects.toMatchObject({ code: 'interrupted', payment: { txId: tab.tabId } })
    expect(new Set(vouchers).size).toBe(1)
    line.isCut = false
    expect((await post(paying, PLAIN)).status).toBe(200)
    expect(new Set(vouchers).size).toBe(2)
    const repeated = await post(paying, PLAIN, REPEATED)
    expect([repeated.headers.get('idempotent-replay'), vouchers.at(-1)]).toEqual(['true', vouchers[0]])
    // There is no other one left to repeat.
    expect((await post(paying, PLAIN, REPEATED)).status).toBe(200)
    expect(new Set(vouchers).size).toBe(3)
    expect(await tab.state()).toMatchObject({ receipts: 3, unanswered: 0 })
  })

  it('is made to its end if the line broke before a stream began, and asked for again', async () => {
    chat.world.fake.profile = 'slow-first-token'
    const asked = chat.world.fake.questions.length
    const lost = new AbortController()
    const { fetching, vouchers } = bent(async (send) => {
      const answer = send()
      await until('a model is asked', () => chat.world.fake.questions.length > asked)
      lost.abort()
      return answer
    })
    const losing: typeof fetch = (input, init) => {
      const signals = [init?.signal as AbortSignal, ...(lost.signal.aborted ? [] : [lost.signal])]
      return fetching(input, { ...init, signal: AbortSignal.any(signals) })
    }
    const { tab, paying } = await openTab(losing)
    const text = await (await post(paying, STREAM)).text()
    chat.world.fake.profile = 'ok'
    const pieces = eventsOf(text)
      .slice(0, -1)
      .map((event) => JSON.parse(event))
    expect(pieces.map(({ choices: [choice] }) => choice.delta.content ?? '').join('')).toBe(HOUSE_TEXT)
    expect(pieces.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }] })
    expect([new Set(vouchers).size, vouchers.length > 1]).toEqual([1, true])
    expect(await tab.state()).toMatchObject({ receipts: 1, unanswered: 0 })
  })
})

/** A stream without its last piece. It ends well, or its connection breaks. */
function headless(text: string, end: 'ends' | 'breaks'): ReadableStream<Uint8Array> {
  const events = text.split('\n\n').filter((event) => !event.includes('x_payment') && !event.includes('[DONE]'))
  return new ReadableStream({
    start: (out) => out.enqueue(new TextEncoder().encode(events.join('\n\n'))),
    pull: (out) => (end === 'ends' ? out.close() : out.error(new TypeError('terminated'))),
  })
}

it.each(['ends', 'breaks'] as const)(
  'a stream that %s before its receipt throws, and its call can be resumed',
  async (end) => {
    const { fetching } = bent(async (send) => {
      const response = await send()
      return new Response(headless(await response.text(), end), response)
    })
    const { tab, paying } = await openTab(fetching)
    const response = await post(paying, STREAM)
    await expect(response.text()).rejects.toMatchObject({ code: 'interrupted', payment: { txId: tab.tabId } })
    expect(tab.unanswered).toHaveLength(1)
    const [answer] = await tab.resume()
    expect(answer?.result).toMatchObject({ choices: [{ message: { content: HOUSE_TEXT } }] })
    expect(await tab.state()).toMatchObject({ receipts: 1, unanswered: 0 })
  },
)

it('does not stop a tab because a refusal was on its way while another chat was answered', async () => {
  const gate = Promise.withResolvers<void>()
  const { fetching, vouchers } = bent(async (send, { length }) => {
    const response = await send()
    if (length === 1) await gate.promise
    return response
  })
  /** The first price that is told is too low, so that the first voucher is refused. */
  const cheap: typeof fetch = async (input, init) => {
    const response = await fetching(input, init)
    const terms = decoded(response, 'payment-required')
    if (response.status !== 402 || vouchers.length > 0) return response
    const accepts = (terms.accepts as readonly object[]).map((offer) => ({ ...offer, amount: '1' }))
    return new Response(null, { status: 402, headers: { 'payment-required': base64({ ...terms, accepts }) } })
  }
  const { tab, paying } = await openTab(cheap)
  const first = post(paying, PLAIN)
  await until('the first voucher is sent', () => vouchers.length === 1)
  expect((await post(paying, { ...PLAIN, max_tokens: 64 })).status).toBe(200)
  gate.resolve()
  expect((await first).status).toBe(200)
  expect(await tab.state()).toMatchObject({ status: 'open', receipts: 2, unanswered: 0 })
})
