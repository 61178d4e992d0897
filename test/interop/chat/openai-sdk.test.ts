import OpenAI, {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ChatDaemon } from '../../support/chat-daemon.ts'
import { ChatServer } from '../../support/chat-server.ts'
import { Workshop } from '../../support/daemon.ts'
import { keyOf } from '../../support/daemon-key.ts'
import { until } from '../../support/processes.ts'
import { type ChatQuestion, HOUSE_TEXT } from '../../support/upstreams/openai.ts'

const workshop = new Workshop()
const messages = [{ role: 'user' as const, content: 'Hello?' }]
const hello = { model: 'model-1', messages }
let chat: ChatDaemon
/** URLs of requests that the client sent, with its own retries. */
let sent: string[] = []

beforeAll(async () => {
  chat = await ChatDaemon.start(workshop)
})
beforeEach(() => {
  chat.fake.profile = 'ok'
  chat.fake.answer = () => HOUSE_TEXT
  chat.fake.questions.splice(0)
  sent = []
})
afterAll(() => chat.close())

/** The unchanged client. Its requests are only recorded. */
function client(more: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI {
  const counted: typeof fetch = (input, init) => {
    sent.push(String(input))
    return fetch(input, init)
  }
  return new OpenAI({ baseURL: `${chat.url}/api/v1`, apiKey: chat.key, fetch: counted, ...more })
}

async function errorOf(call: PromiseLike<unknown>): Promise<APIError> {
  const error = await Promise.resolve(call).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof APIError)) throw new Error(`no error of the interface: ${String(error)}`)
  return error
}

describe.each(['/api/v1', '/v1'])('the client at %s', (base) => {
  const here = () => client({ baseURL: `${chat.url}${base}` })

  it('creates an answer, and knows the id of its request', async () => {
    const { data, response, request_id } = await here().chat.completions.create(hello).withResponse()
    expect(data.choices[0]).toMatchObject({
      message: { role: 'assistant', content: HOUSE_TEXT, refusal: null },
      finish_reason: 'stop',
    })
    expect(data.usage).toEqual({ prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 })
    expect(data).toHaveProperty('_request_id', request_id)
    expect(request_id).toBe(response.headers.get('x-request-id'))
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('1000000')
  })

  it('streams one', async () => {
    const stream = await here().chat.completions.create({
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    const reasons: string[] = []
    let tokens = 0
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? ''
      if (choices[0]?.finish_reason) reasons.push(choices[0].finish_reason)
      tokens = usage?.total_tokens ?? tokens
    }
    expect({ text, reasons, tokens }).toEqual({ text: HOUSE_TEXT, reasons: ['stop'], tokens: 18 })
  })

  it('lists and shows models', async () => {
    const ids: string[] = []
    for await (const { id, object } of here().models.list()) ids.push(`${object} ${id}`)
    expect(ids).toEqual(['model-1', 'model-2', 'model-3', 'model-4', 'model-voice'].map((id) => `model ${id}`))
    expect(await here().models.retrieve('model-3')).toMatchObject({ id: 'model-3', object: 'model' })
    expect(await errorOf(here().models.retrieve('gpt-4o'))).toBeInstanceOf(NotFoundError)
  })
})

describe('every model', () => {
  it.each(['model-1', 'model-2', 'model-3', 'model-4'])('%s answers, streamed and not', async (model) => {
    const whole = await client().chat.completions.create({ model, messages })
    expect(whole.choices[0]?.message.content).toBe(HOUSE_TEXT)
    const final = await client().chat.completions.stream({ model, messages }).finalChatCompletion()
    expect(final).toMatchObject({ model, choices: [{ message: { content: HOUSE_TEXT }, finish_reason: 'stop' }] })
  })
})

describe('what the client offers beside', () => {
  const tool = {
    type: 'function' as const,
    function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
  }

  it('asks for tools, and is given their calls as they came', async () => {
    chat.fake.profile = 'tool-calls'
    const { choices } = await client().chat.completions.create({
      ...hello,
      tools: [tool],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    })
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(choices[0]?.message.tool_calls).toEqual([
      { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } },
    ])
    expect(chat.fake.questions[0]?.body).toMatchObject({
      tools: [tool],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    })
  })

  it.each(['model-1', 'model-4'])('runs tools in a stream until %s is done', async (model) => {
    chat.fake.profile = (_: ChatQuestion, asked: number) => (asked === 1 ? 'tool-calls' : 'ok')
    const looked: unknown[] = []
    const look = (given: { at: string }) => {
      looked.push(given)
      return 'blue'
    }
    const runner = client().chat.completions.runTools({
      model,
      messages,
      stream: true,
      tools: [
        { type: 'function', function: { ...tool.function, description: 'Looks', parse: JSON.parse, function: look } },
      ],
    })
    expect(await runner.finalContent()).toBe(HOUSE_TEXT)
    expect(looked).toEqual([{ at: 'sky' }])
    expect(chat.fake.questions[1]?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call-1', function: { name: 'look', arguments: '{"at":"sky"}' } }] },
      { role: 'tool', tool_call_id: 'call-1', content: 'blue' },
    ])
  })

  const schema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  }
  const response_format = { type: 'json_schema' as const, json_schema: { name: 'number', strict: true, schema } }

  it.each(['model-1', 'model-2', 'model-4'])('gives %s a form, which its answer has', async (model) => {
    chat.fake.answer = () => '{"n": 7}'
    const { choices } = await client().chat.completions.parse({ model, messages, response_format })
    expect(choices[0]?.message.parsed).toEqual({ n: 7 })
    expect(chat.fake.questions[0]?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'number', schema },
    })
  })

  it('is told where no answer has it', async () => {
    chat.fake.answer = () => '{"n": "seven"}'
    const error = await errorOf(client().chat.completions.create({ ...hello, response_format }))
    expect(error).toMatchObject({ status: 422, code: 'schema_not_met', type: 'invalid_request_error' })
    expect(sent).toHaveLength(1)
  })
})

