import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Result } from '../../../../../consensus/primitives/result.ts'
import type { ModelFacts } from '../../../../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../../../../marketplace/chat/models/pool.ts'
import type { ModelUsage } from '../../../../../marketplace/ports/models.ts'
import { GgufBackend } from '../../../../../src/chat/backends/gguf-backend.ts'
import type { LlamaPackage, LlamaSession } from '../../../../../src/chat/backends/llama-package.ts'
import { systemClock, systemTimers } from '../../../../../src/daemon/runtime.ts'
import { tinyGguf } from '../../../../interop/models/tiny-gguf.ts'
import { removeFolder, temporaryFolder } from '../../../../support/processes.ts'

type Prompt = LlamaSession['promptWithMeta']

/** More questions than a backend may fail to answer in a row. */
const QUESTIONS = 8
const ANSWER = 'The answer is here.'
const MODEL: ModelFacts = {
  id: 'local',
  roles: ['general'],
  context: 8_192,
  supports: new Set(),
  declaredParameters: null,
}
const LIMITS = { rpm: null, tpm: null, concurrency: 1, priority: 0, timeoutMs: 60_000 }
const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Answers as the package does: the answer ends before the first stop text. */
const stops: Prompt = async (_, { customStopTriggers = [], onTextChunk }) => {
  const places = customStopTriggers.map((stop) => ANSWER.indexOf(stop)).filter((at) => at >= 0)
  const responseText = ANSWER.slice(0, Math.min(...places, ANSWER.length))
  if (responseText !== '') onTextChunk(responseText)
  return { responseText, stopReason: places.length > 0 ? 'customStopTrigger' : 'eogToken' }
}

/** The conversation format of the fake model. */
const WRAPPER = { wrapperName: 'House' }

/** Records how the package was used. */
interface Done {
  resolved: number
  readonly wrappers: object[]
}

/** The package as documented, without a model: every question goes to `prompt`. */
function llamaPackage(prompt: Prompt, done: Done): LlamaPackage {
  let isTaken = false
  const getSequence = () => {
    if (isTaken) throw new Error('No sequences left')
    isTaken = true
    return {
      tokenMeter: { getState: () => ({ usedInputTokens: 9, usedOutputTokens: 5 }) },
      dispose: () => {
        isTaken = false
      },
    }
  }
  class Session {
    readonly setChatHistory = (): void => undefined
    readonly promptWithMeta = prompt

    constructor({ chatWrapper }: { readonly chatWrapper: object }) {
      done.wrappers.push(chatWrapper)
    }
  }
  const resolveChatWrapper = (): object => {
    done.resolved += 1
    return WRAPPER
  }
  const llama = {
    loadModel: async () => ({ fileInfo: { metadata: {} }, createContext: async () => ({ getSequence }) }),
    createGrammarForJsonSchema: async () => ({}),
    dispose: async () => undefined,
  }
  return { getLlama: async () => llama, resolveChatWrapper, LlamaChatSession: Session }
}

/** A pool of one local model, with a function that asks it. */
async function poolOver(prompt: Prompt) {
  const folder = temporaryFolder()
  closing.push(() => removeFolder(folder))
  const path = join(folder, 'model.gguf')
  writeFileSync(path, tinyGguf())
  const done: Done = { resolved: 0, wrappers: [] }
  const load = async (): Promise<LlamaPackage> => llamaPackage(prompt, done)
  const backend = new GgufBackend({ path, context: MODEL.context, allowFixture: true, load })
  const entries = [{ backend, models: [MODEL], limits: LIMITS }]
  const pool = new ModelPool({ entries, clock: systemClock, timers: systemTimers, random: () => 0 })
  closing.push(() => pool.stop())
  await pool.start()
  const wasted: ModelUsage[] = []
  const ask = (content: string, extra = {}): Promise<Result<unknown>> =>
    pool.complete(
      {
        role: 'general',
        messages: [{ role: 'user', content }],
        maxTokens: 50,
        extra,
        wasted: (one) => wasted.push(one),
      },
      AbortSignal.timeout(10_000),
    )
  return { pool, ask, done, wasted }
}

it('stop words that leave nothing of an answer do not block the model for other callers', async () => {
  const { pool, ask } = await poolOver(stops)
  for (let i = 0; i < QUESTIONS; i++)
    expect(await ask('Hello', { stop: ['T', 'e'] })).toMatchObject({
      fault: { code: 'model/answer', detail: { ofQuestion: true } },
    })
  expect(pool.readiness('general').available).toBe(true)
  expect(await ask('Hello')).toMatchObject({ ok: true, value: { text: ANSWER } })
})

it('a prompt that the model cannot take does not block it for other callers', async () => {
  const { pool, ask } = await poolOver(async (text, options) => {
    if (text.includes('odd')) throw new Error('Failed to compress chat history')
    return stops(text, options)
  })
  for (let i = 0; i < QUESTIONS; i++) expect(await ask('odd')).toMatchObject({ fault: { code: 'model/answer' } })
  expect(pool.readiness('general').available).toBe(true)
  expect(await ask('Hello')).toMatchObject({ ok: true, value: { text: ANSWER } })
})

it('a prompt far longer than the window is not tokenized, and does not block the model for other callers', async () => {
  let asked = 0
  const { pool, ask } = await poolOver(async (text, options) => {
    asked += 1
    return stops(text, options)
  })
  for (let i = 0; i < QUESTIONS; i++)
    expect(await ask(' '.repeat(8 * MODEL.context + 1))).toMatchObject({ fault: { code: 'model/refused' } })
  expect([asked, pool.readiness('general').available]).toEqual([0, true])
  expect(await ask(' '.repeat(8 * MODEL.context - 5).concat('Hello'))).toMatchObject({ ok: true })
})

it('but a model that fails with every prompt is left alone', async () => {
  const { pool, ask } = await poolOver(async () => {
    throw new Error('Eval has failed')
  })
  for (let i = 0; i < QUESTIONS; i++) expect(await ask('Hello')).toMatchObject({ ok: false })
  expect(pool.readiness('general').available).toBe(false)
})

it('how a model writes conversations is made out once, for questions that come to nothing too', async () => {
  const { ask, done } = await poolOver(async (text, options) => {
    if (text.includes('odd')) throw new Error('Failed to compress chat history')
    return stops(text, options)
  })
  for (const content of ['Hello', 'odd', 'Hello again']) await ask(content)
  // One of the four wrappers is for the plain question.
  expect(done).toEqual({ resolved: 1, wrappers: [WRAPPER, WRAPPER, WRAPPER, WRAPPER] })
})

it('a prompt that was read counts where the engine then fails', async () => {
  const { ask, wasted } = await poolOver(async () => {
    throw new Error('Eval has failed')
  })
  expect(await ask('It was a long day. '.repeat(100))).toMatchObject({ ok: false })
  expect(wasted).toEqual([expect.objectContaining({ completionTokens: 0, estimated: true })])
  expect(wasted[0]?.promptTokens).toBeGreaterThan(400)
})
