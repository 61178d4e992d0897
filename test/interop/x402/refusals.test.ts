import { randomBytes } from 'node:crypto'
import { type Hex, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { CallView, Reply } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { askRaw } from '../../support/raw-http.ts'
import { type Authorization, authorization, mirrored, nowSeconds, type Signed, sign } from '../evm/authorization.ts'
import {
  carried,
  type DollarOffer,
  dollarOffer,
  type Generation,
  HEADERS,
  type PaymentObject,
  paymentObject,
  signOffer,
} from './payments.ts'
import { PRICE, PURSE, Shop } from './shop.ts'

const workshop = new Workshop()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
})
afterEach(() => shop.facilitator.reset())
afterAll(() => shop?.close())

type Payer = Awaited<ReturnType<Shop['chain']['payer']>>

/** The material of a case. */
interface Place {
  readonly generation: Generation
  readonly offer: DollarOffer
  readonly payer: Payer
  /** A valid payment, to be spoilt. */
  readonly signed: Signed
  readonly good: PaymentObject
}

/** Makes a payment that must be refused: an object for the header, or the header's text. */
type Spoil = (place: Place) => unknown

const ELSEWHERE: Hex = '0x00000000000000000000000000000000000000ee'
const OTHER_TOKEN: Hex = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

/** The same payment over a changed authorization with the payer's valid signature. */
function signedWith(change: Partial<Authorization>): Spoil {
  return async ({ generation, offer, payer }) => paymentObject(generation, offer, await signOffer(payer, offer, change))
}

/** The same signature over a changed authorization. */
function alteredTo(change: Readonly<Record<string, unknown>>): Spoil {
  return ({ generation, offer, signed }) =>
    paymentObject(generation, offer, { ...signed, authorization: { ...signed.authorization, ...change } })
}

/** The value in a spelling that some parsers read as the same number. */
function spelt(value: unknown): Spoil {
  return alteredTo({ value })
}

/** Changes the terms that the client claims to have accepted; generation 1 has scheme and network only. */
function taking(change: Readonly<Record<string, unknown>>): Spoil {
  return ({ generation, offer, signed }) => paymentObject(generation, { ...offer, ...change } as DollarOffer, signed)
}

function withSignature(signature: (good: Hex) => unknown): Spoil {
  return ({ generation, offer, signed }) =>
    paymentObject(generation, offer, { ...signed, signature: signature(signed.signature) })
}

function inDomain(domain: Parameters<typeof sign>[2]): Spoil {
  return async ({ generation, offer, payer, signed }) =>
    paymentObject(generation, offer, await sign(payer, signed.authorization, domain))
}

const text = (make: (base64: string) => string): Spoil => {
  return ({ good }) => make(Buffer.from(JSON.stringify(good)).toString('base64'))
}

