import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChatKey } from '../../../marketplace/chat/keys/keys.ts'
import { estimatedPrompt } from '../../../marketplace/chat/models/usage.ts'
import type { ChatFacts } from '../../../rpc/node/node-api.ts'
import type { JsonBody } from '../../support/api.ts'
import { ChatServer, eventsOf, HELLO, readAll } from '../../support/chat-server.ts'
import { until } from '../../support/processes.ts'
import type { ChatQuestion } from '../../support/upstreams/openai.ts'

const MIB = 1_048_576
const PATH = '/api/v1/chat/completions'
/** Servers that hang do so until the caller leaves. */
const PATIENT = { means: { budgetMs: 60_000 }, backends: [{ limits: { timeoutMs: 60_000 } }] }
let server: ChatServer

beforeEach(async () => {
  server = await ChatServer.open({ bounds: { concurrent: 4 }, concurrentMax: 6, ...PATIENT })
})
afterEach(async () => {
  await server.close()
  expect(server.errors).toEqual([])
})

/** Starts a chat, and leaves once a condition holds. */
async function leave(body: object, when: () => boolean): Promise<void> {
  const over = new AbortController()
  const answer = server.post(body, { signal: over.signal }).then(readAll)
  answer.catch(() => {})
  await until('it is under way', when, { everyMs: 5 })
  over.abort()
  await answer.catch(() => {})
}

const isAsked =
  (count = 1) =>
  () =>
    server.world.fake.questions.length >= count

