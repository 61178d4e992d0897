import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { amount } from '../../../consensus/primitives/amount.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { encodeTabReceipt, tabReceiptsRoot } from '../../../consensus/tx/tab-messages.ts'
import type { ClientOptions } from '../../../rpc/client/client.ts'
import { nativeTabScheme } from '../../../rpc/client/x402.ts'
import { wallet as walletKey } from '../../support/chain.ts'
import { type Answer, type Json, receiptOf } from '../../support/lying-tab-seller.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'
import { serviceId } from '../../support/unsigned.ts'

/** Answers that no honest seller or node gives. */
let world: TabWorld
const servers: Server[] = []
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(async () => {
  for (const server of servers) server.close()
  await world.close()
})
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 400, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** A server that keeps what it was asked. */
async function listener(
  seen: { readonly url: string; readonly headers: IncomingMessage['headers'] }[],
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    seen.push({ url: request.url ?? '', headers: request.headers })
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: 'there is no such service', code: 'service_not_found' }))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A fetch that changes the JSON of answers at some paths. */
function lyingAt(path: RegExp, lie: (body: Json) => Json): typeof fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    if (!path.test(String(input))) return answer
    return new Response(JSON.stringify(lie((await answer.json()) as Json)), { status: answer.status })
  }
}

describe('receipts of a seller', () => {
  it('end, also where each page has nothing and names a next one', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    let pages = 0
    world.mischief.lie = (answer, path) => {
      if (path.endsWith('/receipts')) {
        pages += 1
        return { status: 200, body: { receipts: [null], next: 1_000 + pages } }
      }
      return answer.settled === undefined ? answer : { status: 409, body: { error: 'gone', code: 'result_expired' } }
    }
    const late = new Promise((resolve) => setTimeout(resolve, 8_000, 'still asking'))
    const end = await Promise.race([caught(tab.call(ECHO, 'b')), late])
    world.mischief.lie = (answer, path) =>
      path.endsWith('/receipts') ? { status: 200, body: { receipts: [], next: null } } : answer
    expect(end).not.toBe('still asking')
  })

  it('of calls that were never made do not pass a check', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const ledger = world.seller.ledger(tab.tabId)
    // The seller says that the call failed, leaves room for a receipt before this one, and takes the price by it.
    world.mischief.lie = (answer) => {
      const { receipt } = answer.body as { readonly receipt?: Json }
      if (receipt?.tab === undefined) return answer
      const last = receiptOf(receipt.tab as Json)
      const failed = world.seller.signed({ ...last, n: 3, cumulative: amount(2n * PRICE) })
      const made = world.seller.signed({
        ...last,
        ...{ n: 2, seq: 77, context: 'ee'.repeat(32) as Hash, resultHash: 'dd'.repeat(32) as Hash, outcome: 0 },
        ...{ charged: amount(PRICE), cumulative: amount(2n * PRICE) },
      })
      ledger.receipts.splice(1, 9, made, failed)
      ledger.charged = 2n * PRICE
      return { ...answer, body: { ...answer.body, receipt: { ...receipt, tab: failed } } }
    }
    expect(await caught(tab.call(ECHO, 'fail:1'))).toMatchObject({ name: 'VerificationError' })
    world.calm()
    await world.claim(tab.tabId, {
      root: tabReceiptsRoot(ledger.receipts.map((json) => encodeTabReceipt(receiptOf(json)))),
      services: [{ serviceId: serviceId(ECHO), calls: 2, amount: amount(2n * PRICE) }],
    })
    expect(world.tab(tab.tabId)?.claimed).toBe(2n * PRICE)
    expect((await tab.state()).charged).toBe(PRICE)
    expect(await tab.verifyReceipts()).toMatchObject({ ok: false })
  })

  it('may be many: a tab goes on after 200,000 calls', async () => {
    const tab = await opened()
    const { TabBook } = await import('../../../rpc/client/sdk/tabs/tab-book.ts')
    await tab.call(ECHO, 'a')
    const [one] = await tab.receipts()
    const book = new TabBook()
    for (let n = 1; n <= 200_000; n++) book.file({ ...(one as never as Json), n, seq: n } as never)
    expect(book.receiptsKnown).toBe(200_000)
  })
})

describe('claims', () => {
  it('of millions of receipts do not fill the memory of who checks them', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    for (const total of [2_000_000]) {
      await world.claim(tab.tabId, { receipts: total, failed: total - (world.tab(tab.tabId)?.receipts || 1) })
      expect(world.tab(tab.tabId)?.receipts).toBe(total)
      const checked = await tab.verifyReceipts()
      expect(checked).toMatchObject({ ok: false, failed: ['complete'] })
      expect(checked.missing.length).toBe(100_000)
    }
  })

  it('that a node made up are no evidence against the seller', async () => {
    const lying = lyingAt(/\/claims\?/, (body) => {
      return { ...body, claims: (body.claims as readonly Json[]).map((claim) => ({ ...claim, root: 'ab'.repeat(32) })) }
    })
    const tab = await opened({ fetch: lying })
    await tab.call(ECHO, 'a')
    await world.claim(tab.tabId)
    const checked = await tab.verifyReceipts()
    expect(checked.checks.chain).toBe(false)
    expect(checked.evidence).toBeNull()
    expect((await tab.state()).status).toBe('open')
  })

  it('in endless number give an error of this client', async () => {
    const zeros = Array.from({ length: 300_000 }, () => 0)
    const tab = await opened({ fetch: lyingAt(/\/claims\?/, () => ({ claims: zeros, nextCursor: null })) })
    await tab.call(ECHO, 'a')
    expect(await caught(tab.verifyReceipts())).toMatchObject({ name: 'FarthingError' })
  })
})