/** Payments that do not pay for the offer. */
const SPOILT: Readonly<Record<string, Spoil>> = {
  'a unit less than the price': signedWith({ value: (PRICE - 1n).toString() }),
  'a unit more than the price': signedWith({ value: (PRICE + 1n).toString() }),
  'nothing at all': signedWith({ value: '0' }),
  'another payee': signedWith({ to: ELSEWHERE }),
  'another network': ({ generation, offer, signed }) =>
    paymentObject(generation, { ...offer, network: generation === 1 ? 'base' : 'eip155:8453' }, signed),
  'the network in the words of the other generation': ({ generation, offer, signed }) =>
    paymentObject(generation, { ...offer, network: generation === 1 ? 'eip155:84532' : 'base-sepolia' }, signed),
  'a signature for another chain': inDomain({ chainId: 8_453 }),
  'a signature for another token': inDomain({ verifyingContract: OTHER_TOKEN }),
  'a signature under another name': inDomain({ name: 'USD Coin' }),
  'an authorization that has run out': signedWith({ validBefore: String(nowSeconds() - 10) }),
  'an authorization that is about to run out': signedWith({ validBefore: String(nowSeconds() + 3) }),
  'an authorization that is not valid yet': signedWith({ validAfter: String(nowSeconds() + 3_600) }),
  'a price that was changed after signing': alteredTo({ value: (PRICE - 1n).toString() }),
  'a nonce that was changed after signing': alteredTo({ nonce: toHex(new Uint8Array(randomBytes(32))) }),
  'a time that was changed after signing': alteredTo({ validBefore: String(nowSeconds() + 100_000) }),
  'another account as payer': alteredTo({ from: ELSEWHERE }),
  'the value as a number': spelt(Number(PRICE)),
  'the value in hex': spelt(toHex(PRICE)),
  'the value with a space before': spelt(` ${PRICE}`),
  'the value with a space behind': spelt(`${PRICE} `),
  'the value with a plus': spelt(`+${PRICE}`),
  'the value with a zero before': spelt(`0${PRICE}`),
  'the value with a point': spelt(`${PRICE}.0`),
  'the value with an exponent': spelt('2e3'),
  'a value beyond 256 bits': spelt((1n << 256n).toString()),
  'a negative value': spelt(`-${PRICE}`),
  'a value that is null': spelt(null),
  'a value in a list': spelt([PRICE.toString()]),
  'a nonce that is too short': alteredTo({ nonce: '0x12' }),
  'a payer that is no address': alteredTo({ from: 'me' }),
  'a mirrored signature': withSignature(mirrored),
  'a signature of random bytes': withSignature(() => toHex(new Uint8Array(randomBytes(65)))),
  'a signature of zeros': withSignature(() => toHex(new Uint8Array(65))),
  'a signature that is cut': withSignature((good) => good.slice(0, -2)),
  'a signature with a byte more': withSignature((good) => `${good}00`),
  'a signature of half a byte less': withSignature((good) => good.slice(0, -1)),
  'a signature of half a byte more': withSignature((good) => `${good}0`),
  'a signature without end': withSignature((good) => `${good}${'00'.repeat(5_000)}`),
  'a signature that is no hex': withSignature((good) => `0x${'zz'.repeat((good.length - 2) / 2)}`),
  'a signature that is a number': withSignature(() => 7),
  'no signature': withSignature(() => undefined),
  'a scheme that is not offered': taking({ scheme: 'upto' }),
  'an unknown scheme': taking({ scheme: '__proto__' }),
  'no payload': ({ generation, offer }) => paymentObject(generation, offer, undefined),
  'a payload of another transfer method': ({ generation, offer }) =>
    paymentObject(generation, offer, { permit2Authorization: {}, signature: '0x' }),
  'a generation that is not there': ({ good }) => ({ ...good, x402Version: 3 }),
  'a generation in words': ({ good, generation }) => ({ ...good, x402Version: String(generation) }),
  'a list': ({ good }) => [good],
  null: () => 'bnVsbA==',
  'a number': () => 'Nw==',
  'base64 of no JSON': () => Buffer.from('{"x402Version":').toString('base64'),
  'base64 of bytes that are no text': () => Buffer.from([0xff, 0xfe, 0x7b]).toString('base64'),
  'JSON without base64': ({ good }) => JSON.stringify(good),
  'base64 with a character of its own': text((base64) => `${base64.slice(0, 10)}*${base64.slice(11)}`),
  'base64 without its padding': ({ good }) =>
    // A member of the right length gives a padding to leave out.
    padded(good).replace(/=+$/, ''),
  base64url: ({ good }) => Buffer.from(JSON.stringify({ ...good, note: '???>>>' })).toString('base64url'),
  'JSON of great depth': () => Buffer.from('['.repeat(5_000)).toString('base64'),
}

/** Cases of generation 2 only, which echoes the accepted offer. */
const SPOILT_ECHO: Readonly<Record<string, Spoil>> = {
  'an offer in another token': taking({ asset: OTHER_TOKEN }),
  'an offer of less': taking({ amount: '1' }),
  'an offer to another payee': taking({ payTo: ELSEWHERE }),
  'an offer of more time': taking({ maxTimeoutSeconds: 1_000_000 }),
  'an offer in the words of another domain': taking({ extra: { name: 'USD Coin', version: '2' } }),
  'no offer at all': ({ good }) => ({ ...good, accepted: undefined }),
}

function padded(good: PaymentObject): string {
  for (const filler of ['', ' ', '  ']) {
    const base64 = Buffer.from(JSON.stringify({ ...good, filler })).toString('base64')
    if (base64.endsWith('=')) return base64
  }
  throw new Error('one of three lengths needs padding')
}

async function place(generation: Generation): Promise<Place & { readonly request: string }> {
  const request = shop.newRequest()
  const payer = await shop.chain.payer(PURSE)
  const offer = dollarOffer(await shop.quote('node-test-again', request, '?rail=stable'), generation)
  const signed = await signOffer(payer, offer)
  return { generation, offer, payer, signed, good: paymentObject(generation, offer, signed), request }
}

/** Expects that no money moved, no work ran and nothing is owed. */
async function expectUntouched(payer: Payer, request: string, incomeBefore: bigint): Promise<void> {
  expect(await shop.spent(payer)).toBe(0n)
  expect(await shop.income()).toBe(incomeBefore)
  expect(await shop.chain.uses(payer.address)).toEqual([])
  expect(shop.runs({ serviceId: 'node-test-again', request })).toBe(0)
}

