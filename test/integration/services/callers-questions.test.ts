import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { ProviderKeys } from '../../../src/adapters/provider-keys.ts'
import { RdapDomains } from '../../../src/adapters/providers/rdap.ts'
import { webSearch } from '../../../src/adapters/providers/web-search.ts'
import { type OpenModels, openModels } from '../../../src/chat/backends/open-models.ts'
import { systemClock, systemTimers } from '../../../src/daemon/runtime.ts'
import { plainWeb } from '../../support/plain-web.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { FakeOpenAi, HOUSE_TEXT } from '../../support/upstreams/openai.ts'
import { RDAP_HOST, rdapUpstream } from '../../support/upstreams/rdap.ts'
import { searxngUpstream } from '../../support/upstreams/searxng.ts'
import { Upstream, type UpstreamHandler } from '../../support/upstreams/upstream.ts'

/** More calls than the consecutive failures that open a breaker. */
const CALLS = 8
const TIME = { clock: systemClock, timers: systemTimers }
const closing: (() => unknown)[] = []
const patient = (): AbortSignal => AbortSignal.timeout(30_000)

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function upstreamOf(handler: UpstreamHandler): Promise<Upstream> {
  const upstream = await Upstream.open(handler)
  closing.push(() => upstream.close())
  return upstream
}

/** Fault codes of one caller's questions. */
async function spoil(ask: (call: number) => Promise<Result<unknown>>): Promise<Set<string>> {
  const faults: Fault[] = []
  for (let call = 0; call < CALLS; call++) {
    const answer = await ask(call)
    if (!answer.ok) faults.push(answer.fault)
  }
  expect(faults.length).toBe(CALLS)
  return new Set(faults.map(({ code }) => code))
}

/** The models of a fake backend, from a models file. */
async function modelsOf(fake: FakeOpenAi): Promise<OpenModels> {
  const folder = temporaryFolder()
  closing.push(() => removeFolder(folder))
  const file = join(folder, 'models.json')
  const model = { id: 'house', roles: ['general', 'translate', 'speech'], context: 8_192, supports: ['jsonSchema'] }
  const backends = [{ id: 'house', baseUrl: fake.url, keyRef: 'model:house', models: [model] }]
  writeFileSync(file, JSON.stringify({ backends }))
  const config = { models: { file, gguf: null, proceduralImages: false }, providers: { translate: [] } } as never
  const keys = new ProviderKeys({ 'model:house': fake.key })
  const models = await openModels({ config, keys, fixtureModels: false, ...TIME })
  if (!models.ok) throw new Error(models.fault.code)
  closing.push(() => models.value.close())
  await models.value.start()
  return models.value
}

async function fakeModel(): Promise<FakeOpenAi> {
  const fake = await FakeOpenAi.open()
  closing.push(() => fake.close())
  return fake
}

it('searches without hits, while an engine is silent, do not close the search for others', async () => {
  const silent = searxngUpstream({ results: [], unresponsive: [['duckduckgo', 'timeout']] })
  const found = searxngUpstream()
  const upstream = await upstreamOf((request) =>
    request.query.get('q')?.startsWith('nonsense') ? silent(request) : found(request),
  )
  const keys = new ProviderKeys({})
  const search = webSearch({ choices: [{ name: 'searxng', url: upstream.url }], keys, ...TIME })
  closing.push(() => search.stop())
  await search.start()
  expect(await spoil((call) => search.ask(`nonsense ${call}`, patient()))).toEqual(new Set(['provider/answer']))
  expect(search.readiness()).toEqual({ available: true, engine: 'searxng' })
  expect((await search.ask('farthing', patient())).ok).toBe(true)
})

it('names that a registry cannot read do not close the registry for others', async () => {
  const known = rdapUpstream()
  const upstream = await upstreamOf((request) =>
    request.path.includes('/domain/xn--') ? { status: 400, body: { errorCode: 400 } } : known(request),
  )
  const web = plainWeb({ [RDAP_HOST]: upstream.url })
  const domains = new RdapDomains({ lists: [upstream.url], web, ...TIME })
  closing.push(() => domains.stop())
  await domains.start()
  const odd = await spoil((call) => domains.ask(`xn--odd-${call}.com`, patient()))
  expect(odd).toEqual(new Set(['provider/answer']))
  expect((await domains.ask('example.com', patient())).ok).toBe(true)
})

