import { afterEach, describe, expect, it } from 'vitest'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import { ChatWorld, type ChatWorldParts, callOf, textOf } from '../../support/chat-world.ts'
import { until } from '../../support/processes.ts'
import { type ChatProfile, HOUSE_MODEL, HOUSE_TEXT } from '../../support/upstreams/openai.ts'

const opened: ChatWorld[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((world) => world.close()))
})

async function open(parts: ChatWorldParts = {}): Promise<ChatWorld> {
  const world = await ChatWorld.open(parts)
  opened.push(world)
  return world
}

const TOOLS = {
  usesTools: true,
  extra: {
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } }, of_nobody: 1 }],
    tool_choice: 'required',
    parallel_tool_calls: false,
  },
} as const

describe('a chat with one model', () => {
  it('is answered whole, and read along', async () => {
    const world = await open()
    const whole = await world.outcome()
    expect(whole.choices).toMatchObject([
      { message: { content: HOUSE_TEXT, house_note: 'kept' }, finishReason: 'stop' },
    ])
    expect(whole.usage).toEqual({ promptTokens: 7, completionTokens: 11, totalTokens: 18, estimated: false })
    expect(whole.report).toMatchObject({
      pipeline: 'direct',
      stages: [{ stage: 'Answer', ran: true, models: [HOUSE_MODEL] }],
    })
    const read = await world.read()
    expect(read.text).toBe(HOUSE_TEXT)
    expect(read.pieces[0]).toEqual({ index: 0, delta: { role: 'assistant', content: '', house_note: 'kept' } })
    await world.settled()
  })

  it('tells how likely its tokens were, where that is asked for', async () => {
    const world = await open()
    const extra = { logprobs: true, top_logprobs: 0 }
    const whole = await world.outcome({ extra })
    expect(whole.choices[0]?.logprobs).toMatchObject({ content: [{ token: HOUSE_TEXT }], refusal: null })
    const { outcome, pieces } = await world.read({ extra })
    const tokens = pieces.flatMap(
      ({ logprobs }) => (logprobs as { content: { token: string }[] } | undefined)?.content ?? [],
    )
    expect(tokens.map(({ token }) => token).join('')).toBe(HOUSE_TEXT)
    // All log probabilities were streamed, so none is kept in memory.
    expect(outcome.ok && outcome.value.choices[0]?.logprobs).toBeNull()
    expect(world.fake.questions[0]?.body).toMatchObject(extra)
  })

  it('gives as many answers as are wanted, each with its number and a seed of its own, and the usage of all', async () => {
    const world = await open()
    const call = { count: 3, extra: { seed: 7 } }
    const whole = await world.outcome(call)
    expect(whole.choices.map(({ message }) => message.content)).toEqual([HOUSE_TEXT, HOUSE_TEXT, HOUSE_TEXT])
    expect(whole.usage.totalTokens).toBe(3 * 18)
    expect(world.fake.questions.map(({ body }) => body.seed).toSorted()).toEqual([7, 8, 9])
    expect(world.fake.questions.every(({ body }) => body.n === undefined)).toBe(true)
    const read = await world.read(call)
    expect([0, 1, 2, 3].map((index) => textOf(read.pieces, index))).toEqual([HOUSE_TEXT, HOUSE_TEXT, HOUSE_TEXT, ''])
    expect(await world.ask({ count: 9 })).toMatchObject({ ok: false, fault: { code: 'chat/unsupported' } })
  })

  it('gives none of several answers where one fails, and ends the others', async () => {
    const world = await open()
    world.fake.profile = (_, asked) => (asked === 4 ? '400' : 'hang')
    expect(await world.ask({ count: 4 })).toMatchObject({ ok: false, fault: { code: 'chat/refused' } })
    await world.settled()
    expect(world.fake.abandoned).toBe(3)
  })

  it('with tools goes to a model that takes them, untouched in both directions', async () => {
    const world = await open({
      backends: [
        { models: [{ supports: new Set() }] },
        { models: [{ roles: ['reason'], supports: new Set(['tools']) }] },
      ],
    })
    world.fakes[1]!.profile = 'tool-calls'
    const whole = await world.outcome(TOOLS)
    const call = { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }
    expect(whole.choices).toMatchObject([
      { message: { content: null, tool_calls: [call] }, finishReason: 'tool_calls' },
    ])
    expect(whole.report.pipeline).toBe('tools')
    const { pieces } = await world.read({ ...TOOLS, model: 'model-4' })
    expect(pieces.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', content: '', house_note: 'kept' },
      { tool_calls: [{ index: 0, id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"at":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '"sky"}' } }] },
      {},
    ])
    expect(world.fakes[1]?.questions[0]?.body).toMatchObject(TOOLS.extra)
    expect(world.hits).toEqual([0, 2])
  })

  it('with tools is not supported where no model takes them', async () => {
    const world = await open({ backends: [{ models: [{ supports: new Set() }] }] })
    const refused = { ok: false, fault: { code: 'chat/unsupported', detail: { param: 'tools' } } }
    expect(await world.ask(TOOLS)).toMatchObject(refused)
    expect(world.hits).toEqual([0])
  })

  it('goes to any model that answers in text where that of its role fails', async () => {
    const world = await open({ backends: [{ models: [{ roles: ['fast'] }] }, { models: [{ roles: ['judge'] }] }] })
    world.fake.profile = '503'
    expect((await world.outcome()).choices).toMatchObject([{ message: { content: HOUSE_TEXT } }])
    expect(world.hits).toEqual([3, 1])
    world.fake.profile = '400'
    expect((await world.read()).text).toBe(HOUSE_TEXT)
    expect(world.hits).toEqual([4, 2])
  })

  it('asks a server that is down three times, and not once more for each of its models', async () => {
    const models = [{ id: 'one' }, { id: 'two' }, { id: 'three', roles: ['general' as const] }]
    const world = await open({ backends: [{ models }] })
    world.fake.profile = '502-html'
    expect(await world.ask()).toMatchObject({ ok: false, fault: { code: 'chat/upstream' } })
    expect(world.hits).toEqual([3])
  })

  it('names the numbers where the conversation is too long, tools and pictures counted', async () => {
    const world = await open({ backends: [{ models: [{ context: 4_096 }] }] })
    const long = (content: unknown) => world.ask({ messages: [{ role: 'user', content }] })
    const tooLong = { code: 'chat/context-length', detail: { param: 'messages', window: 4_096 } }
    expect(await long('word '.repeat(5_000))).toMatchObject({ fault: tooLong })
    const picture = { type: 'image_url', image_url: { url: 'data:,' } }
    expect(await long([picture, picture, picture, picture, picture, picture])).toMatchObject({ fault: tooLong })
    const refused = await long('word '.repeat(5_000))
    expect(refused.ok ? '' : faultMessage(refused.fault)).toMatch(
      /; model-1 takes 4096, as the largest model behind it does/,
    )
    const wide = await open({ backends: [{ models: [{ context: 128_000 }] }] })
    const over = await wide.ask({ messages: [{ role: 'user', content: 'word '.repeat(40_000) }] })
    expect(over.ok ? '' : faultMessage(over.fault)).toMatch(/; model-1 takes 32000, the most on this platform/)
    const tools = [{ type: 'function', function: { name: 'x', description: 'word '.repeat(5_000) } }]
    const withTools = await world.ask({ model: 'model-4', usesTools: true, extra: { tools } })
    expect(withTools).toMatchObject({ fault: tooLong })
    expect(world.hits).toEqual([0])
  })

  it('leaves as much room for the answer as the window has', async () => {
    const world = await open({ backends: [{ models: [{ context: 4_096 }] }] })
    await world.outcome({ messages: [{ role: 'user', content: 'word '.repeat(2_000) }], maxTokens: 4_000 })
    const asked = world.fake.questions[0]?.body.max_tokens as number
    expect(asked).toBeGreaterThan(1_500)
    expect(asked).toBeLessThan(2_300)
  })

  it('notes how long answers take, for the model of the platform, and for that behind it', async () => {
    const world = await open()
    await world.outcome()
    await world.read()
    expect(world.platform.latencies.figures('model-1', Date.now())).toMatchObject({ count: 2 })
    const [known] = world.pool.facts[0]?.latencies ?? []
    expect(known).toMatchObject({ model: HOUSE_MODEL, role: 'fast', whole: { count: 2 }, firstToken: { count: 1 } })
  })
})

