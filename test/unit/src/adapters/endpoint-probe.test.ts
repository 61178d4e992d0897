import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { HttpEndpointProbe } from '../../../../src/adapters/endpoint-probe.ts'
import { outsideOf } from '../../../support/outside.ts'
import { emptyServiceChain } from '../../../support/service-chain.ts'
import { ask, resultOf } from '../../../support/service-results.ts'

const ID = 'node-x402-validation'
const NEVER = new AbortController().signal
const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  if (request.url === '/health')
    response.writeHead(200, { 'x-request-id': 'abc', 'content-type': 'text/plain' }).end('ok')
  else if (request.url === '/ready') response.writeHead(302, { location: '/health' }).end()
  else if (request.url === '/') response.writeHead(500).end()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('a probe', () => {
  const probe = new HttpEndpointProbe(target)

  test('tells status, request id and content type', async () => {
    const facts = { path: '/health', status: 200, requestId: 'abc', contentType: 'text/plain', error: null }
    expect(await probe.probe('/health', 6_000, NEVER)).toMatchObject(facts)
  })

  test('follows no redirect', async () => {
    asked.length = 0
    expect(await probe.probe('/ready', 6_000, NEVER)).toMatchObject({ status: 302, requestId: null, error: null })
    expect(asked).toEqual(['GET /ready'])
  })

  test('gives up on an endpoint that hangs, and does not come again', async () => {
    asked.length = 0
    const told = await probe.probe('/.well-known/x402.json', 200, NEVER)
    expect(told).toMatchObject({ status: null, contentType: null, error: 'no answer within 200 ms' })
    expect(asked).toHaveLength(1)
  })

  test('tells an endpoint that is not there', async () => {
    const gone = new HttpEndpointProbe('http://127.0.0.1:1')
    expect(await gone.probe('/', 6_000, NEVER)).toMatchObject({ status: null, error: 'ECONNREFUSED' })
  })
})

describe(ID, async () => {
  const { context } = await emptyServiceChain(2)
  const at = (endpoint: HttpEndpointProbe) => ({ ...context, outside: outsideOf({ endpoint }) })

  test('tells what four probes came to', async () => {
    const endpoint = new HttpEndpointProbe(target)
    const patient = { target, readiness: endpoint.readiness }
    const quick = {
      ...patient,
      probe: (path: string, _ms: number, signal: AbortSignal) => endpoint.probe(path, 300, signal),
    }
    asked.length = 0
    const result = await resultOf<Record<string, unknown>>(ID, '  ', {
      ...context,
      outside: outsideOf({ endpoint: quick }),
    })
    expect(result).toMatchObject({ target, passed: 1, spend: 0, engine: 'http' })
    expect((result.probes as { status: unknown }[]).map(({ status }) => status)).toEqual([500, 200, 302, null])
    expect(result.unknown).toContain('probes.3.status')
    expect(asked.sort()).toEqual(['GET /', 'GET /.well-known/x402.json', 'GET /health', 'GET /ready'])
  })

  test('has a result also if the endpoint does not answer', async () => {
    const result = await resultOf<Record<string, unknown>>(ID, '', at(new HttpEndpointProbe('http://127.0.0.1:1')))
    expect(result).toMatchObject({ passed: 0 })
  })

  test('takes no target from its caller, and is unavailable without one', async () => {
    expect(await ask(ID, 'http://127.0.0.1/', at(new HttpEndpointProbe(target)))).toMatchObject({
      refused: expect.stringContaining('chosen by the operator'),
    })
    expect(await ask(ID, '', at(new HttpEndpointProbe('')))).toMatchObject({
      unavailable: 'an endpoint is not configured',
    })
  })
})
