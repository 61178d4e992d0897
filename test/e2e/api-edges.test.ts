import { beforeAll, describe, expect, it } from 'vitest'
import { transactionToJson } from '../../consensus/tx/json.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { ask, type CallView, post, type Reply, verdict } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { askBytes, askRaw } from '../support/raw-http.ts'

const workshop = new Workshop()
const env = { TEST_FAST_BLOCKS: '1' }
let daemon: RunningDaemon
let buyer: Caller

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env })
  await marketOpen(daemon.url)
  buyer = new Caller(daemon.url, 1)
})

/** Expects the error envelope, whose request id stands in the header too. */
function expectEnvelope({ body, headers }: Pick<Reply, 'body' | 'headers'>, code?: string): void {
  expect(body).toMatchObject({ error: expect.any(String), code: expect.stringMatching(/^[a-z0-9_]+$/) })
  expect(body.requestId).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('x-request-id')).toBe(body.requestId)
  if (code !== undefined) expect(body.code).toBe(code)
}

describe('refusals of HTTP itself', () => {
  it.each(['/nowhere', '/api/v3', '/api/v1/tx/a/b', '/api/v2/blocks', '//', '/%00', '/..%2f..%2fetc/passwd'])(
    '%s is 404',
    async (path) => {
      const reply = await askRaw(daemon.url, { path })
      expect(reply.status).toBe(404)
      expectEnvelope(reply, 'not_found')
    },
  )

  it.each([
    ['DELETE', '/api/v1/tx', 'POST'],
    ['GET', '/api/v1/tx', 'POST'],
    ['GET', '/api/x402', 'POST'],
    ['PUT', '/api/x402/node-gas-tracker', 'POST, GET, HEAD'],
    ['PUT', '/api/v1/blocks/latest', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['PATCH', '/', 'GET, HEAD'],
  ])('%s %s is 405 and Allow says %s', async (method, path, allow) => {
    const reply = await askRaw(daemon.url, { method, path })
    expect(reply.status).toBe(405)
    expect(reply.headers.get('allow')).toBe(allow)
    expectEnvelope(reply, 'method_not_allowed')
  })

  it('HEAD is served wherever GET is', async () => {
    for (const path of ['/', '/health', '/services.json', '/api/v1/blocks/latest', '/openapi.json']) {
      const reply = await askRaw(daemon.url, { method: 'HEAD', path })
      expect({ path, status: reply.status, text: reply.text }).toEqual({ path, status: 200, text: '' })
    }
  })

  it('a body of more than a mebibyte is 413, before it is read', async () => {
    for (const path of ['/api/v1/tx', '/api/x402', '/api/x402/node-gas-tracker']) {
      const declared = [
        'POST',
        path,
        'HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1048577\r\n\r\n',
      ]
      const early = await askBytes(daemon.url, declared.join(' '))
      expect(early).toMatch(/^HTTP\/1\.1 413 /)
      expect(early).toContain('"code":"body_too_large"')
      const body = JSON.stringify({ request: 'x'.repeat(1_048_576) })
      const reply = await askRaw(daemon.url, {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(reply.status).toBe(413)
      expectEnvelope(reply, 'body_too_large')
      expect(reply.body.details).toEqual({ limitBytes: 1_048_576 })
    }
  })

  it('a body of another type is 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'x']) {
      for (const path of ['/api/v1/tx', '/api/x402', '/api/x402/node-gas-tracker']) {
        const reply = await post(daemon.url, path, '{}', { 'content-type': type })
        expect(reply.status, `${type} at ${path}`).toBe(415)
        expectEnvelope(reply, 'unsupported_media_type')
      }
    }
    const bytes = await post(daemon.url, '/api/x402/node-gas-tracker', 'x', {
      'content-type': 'application/octet-stream',
    })
    expect(bytes.status).toBe(415)
    expectEnvelope(bytes, 'unsupported_media_type')
  })

  it('JSON with a charset is JSON', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    expect((await post(daemon.url, '/api/x402/node-gas-tracker', '{}', headers)).status).toBe(402)
    expect((await post(daemon.url, '/api/v1/tx', '{}', headers)).status).toBe(400)
  })

  it('a client that wants problem details gets them in the same object', async () => {
    const headers = { accept: 'application/problem+json' }
    const reply = await ask(daemon.url, '/api/v1/blocks/4000000000', { headers })
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expectEnvelope(reply, 'block_not_found')
    const { error } = reply.body
    expect(reply.body).toMatchObject({ type: '/errors/block_not_found', status: 404, detail: error })
    expect(reply.body).toMatchObject({ title: 'block not found', instance: '/api/v1/blocks/4000000000' })
  })

  it.each([
    ['a path that is not percent-encoded text', '/api/v1/tx/%zz', 400],
    ['a path with broken UTF-8', '/api/x402/%ff%fe', 400],
    ['a very long part of a path', `/api/v1/accounts/${'a'.repeat(500)}`, 400],
  ])('%s gets the envelope too', async (_, path, status) => {
    const reply = await askRaw(daemon.url, { path, method: path.includes('x402') ? 'POST' : 'GET' })
    expect(reply.status).toBeGreaterThanOrEqual(status)
    expect(reply.status).toBeLessThan(500)
    expectEnvelope(reply)
  })

  it('bytes that are not HTTP are refused and do no harm', async () => {
    for (const bytes of [
      '\0\0\0\0\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
    ]) {
      expect(await askBytes(daemon.url, bytes)).toMatch(/^HTTP\/1\.1 4\d\d |^$/)
    }
    expect((await ask(daemon.url, '/health')).status).toBe(200)
  })
})