describe('an error', () => {
  it.each([
    ['a model that is not there', { model: 'gpt-4o', messages }, NotFoundError, 404, 'model_not_found', 'model'],
    ['no messages', { model: 'model-1', messages: [] }, BadRequestError, 400, 'invalid_value', 'messages'],
    [
      'two answers of many models',
      { model: 'model-3', messages, n: 2 },
      BadRequestError,
      400,
      'unsupported_parameter',
      'n',
    ],
    [
      'likelihoods of them',
      { model: 'model-2', messages, logprobs: true },
      BadRequestError,
      400,
      'unsupported_parameter',
      'logprobs',
    ],
    [
      'a picture for model-1',
      {
        model: 'model-1',
        messages: [
          {
            role: 'user' as const,
            content: [{ type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } }],
          },
        ],
      },
      BadRequestError,
      400,
      'unsupported_parameter',
      'messages[0].content[0]',
    ],
    [
      'too much to read',
      { model: 'model-1', messages: [{ role: 'user' as const, content: 'word '.repeat(60_000) }] },
      BadRequestError,
      400,
      'context_length_exceeded',
      'messages',
    ],
  ])('for %s is of its class, and not repeated', async (_, body, kind, status, code, param) => {
    for (const stream of [false, true]) {
      const error = await errorOf(client().chat.completions.create({ ...body, stream }))
      expect(error).toBeInstanceOf(kind)
      expect(error).toMatchObject({ status, code, param, type: 'invalid_request_error' })
      expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(sent).toHaveLength(2)
    expect(chat.fake.questions).toHaveLength(0)
  })

  it('for an invalid key is one of authentication', async () => {
    const error = await errorOf(client({ apiKey: 'fk-nothing' }).chat.completions.create(hello))
    expect(error).toBeInstanceOf(AuthenticationError)
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(sent).toHaveLength(1)
  })
})

