import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAT_MODEL_INFO, CHAT_PLATFORM_INFO } from '../../../rpc/contract/info.ts'
import { openApiDocument } from '../../../rpc/openapi/openapi.ts'
import { ask, type JsonBody, post, type Reply } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { infoRequests } from '../../support/chat-requests.ts'
import { ChatServer } from '../../support/chat-server.ts'
import { ApiChecker, type ApiDocument } from '../../support/openapi-check.ts'

const COMPARISON = {
  'Other product': {
    ...{ parameters: '1T', pricing: '$20 a month', context_window: '200k', math: 'good', writing: 'good' },
    ...{ coding: 'good', multimodal: 'yes', web_search: 'yes', speed: 'fast' },
  },
}
const FAQ = [{ question: 'Do you speak Klingon?', answer: 'Only on Tuesdays.' }]
const DOCUMENTS = ['', '/models', '/models/model-1', '/models/model-voice', '/compare', '/openapi']

let full: ChatServer
let bare: ChatServer
let off: ApiServer
beforeAll(async () => {
  const rules = { comparison: COMPARISON, faq: FAQ, wordsAnswers: true }
  ;[full, bare, off] = await Promise.all([
    ChatServer.open({ info: { rules } }),
    ChatServer.open({ backends: [{ models: [] }] }),
    ApiServer.open(),
  ])
})
afterAll(() => Promise.all([full, bare, off].map((server) => server?.close())))

const info = (server: { readonly url: string }, path = ''): Promise<Reply<JsonBody>> =>
  ask(server.url, `/api/v1/info${path}`)
const question = (server: { readonly url: string }, text: unknown): Promise<Reply<JsonBody>> =>
  post(server.url, '/api/v1/info/qa', { question: text })

/** Fields that each model and the platform must have. */
const MODEL_FIELDS =
  'id name tagline speed parameters powered_by context_window pricing best_for pipeline capabilities limitations how_it_works info_url'.split(
    ' ',
  )
const PLATFORM_FIELDS =
  'platform version description total_parameters underlying_model_count model_count pricing updated urls models faq comparison_vs_external usage_for_ai_consumers'.split(
    ' ',
  )