describe('a caller who goes away', () => {
  const gone = async (world: ChatWorld, begun: () => boolean, call: Parameters<ChatWorld['ask']>[0] = {}) => {
    const caller = new AbortController()
    const asked = world.ask(call, caller.signal)
    await until('it is under way', begun)
    caller.abort()
    expect(await asked).toMatchObject({ ok: false, fault: { code: 'chat/aborted' } })
    await world.settled()
  }

  it('ends what a server is asked', async () => {
    const world = await open()
    world.fake.profile = 'hang'
    await gone(world, () => world.fake.open === 1)
    await gone(world, () => world.fake.open === 5, { count: 5 })
    expect(world.fake.abandoned).toBe(6)
  })

  it('waits no more for its turn', async () => {
    const world = await open({ backends: [{ limits: { concurrency: 1 } }] })
    world.fake.profile = 'hang'
    const first = new AbortController()
    const asked = world.ask({}, first.signal)
    await until('the first is asked', () => world.fake.open === 1)
    const caller = new AbortController()
    const second = world.ask({}, caller.signal)
    await until('the second waits', () => world.pool.facts[0]?.waiting === 1)
    caller.abort()
    expect(await second).toMatchObject({ fault: { code: 'chat/aborted' } })
    expect([world.pool.facts[0]?.waiting, world.hits]).toEqual([0, [1]])
    first.abort()
    await asked
    await world.settled()
  })

  it('waits no more for the next try', async () => {
    const world = await open()
    world.fake.profile = '429'
    world.fake.retryAfter = '7'
    await gone(world, () => world.hits[0] === 1 && world.fake.open === 0)
    expect(world.hits).toEqual([1])
  })

  it('ends the second question for an answer in a form', async () => {
    const world = await open({ backends: [{ models: [{ supports: new Set() }] }] })
    world.fake.profile = (_, asked) => (asked === 1 ? 'ok' : 'hang')
    await gone(world, () => world.hits[0] === 2, { form: { is: 'json' } })
    expect(world.fake.abandoned).toBe(1)
  })

  it('is told what was used by what was half said', async () => {
    const world = await open()
    world.fake.profile = 'stall'
    const caller = new AbortController()
    let tokens = 0
    let said = ''
    const sink = {
      ready: () => {},
      take: ({ delta }: { delta: Readonly<Record<string, unknown>> }) => {
        said += delta.content
      },
    }
    const asked = world.platform.answer(callOf(), sink, caller.signal, (usage) => {
      tokens = usage.totalTokens
    })
    await until('something is said', () => said.length > 4)
    caller.abort()
    await asked
    expect(tokens).toBeGreaterThan(5)
  })
})

