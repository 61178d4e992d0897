import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { taggedHashHex } from '../../../consensus/crypto/hash.ts'
import { verifyTabSignature } from '../../../consensus/crypto/tab-signing.ts'
import { mulDivUp } from '../../../consensus/primitives/amount.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import { encodeTabReceipt, tabReceiptMessage } from '../../../consensus/tx/tab-messages.ts'
import { CHAT_LINE } from '../../../marketplace/services/text/chat-line.ts'
import type { TabStore } from '../../../marketplace/till/rails/tab/tab-store.ts'
import { readTabReceipt } from '../../../rpc/json/tab-json.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import type { JsonBody } from '../../support/api.ts'
import { until } from '../../support/processes.ts'
import { LLM_CHAT, PLAIN, paymentOfAnswer, streamedText, TabChat, type Told } from '../../support/tab-chat.ts'
import { closeDoors, decoded } from '../../support/tab-door.ts'
import { TEST_SIGNER } from '../../support/tabs.ts'
import { HOUSE_TEXT } from '../../support/upstreams/openai.ts'

let chat: TabChat
beforeEach(async () => {
  chat = await TabChat.open()
})
afterEach(async () => {
  await closeDoors()
  await chat.close()
})

const STREAM = { ...PLAIN, stream: true }
/** What the fake server says it used: 7 tokens read, 11 written. */
const USED = 7n + 4n * 11n

function isSigned(tab: JsonBody): boolean {
  const receipt = readTabReceipt(tab)
  if (typeof receipt === 'string') return false
  const message = tabReceiptMessage(chat.door.network, encodeTabReceipt(receipt.receipt))
  const part = { key: fromHex(TEST_SIGNER.key), message, signature: fromHex(receipt.signature) }
  return verifyTabSignature(NATIVE_BACKEND, part)
}

function charged(told: Told): bigint {
  return BigInt(paymentOfAnswer(told).receipt.tab.charged as string)
}

describe('the price of a chat on a tab', () => {
  it('is told with a 402, in the header and in the body, and grows with what the answer may have', async () => {
    const told = await chat.told(await chat.post(JSON.stringify(PLAIN), null))
    expect(told.response.status).toBe(402)
    const { error, accepts, resource } = told.body
    expect(error).toMatchObject({ code: 'payment_required', type: 'invalid_request_error' })
    const required = decoded(told.response, 'payment-required')
    expect(required).toMatchObject({ x402Version: 2, accepts, resource })
    expect(resource).toMatchObject({ url: `${chat.door.url}/api/v1/chat/completions?rail=tab` })
    const most = await chat.most(PLAIN)
    const longer = await chat.most({ ...PLAIN, max_tokens: 512 })
    expect(most).toBeGreaterThan(chat.priceOf(4n * 256n))
    expect(longer - most).toBe(chat.priceOf(4n * 256n))
    expect(await chat.most({ ...PLAIN, model: 'model-2' })).toBeGreaterThan(2n * most)
  })

  it('is not asked of an API key: without the word and without a payment the key is what it was', async () => {
    const bare = await fetch(`${chat.door.url}/api/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(PLAIN), headers: { 'content-type': 'application/json' } },
    })
    expect(bare.status).toBe(401)
    const free = await fetch(`${chat.door.url}/api/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(PLAIN) },
      headers: { 'content-type': 'application/json', authorization: `Bearer ${chat.key}` },
    })
    expect(free.status).toBe(200)
    expect(await free.json()).not.toHaveProperty('x_payment')
  })
})

