import { subscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChatRequest, ModelFacts } from '../../../marketplace/chat/models/backend.ts'
import { OpenAiBackend } from '../../../src/chat/backends/openai-backend.ts'
import { until } from '../../support/processes.ts'
import { type ChatProfile, FakeOpenAi, HOUSE_MODEL, HOUSE_TEXT } from '../../support/upstreams/openai.ts'

const MODEL: ModelFacts = {
  id: HOUSE_MODEL,
  roles: ['general', 'image'],
  context: 4_096,
  supports: new Set(['tools', 'jsonSchema', 'streamUsage']),
  declaredParameters: null,
}
const REQUEST: ChatRequest = { model: MODEL, messages: [{ role: 'user', content: 'Hello?' }], maxTokens: 64 }
const USAGE = { promptTokens: 7, completionTokens: 11 }

let fake: FakeOpenAi
let backend: OpenAiBackend

beforeAll(async () => {
  fake = await FakeOpenAi.open()
})
afterAll(() => fake.close())
beforeEach(() => {
  fake.profile = 'ok'
  fake.answer = () => HOUSE_TEXT
  fake.questions.length = 0
  backend = new OpenAiBackend({ id: 'house', baseUrl: fake.url, key: fake.key })
})

function limit(ms = 10_000): AbortSignal {
  return AbortSignal.timeout(ms)
}

/** The pieces of a streamed answer, and its result. */
async function streamed(profile: ChatProfile, request: ChatRequest = REQUEST, signal: AbortSignal = limit()) {
  fake.profile = profile
  const deltas: Readonly<Record<string, unknown>>[] = []
  const answer = await backend.stream(request, (delta) => void deltas.push(delta), signal)
  return { answer, deltas, text: deltas.map(({ content }) => content ?? '').join('') }
}

async function asked(profile: ChatProfile, request: ChatRequest = REQUEST, signal: AbortSignal = limit()) {
  fake.profile = profile
  return backend.complete(request, signal)
}

const WHOLE = {
  ok: true,
  value: { text: HOUSE_TEXT, model: HOUSE_MODEL, finishReason: 'stop', usage: USAGE, skipped: 0 },
}

