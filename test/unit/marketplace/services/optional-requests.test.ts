import { beforeAll, describe, expect, it } from 'vitest'
import { needsRequest } from '../../../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../../../marketplace/services/table.ts'
import { type ServiceChain, serviceChain } from '../../../support/service-chain.ts'
import { ask, resultOf } from '../../../support/service-results.ts'

const NO_REQUEST = SERVICE_TABLE.filter(({ requestFormat }) => requestFormat === '')
  .map(({ serviceId }) => serviceId as string)
  .filter((serviceId) => serviceId !== 'node-x402-validation')
const TAKES_A_NAME = ['node-price-history', 'node-stable-health', 'node-bridge-status']

let chain: ServiceChain
beforeAll(async () => {
  chain = await serviceChain()
})

async function refusedBy(serviceId: string, request: string): Promise<string | null> {
  const answer = await ask(serviceId, request, chain.context)
  return 'refused' in answer ? answer.refused : null
}

describe('services that take no request', () => {
  for (const request of ['', '  ', '{}', '{ }', 'null', 'tell me about the chain', 'FAR', 'far', 'hello', '今日の市場'])
    it(`answer "${request}"`, async () => {
      for (const serviceId of NO_REQUEST)
        expect([serviceId, await refusedBy(serviceId, request)]).toEqual([serviceId, null])
    })

  const named = ['FUSD', 'fusd', 'NOSUCH', 'FAR/USDT', 'FAR-FUSD-30', 'far-fusd-30', 'base', '12', '0x'.padEnd(42, 'a')]
  for (const request of named)
    it(`refuse to tell of "${request}"`, async () => {
      const name = request.toUpperCase()
      const reason = `this service takes no request and tells nothing of ${name} alone: leave the request empty`
      for (const serviceId of NO_REQUEST)
        expect([serviceId, await refusedBy(serviceId, request)]).toEqual([serviceId, reason])
    })

  for (const request of ['{"symbol":"FUSD"}', ' {"request": ""} ', '["FUSD"]', '{symbol: FUSD}'])
    it(`do not pass over ${request}`, async () => {
      const reason = 'this service takes no request and reads no JSON: leave the request empty'
      for (const serviceId of NO_REQUEST)
        expect([serviceId, await refusedBy(serviceId, request)]).toEqual([serviceId, reason])
    })

  it('tell of a major coin where it is among what they tell', async () => {
    expect(await refusedBy('node-crypto-prices', 'BTC')).toBeNull()
    expect(await refusedBy('node-price-feed', 'btc')).toContain('tells nothing of BTC alone')
  })
})

describe('services that may be asked for one thing', () => {
  for (const serviceId of TAKES_A_NAME)
    it(`${serviceId} says what it takes, and needs none of it`, async () => {
      const definition = SERVICE_TABLE.find((one) => one.serviceId === serviceId)!
      expect(definition.requestFormat).toMatch(/empty for /)
      expect(needsRequest(definition)).toBe(false)
      for (const request of [definition.example, '', '{}', 'how is it today'])
        expect(await refusedBy(serviceId, request)).toBeNull()
      expect(await refusedBy(serviceId, '{"symbol":"FUSD"}')).toBe('the request is a name alone, not JSON')
    })

  it('refuse a name that nothing has, in letters of any size', async () => {
    for (const request of ['NOSUCH', 'usdt', 'far-usdt', 'ab'.repeat(32)]) {
      const name = request.length === 64 ? request : request.toUpperCase()
      expect(await refusedBy('node-price-history', request)).toContain(`there is no token or pool ${name}`)
      expect(await refusedBy('node-stable-health', request)).toContain(`there is no stable token ${name}`)
      expect(await refusedBy('node-bridge-status', request)).toContain(
        `the bridge has no network ${name.toLowerCase()}; it has ethereum, base, `,
      )
    }
  })

  it('take a name in letters of any size', async () => {
    const poolOf = async (request: string): Promise<unknown> =>
      (await resultOf<{ pool: { pool: string } }>('node-price-history', request, chain.context)).pool.pool
    expect(await poolOf('far-fusd-30')).toBe(await poolOf('FAR-FUSD-30'))
    const networksOf = async (request: string): Promise<readonly { id: string }[]> =>
      (await resultOf<{ networks: readonly { id: string }[] }>('node-bridge-status', request, chain.context)).networks
    expect((await networksOf('Bitcoin')).map(({ id }) => id)).toEqual(['bitcoin'])
    expect(await networksOf('')).toHaveLength(10)
  })
})

describe('services whose request may be left out', () => {
  const optional = SERVICE_TABLE.filter((definition) => !needsRequest(definition))

  it('take the empty JSON of clients as no request', () => {
    for (const { serviceId, parse } of optional) expect([serviceId, parse('{}')]).toEqual([serviceId, parse('')])
  })

  it('are those of the interface', () => {
    const named = ['gas-price', 'supply-audit', 'pool-analytics', 'holder-stats', 'whale-watch', 'x402-validation']
    const ids = [...NO_REQUEST, ...TAKES_A_NAME, ...named.map((one) => `node-${one}`)]
    expect(optional.map(({ serviceId }) => serviceId as string).sort()).toEqual(ids.sort())
  })
})
