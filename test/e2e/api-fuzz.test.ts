import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { TokenSymbol, TxId } from '../../consensus/primitives/ids.ts'
import { transactionToJson } from '../../consensus/tx/json.ts'
import { encodeTransaction } from '../../consensus/tx/transaction.ts'
import { httpFault } from '../../rpc/contract/http-faults.ts'
import { BEFORE_ANY_ROUTE as FAULTS_BEFORE_ANY_ROUTE } from '../../rpc/contract/route-errors.ts'
import { ask, type JsonBody, post, type Reply } from '../support/api.ts'
import { Caller, marketOpen, type Payment } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { ApiChecker, type ApiDocument } from '../support/openapi-check.ts'
import { askRaw } from '../support/raw-http.ts'
import { runs } from '../support/runs.ts'
import { units } from '../support/unsigned.ts'

const workshop = new Workshop()
let daemon: RunningDaemon
let payment: Payment
let checker: ApiChecker
/** Codes of what is refused before its route is known. */
const BEFORE_ANY_ROUTE = new Set(FAULTS_BEFORE_ANY_ROUTE.map((code) => httpFault(code).api))

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' } })
  await marketOpen(daemon.url)
  checker = new ApiChecker((await ask<ApiDocument>(daemon.url, '/openapi.json')).body)
  payment = await new Caller(daemon.url, 1).payMined({
    serviceId: 'node-test-once',
    request: 'ok',
    lock: 'lock',
  })
})

type Sent = Parameters<typeof askRaw>[1]

const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * What is wrong with an answer to hostile input: a bug of the node, a refusal without the error envelope or its id, or a
 * refusal that the document does not list. Null if nothing is wrong.
 */
function misbehaviour({ method, path }: Pick<Sent, 'method' | 'path'>, reply: Reply): string | null {
  const { status, headers, text, body } = reply
  // At a hundred blocks a second, a read of one head may be refused with a retry-after.
  if (body.code === 'head_moving' && status === 503 && headers.has('retry-after')) return null
  if (status >= 500) return `${status} ${text}`.replaceAll(/[0-9a-f-]{36}/g, 'ID')
  // The answer to HEAD has no body; only its id can be seen.
  if (status < 400 || (text === '' && headers.has('x-request-id'))) return null
  const envelope = typeof body.error === 'string' && /^[a-z0-9_]+$/.test(String(body.code))
  if (!envelope) return `${status} without the envelope: ${String(body.code)}`
  if (body.requestId !== headers.get('x-request-id')) return `${status} without its request id`
  const operation = checker.operationAt(method ?? 'GET', path.split('?')[0] as string)
  // What is refused before its route is known is no answer of that route.
  if (operation === undefined || BEFORE_ANY_ROUTE.has(String(body.code))) return null
  return checker.misfits(operation.operationId, reply)[0] ?? null
}

/** Collects one example of each kind of misbehaviour, so that no kind hides another. */
class Findings {
  readonly #seen = new Map<string, string>()

  async try(sent: Sent): Promise<void> {
    const problem = await askRaw(daemon.url, sent).then(
      (reply) => misbehaviour(sent, reply),
      (error: Error) => `no answer: ${error.message}`,
    )
    if (problem !== null && !this.#seen.has(problem)) this.#seen.set(problem, JSON.stringify(sent).slice(0, 400))
  }

  get list(): readonly string[] {
    return [...this.#seen].map(([problem, example]) => `${problem} <- ${example}`)
  }
}

/** Values of unexpected types. */
const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 53, 1e308, '', '0', '-1', '0x', 'ff', 'f', 'FF', 'zz', [], {}, [[]]),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
)
const hostileText = fc.constantFrom(
  '['.repeat(50_000),
  `{"a":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_001)}`,
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"payment":{"__proto__":{"txId":"x"}}}',
  '{"request":"\\ud800","serviceId":"\\udfff"}',
  '{"request":1e999}',
  '{"request":"a","request":"b"}',
  `{"request":"${'a'.repeat(200_000)}"}`,
  '\ufeff{}',
  'null',
  'NaN',
  '"\\u0000"',
)