describe('a caller who goes away', () => {
  it.each([
    ['before anything was said', 'hang', false],
    ['before the first word of a stream', 'hang', true],
    ['in the middle of a stream', 'stall', true],
  ] as const)('%s is asked for no longer, and leaves nothing behind', async (_, profile, stream) => {
    server.world.fake.profile = profile
    await leave({ ...HELLO, stream }, isAsked())
    await server.settled()
    await until('the server sees it', () => server.world.fake.abandoned === 1)
    expect(server.world.fake.questions).toHaveLength(1)
    expect(server.chats).toMatchObject([{ status: 499, model: 'model-1' }])
    // The model has read the question, so its tokens count.
    expect(server.chats[0]?.usage.promptTokens).toBeGreaterThan(0)
    // The slots are free again: four more chats fit.
    server.world.fake.profile = 'ok'
    const more = await Promise.all([1, 2, 3, 4].map(() => server.post(HELLO)))
    expect(more.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  it('while it waits for a server is forgotten there', async () => {
    await server.renew({ ...PATIENT, backends: [{ limits: { concurrency: 1, timeoutMs: 60_000 } }] })
    server.world.fake.profile = 'hang'
    const first = new AbortController()
    const inside = server.post(HELLO, { signal: first.signal })
    inside.catch(() => {})
    await until('the first is asked', isAsked())
    await leave(HELLO, () => server.world.pool.facts[0]?.waiting === 1)
    await until('no caller waits', () => server.world.pool.facts[0]?.waiting === 0)
    expect(server.world.fake.questions).toHaveLength(1)
    first.abort()
    await server.settled()
    expect(server.chats.map(({ status }) => status)).toEqual([499, 499])
    // One question was never sent.
    expect(server.chats.map(({ usage }) => usage.promptTokens > 0)).toEqual([false, true])
  })

  it.each(['model-2', 'model-3', 'model-4'])(
    'during a later step of %s ends it there, and what was used counts',
    async (model) => {
      server.world.fake.profile = (_: ChatQuestion, asked: number) => (asked === 1 ? 'ok' : 'hang')
      const messages = [
        { role: 'user', content: 'Write a parser for expressions in Rust, step by step, and prove that it ends.' },
      ]
      await leave({ model, messages, stream: true }, isAsked(2))
      await server.settled()
      const asked = server.world.fake.questions.length
      await until('the servers see it', () => server.world.fake.abandoned === asked - 1)
      expect(server.chats).toMatchObject([{ status: 499, usage: { completionTokens: 11, estimated: true } }])
      // The answer that came counts, and so do the questions that were given up.
      const { promptTokens } = (server.chats[0] as ChatFacts).usage
      expect(promptTokens).toBeGreaterThan(7 + 20 * (asked - 1))
      const [key] = server.keys.list('operator')
      expect(key?.usedToday).toEqual({ requests: 1, promptTokens, completionTokens: 11 })
    },
  )
})

describe('the tokens of a day', () => {
  it('are held for chats that are under way, so that many at once use no more than one would', async () => {
    const limits = { rpm: null, tpd: 6_000 }
    const key = await server.keys.create({ label: 'small', owner: 'somebody', limits, expiresAtMs: null })
    if (!key.ok) throw new Error(key.fault.code)
    const headers = { authorization: `Bearer ${key.value.secret}` }
    const left = (response: Response): number => Number(response.headers.get('x-ratelimit-remaining-tokens'))
    const over = new AbortController()
    const begin = (max_tokens: number) =>
      server.post({ ...HELLO, stream: true, max_tokens }, { headers, signal: over.signal })
    server.world.fake.profile = 'stall'
    const expected = estimatedPrompt(HELLO.messages) + 2_000
    const begun = [await begin(2_000), await begin(2_000), await begin(100_000)]
    expect(begun.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(begun.map(left)).toEqual([6_000 - expected, 6_000 - 2 * expected, 0])
    const refused = await begin(16)
    expect([refused.status, left(refused), refused.headers.get('retry-after')]).toEqual([429, 0, '1'])
    expect(await refused.json()).toMatchObject({
      error: { code: 'rate_limit_exceeded', message: expect.stringContaining('under way') },
    })
    const ended = begun.map(readAll)
    over.abort()
    await Promise.all(ended)
    await server.settled()
    server.world.fake.profile = 'ok'
    const answer = await server.post(HELLO, { headers })
    await readAll(answer)
    const [{ usedToday }] = server.keys.list('somebody') as [ChatKey]
    expect([answer.status, left(answer)]).toEqual([200, 6_000 - usedToday.promptTokens - usedToday.completionTokens])
    expect(usedToday.requests).toBe(4)
  })
})

describe('a stop of the node', () => {
  it('ends every chat at once: with a status of its own before the first word, with an error after it', async () => {
    server.world.fake.profile = (_: ChatQuestion, asked: number) => (asked === 1 ? 'stall' : 'hang')
    const begun = await server.post({ ...HELLO, stream: true })
    const waiting = server.post(HELLO)
    await until('both are asked', isAsked(2))
    server.room.close()
    const late = await waiting
    expect(late.status).toBe(503)
    expect(await late.json()).toMatchObject({ error: { code: 'node_stopping', type: 'server_error' } })
    const { text, isCut } = await readAll(begun)
    expect(isCut).toBe(true)
    expect(JSON.parse(eventsOf(text).at(-1) as string)).toMatchObject({ error: { code: 'node_stopping' } })
    await server.settled()
    expect((await server.post(HELLO)).status).toBe(503)
    expect(server.chats.map(({ status }) => status)).toEqual([503, 503])
  })
})

describe('chats at once', () => {
  it('are bounded for a wallet, whatever keys it shows, and for the node', async () => {
    server.world.fake.profile = 'hang'
    const over = new AbortController()
    const begin = (key: string): void => {
      const headers = { authorization: `Bearer ${key}` }
      server.post(HELLO, { signal: over.signal, headers }).catch(() => {})
    }
    const wallets = [await server.newKey('wallet'), await server.newKey('wallet')] as const
    for (const key of [...wallets, ...wallets]) begin(key)
    await until('four are asked', isAsked(4))
    const refused = await server.post(HELLO, { headers: { authorization: `Bearer ${wallets[0]}` } })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('retry-after-ms')).toBe('1000')
    const others = await server.newKey('somebody')
    for (const key of [others, others]) begin(key)
    await until('six are asked', isAsked(6))
    const full = await server.post(HELLO, { headers: { authorization: `Bearer ${await server.newKey('another')}` } })
    expect(full.status).toBe(429)
    expect(((await full.json()) as { error: JsonBody }).error.code).toBe('rate_limit_exceeded')
    expect(server.world.fake.questions).toHaveLength(6)
    over.abort()
    await server.settled()
  })
})

describe('a reader that does not read', () => {
  const PIECES = 100_000

  it('slows its server down, and nothing is gathered for it', async () => {
    server.world.fake.answer = () => 'x'.repeat(3 * PIECES)
    const socket = rawChat({ ...HELLO, stream: true })
    socket.pause()
    await until('it is asked', isAsked())
    // Without backpressure the server would send everything, about 20 MB.
    expect(await until('it stands still', standing)).toBe(1)
    socket.destroy()
    await server.settled()
    expect(server.chats).toMatchObject([{ status: 499 }])
  })

  it('does not keep the place at its backend, which others wait for, but its own', async () => {
    // About 5 MB with the framing of each piece.
    server.world.fake.answer = () => 'xyz'.repeat(PIECES / 5)
    const socket = rawChat({ ...HELLO, stream: true })
    socket.pause()
    await until('it is asked', isAsked())
    await until('all was said', () => server.chats.length === 1)
    expect(server.chats).toMatchObject([{ status: 200 }])
    expect([server.room.inside, server.world.fake.open, socket.destroyed]).toEqual([1, 0, false])
    socket.destroy()
    await server.settled()
  })

  it('gets all of it when it goes on', async () => {
    server.world.fake.answer = () => 'xyz'.repeat(PIECES / 2.5)
    const socket = rawChat({ ...HELLO, stream: true })
    socket.pause()
    await until('it is asked', isAsked())
    let text = ''
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    socket.resume()
    await until('it is at the end', () => text.includes('data: [DONE]'))
    const said = [...text.matchAll(/"content":"([xyz]*)"/g)].map(([, content]) => content).join('')
    expect(said).toBe('xyz'.repeat(PIECES / 2.5))
    socket.destroy()
  })

  /** Number of answers that the model is sending, if it is the same for a while. False if it changes or is 0. */
  async function standing(): Promise<number | false> {
    const open = server.world.fake.open
    await new Promise((resolve) => setTimeout(resolve, 300))
    return server.world.fake.open === open && open > 0 && open
  }
})

describe('a long body', () => {
  const picture = (bytes: number) => ({
    model: 'model-1',
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } }],
      },
    ],
  })

  it('is read to the end where it holds texts, and refused where it holds a million values', async () => {
    const seen = await server.post(picture(19 * MIB))
    expect(await seen.json()).toMatchObject({ error: { code: 'unsupported_parameter' } })
    const many = await server.post(undefined, { body: `{"a":[${'[],'.repeat(MIB)}1]}` })
    expect(many.status).toBe(400)
    expect(await many.json()).toMatchObject({ error: { param: 'body', message: expect.stringContaining('values') } })
    // A short body with many values is accepted.
    const short = await server.post({ ...HELLO, unheard_of: Array.from({ length: 20_000 }, () => 1) })
    expect(short.status).toBe(200)
  })

  it('is one of few at once, for an owner and for the node, and of those without a key none is read', async () => {
    const begun = [1, 2].map(() => beginLong(server.key))
    await Promise.all(begun.map(({ sent }) => sent))
    const refused = await server.post(picture(3 * MIB))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    // A short body still has room, and so has a long body of another caller.
    expect((await server.post(HELLO)).status).toBe(200)
    const other = { authorization: `Bearer ${await server.newKey('somebody')}` }
    expect((await server.post(picture(3 * MIB), { headers: other })).status).toBe(400)
    for (const one of begun) one.end()
    await until('there is room again', async () => (await server.post(picture(3 * MIB))).status === 400)
    const stranger = beginLong('fk-nobody')
    expect(await stranger.answer).toBe(401)
    stranger.end()
  })
})

/** Announces twenty megabytes, and sends one of them. */
function beginLong(key: string) {
  const { hostname, port } = new URL(server.url)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': 20 * MIB,
  }
  const sent = request({ hostname, port, method: 'POST', path: PATH, headers, agent: false })
  sent.on('error', () => {})
  const answer = new Promise<number | undefined>((resolve) => {
    sent.on('response', ({ statusCode }) => resolve(statusCode))
  })
  const written = new Promise<void>((resolve) => {
    sent.write(`{"a":"${'x'.repeat(MIB)}`, () => resolve())
  })
  return { sent: written, answer, end: () => void sent.destroy() }
}

/** Sends a chat over a plain socket, which the test can pause. */
function rawChat(body: object): Socket {
  const { hostname, port } = new URL(server.url)
  const text = JSON.stringify(body)
  const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`
  return connect(Number(port), hostname, function (this: Socket) {
    this.write(head + text)
  }).on('error', () => {})
}
