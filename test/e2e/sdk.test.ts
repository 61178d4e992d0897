import { beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { requestHash } from '../../consensus/tx/request-hash.ts'
import {
  type AgentClient,
  type AllowList,
  type ClientOptions,
  createClient,
  fileJournal,
  InterruptedPaymentError,
  memoryJournal,
  PaymentMismatchError,
  PaymentRequiredError,
  RefundedError,
  ServiceUnavailableError,
  SpendLimitError,
} from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { Caller, marketOpen, runsIn } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { fastDevnet } from '../support/network.ts'

/** Hashes that each of the first blocks costs: few, but enough that a term does not end while a test looks. */
const HASHES = 300n
const workshop = new Workshop()
const runsFile = workshop.path('runs')
/** The node's network: by its faster blocks it differs from the devnet. */
const network = networkFacts(fastDevnet(HASHES))
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))
let daemon: RunningDaemon

beforeAll(async () => {
  const env = { TEST_FAST_BLOCKS: String(HASHES), TEST_RUNS_FILE: runsFile }
  daemon = await workshop.start(workshop.folder(), { env })
  await marketOpen(daemon.url)
})

const client = (options: Partial<ClientOptions> = {}): AgentClient =>
  createClient({ baseUrl: daemon.url, wallet, network, ...options })
const ran = (serviceId: string, request: string): number => runsIn(runsFile).get(`${serviceId} ${request}`) ?? 0
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
const paidTotal = (): Promise<bigint> => new Caller(daemon.url, 1).balance()

describe('the five-line call', () => {
  it('quotes, pays, settles and verifies', async () => {
    const agent = createClient({ baseUrl: daemon.url, wallet, network, maxPerCallUsd: 0.05, maxPerDayUsd: 1 })
    const { result, receipt, verified, payment } = await agent.call<{ echo: string }>('node-test-once', 'slow:1')
    expect(result).toEqual({ echo: 'slow:1' })
    expect(verified).toMatchObject({ ok: true, failed: [] })
    expect(receipt).toMatchObject({ txId: payment.txId, caller: wallet.address('devnet'), serviceId: 'node-test-once' })
    expect(await agent.verifyReceipt(receipt, result)).toMatchObject({ ok: true })
    expect(await agent.verifyReceipt(receipt, { echo: 'else' })).toMatchObject({ ok: false, failed: ['resultHash'] })
    const another = { ...receipt, requestHash: 'ab'.repeat(32) }
    expect(await agent.verifyReceipt(another, result)).toMatchObject({ ok: false, failed: ['requestHash'] })
    expect((await agent.receipt(payment.txId)).serviceId).toBe('node-test-once')
    expect(ran('node-test-once', 'slow:1')).toBe(1)
  })

  it('compares the header with that of a second node', async () => {
    const { receipt, result, payment } = await client({ secondNode: daemon.url }).call('node-test-once', 'slow:2')
    const elsewhere = client({ secondNode: 'http://127.0.0.1:1' })
    expect(await elsewhere.verifyReceipt(receipt, result, payment)).toMatchObject({ ok: false, failed: ['secondNode'] })
  })

  it('goes on side by side, each call with a payment of its own', async () => {
    const agent = client()
    const texts = ['slow:3', 'slow:4', 'slow:5']
    const answers = await Promise.all(texts.map((text) => agent.call<{ echo: string }>('node-test-once', text)))
    expect(answers.map(({ result }) => result.echo)).toEqual(texts)
    expect(new Set(answers.map(({ payment }) => payment.txId)).size).toBe(3)
  })

  it('lists services by capability and word', async () => {
    const services = await client().services({ capability: 'utility', q: 'test' })
    expect(services.map(({ serviceId }) => serviceId)).toContain('node-test-once')
    expect(services.every(({ capability }) => capability === 'utility')).toBe(true)
  })
})

