import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { estimatedTokens } from '../../../marketplace/chat/models/tokens.ts'
import { ChatServer, HELLO, readAll } from '../../support/chat-server.ts'

/** Several thousand words in different sentences. */
const LONG = Array.from({ length: 700 }, (_, i) => `On day ${i} the committee met again and put off its vote.`).join(
  ' ',
)
const LONG_TOKENS = estimatedTokens(LONG)
const PIECES = LONG.match(/.{1,40}/gs) ?? []
const NOTHING = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
const HUGE = { prompt_tokens: 90_000_000, completion_tokens: 90_000_000, total_tokens: 180_000_000 }
const CALL = { id: 'call-1', type: 'function', function: { name: 'write', arguments: '' } }
const TOOLS = [{ type: 'function', function: { name: 'write', parameters: { type: 'object' } } }]
type Said = Readonly<Record<string, unknown>>
/** More log probabilities than are parsed at once, for an answer of normal length. */
const LIKELY = { ...HELLO, max_tokens: 2_000, logprobs: true, top_logprobs: 20 }
/** A model that does not count tokens of streams, so complete answers are requested. */
const WHOLE_ALONE = { models: [{ supports: new Set<never>() }] }

const NESTED: unknown = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)
/** Answers that exceed a limit of reading, by the limit. */
const TOO_MUCH: Readonly<Record<string, Said>> = {
  bytes: { content: 'It goes on. '.repeat(400_000) },
  // More JSON values than are parsed at once.
  values: { annotations: Array.from({ length: 210_000 }, () => 0) },
  levels: { house: NESTED },
}

let server: ChatServer

beforeEach(async () => {
  server = await ChatServer.open()
})
afterEach(async () => {
  await server.close()
  expect(server.errors).toEqual([])
})

/** Completion tokens that count against the key, after all chats have ended. */
async function counted(): Promise<number> {
  await server.settled()
  return server.keys.list('operator')[0]?.usedToday.completionTokens ?? 0
}

function expectAbout(tokens: number, said = LONG_TOKENS): void {
  expect(tokens).toBeGreaterThan(said * 0.8)
  expect(tokens).toBeLessThan(said * 1.3)
}

const thinks = (text: string): Said => ({ reasoning_content: text })
const writes = (text: string): Said => ({
  tool_calls: [{ index: 0, ...CALL, function: { name: '', arguments: text } }],
})
/** Functions that put a text of a model into the fields of a message or of a stream piece, by what the text is. */
const FIELDS: Readonly<Record<string, (text: string) => Said>> = {
  content: (text: string) => ({ content: text }),
  refusal: (text: string) => ({ refusal: text }),
  reasoning: (text: string) => ({ reasoning: text }),
  reasoning_content: thinks,
  thinking: (text: string) => ({ thinking: text }),
  'several names for the same thoughts': (text: string) => ({
    reasoning: text,
    reasoning_content: text,
    reasoning_details: [{ type: 'reasoning.text', text }],
  }),
  'arguments of a tool': writes,
  'transcript of a sound': (text: string) => ({ audio: { id: 'sound', transcript: text } }),
  'a field of its own': (text: string) => ({ house_words: text }),
}

