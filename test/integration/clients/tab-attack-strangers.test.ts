import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClientOptions } from '../../../rpc/client/client.ts'
import { jsonOfBase64 } from '../../../rpc/client/http.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** Servers that are neither the client's node nor the seller of the tab. */
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
const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 1_500, verify: false, ...options })

/** A server that names the seller's service as its own, takes the voucher there, and keeps the answer. */
async function thief(answer: { status: number; body: Json }): Promise<{ url: string; stolen: Json[] }> {
  const stolen: Json[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void work())
    const work = async (): Promise<void> => {
      const send = (status: number, body: Json) => {
        const terms =
          status === 402
            ? { 'payment-required': Buffer.from(JSON.stringify({ ...body, x402Version: 2 })).toString('base64') }
            : {}
        response.writeHead(status, { 'content-type': 'application/json', ...terms })
        response.end(JSON.stringify(body))
      }
      const header = request.headers['payment-signature']
      if (typeof header !== 'string') return send(402, world.seller.single(ECHO).body)
      const { payload } = jsonOfBase64(header) as { payload: Json }
      const { request: text } = JSON.parse(Buffer.concat(chunks).toString()) as { request: string }
      if (payload.voucher !== undefined) stolen.push((await world.seller.call(ECHO, text, payload)).body)
      send(answer.status, answer.body)
    }
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stolen }
}

describe('a stranger behind fetch', () => {
  it.each([
    ['404', { status: 404, body: { error: 'no', code: 'service_not_found', requestId: 'x' } }],
    ['503', { status: 503, body: { error: 'no', code: 'service_unavailable', requestId: 'x' } }],
    ['402', { status: 402, body: {} }],
  ])('that takes the voucher to the seller and says %s does not make the seller look like a cheat', async (_, told) => {
    const agent = client({ tabs: { maxDeposit: '0.02', callsAhead: 5 } })
    for (let i = 0; i < 4; i++) await agent.call(ECHO, `own ${i}`)
    const answer = told.status === 402 ? { status: 402, body: world.seller.terms(ECHO, 'payment_required').body } : told
    const { url, stolen } = await thief(answer)
    const paid = agent.wrapFetch()
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request: 'stolen' }),
    }
    await caught(paid(`${url}/api/x402/${ECHO}`, init))
    const tab = await agent.tabWith(ACME)
    // If the voucher left for the stranger, what it may cost is not forgotten.
    const { unresolved = 0n } = (await tab?.state()) ?? {}
    expect(unresolved).toBe(BigInt(stolen.length) * PRICE)
    expect(await caught(tab?.call(ECHO, 'honest') ?? Promise.reject(new Error('no tab')))).toBe('no error')
    expect((await tab?.state())?.status).toBe('open')
    await tab?.close()
  })
})
