import { brotliDecompressSync } from 'node:zlib'
import { request } from 'undici'
import { afterEach, expect, it, vi } from 'vitest'

const COMPRESSED_PER_MINUTE = 32 * 1024 * 1024

import { ApiServer, bareNodeOf } from '../../support/api-server.ts'
import { sellingNode } from '../../support/discovery-node.ts'
import { closeMarkets } from '../../support/market.ts'

afterEach(async () => {
  vi.restoreAllMocks()
  await closeMarkets()
})

async function open(publicUrl: string | null = null) {
  const { node, market } = await sellingNode()
  const server = await ApiServer.open({}, null, undefined, {
    ...bareNodeOf(market.test),
    ...{ market: node.market, publicUrl },
  })
  return { server, market, chain: node.chain }
}

async function ask({ url }: ApiServer, path: string, host: string, encoding = 'identity') {
  const answer = await request(url + path, { headers: { host, 'accept-encoding': encoding } })
  return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

const DOCUMENTS = [
  ...['/openapi.json', '/api/v1/info/openapi', '/llms.txt', '/llms-full.txt', '/services.json', '/.well-known/x402'],
  ...['/x402/discovery', '/x402/discovery?x402Version=1', '/.well-known/agent-card.json', '/agents', '/agents?q=test'],
  ...['/agents/node-test-again', '/agents/node-nothing', '/robots.txt', '/sitemap.xml', '/api/v1'],
]
/** Hosts with every character that an address may have. */
const HOSTS = ['node.example', 'Some_Node~1.%41.example:8420', '[2001:db8::1]:80']

it('makes the API document once, for all hosts and requests', async () => {
  const { server, market } = await open()
  const first = await ask(server, '/openapi.json', 'node.example')
  const stringify = vi.spyOn(JSON, 'stringify')
  for (let i = 0; i < 20; i++) await ask(server, '/api/v1/info/openapi', `h${i}.example`)
  expect(stringify.mock.calls.length).toBeLessThan(20 * 5)
  stringify.mockClear()
  await market.mine()
  await ask(server, '/openapi.json', 'node.example')
  const again = await ask(server, '/openapi.json', 'node.example')
  expect(stringify.mock.calls.length).toBeLessThan(500)
  stringify.mockRestore()
  expect(again.headers.etag).toBe(first.headers.etag)
  await server.close()
})

it.each([
  '/llms.txt',
  '/llms-full.txt',
  '/x402/discovery',
  '/.well-known/agent-card.json',
  '/agents',
  '/agents?q=test',
  '/agents/node-test-again',
  '/',
])('reads the state for %s no more often because of a host that nothing was made for', async (path) => {
  const { server, chain } = await open()
  await ask(server, path, 'node.example')
  const get = vi.spyOn(chain.database, 'get')
  await ask(server, path, 'node.example')
  const known = get.mock.calls.length
  get.mockClear()
  for (let i = 0; i < 10; i++) await ask(server, path, `h${i}.example`)
  expect(get.mock.calls.length).toBe(10 * known)
  await server.close()
})

it.each(HOSTS)('names the host %s exactly as a node with that public address would', async (host) => {
  const { server } = await open()
  const at = new Map<string, Awaited<ReturnType<typeof ask>>>()
  for (const path of DOCUMENTS) at.set(path, await ask(server, path, host))
  await server.close()
  const { server: named } = await open(`http://${host}`)
  for (const path of DOCUMENTS) {
    const [mine, its] = [at.get(path), await ask(named, path, 'other.example')]
    expect([path, mine?.statusCode, mine?.headers['content-type']]).toEqual([
      path,
      its.statusCode,
      its.headers['content-type'],
    ])
    expect(stable(mine?.bytes), path).toBe(stable(its.bytes))
  }
  await named.close()
})

/** A document without hashes and times, which differ between the two chains. */
function stable(bytes: Buffer | undefined): string {
  return (bytes?.toString() ?? '').replace(/"?[0-9a-f]{64}"?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, '')
}

it('compresses documents for a limited number of hosts a minute, and sends the others uncompressed', async () => {
  const { server } = await open()
  const whole = await ask(server, '/openapi.json', 'node.example')
  const most = Math.floor(COMPRESSED_PER_MINUTE / whole.bytes.length)
  let compressed = 0
  for (let i = 0; i < most + 20; i++) {
    const host = `h${i}.example`.padStart('node.example'.length, 'h')
    const { headers, bytes } = await ask(server, '/openapi.json', host, 'br')
    const isPlain = headers['content-encoding'] === undefined
    if (!isPlain) compressed += 1
    expect((isPlain ? bytes : brotliDecompressSync(bytes)).toString()).toBe(
      whole.bytes.toString().replaceAll('node.example', host),
    )
    expect(String(headers.etag).endsWith('-br"')).toBe(!isPlain)
  }
  expect(compressed).toBeGreaterThan(most - 2)
  expect(compressed).toBeLessThan(most + 10)
  await server.close()
})
