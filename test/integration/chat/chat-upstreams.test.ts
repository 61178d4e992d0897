import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChatServer, eventsOf, HELLO, readAll } from '../../support/chat-server.ts'
import type { ChatWorldParts } from '../../support/chat-world.ts'
import { type ChatProfile, HOUSE_TEXT } from '../../support/upstreams/openai.ts'

/** Servers that fall silent: the test waits for the timeout. Other servers have all the time they need. */
const SILENT: ReadonlySet<ChatProfile> = new Set(['stall', 'hang'])
const SILENT_MEANS = { budgetMs: 1_000 }

let server: ChatServer

beforeAll(async () => {
  server = await ChatServer.open()
})
afterAll(() => server.close())

interface Answered {
  readonly status: number
  /** Text of the answer, as far as it came. */
  readonly text: string
  readonly reason: string | null
  /** Code of the error, from the answer or the end of its stream. */
  readonly code: string | null
  readonly isDone: boolean
  readonly isCut: boolean
  readonly hits: number
}

const SECRETS = ['sk-house', '127.0.0.1', 'house-0', 'fell over', 'safety system', 'overloaded', 'slow down', '<html>']

async function asked(
  profile: ChatProfile,
  { model = 'model-1', stream, ...parts }: ChatWorldParts & { readonly model?: string; readonly stream: boolean },
): Promise<Answered> {
  await server.renew({ ...(SILENT.has(profile) && { means: SILENT_MEANS }), ...parts })
  const before = server.chats.length
  server.world.fake.profile = profile
  const response = await server.post({ ...HELLO, model, stream })
  const { text, isCut } = await readAll(response)
  await server.settled()
  expect(server.errors).toEqual([])
  expect(server.chats).toHaveLength(before + 1)
  for (const secret of SECRETS) expect(text).not.toContain(secret)
  const hits = server.world.fake.questions.length
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  return { status: response.status, isCut, hits, ...(isStream ? ofStream(text) : ofWhole(text)) }
}

function ofWhole(text: string): Omit<Answered, 'status' | 'isCut' | 'hits'> {
  const { choices, error } = JSON.parse(text)
  const [choice] = choices ?? []
  return {
    text: choice?.message.content ?? '',
    reason: choice?.finish_reason ?? null,
    code: error?.code ?? null,
    isDone: false,
  }
}

function ofStream(text: string): Omit<Answered, 'status' | 'isCut' | 'hits'> {
  const data = eventsOf(text)
  const isDone = data.at(-1) === '[DONE]'
  const chunks = data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one))
  const error = chunks.find((chunk) => chunk.error !== undefined)?.error
  if (error !== undefined) expect(chunks.at(-1)).toEqual({ error })
  const choices = chunks.flatMap((chunk) => chunk.choices ?? [])
  const reasons = choices.map(({ finish_reason }) => finish_reason).filter((reason) => reason !== null)
  expect(reasons.length).toBe(isDone ? 1 : 0)
  const said = choices.map(({ delta }) => delta.content ?? '').join('')
  return { text: said, reason: reasons[0] ?? null, code: error?.code ?? null, isDone }
}

const GOOD: Partial<Answered> = { status: 200, text: HOUSE_TEXT, reason: 'stop', code: null, isCut: false, hits: 1 }
const HALF = HOUSE_TEXT.slice(0, 6)
const broken = (text: string): Partial<Answered> => ({
  ...{ status: 200, text, reason: null, code: 'upstream_error', isDone: false, isCut: true, hits: 1 },
})
const failed = (hits: number, status = 502, code = 'upstream_error'): Partial<Answered> => ({
  ...{ status, text: '', reason: null, code, isDone: false, isCut: false, hits },
})