describe('a backend of the OpenAI interface, streaming', () => {
  it('hands on every piece with its unknown fields, and gives the whole', async () => {
    const { answer, deltas, text } = await streamed('ok')
    expect(answer).toMatchObject(WHOLE)
    expect(text).toBe(HOUSE_TEXT)
    expect(deltas[0]).toEqual({ role: 'assistant', content: '', house_note: 'kept' })
    expect(answer.ok && answer.value.message.house_note).toBe('kept')
  })

  it('asks for the count of tokens where the model can be asked, and not where it cannot', async () => {
    await streamed('ok')
    expect(fake.questions[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    const { answer } = await streamed('ok', { ...REQUEST, model: { ...MODEL, supports: new Set() } })
    expect(fake.questions[1]?.body).not.toHaveProperty('stream_options')
    expect(answer.ok && answer.value.usage).toBeNull()
  })

  it.each(['split-utf8', 'no-done', 'duplicate-finish', 'json-when-sse', 'slow-first-token'] as const)(
    'reads an answer that is well but odd: %s',
    async (profile) => {
      const { answer, text } = await streamed(profile)
      expect(answer).toMatchObject(WHOLE)
      expect(text).toBe(HOUSE_TEXT)
    },
  )

  it.each(['bad-json-line', 'not-an-event'] as const)(
    'leaves out one malformed piece and counts it: %s',
    async (one) => {
      const { answer, text } = await streamed(one)
      expect(answer).toMatchObject({ ok: true, value: { text: HOUSE_TEXT, skipped: 1 } })
      expect(text).toBe(HOUSE_TEXT)
    },
  )

  it('puts tool calls together from their pieces', async () => {
    const { answer } = await streamed('tool-calls')
    const call = { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }
    expect(answer).toMatchObject({ ok: true, value: { finishReason: 'tool_calls', message: { tool_calls: [call] } } })
  })

  it('says which model answered by its own word', async () => {
    const { answer } = await streamed('wrong-model-echo')
    expect(answer).toMatchObject({ ok: true, value: { model: 'somebody-else' } })
  })

  it.each([
    ['cut', 'model/cut', {}],
    ['no-end', 'model/cut', {}],
    ['done-without-reason', 'model/cut', {}],
    ['in-band-error', 'model/answer', { reason: 'the model fell over', status: 500 }],
    ['late-error', 'model/answer', { reason: 'the model fell over', status: 500 }],
    ['bad-json-lines', 'model/answer', { reason: 'its stream is not well-formed' }],
    ['empty-content', 'model/answer', { reason: 'it is empty (stop)', inShort: 'it is empty', ofQuestion: true }],
    ['reasoning-only', 'model/answer', { reason: 'it is empty (stop)', inShort: 'it is empty', ofQuestion: true }],
    ['huge-delta', 'model/answer', { reason: 'it is too long', ofQuestion: true }],
    ['html', 'model/answer', { reason: 'it is not JSON' }],
    ['502-html', 'model/answer', { reason: 'status 502', status: 502 }],
    ['503', 'model/answer', { reason: 'status 503: overloaded', status: 503 }],
    ['401', 'model/refused', { reason: 'status 401', status: 401 }],
    ['400', 'model/refused', { reason: 'status 400: Your request was rejected by the safety system.', status: 400 }],
  ] as const)('gives a fault for %s', async (profile, code, detail) => {
    const { answer } = await streamed(profile)
    expect(answer).toEqual({ ok: false, fault: { code, detail: { backend: 'house', ...detail } } })
  })

  it('hands on all that came before its connection broke off, however slowly it is taken', async () => {
    const words = ['One.', 'Two.', 'Three.']
    const events = words.map(
      (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
    )
    const isSeen = new Promise((resolve) => subscribe('undici:request:error', resolve))
    let sayTheRest = (): void => {}
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events[0])
      sayTheRest = () => response.write(events.slice(1).join(''), () => response.socket?.destroy())
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    const heard: unknown[] = []
    const slow = async ({ content }: Readonly<Record<string, unknown>>): Promise<void> => {
      if (heard.push(content) === 1) sayTheRest()
      await isSeen
    }
    const answer = await new OpenAiBackend({ id: 'house', baseUrl, key: null }).stream(REQUEST, slow, limit())
    server.close()
    expect(heard).toEqual(words)
    expect(answer).toEqual({ ok: false, fault: { code: 'model/cut', detail: { backend: 'house' } } })
  })

  it('tells the pause that is asked for', async () => {
    fake.retryAfter = '3'
    const { answer } = await streamed('429')
    const detail = { backend: 'house', reason: 'status 429: slow down', status: 429, retryAfterMs: 3_000 }
    expect(answer).toEqual({ ok: false, fault: { code: 'model/refused', detail } })
  })

  it.each(['stall', 'hang'] as const)('gives up with the signal, and so does the server: %s', async (profile) => {
    const before = fake.abandoned
    const { answer } = await streamed(profile, REQUEST, limit(200))
    expect(answer).toEqual({ ok: false, fault: { code: 'model/timeout', detail: { backend: 'house' } } })
    await until('the server sees that the caller left', () => fake.abandoned === before + 1)
  })
})

describe('a backend of the OpenAI interface, asked for a whole answer', () => {
  it('asks for it in pieces once it did not come in time, where tokens are counted all the same', async () => {
    const tools = [{ type: 'function', function: { name: 'look' } }]
    const uncounted = { ...REQUEST, model: { ...MODEL, id: 'uncounted', supports: new Set<never>() } }
    for (const request of [REQUEST, uncounted])
      expect(await asked('hang', request, limit(30))).toMatchObject({ fault: { code: 'model/timeout' } })
    // A caller that left proves nothing about speed.
    const gone = AbortSignal.abort()
    const other = { ...REQUEST, model: { ...MODEL, id: 'other' } }
    await asked('ok', other, gone)
    fake.questions.length = 0
    const heard: number[] = []
    fake.profile = 'ok'
    expect(await backend.complete(REQUEST, limit(), () => void heard.push(1))).toMatchObject(WHOLE)
    expect(heard.length).toBeGreaterThan(1)
    for (const request of [{ ...REQUEST, extra: { tools } }, { ...REQUEST, json: true }, uncounted, other])
      expect(await asked('ok', request)).toMatchObject({ ok: true })
    expect(fake.questions.map(({ body }) => body.stream)).toEqual([true, undefined, undefined, undefined, undefined])
    const inWords = { ...REQUEST, json: true, model: { ...MODEL, supports: new Set(['streamUsage'] as const) } }
    expect(await asked('ok', inWords)).toMatchObject({ ok: true, value: { heldBy: 'words' } })
    expect(fake.questions.at(-1)?.body.stream).toBe(true)
    expect(fake.questions[0]?.body).toMatchObject({ stream_options: { include_usage: true } })
  })

  it.each(['ok', 'sse-when-json', 'slow-first-token'] as const)('reads it: %s', async (profile) => {
    expect(await asked(profile)).toMatchObject({ ok: true, value: { text: HOUSE_TEXT, finishReason: 'stop' } })
  })

  it('knows no usage where it is not told', async () => {
    expect(await asked('usage-missing')).toMatchObject({ ok: true, value: { usage: null } })
  })

  it.each([
    ['cut', 'model/unreachable'],
    ['empty-content', 'model/answer'],
    ['reasoning-only', 'model/answer'],
    ['in-band-error', 'model/answer'],
    ['done-without-reason', 'model/cut'],
    ['huge-delta', 'model/answer'],
    ['html', 'model/answer'],
    ['no-end', 'model/cut'],
  ] as const)('gives a fault for %s', async (profile, code) => {
    expect(await asked(profile)).toMatchObject({ ok: false, fault: { code } })
  })

  it('gives up with the signal', async () => {
    const signal = limit(100)
    expect(await asked('hang', REQUEST, signal)).toMatchObject({ ok: false, fault: { code: 'model/timeout' } })
  })

  it('says where no server listens', async () => {
    const gone = await FakeOpenAi.open()
    const { url } = gone
    await gone.close()
    const answer = await new OpenAiBackend({ id: 'gone', baseUrl: url, key: null }).complete(REQUEST, limit())
    const detail = { backend: 'gone', reason: 'the connection was refused' }
    expect(answer).toEqual({ ok: false, fault: { code: 'model/unreachable', detail } })
  })

  it('sends a schema as such where the model takes one, else in words', async () => {
    const jsonSchema = { name: 'thing', schema: { type: 'object' } }
    await asked('ok', { ...REQUEST, jsonSchema })
    expect(fake.questions[0]?.body.response_format).toMatchObject({ type: 'json_schema', json_schema: jsonSchema })
    await asked('ok', { ...REQUEST, jsonSchema, model: { ...MODEL, supports: new Set() } })
    const { body } = fake.questions[1] as (typeof fake.questions)[0]
    expect(body).not.toHaveProperty('response_format')
    expect(JSON.stringify(body.messages)).toContain('follows this JSON schema')
  })

  it('asks a model that knows the longest answer by its new name alone so from then on', async () => {
    expect(await asked('new-names')).toMatchObject(WHOLE)
    expect((await streamed('new-names')).answer).toMatchObject(WHOLE)
    expect(fake.questions.map(({ body }) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [64, undefined],
      [undefined, 64],
      [undefined, 64],
    ])
  })

  it('learns the new name from no words of a caller, nor where it is not taken', async () => {
    const names = (): unknown[] => fake.questions.map(({ body }) => [body.max_tokens, body.max_completion_tokens])
    fake.words = "Invalid schema for function 'max_completion_tokens'"
    const caller = { ...REQUEST, messages: [{ role: 'user', content: 'MAX_completion_tokens' }] } as const
    expect(await asked('400', caller)).toMatchObject({ ok: false })
    expect(names()).toEqual([[64, undefined]])
    expect(await asked('400')).toMatchObject({ ok: false })
    expect(await asked('ok')).toMatchObject(WHOLE)
    expect(names().at(-1)).toEqual([64, undefined])
    fake.words = null
  })

  it('asks in words where its server refuses the form, and says so; a stream is refused', async () => {
    const request = { ...REQUEST, json: true }
    expect(await asked('no-response-format', request)).toMatchObject({ ok: true, value: { heldBy: 'words' } })
    expect(await asked('ok', request)).toMatchObject({ ok: true, value: { heldBy: 'native' } })
    expect((await streamed('no-response-format', request)).answer).toMatchObject({ fault: { detail: { status: 400 } } })
  })

  it('gives words of refusal as the text', async () => {
    const refuses = await FakeOpenAi.open()
    refuses.message = { content: null, refusal: 'No.' }
    const house = new OpenAiBackend({ id: 'house', baseUrl: refuses.url, key: refuses.key })
    const answer = await house.complete(REQUEST, limit())
    await refuses.close()
    expect(answer).toMatchObject({ ok: true, value: { text: 'No.', message: { content: null, refusal: 'No.' } } })
  })

  it('hands on fields that are not ours, and none can take the place of one of ours', async () => {
    await asked('ok', { ...REQUEST, extra: { seed: 7, max_tokens: 1_000_000, model: 'dear' } })
    expect(fake.questions[0]?.body).toMatchObject({ seed: 7, max_tokens: 64, model: HOUSE_MODEL })
  })

  it('never repeats its key, whatever the server says', async () => {
    const wrong = new OpenAiBackend({ id: 'house', baseUrl: fake.url, key: 'sk-not-this-one' })
    for (const answer of [await asked('401'), await wrong.complete(REQUEST, limit()), await wrong.check(limit())]) {
      expect(answer).toMatchObject({ ok: false, fault: { code: 'model/refused' } })
      expect(JSON.stringify(answer)).not.toMatch(/sk-/)
    }
    expect(JSON.stringify(wrong)).not.toMatch(/sk-/)
  })
})

describe('the check of a backend', () => {
  const checked = async (text: string, status = 200) => {
    const before = fake.listing
    fake.listing = { status, text }
    try {
      return await backend.check(limit())
    } finally {
      fake.listing = before
    }
  }

  it.each([
    ['a list', '{"object":"list","data":[{"id":"a"},{"id":"b"},{"name":"c"},null]}', ['a', 'b']],
    ['a list without an object around it', '[{"id":"a"}]', ['a']],
    ['an empty list as one server has it', '{"object":"list","data":null}', []],
    ['a list that is too long', `{"data":[${'{"id":"a"},'.repeat(250_000)}{"id":"a"}]}`, null],
  ])('takes %s', async (_, text, value) => {
    expect(await checked(text)).toEqual({ ok: true, value })
  })

  it.each([404, 405])('takes a server without a list (status %i)', async (status) => {
    expect(await checked('<html>', status)).toEqual({ ok: true, value: null })
  })

  it.each(['<html>Hello</html>', '{}', '{"data":null}', '"list"', 'null', ''])(
    'is not content with %s',
    async (text) => {
      const reason = 'it is not a list of models; is the base address right, with /v1?'
      expect(await checked(text)).toMatchObject({ ok: false, fault: { code: 'model/answer', detail: { reason } } })
    },
  )
})

describe('pictures of a backend', () => {
  const paint = (profile: ChatProfile) => {
    fake.profile = profile
    fake.picture = Uint8Array.of(1, 2, 3, 4)
    return backend.picture(MODEL, 'a lighthouse', limit())
  }

  it.each(['ok', 'data-picture', 'no-response-format'] as const)('come as bytes: %s', async (profile) => {
    const picture = await paint(profile)
    expect(picture.ok && [...picture.value.bytes]).toEqual([1, 2, 3, 4])
    expect(fake.questions[0]?.body).toMatchObject({ prompt: 'a lighthouse', n: 1, size: '1024x1024' })
  })

  it('are not fetched from elsewhere', async () => {
    expect(await paint('url-picture')).toMatchObject({ ok: false, fault: { code: 'model/answer' } })
  })

  it.each(['400', '401', '503', '502-html'] as const)('are refused with a fault: %s', async (profile) => {
    expect(await paint(profile)).toMatchObject({ ok: false })
  })
})
