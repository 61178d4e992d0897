import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Outside } from '../../../marketplace/ports/outside.ts'
import { runService } from '../../../marketplace/till/workshop.ts'
import { HttpFacilitator } from '../../../src/adapters/facilitator-http.ts'
import { type OpenAsked, openAsked } from '../../../src/adapters/open-asked.ts'
import { ProviderKeys } from '../../../src/adapters/provider-keys.ts'
import { webSearch } from '../../../src/adapters/providers/web-search.ts'
import { systemClock, systemTimers } from '../../../src/daemon/runtime.ts'
import { ProviderLog } from '../../../src/telemetry/provider-log.ts'
import { ChatServer, HELLO, readAll } from '../../support/chat-server.ts'
import { outsideOf } from '../../support/outside.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { emptyServiceChain } from '../../support/service-chain.ts'
import { serviceNamed } from '../../support/service-results.ts'

/** A provider's message to its operator, which callers must never see. */
const WORDS = 'organization org-4711 of ada at billing.example owes 12.34 dollars'
const PARTS = /org-4711|billing|owes|12\.34/
/** Statuses that carry such messages. */
const STATUSES = [400, 401, 402, 403, 404, 429, 500, 503]

let server: Server
let status = 429
let folder: string
const opened: OpenAsked[] = []

beforeEach(async () => {
  folder = temporaryFolder()
  server = createServer((request, response) => {
    request.resume()
    // Every provider puts its message in another field.
    const error = { message: WORDS, code: 'insufficient_quota', param: WORDS, type: WORDS }
    const body = { error, message: WORDS, detail: WORDS, errorReason: WORDS, invalidReason: WORDS, isValid: false }
    const found = { results: [], unresponsive_engines: [[WORDS, WORDS]] }
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0', 'x-owner': WORDS })
    response.end(JSON.stringify({ ...body, ...found, success: false }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  removeFolder(folder)
})

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Models, translation and speech, as an operator configures them. */
async function open(): Promise<OpenAsked> {
  const path = join(folder, 'models.json')
  const roles = ['general', 'fast', 'translate', 'image', 'speech']
  const model = { id: 'house-8b', roles, context: 8_192, supports: ['jsonSchema'] }
  writeFileSync(path, JSON.stringify({ backends: [{ id: 'house', baseUrl: `${url()}/v1`, models: [model] }] }))
  const result = await openAsked({
    config: {
      models: { file: path, gguf: null, proceduralImages: false },
      providers: { translate: [{ name: 'libretranslate', url: url() }] } as never,
    },
    keys: new ProviderKeys({ libretranslate: 'libre-key' }),
    fixtureModels: false,
    espeak: null,
    clock: systemClock,
    timers: systemTimers,
  })
  if (!result.ok) throw new Error(JSON.stringify(result.fault))
  opened.push(result.value)
  await result.value.start()
  return result.value
}

describe('what a provider tells its operator', () => {
  it.each(STATUSES)(
    'with status %i is told no caller: not before he pays, and not when he is paid back',
    async (code) => {
      status = code
      const asked = await open()
      const { context } = await emptyServiceChain(1)
      const outside: Outside = outsideOf({
        models: asked.models,
        translator: asked.translator,
        speech: asked.speech,
      } as never)
      const seen = { ...context, outside }
      const told: unknown[] = []
      for (const [id, request] of [
        ['node-llm-chat', 'Hello?'],
        ['node-translate', '{"text":"Good morning","to":"de"}'],
        ['node-image-gen', 'A lighthouse at dusk'],
        ['node-summarize', `A long text. ${'It goes on and on. '.repeat(40)}`],
      ] as const) {
        const definition = serviceNamed(id)
        told.push(definition.ready(seen))
        const input = definition.parse(request)
        if (input.ok) told.push(await runService(definition, input.value, seen))
        told.push(definition.ready(seen))
      }
      for (const role of ['general', 'fast', 'image', 'speech', 'translate'] as const)
        told.push(asked.models.readiness(role))
      const signal = new AbortController().signal
      told.push(await asked.models.picture('A lighthouse', signal))
      told.push(await asked.speech.speak({ text: 'Hello', voice: null, speed: 1, by: null }, signal))
      told.push(asked.speech.readiness(), asked.translator.readiness())
      expect(told.length).toBeGreaterThan(12)
      expect(JSON.stringify(told)).not.toMatch(PARTS)
    },
  )

  it('is in the log', async () => {
    status = 503
    const asked = await open()
    await asked.models.complete(
      { role: 'general', messages: [{ role: 'user', content: 'Hello?' }], maxTokens: 10 },
      new AbortController().signal,
    )
    const lines: unknown[] = []
    const line = (facts: object): void => void lines.push(facts)
    new ProviderLog(asked.checkable, { warn: line, info: line }).look()
    expect(JSON.stringify(lines)).toMatch(PARTS)
  })

  it.each([200, 402, 500])('with status %i is in no search result and in no reason for its absence', async (code) => {
    status = code
    const choices = [{ name: 'searxng' as const, url: url() }]
    const search = webSearch({ choices, keys: new ProviderKeys({}), clock: systemClock, timers: systemTimers })
    const told = [await search.ask('lighthouses', new AbortController().signal), search.readiness()]
    search.stop()
    expect(told).toMatchObject([{ ok: false, fault: { code: 'provider/answer' } }, { available: false }])
    expect(JSON.stringify(told)).not.toMatch(PARTS)
  })

  it('is in no verdict of a facilitator', async () => {
    status = 200
    const facilitator = new HttpFacilitator(url())
    const told = [await facilitator.verify({} as never, 2_000), await facilitator.settle({} as never, 2_000)]
    expect(told.map(({ is }) => is)).toEqual(['refused', 'refused'])
    expect(JSON.stringify(told)).not.toMatch(PARTS)
  })
})

describe('what a model backend tells its operator', () => {
  it.each(['late-error', 'in-band-error', '503', '400'] as const)(
    'is told no reader of a chat (%s)',
    async (profile) => {
      const chat = await ChatServer.open()
      try {
        chat.world.fake.profile = profile
        chat.world.fake.words = WORDS
        const told: string[] = []
        for (const model of ['model-1', 'model-2', 'model-3', 'model-4'])
          for (const stream of [false, true]) {
            const answer = await chat.post({ ...HELLO, model, stream })
            told.push(JSON.stringify([...answer.headers]), (await readAll(answer)).text)
          }
        for (const path of ['/api/v1/models', '/api/v1/models/model-1', '/api/v1/models/info', '/llms.txt', '/metrics'])
          told.push(await (await fetch(chat.url + path)).text())
        expect(chat.world.pool.facts[0]?.totals.calls).toBeGreaterThan(0)
        expect(told.join('\n')).not.toMatch(PARTS)
        await chat.settled()
      } finally {
        await chat.close()
      }
    },
  )
})
