import { rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { SERVICE_TABLE } from '../../marketplace/services/table.ts'
import { ask } from '../support/api.ts'
import { Caller, marketOpen, type Payment } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { workingRequest } from '../support/service-requests.ts'
import { ServiceWorld } from '../support/service-world.ts'
import { signatureRequests } from '../support/signed-texts.ts'

const workshop = new Workshop()
const FAILING_FILE = workshop.path('failing')
let daemon: RunningDaemon
let world: ServiceWorld
let callers: readonly Caller[]
let paid: Payment
let signed: string

beforeAll(async () => {
  const folder = workshop.folder()
  world = await ServiceWorld.open(workshop.folder())
  daemon = await workshop.start(folder, {
    env: { TEST_FAST_BLOCKS: '250', TEST_FAILING_FILE: FAILING_FILE, ...world.env },
    flags: world.flags,
  })
  await marketOpen(daemon.url)
  await until('every service is available', async () => (await unavailable()).length === 0).catch(async () =>
    expect(await unavailable()).toEqual([]),
  )
  // The devnet's second key is the seller's.
  callers = [1, 3, 4, 5].map((key) => new Caller(daemon.url, key))
  paid = await callers[0]!.payMined({ serviceId: 'node-network-stats', request: '' })
  await callers[0]!.settle(paid)
  const { body } = await ask<{ readonly genesis: BlockId }>(daemon.url, '/api/v1/status')
  signed = (await signatureRequests({ chainId: 1, genesis: body.genesis }))[0]!
})

afterAll(() => world.close())

interface Registry {
  readonly services: readonly {
    readonly serviceId: string
    readonly available: boolean
    readonly unavailableReason?: string
  }[]
}

async function unavailable(): Promise<readonly string[]> {
  const { body } = await ask<Registry>(daemon.url, '/services.json')
  const ours = body.services.filter(({ serviceId }) => !serviceId.startsWith('node-test-'))
  return ours
    .filter(({ available }) => !available)
    .map(({ serviceId, unavailableReason }) => `${serviceId}: ${unavailableReason}`)
}

function requestOf(serviceId: string, fresh: number): string {
  return workingRequest(serviceId, { fresh, txId: paid.txId, signed, address: callers[0]!.key.address })
}

describe('every service of the table', () => {
  it('is listed, in the order of the table, and can be bought', async () => {
    const { body } = await ask<Registry & { readonly nodeOperatedCount: number }>(daemon.url, '/.well-known/x402')
    const ours = body.services.filter(({ serviceId }) => !serviceId.startsWith('node-test-'))
    expect(ours.map(({ serviceId }) => serviceId)).toEqual(SERVICE_TABLE.map(({ serviceId }) => serviceId))
    expect(body.nodeOperatedCount).toBe(body.services.length)
    expect(await unavailable()).toEqual([])
  })

  it.concurrent.each(SERVICE_TABLE.map(({ serviceId }, i) => [serviceId, i] as const))(
    '%s is quoted, paid, delivered and receipted',
    async (serviceId, i) => {
      const caller = callers[i % callers.length]!
      const request = requestOf(serviceId, i)
      const quote = await caller.quote(serviceId, request)
      expect(quote.status).toBe(402)
      expect(quote.body).toMatchObject({ x402: true, available: true })
      expect(quote.body).not.toHaveProperty('requestError')
      const payment = await caller.payMined({ serviceId, request, lock: 'lock' })
      const reply = await caller.settle(payment)
      expect(reply.status, reply.text.slice(0, 500)).toBe(200)
      const { result, receipt } = reply.body as unknown as { result: Record<string, unknown>; receipt: object }
      expect(receipt).toMatchObject({ serviceId, caller: caller.address, txId: payment.txId })
      expect(result.service).toBe(serviceId)
      expect(typeof result.engine === 'string' || typeof result.source === 'object').toBe(true)
      const closed = await caller.closed(payment.txId)
      expect(closed.status).toBe('completed')
      expect(closed.refund).toBeNull()
    },
  )

  it('gives the money back on chain where it fails, each of them', async () => {
    const payments = await Promise.all(
      SERVICE_TABLE.map(async ({ serviceId }, i) => {
        const caller = callers[i % callers.length]!
        return { caller, payment: await caller.payMined({ serviceId, request: requestOf(serviceId, 1_000 + i) }) }
      }),
    )
    writeFileSync(FAILING_FILE, '')
    const replies = await Promise.all(payments.map(({ caller, payment }) => caller.settle(payment)))
    rmSync(FAILING_FILE)
    for (const [i, { caller, payment }] of payments.entries()) {
      const { status, body } = replies[i]!
      expect([payment.serviceId, status, body.code]).toEqual([payment.serviceId, 502, 'upstream_failed'])
      const { refund } = await caller.requestIn(payment.txId, 'refunded')
      expect(refund).toMatchObject({ status: 'confirmed', to: caller.address, asset: 'FAR' })
    }
  })
})

/** Services that ask outside servers, with new requests that no cache can answer. */
const ASKING: Readonly<Record<string, string>> = {
  'node-web-fetch': 'http://news.example/fresh',
  'node-url-meta': 'http://news.example/fresh',
  'node-rss-read': 'http://news.example/feed.xml?fresh',
  'node-web-search': 'something else',
  'node-domain-info': 'fresh.com',
  'node-weather': 'Somewhere',
  'node-ens-resolve': 'fresh.eth',
  'node-llm-chat': 'Say something.',
  'node-translate': 'fr|The market is closed.',
  'node-image-gen': 'A boat at noon',
}

describe('a service whose provider fails', () => {
  it.each(Object.entries(ASKING))(
    '%s keeps nothing of the money, and sells again afterwards',
    async (serviceId, request) => {
      const caller = callers[0]!
      const payment = await caller.payMined({ serviceId, request, lock: 'lock' })
      world.failing = true
      const reply = await caller.settle(payment)
      world.failing = false
      expect([502, 504], reply.text.slice(0, 300)).toContain(reply.status)
      expect((await caller.requestIn(payment.txId, 'refunded')).refund).toMatchObject({ to: caller.address })
      const again = await until(`${serviceId} is sold again`, async () => {
        const quote = await caller.quote(serviceId, request)
        return quote.body.available === true && quote
      })
      expect(again.status).toBe(402)
      const second = await caller.settle(await caller.payMined({ serviceId, request, lock: 'lock' }))
      expect(second.status, second.text.slice(0, 300)).toBe(200)
    },
  )
})