describe('an answer that breaks off', () => {
  const breaks = async (resumes: boolean, profiles: readonly ChatProfile[]) => {
    const limits = { timeoutMs: 500 }
    const world = await open({ backends: [{ limits }, { limits }] })
    world.fakes.forEach((fake, i) => {
      fake.profile = profiles[i] ?? 'ok'
      fake.answer = ({ body }) => {
        const last = (body.messages as { role: string; content: string }[]).at(-2)
        return last?.role === 'assistant' ? HOUSE_TEXT.slice(last.content.length) : HOUSE_TEXT
      }
    })
    return { world, read: await world.read({ resumes }) }
  }

  it.each(['cut', 'late-error', 'stall'] as const)(
    'is continued by another model where that is wanted: %s',
    async (profile) => {
      const { world, read } = await breaks(true, [profile, 'ok'])
      expect(read.text).toBe(HOUSE_TEXT)
      expect(read.outcome).toMatchObject({
        ok: true,
        value: {
          choices: [{ message: { content: HOUSE_TEXT }, finishReason: 'stop' }],
          usage: { estimated: true },
          report: { resumed: { afterChars: 6 }, usageEstimated: true },
        },
      })
      expect(read.pieces.filter(({ delta }) => delta.role !== undefined)).toHaveLength(1)
      expect(world.hits).toEqual([1, 1])
    },
  )

  it('is continued within a pipeline, too', async () => {
    const world = await open({ backends: [{}, {}] })
    let streams = 0
    for (const fake of world.fakes) {
      fake.profile = ({ body }) => (body.stream === true && ++streams === 1 ? 'cut' : 'ok')
      fake.answer = ({ body }) => {
        const last = (body.messages as { role: string; content: string }[]).at(-2)
        return last?.role === 'assistant' ? HOUSE_TEXT.slice(last.content.length) : HOUSE_TEXT
      }
    }
    const { outcome, text } = await world.read({ model: 'model-4', resumes: true })
    expect(outcome).toMatchObject({ ok: true, value: { report: { resumed: { afterChars: 6 } } } })
    expect(text).toBe(HOUSE_TEXT)
    expect(streams).toBe(2)
  })

  it('is a failure where it is not, and the second time', async () => {
    expect((await breaks(false, ['cut', 'ok'])).read.outcome).toMatchObject({ fault: { code: 'chat/upstream' } })
    const { world, read } = await breaks(true, ['cut', 'cut'])
    expect(read.outcome).toMatchObject({ ok: false, fault: { code: 'chat/upstream' } })
    expect(world.hits).toEqual([1, 1])
    await world.settled()
  })
})