describe('a server behind the node', () => {
  let server: ChatServer

  beforeAll(async () => {
    server = await ChatServer.open({ bounds: { concurrent: 1 } })
  })
  // The node avoids a failed backend for a while, so each test gets a new server.
  beforeEach(() => server.renew())
  afterAll(() => server.close())

  const there = () => client({ baseURL: `${server.url}/api/v1`, apiKey: server.key })

  it('that has no place left is asked for again: that the client does by itself, twice', async () => {
    server.world.fake.profile = 'hang'
    const over = new AbortController()
    server.post(hello, { signal: over.signal }).catch(() => {})
    await until('it is taken', () => server.world.fake.open === 1)
    const began = performance.now()
    const error = await errorOf(there().chat.completions.create(hello))
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' })
    expect(sent).toHaveLength(3)
    // The client waits as long as the answer says: a second, twice.
    expect(performance.now() - began).toBeGreaterThan(1_900)
    over.abort()
    await server.settled()
  })

  it('that was busy is not noticed: the client comes back, and is answered', async () => {
    server.world.fake.profile = (_: ChatQuestion, asked: number) => (asked <= 3 ? '429' : 'ok')
    expect((await there().chat.completions.create(hello)).choices[0]?.message.content).toBe(HOUSE_TEXT)
    expect(sent).toHaveLength(2)
  })

  it('that cannot answer is not asked for again', async () => {
    server.world.fake.profile = 'html'
    const error = await errorOf(there().chat.completions.create(hello))
    expect(error).toBeInstanceOf(InternalServerError)
    expect(error).toMatchObject({ status: 502, code: 'upstream_error', type: 'server_error' })
    expect(error.headers?.get('x-should-retry')).toBe('false')
    expect(sent).toHaveLength(1)
  })

  it.each(['cut', 'late-error', 'no-end'] as const)(
    'in the middle of a stream (%s) ends it with its reason',
    async (profile) => {
      server.world.fake.profile = profile
      const stream = await there().chat.completions.create({ ...hello, stream: true })
      let text = ''
      const reading = async (): Promise<void> => {
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
      }
      const error = await errorOf(reading())
      expect(error.message).toContain('the model behind model-1 failed')
      expect(error).toMatchObject({ code: 'upstream_error', type: 'server_error' })
      expect(error).not.toBeInstanceOf(APIConnectionError)
      expect(HOUSE_TEXT.startsWith(text) && text !== '').toBe(true)
    },
  )
})

describe('a client that gives up', () => {
  it('in the middle of a stream is heard by the server behind', async () => {
    chat.fake.profile = 'stall'
    const before = chat.fake.abandoned
    const stream = await client().chat.completions.create({ ...hello, stream: true })
    for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()
    await until('the server hears it', () => chat.fake.abandoned === before + 1)
    expect(chat.fake.open).toBe(0)
  })

  it('before the first word is too', async () => {
    chat.fake.profile = 'hang'
    const before = chat.fake.abandoned
    const over = new AbortController()
    const asked = errorOf(client().chat.completions.create(hello, { signal: over.signal }))
    await until('it is asked', () => chat.fake.open === 1)
    over.abort()
    expect(await asked).toBeInstanceOf(APIUserAbortError)
    await until('the server hears it', () => chat.fake.abandoned === before + 1)
  })

  it('after its own time leaves nothing behind', async () => {
    chat.fake.profile = 'hang'
    const error = await errorOf(client({ timeout: 300, maxRetries: 1 }).chat.completions.create(hello))
    expect(error).toBeInstanceOf(APIConnectionTimeoutError)
    expect(sent).toHaveLength(2)
    await until('nothing is open', () => chat.fake.open === 0)
  })
})

describe('a node without models', () => {
  it('says so at once, once, and lists what it would have', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const there = client({ baseURL: `${daemon.url}/v1`, apiKey: await keyOf(daemon) })
    const { data } = await there.models.list()
    expect(data.map((model) => (model as unknown as { x_platform: object }).x_platform)).toMatchObject(
      Array.from({ length: 5 }, () => ({ available: false, reason: expect.any(String) })),
    )
    sent = []
    const error = await errorOf(there.chat.completions.create({ ...hello, stream: true }))
    expect(error).toMatchObject({ status: 503, code: 'no_backend_available', type: 'server_error' })
    expect(sent).toHaveLength(1)
    await daemon.stop()
  })
})