describe('the tokens of a day see what a model says', () => {
  it.each(Object.entries(FIELDS))('as %s, whole and in pieces, where it counts nothing', async (_, said) => {
    for (const usage of [null, NOTHING]) {
      server.world.fake.usage = usage
      server.world.fake.message = { content: 'Done.', ...said(LONG) }
      const before = await counted()
      expect((await server.post({ ...HELLO, tools: TOOLS })).status).toBe(200)
      expectAbout((await counted()) - before)
      server.world.fake.pieces = [{ content: 'Done.' }, ...PIECES.map((piece) => said(piece))]
      const streamed = await server.post({ ...HELLO, tools: TOOLS, stream: true })
      expect((await readAll(streamed)).isCut).toBe(false)
      expectAbout((await counted()) - before, 2 * LONG_TOKENS)
    }
  })

  it('of every one of several answers', async () => {
    server.world.fake.usage = null
    server.world.fake.message = writes(LONG)
    expect((await server.post({ ...HELLO, tools: TOOLS, n: 3 })).status).toBe(200)
    expectAbout(await counted(), 3 * LONG_TOKENS)
  })

  it('where it counts far more than was asked for, as what came', async () => {
    server.world.fake.usage = HUGE
    server.world.fake.answer = () => LONG
    await readAll(await server.post({ ...HELLO, max_tokens: 100 }))
    expectAbout(await counted())
    const [key] = server.keys.list('operator')
    expect(key?.usedToday.promptTokens).toBeLessThan(20)
  })

  it.each([0.3, 0.5, 0.7])('where it counts %d of what came, as what came', async (part) => {
    const tokens = Math.floor(LONG_TOKENS * part)
    server.world.fake.usage = { prompt_tokens: 5, completion_tokens: tokens, total_tokens: tokens + 5 }
    server.world.fake.answer = () => LONG
    await readAll(await server.post(HELLO))
    expect(await counted()).toBeGreaterThanOrEqual(LONG_TOKENS * 0.99)
  })

  it('where it counts about what came, as it counts', async () => {
    const tokens = Math.ceil(LONG_TOKENS * 0.8)
    server.world.fake.usage = { prompt_tokens: 5, completion_tokens: tokens, total_tokens: tokens + 5 }
    server.world.fake.answer = () => LONG
    await readAll(await server.post(HELLO))
    expect(await counted()).toBe(tokens)
  })

  it.each(Object.entries(TOO_MUCH))('where more came than is read (%s), as all that was asked for', async (_, said) => {
    server.world.fake.usage = null
    server.world.fake.message = said
    const asked = { ...HELLO, max_tokens: 500, logprobs: true, top_logprobs: 20 }
    expect((await server.post(asked)).status).toBe(502)
    expect(await counted()).toBe(500)
    server.world.fake.pieces = [said]
    await readAll(await server.post({ ...asked, stream: true }))
    expect(await counted()).toBe(1_000)
  })

  it('where what came was already more than all that was asked for, as what came', async () => {
    server.world.fake.usage = null
    server.world.fake.pieces = [{ content: LONG }, { house: NESTED }]
    await readAll(await server.post({ ...HELLO, max_tokens: 700, stream: true }))
    expectAbout(await counted())
  })

  it('of the prompt, as it counts, where the answer is too deep to be looked at', async () => {
    server.world.fake.usage = { prompt_tokens: 500, completion_tokens: 600, total_tokens: 1_100 }
    server.world.fake.message = { house: NESTED }
    expect((await server.post({ ...HELLO, max_tokens: 700 })).status).toBe(502)
    await server.settled()
    expect(server.keys.list('operator')[0]?.usedToday).toMatchObject({ promptTokens: 500, completionTokens: 600 })
  })

  it.each(['stall', 'cut', 'no-end'] as const)('where the answer does not come to its end (%s)', async (profile) => {
    server.world.fake.profile = profile
    server.world.fake.pieces = PIECES.map(thinks)
    const answer = await server.post({ ...HELLO, stream: true })
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const bytes of answer.body as ReadableStream<Uint8Array>) {
        text += decoder.decode(bytes, { stream: true })
        if (text.includes('On day 699')) break
      }
    } catch (error) {
      // A cut connection may break here too, before or after the last words.
      if (profile === 'stall') throw error
    }
    const tokens = await counted()
    expect(tokens).toBeGreaterThan(LONG_TOKENS * 0.99)
    expectAbout(tokens)
  })

  it('where its answer cannot be used: thoughts that left no room for words', async () => {
    server.world.fake.usage = null
    server.world.fake.message = { content: '', reasoning_content: LONG }
    expect((await server.post(HELLO)).status).toBeGreaterThanOrEqual(500)
    expectAbout(await counted())
  })

  it('and what it is told: the schema of an answer where it counts no prompt', async () => {
    server.world.fake.usage = NOTHING
    server.world.fake.answer = () => '{}'
    const schema = { type: 'object', description: LONG.slice(0, 8_000) }
    const response_format = { type: 'json_schema', json_schema: { name: 'nothing', schema } }
    expect((await server.post({ ...HELLO, response_format })).status).toBe(200)
    await server.settled()
    const [key] = server.keys.list('operator')
    expect(key?.usedToday.promptTokens).toBeGreaterThan(1_000)
  })

  it('images that are read for a chat that no model takes', async () => {
    const supports = new Set(['vision'] as const)
    await server.renew({
      backends: [{ models: [{ supports }] }, { models: [{ supports: new Set(['tools'] as const) }] }],
    })
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } })
      .png()
      .toBuffer()
    const image_url = { url: `data:image/png;base64,${bytes.toString('base64')}` }
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url }] }]
    expect((await server.post({ model: 'model-4', messages, tools: TOOLS })).status).toBe(400)
    await server.settled()
    expect(server.keys.list('operator')[0]?.usedToday.promptTokens).toBe(765)
  })

  it('the schema of several answers, which is looked at once, also where it cannot be used', async () => {
    const looks = vi.spyOn(server.world.engines, 'run')
    const schema = { type: 'object', description: LONG.slice(0, 8_000), properties: { a: { $ref: '#/$defs/none' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'nothing', schema } }
    expect((await server.post({ ...HELLO, n: 8, response_format })).status).toBe(400)
    await server.settled()
    expect(looks).toHaveBeenCalledTimes(1)
    expect(server.keys.list('operator')[0]?.usedToday.promptTokens).toBeGreaterThan(1_000)
  })
})