/** An object with the expected fields, some of them wrong or missing, and perhaps with unexpected ones. */
function mutated(good: JsonBody): fc.Arbitrary<JsonBody> {
  const names = Object.keys(good)
  const change = fc.tuple(fc.constantFrom(...names, 'extra', 'toString'), odd, fc.integer({ min: 0, max: 2 }))
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const result: Record<string, unknown> = { ...good }
    for (const [name, value, how] of changes) {
      const inner = result[name]
      if (how === 0) delete result[name]
      else if (how === 1 && inner !== null && typeof inner === 'object' && !Array.isArray(inner)) {
        const key = Object.keys(inner)[0] ?? 'x'
        result[name] = { ...inner, [key]: value }
      } else result[name] = value
    }
    return result
  })
}

/** Bodies for a path: well-formed with errors, hostile texts, and noise. */
function bodies(good: readonly JsonBody[]): fc.Arbitrary<string | Uint8Array> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.oneof(...good.map(mutated)).map((body) => JSON.stringify(body)) },
    { weight: 2, arbitrary: hostileText },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  )
}

async function fuzzBodies(path: fc.Arbitrary<string>, good: readonly JsonBody[], count: number): Promise<Findings> {
  const findings = new Findings()
  const sent = fc.asyncProperty(path, bodies(good), (where, body) =>
    findings.try({ method: 'POST', path: where, headers: JSON_TYPE, body }),
  )
  await fc.assert(sent, { numRuns: runs(count) })
  return findings
}

