import { afterAll, beforeAll, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { type AgentClient, createClient, memoryJournal, tabChatFetch } from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import type { JsonBody } from '../support/api.ts'
import { marketOpen, tabsOpen } from '../support/caller.ts'
import { ChatDaemon } from '../support/chat-daemon.ts'
import { eventsOf, readAll } from '../support/chat-server.ts'
import { Workshop } from '../support/daemon.ts'
import { fastDevnet } from '../support/network.ts'
import { until } from '../support/processes.ts'
import { CHAT_PATH, PLAIN } from '../support/tab-chat.ts'
import { HOUSE_TEXT } from '../support/upstreams/openai.ts'

const HASHES = 250n
const STREAM = JSON.stringify({ ...PLAIN, stream: true })
const workshop = new Workshop()
const journal = memoryJournal()
let chat: ChatDaemon

beforeAll(async () => {
  chat = await ChatDaemon.start(workshop, { mine: 1, env: { TEST_FAST_BLOCKS: String(HASHES) } })
  await marketOpen(chat.url)
  await tabsOpen(chat.url)
})
afterAll(() => chat.close())

/** A client of the daemon as it runs now, with all notes of the earlier ones. */
function agent(): AgentClient {
  return createClient({
    ...{ baseUrl: chat.url, wallet: walletFromWords(wordsOfSeed(devSeed(3))), journal, settleMs: 60_000 },
    ...{ network: networkFacts(fastDevnet(HASHES)), maxPerTabCoins: '100', maxPerTabUsd: 1_000 },
    ...{ maxPerDayUsd: 1_000, maxPerCallUsd: 1, maxPerCallCoins: '10' },
  })
}

interface Stream {
  readonly text: string
  readonly isDone: boolean
  readonly payment: { readonly receipt: { readonly tab: JsonBody }; readonly settlement: JsonBody } | undefined
}

/** What a stream says with the events that came whole. */
function streamIn(text: string): Stream {
  const events = eventsOf(text.slice(0, text.lastIndexOf('\n\n') + 2))
  const pieces = events.filter((event) => event !== '[DONE]').map((event) => JSON.parse(event))
  return {
    text: pieces.map(({ choices: [choice] }) => choice?.delta.content ?? '').join(''),
    isDone: events.at(-1) === '[DONE]',
    payment: pieces.find(({ x_payment: payment }) => payment !== undefined)?.x_payment,
  }
}

/** Pays for a stream, and kills the seller as soon as this has come. What came, and the voucher. */
async function killedAt(
  word: RegExp,
): Promise<{ readonly came: string; readonly voucher: string; readonly end: unknown }> {
  let voucher = ''
  const watching: typeof fetch = (input, init) => {
    voucher = new Headers(init?.headers).get('payment-signature') ?? ''
    return fetch(input, init)
  }
  const response = await tabChatFetch(agent(), watching)(`${chat.url}${CHAT_PATH}`, { method: 'POST', body: STREAM })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let came = ''
  while (!word.test(came)) came += decoder.decode((await reader.read()).value, { stream: true })
  await chat.daemon.kill()
  const rest = async (): Promise<null> => {
    while (!(await reader.read()).done);
    return null
  }
  return { came, voucher, end: await rest().catch((error: unknown) => error) }
}

/** Sends the same bytes until they are answered. */
async function again(voucher: string): Promise<Stream & { readonly isStored: boolean }> {
  const headers = { 'content-type': 'application/json', 'payment-signature': voucher }
  const response = await until('the chat is answered', async () => {
    const answer = await fetch(`${chat.url}${CHAT_PATH}?rail=tab`, { method: 'POST', body: STREAM, headers })
    if (answer.status === 200) return answer
    await answer.text()
    return null
  })
  const { text } = await readAll(response)
  return { ...streamIn(text), isStored: response.headers.get('idempotent-replay') === 'true' }
}

it('a seller killed in the middle of a stream answers the same bytes, and a receipt that it gave holds: both are charged once', async () => {
  const terms = await fetch(`${chat.url}${CHAT_PATH}?rail=tab`, {
    ...{ method: 'POST', body: STREAM, headers: { 'content-type': 'application/json' } },
  })
  const { accepts } = (await terms.json()) as { accepts: readonly { extra: { agentId: string } }[] }
  const { tabId } = await agent().openTab(accepts[0]?.extra.agentId as string, { deposit: '5' })

  chat.fake.profile = 'stall'
  const middle = await killedAt(/Grü/)
  expect([streamIn(middle.came).payment, middle.end]).toMatchObject([
    undefined,
    { code: 'interrupted', payment: { txId: tabId } },
  ])
  chat.fake.profile = 'ok'
  await chat.startAgain()
  const first = await again(middle.voucher)
  expect(first).toMatchObject({
    text: HOUSE_TEXT,
    isDone: true,
    isStored: false,
    payment: { receipt: { tab: { n: 1, seq: 1 } } },
  })
  expect(await again(middle.voucher)).toEqual({ ...first, isStored: true })

  const late = await killedAt(/x_payment.*\n\n/)
  await chat.startAgain()
  const second = await again(late.voucher)
  expect(second).toMatchObject({
    text: HOUSE_TEXT,
    isDone: true,
    isStored: true,
    payment: { receipt: { tab: { n: 2, seq: 2 } } },
  })
  expect(second.payment?.receipt).toEqual(streamIn(late.came).payment?.receipt)

  const tab = await agent().tab(tabId)
  expect(tab.unanswered).toHaveLength(1)
  await tab.resume()
  const sums = [first, second].map(({ payment }) => BigInt(payment?.receipt.tab.charged as string))
  const charged = sums.reduce((sum, one) => sum + one, 0n)
  expect(second.payment?.settlement).toMatchObject({
    extra: { channelState: { chargedCumulativeAmount: `${charged}` } },
  })
  expect(await tab.state()).toMatchObject({ charged, receipts: 2, unanswered: 0, unresolved: 0n, status: 'open' })
  expect(await tab.verifyReceipts()).toMatchObject({ ok: true, evidence: null })
})
