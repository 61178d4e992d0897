import { afterEach, describe, expect, it } from 'vitest'
import type { DollarRail } from '../../../../marketplace/till/rails/dollar/dollar-rail.ts'
import type { MarketApi } from '../../../../rpc/node/node-api.ts'
import { openApiDocument } from '../../../../rpc/openapi/openapi.ts'
import { serviceOperations } from '../../../../rpc/openapi/openapi-services.ts'
import { HERE, sellingNode, shownRail } from '../../../support/discovery-node.ts'
import { closeMarkets } from '../../../support/market.ts'

afterEach(closeMarkets)

interface PaymentInfo {
  readonly offers?: readonly Readonly<Record<string, unknown>>[]
}

interface Operation {
  readonly responses: object
  readonly 'x-payment-info'?: PaymentInfo
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly 'x-service-info': object
}

/** The document of a node, and what its paid operations say of payments, by path. */
async function documented(stable?: DollarRail) {
  const { node } = await sellingNode(stable === undefined ? {} : { stable })
  const document = openApiDocument(HERE, serviceOperations(node.chain as never, node.market as MarketApi)) as Document
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  )
  const paid = operations.flatMap(({ path, operation }) => {
    const info = operation['x-payment-info']
    return info === undefined ? [] : [{ path, operation, info }]
  })
  return { document, paid, of: new Map(paid.map(({ path, info }) => [path, info])) }
}

const GENERAL = ['/api/x402', '/api/x402/{serviceId}']
const SERVICES = ['/api/x402/node-test-again', '/api/x402/node-test-once']
const IN_DOLLARS = {
  intent: 'charge',
  method: 'evm',
  currency: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  description: 'USDC on eip155:8453, by x402 with the scheme exact',
}

describe('what the API document says of payments', () => {
  it('is on every operation that answers 402 to any call, and on no other', async () => {
    const { document, of, paid } = await documented(shownRail())
    expect([...of.keys()].sort()).toEqual([...GENERAL, ...SERVICES].sort())
    for (const { operation } of paid) expect(operation.responses).toHaveProperty('402')
    // Chats ask for an API key first, and questions about a tab are not sold.
    const answering = Object.entries(document.paths)
      .filter(([path]) => !path.startsWith('/api/tabs/') && !path.endsWith('/chat/completions'))
      .flatMap(([, methods]) => Object.values(methods).filter(({ responses }) => Object.hasOwn(responses, '402')))
    expect(answering).toHaveLength(paid.length)
  })

  it('offers each service for its price in units, and the general paths for a price that differs', async () => {
    const { of } = await documented(shownRail())
    for (const path of SERVICES) {
      expect(of.get(path)).toEqual({
        protocols: ['x402'],
        price: { mode: 'dynamic', currency: 'USD', min: '0.002', max: '0.002' },
        offers: [{ ...IN_DOLLARS, amount: '2000' }],
      })
    }
    for (const path of GENERAL) {
      expect(of.get(path)).toEqual({
        protocols: ['x402'],
        price: { mode: 'dynamic', currency: 'USD' },
        offers: [{ ...IN_DOLLARS, amount: null }],
      })
    }
  })

  it.each([
    ['is off', undefined],
    ['takes nothing now', shownRail('no facilitator answers')],
  ])('has no offers while the stablecoin rail %s', async (_, stable) => {
    const { paid } = await documented(stable)
    expect(paid.map(({ info }) => info.offers)).toEqual(paid.map(() => undefined))
    // The path of a service answers GET, too.
    expect(paid).toHaveLength(GENERAL.length + SERVICES.length + 1)
  })

  it('names categories and documents that are served', async () => {
    const { document } = await documented()
    expect(document['x-service-info']).toEqual({
      categories: ['data', 'compute', 'search'],
      docs: { homepage: `${HERE}/agents`, llms: `${HERE}/llms.txt`, apiReference: `${HERE}/openapi.json` },
    })
    for (const path of ['/agents', '/llms.txt', '/openapi.json']) expect(document.paths).toHaveProperty([path])
  })
})
