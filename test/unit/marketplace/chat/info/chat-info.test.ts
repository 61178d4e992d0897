import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatInfo } from '../../../../../marketplace/chat/info/chat-info.ts'
import type { ModelInfo } from '../../../../../marketplace/chat/info/shapes.ts'
import { MODES } from '../../../../../marketplace/chat/modes.ts'
import { PIPELINES } from '../../../../../marketplace/chat/pipelines/table.ts'
import { type InfoParts, infoOver, SITE, UPDATED } from '../../../../support/chat-info.ts'
import { ChatWorld, type ChatWorldParts } from '../../../../support/chat-world.ts'

const NEVER = new AbortController().signal
const worlds: ChatWorld[] = []
let full: ChatWorld
let bare: ChatWorld
beforeAll(async () => {
  full = await worldOf()
  bare = await worldOf({ backends: [{ models: [] }] })
})
afterAll(() => Promise.all(worlds.map((world) => world.close())))

async function worldOf(parts: ChatWorldParts = {}): Promise<ChatWorld> {
  const world = await ChatWorld.open(parts)
  worlds.push(world)
  return world
}

function modelOf(info: ChatInfo, id: string): ModelInfo {
  return info.facts(SITE).info.models.find((model) => model.id === id)!
}

function read(parts: InfoParts = {}, world = full) {
  return infoOver(world, parts).facts(SITE).info
}

const READY = () => ({ available: true, engine: 'house/tts' }) as const

describe('figures of the platform', () => {
  it('count the models that are configured, and add up what is declared of them', async () => {
    const world = await worldOf({
      backends: [
        {
          models: [
            { id: 'a', declaredParameters: '8B' },
            { id: 'b', declaredParameters: null },
          ],
        },
        {
          models: [
            { id: 'a', declaredParameters: '8B' },
            { id: 'painter', roles: ['image'], declaredParameters: '12B' },
          ],
        },
      ],
    })
    const info = read({}, world)
    expect([info.underlying_model_count, info.total_parameters]).toEqual([2, 'at least 8B'])
    expect(info.models[1]).toMatchObject({ powered_by: 'a, b', parameters: 'at least 8B' })
    expect([info.version, info.model_count, info.updated]).toEqual(['2.0', 5, UPDATED])
  })

  it('name only what may be asked for a model, and its real window', async () => {
    const world = await worldOf({
      backends: [
        {
          models: [
            { id: 'quick', roles: ['fast'], context: 4_000 },
            { id: 'big', roles: ['general'], context: 16_000 },
          ],
        },
        { models: [{ id: 'eyes', roles: ['vision'], context: 900_000 }] },
      ],
    })
    const info = infoOver(world)
    expect(modelOf(info, 'model-1')).toMatchObject({ powered_by: 'quick', context_window: '16,000 tokens' })
    expect(modelOf(info, 'model-3')).toMatchObject({ powered_by: 'quick, big', context_window: '16,000 tokens' })
    expect(modelOf(info, 'model-4').powered_by).toBe('quick, big, eyes')
    expect(modelOf(info, 'model-4').context_window).toMatch(/^16,000 tokens at once/)
  })

  it('are times that were measured, those of tiers beside what is aimed at', async () => {
    const world = await worldOf()
    const info = infoOver(world)
    expect(modelOf(info, 'model-1')).toMatchObject({ speed: 'Fast; not measured yet', measured: null })
    await world.outcome({ model: 'model-1' })
    await world.outcome({ model: 'model-4', messages: [{ role: 'user', content: 'hi' }] })
    const { speed, measured } = modelOf(info, 'model-1')
    expect(speed).toMatch(/^Fast; p50 [\d.]+ s, p95 [\d.]+ s over 1 answer$/)
    expect(measured).toEqual({ count: 1, p50_ms: expect.any(Number), p95_ms: expect.any(Number) })
    expect(modelOf(info, 'model-2').measured).toBeNull()
    const tiers = modelOf(info, 'model-4').tiers!
    expect(tiers.map(({ tier, measured: real }) => [tier, real?.count ?? 0])).toEqual([
      ['instant', 1],
      ['fast', 0],
      ['standard', 0],
      ['deep', 0],
    ])
    expect(tiers[2]!.budget_ms).toEqual({ from: 6_000, to: 17_000 })
  })
})