describe('guards', () => {
  it('refuse before anything is signed, and no coin moves', async () => {
    const before = await paidTotal()
    const cases: readonly (readonly [Partial<ClientOptions>, unknown, string])[] = [
      [{ maxPerCallUsd: 0.001 }, SpendLimitError, 'over_call_limit'],
      [{ maxPerCallCoins: '0.001' }, SpendLimitError, 'over_call_limit'],
      [{ maxPerDayUsd: 0.001 }, SpendLimitError, 'over_day_limit'],
      [{ maxPerDayCoins: '0.001' }, SpendLimitError, 'over_day_limit'],
      [{ maxFee: '0.0000001' }, SpendLimitError, 'fee_too_high'],
      [{ allow: { agents: ['nobody'] } }, SpendLimitError, 'not_allowed'],
      [{ allow: { payTo: [wallet.address('devnet')] } }, SpendLimitError, 'not_allowed'],
      [{ allow: { payTo: ['another'] } }, SpendLimitError, 'not_allowed'],
      [{ secondNode: 'http://127.0.0.1:1' }, ServiceUnavailableError, 'node_unreachable'],
      [{ onPay: () => false }, SpendLimitError, 'declined'],
      [{ onPay: async () => false }, SpendLimitError, 'declined'],
      [{ dryRun: true }, PaymentRequiredError, 'dry_run'],
      [{ network: 'mainnet' }, PaymentMismatchError, 'other_network'],
    ]
    for (const [options, kind, code] of cases) {
      const error = await caught(client(options).call('node-test-once', 'guarded'))
      expect(error).toBeInstanceOf(kind)
      expect(error).toMatchObject({ code, payment: null })
    }
    const readOnly = createClient({ baseUrl: daemon.url, network })
    expect(await caught(readOnly.call('node-test-once', 'guarded'))).toMatchObject({ code: 'no_wallet' })
    expect(await paidTotal()).toBe(before)
    expect(ran('node-test-once', 'guarded')).toBe(0)
  })

  it('let an agent pass by its id alone, and name the list that does not have it', async () => {
    const { agentId, payTo } = await client().quote('node-test-once', 'slow:13')
    const byId = client({ allow: { payTo: [agentId] } })
    expect((await byId.call('node-test-once', 'slow:13')).result).toEqual({ echo: 'slow:13' })
    const said = async (allow: AllowList): Promise<unknown> =>
      caught(client({ allow }).call('node-test-once', 'guarded'))
    expect(await said({ agents: ['another'] })).toMatchObject({
      message: `not paid: allow.agents does not list ${agentId}`,
    })
    expect(await said({ payTo: ['another'] })).toMatchObject({
      message: `not paid: allow.payTo does not list ${payTo} or ${agentId}`,
    })
  })

  it('refuse a service that is unavailable and a request that is unusable', async () => {
    expect(await caught(client().call('node-test-closed', 'ok'))).toMatchObject({ code: 'unavailable' })
    expect(await caught(client().call('node-test-once', 'refuse'))).toMatchObject({ code: 'request_unusable' })
    expect(await caught(client().call('node-no-such', 'ok'))).toMatchObject({ code: 'service_not_found', status: 404 })
  })

  it('pay a quote once, also where two clients share a journal', async () => {
    const journal = memoryJournal()
    const [agent, other] = [client({ journal }), client({ journal })]
    const quote = await agent.quote('node-test-once', 'slow:6')
    const payment = await agent.pay(quote)
    const code = 'quote_already_paid'
    expect(await caught(agent.pay(quote))).toMatchObject({ code, payment: { txId: payment.txId } })
    expect(await caught(other.pay(quote))).toMatchObject({ code, payment: { txId: payment.txId } })
    expect((await agent.settle(quote, payment)).result).toEqual({ echo: 'slow:6' })
  })

  it('count a day over restarts where the journal is kept', async () => {
    const folder = workshop.folder()
    const options = { maxPerDayUsd: 0.004 }
    await client({ ...options, journal: fileJournal(folder) }).call('node-test-once', 'slow:7')
    const error = await caught(client({ ...options, journal: fileJournal(folder) }).call('node-test-once', 'slow:8'))
    expect(error).toMatchObject({ code: 'over_day_limit' })
    expect(ran('node-test-once', 'slow:8')).toBe(0)
  })
})

describe('errors', () => {
  it('say that the money goes back where the service failed', async () => {
    const error = await caught(client().call('node-test-once', 'fail'))
    expect(error).toBeInstanceOf(RefundedError)
    expect(error).toMatchObject({ refund: { to: wallet.address('devnet') }, payment: { serviceId: 'node-test-once' } })
    expect(String(error)).toMatch(/\. The payment goes back to its payer on chain: see refund\. The refund is \w+\.$/)
  })

  it('carry the payment where no answer came in time, and resuming finishes it', async () => {
    const journal = memoryJournal()
    const impatient = client({ journal, settleMs: 0, fetch: deafTo('slow:9') })
    const error = await caught(impatient.call('node-test-once', 'slow:9'))
    expect(error).toBeInstanceOf(InterruptedPaymentError)
    const { payment } = error as InterruptedPaymentError
    expect(await impatient.unfinished()).toMatchObject([{ txId: payment.txId }])
    // As another process would: without journal and wallet, only with the error's payment.
    const { txId, secret, serviceId, request } = payment
    const finished = await createClient({ baseUrl: daemon.url, network }).resume({ txId, secret, serviceId, request })
    expect(finished.result).toEqual({ echo: 'slow:9' })
    expect((await client({ journal }).resume({ txId })).result).toEqual({ echo: 'slow:9' })
    expect(await client({ journal }).unfinished()).toEqual([])
    expect(ran('node-test-once', 'slow:9')).toBe(1)
  })
})

