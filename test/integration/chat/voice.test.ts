import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { estimatedTokens } from '../../../marketplace/chat/models/tokens.ts'
import { parseWav, VOICE_FORMAT, WAV_HEADER_BYTES } from '../../../marketplace/chat/voice/wav.ts'
import { ChatServer } from '../../support/chat-server.ts'
import { callOf } from '../../support/chat-world.ts'
import { until } from '../../support/processes.ts'
import type { FakeOpenAi } from '../../support/upstreams/openai.ts'
import { SAMPLES_PER_CHARACTER, soundOf } from '../../support/upstreams/openai-speech.ts'
import { SPEAKING_BACKEND, voiceOver } from '../../support/voices.ts'

const QUESTION = [{ role: 'user', content: 'Hello?' }]
const LONG = 'One of many sentences that all say the same thing. '.repeat(45).trim()

let server: ChatServer

beforeAll(async () => {
  server = await ChatServer.open({ backends: [{ ...SPEAKING_BACKEND, limits: { timeoutMs: 60_000 } }] })
})

afterEach(async () => {
  const { fake } = server.world
  await server.settled()
  fake.speech = 'ok'
  fake.spoken.splice(0)
  expect(server.errors).toEqual([])
})

afterAll(() => server.close())

function post(path: string, body: object, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${server.key}`, ...init.headers }
  return fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body), ...init, headers })
}

const speak = (body: object = {}, init: RequestInit = {}): Promise<Response> =>
  post('/api/v1/audio/speech', { model: 'model-voice', input: 'Hello there.', voice: 'alloy', ...body }, init)

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

function samplesIn(file: Buffer): readonly number[] {
  const read = parseWav(file)
  if (typeof read === 'string') throw new Error(read)
  expect(read).toMatchObject({ format: VOICE_FORMAT, isShort: false })
  const data = Buffer.from(read.data)
  return Array.from({ length: data.length / 2 }, (_, i) => data.readInt16LE(2 * i))
}

describe('a text that is read out', () => {
  it('is a WAV file of what was said', async () => {
    const response = await speak()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('audio/wav')
    expect(response.headers.get('x-ratelimit-limit-requests')).not.toBeNull()
    const file = await bytesOf(response)
    expect(response.headers.get('content-length')).toBe(String(file.length))
    expect(samplesIn(file)).toEqual([...soundOf('Hello there.')])
    expect(server.world.fake.questions.at(-1)?.body).toEqual({
      model: 'house-voice',
      input: 'Hello there.',
      voice: 'alloy',
      response_format: 'wav',
    })
  })

  it('is its samples alone where these are asked for', async () => {
    const response = await speak({ response_format: 'pcm', voice: 'nova', speed: 1.5 })
    expect(response.headers.get('content-type')).toBe('audio/pcm')
    expect((await bytesOf(response)).length).toBe(12 * SAMPLES_PER_CHARACTER * 2)
    expect(server.world.fake.questions.at(-1)?.body).toMatchObject({ voice: 'nova', speed: 1.5 })
  })

  it('is spoken without its Markdown', async () => {
    await bytesOf(await speak({ input: 'See **[this](https://example.com)**.\n\n```js\nlet a\n```' }))
    expect(server.world.fake.spoken).toEqual(['See this.\n(code block)'])
  })

  it('is spoken piece after piece where it is long, and joined to one file', async () => {
    const file = await bytesOf(await speak({ input: LONG }))
    const { spoken, openMax } = server.world.fake
    expect(spoken.length).toBe(3)
    expect(spoken.every((text) => text.length <= 1_024)).toBe(true)
    expect(spoken.join('')).toBe(LONG)
    expect(openMax).toBe(1)
    expect(samplesIn(file)).toEqual([...soundOf(LONG)])
  })

  it('is at the same rate whatever came', async () => {
    server.world.fake.speech = 'low-rate'
    const samples = samplesIn(await bytesOf(await speak()))
    expect(samples).toHaveLength(Math.round((12 * SAMPLES_PER_CHARACTER * 24_000) / 22_050))
  })

  it.each(['stereo', 'placeholder'] as const)('is read from what is %s', async (profile) => {
    server.world.fake.speech = profile
    expect(samplesIn(await bytesOf(await speak()))).toEqual([...soundOf('Hello there.')])
  })

  it('is whole although the server wants pauses', async () => {
    server.world.fake.speech = (_, asked) => (asked === 2 || asked === 3 ? '429' : asked === 5 ? '500' : 'ok')
    const file = await bytesOf(await speak({ input: LONG }))
    expect(samplesIn(file)).toEqual([...soundOf(LONG)])
    expect(server.world.fake.spoken).toHaveLength(6)
  })
})

describe('a text that cannot be read out', () => {
  it.each([
    ['500', 502, 'upstream_error'],
    ['cut', 502, 'upstream_error'],
    ['not-wav', 502, 'upstream_error'],
    ['json', 502, 'upstream_error'],
    ['empty', 502, 'upstream_error'],
    ['short', 502, 'upstream_error'],
    ['huge', 502, 'upstream_error'],
  ] as const)('is refused where the server answers %s', async (profile, status, code) => {
    const broken = await ChatServer.open({ backends: [SPEAKING_BACKEND] })
    broken.world.fake.speech = profile
    const response = await fetch(`${broken.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${broken.key}` },
      body: JSON.stringify({ model: 'model-voice', input: 'Hello there.', voice: 'alloy' }),
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code, type: 'server_error', param: null } })
    // Only the status 500 may be transient, so it gets five attempts.
    expect(broken.world.fake.spoken).toHaveLength(profile === '500' ? 5 : 1)
    expect(broken.errors).toEqual([])
    await broken.close()
  })

  it('is refused where one part is unlike the others', async () => {
    server.world.fake.speech = (_, asked) => (asked === 2 ? 'other-rate' : 'ok')
    const response = await speak({ input: LONG })
    expect(response.status).toBe(502)
  })

  it.each([
    [{ model: 'model-2' }, 404, 'model_not_found', 'model'],
    [{ model: undefined }, 400, 'invalid_value', 'model'],
    [{ input: '' }, 400, 'invalid_value', 'input'],
    [{ input: 'x'.repeat(4_097) }, 400, 'invalid_value', 'input'],
    [{ input: 7 }, 400, 'invalid_value', 'input'],
    [{ input: '!? ...' }, 400, 'invalid_value', 'input'],
    [{ voice: 'nobody' }, 400, 'invalid_value', 'voice'],
    [{ voice: 7 }, 400, 'invalid_value', 'voice'],
    [{ speed: 5 }, 400, 'invalid_value', 'speed'],
    [{ response_format: 'mp3' }, 400, 'unsupported_parameter', 'response_format'],
    [{ stream_format: 'sse' }, 400, 'unsupported_parameter', 'stream_format'],
    [{ instructions: 'Whisper.' }, 400, 'unsupported_parameter', 'instructions'],
  ])('is refused with %j', async (body, status, code, param) => {
    const response = await speak(body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code, param } })
    expect(server.world.fake.spoken).toEqual([])
  })

  it('is refused without a key', async () => {
    const response = await speak({}, { headers: { authorization: 'Bearer nobody' } })
    expect(response.status).toBe(401)
  })

  it('is refused at once without a speech engine', async () => {
    const mute = await ChatServer.open()
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${mute.key}` },
    }
    const body = JSON.stringify({ model: 'model-voice', input: 'Hello.', messages: QUESTION })
    for (const path of ['/api/v1/audio/speech', '/api/v1/voice']) {
      const response = await fetch(`${mute.url}${path}`, { ...init, body })
      expect(response.status).toBe(503)
      expect(response.headers.get('x-should-retry')).toBe('false')
      // No Retry-After: the operator must configure a model first.
      expect(response.headers.get('retry-after')).toBe(null)
      expect(await response.json()).toMatchObject({
        error: { code: 'no_backend_available', message: expect.stringContaining('GET /api/v1/info/models says which') },
      })
    }
    const model = await (await fetch(`${mute.url}/api/v1/models/model-voice`)).json()
    expect(model).toMatchObject({ x_platform: { available: false, requires: ['models.file', 'chat.espeak'] } })
    expect(mute.world.fake.questions).toEqual([])
    await mute.close()
  })
})

