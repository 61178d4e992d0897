import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { ChatCall } from '../../../marketplace/chat/call.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { ChatWorld, type ChatWorldParts } from '../../support/chat-world.ts'

const engines = new EnginePool(1)
const opened: ChatWorld[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((world) => world.close()))
})
afterAll(() => engines.close())

async function open(parts: ChatWorldParts = {}): Promise<ChatWorld> {
  const world = await ChatWorld.open({ ...parts, means: { engines, ...parts.means } })
  opened.push(world)
  return world
}

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
}
const IN_WORDS: ChatWorldParts = { backends: [{ models: [{ supports: new Set() }] }] }
const GOOD = '{"name":"Ada","age":36}'
const WRONG = '{"name":"Ada","age":"old"}'
const FENCED = `\`\`\`json\n${GOOD}\n\`\`\``

function inForm(schema: Readonly<Record<string, unknown>> = SCHEMA): Partial<ChatCall> {
  return { form: { is: 'schema', schema: { name: 'person', schema, strict: true } } }
}

/** Makes the model give these answers in order. The last one repeats. */
function answers(world: ChatWorld, ...texts: readonly string[]): void {
  world.fake.answer = () => texts[Math.min(texts.length, world.fake.questions.length) - 1] as string
}

function contentOf({ choices }: Awaited<ReturnType<ChatWorld['outcome']>>): unknown {
  return choices[0]?.message.content
}

describe('an answer that must follow a schema', () => {
  it('is held to it by the server of a model that can be, and checked', async () => {
    const world = await open()
    answers(world, GOOD)
    const outcome = await world.outcome(inForm())
    expect(contentOf(outcome)).toBe(GOOD)
    expect(outcome.report).toMatchObject({ structured: 'native' })
    const format = { type: 'json_schema', json_schema: { name: 'person', schema: SCHEMA, strict: true } }
    expect(world.fake.questions[0]?.body.response_format).toEqual(format)
    const read = await world.read(inForm())
    expect([read.text, read.pieces.length > 3, read.readyAt]).toEqual([GOOD, true, null])
    expect(world.hits).toEqual([2])
  })

  it('is asked for in words where no model can be held to it, and shown without what stands around it', async () => {
    const world = await open(IN_WORDS)
    answers(world, FENCED)
    const outcome = await world.outcome(inForm())
    expect([contentOf(outcome), outcome.report.structured]).toEqual([GOOD, 'checked'])
    expect(JSON.stringify(world.fake.questions[0]?.body.messages)).toContain('follows this JSON schema')
    const read = await world.read(inForm())
    expect(read.pieces).toHaveLength(1)
    expect([read.text, read.readyAt]).toEqual([GOOD, 0])
  })

  it('is asked for once more where it does not, with what is wrong with it', async () => {
    const world = await open(IN_WORDS)
    answers(world, WRONG, GOOD)
    // A count far below the actual prompt would not be believed.
    world.fake.usage = { prompt_tokens: 107, completion_tokens: 11 }
    const outcome = await world.outcome(inForm())
    expect([contentOf(outcome), outcome.report.structured]).toEqual([GOOD, 'repaired'])
    expect(outcome.usage.totalTokens).toBe(2 * 118)
    const messages = world.fake.questions[1]?.body.messages as { role: string; content: string }[]
    expect(messages[1]).toEqual({ role: 'assistant', content: WRONG })
    expect(messages[2]?.content).toContain('/age must be integer')
  })

  it.each([
    ['in words', IN_WORDS],
    ['by a server that does not keep its word', {}],
  ] as const)('is a fault where it does not the second time either: %s', async (_, parts) => {
    const world = await open(parts)
    answers(world, WRONG)
    const refused = { ok: false, fault: { code: 'chat/schema', detail: { reason: '/age must be integer' } } }
    expect(await world.ask(inForm())).toMatchObject(refused)
    expect(world.hits).toEqual([2])
  })

  it('is a fault at its end where it was read along and does not', async () => {
    const world = await open()
    answers(world, WRONG)
    const { outcome, text } = await world.read(inForm())
    expect(text).toBe(WRONG)
    expect(outcome).toMatchObject({ ok: false, fault: { code: 'chat/schema' } })
    expect(world.hits).toEqual([1])
  })

  it('is asked for in words where its server refuses schemas', async () => {
    const world = await open()
    world.fake.profile = 'no-response-format'
    answers(world, FENCED)
    const { outcome, text } = await world.read(inForm())
    expect(text).toBe(GOOD)
    expect(outcome).toMatchObject({ ok: true, value: { report: { structured: 'checked' } } })
    expect((await world.outcome(inForm())).report.structured).toBe('checked')
  })

  it('passes on calls of tools, and what says itself that it was cut off', async () => {
    const world = await open()
    world.fake.profile = 'tool-calls'
    const called = await world.outcome({ ...inForm(), usesTools: true, extra: { tools: [] } })
    expect(called.choices).toMatchObject([{ finishReason: 'tool_calls', message: { content: null } }])
    world.fake.profile = 'length'
    answers(world, '{"name":"A')
    expect((await world.outcome(inForm())).choices).toMatchObject([{ finishReason: 'length' }])
    expect((await world.read(inForm())).outcome).toMatchObject({ ok: true })
  })

  it('is as many answers as are wanted, each in the form', async () => {
    const world = await open(IN_WORDS)
    answers(world, WRONG, GOOD)
    const { choices, report } = await world.outcome({ ...inForm(), count: 2 })
    expect(choices.map(({ message }) => message.content)).toEqual([GOOD, GOOD])
    expect(report.structured).toBe('repaired')
  })
})