describe('an answer with twenty likelihoods for each of its tokens', () => {
  const likelihoods = async (answer: Response): Promise<readonly unknown[]> => {
    const { choices } = (await answer.json()) as { choices: readonly { logprobs: { content: unknown[] } }[] }
    return choices[0]?.logprobs.content ?? []
  }
  const words = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => ` word${i}`)

  it('comes to its end as a stream', async () => {
    server.world.fake.others = 20
    server.world.fake.pieces = words(1_400).map((content) => ({ content }))
    const answer = await server.post({ ...LIKELY, stream: true })
    expect((await readAll(answer)).isCut).toBe(false)
    expect(server.world.fake.questions[0]?.body).toMatchObject({ stream: true, max_tokens: 2_000 })
  })

  it('is asked for no longer than is written at once, several answers together', async () => {
    server.world.fake.others = 20
    server.world.fake.answer = ({ body }) => words(Number(body.max_tokens)).join('')
    expect(await likelihoods(await server.post(LIKELY))).toHaveLength(595)
    expect(await likelihoods(await server.post({ ...LIKELY, n: 5 }))).toHaveLength(119)
  })

  it('is asked for no longer where it is shown once its form was checked', async () => {
    server.world.fake.others = 20
    server.world.fake.answer = () => '{}'
    const form = { stream: true, response_format: { type: 'json_object' } }
    await readAll(await server.post({ ...LIKELY, ...form, n: 5 }))
    expect(server.world.fake.questions.map(({ body }) => body.max_tokens)).toEqual(Array(5).fill(119))
  })

  it('is asked for no longer than can be read, where it comes as a whole', async () => {
    await server.renew({ backends: [WHOLE_ALONE] })
    server.world.fake.others = 20
    server.world.fake.answer = ({ body }) => words(Number(body.max_tokens)).join('')
    const answer = await server.post(LIKELY)
    expect([answer.status, server.world.hits]).toEqual([200, [1]])
    expect(await likelihoods(answer)).toHaveLength(595)
    await server.post({ ...LIKELY, top_logprobs: 0 })
    expect(server.world.fake.questions.map(({ body }) => body.max_tokens)).toEqual([595, 2_000])
  })

  it('counts as the longest that was asked for, where more came all the same', async () => {
    await server.renew({ backends: [WHOLE_ALONE] })
    server.world.fake.usage = null
    server.world.fake.message = TOO_MUCH.values as Said
    expect((await server.post(LIKELY)).status).toBe(502)
    expect(await counted()).toBe(595)
  })
})

it.each(Object.entries(TOO_MUCH))('an answer with too much in it (%s) is asked of no other model', async (_, said) => {
  await server.renew({ backends: [{}, {}] })
  server.world.fake.usage = null
  for (const fake of server.world.fakes) {
    fake.message = said
    fake.pieces = [said]
  }
  expect((await server.post({ ...HELLO, max_tokens: 700 })).status).toBe(502)
  await readAll(await server.post({ ...HELLO, max_tokens: 700, stream: true }))
  expect(server.world.hits).toEqual([2, 0])
  expect(await counted()).toBe(1_400)
})