describe('several servers that speak', () => {
  const voiceOnly = { models: [{ id: 'voice', roles: ['speech' as const] }] }
  const ask = (url: string, key: string): Promise<Response> =>
    fetch(`${url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'model-voice', input: LONG, voice: 'alloy' }),
    })

  it('are one for another before the first word, and not after it', async () => {
    const pair = await ChatServer.open({ backends: [voiceOnly, voiceOnly] })
    const [one, two] = pair.world.fakes as [FakeOpenAi, FakeOpenAi]
    one.speech = 'not-wav'
    const whole = await bytesOf(await ask(pair.url, pair.key))
    expect(samplesIn(whole)).toEqual([...soundOf(LONG)])
    expect([one.spoken.length, two.spoken.length]).toEqual([1, 3])
    one.speech = (_, asked) => (asked === 3 ? 'not-wav' : 'ok')
    expect((await ask(pair.url, pair.key)).status).toBe(502)
    expect([one.spoken.length, two.spoken.length]).toEqual([3, 3])
    await pair.close()
  })
})

describe('a caller who goes away', () => {
  it('ends the speech at the server', async () => {
    const { fake } = server.world
    fake.speech = 'hang'
    const gone = new AbortController()
    const response = speak({}, { signal: gone.signal })
    const refused = expect(response).rejects.toThrow()
    await until('the server is asked', () => fake.open === 1)
    gone.abort()
    await refused
    await until('the server is left', () => fake.open === 0)
    expect(fake.spoken).toHaveLength(1)
  })

  it('ends the pause before the next try', async () => {
    const { fake } = server.world
    fake.retryAfter = '7'
    fake.speech = '429'
    const gone = new AbortController()
    const refused = expect(speak({}, { signal: gone.signal })).rejects.toThrow()
    await until('the server has said no', () => fake.spoken.length === 1 && fake.open === 0)
    gone.abort()
    await refused
    await server.settled()
    expect(fake.spoken).toHaveLength(1)
    fake.retryAfter = '0'
  })

  it('is not there when the time is over', async () => {
    server.world.fake.speech = 'hang'
    const voice = voiceOver(server.world, { budgetMs: 300 })
    const signal = new AbortController().signal
    const wish = { voice: null, speed: 1 }
    expect(await voice.speak('Hello.', wish, signal)).toMatchObject({ fault: { code: 'chat/timeout' } })
    const call = callOf({ messages: QUESTION })
    expect(await voice.answerAloud(call, wish, signal)).toMatchObject({ fault: { code: 'chat/timeout' } })
  })

  it('is one of eight at most, and one of four with one key', async () => {
    const { fake } = server.world
    fake.speech = 'hang'
    const gone = new AbortController()
    const other = { authorization: `Bearer ${await server.newKey()}` }
    const four = (headers: Record<string, string>): Promise<unknown>[] =>
      Array.from({ length: 4 }, () => speak({}, { headers, signal: gone.signal }).catch(() => null))
    const eight = four({})
    await until('four are spoken', () => fake.open === 4)
    expect((await speak()).status).toBe(429)
    eight.push(...four(other))
    await until('eight are spoken', () => fake.open === 8)
    const ninth = await speak({}, { headers: { authorization: `Bearer ${await server.newKey()}` } })
    expect(ninth.status).toBe(429)
    expect(await ninth.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
    gone.abort()
    await Promise.all(eight)
    await until('none is spoken', () => fake.open === 0)
    fake.speech = 'ok'
    expect((await speak()).status).toBe(200)
  })

  it('has used what was spoken for him', async () => {
    const { fake } = server.world
    const headers = { authorization: `Bearer ${await server.newKey('who goes away')}` }
    const used = (): number => server.keys.usedToday('who goes away').promptTokens
    fake.speech = 'not-wav'
    expect((await speak({}, { headers })).status).toBe(502)
    expect(used()).toBe(0)
    fake.speech = 'hang'
    const gone = new AbortController()
    const asked = speak({ input: 'x'.repeat(400) }, { headers, signal: gone.signal }).catch(() => null)
    await until('it is spoken', () => fake.open === 1)
    gone.abort()
    await asked
    await until('it is counted', () => used() === estimatedTokens('x'.repeat(400)))
  })

  it('leaves room for others', async () => {
    for (let i = 0; i < 20; i++) {
      const gone = new AbortController()
      const response = await speak({ input: LONG }, { signal: gone.signal })
      expect(response.status).toBe(200)
      gone.abort()
    }
    expect((await speak()).status).toBe(200)
  })
})

describe('an answer that is read out', () => {
  it('counts as what was said, and again as what was read out, in whatever language', async () => {
    for (const text of [
      'The committee met again and put off its vote. '.repeat(20),
      '委員会は再び投票を延期した。'.repeat(20),
    ]) {
      const owner = `who hears ${text.length}`
      const headers = { authorization: `Bearer ${await server.newKey(owner)}` }
      server.world.fake.answer = () => text
      server.world.fake.usage = null
      const response = await post('/api/v1/voice', { messages: QUESTION }, { headers })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      const { promptTokens, completionTokens } = server.keys.usedToday(owner)
      expect(completionTokens).toBeGreaterThanOrEqual(estimatedTokens(text))
      expect(promptTokens).toBeGreaterThan(estimatedTokens(text))
    }
  })

  it('is text and sound, with what was done for both', async () => {
    server.world.fake.answer = () => 'Here it *is*: `x`.'
    const response = await post('/api/v1/voice', { messages: QUESTION, voice: 'nova' })
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    const body = JSON.parse(text)
    expect(body).toMatchObject({
      object: 'voice',
      model: 'model-voice',
      text: 'Here it *is*: `x`.',
      x_platform: { model: 'model-voice', pipeline: 'voice', speech: { characters: 14, truncated: false } },
      audio: { format: 'wav', sample_rate: 24_000, bits: 16, channels: 1, duration_ms: 14 },
    })
    expect(body.usage.total_tokens).toBeGreaterThan(0)
    const stages = body.x_platform.stages as { stage: string; ran: boolean; models: string[] }[]
    const last = ['Markdown Stripping', 'Chunking', 'Text-to-Speech', 'WAV Joining']
    expect(stages.slice(-4).map(({ stage }) => stage)).toEqual(last)
    expect(stages.find(({ stage }) => stage === 'Text-to-Speech')).toMatchObject({ ran: true, models: ['house-voice'] })
    expect(stages[0]?.stage).toBe('Planner')
    expect(samplesIn(Buffer.from(body.audio.data, 'base64'))).toEqual([...soundOf('Here it is: x.')])
  })

  it('is sound of every length in base64', async () => {
    for (const text of ['One', 'Four', 'Seven, eight', LONG]) {
      server.world.fake.answer = () => text
      const { audio } = (await (await post('/api/v1/voice', { messages: QUESTION })).json()) as {
        audio: { data: string }
      }
      const file = Buffer.from(audio.data, 'base64')
      expect(file.toString('base64')).toBe(audio.data)
      expect(file.length).toBe(WAV_HEADER_BYTES + text.length * SAMPLES_PER_CHARACTER * 2)
    }
  })

  it('is cut where it is longer than is spoken, and says so', async () => {
    server.world.fake.answer = () => 'One of very many sentences. '.repeat(400)
    const body = await (await post('/api/v1/voice', { messages: QUESTION })).json()
    const { speech } = body.x_platform
    expect(speech.truncated).toBe(true)
    expect(speech.characters).toBeGreaterThan(7_000)
    expect(speech.characters).toBeLessThanOrEqual(8_192)
    expect(body.audio.duration_ms).toBe(speech.characters)
    expect(server.world.fake.spoken.every((text) => text.trim().endsWith('.'))).toBe(true)
  })

  it('fails as the model behind it fails, and nothing is spoken', async () => {
    const broken = await ChatServer.open({ backends: [SPEAKING_BACKEND] })
    broken.world.fake.profile = '503'
    const response = await fetch(`${broken.url}/api/v1/voice`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${broken.key}` },
      body: JSON.stringify({ messages: QUESTION }),
    })
    expect(response.status).toBe(502)
    const { error } = (await response.json()) as { error: { message: string } }
    expect(error.message).toContain('model-voice')
    expect(broken.world.fake.spoken).toEqual([])
    await broken.close()
  })

  it.each([
    [{ messages: undefined }, 'invalid_value', 'messages'],
    [{ stream: true }, 'unsupported_parameter', 'stream'],
    [{ response_format: { type: 'json_object' } }, 'unsupported_parameter', 'response_format'],
    [{ tools: [{ type: 'function', function: { name: 'look' } }] }, 'unsupported_parameter', 'tools'],
    [{ voice: 'nobody' }, 'invalid_value', 'voice'],
  ])('is refused with %j', async (body, code, param) => {
    const response = await post('/api/v1/voice', { messages: QUESTION, ...body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code, param } })
  })

  it('is not of another model', async () => {
    const response = await post('/api/v1/voice', { model: 'model-4', messages: QUESTION })
    expect(response.status).toBe(404)
  })
})