describe('a chat that is paid from a tab', () => {
  it('is answered as a free one is, with a signed receipt of what was used', async () => {
    const payer = await chat.payer()
    const most = await chat.most(PLAIN)
    const told = await chat.buy(payer, PLAIN)
    expect(told.response.status).toBe(200)
    expect(told.body).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: HOUSE_TEXT }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 },
      x_platform: { model: 'model-1' },
    })
    const { receipt, settlement } = paymentOfAnswer(told)
    expect(isSigned(receipt.tab)).toBe(true)
    expect(receipt).toMatchObject({ serviceId: 'node-llm-chat', rail: 'tab', txId: payer.tabId, tab: { outcome: 0 } })
    expect(charged(told) - chat.priceOf(USED)).toBeLessThanOrEqual(1n)
    expect(charged(told)).toBeLessThan(most)
    expect(decoded(told.response, 'payment-response')).toEqual(settlement)
    expect(settlement).toMatchObject({ success: true, extra: { chargedAmount: receipt.tab.charged } })
    expect(await chat.charged(payer)).toEqual({ charged: charged(told), reserved: 0n })
    const { x_payment: _, ...result } = told.body
    expect(receipt.tab.resultHash).toBe(taggedHashHex('result', encodeText(JSON.stringify(result))))
  })

  it('is streamed, and the receipt comes with the last piece', async () => {
    const payer = await chat.payer()
    const told = await chat.buy(payer, { ...STREAM, stream_options: { include_usage: true } })
    expect([told.response.status, told.isDone, streamedText(told)]).toEqual([200, true, HOUSE_TEXT])
    const last = told.chunks.findLast(({ choices }) => (choices as readonly object[]).length > 0)
    expect(last).toMatchObject({ choices: [{ finish_reason: 'stop' }], x_platform: { model: 'model-1' } })
    const { receipt, settlement } = paymentOfAnswer({ ...told, chunks: [last as JsonBody] })
    expect(isSigned(receipt.tab)).toBe(true)
    expect(charged(told) - chat.priceOf(USED)).toBeLessThanOrEqual(1n)
    expect(settlement).toMatchObject({ success: true, extra: { chargedAmount: receipt.tab.charged } })
    expect(await chat.charged(payer)).toEqual({ charged: charged(told), reserved: 0n })
  })

  it('costs what was used, never more than was offered', async () => {
    const payer = await chat.payer()
    const body = { ...PLAIN, max_tokens: 1 }
    const told = await chat.buy(payer, body)
    expect(charged(told)).toBe(await chat.most(body))
  })

  it('leaves the rest on the tab: the next voucher goes on from what was charged', async () => {
    const payer = await chat.payer()
    const first = await chat.buy(payer, PLAIN)
    payer.ceiling = charged(first)
    const second = await chat.buy(payer, STREAM)
    expect(paymentOfAnswer(second).receipt.tab).toMatchObject({
      n: 2,
      cumulative: `${charged(first) + charged(second)}`,
    })
  })

  it.each([
    ['whole', PLAIN],
    ['streamed', STREAM],
  ] as const)('%s is told again for the same bytes, free', async (_, body) => {
    const payer = await chat.payer()
    const first = await chat.buy(payer, body)
    const asked = chat.world.fake.questions.length
    const again = await chat.told(await chat.post(JSON.stringify(body), first.payload))
    expect(again.response.headers.get('idempotent-replay')).toBe('true')
    expect(paymentOfAnswer(again).receipt).toEqual(paymentOfAnswer(first).receipt)
    expect([streamedText(again), again.isDone]).toEqual([streamedText(first), first.isDone])
    expect(again.body.choices).toEqual(first.body.choices)
    expect(chat.world.fake.questions).toHaveLength(asked)
    const other = await chat.told(await chat.post(JSON.stringify({ ...body, temperature: 1 }), first.payload))
    expect([other.response.status, (other.body.error as JsonBody).code]).toEqual([402, 'tab_voucher_signature'])
  })

  it('comes with the calls of tools, and their stream can be put together', async () => {
    const payer = await chat.payer()
    chat.world.fake.profile = 'tool-calls'
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const told = await chat.buy(payer, { ...STREAM, tools })
    const again = await chat.told(await chat.post(JSON.stringify({ ...STREAM, tools }), told.payload))
    const calls = ({ chunks }: Told): unknown[] =>
      chunks.flatMap(({ choices = [] }) =>
        (choices as readonly { delta: { tool_calls?: object[] } }[]).flatMap(({ delta }) => delta.tool_calls ?? []),
      )
    expect(calls(again)).toEqual([
      { index: 0, id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } },
    ])
    expect(calls(told)).not.toEqual([])
  })
})

