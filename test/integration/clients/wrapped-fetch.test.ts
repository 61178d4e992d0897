import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, type Dispatcher } from 'undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { createClient, memoryJournal } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { HEIGHT, LyingNode } from '../../support/lying-node.ts'
import { until } from '../../support/processes.ts'

const network = networkFacts(DEVNET)
const wallet = walletFromWords(wordsOfSeed(devSeed(1)))

/** A request that a server got. */
interface Asked {
  readonly method: string
  readonly path: string
  readonly isPaid: boolean
}

type Answering = (asked: Asked, response: ServerResponse) => void

/** A seller's web server that is not a node. */
class Site {
  readonly asked: Asked[] = []
  readonly #server: Server
  answering: Answering = (_, response) => response.end('here')

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const isPaid = body.includes('"secret"') || Object.keys(request.headers).some((name) => name.includes('payment'))
    const asked = { method: request.method ?? '', path: request.url ?? '', isPaid }
    this.asked.push(asked)
    this.answering(asked, response)
  }
}

let node: LyingNode
let shop: Site
let thief: Site
beforeEach(async () => {
  node = new LyingNode()
  shop = new Site()
  thief = new Site()
  await Promise.all([node.open(), shop.open(), thief.open()])
  node.reset()
  node.says('/services.json', { services: [], nativeUsd: 0.01 })
  node.says('/api/v1/tx/', { status: 'mined', confirmations: 9, receipt: { success: true } })
})
afterEach(() => {
  for (const each of [node, shop, thief]) each.close()
})

/** Answers with payment terms of x402 version 1. */
function wantsPayment(response: ServerResponse): void {
  const facts = { agentId: 'acme', serviceId: 'node-x', term: 100, validUntil: HEIGHT + 30, confirmations: 1 }
  const offer = { scheme: 'native-x402', payTo: 'acme', maxAmountRequired: '100', extra: { ...facts, decimals: 8 } }
  response.writeHead(402, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ x402Version: 1, accepts: [offer] }))
}

function leadTo(response: ServerResponse, location: string, status: number): void {
  response.writeHead(status, { location }).end()
}

const paid = (carrier: 'header' | 'body' = 'header', more: object = {}) =>
  createClient({ baseUrl: node.url, network, wallet, journal: memoryJournal(), settleMs: 0, ...more }).wrapFetch(
    fetch,
    {
      carrier,
    },
  )
const POST = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"request":"a"}' }

describe('a seller that redirects a paid request to another origin', () => {
  it.each([
    ['header', 302],
    ['header', 307],
    ['body', 307],
    ['body', 308],
  ] as const)(
    'with the payment in the %s and %i does not show it there; the caller gets the redirect',
    async (carrier, status) => {
      shop.answering = ({ isPaid }, response) => {
        if (isPaid) leadTo(response, `${thief.url}/take`, status)
        else wantsPayment(response)
      }
      const answer = await paid(carrier)(`${shop.url}/page`, POST)
      expect([answer.status, answer.headers.get('location')]).toEqual([status, `${thief.url}/take`])
      expect([node.sent.length, thief.asked]).toEqual([1, []])
    },
  )
})

describe('a request that is redirected to another origin', () => {
  it('is not paid there', async () => {
    shop.answering = (_, response) => leadTo(response, `${thief.url}/page`, 307)
    thief.answering = (_, response) => wantsPayment(response)
    const answer = await paid()(`${shop.url}/page`, POST)
    expect([answer.status, answer.url]).toEqual([402, `${thief.url}/page`])
    expect([node.sent.length, thief.asked.filter(({ isPaid }) => isPaid)]).toEqual([0, []])
  })
})

