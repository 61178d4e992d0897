import sharp from 'sharp'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ChatCall } from '../../../marketplace/chat/call.ts'
import type { ModelFacts, ModelSupport } from '../../../marketplace/chat/models/backend.ts'
import { askingBeast, resetEnsemble } from '../../support/chat-ensemble.ts'
import { ChatServer, type ChatServerParts } from '../../support/chat-server.ts'
import type { ChatQuestion } from '../../support/upstreams/openai.ts'

type Model = Pick<ModelFacts, 'id' | 'roles' | 'supports'>

const model = (id: string, roles: Model['roles'], ...supports: readonly ModelSupport[]): Model => ({
  id,
  roles,
  supports: new Set(supports),
})
const TEXT = model('text', ['fast', 'general', 'reason', 'judge'])
const EYES = model('eyes', ['vision'], 'vision', 'tools', 'jsonSchema')
const ALL = model('all', ['fast', 'general', 'vision'], 'vision')
const SEEING_TEXT = model('seeing text', ['general'], 'vision')
const BLIND_EYES = model('blind eyes', ['vision'])
const SEEING_TRANSLATOR = model('seeing translator', ['translate'], 'vision')

let image: object
let server: ChatServer
beforeAll(async () => {
  const create = { width: 8, height: 8, channels: 3, background: '#206090' } as const
  const bytes = await sharp({ create }).png().toBuffer()
  image = { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes.toBase64()}` } }
})
afterEach(() => server.close())

/** A node with these models, each on its own server. */
async function open(models: readonly Partial<ModelFacts>[], parts: ChatServerParts = {}): Promise<void> {
  server = await ChatServer.open({ backends: models.map((one) => ({ models: [one] })), ...parts })
  resetEnsemble(server.world, { plain: 'A blue field.', short: 'Yes.' })
}

const asking = (text: string) => askingBeast([{ type: 'text', text }, image])
const status = async (body: object): Promise<number> => {
  const response = await server.post(body)
  await response.text()
  return response.status
}
const aboutBeast = async () => {
  const response = await fetch(`${server.url}/api/v1/info/models/model-4`)
  return (await response.json()) as Readonly<Record<string, unknown>>
}
const linesOf = (value: unknown): string => (value as readonly string[]).join('\n')
const asked = (): readonly unknown[] =>
  server.world.fakes.flatMap(({ questions }: { readonly questions: readonly ChatQuestion[] }) =>
    questions.map(({ body }) => body.model),
  )

describe('pictures for model-4', () => {
  it.each<readonly [string, readonly Model[], boolean, boolean]>([
    ['a text model and one for pictures alone', [TEXT, EYES], true, true],
    ['one for pictures alone before a text model', [EYES, TEXT], true, true],
    ['one for pictures alone and nothing else', [EYES], true, false],
    ['one model with all roles', [ALL], true, true],
    ['a text model that sees', [SEEING_TEXT], true, true],
    ['a text model', [TEXT], false, true],
    ['a text model and one for pictures that sees none', [TEXT, BLIND_EYES], false, true],
    ['one for pictures that sees none, and nothing else', [BLIND_EYES], false, false],
    ['a text model and a translator that sees', [TEXT, SEEING_TRANSLATOR], false, true],
    ['a translator that sees, and nothing else', [SEEING_TRANSLATOR], false, false],
    ['no model', [], false, false],
  ])('are served where the node says so: %s', async (_, models, seesPictures, readsText) => {
    await open(models)
    const about = await aboutBeast()
    const isSaid = linesOf(about.capabilities).includes('Pictures in PNG')
    expect([isSaid, about.available]).toEqual([seesPictures, seesPictures || readsText])
    expect((await status(asking('What is on it?'))) === 200).toBe(isSaid)
    expect(await status(askingBeast('Is a whale a fish?'))).toBe(readsText ? 200 : 503)
  })

  it('go to the model for pictures, streamed too', async () => {
    await open([TEXT, EYES])
    const response = await server.post({ ...asking('What is on it?'), stream: true })
    expect([response.status, (await response.text()).endsWith('data: [DONE]\n\n')]).toEqual([200, true])
    expect(asked()).toEqual(['eyes'])
  })

  it('go to it with tools and with a form, too', async () => {
    await open([TEXT, EYES])
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
    expect(await status({ ...asking('What is on it?'), tools: [tool] })).toBe(200)
    resetEnsemble(server.world, { plain: '{}' })
    expect(await status({ ...asking('What is on it?'), response_format: { type: 'json_object' } })).toBe(200)
    expect(asked()).toEqual(['eyes'])
  })

  it('are held to the window of the model that sees them', async () => {
    await open([
      { ...TEXT, context: 64_000 },
      { ...EYES, context: 4_000 },
    ])
    const response = await server.post(asking('word '.repeat(6_000)))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code: 'context_length_exceeded' } })
    const turns = Array.from({ length: 30 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `Turn ${i}. ${'word '.repeat(200)}`,
    }))
    const long = { model: 'model-4', messages: [...turns, ...asking('What is on it?').messages] }
    expect(await status(long)).toBe(200)
  })
})

describe('a node that understands pictures alone', () => {
  it('says that it answers nothing else, and why', async () => {
    await open([EYES])
    const about = await aboutBeast()
    expect(about.context_window).toMatch(/^32,000 tokens/)
    expect(about.powered_by).toBe('eyes')
    expect(linesOf(about.limitations)).toMatch(/Questions without pictures are not answered.*role general/)
    expect(linesOf(about.capabilities)).not.toMatch(/tiers|Web search|Three samples/)
    expect(linesOf(about.capabilities)).toMatch(/Tool calls/)
    const list = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: readonly Record<string, unknown>[] }
    const available = list.data.filter((one) => JSON.stringify(one).includes('"available":true'))
    expect(available.map(({ id }) => id)).toEqual(['model-4'])
  })

  it('refuses other questions by what is missing, and asks no model', async () => {
    await open([EYES])
    const calls: readonly Partial<ChatCall>[] = [{ model: 'model-1' }, { model: 'model-2' }, askingBeast('Hello!')]
    for (const call of calls)
      expect(await server.world.ask(call)).toMatchObject({
        ok: false,
        fault: { code: 'chat/no-backend', detail: { requires: ['models.file', 'models.gguf'] } },
      })
    expect(asked()).toEqual([])
  })
})