/** Output of a shell command. */
function printed(command: string): Promise<string> {
  const shell = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  shell.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}`))))
  })
}

describe('the info API', () => {
  it('has every field of the interface, each of its type, with models and without', async () => {
    for (const server of [full, bare]) {
      const { status, body } = await info(server)
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(PLATFORM_FIELDS)
      expect(body.version).toBe('2.0')
      const models = body.models as readonly JsonBody[]
      expect(models.map(({ id }) => id)).toEqual(['model-1', 'model-2', 'model-3', 'model-4', 'model-voice'])
      for (const model of models) {
        expect(Object.keys(model).slice(0, MODEL_FIELDS.length)).toEqual(MODEL_FIELDS)
        for (const field of MODEL_FIELDS) {
          const isList = ['best_for', 'pipeline', 'capabilities', 'limitations'].includes(field)
          expect([field, Array.isArray(model[field]), isList ? 'object' : 'string']).toEqual([
            field,
            isList,
            typeof model[field],
          ])
        }
      }
      expect(Number.isInteger(body.underlying_model_count)).toBe(true)
      expect(Number.isInteger(body.model_count)).toBe(true)
      expect(body.updated).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    }
    expect((await info(bare)).body.description).toContain('0 of 5 can answer now')
  })

  it('answers at every address that it names, and at every anchor', async () => {
    const { body } = await info(full)
    const page = await (await fetch(`${full.url}/chat`)).text()
    const urls = Object.values(body.urls as Record<string, string>)
    expect(urls).toHaveLength(8)
    const more = (body.models as readonly { info_url: string }[]).map((model) => model.info_url)
    for (const url of [...urls, ...more]) {
      expect(url).toMatch(new RegExp(`^${full.url}/`))
      expect([url, (await fetch(url)).status]).toEqual([url, 200])
      const [, anchor] = url.split('#')
      if (anchor !== undefined) expect(page).toContain(`id="${anchor}"`)
    }
  })

  it('gives examples that work as they are', async () => {
    const { body } = await info(full)
    const { fetch_examples: examples } = body.usage_for_ai_consumers as { readonly fetch_examples: readonly string[] }
    expect(examples.length).toBeGreaterThan(4)
    for (const example of examples) {
      const answered = JSON.parse(await printed(example)) as JsonBody
      expect([example, answered.error]).toEqual([example, undefined])
      expect(Object.keys(answered).length).toBeGreaterThan(0)
    }
  })

  it.each(DOCUMENTS)('serves /api/v1/info%s as a public document', async (path) => {
    const plain = { headers: { 'accept-encoding': 'identity' } }
    const { status, headers } = await ask(full.url, `/api/v1/info${path}`, plain)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(headers.get('cache-control')).toBe('public, max-age=30')
    const etag = headers.get('etag') ?? ''
    const again = await ask(full.url, `/api/v1/info${path}`, { headers: { ...plain.headers, 'if-none-match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
    const head = await fetch(`${full.url}/api/v1/info${path}`, { method: 'HEAD' })
    expect(head.status).toBe(200)
    const packed = await ask(full.url, `/api/v1/info${path}`, { headers: { 'accept-encoding': 'gzip' } })
    // A short answer would not get shorter.
    expect(packed.headers.get('content-encoding')).toBe(packed.text.length < 1_024 ? null : 'gzip')
  })

  it('gives models one by one, and suggests where there is none of a name', async () => {
    const all = (await info(full, '/models')).body.models as readonly JsonBody[]
    for (const model of all) expect((await info(full, `/models/${model.id}`)).body).toEqual(model)
    const { status, body } = await info(full, '/models/model-9')
    expect([status, body.code, body.error]).toEqual([404, 'model_not_found', expect.stringContaining('model-9')])
    expect((body.details as JsonBody).suggestions).toContain('model-4')
    for (const name of ['__proto__', 'constructor']) expect((await info(full, `/models/${name}`)).status).toBe(404)
  })

  it('compares by the words of the operator, with the models beside', async () => {
    const { body } = await info(full, '/compare')
    expect(Object.keys(body)).toEqual(['comparison_vs_external', 'models'])
    expect(body.comparison_vs_external).toEqual(COMPARISON)
    expect(body.models).toHaveLength(5)
    expect((await info(full)).body.comparison_vs_external).toEqual(COMPARISON)
    expect((await info(bare, '/compare')).body.comparison_vs_external).toEqual({})
  })

  it('serves the document of the API, as it is at its own address', async () => {
    expect((await info(full, '/openapi')).text).toBe((await ask(full.url, '/openapi.json')).text)
  })

  it('answers as the document of the API says', async () => {
    const checker = new ApiChecker(openApiDocument(full.url) as ApiDocument)
    for (const server of [full, bare])
      for (const [operation, requests] of Object.entries(infoRequests)) {
        const send = (path: string, body?: unknown) =>
          body === undefined ? ask(server.url, path) : post(server.url, path, body)
        for (const reply of await Promise.all(requests(send)))
          expect([operation, reply.status, checker.misfits(operation, reply)]).toEqual([operation, reply.status, []])
      }
    expect(Object.keys(CHAT_PLATFORM_INFO.properties)).toEqual(PLATFORM_FIELDS)
    expect(Object.keys(CHAT_MODEL_INFO.properties).slice(0, MODEL_FIELDS.length)).toEqual(MODEL_FIELDS)
  })

  it('is not there where the platform is off, and the index says nothing of it', async () => {
    for (const path of DOCUMENTS.filter((each) => each !== '/openapi')) {
      const { status, body } = await info(off, path)
      expect([path, status, body.code]).toEqual([path, 404, 'chat_disabled'])
    }
    expect((await question(off, 'What is this?')).body.code).toBe('chat_disabled')
    const index = await ask<{ documents: Record<string, string> }>(off.url, '/api/v1')
    expect([index.status, 'info' in index.body.documents]).toEqual([200, false])
    expect((await ask(off.url, '/chat')).status).toBe(404)
    expect((await ask(off.url, '/')).text).not.toContain('/chat')
    for (const path of ['/llms.txt', '/sitemap.xml']) expect((await ask(off.url, path)).text).not.toContain('/chat')
  })

  it('is known to those who look for it', async () => {
    const { documents } = (await ask<{ documents: Record<string, string> }>(full.url, '/api/v1')).body
    for (const url of Object.values(documents)) expect([url, (await fetch(url)).status]).toEqual([url, 200])
    expect(Object.values(documents)).toContain(`${full.url}/api/v1/info`)
    for (const path of ['/llms.txt', '/llms-full.txt', '/sitemap.xml'])
      expect((await ask(full.url, path)).text).toContain(`${full.url}/chat`)
    const robots = (await ask(full.url, '/robots.txt')).text
    expect(robots).toMatch(/Allow: \/api\/v1\/info\n.*Disallow: \/api\/v1\/\n/s)
  })
})

describe('questions', () => {
  it('are answered without a model, each with an address where it stands', async () => {
    const { status, body } = await question(bare, 'How do I get an API key?')
    expect([status, body.question, body.answered_by]).toEqual([200, 'How do I get an API key?', 'retrieval'])
    const [source] = body.sources as readonly { readonly url: string }[]
    const [url, anchor] = source!.url.split('#')
    expect(await (await fetch(url!)).text()).toContain(`id="${anchor}"`)
    expect(body.confidence).toBe(1)
  })

  it('are worded by the fast model, once for the same question', async () => {
    full.world.fake.answer = () => 'Only on Tuesdays, says the operator.'
    const before = full.world.fake.questions.length
    const first = await question(full, 'Do you speak Klingon?')
    expect(first.body).toMatchObject({
      answer: 'Only on Tuesdays, says the operator.',
      answered_by: 'house-8b',
      sources: [{ title: FAQ[0]!.question, url: `${full.url}/chat#faq-operator-1` }],
    })
    expect((await question(full, 'do you speak  KLINGON?')).body.answer).toBe(first.body.answer)
    expect(full.world.fake.questions.length).toBe(before + 1)
  })

  it('are answered by what was found where the model fails, and not asked of it where nothing was', async () => {
    full.world.fake.profile = '400'
    const { body } = await question(full, 'What does it cost, speaker of Klingon?')
    expect([body.answered_by, body.confidence]).toEqual(['retrieval', expect.any(Number)])
    full.world.fake.profile = 'ok'
    const before = full.world.fake.questions.length
    const unknown = (await question(full, 'Who painted the Mona Lisa?')).body
    expect(unknown).toMatchObject({ sources: [], confidence: 0, answered_by: 'retrieval' })
    expect(unknown.answer).toContain('does not know')
    expect(full.world.fake.questions.length).toBe(before)
  })

  it('are refused with the envelope where they are none', async () => {
    for (const text of ['', 'x'.repeat(4_001), 7, null, undefined]) {
      const { status, body } = await question(full, text)
      expect([status, body.code, typeof body.error]).toEqual([400, 'invalid_request', 'string'])
    }
    expect((await question(full, 'x'.repeat(4_000))).status).toBe(200)
  })
})

describe('the page', () => {
  it('shows each model as it stands, and names what the API names', async () => {
    const page = (await ask(bare.url, '/chat')).text
    for (const id of ['model-1', 'model-4', 'model-voice', 'faq-key', 'faq-privacy', 'comparison', 'models'])
      expect(page).toContain(`id="${id}"`)
    expect(page).toContain('unavailable')
    expect(page).toContain(`base_url=&#34;${bare.url}/api/v1&#34;`)
    const { text, headers } = await ask(full.url, '/chat')
    expect(text).toContain('Other product')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(text).not.toContain('<script')
  })

  it('escapes what the operator wrote', async () => {
    const hostile = '<script>alert(1)</script>'
    const rules = {
      faq: [{ question: hostile, answer: hostile }],
      comparison: { [hostile]: COMPARISON['Other product'] },
    }
    const server = await ChatServer.open({ info: { rules } })
    expect((await ask(server.url, '/chat')).text).not.toContain('<script')
    await server.close()
  })

  it('is left without errors of the server', () => expect([full.errors, bare.errors, off.errors]).toEqual([[], [], []]))
})
