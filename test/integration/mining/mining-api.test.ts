import { afterEach, describe, expect, it } from 'vitest'
import { decodeHeader } from '../../../consensus/block/header.ts'
import { POW_SALT, powInput } from '../../../consensus/block/pow.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import { askJob, followJobs, type JobView, submitNonce } from '../../../rpc/client/mining.ts'
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../../../rpc/server/limits.ts'
import { ask, type JsonBody, post, verdict } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { wallet } from '../../support/chain.ts'
import { until } from '../../support/processes.ts'

const owner = { address: wallet(5).address, text: formatAddress('dfar', wallet(5).address) }
const TEMPLATE = `/api/v1/mining/template?address=${owner.text}`
const JOBS = `/api/v1/mining/jobs?address=${owner.text}`

const open: { readonly server: ApiServer; readonly over: AbortController }[] = []

async function opened(change: Partial<HttpLimits> = {}): Promise<{ server: ApiServer; over: AbortController }> {
  const one = { server: await ApiServer.open(change), over: new AbortController() }
  open.push(one)
  return one
}

afterEach(async () => {
  for (const { server, over } of open.splice(0)) {
    over.abort()
    await server.close()
    expect(server.errors).toEqual([])
  }
})

const streams = (change: Partial<HttpLimits['streams']>): Partial<HttpLimits> => ({
  streams: { ...DEFAULT_HTTP_LIMITS.streams, ...change },
})

/** Follows jobs in the background. */
async function following({ server, over }: Awaited<ReturnType<typeof opened>>) {
  const jobs: JobView[] = []
  const stream = await followJobs(server.url, owner, over.signal)
  if (!stream.ok) throw new Error(JSON.stringify(stream.fault))
  const state = { jobs, ended: false }
  void (async () => {
    for await (const job of stream.value) jobs.push(job)
    state.ended = true
  })()
  return state
}

describe('a template over HTTP', () => {
  it('has everything that a miner needs, and is consistent', async () => {
    const { server } = await opened()
    const { status, body } = await ask<JsonBody & { readonly header: string; readonly pow: JsonBody }>(
      server.url,
      TEMPLATE,
    )
    expect(status).toBe(200)
    const bytes = fromHex(`${body.header}${'00'.repeat(body.nonceBytes as number)}`)
    const decoded = decodeHeader(bytes)
    const { header } = decoded.ok ? decoded.value : expect.fail('no header')
    expect(header).toMatchObject({ height: 1, miner: owner.address, parent: server.test.chain.head.id })
    expect(body).toMatchObject({ height: 1, parent: header.parent, powInput: toHex(powInput(bytes)), transactions: 0 })
    expect(body.target).toBe(header.target.toString(16).padStart(64, '0'))
    expect(body.pow).toEqual({ algorithm: 'argon2id', memoryKiB: 256, passes: 1, lanes: 1, salt: toHex(POW_SALT) })
    expect(BigInt(body.subsidy as string) + BigInt(body.tips as string)).toBe(BigInt(body.reward as string))
  })

  it('becomes a block with the nonce that is submitted, once', async () => {
    const { server } = await opened()
    const job = await askJob(server.url, owner)
    const { jobId } = job.ok ? job.value : expect.fail('no job')
    const taken = await submitNonce(server.url, jobId, 2n ** 64n - 1n)
    const { head } = server.test.chain
    expect(taken).toEqual({ ok: true, value: { accepted: true, id: head.id, height: 1 } })
    expect([head.header.miner, head.header.nonce]).toEqual([owner.address, 2n ** 64n - 1n])
    expect(await submitNonce(server.url, jobId, 0n)).toMatchObject({ value: { accepted: false, code: 'stale_job' } })
  })

  it.each([
    ['no address', '/api/v1/mining/template', '400 invalid_request'],
    [
      'an address of another network',
      '/api/v1/mining/template?address=far1qqqqqqqqqqqqqqqqqqqqqqqq',
      '400 invalid_address',
    ],
    ['a broken address', `${TEMPLATE}x`, '400 invalid_address'],
    ['a stream for a broken address', `${JOBS}x`, '400 invalid_address'],
  ])('is refused for %s', async (_, path, refusal) => {
    const { server } = await opened()
    expect(verdict(await ask(server.url, path))).toBe(refusal)
  })

  it.each([
    ['a nonce of 2^64', { nonce: (2n ** 64n).toString() }, '400 invalid_request'],
    ['a nonce of a million digits', { nonce: '9'.repeat(1_000_000) }, '400 invalid_request'],
    ['a nonce below 0', { nonce: '-1' }, '400 invalid_request'],
    ['a number', { nonce: 7 }, '400 invalid_request'],
    ['no job', { jobId: undefined }, '400 invalid_request'],
    ['a job that never was', {}, '404 unknown_job'],
  ])('takes no submission with %s', async (_, change, refusal) => {
    const { server } = await opened()
    const body = { jobId: '00'.repeat(16), nonce: '1', ...change }
    expect(verdict(await post(server.url, '/api/v1/mining/submit', body))).toBe(refusal)
  })

  it('is limited by address like any costly request', async () => {
    const { server } = await opened({ ratesPerMinute: { ...DEFAULT_HTTP_LIMITS.ratesPerMinute, mining: 2 } })
    const verdicts = []
    for (let i = 0; i < 3; i++)
      verdicts.push(verdict(await post(server.url, '/api/v1/mining/submit', { jobId: '00'.repeat(16), nonce: '1' })))
    expect(verdicts).toEqual(['404 unknown_job', '404 unknown_job', '429 rate_limited'])
  })
})