describe('numbers', () => {
  it('the seller cannot use up all numbers of calls by its word', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.mischief.lie = (answer, path) => {
      if (!path.endsWith(ECHO) || answer.settled === undefined) return answer
      const told = world.seller.terms(ECHO, 'tab_seq_used', tab.tabId)
      const accepts = (told.body.accepts as readonly Json[]).map((offer) => {
        const extra = offer.extra as Json
        return {
          ...offer,
          extra: { ...extra, channelState: { ...(extra.channelState as Json), nextSeq: 0xffff_ffff } },
        }
      })
      return { ...told, body: { ...told.body, accepts } }
    }
    await caught(tab.call(ECHO, 'b'))
    world.calm()
    await caught(tab.call(ECHO, 'c'))
    const error = await caught(tab.call(ECHO, 'd'))
    expect(error).toBe('no error')
  })
})

describe('a voucher goes to its seller alone', () => {
  it('also where the answer redirects to another origin', async () => {
    const seen: { url: string; headers: IncomingMessage['headers'] }[] = []
    const elsewhere = await listener(seen)
    const front = createServer((request, response) => {
      if (request.headers['payment-signature'] === undefined) {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const type = request.headers['content-type']
          void fetch(`${world.url}${request.url}`, {
            method: request.method ?? 'GET',
            headers: type === undefined ? {} : { 'content-type': type },
            ...(chunks.length === 0 ? {} : { body: new Uint8Array(Buffer.concat(chunks)) }),
          }).then(async (answer) => {
            response.writeHead(answer.status, { 'content-type': 'application/json' })
            response.end(await answer.text())
          })
        })
        return
      }
      request.resume()
      response.writeHead(307, { location: `${elsewhere}${request.url}` })
      response.end()
    })
    servers.push(front)
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    const tab = await opened({ baseUrl: `http://127.0.0.1:${(front.address() as AddressInfo).port}` })
    await caught(tab.call(ECHO, 'a'))
    expect(seen.filter(({ headers }) => headers['payment-signature'] !== undefined)).toEqual([])
  })

  it('also where another client made the call at another server than this node', async () => {
    const seen: { url: string; headers: IncomingMessage['headers'] }[] = []
    const node = await listener(seen)
    // The own node knows the chain; the seller is another server.
    const split: typeof fetch = (input, init) => {
      const url = String(input)
      return url.includes('/api/x402/') ? fetch(url.replace(world.url, node), init) : fetch(input, init)
    }
    const agent = client({ fetch: split })
    const tab = await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    await agent.tabProof(offer, 'at another server')
    expect((await tab.state()).unanswered).toBe(1)
    await caught(tab.resume())
    expect(seen.filter(({ headers }) => headers['payment-signature'] !== undefined)).toEqual([])
    // The seller may have served it: a stranger's word does not change that.
    expect((await tab.state()).unresolved).toBe(PRICE)
  })
})

/** An offer as the official clients hand it to the scheme, after its fetch saw the request. */
async function marked(scheme: ReturnType<typeof nativeTabScheme>, offer: Json, request: string): Promise<never> {
  const base64 = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64')
  const headers = { 'payment-required': base64({ x402Version: 2, accepts: [offer] }) }
  const seller: typeof fetch = async () => new Response('{}', { status: 402, headers })
  const init = { method: 'POST', body: JSON.stringify({ request }) }
  const answer = await scheme.fetch(seller)('http://seller.test/', init)
  const told = Buffer.from(answer.headers.get('payment-required') as string, 'base64').toString()
  return (JSON.parse(told) as { readonly accepts: readonly unknown[] }).accepts[0] as never
}

