import { afterAll, describe, expect, it } from 'vitest'
import type { ChatCall } from '../../../marketplace/chat/call.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { runFault } from '../../support/chat-faults.ts'
import type { WorldBackend } from '../../support/chat-world.ts'
import { CHAT_PROFILES, type ChatProfile, HOUSE_TEXT } from '../../support/upstreams/openai.ts'

/** The outcome, and the number of questions that the server got. */
type Expected = readonly [came: string, hits: number]
/** Outcome of a complete answer, and of a stream. */
type Row = readonly [whole: Expected, read: Expected]

const WELL: Expected = ['ok', 1]
const BAD: Expected = ['chat/upstream', 1]
const BAD_THRICE: Expected = ['chat/upstream', 3]
const LATE: Expected = ['chat/timeout', 1]

const SINGLE: Readonly<Record<ChatProfile, Row>> = {
  ok: [WELL, WELL],
  'split-utf8': [WELL, WELL],
  'slow-first-token': [WELL, WELL],
  stall: [LATE, LATE],
  hang: [LATE, LATE],
  // A broken connection is retried while nothing was streamed.
  cut: [BAD_THRICE, BAD],
  'no-end': [BAD, BAD],
  'no-done': [WELL, WELL],
  'done-without-reason': [BAD, BAD],
  'in-band-error': [BAD_THRICE, BAD_THRICE],
  'late-error': [WELL, BAD],
  'bad-json-line': [WELL, WELL],
  'bad-json-lines': [BAD, BAD],
  'not-an-event': [WELL, WELL],
  '401': [BAD, BAD],
  '429': [
    ['chat/busy', 3],
    ['chat/busy', 3],
  ],
  '400': [
    ['chat/refused', 1],
    ['chat/refused', 1],
  ],
  '503': [BAD_THRICE, BAD_THRICE],
  '502-html': [BAD_THRICE, BAD_THRICE],
  'sse-when-json': [WELL, WELL],
  'json-when-sse': [WELL, WELL],
  html: [BAD, BAD],
  'empty-content': [BAD, BAD],
  'reasoning-only': [BAD, BAD],
  'tool-calls': [WELL, WELL],
  'usage-missing': [WELL, WELL],
  'wrong-model-echo': [WELL, WELL],
  'huge-delta': [BAD, BAD],
  'duplicate-finish': [WELL, WELL],
  filtered: [WELL, WELL],
  length: [WELL, WELL],
  'url-picture': [WELL, WELL],
  'data-picture': [WELL, WELL],
  'no-response-format': [WELL, WELL],
  // The first refusal names the new field.
  'new-names': [
    ['ok', 2],
    ['ok', 2],
  ],
}

/** A server that refuses the form is asked again with instructions. For a stream that takes one more question. */
const NATIVE: typeof SINGLE = {
  ...SINGLE,
  'no-response-format': [
    ['ok', 2],
    ['ok', 3],
  ],
}

/** An answer that only follows instructions is checked first, so it is never requested as a stream. */
const IN_WORDS: typeof SINGLE = Object.fromEntries(
  CHAT_PROFILES.map((profile) => [profile, [SINGLE[profile][0], SINGLE[profile][0]]]),
) as never

/**
 * Planner, executor and evaluator. Without a plan there is still an answer, so the next stage asks again, until the
 * server is left alone after five failures in a row. The answer is shown after its evaluation.
 */
const STAGES: typeof SINGLE = {
  ...(Object.fromEntries(CHAT_PROFILES.map((profile) => [profile, inStages(SINGLE[profile][0])])) as typeof SINGLE),
  // No tool was offered, so a tool call is no answer.
  'tool-calls': both(['chat/upstream', 2]),
  // The first question shows that the key is refused.
  '401': both(['chat/no-backend', 1]),
  // The evaluator needs a form, and asks again with instructions.
  'no-response-format': both(['ok', 4]),
  'new-names': both(['ok', 4]),
}

/** A pipeline that makes a single call. */
const INSTANT: typeof SINGLE = { ...SINGLE, 'tool-calls': [BAD, BAD] }

function inStages([came, hits]: Expected): Row {
  if (came === 'ok') return both([came, 3])
  return both([came, hits === 3 ? 5 : 2])
}

function both(expected: Expected): Row {
  return [expected, expected]
}

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
const withTools = { usesTools: true, extra: { tools } } as const
const inForm: Partial<ChatCall> = {
  form: { is: 'schema', schema: { name: 'a', schema: { type: 'object', required: ['text'] } } },
}
const TEXT = JSON.stringify({ text: HOUSE_TEXT })

interface Way {
  readonly about: string
  readonly call: Partial<ChatCall>
  readonly rows: typeof SINGLE
  readonly backend?: WorldBackend
}

const WAYS: readonly Way[] = [
  { about: 'model-1', call: {}, rows: SINGLE },
  { about: 'tools of model-1', call: withTools, rows: SINGLE },
  { about: 'tools of model-4', call: { ...withTools, model: 'model-4' }, rows: SINGLE },
  { about: 'a form that the server knows', call: { ...inForm, model: 'model-2' }, rows: NATIVE },
  { about: 'model-2', call: { model: 'model-2' }, rows: STAGES },
  { about: 'model-3, a short question', call: { model: 'model-3' }, rows: STAGES },
  { about: 'model-4, a greeting', call: { model: 'model-4' }, rows: INSTANT },
  { about: 'a form in words', call: inForm, rows: IN_WORDS, backend: { models: [{ supports: new Set() }] } },
]

const engines = new EnginePool(1)
afterAll(() => engines.close())

describe.each(WAYS)('a server that breaks, asked for $about', ({ call, rows, backend = {} }) => {
  const text = call.form === undefined ? HOUSE_TEXT : TEXT

  it.each(CHAT_PROFILES)('%s', async (profile) => {
    for (const [i, reads] of [false, true].entries()) {
      const parts = { call, reads, backend, means: { engines }, answer: () => text }
      const { came, hits, text: said } = await runFault(profile, parts)
      expect([came, hits]).toEqual(rows[profile][i])
      // The streamed text of a broken answer is its beginning.
      if (profile === 'tool-calls') expect(said).toBe('')
      else if (came === 'ok') expect(said).toBe(text)
      else expect(text.startsWith(said)).toBe(true)
    }
  })
})