describe('a chat that breaks off', () => {
  it.each([
    ['whole', PLAIN],
    ['streamed', STREAM],
  ] as const)('before the first word costs nothing, and the receipt says so: %s', async (_, body) => {
    const payer = await chat.payer()
    chat.world.fake.profile = '503'
    const told = await chat.buy(payer, body)
    expect(told.response.status).toBe(502)
    expect(told.body.error).toMatchObject({ code: 'upstream_error', type: 'server_error' })
    const { receipt, settlement } = paymentOfAnswer(told)
    expect(isSigned(receipt.tab)).toBe(true)
    expect(receipt).toMatchObject({ amount: 0, tab: { outcome: 1, charged: '0' } })
    expect(settlement).toMatchObject({ success: false })
    expect(decoded(told.response, 'payment-response')).toEqual(settlement)
    expect(await chat.charged(payer)).toEqual({ charged: 0n, reserved: 0n })
    const again = await chat.told(await chat.post(JSON.stringify(body), told.payload))
    expect(paymentOfAnswer(again).receipt).toEqual(receipt)
  })

  it.each(['cut', 'late-error'] as const)('in the middle costs nothing: %s', async (profile) => {
    const payer = await chat.payer()
    chat.world.fake.profile = profile
    const told = await chat.buy(payer, STREAM)
    expect([told.response.status, told.isDone, told.isCut]).toEqual([200, false, true])
    expect(told.chunks.at(-1)).toMatchObject({ error: { code: 'upstream_error' } })
    const { receipt } = paymentOfAnswer(told)
    expect(isSigned(receipt.tab)).toBe(true)
    expect(receipt.tab).toMatchObject({ outcome: 1, charged: '0' })
    expect(await chat.charged(payer)).toEqual({ charged: 0n, reserved: 0n })
  })

  it('because its caller left costs what was made until then, which the same bytes bring again', async () => {
    const payer = await chat.payer()
    chat.world.fake.profile = 'stall'
    const payload = await chat.voucher(payer, STREAM)
    const end = new AbortController()
    const response = await chat.post(JSON.stringify(STREAM), payload, { signal: end.signal })
    const reader = response.body?.getReader()
    let text = ''
    while (!text.includes('Grü')) text += Buffer.from((await reader?.read())?.value ?? []).toString()
    end.abort()
    await reader?.cancel().catch(() => {})
    await until('the tab was charged', async () => (await chat.charged(payer)).charged > 0n)
    expect((await chat.charged(payer)).reserved).toBe(0n)
    expect((await chat.charged(payer)).charged).toBeLessThan(await chat.most(STREAM))
    chat.world.fake.profile = 'ok'
    const again = await chat.told(await chat.post(JSON.stringify(STREAM), payload))
    expect(again.isDone).toBe(true)
    expect(HOUSE_TEXT.startsWith(streamedText(again))).toBe(true)
    expect(streamedText(again)).not.toBe('')
    expect(charged(again)).toBe((await chat.charged(payer)).charged)
    await until('no caller is inside', () => chat.room.inside === 0)
  })

  it('because the time of the stream is over costs what was made until then: longer answers would be free', async () => {
    const payer = await chat.payer()
    chat.world.fake.profile = 'stall'
    const told = await chat.buy(payer, STREAM)
    expect([told.response.status, told.isDone, told.isCut]).toEqual([200, true, false])
    const text = streamedText(told)
    expect([text !== '', HOUSE_TEXT.startsWith(text), text === HOUSE_TEXT]).toEqual([true, true, false])
    const { receipt } = paymentOfAnswer(told)
    expect(isSigned(receipt.tab)).toBe(true)
    expect(receipt.tab).toMatchObject({ outcome: 0 })
    expect(charged(told)).toBeGreaterThan(0n)
    expect(await chat.charged(payer)).toEqual({ charged: charged(told), reserved: 0n })
    const again = await chat.told(await chat.post(JSON.stringify(STREAM), told.payload))
    expect([streamedText(again), charged(again)]).toEqual([text, charged(told)])
  })

  it('because a whole answer is late costs nothing: none of it was sent', async () => {
    const payer = await chat.payer()
    chat.world.fake.profile = 'stall'
    const told = await chat.buy(payer, PLAIN)
    expect(told.response.status).toBe(504)
    expect(await chat.charged(payer)).toEqual({ charged: 0n, reserved: 0n })
  })

  it('a whole answer whose caller left is made to its end, and kept for it', async () => {
    const payer = await chat.payer()
    chat.world.fake.profile = 'slow-first-token'
    const payload = await chat.voucher(payer, PLAIN)
    const end = new AbortController()
    const left = chat.post(JSON.stringify(PLAIN), payload, { signal: end.signal }).catch(() => {})
    await until('a model is asked', () => chat.world.fake.questions.length > 0)
    end.abort()
    await left
    await until('the tab was charged', async () => (await chat.charged(payer)).charged > 0n)
    const again = await chat.told(await chat.post(JSON.stringify(PLAIN), payload))
    expect(again.body).toMatchObject({ choices: [{ message: { content: HOUSE_TEXT } }] })
  })
})

