import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { DEVNET } from '../../config/networks/devnet.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { toHex } from '../../consensus/primitives/bytes.ts'
import type { BlockId, Hash, TxId } from '../../consensus/primitives/ids.ts'
import { requestHash } from '../../consensus/tx/request-hash.ts'
import { NodeClient } from '../../rpc/client/node-client.ts'
import { preparePayment, quoteCall, settleCall } from '../../rpc/client/pay.ts'
import { signSettlement } from '../../rpc/client/selling.ts'
import { ask, type CallView, post } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { type RunningDaemon, WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { HoldingProxy } from '../support/holding-proxy.ts'
import { mineOnDemand } from '../support/mine-by-hand.ts'
import { type Program, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'

const workshop = new Workshop()
const SERVICE = 'acme-words'
const AGENT = 'acme'
/** Development keys of the agent's owner, its settler, the paid account, which nothing else moves, and a stranger. */
const KEYS = { owner: 5, settler: 7, payout: 10, stranger: 8 } as const

let daemon: RunningDaemon
let genesis: BlockId
let proxy: HoldingProxy
let seller: Program
let sellerUrl: string
const runs = workshop.path('runs')
const claims = workshop.path('claims.jsonl')
const words = workshop.path('words')
const WORK = join(ROOT, 'test/support/seller-work.ts')
/** Development keys of the buyers, used in turn. */
const BUYERS = [3, 4, 6, 9]
let bought = 0

// The seller runs as an outside program. A mining thread would starve beside the other processes.
const CHEAP_BLOCKS = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
let endMining: () => Promise<void>

async function startNode(folder: string): Promise<void> {
  daemon = await workshop.start(folder, { mine: 0, ...CHEAP_BLOCKS })
  endMining = mineOnDemand(daemon.url)
}

beforeAll(async () => {
  await startNode(workshop.folder())
  await marketOpen(daemon.url)
  genesis = (await ask<{ genesis: BlockId }>(daemon.url, '/api/v1/status')).body.genesis
  proxy = await HoldingProxy.open(daemon.url)
  writeFileSync(words, wordsOfSeed(devSeed(KEYS.settler)))
  writeFileSync(runs, '')
  const owner = ['--rpc', daemon.url, '--data-dir', workshop.folder(), '--dev-key', String(KEYS.owner)]
  const about = ['--name', 'Acme', '--endpoint', 'http://127.0.0.1:8402', '--capabilities', 'utility']
  const paid = ['--payout', new Caller('', KEYS.payout).address, '--settlers', new Caller('', KEYS.settler).address]
  const registered = await workshop.run(['agent', 'register', AGENT, ...about, ...paid, ...owner], CHEAP_BLOCKS)
  expect(registered.code, registered.stderr).toBe(0)
  const priced = ['--price', '0.002', '--capability', 'utility', '--name', 'Words']
  const published = await workshop.run(['agent', 'publish', AGENT, SERVICE, ...priced, ...owner], CHEAP_BLOCKS)
  expect(published.code, published.stderr).toBe(0)
  await startSeller()
})
afterAll(async () => {
  await endMining()
  await proxy.close()
})

async function startSeller(): Promise<void> {
  seller = workshop.launch([], {
    entry: join(ROOT, 'docs/examples/seller/seller.ts'),
    env: {
      ...{ SELLER_NODE: proxy.url, SELLER_AGENT: AGENT, SELLER_SERVICE: SERVICE, SELLER_WORDS_FILE: words },
      ...{ SELLER_CLAIMS: claims, SELLER_PORT: '0', SELLER_GENESIS: genesis, SELLER_WORK: WORK, TEST_RUNS_FILE: runs },
    },
  })
  sellerUrl = await until('the seller listens', () => {
    if (seller.ended !== null) throw new Error(`the seller did not start: ${seller.stderr}`)
    return /selling at (http:\S+)/.exec(seller.stdout)?.[1]
  })
}

/** Pays for a call with the next buyer. */
async function pay(request: string) {
  const buyer = new Caller(daemon.url, BUYERS[bought++ % BUYERS.length] as number)
  const [shop, node] = [new NodeClient(sellerUrl), new NodeClient(daemon.url)]
  const quote = await quoteCall(shop, SERVICE, request)
  if (!quote.ok) throw new Error(JSON.stringify(quote.fault))
  const secret = new Uint8Array(randomBytes(32))
  const prepared = await preparePayment(node, DEVNET, buyer.key, { quote: quote.value, request, secret, genesis })
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.fault))
  expect(await node.submit(prepared.value.tx)).toMatchObject({ ok: true })
  const { txId } = prepared.value.tx
  return { buyer, request, secret, txId, amount: quote.value.amount }
}

