import { evm, Mppx } from 'mppx/client'
import { validate } from 'mppx/discovery'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask } from '../../support/api.ts'
import { Workshop } from '../../support/daemon.ts'
import { BASE_SEPOLIA } from '../evm/network.ts'
import { decode, type PaidBody } from '../x402/payments.ts'
import { PRICE, PURSE, Shop } from '../x402/shop.ts'

const workshop = new Workshop()
let shop: Shop

beforeAll(async () => {
  shop = await Shop.open(workshop)
})
afterAll(() => shop?.close())

const ONCE = 'node-test-once'
const AGAIN = 'node-test-again'

/** A call with `mppx` as its package ships it. It pays at most `ceiling` units. */
async function asked(
  payer: PrivateKeyAccount,
  path: string,
  { serviceId = ONCE, request = 'ok', ceiling = PRICE.toString() } = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: PaidBody }> {
  const client = Mppx.create({ methods: [evm({ account: payer, maxAtomicAmount: ceiling })], polyfill: false })
  const answer = await client.fetch(shop.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ serviceId, request }),
  })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as PaidBody }
}

const PATHS = ['/api/x402', `/api/x402/${ONCE}`].flatMap((path) =>
  ['', '?rail=stable', '?net=mainnet'].map((query) => path + query),
)

describe('mppx, unmodified', () => {
  it.each(PATHS)('pays a dollar call at %s, and gets result and receipt', async (path) => {
    const payer = await shop.chain.payer(PURSE)
    const request = shop.newRequest()
    const before = await shop.income()
    const { status, headers, body } = await asked(payer, path, { request })
    expect([status, body]).toMatchObject([200, { paid: true, result: { echo: request } }])
    const uses = await shop.chain.uses(payer.address)
    expect(uses).toHaveLength(1)
    const transaction = uses[0]?.transaction
    expect(body.receipt).toMatchObject({
      ...{ serviceId: ONCE, rail: 'stable', caller: payer.address.toLowerCase(), txId: transaction },
      ...{ amount: 0.002, amountBaseUnits: PRICE.toString(), asset: 'USDC', network: BASE_SEPOLIA.word },
    })
    expect(decode(headers.get('payment-response'))).toMatchObject({ success: true, transaction })
    expect([await shop.spent(payer), (await shop.income()) - before]).toEqual([PRICE, PRICE])
    expect(shop.runs({ serviceId: ONCE, request })).toBe(1)
  })

  it.each([
    ['what cannot be bought now', { serviceId: 'node-test-closed' }],
    ['a request that cannot be used', { serviceId: AGAIN, request: 'refuse' }],
    ['a price above its ceiling', { serviceId: AGAIN, ceiling: (PRICE - 1n).toString() }],
  ])('pays nothing for %s', async (_, order) => {
    const payer = await shop.chain.payer(PURSE)
    const ended = await asked(payer, '/api/x402', order).then(
      ({ status }) => status,
      (cause: unknown) => cause,
    )
    // It throws an error where it can pay nothing that a 402 offers.
    expect(ended instanceof Error || ended === 402).toBe(true)
    expect([await shop.spent(payer), await shop.chain.uses(payer.address)]).toEqual([0n, []])
  })

  it('is not charged where the service fails', async () => {
    const payer = await shop.chain.payer(PURSE)
    const { status, body } = await asked(payer, `/api/x402/${AGAIN}`, { serviceId: AGAIN, request: 'fail' })
    expect([status, body]).toMatchObject([502, { charged: false }])
    expect([await shop.spent(payer), await shop.chain.uses(payer.address)]).toEqual([0n, []])
  })
})

interface Operation {
  readonly 'x-payment-info': { readonly offers: readonly Readonly<Record<string, string | null>>[] }
}

describe('the API document', () => {
  it('is one that the validator of mppx has nothing against', async () => {
    const { body } = await ask<object>(shop.url, '/openapi.json')
    expect(validate(body)).toEqual([])
  })

  it('names the price and the token that mppx then pays', async () => {
    const { body } = await ask<{ readonly paths: Readonly<Record<string, { readonly post: Operation }>> }>(
      shop.url,
      '/openapi.json',
    )
    const path = `/api/x402/${AGAIN}`
    const [offer] = body.paths[path]?.post['x-payment-info'].offers ?? []
    expect(offer).toMatchObject({ intent: 'charge', method: 'evm', currency: BASE_SEPOLIA.token })
    const payer = await shop.chain.payer(PURSE)
    const { status } = await asked(payer, path, { serviceId: AGAIN, ceiling: offer?.amount ?? '0' })
    expect([status, (await shop.spent(payer)).toString()]).toEqual([200, offer?.amount])
  })
})
