import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { keyOf } from '../../support/daemon-key.ts'
import { until } from '../../support/processes.ts'
import { ROOT } from '../../support/source-tree.ts'
import { tinyGguf } from '../models/tiny-gguf.ts'

const workshop = new Workshop()
const entry = join(ROOT, 'test/interop/models/daemon-entry.ts')
const path = workshop.path('tiny.gguf')
writeFileSync(path, tinyGguf())

interface Report {
  readonly pipeline: string
  readonly tier?: string
  readonly stages: readonly {
    readonly stage: string
    readonly ran: boolean
    readonly reason?: string
    readonly models: readonly string[]
  }[]
}

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[]
  readonly usage: { readonly completion_tokens: number }
  readonly x_platform: Report
}

/** Waits until a model is available: the local one is loaded in the background, and speech is checked there. */
async function modelReady(url: string, model = 'model-1'): Promise<void> {
  await until(`${model} can answer`, async () => {
    const { data } = (await (await fetch(`${url}/api/v1/models`)).json()) as {
      data: { id: string; x_platform: { available: boolean } }[]
    }
    return data.find(({ id }) => id === model)?.x_platform.available
  })
}

async function started(env: Readonly<Record<string, string>>): Promise<{ daemon: RunningDaemon; key: string }> {
  const daemon = await workshop.start(workshop.folder(), { entry, mine: 0, env })
  await modelReady(daemon.url)
  return { daemon, key: await keyOf(daemon) }
}

async function asked(url: string, key: string, body: object): Promise<Completion> {
  const response = await fetch(`${url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ max_tokens: 24, ...body }),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Completion
}

const CODE = `Write a function that sorts a list of numbers in JavaScript and explain ${'why it is fast, '.repeat(6)}please.`
const question = (content: string) => [{ role: 'user', content }]
const ran = ({ stages }: Report): readonly string[] => stages.filter((one) => one.ran).map(({ stage }) => stage)

describe('a GGUF in the process of the node', () => {
  let daemon: RunningDaemon
  let key: string
  beforeAll(async () => {
    const local = {
      TEST_FIXTURE_MODELS: 'true',
      FARTHING_MODELS_GGUF: path,
      FARTHING_CHAT_BUDGET_SECONDS: '240',
      FARTHING_CHAT_ESPEAK: 'espeak-ng',
    }
    const node = await started(local)
    daemon = node.daemon
    key = node.key
  })

  const CASES = [
    ['model-1', 'Hello', ['Answer']],
    ['model-2', 'What is a node?', ['Planner', 'Executor']],
    ['model-3', 'Sum?', ['Planner', 'Executor']],
    ['model-3', CODE, ['Router', 'Planner', 'Executor', 'Reviewer']],
    ['model-4', 'hi', ['Smart router', 'Parallel draft generation']],
    ['model-4', CODE, ['Smart router', 'Parallel draft generation', 'Deep-thinking synthesis', 'Polish pass']],
    ['model-4', 'How much is 17 * 23 + 4? Prove it step by step.', ['Smart router', 'Self-consistency voting']],
  ] as const

  it.each(CASES)('answers as %s: %s', async (model, content, stages) => {
    const { choices, usage, x_platform } = await asked(daemon.url, key, { model, messages: question(content) })
    expect(choices[0]?.message.content.length).toBeGreaterThan(0)
    expect(usage.completion_tokens).toBeGreaterThan(0)
    expect(ran(x_platform)).toEqual(expect.arrayContaining([...stages]))
    // Random weights may not end a verdict within its tokens. The stage then states a reason.
    for (const stage of x_platform.stages) expect(stage.ran || stage.reason !== undefined, stage.stage).toBe(true)
    const named = x_platform.stages.flatMap(({ models }) => models)
    expect(new Set(named)).toEqual(new Set(['farthing-fixture-tiny']))
  })

  it('answers as model-voice, read out by espeak-ng', async () => {
    await modelReady(daemon.url, 'model-voice')
    const response = await fetch(`${daemon.url}/api/v1/voice`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: question('What is a node?'), max_tokens: 24 }),
    })
    const text = await response.text()
    expect(response.status, text.slice(0, 500)).toBe(200)
    const spoken = JSON.parse(text) as {
      text: string
      audio: { data: string; duration_ms: number }
      x_platform: Report
    }
    const wav = Buffer.from(spoken.audio.data, 'base64')
    expect(spoken.text.length).toBeGreaterThan(0)
    expect(wav.toString('latin1', 0, 4)).toBe('RIFF')
    expect(wav.readUInt32LE(4)).toBe(wav.length - 8)
    expect(wav.readUInt32LE(24)).toBe(24_000)
    expect(Math.round((wav.length - 44) / 48)).toBe(spoken.audio.duration_ms)
    expect(ran(spoken.x_platform)).toEqual(expect.arrayContaining(['Planner', 'Executor']))
  })

  it('follows a JSON schema, whatever its weights are', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    }
    const response_format = { type: 'json_schema', json_schema: { name: 'verdict', schema } }
    const { choices } = await asked(daemon.url, key, { model: 'model-1', messages: question('Well?'), response_format })
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ ok: expect.any(Boolean) })
  })

  it('is a server for another node, which passes on what it streams', async () => {
    const file = workshop.path('models.json')
    const roles = ['fast', 'general', 'code', 'reason', 'judge']
    const models = [{ id: 'model-1', roles, context: 8_192, supports: ['streamUsage'] }]
    const backends = [{ id: 'node', baseUrl: `${daemon.url}/v1`, keyRef: 'env:NODE_KEY', models }]
    writeFileSync(file, JSON.stringify({ backends }))
    const front = await started({ FARTHING_MODELS_FILE: file, NODE_KEY: key })
    const response = await fetch(`${front.daemon.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${front.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'model-1', messages: question('Hello'), max_tokens: 24, stream: true }),
    })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text.match(/"finish_reason":"(stop|length)"/g)).toHaveLength(1)
  })
})