describe('the scheme for official clients', () => {
  it('takes the request from its fetch, never from an offer', async () => {
    const agent = client()
    await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    const scheme = nativeTabScheme(agent)
    const hostile = { ...offer, extra: { ...(offer.extra as Json), farthingRequest: 'what the seller likes' } }
    expect(await caught(scheme.createPaymentPayload(2, hostile as never))).toMatchObject({ code: 'request_unknown' })
  })

  it('keeps maxAmountPerPayment also where the seller told a higher price since', async () => {
    const agent = client()
    await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const scheme = nativeTabScheme(agent)
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    const named = await marked(scheme, offer, 'x')
    const tab = await agent.tabWith(ACME)
    await tab?.call(ECHO, 'a')
    world.seller.prices.set(ECHO, 240_000n)
    await tab?.call(ECHO, 'b')
    expect(await caught(scheme.createPaymentPayload(2, named, { maxAmountPerPayment: '200000' }))).toMatchObject({
      code: 'over_call_limit',
    })
  })

  it("does not take the seller's word for what a coin is worth", async () => {
    const blind = lyingAt(/services\.json/, () => ({ services: [] }))
    const agent = client({ fetch: blind, maxPerTabCoins: '1', maxPerCallUsd: 0.001 })
    await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const [offer] = world.seller.terms(ECHO, 'payment_required').body.accepts as readonly [Json]
    const dear = { ...offer, amount: '9000000', extra: { ...(offer.extra as Json), priceUsd: 1e-9 } }
    // A single payment of an offer that did not come from the own node is refused with this code.
    expect(await caught(agent.tabProof(dear, 'x'))).toMatchObject({ code: 'price_unknown' })
  })

  it('pays for a long request', async () => {
    const agent = client()
    await agent.openTab(ACME, { deposit: '0.1', term: 1_200 })
    const scheme = nativeTabScheme(agent)
    const told = world.seller.terms(ECHO, 'payment_required')
    const terms = Buffer.from(JSON.stringify({ ...told.body, x402Version: 2 })).toString('base64')
    const seller: typeof fetch = async () => new Response('{}', { status: 402, headers: { 'payment-required': terms } })
    const init = { method: 'POST', body: JSON.stringify({ request: 'x'.repeat(400_000) }) }
    expect(await caught(scheme.fetch(seller)('http://seller.test/', init))).toBe('no error')
  })
})

describe('closing', () => {
  it('a seller that says yes and does nothing does not hold the deposit to the end of the term', async () => {
    const tab = await opened()
    await tab.call(ECHO, 'a')
    world.mischief.lie = (answer): Answer =>
      answer.body.refunded === true || answer.body.code === 'tab_query'
        ? { status: 200, body: { refunded: true }, settled: { success: true, transaction: '', network: 'farthing:1' } }
        : answer
    const sell = world.claim.bind(world)
    world.claim = async () => 'ff'.repeat(32)
    const closing = await tab.close()
    world.claim = sell
    world.calm()
    expect(closing.by).toBe('chain')
    expect((await tab.state()).status).toBe('closing')
  })

  it('asked twice sends one transaction', async () => {
    const tab = await opened()
    await tab.close({ byChain: true })
    const before = world.test.balance(walletKey(1).address)
    await caught(tab.close({ byChain: true }))
    expect(world.test.balance(walletKey(1).address)).toBe(before)
  })
})

describe('honest signatures in the wrong place', () => {
  it('an answer of another call, as a cache or a thief would give it, is no evidence', async () => {
    const tab = await opened()
    let kept: Answer | null = null
    world.mischief.lie = (answer) => {
      if (answer.settled === undefined) return answer
      if (kept === null) kept = answer
      return kept
    }
    await tab.call(ECHO, 'a')
    const error = await caught(tab.call(ECHO, 'b'))
    expect((error as { evidence?: unknown }).evidence ?? null).toBeNull()
    world.calm()
    const again = await caught(tab.call(ECHO, 'c'))
    expect((again as { evidence?: unknown }).evidence ?? null).toBeNull()
  })

  it('a receipt whose time no clock shows is refused', async () => {
    const { readReceipt } = await import('../../../rpc/client/sdk/tabs/tab-receipts.ts')
    const tab = await opened()
    await tab.call(ECHO, 'a')
    const [receipt] = await tab.receipts()
    expect(readReceipt({ ...receipt, timeMs: 9_000_000_000_000_000 })).toBeUndefined()
  })
})

describe('a node that is wrong once', () => {
  it('about the end of a tab does not end it for this client', async () => {
    let lies = false
    const lying: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init)
      if (!lies || !/\/api\/v1\/tabs\/[0-9a-f]{64}$/.test(String(input))) return answer
      const body = (await answer.json()) as { tab: Json }
      return new Response(JSON.stringify({ ...body, tab: { ...body.tab, status: 'ended' } }), { status: answer.status })
    }
    const tab = await opened({ fetch: lying })
    lies = true
    await tab.state()
    lies = false
    expect((await tab.state()).status).toBe('open')
    expect(await caught(tab.call(ECHO, 'a'))).toBe('no error')
  })

  it('about the receipt key does not let others sign receipts', async () => {
    let lies = false
    const lying: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init)
      if (!lies || !/\/api\/v1\/tabs\/[0-9a-f]{64}$/.test(String(input))) return answer
      const body = (await answer.json()) as { tab: Json }
      const receiptKey = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
      return new Response(JSON.stringify({ ...body, tab: { ...body.tab, receiptKey } }), { status: answer.status })
    }
    const tab = await opened({ fetch: lying })
    await tab.call(ECHO, 'a')
    lies = true
    await caught(tab.state())
    expect(await caught(tab.call(ECHO, 'b'))).toBe('no error')
  })
})
