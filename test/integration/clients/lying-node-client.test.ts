import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { COIN } from '../../../config/networks/rules.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type ClientOptions, createClient, memoryJournal } from '../../../rpc/client/client.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { awaitMined } from '../../../rpc/client/sdk/settling.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { HEIGHT, type Json, LyingNode, type Told } from '../../support/lying-node.ts'

const [node, second] = [new LyingNode(), new LyingNode()]
const network = networkFacts(DEVNET)
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))

beforeAll(() => Promise.all([node.open(), second.open()]))
afterAll(() => {
  node.close()
  second.close()
})
beforeEach(() => {
  node.reset()
  second.reset()
})

/** Makes the node quote `amount` base units for a call of five cents, at five cents a coin. It refuses the payment for good. */
function quotes(amount: bigint, extra: Json = {}, body: Json = {}): void {
  const facts = {
    agentId: 'acme',
    serviceId: 'node-x',
    term: 100,
    validUntil: HEIGHT + 30,
    confirmations: 1,
    decimals: 8,
  }
  const option = { ...facts, genesis: network.genesis, priceUsd: 0.05, nativeUsd: 0.05, available: true, ...extra }
  const accepts = [{ scheme: 'native-x402', payTo: 'dfar1acme', maxAmountRequired: amount.toString(), extra: option }]
  node.answers('/api/x402', () =>
    node.sent.length === 0
      ? { status: 402, json: { available: true, requestValid: true, accepts, ...body } }
      : { status: 409, json: { error: 'no', code: 'payment_already_redeemed' } },
  )
}

const agent = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: node.url, wallet, network, settleMs: 0, ...options })
const outcome = (options: Partial<ClientOptions> = {}): Promise<string> =>
  agent(options)
    .call('node-x', 'a text')
    .then(
      () => 'paid',
      (error: { readonly code: string }) => error.code,
    )
const sent = (): number => node.sent.length

describe('a node that lies about money', () => {
  it('is believed the higher of the two prices that it names', async () => {
    quotes(COIN, { priceUsd: 0.01, nativeUsd: 0.2 })
    expect(await outcome()).toBe('over_call_limit')
    quotes(COIN, { priceUsd: 0.2, nativeUsd: 0.01 })
    expect(await outcome()).toBe('over_call_limit')
    expect(sent()).toBe(0)
  })

  it('cannot understate the price in coins', async () => {
    quotes(100n * COIN, { priceUsd: 0.000001, nativeUsd: 0.00000001 })
    expect(await outcome()).toBe('over_call_limit')
    quotes(2n * COIN, { priceUsd: 0.000001, nativeUsd: 0.00000001 })
    expect(await outcome({ maxPerCallCoins: '2' })).toBe('over_call_limit')
    expect(sent()).toBe(0)
  })

  it('is checked against the price of a second node', async () => {
    quotes(COIN)
    second.says('/services.json', { services: [], nativeUsd: 0.25 })
    expect(await outcome({ secondNode: second.url })).toBe('over_call_limit')
    expect(sent()).toBe(0)
    second.says('/services.json', { services: [], nativeUsd: 0.04 })
    expect(await outcome({ secondNode: second.url })).toBe('payment_already_redeemed')
    expect(sent()).toBe(1)
  })

  it('is not paid if the second node does not answer or is on another network', async () => {
    quotes(COIN)
    second.says('/services.json', { services: [], nativeUsd: 0.04 })
    second.status({ genesis: 'ab'.repeat(32) })
    expect(await outcome({ secondNode: second.url })).toBe('other_network')
    expect(await outcome({ secondNode: 'http://127.0.0.1:1' })).toBe('node_unreachable')
    expect(sent()).toBe(0)
  })

  it('is not paid without a dollar price, unless the caller bounded the coins', async () => {
    quotes(COIN, { priceUsd: null, nativeUsd: null })
    expect(await outcome()).toBe('price_unknown')
    expect(await outcome({ maxPerCallCoins: '2' })).toBe('payment_already_redeemed')
    expect(sent()).toBe(1)
  })

  it('is not paid on another network, with another term, too late, or above the fee limit', async () => {
    const odd: readonly (readonly [Json, string])[] = [
      [{ genesis: 'ab'.repeat(32) }, 'other_network'],
      [{ term: 9_600 }, 'bad_terms'],
      [{ term: 101 }, 'bad_terms'],
      [{ validUntil: HEIGHT }, 'bad_terms'],
      [{ validUntil: HEIGHT + 1_000 }, 'bad_terms'],
      [{ serviceId: 'node-y' }, 'no_native_offer'],
      [{ decimals: -1 }, 'no_native_offer'],
    ]
    for (const [extra, code] of odd) {
      quotes(COIN, extra)
      expect(await outcome()).toBe(code)
    }
    quotes(COIN)
    node.says('/api/v1/fees', { suggested: { maxFeeRate: '1000000', tip: '1' } })
    expect(await outcome()).toBe('fee_too_high')
    node.status({ genesis: 'ab'.repeat(32) })
    expect(await outcome()).toBe('other_network')
    expect(sent()).toBe(0)
  })
})