describe('the stream of jobs', () => {
  it('brings the newest job first and then one for each head', async () => {
    const place = await opened()
    const state = await following(place)
    await until('the first job', () => state.jobs.length === 1)
    for (let height = 1; height <= 5; height++) {
      await place.server.test.mine()
      await until(`the job above ${height}`, () => state.jobs.some((job) => job.height === height + 1))
    }
    expect(state.jobs.map(({ height }) => height)).toEqual([1, 2, 3, 4, 5, 6])
    expect(state.jobs.at(-1)?.parent).toBe(place.server.test.chain.head.id)
  })

  it('is a public event stream with a heartbeat, and does not count as a request under way', async () => {
    const { server, over } = await opened({ concurrentMax: 1, ...streams({ heartbeatMs: 20 }) })
    const response = await fetch(`${server.url}${JOBS}`, { signal: over.signal })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    let text = ''
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    while (!text.endsWith('\n\n:\n\n:\n\n')) text += (await reader.read()).value
    expect(text).toMatch(/^retry: 1000\n\nevent: job\nid: [0-9a-f]{32}\ndata: \{"jobId":"[^\n]+\}\n\n(:\n\n)+$/)
    expect((await ask(server.url, '/health')).status).toBe(200)
    await reader.cancel().catch(() => {})
  })

  it('is bounded in number, for each address and in all, and frees its place at its end', async () => {
    const place = await opened(streams({ openPerAddressMax: 2 }))
    const [first, second] = [new AbortController(), new AbortController()]
    // The test keeps the responses: a garbage-collected response would close its stream.
    const asked = [first, second].map(({ signal }) => fetch(`${place.server.url}${JOBS}`, { signal }))
    const answers = await Promise.all(asked)
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(verdict(await ask(place.server.url, JOBS))).toBe('429 too_many_streams')
    first.abort()
    await until('a place is free', async () => {
      const { status } = await fetch(`${place.server.url}${JOBS}`, { signal: place.over.signal })
      return status === 200
    })
    second.abort()
    expect(answers).toHaveLength(2)
  })

  it('answers a HEAD request', async () => {
    const { server } = await opened()
    const response = await fetch(`${server.url}${JOBS}`, { method: 'HEAD' })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(await response.text()).toBe('')
  })

  it('ends by itself when the server closes, which does not wait for its readers', async () => {
    const server = await ApiServer.open()
    const over = new AbortController()
    const states = await Promise.all(Array.from({ length: 5 }, () => following({ server, over })))
    await server.close()
    await until('every reader saw the end', () => states.every(({ ended }) => ended))
    expect(over.signal.aborted).toBe(false)
  })
})