describe('a model', () => {
  it('has the stages of its pipeline, and those of speech behind them', () => {
    const { models } = read()
    for (const id of ['model-1', 'model-2', 'model-3', 'model-4'] as const)
      expect(models.find((model) => model.id === id)!.pipeline).toEqual(PIPELINES[id].stages.map(({ name }) => name))
    const [voice, two] = [models[4]!, models[1]!]
    expect(voice.pipeline.slice(0, two.pipeline.length)).toEqual(two.pipeline)
    expect(voice.pipeline.slice(two.pipeline.length).join()).toMatch(/Markdown.*Speech.*WAV/)
    for (const mode of Object.keys(MODES['model-3']!)) expect(models[2]!.capabilities.join()).toContain(`@${mode}`)
  })

  it('does not claim what the node lacks, and says why it lacks it', () => {
    const four = (parts: InfoParts, world = full) => modelOf(infoOver(world, parts), 'model-4')
    const without = four({})
    expect(without.capabilities.join()).not.toMatch(/web search|several models/i)
    expect(without.limitations.join()).toMatch(/web search.*a provider of searches is not configured/)
    expect(without.limitations.join()).toMatch(/several models at once.*it has 1 model/)
    expect(four({ means: { search: READY } }).capabilities.join()).toMatch(/Web search/)
    expect(without.capabilities.join()).toMatch(/Pictures in PNG/)
  })

  it('is blind without a model that sees, and has no tools without one that takes them', async () => {
    const world = await worldOf({ backends: [{ models: [{ roles: ['fast', 'general'], supports: new Set() }] }] })
    const { capabilities, limitations } = modelOf(infoOver(world), 'model-4')
    expect(capabilities.join()).not.toMatch(/Pictures|Tool calls/)
    expect(limitations.join()).toMatch(/tool calls.*no configured model supports tools/)
    expect(limitations.join()).toMatch(/pictures in PNG.*the role vision is not configured/)
  })

  it('can do nothing without a backend, and says so and what would help', () => {
    const info = read({}, bare)
    expect(info.total_parameters).toBe('unknown')
    expect(info.underlying_model_count).toBe(0)
    for (const model of info.models) {
      expect(model).toMatchObject({ available: false, capabilities: [], parameters: 'unknown' })
      expect(model.requires).toEqual(['models.file', 'models.gguf'])
      expect(model.limitations[0]).toMatch(/^It cannot answer now: .*is not configured/)
      expect(model.context_window).toMatch(/unknown/)
    }
  })

  it('that speaks needs a speech engine', () => {
    const silent = modelOf(infoOver(full), 'model-voice')
    expect(silent).toMatchObject({ available: false, unavailable_reason: 'speech is not configured' })
    const engine = { available: true, engine: 'espeak-ng' } as const
    const spoken = modelOf(infoOver(full, { means: { speech: () => engine } }), 'model-voice')
    expect(spoken).toMatchObject({ available: true, powered_by: 'house-8b; speech by espeak-ng' })
    expect(spoken.capabilities.join()).toMatch(/24 kHz/)
  })

  it('keeps to itself where its backends are, and what they say', async () => {
    const world = await worldOf()
    world.fake.profile = '401'
    await world.ask()
    const text = JSON.stringify(read({}, world))
    expect(modelOf(infoOver(world), 'model-1').available).toBe(false)
    expect(text).toContain('cannot be reached now')
    expect(text).not.toMatch(/127\.0\.0\.1|house-0|sk-|status 401/)
  })
})

describe('what holds for callers', () => {
  it('is read from the configuration', () => {
    const bounds = { rpm: 7, tpd: 1_234, concurrent: 3, keys: 2 }
    const text = JSON.stringify(read({ rules: { bounds, tokensMax: 999, budgetMs: 45_000, wallets: 'none' } }).faq)
    expect(text).toMatch(
      /7 requests a minute, 1,234 tokens a day \(UTC\), 3 chats at once. A wallet has 2 keys at most/,
    )
    expect(text).toMatch(/999 tokens at most and 45 seconds/)
    expect(text).toMatch(/only the operator of this node can sign in/)
  })

  it('names the paid way where there is one', () => {
    const info = infoOver(full)
    expect(info.facts(SITE).info.pricing).toMatch(/^Free: .*60 requests a minute and 1,000,000 tokens a day/)
    expect(info.facts(SITE).info.pricing).not.toContain('node-llm-chat')
    const paidChat = { url: 'http://node.example/api/x402/node-llm-chat', price: '$0.01 (0.04 FAR)' }
    const { pricing, faq } = info.facts({ ...SITE, paidChat, servicesOnSale: 34 }).info
    expect(pricing).toContain('node-llm-chat for $0.01 (0.04 FAR) a call')
    expect(JSON.stringify(faq)).toContain('This node sells 34 services')
  })

  it('tells what the operator wrote beside what the node knows', async () => {
    const faq = [{ question: 'Do you speak Klingon?', answer: 'Only on Tuesdays.' }]
    const info = infoOver(full, { rules: { faq } })
    expect(info.facts(SITE).info.faq).toContainEqual(faq[0])
    expect(await info.answer('Can you speak klingon', SITE, NEVER)).toMatchObject({
      answer: 'Only on Tuesdays.',
      sources: [{ title: 'Do you speak Klingon?', url: 'http://node.example/chat#faq-operator-1' }],
    })
  })
})