describe('a ceiling of a day', () => {
  it('counts all payments, even more than a journal in memory keeps', async () => {
    const journal = memoryJournal()
    const kept = {
      secret: 's',
      serviceId: 'node-x',
      request: '',
      quoteId: '',
      url: '',
      sender: 'me',
      tx: null,
      validUntil: 0,
    }
    const cost = { amount: 1n, feeMax: 1n, usd: 0.01, state: 'settled' as const, atMs: Date.now() }
    for (let i = 0; i < 10_050; i++) await journal.put({ ...kept, ...cost, txId: `tx ${i}`, nonce: BigInt(i) })
    quotes(COIN)
    expect(await outcome({ journal, maxPerDayUsd: 100.52 })).toBe('over_day_limit')
    expect(sent()).toBe(0)
    expect(await outcome({ journal, maxPerDayUsd: 101 })).toBe('payment_already_redeemed')
  })
})

describe('a node that refuses what it takes', () => {
  it('does not get more than the daily limit', async () => {
    const client = agent({ maxPerDayUsd: 0.12, journal: memoryJournal() })
    node.says('/api/v1/tx', { error: 'no', code: 'mempool_full' }, 400)
    const codes: string[] = []
    for (let nonce = 1; nonce <= 4; nonce++) {
      const account = {
        exists: true,
        balance: '1',
        nonce: String(nonce),
        height: HEIGHT,
        pending: { nextNonce: String(nonce) },
      }
      node.says('/api/v1/accounts', account)
      node.sent.length = 0
      quotes(COIN)
      codes.push(
        await client.call('node-x', 'a text').then(
          () => 'paid',
          (error: { readonly code: string }) => error.code,
        ),
      )
    }
    expect(codes).toEqual(['payment_refused', 'payment_refused', 'over_day_limit', 'over_day_limit'])
  })

  it('does not prevent another try with the same nonce', async () => {
    const client = agent({ maxPerDayUsd: 0.12, journal: memoryJournal() })
    node.says('/api/v1/tx', { error: 'no', code: 'mempool_full' }, 400)
    for (let i = 0; i < 4; i++) {
      node.sent.length = 0
      quotes(COIN)
      await expect(client.call('node-x', 'a text')).rejects.toMatchObject({ code: 'payment_refused' })
    }
  })
})

it('a price that moved since it was quoted is not paid', async () => {
  quotes(COIN)
  const client = agent()
  const quote = await client.quote('node-x', 'a text')
  quotes(COIN + 1n)
  const old = { ...quote, askedAtMs: quote.askedAtMs - 60_000 }
  await expect(client.pay(old)).rejects.toMatchObject({ code: 'price_moved', payment: null })
  expect(sent()).toBe(0)
})

it.each([
  ['unavailable', { available: false, unavailableReason: 'closed' }],
  ['request_unusable', { requestValid: false, requestError: { reason: 'too long' } }],
])('an old quote is not paid where the service is %s by now', async (code, body) => {
  quotes(COIN)
  const client = agent()
  const quote = await client.quote('node-x', 'a text')
  const { accepts } = (await askedNow()) as { readonly accepts: readonly Json[] }
  node.says('/api/x402', { available: true, requestValid: true, ...body, accepts: [], offers: accepts }, 402)
  const old = { ...quote, askedAtMs: quote.askedAtMs - 60_000 }
  await expect(client.pay(old)).rejects.toMatchObject({ code, payment: null })
  expect(sent()).toBe(0)
})

