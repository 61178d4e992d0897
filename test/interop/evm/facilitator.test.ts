import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { authorization, mirrored, nowSeconds, type Signed, sign } from './authorization.ts'
import { LocalChain } from './chain.ts'
import { LocalFacilitator } from './facilitator.ts'
import { TOKEN_ADDRESS, TOKEN_DOMAIN } from './token.ts'

/** Tests of the local chain and facilitator: the tests of x402 rest on them. */
let chain: LocalChain
let facilitator: LocalFacilitator

beforeAll(async () => {
  chain = await LocalChain.start()
  facilitator = await LocalFacilitator.start(chain)
})
afterEach(() => facilitator.reset())
afterAll(async () => {
  await facilitator?.close()
  await chain?.close()
})

const PRICE = '2000'
type Generation = 1 | 2
const NETWORKS = { 1: 'base-sepolia', 2: 'eip155:84532' } as const

async function request(generation: Generation, to: `0x${string}`) {
  const account = await chain.payer(10_000n)
  const signed = await sign(account, authorization({ from: account.address, to, value: PRICE }))
  return { account, signed, body: bodyOf(generation, to, signed) }
}

function bodyOf(x402Version: Generation, payTo: string, payload: Signed) {
  const network = NETWORKS[x402Version]
  const paid = { scheme: 'exact', network, payTo, asset: TOKEN_ADDRESS, maxTimeoutSeconds: 120, extra: TOKEN_DOMAIN }
  const resource = 'http://127.0.0.1/thing'
  return x402Version === 1
    ? {
        x402Version,
        paymentPayload: { x402Version, scheme: 'exact', network, payload },
        paymentRequirements: { ...paid, maxAmountRequired: PRICE, resource, description: '', mimeType: '' },
      }
    : {
        x402Version,
        paymentPayload: { x402Version, accepted: { ...paid, amount: PRICE }, resource: { url: resource }, payload },
        paymentRequirements: { ...paid, amount: PRICE },
      }
}

async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${facilitator.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await response.json()) as Readonly<Record<string, unknown>>
}

describe('the local facilitator', () => {
  it('says that it takes the scheme on this network in both generations', async () => {
    const { kinds } = (await (await fetch(`${facilitator.url}/supported`)).json()) as { readonly kinds: object[] }
    expect(kinds).toMatchObject([
      { x402Version: 2, scheme: 'exact', network: 'eip155:84532' },
      { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
    ])
  })

  it.each([1, 2] as const)('verifies without moving money, and settles once (generation %d)', async (generation) => {
    const to = chain.newKey().address
    const { account, body } = await request(generation, to)
    expect(await post('/verify', body)).toMatchObject({ isValid: true })
    expect(await chain.balance(account.address)).toBe(10_000n)
    const settled = await post('/settle', body)
    expect(settled).toMatchObject({ success: true })
    expect(await chain.succeeded(settled.transaction as `0x${string}`)).toBe(true)
    expect(await post('/settle', body)).not.toMatchObject({ success: true, transaction: settled.transaction })
    expect(await chain.balance(account.address)).toBe(8_000n)
    expect(await chain.balance(to)).toBe(2_000n)
    expect(await chain.uses(account.address)).toHaveLength(1)
  })

  it('carries a settlement out and cuts the answer', async () => {
    const to = chain.newKey().address
    const { body } = await request(2, to)
    facilitator.troubles.set('/settle', 'cut')
    await expect(post('/settle', body)).rejects.toThrow()
    expect(await chain.balance(to)).toBe(2_000n)
  })

  it.each(['refused', 'error', 'dropped'] as const)('moves nothing where it is told to be %s', async (trouble) => {
    const to = chain.newKey().address
    const { body } = await request(2, to)
    facilitator.troubles.set('/settle', trouble)
    await post('/settle', body).catch(() => {})
    expect(facilitator.count('/settle')).toBe(1)
    expect(await chain.balance(to)).toBe(0n)
  })

  it('is not there while it is closed, and the same again afterwards', async () => {
    const { url } = facilitator
    await facilitator.close()
    await expect(fetch(`${url}/supported`)).rejects.toThrow()
    await facilitator.open()
    expect(facilitator.url).toBe(url)
    expect((await fetch(`${url}/supported`)).status).toBe(200)
  })
})

describe('the token', () => {
  const transfer = (signed: Signed) => chain.carryOut(signed)
  const ready = async (change: Readonly<Record<string, string>> = {}) => {
    const account = await chain.payer(5_000n)
    const to = chain.newKey().address
    return { account, to, said: authorization({ from: account.address, to, value: PRICE, ...change }) }
  }

  it('takes what the payer signed, to the unit', async () => {
    const { account, to, said } = await ready()
    await transfer(await sign(account, said))
    expect([await chain.balance(account.address), await chain.balance(to)]).toEqual([3_000n, 2_000n])
    expect(await chain.isUsed(account.address, said.nonce)).toBe(true)
  })

  it('refuses a mirrored signature, another domain, and times that are not now', async () => {
    const { account, to, said } = await ready()
    const good = await sign(account, said)
    const late = { ...said, validBefore: String(nowSeconds() - 1) }
    const early = { ...said, validAfter: String(nowSeconds() + 1_000) }
    await expect(transfer({ ...good, signature: mirrored(good.signature) })).rejects.toThrow('invalid signature')
    await expect(transfer(await sign(account, said, { name: 'USD Coin' }))).rejects.toThrow('invalid signature')
    await expect(transfer(await sign(account, late))).rejects.toThrow('expired')
    await expect(transfer(await sign(account, early))).rejects.toThrow('not yet valid')
    expect(await chain.balance(to)).toBe(0n)
  })

  it('moves nothing for an authorization that was taken back', async () => {
    const { account, to, said } = await ready()
    await chain.cancel(account, said.nonce)
    expect(await chain.isUsed(account.address, said.nonce)).toBe(true)
    await expect(transfer(await sign(account, said))).rejects.toThrow('used or canceled')
    expect(await chain.balance(to)).toBe(0n)
    expect(await chain.uses(account.address)).toHaveLength(0)
  })
})