/** Typical questions, with the end of the address that the answer must cite. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['How do I get an API key?', '#faq-key'],
  ['I would like to know how I can obtain an API key for my Python project', '#faq-key'],
  ['sign up', '#faq-key'],
  ['How much does it cost?', '#faq-price'],
  ['Is it free?', '#faq-price'],
  ['What are the rate limits?', '#faq-limits'],
  ['How many requests per minute may I send?', '#faq-limits'],
  ['Do you store my prompts?', '#faq-privacy'],
  ['Is my data used for training?', '#faq-privacy'],
  ['Does it support streaming?', '#faq-streaming'],
  ['Can I use function calling?', '#faq-tools'],
  ['Does it support JSON schema output?', '#faq-structured'],
  ['Can it see images?', '#faq-vision'],
  ['Can it talk?', '#faq-voice'],
  ['Does it browse the web?', '#faq-search'],
  ['What is the context window of model-3?', '#faq-context'],
  ['What stages does model 3 have?', '#model-3'],
  ['How fast is model-1?', '#model-1'],
  ['Which models are available right now?', '#faq-available'],
  ['What happens when there is an error?', '#faq-errors'],
  ['Can I pay without a key?', '#faq-paid'],
  ['What is x402?', '#faq-x402'],
  ['base url for openai sdk', '#faq-call'],
  ['when was it last updated', '/api/v1/info'],
  ['Which model should I use for code?', '#faq-choose'],
  ['Which model should I use?', '#faq-choose'],
  ['What is the best model for writing an essay?', '#faq-choose'],
  ['Which one is good at math?', '#faq-choose'],
  ['Which model do you recommend for coding?', '#faq-choose'],
  ['What does the error code 429 mean?', '#faq-errors'],
  ['How long does an answer take?', '#faq-figures'],
  ['How do I get started?', '#faq-call'],
  ['Does it remember what I said before?', '#faq-context'],
  ['How do I revoke my key?', '#faq-key'],
  ['Can I send it a photo?', '#faq-vision'],
  ['Who is behind this?', '#faq-what'],
]
const FOREIGN = [
  'What is the capital of France?',
  'What is the price of gold today?',
  'Who won the world cup in 2022?',
  'write me a poem about the sea',
  'What is the weather in Berlin tomorrow?',
  'best pizza recipe',
  'solve x^2=4',
  'Переведи слово «дом»',
  '?',
]

describe('a question', () => {
  it.each(KNOWN)('"%s" is answered from %s', async (question, place) => {
    const { sources, confidence, answer } = await infoOver(full).answer(question, SITE, NEVER)
    expect(sources[0]?.url).toMatch(new RegExp(`${place}$`))
    expect(confidence).toBeGreaterThan(0.4)
    expect(answer.length).toBeGreaterThan(20)
  })

  it.each(['What does node-weather cost?', 'Is the weather service free?', 'how much is a call of NODE-WEATHER'])(
    '"%s" is answered with the price of the paid service, and whether it can be bought',
    async (question) => {
      const brief = 'Gives the weather.'
      const weather = { serviceId: 'node-weather', name: 'Weather', brief, price: '$0.003', reason: 'no provider' }
      const site = { ...SITE, servicesOnSale: 3, services: [weather] }
      const { answer, sources } = await infoOver(full).answer(question, site, NEVER)
      expect(sources[0]?.url).toBe('http://node.example/agents/node-weather')
      expect(answer).toContain('node-weather is a paid service, not free: $0.003 a call')
      expect(answer).toContain('It cannot be bought now: no provider.')
      const price = await infoOver(full).answer('Is it free?', site, NEVER)
      expect(price.answer).toContain('the services that this node sells are paid call by call')
    },
  )

  it.each(FOREIGN)('"%s" is none that the node knows an answer to', async (question) =>
    expect(await infoOver(full).answer(question, SITE, NEVER)).toMatchObject({ sources: [], confidence: 0 }),
  )
})
