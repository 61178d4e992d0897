import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AgentClient, ClientOptions } from '../../../rpc/client/client.ts'
import type { Answer, Json } from '../../support/lying-tab-seller.ts'
import { devWallet, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** Calls on tabs that another carrier takes to the seller: a fetch, and the client of an MCP server. */
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(() => world.close())
beforeEach(() => world.calm())

const client = (key: number, options: Partial<ClientOptions> = {}): AgentClient =>
  world.client({
    ...{ wallet: devWallet(key), settleMs: 2_000, verify: false },
    tabs: { maxDeposit: '0.2', callsAhead: 10 },
    ...options,
  })

const post = (paid: typeof fetch, request: string): Promise<Response> =>
  paid(`${world.url}/api/x402/${ECHO}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ request }),
  })

/** An MCP server with a tool for each service, over the seller. */
const server = {
  async callTool(params: { readonly name: string; readonly arguments?: Json; readonly _meta?: Json }) {
    const { name, arguments: args = {}, _meta = {} } = params
    const request = String(args.request)
    const payload = (_meta['x402/payment'] as { readonly payload?: Json } | undefined)?.payload
    if (payload === undefined) return told(world.seller.single(name))
    if (payload.channelId === undefined) return told(world.seller.serveSingle(name, request))
    return told(await world.seller.call(name, request, payload))
  },
}

function told({ status, body, settled }: Answer) {
  const text = JSON.stringify(body)
  const meta = settled === undefined ? {} : { _meta: { 'x402/payment-response': settled } }
  return {
    content: [{ type: 'text', text }],
    structuredContent: body,
    ...meta,
    ...(status !== 200 && { isError: true }),
  }
}

describe('wrapFetch', () => {
  it('pays from a tab after the third call to one agent', async () => {
    const agent = client(4)
    const paid = agent.wrapFetch()
    for (let i = 0; i < 3; i++) expect((await post(paid, `alone ${i}`)).status).toBe(200)
    expect(await agent.tabs()).toEqual([])
    const answer = (await (await post(paid, 'on a tab')).json()) as { readonly receipt: { readonly tab: Json } }
    expect(answer).toMatchObject({ result: { echo: 'on a tab' }, receipt: { tab: { n: 1 } } })
    const [tab] = await agent.tabs()
    expect(await tab?.state()).toMatchObject({ charged: PRICE, unanswered: 0 })
    // A service that failed is an answer like any other, and costs nothing.
    expect((await post(paid, 'fail:1')).status).toBe(502)
    // An answer that was lost is asked for again with the same bytes.
    world.mischief.mute = 2
    expect((await post(paid, 'lost twice')).status).toBe(200)
    expect(await tab?.state()).toMatchObject({ charged: 2n * PRICE, receipts: 3, unanswered: 0 })
    expect(world.seller.served.filter((each) => each.endsWith('lost twice')).length).toBe(1)
  })

  it('keeps to the limits, and does not use a tab at a seller that is not its node', async () => {
    const small = client(5, { tabs: { maxDeposit: '0.001' } })
    const paid = small.wrapFetch()
    for (let i = 0; i < 5; i++) expect((await post(paid, `alone ${i}`)).status).toBe(200)
    expect(await small.tabs()).toEqual([])
    const elsewhere = client(5, {
      fetch: (input, init) => {
        const own = String(input).includes('/api/x402/')
        return own ? Promise.resolve(new Response('{}', { status: 404 })) : fetch(input, init)
      },
    })
    const far = elsewhere.wrapFetch()
    for (let i = 0; i < 5; i++) expect((await post(far, `far ${i}`)).status).toBe(200)
    expect(await elsewhere.tabs()).toEqual([])
  })
})

describe('an MCP client', () => {
  it('pays from a tab after the third call to one agent', async () => {
    const agent = client(6)
    const tools = agent.mcp(server as never, { url: `${world.url}/api/mcp` }) as unknown as typeof server
    const ask = (request: string) => tools.callTool({ name: ECHO, arguments: { request } })
    for (let i = 0; i < 3; i++) await ask(`alone ${i}`)
    expect(await agent.tabs()).toEqual([])
    expect((await ask('on a tab')).structuredContent).toMatchObject({ result: { echo: 'on a tab' } })
    const [tab] = await agent.tabs()
    await expect(ask('fail:1')).rejects.toMatchObject({ name: 'NotChargedError' })
    world.seller.prices.set(ECHO, 220_000n)
    expect((await ask('at a new price')).structuredContent).toMatchObject({ result: { echo: 'at a new price' } })
    expect(await tab?.state()).toMatchObject({ charged: PRICE + 220_000n, receipts: 3, unanswered: 0 })
  })
})