describe('the room of the node', () => {
  it('is taken by chats that are served: neither terms nor stored answers need a place, and a full one costs no voucher', async () => {
    const small = await TabChat.open({ concurrentMax: 1 })
    const payer = await small.payer()
    const first = await small.buy(payer, PLAIN)
    payer.ceiling = charged(first)
    small.world.fake.profile = 'stall'
    const end = new AbortController()
    const held = await small.voucher(payer, STREAM)
    const response = await small.post(JSON.stringify(STREAM), held, { signal: end.signal })
    expect([response.status, small.room.inside]).toEqual([200, 1])
    const statuses = []
    for (const payload of [null, payer.voucher('other', { serviceId: LLM_CHAT, seq: 9 }), first.payload])
      statuses.push((await small.post(JSON.stringify(PLAIN), payload)).status)
    expect(statuses).toEqual([402, 402, 200])
    const { charged: sum, reserved } = await small.charged(payer)
    const next = payer.voucher(CHAT_LINE + JSON.stringify(PLAIN), {
      ...{ serviceId: LLM_CHAT, seq: 3, ceiling: sum + reserved + (await small.most(PLAIN)) },
    })
    const busy = await small.told(await small.post(JSON.stringify(PLAIN), next))
    expect([busy.response.status, busy.response.headers.get('retry-after')]).toEqual([429, '1'])
    expect(busy.body).not.toHaveProperty('x_payment')
    end.abort()
    await until('there is room', () => small.room.inside === 0)
    small.world.fake.profile = 'ok'
    expect((await small.post(JSON.stringify(PLAIN), next)).status).toBe(200)
    expect(small.room.inside).toBe(0)
    await closeDoors()
    await small.close()
  })
})