it.each([
  ['unavailable', false, null],
  ['request_unusable', true, { reason: 'too long', example: '10', requestFormat: 'a number' }],
])('an unusable request to a service is %s where it is open: %s', async (code, available, details) => {
  quotes(COIN, available ? {} : { available })
  const { accepts } = (await askedNow()) as { readonly accepts: readonly Json[] }
  const requestError = { reason: 'too long', example: '10', requestFormat: 'a number' }
  const closed = available ? { available } : { available, unavailableReason: 'closed for today' }
  node.says('/api/x402', { ...closed, requestValid: false, requestError, accepts: [], offers: accepts }, 402)
  await expect(agent().call('node-x', 'a text')).rejects.toMatchObject({ code, details })
})

it('the hint of a node is in the error', async () => {
  const details = { serviceId: 'node-y', suggestions: ['node-x'] }
  node.says('/api/x402', { error: 'there is no service node-y here', code: 'service_not_found', details }, 404)
  await expect(agent().quote('node-y')).rejects.toMatchObject({ code: 'service_not_found', details })
})

it.each([undefined, null, 'no', 1, false])('onPay that returns %s prevents the payment', async (said) => {
  quotes(COIN)
  expect(await outcome({ onPay: () => said as boolean })).toBe('declined')
  expect(await outcome({ onPay: async () => said as boolean })).toBe('declined')
  expect(sent()).toBe(0)
  expect(await outcome({ onPay: async () => true })).toBe('payment_already_redeemed')
})

describe('the money', () => {
  const message = async (): Promise<string> => {
    const error = await agent()
      .call('node-x', 'a text')
      .catch((error: Error) => error)
    return (error as Error).message
  }

  it('that a wallet lacks: the error names the address to fund', async () => {
    quotes(COIN)
    node.says('/api/v1/tx', { error: 'the sender has no account', code: 'insufficient_balance' }, 409)
    node.says('/api/v1/accounts', {
      exists: false,
      balance: '0',
      nonce: '0',
      height: HEIGHT,
      pending: { nextNonce: '0' },
    })
    const held = `${wallet.address('devnet')} has 0 FAR, the call takes up to 1\\.\\d+`
    expect(await message()).toMatch(new RegExp(`the sender has no account .*; ${held}: send it coins$`))
  })

  it('of a payment that a closed service does not accept: the error says what happens to it', async () => {
    quotes(COIN)
    const { accepts } = (await askedNow()) as { readonly accepts: readonly Json[] }
    const closed = { status: 503, json: { error: 'node-x is unavailable: closed', code: 'service_unavailable' } }
    const open = { status: 402, json: { available: true, requestValid: true, accepts } }
    node.answers('/api/x402', () => (sent() === 0 ? open : closed))
    const said = await message()
    expect(said).toContain('node-x is unavailable: closed')
    expect(said).toContain('the chain gives back when its term is over')
  })
})

it('an option that is only among the offers is not paid, whatever it claims', async () => {
  quotes(COIN)
  const { accepts } = (await askedNow()) as { readonly accepts: readonly Json[] }
  const shown = { x402Version: 1, accepts: [], offers: accepts }
  node.says('/api/x402', shown, 402)
  expect(await outcome()).toBe('unavailable')
  const page = agent({ journal: memoryJournal() }).wrapFetch()(`${node.url}/api/x402/node-x`)
  await expect(page).rejects.toMatchObject({ code: 'unavailable' })
  expect(sent()).toBe(0)
})

/** The node's answer to an unpaid call. */
async function askedNow(): Promise<unknown> {
  return (await fetch(`${node.url}/api/x402/node-x`)).json()
}

it('a payment that the journal cannot store is not sent', async () => {
  quotes(COIN)
  const journal = { ...memoryJournal(), put: () => Promise.reject(new Error('disk full')) }
  await expect(agent({ journal }).call('node-x', 'a text')).rejects.toMatchObject({ code: 'journal_failed' })
  expect(sent()).toBe(0)
})