describe('an operator that works for another request than was paid', () => {
  it('does not verify: the receipt names what it worked for', async () => {
    // The answer's receipt has the hash of a request with one letter changed. Commitment and payment are real.
    const swapped: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const text = await response.text()
      const { receipt, ...body } = JSON.parse(text) as { readonly receipt?: { readonly serviceId: ServiceId } }
      if (receipt === undefined) return new Response(text, { status: response.status, headers: response.headers })
      const named = { ...receipt, requestHash: requestHash(receipt.serviceId, 'slow:30') }
      return new Response(JSON.stringify({ ...body, receipt: named }), { status: response.status })
    }
    const error = await caught(client({ fetch: swapped }).call('node-test-once', 'slow:31'))
    expect(error).toMatchObject({ code: 'unverified', verified: { ok: false, failed: ['requestHash'] } })
  })
})

/** A fetch that fails whenever it sends one certain request with a payment. */
function deafTo(request: string): typeof fetch {
  return (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    return body.includes('"payment"') && body.includes(request) ? Promise.reject(new Error('cut')) : fetch(input, init)
  }
}

describe('a wrapped fetch', () => {
  for (const carrier of ['header', 'body'] as const)
    it(`pays a 402 within the ceilings, the payment in the ${carrier}`, async () => {
      const request = `slow:1${carrier.length}`
      const paid = client().wrapFetch(fetch, { carrier })
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ request }),
      }
      const response = await paid(`${daemon.url}/api/x402/node-test-once`, init)
      expect(await response.json()).toMatchObject({ paid: true, result: { echo: request } })
      expect(response.status).toBe(200)
      expect(ran('node-test-once', request)).toBe(1)
    })

  it('hands over what needs no payment, and refuses what goes over a ceiling', async () => {
    expect((await client().wrapFetch()(`${daemon.url}/services.json`)).status).toBe(200)
    const poor = client({ maxPerCallUsd: 0.0001 }).wrapFetch()
    const error = await caught(
      poor(`${daemon.url}/api/x402/node-test-once`, {
        method: 'POST',
        body: '{"request":"ok"}',
        headers: { 'content-type': 'application/json' },
      }),
    )
    expect(error).toBeInstanceOf(SpendLimitError)
  })
})

describe('events', () => {
  it('come as they happen, and go on behind the last one after the connection ended', async () => {
    const agent = client()
    const over = new AbortController()
    const [first] = await takeEvents(agent.events({ types: ['block'], signal: over.signal }), 1)
    const { payment } = await agent.call('node-test-once', 'slow:20')
    const behind = agent.events({ types: ['receipt'], lastEventId: first?.id ?? '', signal: over.signal })
    for await (const { type, data } of behind)
      if (data.txId === payment.txId) {
        expect(type).toBe('receipt')
        expect(data).toMatchObject({ serviceId: 'node-test-once' })
        break
      }
    // Cut connections are reopened, and no block is missed.
    let opened = 0
    const cutting: typeof fetch = async (input, init) => {
      const cut = new AbortController()
      if (opened++ < 2) setTimeout(() => cut.abort(), 300)
      return fetch(input, { ...init, signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]) })
    }
    const stream = client({ fetch: cutting }).events({ types: ['block'], signal: over.signal })
    const heights: number[] = []
    for await (const { data } of stream) {
      heights.push(data.height as number)
      if (opened > 2 && heights.length > 5) break
    }
    over.abort()
    expect(heights).toEqual(heights.map((_, i) => (heights[0] as number) + i))
  })
})

async function takeEvents<T>(stream: AsyncGenerator<T>, count: number): Promise<T[]> {
  const taken: T[] = []
  for await (const event of stream) if (taken.push(event) === count) break
  return taken
}
