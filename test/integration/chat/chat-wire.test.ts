import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ask, type JsonBody } from '../../support/api.ts'
import { ChatServer, eventsOf, HELLO, readAll } from '../../support/chat-server.ts'
import { HOUSE_TEXT } from '../../support/upstreams/openai.ts'

const PATH = '/api/v1/chat/completions'
let server: ChatServer

beforeAll(async () => {
  server = await ChatServer.open({ limits: { streams: { ...STREAMS } } })
})
const STREAMS = {
  openMax: 8,
  openPerAddressMax: 8,
  operatorMax: 1,
  bufferBytesMax: 65_536,
  behindMsMax: 30_000,
  heartbeatMs: 25,
}

beforeEach(() => {
  server.world.fake.profile = 'ok'
  server.world.fake.answer = () => HOUSE_TEXT
})
afterAll(() => server.close())

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${server.key}` })

async function refused(body: unknown, init: RequestInit = {}) {
  const response = await server.post(body, init)
  return { status: response.status, headers: response.headers, ...((await response.json()) as { error: JsonBody }) }
}

describe('a whole answer', () => {
  it.each([PATH, '/v1/chat/completions'])('has the fields of the OpenAI interface at %s', async (path) => {
    const reply = await ask(server.url, path, {
      method: 'POST',
      headers: { ...bearer(), 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(HELLO),
    })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'model-1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: HOUSE_TEXT, refusal: null, house_note: 'kept' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 },
      x_platform: expect.objectContaining({ model: 'model-1', pipeline: 'direct', usageEstimated: false }),
    })
    expect(Number.isSafeInteger(reply.body.created)).toBe(true)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("is the assistant's, whatever role its server reports", async () => {
    server.world.fake.message = { role: 'system' }
    const response = await server.post(HELLO)
    server.world.fake.message = {}
    const { choices } = (await response.json()) as { choices: readonly JsonBody[] }
    expect(choices[0]?.message).toMatchObject({ role: 'assistant', content: HOUSE_TEXT })
  })

  it('tells of figures that are estimates, in its head too', async () => {
    const heads = async (): Promise<readonly unknown[]> => {
      const { headers, body } = await server.post(HELLO).then(async (response) => ({
        headers: response.headers,
        body: (await response.json()) as JsonBody,
      }))
      return [headers.get('x-usage-estimated'), body.x_platform]
    }
    expect(await heads()).toEqual([null, expect.objectContaining({ usageEstimated: false })])
    server.world.fake.profile = 'usage-missing'
    expect(await heads()).toEqual(['true', expect.objectContaining({ usageEstimated: true })])
  })

  it('tells what is left of the key, on good answers and on refusals', async () => {
    const good = await server.post(HELLO)
    const names = ['limit', 'remaining', 'reset'].flatMap((of) => [
      `x-ratelimit-${of}-requests`,
      `x-ratelimit-${of}-tokens`,
    ])
    const told = (headers: Headers) => names.map((name) => headers.get(name))
    expect(told(good.headers).slice(0, 2)).toEqual(['100000', '1000000000'])
    expect(told(good.headers)[4]).toMatch(/^\d+s$/)
    const bad = await refused({ ...HELLO, messages: [] })
    expect(bad.status).toBe(400)
    expect(told(bad.headers).every((value) => value !== null)).toBe(true)
    // A refused request does not count against the limit.
    expect(bad.headers.get('x-ratelimit-remaining-requests')).toBe(good.headers.get('x-ratelimit-remaining-requests'))
    const unknown = await server.post(HELLO, { headers: { authorization: 'Bearer fk-nothing' } })
    expect(told(unknown.headers)).toEqual(names.map(() => null))
    const streamed = await server.post({ ...HELLO, stream: true })
    expect(told(streamed.headers).every((value) => value !== null)).toBe(true)
    await readAll(streamed)
  })
})

describe('a stream', () => {
  const chunksOf = (text: string) =>
    eventsOf(text)
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data))

  it('begins with who speaks, has one id, one reason of its end, and a mark of it', async () => {
    const response = await server.post({ ...HELLO, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    const { text, isCut } = await readAll(response)
    expect(isCut).toBe(false)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    const chunks = chunksOf(text)
    expect(chunks[0].choices).toEqual([
      { index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null },
    ])
    expect(new Set(chunks.map(({ id, object, created, model }) => `${id} ${object} ${created} ${model}`)).size).toBe(1)
    expect(chunks[0]).toMatchObject({ object: 'chat.completion.chunk', model: 'model-1' })
    expect(chunks.map(({ choices }) => choices[0].finish_reason).filter((reason) => reason !== null)).toEqual(['stop'])
    expect(chunks.at(-1).choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
    expect(chunks.map(({ choices }) => choices[0].delta.content ?? '').join('')).toBe(HOUSE_TEXT)
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
    expect(chunks.slice(1).some(({ choices }) => 'role' in choices[0].delta)).toBe(false)
  })

  it('tells its usage in a chunk of its own where that is wanted', async () => {
    const response = await server.post({ ...HELLO, stream: true, stream_options: { include_usage: true } })
    const chunks = chunksOf((await readAll(response)).text)
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 },
    })
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true)
  })

  it('says now and then that it is there, once it has begun', async () => {
    server.world.fake.profile = 'stall'
    const over = new AbortController()
    const response = await server.post({ ...HELLO, stream: true }, { signal: over.signal })
    const decoder = new TextDecoder()
    let text = ''
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true })
      if (text.split(': keep-alive\n\n').length > 3) break
    }
    over.abort()
    expect(text).toContain('"role":"assistant"')
    await server.settled()
  })

  it('that breaks shows why, is not ended, and its connection is cut', async () => {
    server.world.fake.profile = 'cut'
    const { text, isCut } = await readAll(await server.post({ ...HELLO, stream: true }))
    const events = eventsOf(text)
    expect(JSON.parse(events.at(-1) as string)).toEqual({
      error: {
        message: 'the model behind model-1 failed: its answer ended in the middle',
        type: 'server_error',
        param: null,
        code: 'upstream_error',
      },
    })
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('"finish_reason":"')
    expect(isCut).toBe(true)
    await server.settled()
    expect(server.chats.at(-1)).toMatchObject({ status: 502 })
  })

  it('that fails before its first word has a status of its own', async () => {
    server.world.fake.profile = '503'
    const { status, headers, error } = await refused({ ...HELLO, stream: true })
    expect({ status, code: error.code }).toEqual({ status: 502, code: 'upstream_error' })
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  })
})

describe('a request', () => {
  it('may hold every role, both forms of content, and unknown fields', async () => {
    const messages = [
      { role: 'developer', content: 'Be short.' },
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }], name: 'house' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'text', text: 'there' },
        ],
      },
      { role: 'assistant', content: null, refusal: 'No.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'nothing there' },
      { role: 'user', content: 'And now?' },
    ]
    const more = {
      user: 'u',
      metadata: { a: 'b' },
      store: false,
      service_tier: 'auto',
      unheard_of: { x: 1 },
      seed: null,
    }
    const response = await server.post({ ...HELLO, messages, ...more, reasoning_effort: 'low' })
    expect(response.status).toBe(200)
    const { body } = server.world.fake.questions.at(-1)!
    // Servers of local models do not know the role `developer`.
    expect(body.messages).toEqual(messages.with(0, { role: 'system', content: 'Be short.' }))
    expect(body).not.toHaveProperty('unheard_of')
  })

  it('reaches a model with its own way of choosing words', async () => {
    const style = { temperature: 0.3, top_p: 0.5, stop: ['END'], presence_penalty: 1, frequency_penalty: -1 }
    const single = { seed: 7, logit_bias: { '5': 1 } }
    await server.post({ ...HELLO, ...style, ...single, max_completion_tokens: 50, max_tokens: 60 })
    expect(server.world.fake.questions.at(-1)!.body).toMatchObject({ ...style, ...single, max_tokens: 50 })
  })

  const user = HELLO.messages[0]
  it.each([
    ['model', { messages: HELLO.messages }, 'model', 'invalid_value'],
    ['a model that is not there', { ...HELLO, model: 'gpt-4o' }, 'model', 'model_not_found'],
    ['the model that speaks', { ...HELLO, model: 'model-voice' }, 'model', 'model_not_found'],
    ['no messages', { model: 'model-1' }, 'messages', 'invalid_value'],
    ['messages that are no list', { ...HELLO, messages: 'hi' }, 'messages', 'invalid_value'],
    [
      'an unknown role',
      { ...HELLO, messages: [{ role: 'function', content: '' }] },
      'messages[0].role',
      'invalid_value',
    ],
    ['no content', { ...HELLO, messages: [{ role: 'user', content: null }] }, 'messages[0].content', 'invalid_value'],
    [
      'a tool message of no call',
      { ...HELLO, messages: [user, { role: 'tool', content: 'x' }] },
      'messages[1].tool_call_id',
      'invalid_value',
    ],
    [
      'the id of a call of a tool, of a message that is none of a tool, without an end',
      { ...HELLO, messages: [{ ...user, tool_call_id: 'x'.repeat(257) }] },
      'messages[0].tool_call_id',
      'invalid_value',
    ],
    [
      'a picture in a part of text',
      {
        ...HELLO,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x', image_url: { url: 'https://x' } }] }],
      },
      'messages[0].content[0].image_url',
      'unsupported_parameter',
    ],
    [
      'a detail of a picture without an end',
      {
        ...HELLO,
        model: 'model-4',
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x', detail: 'x'.repeat(17) } }] },
        ],
      },
      'messages[0].content[0].image_url.detail',
      'invalid_value',
    ],
    [
      'sound',
      { ...HELLO, messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
      'messages[0].content[0]',
      'unsupported_parameter',
    ],
    [
      'a picture for model-1',
      { ...HELLO, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x' } }] }] },
      'messages[0].content[0]',
      'unsupported_parameter',
    ],
    [
      'a video for model-4',
      { model: 'model-4', messages: [{ role: 'user', content: [{ type: 'video_url', video_url: {} }] }] },
      'messages[0].content[0]',
      'unsupported_parameter',
    ],
    ['functions of old', { ...HELLO, functions: [{ name: 'look' }] }, 'functions', 'unsupported_parameter'],
    ['a call of such', { ...HELLO, function_call: 'auto' }, 'function_call', 'unsupported_parameter'],
    ['speech', { ...HELLO, modalities: ['text', 'audio'] }, 'modalities', 'unsupported_parameter'],
    ['several answers of several models', { ...HELLO, model: 'model-2', n: 2 }, 'n', 'unsupported_parameter'],
    ['likelihoods of them', { ...HELLO, model: 'model-3', logprobs: true }, 'logprobs', 'unsupported_parameter'],
    ['a seed for them', { ...HELLO, model: 'model-4', seed: 1 }, 'seed', 'unsupported_parameter'],
    [
      'options of a stream without one',
      { ...HELLO, stream_options: { include_usage: true } },
      'stream_options',
      'invalid_value',
    ],
    ['a stream that is a word', { ...HELLO, stream: 'yes' }, 'stream', 'invalid_value'],
    ['too hot', { ...HELLO, temperature: 2.1 }, 'temperature', 'invalid_value'],
    ['no tokens', { ...HELLO, max_tokens: 0 }, 'max_tokens', 'invalid_value'],
    [
      'a tool without a name',
      { ...HELLO, tools: [{ type: 'function', function: {} }] },
      'tools[0].function.name',
      'invalid_value',
    ],
    [
      'a schema without one',
      { ...HELLO, response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
      'response_format.json_schema.schema',
      'invalid_value',
    ],
    ['an unknown form', { ...HELLO, response_format: { type: 'xml' } }, 'response_format.type', 'invalid_value'],
  ] as const)('is refused by name for %s', async (_, body, param, code) => {
    const { status, error, headers } = await refused(body)
    expect(error).toEqual({ message: expect.any(String), type: 'invalid_request_error', param, code })
    expect(status).toBe(code === 'model_not_found' ? 404 : 400)
    expect(headers.get('x-should-retry')).toBe(null)
  })

  it('may come with a key of its own against repeating, which is not needed here', async () => {
    expect((await server.post(HELLO, { headers: { 'idempotency-key': 'stainless-node-retry-1' } })).status).toBe(200)
  })
})

describe('models', () => {
  it.each(['/api/v1/models', '/v1/models'])('are listed and shown at %s, without a key', async (path) => {
    const { status, body } = await ask(server.url, path)
    const ids = (body.data as { id: string }[]).map(({ id }) => id)
    expect({ status, object: body.object, ids }).toEqual({
      status: 200,
      object: 'list',
      ids: ['model-1', 'model-2', 'model-3', 'model-4', 'model-voice'],
    })
    const one = await ask(server.url, `${path}/model-2`)
    expect(one.body).toMatchObject({
      id: 'model-2',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'farthing',
    })
    expect(await ask(server.url, `${path}/gpt-4o`)).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found', param: 'model' } },
    })
    expect((await ask(server.url, `${path}/__proto__`)).status).toBe(404)
  })
})

describe('the way of choosing words', () => {
  const style = { temperature: 0.3, top_p: 0.5, stop: ['END'], presence_penalty: 1, frequency_penalty: -1 }
  const long =
    'Write a parser for expressions in Rust, step by step, and prove that it ends for every input that there is.'

  it.each(['model-2', 'model-3', 'model-4'])(
    'is that of the one who speaks for %s, and of no step that only thinks',
    async (model) => {
      const { questions } = server.world.fake
      const before = questions.length
      const response = await server.post({ model, messages: [{ role: 'user', content: long }], ...style })
      expect(response.status).toBe(200)
      const asked = questions.slice(before).map(({ body }) => body)
      const styled = asked.filter(({ top_p }) => top_p === style.top_p)
      expect(styled.length).toBeGreaterThan(0)
      expect(styled.length).toBeLessThan(asked.length)
      for (const body of styled) expect(body).toMatchObject(style)
      for (const body of asked) if (!styled.includes(body)) expect(body).not.toHaveProperty('stop')
    },
  )
})