it('a call that its own program aborts ends, and is not blamed on the node', async () => {
  const over = new AbortController()
  node.answers('/api/x402', () => {
    over.abort()
    return null
  })
  const quoted = agent({ signal: over.signal }).quote('node-x', 'a text')
  await expect(quoted).rejects.toMatchObject({ code: 'ended', retryable: false, message: 'the client was ended' })
})

it('a journal that cannot be read or written says why, and nothing is paid', async () => {
  quotes(COIN)
  const broken = () => Promise.reject(new Error('the disk is away'))
  for (const part of ['since', 'put'] as const) {
    const journal = { ...memoryJournal(), [part]: broken }
    const failed = { code: 'journal_failed', message: expect.stringContaining('the disk is away') }
    await expect(agent({ journal }).call('node-x', 'a text')).rejects.toMatchObject(failed)
  }
  const journal = { ...memoryJournal(), get: broken }
  await expect(agent({ journal }).resume({ txId: 'ab'.repeat(32) })).rejects.toMatchObject({ code: 'journal_failed' })
  // A payment that is passed in whole can be resumed without the journal.
  const whole = { txId: 'ab'.repeat(32), secret: 'cd'.repeat(32), serviceId: 'node-x', request: 'a text' }
  await expect(agent({ journal }).resume(whole)).rejects.toMatchObject({ code: expect.not.stringMatching('journal') })
  expect(sent()).toBe(0)
})

it('a payment that was being sent as its program ended may have arrived: it is unfinished, not refused', async () => {
  quotes(COIN)
  const over = new AbortController()
  node.answers('/api/v1/tx', () => {
    over.abort()
    return null
  })
  const journal = memoryJournal()
  const called = agent({ journal, signal: over.signal }).call('node-x', 'a text')
  await expect(called).rejects.toMatchObject({ code: 'interrupted', payment: { txId: expect.any(String) } })
  expect(sent()).toBe(1)
  expect(await agent({ journal }).unfinished()).toHaveLength(1)
})

