import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { verdict } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { until } from '../../support/processes.ts'
import { head, RawConnections } from '../../support/raw-connections.ts'
import { askRaw } from '../../support/raw-http.ts'

const PROXY = '127.0.2.1'
const BEFORE_IT = '203.0.113.9'
const STRANGER = '127.0.1.1'
const CALLER = '198.51.100.1'
const RATE = 3
const IDLE_MAX = 5

let server: ApiServer
beforeEach(async () => {
  const ratesPerMinute = { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, read: RATE }
  const trustProxy = ['127.0.2.0/24', BEFORE_IT]
  server = await ApiServer.open({ ratesPerMinute, idlePerAddressMax: IDLE_MAX }, null, undefined, { trustProxy })
})
afterEach(async () => {
  await server.close()
  expect(server.errors).toEqual([])
})

async function read(from: string, forwarded: string): Promise<string> {
  const reply = await askRaw(server.url, { path: '/api/v1/status', headers: { 'x-forwarded-for': forwarded }, from })
  return reply.status === 200 ? 'answered' : verdict(reply)
}

describe('a stranger who reaches the port beside the proxies that are named', () => {
  it('cannot use up what another address may ask', async () => {
    const asked: string[] = []
    for (let i = 0; i <= RATE; i++) asked.push(await read(STRANGER, CALLER))
    expect(asked.at(-1)).toBe('429 rate_limited')
    expect(await read(PROXY, CALLER)).toBe('answered')
  })

  it('gets no more requests by naming another address each time', async () => {
    const asked: string[] = []
    for (let i = 0; i <= RATE; i++) asked.push(await read(STRANGER, `192.0.${i}.1`))
    expect(asked.at(-1)).toBe('429 rate_limited')
  })

  it('does not decide the scheme of URLs in documents', async () => {
    const robots = (from: string) =>
      askRaw(server.url, { path: '/robots.txt', headers: { host: 'node.example', 'x-forwarded-proto': 'https' }, from })
    expect((await robots(STRANGER)).text).toContain('http://node.example/sitemap.xml')
    expect((await robots(PROXY)).text).toContain('https://node.example/sitemap.xml')
  })

  it('has fewer idle connections than a proxy', async () => {
    const raw = new RawConnections(server.url)
    const [of, strange] = [
      await raw.openMany(3 * IDLE_MAX, head('GET /health'), { from: PROXY }),
      await raw.openMany(3 * IDLE_MAX, head('GET /health'), { from: STRANGER }),
    ]
    await until('all of the proxy are answered', () => of.every(({ statuses }) => statuses.length === 1))
    await until('few of the stranger are left', () => strange.filter(({ isClosed }) => !isClosed).length <= IDLE_MAX)
    expect(of.filter(({ isClosed }) => isClosed)).toEqual([])
    raw.closeAll()
  })
})

describe('a proxy that is named', () => {
  it('is recognised even if another proxy wrote its address with a port', async () => {
    for (let i = 0; i < RATE; i++) expect(await read(PROXY, `${CALLER}, ${BEFORE_IT}:${4_000 + i}`)).toBe('answered')
    expect(await read(PROXY, `${CALLER}, ${BEFORE_IT}:5000`)).toBe('429 rate_limited')
    expect(await read(PROXY, `198.51.100.2, ${BEFORE_IT}:5000`)).toBe('answered')
  })

  it('is believed about the address in front of it, through other named proxies, and no further', async () => {
    for (let i = 0; i < RATE; i++) expect(await read(PROXY, `192.0.2.${i}, ${CALLER}, ${BEFORE_IT}`)).toBe('answered')
    expect(await read(PROXY, CALLER)).toBe('429 rate_limited')
    expect(await read(PROXY, '192.0.2.1')).toBe('answered')
  })
})