it('prompts without an answer do not close the model for others', async () => {
  const fake = await fakeModel()
  fake.profile = ({ body }) => (JSON.stringify(body).includes('silence') ? 'empty-content' : 'ok')
  const { pool } = await modelsOf(fake)
  const complete = (content: string): Promise<Result<unknown>> =>
    pool.complete({ role: 'general', messages: [{ role: 'user', content }], maxTokens: 50 }, patient())
  expect(await spoil(() => complete('silence'))).toEqual(new Set(['model/answer']))
  expect(pool.readiness('general').available).toBe(true)
  expect(await complete('Hello')).toMatchObject({ ok: true, value: { text: HOUSE_TEXT } })
})

const TOO_MUCH = {
  bytes: { content: 'x'.repeat(5_000_000) },
  text: { content: 'x'.repeat(1_100_000) },
  values: { house: Array.from({ length: 210_000 }, () => 0) },
  levels: { house: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) },
  'calls of tools': {
    tool_calls: Array.from({ length: 129 }, (_, index) => ({ index, id: 'call', type: 'function' })),
  },
}

it.each(Object.entries(TOO_MUCH))(
  'a prompt that is answered with too much (%s) does not close the model for other callers',
  async (_, said) => {
    const fake = await fakeModel()
    const { pool } = await modelsOf(fake)
    const request = { role: 'general', messages: [{ role: 'user', content: 'Go on.' }], maxTokens: 50 } as const
    fake.message = said
    fake.pieces = [said]
    expect(await spoil(() => pool.complete(request, patient()))).toEqual(new Set(['model/answer']))
    expect(await spoil(() => pool.stream(request, () => undefined, patient()))).toEqual(new Set(['model/answer']))
    expect(pool.readiness('general').available).toBe(true)
    fake.message = {}
    expect(await pool.complete(request, patient())).toMatchObject({ ok: true, value: { text: HOUSE_TEXT } })
  },
)

it('endless streams do not close the model for others', { timeout: 60_000 }, async () => {
  const fake = await fakeModel()
  const { pool } = await modelsOf(fake)
  const request = { role: 'general', messages: [{ role: 'user', content: 'Go on.' }], maxTokens: 50 } as const
  fake.pieces = Array.from({ length: 20 }, () => ({ house: 'x'.repeat(900_000) }))
  expect(await spoil(() => pool.stream(request, () => undefined, patient()))).toEqual(new Set(['model/answer']))
  expect(pool.readiness('general').available).toBe(true)
})

it('texts that take too long to speak do not close the model for others', async () => {
  const fake = await fakeModel()
  fake.speech = ({ body }) => (body.speed === 0.25 ? 'huge' : 'ok')
  const { pool } = await modelsOf(fake)
  const speak = (speed: number): Promise<Result<unknown>> =>
    pool.speak({ text: '7'.repeat(1_024), voice: null, speed, only: null }, patient())
  expect(await spoil(() => speak(0.25))).toEqual(new Set(['model/answer']))
  expect([pool.readiness('general', true).available, pool.readiness('speech', true).available]).toEqual([true, true])
  expect(await speak(1)).toMatchObject({ ok: true })
})

it('but a model that answers with web pages is closed, however long they are', async () => {
  const fake = await fakeModel()
  const { pool } = await modelsOf(fake)
  fake.profile = 'html'
  const request = { role: 'general', messages: [{ role: 'user', content: 'Go on.' }], maxTokens: 50 } as const
  await spoil(() => pool.complete(request, patient()))
  expect(pool.readiness('general').available).toBe(false)
})

it('texts that are the same in every language do not close translations for others', async () => {
  const fake = await fakeModel()
  fake.answer = ({ body }) => {
    const { text } = JSON.parse((body.messages as { content: string }[])[1]?.content ?? '{}') as { text: string }
    return JSON.stringify({ sourceLanguage: 'en', translation: text === 'Hello' ? 'Hallo' : text })
  }
  const { translator } = await modelsOf(fake)
  const odd = await spoil((call) => translator.ask({ to: 'de', text: `Farthing ${call}` }, patient()))
  expect(odd).toEqual(new Set(['provider/answer']))
  expect(translator.readiness().available).toBe(true)
  expect(await translator.ask({ to: 'de', text: 'Hello' }, patient())).toMatchObject({
    ok: true,
    value: { value: { text: 'Hallo' } },
  })
})

it('but a provider that fails is closed, whatever it is asked', async () => {
  const upstream = await upstreamOf(() => ({ status: 500, body: 'down' }))
  const search = webSearch({ choices: [{ name: 'searxng', url: upstream.url }], keys: new ProviderKeys({}), ...TIME })
  closing.push(() => search.stop())
  await spoil((call) => search.ask(`q ${call}`, patient()))
  expect(search.readiness().available).toBe(false)
})