describe('a seller that redirects within its origin', () => {
  it.each([
    [308, 'POST'],
    [307, 'POST'],
    [303, 'GET'],
    [301, 'GET'],
  ] as const)('by %i is followed with the payment, as %s', async (status, method) => {
    shop.answering = ({ path, isPaid }, response) => {
      if (path === '/page') leadTo(response, '/page/', status)
      else if (isPaid) response.end('bought')
      else wantsPayment(response)
    }
    const answer = await paid()(`${shop.url}/page`, POST)
    expect([answer.status, await answer.text(), node.sent.length]).toEqual([200, 'bought', 1])
    expect(shop.asked.at(-1)).toEqual({ method, path: '/page/', isPaid: true })
  })

  it('in a circle is given up after a few redirects', async () => {
    shop.answering = ({ isPaid }, response) => {
      if (isPaid) leadTo(response, '/page', 307)
      else wantsPayment(response)
    }
    expect((await paid()(`${shop.url}/page`, POST)).status).toBe(307)
    expect(shop.asked.length).toBeLessThan(10)
  })

  it('is not followed if the caller asked for manual redirects', async () => {
    shop.answering = ({ isPaid }, response) => {
      if (isPaid) leadTo(response, '/page/', 307)
      else wantsPayment(response)
    }
    expect((await paid()(`${shop.url}/page`, { ...POST, redirect: 'manual' })).status).toBe(307)
    expect(shop.asked.map(({ path }) => path)).toEqual(['/page', '/page'])
  })
})

describe('terms in a header, whose body says that the request cannot be used', () => {
  const facts = { agentId: 'acme', serviceId: 'node-x', term: 100, validUntil: HEIGHT + 30, confirmations: 1 }
  const requestError = { reason: 'no such token', example: 'FUSD' }
  it.each([
    [true, 'request_unusable', requestError],
    [false, 'unavailable', null],
  ])('are not paid, the service open or not: %s', async (available, code, details) => {
    const offer = { scheme: 'native-x402', network: 'farthing:1', payTo: 'acme', amount: '100' }
    const terms = { x402Version: 2, accepts: [], offers: [{ ...offer, extra: { ...facts, decimals: 8, available } }] }
    shop.answering = (_, response) => {
      const header = Buffer.from(JSON.stringify(terms)).toString('base64')
      response.writeHead(402, { 'content-type': 'application/json', 'payment-required': header })
      response.end(JSON.stringify({ x402: true, available, requestValid: false, requestError }))
    }
    await expect(paid()(`${shop.url}/page`, POST)).rejects.toMatchObject({ code, details })
    expect(node.sent.length).toBe(0)
  })
})

/** Never answers a paid request. */
const silent: Answering = ({ isPaid }, response) => {
  if (!isPaid) wantsPayment(response)
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

describe.each(['header', 'body'] as const)('a caller who gives a paid request up (%s)', (carrier) => {
  it('is heard at once, even after a garbage collection, and the payment can be resumed', async () => {
    shop.answering = silent
    const giving = new AbortController()
    const request = paid(carrier, { settleMs: 100_000 })(`${shop.url}/page`, { ...POST, signal: giving.signal })
    const failed = expect(request).rejects.toMatchObject({ code: 'interrupted' })
    await until('the payment is shown', () => shop.asked.at(-1)?.isPaid === true)
    collectGarbage()
    giving.abort()
    await failed
    expect(node.sent.length).toBe(1)
  })

  it('before the payment is signed pays nothing', async () => {
    shop.answering = silent
    const giving = new AbortController()
    const onPay = (): boolean => {
      giving.abort(new Error('no longer wanted'))
      return true
    }
    const request = paid(carrier, { onPay })(`${shop.url}/page`, { ...POST, signal: giving.signal })
    await expect(request).rejects.toThrow('no longer wanted')
    expect([node.sent.length, shop.asked.length]).toEqual([0, 1])
  })

  it('has request and payment sent through the dispatcher that it chose', async () => {
    shop.answering = ({ isPaid }, response) => (isPaid ? response.end('bought') : wantsPayment(response))
    const ways: string[] = []
    class Way extends Agent {
      override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
        ways.push(options.path)
        return super.dispatch(options, handler)
      }
    }
    const dispatcher = new Way()
    const answer = await paid(carrier)(`${shop.url}/page`, { ...POST, dispatcher } as RequestInit)
    expect([await answer.text(), ways]).toEqual(['bought', ['/page', '/page']])
    await dispatcher.close()
  })
})