describe('the charge of a stream', () => {
  it('is on disk before the stream ends', async () => {
    const gate = Promise.withResolvers<void>()
    const holding = (store: TabStore): TabStore =>
      new Proxy(store, {
        get: (target, name) => {
          const member = Reflect.get(target, name, target) as unknown
          if (typeof member !== 'function') return member
          const work = (...values: unknown[]): unknown => Reflect.apply(member, target, values)
          return name === 'commit' ? (...values: unknown[]) => gate.promise.then(() => work(...values)) : work
        },
      })
    const slow = await TabChat.open({ wrapTabs: holding })
    slow.world.fake.answer = () => 'all'
    const payer = await slow.payer()
    const payload = await slow.voucher(payer, STREAM)
    const response = await slow.post(JSON.stringify(STREAM), payload)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('all')) text += Buffer.from((await reader.read()).value ?? []).toString()
    expect(text).not.toMatch(/"finish_reason":"stop"|x_payment|DONE/)
    expect(await slow.charged(payer)).toMatchObject({ charged: 0n })
    gate.resolve()
    for (let end = await reader.read(); !end.done; end = await reader.read()) text += Buffer.from(end.value).toString()
    expect(text).toMatch(/x_payment.*\n\ndata: \[DONE\]/)
    expect((await slow.charged(payer)).charged).toBeGreaterThan(0n)
    await closeDoors()
    await slow.close()
  })

  it('dies with the process of the seller: the payer is not charged, and the same bytes are served', async () => {
    const payer = await chat.payer()
    chat.world.fake.profile = 'stall'
    const payload = await chat.voucher(payer, STREAM)
    const end = new AbortController()
    const response = await chat.post(JSON.stringify(STREAM), payload, { signal: end.signal })
    await response.body?.getReader().read()
    expect((await chat.charged(payer)).reserved).toBe(await chat.most(STREAM))
    await chat.door.restart()
    expect(await chat.charged(payer)).toEqual({ charged: 0n, reserved: 0n })
    end.abort()
    await until('no caller is inside', () => chat.room.inside === 0)
    expect(await chat.charged(payer)).toEqual({ charged: 0n, reserved: 0n })
    chat.world.fake.profile = 'ok'
    const told = await chat.told(await chat.post(JSON.stringify(STREAM), payload))
    expect([told.isDone, streamedText(told)]).toEqual([true, HOUSE_TEXT])
    expect(paymentOfAnswer(told).receipt.tab).toMatchObject({ n: 1, seq: 1 })
  })
})

describe('the places of chats', () => {
  beforeEach(async () => {
    await closeDoors()
    await chat.close()
    chat = await TabChat.open({ concurrentMax: 2 })
  })

  it('are not held by chats whose payment is waited for: strangers could take all of them', async () => {
    const payer = await chat.payer()
    const stranger = await chat.door.newPayer({}, 3)
    await chat.door.market.submit(stranger.opening)
    const voucher = { seq: 1, maxClaimableAmount: '1', secret: 'ab'.repeat(32), signature: 'cd'.repeat(64) }
    const told = [1, 2, 3].map((seq) => {
      const payload = { type: 'deposit', transaction: stranger.tabId, channelId: stranger.tabId }
      return chat.post(JSON.stringify(PLAIN), { ...payload, voucher: { ...voucher, seq } })
    })
    await setTimeout(200)
    expect((await chat.buy(payer, PLAIN)).response.status).toBe(200)
    await chat.door.market.mine([stranger.opening])
    expect((await Promise.all(told)).map(({ status }) => status)).toEqual([402, 402, 402])
    expect(chat.room.inside).toBe(0)
  })
})