describe('an answer that must be JSON', () => {
  it('is asked for as such where that is possible', async () => {
    const world = await open()
    answers(world, '{"any":1}')
    const outcome = await world.outcome({ form: { is: 'json' } })
    expect([contentOf(outcome), outcome.report.structured]).toEqual(['{"any":1}', 'native'])
    expect(world.fake.questions[0]?.body.response_format).toEqual({ type: 'json_object' })
  })

  it('is asked for in words elsewhere, and once more where it is none', async () => {
    const world = await open(IN_WORDS)
    answers(world, 'Of course!', '[1]', '{"any":1}')
    expect(await world.ask({ form: { is: 'json' } })).toMatchObject({
      fault: { code: 'chat/schema', detail: { reason: 'the whole must be object' } },
    })
    expect((await world.outcome({ form: { is: 'json' } })).report.structured).toBe('checked')
  })
})

describe('a schema of a caller', () => {
  const refusal = async (schema: Readonly<Record<string, unknown>>) => {
    const world = await open(IN_WORDS)
    answers(world, GOOD)
    const answered = await world.ask(inForm(schema))
    return { world, answered }
  }
  const nested = (levels: number): Readonly<Record<string, unknown>> =>
    levels === 0 ? {} : { properties: { a: nested(levels - 1) } }

  it.each([
    ['too deep', nested(5_000)],
    ['too large', { enum: Array.from({ length: 5_000 }, (_, i) => i) }],
    ['too long', { description: 'x'.repeat(100_000) }],
    ['one that refers to others', { properties: { a: { $ref: 'https://schemas.example/a.json' } } }],
    ['one that refers to a file', { $ref: 'file:///etc/passwd' }],
    ['no schema', { type: 'nonsense' }],
    ['one that refers to nothing', { $ref: '#/$defs/nothing' }],
    ['one with a pattern that is none', { properties: { name: { pattern: '(' } } }],
  ])('is refused before any model is asked: %s', async (_, schema) => {
    const { world, answered } = await refusal(schema)
    expect(answered).toMatchObject({
      ok: false,
      fault: { code: 'chat/invalid-request', detail: { param: 'response_format' } },
    })
    expect(world.hits).toEqual([0])
  })

  it.each([
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', ...SCHEMA }],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', ...SCHEMA }],
    [
      {
        ...SCHEMA,
        properties: { name: { $ref: '#/$defs/name' }, age: true },
        $defs: { name: { type: 'string', format: 'of-nobody' } },
      },
    ],
    [{ ...SCHEMA, 'x-of-nobody': 1, $id: 'https://schemas.example/person' }],
    [{ anyOf: [{ type: 'array' }, { $ref: '#/definitions/p' }], definitions: { p: SCHEMA } }],
    // A recursive schema, as in OpenAI's guide.
    [{ ...SCHEMA, properties: { ...SCHEMA.properties, parent: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } }],
    [{ ...SCHEMA, properties: { ...SCHEMA.properties, constructor: { type: 'string' } } }],
  ])('of any draft is followed: %j', async (schema) => {
    const { answered } = await refusal(schema)
    expect(answered).toMatchObject({ ok: true, value: { report: { structured: 'checked' } } })
  })

  it.each([
    [{ ...SCHEMA, required: ['name', 'age', 'toString'] }, /toString/],
    [{ type: 'object', properties: { name: { $ref: '#' } } }, /name must be object/],
    [{ $async: true, type: 'object', required: ['surname'] }, /surname/],
  ])('is not met by what every object has, nor by less than it says: %j', async (schema, reason) => {
    const { answered } = await refusal(schema)
    expect(answered).toMatchObject({ ok: false, fault: { code: 'chat/schema' } })
    expect(answered.ok ? '' : answered.fault.detail.reason).toMatch(reason)
  })

  it('whose pattern never ends is ended, and the next is checked as before', async () => {
    const world = await open(IN_WORDS)
    answers(world, JSON.stringify({ name: `${'a'.repeat(40)}!`, age: 1 }))
    const schema = { properties: { name: { pattern: '^(a+)+$' } } }
    let ticks = 0
    const ticking = setInterval(() => {
      ticks += 1
    }, 50)
    expect(await world.ask(inForm(schema))).toMatchObject({ ok: false, fault: { code: 'chat/schema' } })
    clearInterval(ticking)
    // The rest of the node keeps running.
    expect(ticks).toBeGreaterThan(10)
    answers(world, GOOD)
    expect(await world.ask(inForm())).toMatchObject({ ok: true })
  })

  it('is not taken on trust where it cannot be checked', async () => {
    const broken = { run: async () => fail(fault('engine/failed', { reason: 'no processes' })) }
    const world = await open({ ...IN_WORDS, means: { engines: broken } })
    answers(world, GOOD)
    expect(await world.ask(inForm())).toMatchObject({ ok: false, fault: { code: 'chat/schema' } })
  })
})