type Payment = Awaited<ReturnType<typeof pay>>

/** Repeats the call until its answer is final. */
async function settled({ request, txId, secret }: Payment) {
  const wait = {
    untilMs: Date.now() + 60_000,
    now: () => Date.now(),
    pause: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
  }
  const answer = await settleCall(new NodeClient(sellerUrl), { serviceId: SERVICE, request, txId, secret }, wait)
  if (!answer.ok) throw new Error(JSON.stringify(answer.fault))
  return answer.value
}

/** Sends the call once. Fields of `change` replace or extend those of its body. */
function call({ request, txId, secret }: Payment, change: object = {}) {
  return post<CallView>(sellerUrl, `/api/x402/${SERVICE}`, {
    request,
    payment: { txId, secret: toHex(secret) },
    ...change,
  })
}

interface BlockView {
  readonly transactions: readonly { readonly txId: string; readonly kind: string }[]
}

interface ReceiptView {
  readonly transaction: {
    readonly payload: { readonly entries: readonly { readonly txId: string; readonly outcome: number }[] }
  }
}

/** How a receipt on chain closed a payment's escrow; undefined while it is open. */
async function closing({ buyer, txId }: Payment): Promise<string | undefined> {
  const { height } = await buyer.mined(txId)
  const head = (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height
  for (let at = height; at <= head; at++) {
    const { body } = await ask<BlockView>(daemon.url, `/api/v1/blocks/${at}`)
    for (const { kind, txId: receiptId } of body.transactions) {
      if (kind !== 'agent_receipt') continue
      const { transaction } = (await ask<ReceiptView>(daemon.url, `/api/v1/tx/${receiptId}`)).body
      const entry = transaction.payload.entries.find((one) => one.txId === txId)
      if (entry !== undefined) return entry.outcome === 0 ? 'delivered' : 'failed'
    }
  }
  return undefined
}

const closed = (payment: Payment) =>
  until(`${payment.txId} is closed on chain`, () => closing(payment), { everyMs: 300 })
const timesRun = (request: string): number =>
  readFileSync(runs, 'utf8')
    .split('\n')
    .filter((line) => line === request).length
const balanceOf = (key: number): Promise<bigint> => new Caller(daemon.url, key).balance()

describe('a seller without a chain of its own', () => {
  it('asks for the price in the form of both generations', async () => {
    const { status, body, headers } = await post<CallView>(sellerUrl, `/api/x402/${SERVICE}`, { request: 'ok' })
    expect(status).toBe(402)
    expect(body.accepts?.[0]).toMatchObject({ scheme: 'native-x402', payTo: new Caller('', KEYS.payout).address })
    const terms = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as CallView
    expect(terms).toMatchObject({
      x402Version: 2,
      accepts: [{ network: 'farthing:1', extra: { agentId: AGENT, serviceId: SERVICE } }],
    })
  })

  it('sells to our client, and the escrow is released to its payout on chain', async () => {
    const before = await balanceOf(KEYS.payout)
    const payment = await pay('ok:sold')
    const { status, body } = await settled(payment)
    expect({ status, result: body.result }).toEqual({ status: 200, result: { echo: 'ok:sold' } })
    expect(await closed(payment)).toBe('delivered')
    const burned = (payment.amount + 99n) / 100n
    expect(await balanceOf(KEYS.payout)).toBe(before + payment.amount - burned)
    expect((await call(payment)).body.result).toEqual({ echo: 'ok:sold' })
    expect(timesRun('ok:sold')).toBe(1)
  })

  it('takes a payment in the header of either generation', async () => {
    const payment = await pay('ok:header')
    await payment.buyer.mined(payment.txId)
    const payload = { txId: payment.txId, secret: toHex(payment.secret) }
    const carriers = {
      'x-payment': { x402Version: 1, scheme: 'native-x402', network: 'mainnet', payload },
      'payment-signature': { x402Version: 2, accepted: {}, payload },
    }
    for (const [name, value] of Object.entries(carriers)) {
      const headers = {
        'content-type': 'application/json',
        [name]: Buffer.from(JSON.stringify(value)).toString('base64'),
      }
      const body = JSON.stringify({ request: 'ok:header' })
      const reply = await ask<CallView>(sellerUrl, `/api/x402/${SERVICE}`, { method: 'POST', headers, body })
      expect(reply).toMatchObject({ status: 200, body: { result: { echo: 'ok:header' } } })
    }
    expect(timesRun('ok:header')).toBe(1)
  })

  it('does not work twice for a payment: another request, another secret and 20 at once', async () => {
    const payment = await pay('ok:mine')
    await payment.buyer.mined(payment.txId)
    const requests = ['ok:mine', ...Array.from({ length: 19 }, () => 'ok:mine')]
    const replies = await Promise.all(requests.map(() => call(payment)))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(replies[0]?.status).toBe(200)
    const other = { payment: { txId: payment.txId, secret: 'ab'.repeat(32) } }
    for (const change of [{ request: 'ok:other' }, other, { payment: { txId: payment.txId } }])
      expect(await call(payment, change)).toMatchObject({ status: 409, body: { code: 'payment_already_redeemed' } })
    expect([timesRun('ok:mine'), timesRun('ok:other')]).toEqual([1, 0])
  })

  it('does not work for a payment that is not for it, nor for a reader of the chain', async () => {
    const payment = await pay('ok:unpaid')
    await payment.buyer.mined(payment.txId)
    const replies = [
      await call(payment, { payment: { txId: payment.txId } }),
      await call(payment, { payment: { txId: payment.txId, secret: 'ab'.repeat(32) } }),
      await call(payment, { request: 'ok:instead' }),
      await call(payment, { payment: { txId: 'ab'.repeat(32), secret: toHex(payment.secret) } }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([402, 402, 402, 402])
    expect(replies.map(({ body }) => body.code)).toEqual([
      'secret_missing',
      'payment_mismatch',
      'payment_mismatch',
      'payment_not_found',
    ])
    expect(timesRun('ok:unpaid') + timesRun('ok:instead')).toBe(0)
    expect((await settled(payment)).status).toBe(200)
  })

  it('gives the money back where the work fails', async () => {
    const payment = await pay('fail:it')
    const { status, body } = await settled(payment)
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'upstream_failed' })
    expect(await closed(payment)).toBe('failed')
    expect((await call(payment)).status).toBe(502)
    expect(timesRun('fail:it')).toBe(1)
  })
})

describe('a seller that is killed', () => {
  it('between work and settlement has its money all the same, and works no second time', async () => {
    proxy.holds = (path) => path === '/facilitator/settle'
    const payment = await pay('ok:killed')
    expect(await settled(payment)).toMatchObject({ status: 200 })
    await until('the settlement is held', () => proxy.held.length > 0)
    await seller.end('SIGKILL')
    expect(await closing(payment)).toBeUndefined()
    proxy.holds = () => false
    await startSeller()
    expect(await closed(payment)).toBe('delivered')
    expect((await call(payment)).body.result).toEqual({ echo: 'ok:killed' })
    expect(timesRun('ok:killed')).toBe(1)
  })

  it('in the midst of its work does it again, and a torn line of its file harms nothing', async () => {
    const payment = await pay('hang:once')
    await payment.buyer.mined(payment.txId)
    const cut = call(payment).catch(() => null)
    await until('the work has begun', () => timesRun('hang:once') === 1)
    await seller.end('SIGKILL')
    expect(await cut).toBeNull()
    writeFileSync(claims, '{"txId":"', { flag: 'a' })
    await startSeller()
    expect(await closed(payment)).toBe('delivered')
    expect((await call(payment)).body.result).toEqual({ echo: 'hang:once' })
    expect(timesRun('hang:once')).toBe(2)
  })
})

describe('the facilitator of a shipped node', () => {
  const ended = ({ txId, request }: Payment) => ({
    txId: txId as TxId,
    requestHash: requestHash(SERVICE as never, request),
    ...{ outcome: 'delivered' as const, resultHash: 'cd'.repeat(32) as Hash, durationMs: 1 },
  })

  async function settleBy(key: number, payment: Payment, secret: string | null) {
    const network = { params: DEVNET, network: { chainId: 1, genesis } }
    const settlement = await signSettlement(ended(payment), new Caller('', key).key, network)
    const rail = { scheme: 'native-x402', network: 'mainnet' }
    const payload = { txId: payment.txId, ...(secret === null ? {} : { secret }) }
    const extra = { serviceId: SERVICE, request: payment.request, settlement }
    const asked = { ...rail, payTo: AGENT, maxAmountRequired: payment.amount.toString(), maxTimeoutSeconds: 60, extra }
    const body = { x402Version: 1, paymentPayload: { x402Version: 1, ...rail, payload }, paymentRequirements: asked }
    return post<{ success: boolean; errorReason?: string }>(daemon.url, '/facilitator/settle', body)
  }

  it('refuses the word of strangers, and that of a seller who never had the secret', async () => {
    const payment = await pay('ok:lie')
    await payment.buyer.mined(payment.txId)
    const said = [
      await settleBy(KEYS.stranger, payment, toHex(payment.secret)),
      await settleBy(KEYS.settler, payment, null),
      await settleBy(KEYS.settler, payment, 'ab'.repeat(32)),
    ]
    expect(said.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(said.map(({ body }) => body)).toMatchObject([
      { success: false, errorReason: 'not_a_settler' },
      { success: false, errorReason: 'secret_missing' },
      { success: false, errorReason: 'payment_mismatch' },
    ])
    expect((await settled(payment)).status).toBe(200)
  })

  it('says what it takes, answers bodies without shape with 400, and keeps its records over a kill', async () => {
    const { body } = await ask(daemon.url, '/facilitator/supported')
    expect(body).toMatchObject({
      kinds: [
        { x402Version: 1, scheme: 'native-x402', network: 'mainnet', extra: { genesis } },
        { x402Version: 2, scheme: 'native-x402', network: 'farthing:1' },
      ],
      extensions: [],
      signers: {},
    })
    for (const path of ['/facilitator/verify', '/facilitator/settle'])
      for (const wrong of [
        {},
        [],
        'x',
        { x402Version: 1 },
        { x402Version: '1', paymentPayload: {}, paymentRequirements: {} },
      ])
        expect(await post(daemon.url, path, wrong)).toMatchObject({
          status: 400,
          body: { requestId: expect.any(String) },
        })
    const payment = await pay('ok:kept')
    await payment.buyer.mined(payment.txId)
    await seller.end('SIGKILL')
    const secret = toHex(payment.secret)
    const first = await settleBy(KEYS.settler, payment, secret)
    expect(first.body).toMatchObject({ success: true, extra: { replayed: false } })
    await endMining()
    await daemon.kill()
    await startNode(daemon.dataDir)
    const again = await settleBy(KEYS.settler, payment, secret)
    expect(again.body).toMatchObject({ success: true, extra: { replayed: true } })
  })
})