describe('a resumed payment that its seller does not find', () => {
  /** Last height at which it can be mined, and the height from which it is given up. */
  const LAST = HEIGHT + 30
  const BURIED = LAST + 6
  const payment = { txId: 'ab'.repeat(32), secret: 'cd'.repeat(32), serviceId: 'node-x', request: 'a text' }
  const unknown: Told = { status: 200, json: { status: 'unknown', confirmations: 0 } }

  /** Resumes while the chain is at `height` and the node says `told` of the transaction. */
  async function resumed(
    height: number,
    told = unknown,
    given: object = { validUntil: LAST },
    more: Json = {},
  ): Promise<string> {
    node.status({ height, ...more })
    node.says('/api/x402', { error: 'no such transaction', code: 'payment_not_found' }, 402)
    node.answers('/api/v1/tx/', () => told)
    return agent({ settleMs: 500 })
      .resume({ ...payment, ...given })
      .then(
        () => 'paid',
        (error: { readonly code: string }) => error.code,
      )
  }

  it('is void once blocks lie on the last one that could have it', async () => {
    expect(await resumed(BURIED)).toBe('payment_void')
  })

  it('is not void while that block could still be replaced', async () => {
    expect(await resumed(LAST + 1)).toBe('interrupted')
    expect(await resumed(BURIED - 1)).toBe('interrupted')
  })

  it.each([undefined, null, Number.NaN, 0, -1])(
    'is not void while its last height is not known: %s',
    async (validUntil) => {
      expect(await resumed(BURIED, unknown, { validUntil })).toBe('interrupted')
    },
  )

  it('is not void by a node that began from a snapshot which may hold it', async () => {
    const [late, sent] = [1_000, 800]
    const from = (executedFrom: number): Told => ({ status: 200, json: { status: 'unknown', executedFrom } })
    expect(await resumed(late + 6, from(sent + 1), { validUntil: late })).toBe('interrupted')
    expect(await resumed(late + 6, from(sent), { validUntil: late })).toBe('payment_void')
    expect(await resumed(BURIED, from(0))).toBe('payment_void')
  })

  it('is not void by a node of another network', async () => {
    expect(await resumed(BURIED, unknown, { validUntil: LAST }, { genesis: 'ab'.repeat(32) })).toBe('interrupted')
  })

  it('is not void by a node that looked at too few blocks, whatever the height of another one behind its address', async () => {
    const to = (executedTo: number): Told => ({ status: 200, json: { status: 'unknown', executedTo } })
    expect(await resumed(BURIED, to(BURIED - 1))).toBe('interrupted')
    expect(await resumed(BURIED, to(BURIED))).toBe('payment_void')
  })

  it.each(['payment_void', 'payment_refused'])('is not given up because its seller says %s', async (code) => {
    node.says('/api/x402', { error: 'pay again', code }, 402)
    const answer = agent().resume({ ...payment, validUntil: LAST })
    await expect(answer).rejects.toMatchObject({ code: 'http_402' })
  })

  it('is not given up because it failed in a block that may still be replaced', async () => {
    const failed = (confirmations: number): Told => ({
      status: 200,
      json: { status: 'mined', confirmations, receipt: { success: false } },
    })
    node.says('/api/x402', { error: 'it failed', code: 'payment_failed' }, 402)
    const resume = () => agent({ settleMs: 500 }).resume({ ...payment, validUntil: LAST })
    node.answers('/api/v1/tx/', () => failed(5))
    await expect(resume()).rejects.toMatchObject({ code: 'interrupted' })
    node.answers('/api/v1/tx/', () => failed(6))
    await expect(resume()).rejects.toMatchObject({ code: 'payment_failed' })
  })

  it('is not void if that block took it between two questions', async () => {
    let height = LAST
    node.says('/api/x402', { error: 'no such transaction', code: 'payment_not_found' }, 402)
    node.answers('/api/v1/tx/', () => {
      const isMined = height > LAST
      height = BURIED
      node.status({ height })
      return isMined ? { status: 200, json: { status: 'mined', confirmations: 7, height: LAST } } : unknown
    })
    const answer = agent({ settleMs: 500 }).resume({ ...payment, validUntil: LAST })
    await expect(answer).rejects.toMatchObject({ code: 'interrupted' })
  })
})

it('a payment that a node calls mined already has arrived, so the call goes on', async () => {
  quotes(COIN)
  node.says('/api/v1/tx', { error: 'the transaction is mined already', code: 'transaction_mined' }, 409)
  const journal = memoryJournal()
  await expect(agent({ journal }).call('node-x', 'a text')).rejects.toMatchObject({ code: 'payment_already_redeemed' })
  expect(sent()).toBe(1)
})

describe('a payment that failed in its block', () => {
  const payment = { txId: 'ab'.repeat(32), secret: 'cd'.repeat(32), serviceId: 'node-x', request: 'a text' }
  const whole = { ...payment, quoteId: '', amount: 1n, tx: null, validUntil: HEIGHT + 30 }

  /** How a wait for two confirmations ends if the node tells of the transaction what is given, in order; the last one repeats. */
  function awaited(...told: readonly Json[]): Promise<string> {
    let asked = 0
    node.answers('/api/v1/tx/', () => ({
      status: 200,
      json: { status: 'mined', ...told[Math.min(asked++, told.length - 1)] },
    }))
    const place = { client: new NodeClient(node.url), transport: {}, genesis: network.genesis }
    return awaitMined(place, whole, { untilMs: Date.now() + 1_000, confirmations: 2 }).then(
      () => 'good',
      (error: { readonly code: string }) => error.code,
    )
  }
  const [failed, good] = [{ receipt: { success: false } }, { receipt: { success: true } }]

  it('is not given up while the block may still be replaced', async () => {
    expect(await awaited({ ...failed, confirmations: 5 }, { ...good, confirmations: 2 })).toBe('good')
    expect(await awaited({ ...failed, confirmations: 5 })).toBe('interrupted')
  })

  it('is given up once blocks lie on it', async () => {
    expect(await awaited({ ...failed, confirmations: 1 }, { ...failed, confirmations: 6 })).toBe('payment_failed')
  })
})