describe('a node that limits quotes to five a minute', () => {
  it('answers the sixth with 429 and when to come back, and leaves everything else alone', async () => {
    const strict = await workshop.start(workshop.folder(), { env, mine: 0, flags: ['--rpc-rate-quote', '5'] })
    const quote = () => post<CallView>(strict.url, '/api/x402/node-gas-tracker', {})
    for (let i = 0; i < 5; i++) expect((await quote()).status).toBe(402)
    const limited = await quote()
    expect(verdict(limited)).toBe('429 rate_limited')
    expectEnvelope(limited as Reply<never>)
    const seconds = Number(limited.headers.get('retry-after'))
    const { seconds: said } = limited.body.details as { seconds: number }
    expect(said).toBeGreaterThan(30)
    // A caller who returns as told must be served, so the header must not be shorter than the text says.
    expect(seconds).toBeGreaterThanOrEqual(said)
    expect(seconds).toBeLessThanOrEqual(60)
    for (const path of ['/health', '/services.json', '/api/v1/status', '/metrics']) {
      expect((await ask(strict.url, path)).status).toBe(200)
    }
    expect((await post(strict.url, '/api/v1/tx', {})).status).toBe(400)
    expect((await strict.stop()).code).toBe(0)
  })
})

describe('pages', () => {
  interface Page {
    readonly blocks: readonly { readonly height: number; readonly id: string }[]
    readonly nextCursor: string | null
  }

  it('of blocks stay correct while new ones arrive', async () => {
    await until('40 blocks', async () => (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height > 40)
    const seen: { readonly height: number; readonly id: string }[] = []
    let cursor: string | null = ''
    do {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const page: Reply<Page> = await ask<Page>(daemon.url, `/api/v1/blocks?limit=7${query}`)
      seen.push(...page.body.blocks)
      cursor = page.body.nextCursor
    } while (cursor !== null)
    const top = seen[0]!.height
    expect(seen.map(({ height }) => height)).toEqual(Array.from({ length: top + 1 }, (_, i) => top - i))
    await until(
      'a block more',
      async () => (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height > top,
    )
    for (const { height, id } of [seen[0]!, seen[9]!, seen.at(-1)!]) {
      expect((await ask(daemon.url, `/api/v1/blocks/${height}`)).body.id).toBe(id)
      expect((await ask(daemon.url, `/api/v1/blocks/${id}`)).body.height).toBe(height)
    }
  })

  it('of paid calls stay correct while new ones arrive', async () => {
    const pay = async (count: number): Promise<string[]> => {
      const payments = await Promise.all(
        Array.from({ length: count }, () => buyer.pay({ serviceId: 'node-network-stats', request: '', lock: 'lock' })),
      )
      for (const payment of payments) expect((await buyer.settle(payment)).status).toBe(200)
      return payments.map(({ txId }) => txId)
    }
    const paid = await pay(5)
    const seen: string[] = []
    let cursor: string | null = ''
    do {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const path = `/api/x402/requests?limit=2${query}`
      const page = await ask<{ requests: { txId: string }[]; nextCursor: string | null }>(daemon.url, path)
      seen.push(...page.body.requests.map(({ txId }) => txId))
      cursor = page.body.nextCursor
      if (seen.length < 5) await pay(1)
    } while (cursor !== null)
    expect(seen).toEqual(paid.reverse())
  })
})

describe('a transaction', () => {
  it.each(['/api/v1/tx', '/api/tx'])('may come to %s as bytes, as hex or as JSON, and is the same', async (path) => {
    const forms: readonly ((tx: Transaction) => Promise<Reply>)[] = [
      (tx) => {
        const headers = { 'content-type': 'application/octet-stream' }
        const body = encodeTransaction(tx) as Uint8Array<ArrayBuffer>
        return ask(daemon.url, path, { method: 'POST', headers, body })
      },
      (tx) => post(daemon.url, path, { raw: Buffer.from(encodeTransaction(tx)).toString('hex') }),
      (tx) => post(daemon.url, path, transactionToJson('dfar', tx)),
    ]
    for (const [i, first] of forms.entries()) {
      const payload = { to: buyer.key.address, amount: BigInt(i + 1) as never, create: false }
      // The nonce before it is missing, so the transaction waits in the mempool while it is sent again in other encodings.
      const tx = await buyer.sign('transfer', payload, { ahead: 1n, validUntil: 1_000_000 + i })
      const { txId, wtxId } = tx
      const before = await buyer.sign('transfer', payload)
      expect(await first(tx)).toMatchObject({ status: 200, body: { txId, wtxId, status: 'mempool', known: false } })
      for (const again of forms) {
        expect(await again(tx)).toMatchObject({ status: 200, body: { txId, wtxId, status: 'mempool', known: true } })
      }
      expect((await ask(daemon.url, `/api/v1/tx/${txId}`)).body).toMatchObject({ status: 'mempool', confirmations: 0 })
      expect((await first(before)).status).toBe(200)
      await buyer.mined(txId)
      for (const again of forms) expect(verdict((await again(tx)) as Reply<CallView>)).toBe('409 transaction_mined')
    }
  })
})

describe('a request text that is no well-formed Unicode', () => {
  it('is not taken for the one that its bytes would spell', async () => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request: 'ok:\ufffd' })
    expect(verdict(await buyer.settle(payment))).toBe('200 paid')
    const { txId } = payment
    const halves = ['ok:\\ud800', 'ok:\\udfff'].map((text) => `{"request":"${text}","payment":{"txId":"${txId}"}}`)
    for (const body of halves) {
      const reply = await post<CallView>(daemon.url, '/api/x402/node-test-again', body)
      expect([400, 409], reply.text).toContain(reply.status)
    }
  })
})