describe('a payment that is no good for a chat', () => {
  it('gets a 402 from which its payer can go on', async () => {
    const payer = await chat.payer()
    const low = await chat.voucher(payer, PLAIN, { ceiling: 1n })
    const told = await chat.told(await chat.post(JSON.stringify(PLAIN), low))
    expect([told.response.status, (told.body.error as JsonBody).code]).toEqual([402, 'tab_ceiling_low'])
    const [offer] = told.body.accepts as readonly JsonBody[]
    expect(offer).toMatchObject({
      amount: `${await chat.most(PLAIN)}`,
      extra: { channelState: { channelId: payer.tabId } },
    })
    const foreign = payer.voucher('another request', { serviceId: 'node-llm-chat', ceiling: await chat.most(PLAIN) })
    const unsigned = await chat.told(await chat.post(JSON.stringify(PLAIN), foreign))
    expect([unsigned.response.status, (unsigned.body.error as JsonBody).code]).toEqual([402, 'tab_voucher_signature'])
    expect(JSON.stringify(unsigned.body)).not.toContain('channelState')
  })

  it('is refused where it cannot be read, or is of another kind', async () => {
    const payer = await chat.payer()
    const native = Buffer.from(
      JSON.stringify({ x402Version: 2, accepted: { scheme: 'native-x402' }, payload: { txId: 'ab'.repeat(32) } }),
    ).toString('base64')
    const codes: string[] = []
    for (const header of ['%', native]) {
      const headers = { 'payment-signature': header }
      const told = await chat.told(await chat.post(JSON.stringify(PLAIN), null, { headers }))
      codes.push(`${told.response.status} ${(told.body.error as JsonBody).code}`)
    }
    expect(codes).toEqual(['402 invalid_payment', '402 payment_mismatch'])
    const refund = await chat.told(await chat.post(JSON.stringify(PLAIN), payer.refund()))
    expect((refund.body.error as JsonBody).code).toBe('invalid_payment')
  })

  it('does not open the door for long bodies, and chats with likelihoods are not sold', async () => {
    const long = { ...PLAIN, messages: [{ role: 'user', content: 'x'.repeat(140_000) }] }
    expect((await chat.post(JSON.stringify(long), null)).status).toBe(413)
    const told = await chat.told(await chat.post(JSON.stringify({ ...PLAIN, logprobs: true }), null))
    expect([told.response.status, told.body.error]).toMatchObject([400, { param: 'logprobs' }])
  })

  it('pays at one door only: the service does not take the voucher of a chat, but tells what it bought', async () => {
    const payer = await chat.payer()
    const body = { ...PLAIN, max_tokens: 4_096 }
    const text = JSON.stringify(body)
    const unused = await chat.voucher(payer, body)
    const refused = await chat.door.call(CHAT_LINE + text, unused, { serviceId: LLM_CHAT })
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request'])
    const first = await chat.told(await chat.post(text, unused))
    const again = await chat.door.call(CHAT_LINE + text, unused, { serviceId: LLM_CHAT })
    expect(again.body).toMatchObject({ paid: true, result: { id: first.body.id }, receipt: { tab: { n: 1 } } })
  })
})

describe('node-llm-chat on a tab', () => {
  it('is reserved at its price and charged for the tokens that were used', async () => {
    const payer = await chat.payer()
    const price = chat.priceOf()
    const payload = payer.voucher('Hello?', { serviceId: 'node-llm-chat', ceiling: price })
    const reply = await chat.door.call('Hello?', payload, { serviceId: 'node-llm-chat' })
    const { receipt, result } = reply.body as unknown as { receipt: JsonBody & { tab: JsonBody }; result: JsonBody }
    expect(result).toMatchObject({ text: HOUSE_TEXT, usage: { promptTokens: 7, completionTokens: 11 } })
    expect(receipt).toMatchObject({
      amountBaseUnits: `${chat.priceOf(USED)}`,
      tab: { charged: `${chat.priceOf(USED)}` },
    })
    expect(decoded(reply, 'payment-response')).toMatchObject({ extra: { chargedAmount: `${chat.priceOf(USED)}` } })
    expect(chat.priceOf(USED)).toBe(mulDivUp(price, USED, 6_144n))
    expect(await chat.charged(payer)).toEqual({ charged: chat.priceOf(USED), reserved: 0n })
    const short = payer.voucher('Hello again?', { serviceId: 'node-llm-chat', ceiling: price })
    const low = await chat.door.call('Hello again?', short, { serviceId: 'node-llm-chat', query: '?rail=tab' })
    expect(low.body).toMatchObject({ code: 'tab_ceiling_low' })
  })

  it('never costs more than its price, however much the model says it used', async () => {
    const payer = await chat.payer()
    const { fake } = chat.world
    const { usage } = fake
    fake.usage = { prompt_tokens: 900, completion_tokens: 1_080, total_tokens: 1_980 }
    fake.answer = () => 'word '.repeat(1_300)
    const price = chat.priceOf()
    const payload = payer.voucher('Hello?', { serviceId: 'node-llm-chat', ceiling: price })
    const reply = await chat.door.call('Hello?', payload, { serviceId: 'node-llm-chat' })
    fake.usage = usage
    fake.answer = () => HOUSE_TEXT
    const { receipt } = reply.body as unknown as { receipt: { tab: { charged: string } } }
    expect(BigInt(receipt.tab.charged)).toBeLessThanOrEqual(price)
  })
})
