import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { COIN } from '../../../config/networks/rules.ts'
import { lockOf, openerOf } from '../../../consensus/tx/redeem-lock.ts'
import { requestCommitment } from '../../../consensus/tx/request-hash.ts'
import { weightOf } from '../../../consensus/tx/weight.ts'
import { askJob } from '../../../rpc/client/mining.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { type ClientQuote, preparePayment, quoteCall, reasonNotToPay, settleCall } from '../../../rpc/client/pay.ts'
import { wallet } from '../../support/chain.ts'
import { filled } from '../../support/unsigned.ts'

const SERVICE = 'node-tx-lookup'
const HEIGHT = 100
const SECRET = new Uint8Array(32).fill(3)
const TX_RULES = DEVNET.steps[0]!.rules.tx

type Json = Readonly<Record<string, unknown>>

/** Answers of a fake node, by the beginning of a path. The fake node shares no code with the real node's server. */
const answers = new Map<string, { readonly status: number; readonly json: unknown }>()
const calls: string[] = []
let server: Server
let client: NodeClient

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://node')
    const found = [...answers].find(([path]) => pathname.startsWith(path))?.[1]
    calls.push(pathname)
    request.resume()
    response.writeHead(found?.status ?? 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found?.json ?? { error: 'nothing here', code: 'not_found' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  client = new NodeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

beforeEach(() => {
  answers.clear()
  calls.length = 0
  says('/api/v1/accounts', { exists: true, balance: '1', nonce: '1', height: HEIGHT, pending: { nextNonce: '1' } })
  says('/api/v1/status', { networkName: 'devnet', genesis: filled(7), chainId: 1, height: HEIGHT })
  suggests(129n)
})

function says(path: string, json: unknown, status = 200): void {
  answers.set(path, { status, json })
}

function suggests(maxFeeRate: bigint): void {
  says('/api/v1/fees', { suggested: { maxFeeRate: maxFeeRate.toString(), tip: '1' } })
}

/** A 402 body with a native offer. `extra` and `body` replace parts of it. */
function quotes(extra: Json = {}, body: Json = {}, offer: Json = {}): void {
  const sound = { agentId: 'acme', serviceId: SERVICE, term: 100, validUntil: HEIGHT + 30, confirmations: 1 }
  const accepts = [{ scheme: 'native-x402', maxAmountRequired: '800000', extra: { ...sound, ...extra }, ...offer }]
  says('/api/x402', { available: true, requestValid: true, accepts, ...body }, 402)
}

async function quote(): Promise<ClientQuote> {
  const quoted = await quoteCall(client, SERVICE, 'a text')
  if (!quoted.ok) throw new Error(JSON.stringify(quoted.fault))
  return quoted.value
}

/** Why the client does not pay a quote with these parts, or null. */
async function reason(extra: Json = {}, body: Json = {}): Promise<string | null> {
  quotes(extra, body)
  return reasonNotToPay(await quote(), DEVNET, HEIGHT)
}

const NOT_UNDERSTOOD = {
  ok: false,
  fault: { code: 'cli/refused', detail: { message: 'the quote has no native offer that this client understands' } },
}

describe('a quote', () => {
  it('that is valid is paid', async () => {
    expect(await reason()).toBeNull()
    expect(await quote()).toMatchObject({ agentId: 'acme', serviceId: SERVICE, amount: 800_000n, term: 100 })
  })

  it('whose native option is closed is not paid, whatever else of the service is open', async () => {
    const closed = { available: false, unavailableReason: 'the settler account cannot pay for receipts' }
    expect(await reason(closed)).toContain('the settler account cannot pay for receipts')
    // As a node shows it: the dollar option can be paid, and the closed native one is among the offers.
    const extra = {
      agentId: 'acme',
      serviceId: SERVICE,
      term: 100,
      validUntil: HEIGHT + 30,
      confirmations: 1,
      ...closed,
    }
    const offers = [{ scheme: 'native-x402', maxAmountRequired: '800000', extra }]
    expect(await reason({}, { accepts: [{ scheme: 'exact' }], offers })).toContain('cannot pay for receipts')
  })

  it('without an offer says why the service is closed', async () => {
    quotes({}, { available: false, unavailableReason: 'the mean price of the last epoch lies outside', accepts: [] })
    expect(await quoteCall(client, SERVICE, 'a text')).toMatchObject({
      fault: { detail: { message: `${SERVICE} is unavailable: the mean price of the last epoch lies outside` } },
    })
  })

  it('for another service is not understood', async () => {
    for (const serviceId of ['node-network-stats', '', undefined, 7, `${SERVICE} `]) {
      quotes({ serviceId })
      expect(await quoteCall(client, SERVICE, 'a text')).toEqual(NOT_UNDERSTOOD)
    }
  })

  it('of an agent with an invalid id is not understood', async () => {
    for (const agentId of ['', 'A', 'a/b', 'a'.repeat(200), null, 7]) {
      quotes({ agentId })
      expect(await quoteCall(client, SERVICE, 'a text')).toEqual(NOT_UNDERSTOOD)
    }
  })

  it('of an invalid amount is not understood', async () => {
    for (const maxAmountRequired of ['0', '-1', '1.5', '1e9', '0x10', ' 1', '', '9'.repeat(40), undefined, null]) {
      quotes({}, {}, { maxAmountRequired })
      expect(await quoteCall(client, SERVICE, 'a text')).toEqual(NOT_UNDERSTOOD)
    }
  })

  it('with invalid numbers is not understood', async () => {
    for (const value of ['100', 1.5, -1, null, 2 ** 53, undefined, [100]]) {
      for (const name of ['term', 'validUntil', 'confirmations']) {
        quotes({ [name]: value })
        expect(await quoteCall(client, SERVICE, 'a text')).toEqual(NOT_UNDERSTOOD)
      }
    }
  })

  it('without a native offer is not understood', async () => {
    for (const accepts of [[], {}, 'native-x402', null, undefined, [{ scheme: 'exact' }]]) {
      quotes({}, { accepts })
      expect(await quoteCall(client, SERVICE, 'a text')).toEqual(NOT_UNDERSTOOD)
    }
  })

  it('with a term that the chain does not have is not paid', async () => {
    for (const term of [0, 99, 101, 9_601, 1_000_000]) {
      expect(await reason({ term })).toBe(`the quote wants a term of ${term} blocks, which the chain does not have`)
    }
    for (const term of [100, 400]) expect(await reason({ term })).toBeNull()
  })

  it('that would lock the payment for longer than its confirmations and the work need is not paid', async () => {
    for (const [confirmations, term] of [
      [1, 1_200],
      [1, 9_600],
      [40, 9_600],
      [420, 9_600],
      [9_500, 9_600],
    ]) {
      expect(await reason({ confirmations, term })).toBe(`the quote would lock the payment for ${term} blocks`)
    }
    for (const [confirmations, term] of [
      [40, 400],
      [420, 1_200],
      [1_100, 9_600],
    ]) {
      expect(await reason({ confirmations, term })).toBeNull()
    }
  })

  it('that expires in the past, or later than in two epochs, is not paid', async () => {
    for (const validUntil of [0, HEIGHT - 1, HEIGHT, HEIGHT + 41, HEIGHT + 100_000]) {
      expect(await reason({ validUntil })).toBe(
        `the quote is honoured to height ${validUntil}, the node is at ${HEIGHT}`,
      )
    }
    for (const validUntil of [HEIGHT + 1, HEIGHT + 20, HEIGHT + 40]) expect(await reason({ validUntil })).toBeNull()
  })

  /** A value that is no text and cannot be converted to one. */
  const ODD = { toString: 1, valueOf: 1 }

  it('with garbage in any place is refused and never throws', async () => {
    for (const [extra, body, offer, status] of [
      [{}, { accepts: [null] }, {}, 402],
      [{}, {}, { maxAmountRequired: ODD }, 402],
      [{}, {}, { extra: null }, 402],
      [{}, { error: ODD, code: ODD }, {}, 404],
      [{}, { error: 'x', details: { suggestions: [ODD] } }, {}, 404],
      [{}, { error: 'x', details: null }, {}, 404],
    ] as const) {
      quotes(extra, body, offer)
      says('/api/x402', answers.get('/api/x402')?.json, status)
      expect(await quoteCall(client, SERVICE, 'a text')).toMatchObject({ ok: false, fault: { code: 'cli/refused' } })
    }
    expect(await reason({}, { requestValid: false, requestError: { reason: ODD } })).toBe(
      'the request is unusable: unknown',
    )
    expect(await reason({}, { available: false, unavailableReason: ODD })).toMatch(/no reason given$/)
  })

  it('for an unavailable service is not paid', async () => {
    const because = `${SERVICE} is unavailable: its provider is down`
    expect(await reason({}, { available: false, unavailableReason: 'its provider is down' })).toBe(because)
    expect(await reason({}, { available: false })).toBe(`${SERVICE} is unavailable: no reason given`)
    expect(await reason({}, { available: 'yes' })).not.toBeNull()
    expect(await reason({}, { available: undefined })).not.toBeNull()
  })

  it('for a request that the service cannot use is not paid', async () => {
    const body = { requestValid: false, requestError: { reason: 'it is no transaction id' } }
    expect(await reason({}, body)).toBe('the request is unusable: it is no transaction id')
    expect(await reason({}, { requestValid: false })).toBe('the request is unusable: unknown')
  })

  it('with another status than 402 is reported as the node says it', async () => {
    says('/api/x402', { error: 'there is no service', code: 'service_not_found' }, 404)
    expect(await quoteCall(client, SERVICE, 'a text')).toEqual({
      ok: false,
      fault: { code: 'cli/refused', detail: { message: 'there is no service (service_not_found)' } },
    })
  })
})

describe('a payment', () => {
  const prepare = async (feeMax?: bigint) => {
    quotes()
    const offer = { quote: await quote(), request: 'a text', secret: SECRET }
    return preparePayment(client, DEVNET, wallet(1), feeMax === undefined ? offer : { ...offer, feeMax })
  }
  const tooHigh = (fee: string, limit: string) => ({
    ok: false,
    fault: { code: 'cli/fee-too-high', detail: { fee, limit } },
  })

  it('is bound to agent, service, request and secret, and to the height of the quote', async () => {
    const payment = await prepare()
    expect(payment).toMatchObject({
      ok: true,
      value: {
        secret: SECRET,
        tx: {
          body: {
            kind: 'agent_invoke',
            validUntil: HEIGHT + 30,
            payload: {
              agentId: 'acme',
              serviceId: SERVICE,
              amount: 800_000n,
              units: 1,
              term: 100,
              redeemLock: lockOf(openerOf(SECRET)),
              requestCommitment: requestCommitment(SECRET, {
                agentId: 'acme' as never,
                serviceId: SERVICE as never,
                request: 'a text',
              }),
            },
          },
        },
      },
    })
  })

  it('costs a tenth of a coin in fees at most, unless its sender allows more', async () => {
    const sound = await prepare()
    const weight = BigInt(weightOf((sound.ok && sound.value.tx) as never, TX_RULES))
    const most = COIN / 10n / weight
    suggests(most)
    expect(await prepare()).toMatchObject({ ok: true, value: { tx: { body: { maxFeeRate: most } } } })
    suggests(most + 1n)
    expect(await prepare()).toMatchObject(tooHigh(expect.any(String) as never, '0.1 FAR'))
    expect(await prepare(COIN)).toMatchObject({ ok: true })
  })

  it('never exceeds what its sender allows, to the base unit', async () => {
    const sound = await prepare()
    const fee = BigInt(weightOf((sound.ok && sound.value.tx) as never, TX_RULES)) * 129n
    expect(await prepare(fee)).toMatchObject({ ok: true })
    expect(await prepare(fee - 1n)).toMatchObject({ ok: false, fault: { code: 'cli/fee-too-high' } })
  })

  it('is not signed at the excessive fees of a node', async () => {
    suggests(20_000_000_000n)
    const payment = await prepare()
    expect(payment).toMatchObject({ ok: false, fault: { code: 'cli/fee-too-high' } })
    // The client refused; the node never got the transaction.
    expect(calls).not.toContain('/api/v1/tx')
  })
})

describe('a paid call', () => {
  const call = { serviceId: SERVICE, request: 'a text', txId: filled(9), secret: SECRET }
  /** Settles the payment. Each wait moves the clock on, until the client gives up. */
  async function settle(waits: number) {
    let nowMs = 0
    const pause = async (ms: number): Promise<void> => {
      nowMs += ms
    }
    const answer = await settleCall(client, call, { untilMs: waits * 1_000, now: () => nowMs, pause })
    return { answer, offers: calls.filter((path) => path.startsWith('/api/x402')).length }
  }

  for (const [status, body, offers] of [
    [402, { code: 'payment_unconfirmed' }, 4],
    [402, { code: 'payment_not_found' }, 4],
    [503, { code: 'node_busy' }, 4],
    [429, { code: 'rate_limited' }, 4],
    [200, { paid: true }, 1],
    [402, { code: 'payment_mismatch' }, 1],
    [503, { code: 'service_unavailable', refund: { status: 'pending' } }, 1],
    [502, { code: 'upstream_failed', refund: { status: 'pending' } }, 1],
    [409, { code: 'payment_already_redeemed' }, 1],
    [500, { code: 'internal' }, 1],
  ] as const) {
    it(`is offered ${offers === 1 ? 'once' : 'again and again'} where the node says ${status} ${JSON.stringify(body)}`, async () => {
      says('/api/x402', body, status)
      expect(await settle(3)).toEqual({ answer: { ok: true, value: { status, body } }, offers })
    })
  }
})

describe('a node that answers garbage while a payment is made', () => {
  const account = { exists: true, balance: '1', nonce: '1', height: 1 }
  const status = { networkName: 'x', genesis: filled(7), chainId: 1, height: 1 }

  it.each<readonly [string, Json]>([
    ['/api/v1/accounts', { ...account, pending: { nextNonce: 'abc' } }],
    ['/api/v1/accounts', { ...account, pending: { nextNonce: '-1' } }],
    ['/api/v1/accounts', { ...account, pending: null }],
    ['/api/v1/fees', { suggested: { maxFeeRate: 'x', tip: '1' } }],
    ['/api/v1/fees', { suggested: { maxFeeRate: '-5', tip: '1' } }],
    ['/api/v1/fees', { suggested: { maxFeeRate: '129', tip: '9'.repeat(26) } }],
    ['/api/v1/fees', { suggested: null }],
    ['/api/v1/status', { ...status, chainId: undefined }],
    ['/api/v1/status', { ...status, genesis: 'xyz' }],
    ['/api/v1/status', { ...status, genesis: null }],
  ])('%s %j is refused', async (path, json) => {
    quotes()
    const offer = { quote: await quote(), request: 'a text', secret: SECRET }
    says(path, json)
    const message = expect.stringMatching(new RegExp(`^its answer at ${path}.* is not what this client understands$`))
    const fault = { code: 'cli/refused', detail: { message } }
    expect(await preparePayment(client, DEVNET, wallet(1), offer)).toEqual({ ok: false, fault })
  })
})

it('a node that is suddenly on another network gets no signature for that network', async () => {
  quotes()
  const offer = { quote: await quote(), request: 'a text', secret: SECRET }
  const meant = { ...offer, genesis: filled(7) }
  expect(await preparePayment(client, DEVNET, wallet(1), meant)).toMatchObject({ ok: true })
  says('/api/v1/status', { networkName: 'devnet', genesis: filled(8), chainId: 1, height: HEIGHT })
  const message = 'the node is on another network than devnet'
  const fault = { code: 'cli/refused', detail: { message } }
  expect(await preparePayment(client, DEVNET, wallet(1), meant)).toEqual({ ok: false, fault })
})

describe('a node that gives a job to mine', () => {
  it.each(['header', 'powInput'])(
    'is refused where its %s has more digits than a search of text can bear',
    async (name) => {
      const job = { jobId: '01'.repeat(16), height: HEIGHT, parent: filled(2), [name]: 'ab'.repeat(9_000_000) }
      says('/api/v1/mining/template', job)
      expect(await askJob(client.baseUrl, { address: wallet(1).address, text: 'an address' })).toMatchObject({
        ok: false,
        fault: { code: 'cli/refused' },
      })
    },
  )
})