/** Parts of a path: almost valid ids, traversal, broken encodings, control characters, excessive length. */
const pathPart = fc.oneof(
  fc.constantFrom('latest', '0', '00', '-1', '1e3', '0x1', '99999999999', '9'.repeat(400), '%', '%zz', '%00', '%ff%fe'),
  fc.constantFrom(
    '..',
    '.',
    '%2e%2e%2f',
    '*',
    '{id}',
    ':id',
    '__proto__',
    'constructor',
    '%F0%9F%92%A9',
    '%ed%a0%80',
    ' ',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.stringMatching(/^[0-9a-f]{60,68}$/),
  fc
    .string({ unit: fc.constantFrom('d', 'f', 'a', 'r', '1', 'q', 'p', 'z'), maxLength: 100 })
    .map((text) => `dfar1${text}`),
  fc.stringMatching(/^[!-~]{1,60}$/).map((text) => text.replaceAll(/[?#/]/g, '')),
)
const query = fc.oneof(
  fc.constant(''),
  fc.constantFrom(
    '?',
    '?net',
    '?net=',
    '?net=%ff',
    '?net=a&net=b',
    '?limit[]=1',
    '?limit=1e9',
    '?cursor=%00',
    '?__proto__=1',
  ),
  fc.stringMatching(/^\?[!-~]{1,40}$/).map((text) => text.replaceAll('#', '')),
)

describe('hostile input never makes the node fail, and is always refused in the envelope:', () => {
  const N = 300

  it('bodies of transactions in JSON', async () => {
    const json = transactionToJson('dfar', payment.tx) as JsonBody
    const raw = Buffer.from(encodeTransaction(payment.tx)).toString('hex')
    const where = fc.constantFrom('/api/v1/tx', '/api/tx', '/api/v1/tx/simulate')
    expect((await fuzzBodies(where, [json, { raw }, { raw: raw.slice(0, 100) }], N)).list).toEqual([])
  })

  it('transactions in bytes', async () => {
    const findings = new Findings()
    const good = encodeTransaction(payment.tx)
    const flips = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    const bent = flips.map((changes) => {
      const bytes = Uint8Array.from(good)
      for (const [at, value] of changes) bytes[at] = value
      return bytes
    })
    const cut = fc.tuple(fc.nat(good.length), fc.nat(40)).map(([from, more]) => {
      return Uint8Array.from([...good.subarray(0, from), ...new Uint8Array(more)])
    })
    const headers = { 'content-type': 'application/octet-stream' }
    const path = fc.constantFrom('/api/v1/tx', '/api/v1/tx/simulate')
    const bytes = fc.oneof(bent, cut, fc.uint8Array({ maxLength: 500 }))
    const sent = fc.asyncProperty(path, bytes, (where, body) =>
      findings.try({ method: 'POST', path: where, headers, body }),
    )
    await fc.assert(sent, { numRuns: runs(N) })
    expect(findings.list).toEqual([])
  })

  it('transactions that are tried out, of which a good one would be mined', async () => {
    const caller = new Caller(daemon.url, 1)
    const hops = [{ asset: 'SALT' as TokenSymbol, feeBps: 30 }]
    const swap = { assetIn: 'FAR' as TokenSymbol, exactOut: false, amount: units(10n ** 9n), limit: units(0), hops }
    const pool = { assetA: 'FAR' as TokenSymbol, assetB: 'WOOL' as TokenSymbol, feeBps: 5 }
    const signed = [
      await caller.sign('swap', swap),
      await caller.sign('pool_create', { ...pool, amountA: units(10n ** 9n), amountB: units(10n ** 6n) }),
      await caller.sign('stake', { tier: 2, amount: units(10n ** 9n) }),
      await caller.sign('bridge_withdraw', { network: 1, amount: units(10n ** 7n), recipient: `0x${'11'.repeat(20)}` }),
      await caller.sign('unstake', { stakeId: payment.txId as TxId }),
    ]
    const good = signed.map((tx) => transactionToJson('dfar', tx) as JsonBody)
    const kept = await Promise.all(good.map((body) => post(daemon.url, '/api/v1/tx/simulate', body)))
    expect(kept.map(({ body }) => body.wouldMine)).toEqual(good.map(() => true))
    const payloads = good.map(({ payload }) => payload as JsonBody)
    // At least half of the errors are inside the payload, so that they reach the ledgers.
    const within = fc.oneof(
      ...good.map((body, i) => mutated(payloads[i]!).map((payload) => JSON.stringify({ ...body, payload }))),
      ...good.map((body) => mutated(body).map((bad) => JSON.stringify(bad))),
    )
    const findings = new Findings()
    const sent = fc.asyncProperty(within, (body) =>
      findings.try({ method: 'POST', path: '/api/v1/tx/simulate', headers: JSON_TYPE, body }),
    )
    await fc.assert(sent, { numRuns: runs(N) })
    expect(findings.list).toEqual([])
    expect((await ask(daemon.url, '/api/v1/mempool')).body.count).toBe(0)
  })

  it('queries of ledgers', async () => {
    const findings = new Findings()
    const { address } = new Caller('', 1)
    const places = [
      ...['tokens', 'tokens/FAR', 'tokens/SALT/holders', 'pools', 'pools/FAR-FUSD-30', 'pools/FAR-FUSD-30/candles'],
      ...[
        'swaps',
        'quote',
        'stables',
        'staking',
        'agents',
        `accounts/${address}/history`,
        `accounts/${address}/holdings`,
      ],
    ]
    const name = fc.constantFrom('limit', 'cursor', 'asset', 'pool', 'from', 'to', 'amount', 'amountOut', 'slippageBps')
    const value = fc.oneof(
      fc.constantFrom(
        'FAR',
        'SALT',
        'FUSD',
        'NONE',
        '1',
        '0',
        '-1',
        '1.5',
        '1e9',
        '0.00000001',
        '9'.repeat(40),
        '5-0-0',
      ),
      fc.constantFrom(
        `${'9'.repeat(30)}-${'ab'.repeat(32)}`,
        'ab'.repeat(32),
        '4294967295-4294967295',
        'FAR-SALT-30',
        '%00',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
    )
    const search = fc
      .array(fc.tuple(name, value), { maxLength: 4 })
      .map((pairs) => pairs.map(([key, text]) => `${key}=${text}`).join('&'))
    const sent = fc.asyncProperty(fc.constantFrom(...places), search, (place, text) =>
      findings.try({ method: 'GET', path: `/api/v1/${place}?${text}` }),
    )
    await fc.assert(sent, { numRuns: runs(2 * N) })
    expect(findings.list).toEqual([])
  })

  it('bodies of calls, paid and not', async () => {
    const { txId, serviceId } = payment
    const secret = 'ab'.repeat(32)
    // None of these calls has the secret of the payment's lock, so none may get a result.
    const good = [
      { serviceId, request: 'ok' },
      { serviceId, request: 'ok', payment: { txId } },
      { serviceId, request: 'ok', payment: { txId, secret } },
      { serviceId: 'node-tx-lookup', request: txId, payment: { txId, secret } },
    ]
    const where = fc.constantFrom('/api/x402', '/api/x402/node-test-again', '/api/x402/node-tx-lookup?net=mainnet')
    expect((await fuzzBodies(where, good, N)).list).toEqual([])
  })

  it('paths and queries', async () => {
    const findings = new Findings()
    const ledgers = ['/api/v1/tokens/', '/api/v1/pools/', '/api/v1/agents/', '/api/v1/bridge/', '/api/v1/']
    const chain = ['/api/v1/blocks/', '/api/v1/accounts/', '/api/v1/tx/', '/api/x402/', '/api/x402/requests/', '/']
    const places = [...chain, ...ledgers]
    const place = fc.constantFrom(...places)
    const method = fc.constantFrom('GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH')
    const tail = fc.constantFrom(
      '',
      '',
      '',
      '/',
      '/ancestry',
      '/example',
      '/x/y',
      '/holders',
      '/candles',
      '/history',
      '/holdings',
    )
    const sent = fc.asyncProperty(place, pathPart, tail, query, method, (start, part, end, search, verb) => {
      const path = `${start}${part}${end}${search}`.replaceAll(/[^!-~]/g, '')
      const body = verb === 'POST' ? { headers: JSON_TYPE, body: '{}' } : {}
      return findings.try({ method: verb, path, ...body })
    })
    await fc.assert(sent, { numRuns: runs(2 * N) })
    expect(findings.list).toEqual([])
  })

  it('headers', async () => {
    const findings = new Findings()
    const value = fc.stringMatching(/^[!-~]{0,60}$/)
    const type = fc.oneof(value, fc.constantFrom('application/json;', 'application/json; charset=utf-16', 'a/b;c=d'))
    const name = fc.constantFrom('accept', 'host', 'origin', 'if-none-match', 'x-payment', 'x-forwarded-host', 'range')
    const where = fc.constantFrom('/', '/api/x402/node-gas-tracker', '/services.json', '/api/v1/blocks/1', '/api/v1/tx')
    const sent = fc.asyncProperty(where, type, name, value, (path, contentType, header, text) => {
      const method = /x402|tx$/.test(path) ? 'POST' : 'GET'
      const common = { 'content-type': contentType, [header]: text }
      return findings.try({ method, path, headers: common, ...(method === 'POST' ? { body: '{}' } : {}) })
    })
    await fc.assert(sent, { numRuns: runs(N) })
    expect(findings.list).toEqual([])
  })

  it('and the node has logged no error of its own', () => {
    const errors = daemon.log
      .filter(({ level }) => Number(level) >= 50)
      .map(({ error }) => String(error).split('\n')[0])
    expect([...new Set(errors)]).toEqual([])
  })

  it('and after all of that the node is well and has the payment untouched', async () => {
    expect((await ask(daemon.url, '/ready')).status).toBe(200)
    expect(daemon.program.ended).toBeNull()
    const caller = new Caller(daemon.url, 1)
    expect((await caller.request(payment.txId)).status).toBe('paid')
    expect((await caller.settle(payment)).status).toBe(200)
    expect((await daemon.stop()).code).toBe(0)
  })
})