/** Outcome of each profile: for a complete answer, and for a stream. */
const TABLE: Readonly<Record<ChatProfile, readonly [Partial<Answered>, Partial<Answered>]>> = {
  ok: [GOOD, GOOD],
  'split-utf8': [GOOD, GOOD],
  'slow-first-token': [GOOD, GOOD],
  stall: [failed(1, 504, 'upstream_timeout'), { ...broken(HALF), code: 'upstream_timeout' }],
  hang: [failed(1, 504, 'upstream_timeout'), failed(1, 504, 'upstream_timeout')],
  // An attempt without output is repeated. A stream that has begun is not.
  cut: [failed(3), broken(HALF)],
  'no-end': [failed(1), broken(HALF)],
  'no-done': [GOOD, GOOD],
  'done-without-reason': [failed(1), broken(HOUSE_TEXT)],
  'in-band-error': [failed(3), failed(3)],
  'late-error': [GOOD, broken(HALF)],
  'bad-json-line': [GOOD, GOOD],
  'bad-json-lines': [failed(1), broken(HOUSE_TEXT)],
  'not-an-event': [GOOD, GOOD],
  '401': [failed(1), failed(1)],
  '429': [failed(3, 429, 'rate_limit_exceeded'), failed(3, 429, 'rate_limit_exceeded')],
  '400': [failed(1, 400, 'request_refused'), failed(1, 400, 'request_refused')],
  '503': [failed(3), failed(3)],
  '502-html': [failed(3), failed(3)],
  'sse-when-json': [GOOD, GOOD],
  'json-when-sse': [GOOD, GOOD],
  html: [failed(1), failed(1)],
  'empty-content': [failed(1), failed(1)],
  // Reasoning is streamed at once, so the answer cannot be replaced.
  'reasoning-only': [failed(1), broken('')],
  'tool-calls': [
    { ...GOOD, text: '', reason: 'tool_calls' },
    { ...GOOD, text: '', reason: 'tool_calls' },
  ],
  'usage-missing': [GOOD, GOOD],
  'wrong-model-echo': [GOOD, GOOD],
  'huge-delta': [failed(1), failed(1)],
  'duplicate-finish': [GOOD, GOOD],
  filtered: [
    { ...GOOD, reason: 'content_filter' },
    { ...GOOD, reason: 'content_filter' },
  ],
  length: [
    { ...GOOD, reason: 'length' },
    { ...GOOD, reason: 'length' },
  ],
  'url-picture': [GOOD, GOOD],
  'data-picture': [GOOD, GOOD],
  'no-response-format': [GOOD, GOOD],
  'new-names': [
    { ...GOOD, hits: 2 },
    { ...GOOD, hits: 2 },
  ],
}

describe('model-1 behind a server that', () => {
  const rows = Object.entries(TABLE) as [ChatProfile, (typeof TABLE)[ChatProfile]][]
  it.each(rows)('does %s', async (profile, [whole, streamed]) => {
    expect(await asked(profile, { stream: false })).toMatchObject(whole)
    const got = await asked(profile, { stream: true })
    expect(got).toMatchObject(streamed)
    expect(got.isDone).toBe(streamed.reason !== null)
  })

  it('fails is not the last: the next one answers, unseen by the caller', async () => {
    for (const stream of [false, true])
      for (const profile of ['503', '401', 'html', 'in-band-error', 'empty-content', 'no-end'] as const) {
        const got = await asked(profile, { stream, backends: [{}, {}] })
        const isHalfSaid = stream && profile === 'no-end'
        expect(got).toMatchObject(isHalfSaid ? broken(HALF) : { status: 200, text: HOUSE_TEXT, reason: 'stop' })
      }
  })
})

describe.each(['model-2', 'model-3', 'model-4'])('%s behind a server that', (model) => {
  const BAD = ['503', '401', '429', 'html', 'in-band-error', 'empty-content', 'hang'] as const

  it.each(BAD)('does %s to every question fails with a status of its own, streamed or not', async (profile) => {
    for (const stream of [false, true]) {
      const got = await asked(profile, { model, stream })
      expect(got).toMatchObject({ text: '', reason: null, isDone: false })
      // A server that refuses the key is left alone, so that the later stages have no model to ask.
      const refused = model === 'model-4' ? 502 : 503
      const { [profile as string]: status = 502 } = { '429': 429, '401': refused, hang: 504 }
      expect(got.status).toBe(status)
    }
  })

  it.each(['cut', 'no-end', 'late-error', 'stall'] as const)(
    'does %s shows no answer that is half of one as whole',
    async (profile) => {
      const { status, isDone, isCut, code, text } = await asked(profile, { model, stream: true })
      // The first stage of model-4 speaks to the caller; the other models have a whole answer of an earlier stage left.
      if (profile === 'late-error' && model !== 'model-4')
        return expect({ isDone, text }).toEqual({ isDone: true, text: HOUSE_TEXT })
      if (status !== 200) return expect({ isDone, code }).toEqual({ isDone: false, code: expect.any(String) })
      expect({ isDone, isCut, code }).toEqual({ isDone: false, isCut: true, code: expect.any(String) })
    },
  )

  it.each(['ok', 'split-utf8', 'no-done', 'bad-json-line', 'json-when-sse', 'sse-when-json', 'usage-missing'] as const)(
    'does %s is answered all the same',
    async (profile) => {
      for (const stream of [false, true]) {
        const got = await asked(profile, { model, stream })
        expect(got).toMatchObject({ status: 200, reason: 'stop', code: null, isDone: stream, isCut: false })
        expect(got.text).toBe(HOUSE_TEXT)
      }
    },
  )
})
