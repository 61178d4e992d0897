import { afterEach, describe, expect, it } from 'vitest'
import { ApiServer, bareNodeOf } from '../../support/api-server.ts'
import { HERE, sellingNode, shownRail } from '../../support/discovery-node.ts'
import { AGAIN, closeMarkets } from '../../support/market.ts'

let server: ApiServer | undefined
afterEach(async () => {
  await server?.close()
  await closeMarkets()
})

async function open(withDollars: boolean): Promise<ApiServer> {
  const { node, market } = await sellingNode(withDollars ? { stable: shownRail() } : {})
  server = await ApiServer.open({}, null, undefined, {
    ...bareNodeOf(market.test),
    ...{ market: node.market, publicUrl: HERE },
  })
  return server
}

interface Terms {
  readonly resource: { readonly url: string }
  readonly accepts: readonly { readonly scheme: string }[]
}

async function quoted({ url }: ApiServer, path: string, headers: Readonly<Record<string, string>> = {}) {
  const body = JSON.stringify({ serviceId: AGAIN, request: 'ok' })
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const terms = JSON.parse(atob(reply.headers.get('payment-required') ?? '')) as Terms
  const { accepts } = (await reply.json()) as { readonly accepts: readonly { readonly resource: string }[] }
  return { status: reply.status, terms, v1: accepts.map(({ resource }) => resource) }
}

const QUERIES = [
  ...['', '?rail=stable', '?rail=native', '?net=mainnet'],
  ...['?net=mainnet&rail=stable', '?rail=stable&net=mainnet'],
]
const PATHS = ['/api/x402', `/api/x402/${AGAIN}`].flatMap((path) => QUERIES.map((query) => path + query))

describe.each([true, false])('the resource of a 402, with dollars: %s', (withDollars) => {
  it('is the URL that was called, in a quote and in a refusal', async () => {
    const node = await open(withDollars)
    for (const path of PATHS) {
      for (const headers of [{}, { 'x-payment': 'no payment' }]) {
        const { status, terms } = await quoted(node, path, headers)
        expect([status, terms.resource.url]).toEqual([402, HERE + path])
      }
    }
  })
})

it('of version 1 stays, for dollars, at the address that its clients can read', async () => {
  const node = await open(true)
  const own = `${HERE}/api/x402/${AGAIN}`
  for (const path of ['/api/x402', `/api/x402/${AGAIN}`]) {
    expect((await quoted(node, path)).v1).toEqual([`${own}?rail=stable`, own])
    expect((await quoted(node, `${path}?rail=stable`)).v1).toEqual([`${own}?rail=stable`])
  }
})