function expectQuoted(reply: Reply<CallView>): void {
  expect({ status: reply.status, text: reply.status === 402 ? '' : reply.text }).toEqual({ status: 402, text: '' })
  // A payment of wrong form gets no offers: another payment would not help.
  const accepts = reply.body.code === 'invalid_payment' ? [] : [{ scheme: 'exact' }, { scheme: 'native-x402' }]
  expect(reply.body).toMatchObject({ x402: true, accepts })
  expect(reply.body).not.toHaveProperty('result')
  expect(reply.headers.get('cache-control')).toBe('no-store')
}

describe.each([1, 2] as const)('generation %d', (generation) => {
  const cases = { ...SPOILT, ...(generation === 2 ? SPOILT_ECHO : {}) }
  it.each(Object.entries(cases))('is not paid with %s', async (_, spoil) => {
    const there = await place(generation)
    const { request, payer } = there
    const incomeBefore = await shop.income()
    const headers = carried(generation, await spoil(there))
    expectQuoted(await shop.send({ serviceId: 'node-test-again', request, headers }))
    await expectUntouched(payer, request, incomeBefore)
    expect(shop.facilitator.count('/settle')).toBe(0)
  })

  it('is not paid by a payer without money', async () => {
    const call = await shop.order({ generation, payer: shop.chain.newKey() })
    expectQuoted(await shop.send(call))
    expect(shop.runs(call)).toBe(0)
    expect(shop.facilitator.count('/settle')).toBe(0)
  })

  it('is paid once: a repeat gets no second result and moves nothing', async () => {
    const call = await shop.order({ generation })
    const first = await shop.send(call)
    expect(first).toMatchObject({ status: 200, body: { result: { echo: call.request } } })
    const second = await shop.sendAfterDelivery(call)
    expect(second.status).toBe(409)
    expect(second.body).not.toHaveProperty('result')
    expect(await shop.spent(call.payer)).toBe(PRICE)
    expect(await shop.chain.uses(call.payer.address)).toHaveLength(1)
    expect(shop.runs(call)).toBe(1)
  })

  it('is repeated to who has the key that no chain shows', async () => {
    const call = await shop.order({ generation })
    const key = { 'idempotency-key': `key-${call.request}` }
    const [first, second] = [await shop.send(call, key), await shop.send(call, key)]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replay')).toBe('true')
    expect((await shop.sendAfterDelivery(call)).status).toBe(409)
    expect((await shop.send(call, { 'idempotency-key': 'another' })).status).toBe(409)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('does not pay for another request or service', async () => {
    const call = await shop.order({ generation })
    expect((await shop.send(call)).status).toBe(200)
    const other = { ...call, request: shop.newRequest() }
    const elsewhere = { ...call, serviceId: 'node-test-once' }
    expect((await shop.send(other)).status).toBe(409)
    expect((await shop.send(elsewhere)).status).toBe(409)
    expect([shop.runs(other), shop.runs(elsewhere), shop.runs(call)]).toEqual([0, 0, 1])
    expect(await shop.spent(call.payer)).toBe(PRICE)
  })

  it('is the same payment in the other spelling of its hex, and in the other generation', async () => {
    const call = await shop.order({ generation })
    expect((await shop.send(call)).status).toBe(200)
    const { authorization: said, signature } = call.signed
    const upper = (hex: Hex) => `0x${hex.slice(2).toUpperCase()}` as Hex
    const shouted = { signature: upper(signature), authorization: { ...said, nonce: upper(said.nonce) } }
    const offer = dollarOffer(await shop.quote('node-test-again', call.request, '?rail=stable'), generation)
    const other = generation === 1 ? 2 : 1
    const otherOffer = dollarOffer(await shop.quote('node-test-again', call.request, '?rail=stable'), other)
    const headers = [
      carried(generation, paymentObject(generation, offer, shouted)),
      carried(other, paymentObject(other, otherOffer, call.signed)),
    ]
    await shop.sendAfterDelivery(call)
    for (const again of headers) expect((await shop.send({ ...call, headers: again })).status).toBe(409)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('is not used up by a service that is not there', async () => {
    const call = await shop.order({ generation })
    const nowhere = await shop.send({ ...call, serviceId: 'node-nowhere' })
    expect(nowhere.status).toBe(404)
    expect(await shop.spent(call.payer)).toBe(0n)
    expect((await shop.send(call)).status).toBe(200)
  })

  it('is not used up by a request that the service cannot use', async () => {
    const call = await shop.order({ generation, request: 'refuse' })
    expect((await shop.send(call)).status).toBe(400)
    const usable = { ...call, request: shop.newRequest() }
    expect((await shop.send(usable)).status).toBe(200)
    expect(await shop.spent(call.payer)).toBe(PRICE)
  })

  it('is not charged by a service that is not available', async () => {
    const call = await shop.order({ generation, serviceId: 'node-test-closed' })
    const { status, body } = await shop.send(call)
    expect(status).toBe(503)
    expect(body).toMatchObject({ charged: false })
    expect(await shop.spent(call.payer)).toBe(0n)
  })

  it('is refused where it is larger than any payment', async () => {
    const { good, payer, request } = await place(generation)
    const incomeBefore = await shop.income()
    const large = carried(generation, { ...good, filler: 'x'.repeat(40_000) })
    const body = JSON.stringify({ request })
    const headers = { 'content-type': 'application/json', 'content-length': body.length, ...large }
    const { status } = await askRaw(shop.url, { method: 'POST', path: '/api/x402/node-test-again', headers, body })
    expect(status).toBe(431)
    await expectUntouched(payer, request, incomeBefore)
  })

  it('is refused where the body is larger than any request', async () => {
    const call = await shop.order({ generation })
    const { status } = await shop.send({ ...call, request: 'x'.repeat(3_000_000) })
    expect(status).toBe(413)
    expect(await shop.spent(call.payer)).toBe(0n)
  })
})

describe('a payment in both headers', () => {
  it('is one payment', async () => {
    const call = await shop.order({ generation: 2 })
    const offer = dollarOffer(await shop.quote('node-test-again', call.request, '?rail=stable'), 1)
    const both = { ...call.headers, ...carried(1, paymentObject(1, offer, call.signed)) }
    expect((await shop.send({ ...call, headers: both })).status).toBe(200)
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })

  it('is not two payments where they differ', async () => {
    const payer = await shop.chain.payer(PURSE)
    const first = await shop.order({ generation: 2, payer })
    const second = await shop.order({ generation: 1, payer, request: first.request })
    const { status } = await shop.send({ ...first, headers: { ...first.headers, ...second.headers } })
    expect(status).toBeLessThan(500)
    expect(await shop.spent(payer)).toBe(status === 200 ? PRICE : 0n)
  })

  it('is refused in a header that is empty', async () => {
    const request = shop.newRequest()
    for (const header of Object.values(HEADERS)) {
      const { status } = await shop.send({ serviceId: 'node-test-again', request, headers: { [header]: '' } })
      expect(status).toBe(402)
    }
  })
})

describe('the same payment many times at once', () => {
  it.each([1, 2] as const)('is one run, one settlement and one answer (generation %d)', async (generation) => {
    const call = await shop.order({ generation, request: shop.newRequest('slow:400') })
    const replies = await Promise.all(Array.from({ length: 20 }, () => shop.send(call)))
    expect(replies.map(({ status }) => status)).toEqual(new Array(20).fill(200))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(shop.runs(call)).toBe(1)
    expect(shop.facilitator.count('/settle')).toBe(1)
    expect(await shop.spent(call.payer)).toBe(PRICE)
    expect(await shop.chain.uses(call.payer.address)).toHaveLength(1)
  })

  it('runs nothing for requests that came with it and differ', async () => {
    const call = await shop.order({ request: shop.newRequest('slow:400') })
    const others = Array.from({ length: 10 }, () => ({ ...call, request: shop.newRequest('slow:400') }))
    const replies = await Promise.all([call, ...others].map((one) => shop.send(one)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(10)
    const ran = [call, ...others].reduce((sum, one) => sum + shop.runs(one), 0)
    expect([ran, await shop.spent(call.payer)]).toEqual([1, PRICE])
  })

  it('keeps different payments apart', async () => {
    const calls = await Promise.all(Array.from({ length: 20 }, () => shop.order()))
    const replies = await Promise.all(calls.map((call) => shop.send(call)))
    expect(replies.map(({ status, body }) => ({ status, echo: body.result?.echo }))).toEqual(
      calls.map(({ request }) => ({ status: 200, echo: request })),
    )
    for (const call of calls) expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([PRICE, 1])
  })
})

describe('an authorization that is used up already', () => {
  it('is no payment where the payer took it back', async () => {
    const call = await shop.order()
    await shop.chain.cancel(call.payer, call.signed.authorization.nonce)
    expectQuoted(await shop.send(call))
    expect([await shop.spent(call.payer), shop.runs(call)]).toEqual([0n, 0])
  })

  it('is no payment where the payer spent the money elsewhere', async () => {
    const call = await shop.order()
    const { address } = call.payer
    await shop.chain.carryOut(
      await sign(call.payer, authorization({ from: address, to: ELSEWHERE, value: PURSE.toString() })),
    )
    expectQuoted(await shop.send(call))
    expect(shop.runs(call)).toBe(0)
  })
})
