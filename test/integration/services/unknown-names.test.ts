import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paidArgumentMisfits } from '../../../rpc/contract/agent-tools.ts'
import { sentences } from '../../../rpc/contract/sentences.ts'
import { ROUTES } from '../../../rpc/contract/table.ts'
import { ask, post } from '../../support/api.ts'
import { ApiServer, OPERATOR_TOKEN } from '../../support/api-server.ts'

let server: ApiServer

beforeAll(async () => {
  server = await ApiServer.open()
})

afterAll(async () => {
  await server.close()
  expect(server.errors).toEqual([])
})

interface Refusal {
  readonly error: string
  readonly code: string
  readonly details?: { readonly fields?: readonly string[] }
}

const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}` }
const SERVICE = '/api/x402/node-network-stats'
const TRANSACTION_FORMS = 'send {"raw": "<hex of its bytes>"}, its JSON form, or the bytes as application/octet-stream'
const JSON_RPC = { accept: 'application/json, text/event-stream' }

async function misfits(path: string, body?: object): Promise<readonly string[] | number> {
  const reply =
    body === undefined ? await ask<Refusal>(server.url, path) : await post<Refusal>(server.url, path, body, OPERATOR)
  return reply.status === 400 ? (reply.body.details?.fields ?? []) : reply.status
}

describe('an unknown member of a body is refused, and the likely one is named:', () => {
  it.each([
    [SERVICE, { reqest: 'x' }, 'there is no member reqest; did you mean request?'],
    [SERVICE, { serviceId: 'node-x' }, 'serviceId is node-x, and the path names node-network-stats'],
    [SERVICE, { request: 'x', Payment: {} }, 'there is no member Payment; did you mean payment?'],
    ['/api/x402', { serviceId: 'node-x', text: 'x' }, 'there is no member text; there are serviceId, request, payment'],
    [
      SERVICE,
      { payment: { txId: '0'.repeat(64), secert: 'x' } },
      'payment: there is no member secert; did you mean secret?',
    ],
    ['/api/v1/info/qa', { question: 'x', lang: 'en' }, 'there is no member lang; there are question'],
    ['/api/v1/tx', { tx: '08' }, `there is no member tx; ${TRANSACTION_FORMS}`],
    ['/api/v1/tx/simulate', { hex: '08' }, `there is no member hex; ${TRANSACTION_FORMS}`],
    ['/api/v1/tx', {}, `the body is empty; ${TRANSACTION_FORMS}`],
    ['/api/v1/keys', { label: 'x', expiresInDay: 1 }, 'there is no member expiresInDay; did you mean expiresInDays?'],
  ])('%s %j', async (path, body, said) => {
    expect(await misfits(path, body)).toEqual([said])
  })

  it('but not in formats of others: chats, facilitators, protocol messages', async () => {
    const chat = { model: 'x', messages: [], store: true }
    const verify = { x402Version: 2, paymentPayload: {}, paymentRequirements: {}, more: 1 }
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping', more: 1 }
    for (const [path, body] of [
      ['/v1/chat/completions', chat],
      ['/facilitator/verify', verify],
      ['/a2a', ping],
    ] as const)
      expect(JSON.stringify((await post(server.url, `${path}`, body, JSON_RPC)).body)).not.toContain('there is no')
  })
})

describe('an unknown query parameter', () => {
  it('is refused by every read of the API, with or without parameters', async () => {
    expect(await misfits('/api/v1/blocks?limt=5')).toEqual(['there is no query word limt; did you mean limit?'])
    expect(await misfits('/api/v1/status?verbose=1')).toEqual(['there is no query word verbose'])
    expect(await misfits(`${SERVICE}?rial=stable`, {})).toEqual(['there is no query word rial; did you mean rail?'])
  })

  it('is ignored by documents, pages and probes, because links may add parameters', async () => {
    const paths = [
      '/',
      '/services.json',
      '/discovery/search',
      '/x402/discovery',
      '/agents',
      '/openapi.json',
      '/health',
      '/metrics',
    ]
    for (const path of paths) expect(await misfits(`${path}?utm_source=x`)).toBe(200)
  })
})

describe('an invalid value is explained in plain words:', () => {
  const HEX = '64 hexadecimal digits (0-9, a-f), as ids of transactions and blocks are'
  it.each([
    ['/api/v1/tx/zz', undefined, `txId must be ${HEX}`],
    ['/api/v1/blocks/-1', undefined, 'id must be latest, a height, or the id of a block (64 hexadecimal digits)'],
    ['/api/v1/blocks?limit=0', undefined, 'limit must be at least 1'],
    ['/api/v1/blocks?limit=201', undefined, 'limit must be at most 200'],
    ['/api/v1/blocks?limit=many', undefined, 'limit must be a whole number'],
    ['/api/v1/blocks?cursor=x', undefined, 'cursor must be what the page before gave as nextCursor'],
    [`${SERVICE}?rail=foo`, {}, 'rail must be native or stable or tab or channel'],
    [SERVICE, { request: 7 }, 'request must be text'],
    [SERVICE, { payment: {} }, 'payment.txId is missing'],
    [SERVICE, { payment: null }, 'payment must be an object'],
    [SERVICE, [], 'the body must be an object'],
    ['/api/v1/keys', { label: '', rpm: 1 }, 'label must be text that is not empty'],
    ['/api/v1/keys', { label: 'x', rpm: 0 }, 'rpm must be at least 1 or null'],
    [
      '/api/v1/mining/submit',
      { jobId: 'x', nonce: '1' },
      'jobId must be 32 hexadecimal digits (0-9, a-f), as the template has them',
    ],
    ['/api/v1/quote?from=FAR&to=FUSD&amount=1,5', undefined, 'amount must be a plain decimal number, like 12.5'],
  ])('%s %j', async (path, body, said) => {
    expect(await misfits(path, body)).toEqual([said])
  })

  it('and no regular expression of the contract is shown', () => {
    const checked = Object.values(ROUTES).flatMap((route) => {
      const { params, query, body } = route as { params?: object; query?: object; body?: object }
      return JSON.stringify([params, query, body]).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? []
    })
    const patterns = new Set(checked.map((text) => (JSON.parse(`{${text}}`) as { readonly pattern: string }).pattern))
    expect(patterns.size).toBeGreaterThan(10)
    for (const pattern of patterns) {
      const complaint = { keyword: 'pattern', instancePath: '/x', params: { pattern } }
      const [said] = sentences([complaint], { schema: {}, whole: 'it', member: 'member' })
      expect(said).not.toContain(pattern)
    }
  })
})

describe('a call to a wrong path gets a hint:', () => {
  it.each([
    ['/api/x402', 405, 'GET is not served at /api/x402; served: POST'],
    ['/api/v1/block/5', 404, 'there is nothing at /api/v1/block/5; did you mean GET /api/v1/blocks/5?'],
    ['/status', 404, 'there is nothing at /status; did you mean GET /api/v1/status?'],
    ['/api/v1/status/', 404, 'there is nothing at /api/v1/status/; did you mean GET /api/v1/status?'],
    ['/service.json', 404, 'there is nothing at /service.json; did you mean GET /services.json?'],
    ['/wp-login.php', 404, 'there is nothing at /wp-login.php; GET /openapi.json says what there is'],
  ])('%s', async (path, status, error) => {
    const reply = await ask<Refusal>(server.url, path)
    expect([reply.status, reply.body.error]).toEqual([status, error])
    expect(reply.headers.get('allow')).toBe(status === 405 ? 'POST' : null)
  })
})

describe('an unknown argument of a tool', () => {
  it('is refused, and the likely one is named', async () => {
    const params = { name: 'search_services', arguments: { qurey: 'price' } }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { text } = await post(server.url, '/api/mcp', call, JSON_RPC)
    expect(text).toContain('there is no argument qurey; did you mean query?')
    expect(paidArgumentMisfits({ request: '', paymnet: {} })).toEqual([
      'there is no argument paymnet; did you mean payment?',
    ])
    expect(paidArgumentMisfits({ payment: { txId: 'x', secert: '' } })).toEqual([
      'payment: there is no member secert; did you mean secret?',
    ])
    expect(paidArgumentMisfits({ request: 7, payment: null })).toEqual([])
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`m${i}`, i]))
    expect(paidArgumentMisfits(many)).toContain('there is no argument m0; there are request, payment')
    // The client of n8n adds this to every call.
    expect(paidArgumentMisfits({ request: '', toolCallId: 'call_1' })).toEqual([])
  })
})
