import { afterEach, describe, expect, it } from 'vitest'
import type { ChatCall } from '../../../marketplace/chat/call.ts'
import { askingBeast, QUESTIONS } from '../../support/chat-ensemble.ts'
import { asking, sayingByStage, WORK } from '../../support/chat-stages.ts'
import { ChatWorld, callOf } from '../../support/chat-world.ts'
import { CHAT_PROFILES, type ChatProfile } from '../../support/upstreams/openai.ts'
import { SPEAKING_BACKEND, voiceOver } from '../../support/voices.ts'

/** Server behaviours that do not harm an answer. */
const HARMLESS: readonly ChatProfile[] = [
  ...(['ok', 'split-utf8', 'slow-first-token', 'no-done', 'bad-json-line', 'not-an-event', 'sse-when-json'] as const),
  ...(['json-when-sse', 'usage-missing', 'wrong-model-echo', 'duplicate-finish', 'filtered', 'length'] as const),
  ...(['url-picture', 'data-picture', 'no-response-format', 'new-names'] as const),
]
/** Harmless if only complete answers are requested. */
const LATE: ChatProfile = 'late-error'
/** Timeout of an attempt: short for servers that never end, long for the others on a busy machine. */
const TIMEOUT_MS = { endless: 400, usual: 5_000 }
const FAULT: Readonly<Partial<Record<ChatProfile, string | RegExp>>> = {
  '400': 'chat/refused',
  // After several refusals the server is left alone, and later stages have no model to ask.
  '429': /^chat\/(busy|no-backend)$/,
  stall: 'chat/timeout',
  hang: 'chat/timeout',
}

const STANDARD = { ...askingBeast(QUESTIONS.standard), speaks: true }
const DEEP = { ...askingBeast(QUESTIONS.deep), speaks: false }
const LONG = { ...asking('model-3', WORK), speaks: true }
const PIPELINES: readonly (readonly [string, Partial<ChatCall> & { readonly speaks: boolean }])[] = [
  ['model-4, standard', STANDARD],
  ['model-4, deep', DEEP],
  ['model-3, all stages', LONG],
]

let world: ChatWorld
afterEach(() => world.close())

async function opened(profile: ChatProfile, backend = {}): Promise<void> {
  const timeoutMs = FAULT[profile] === 'chat/timeout' ? TIMEOUT_MS.endless : TIMEOUT_MS.usual
  world = await ChatWorld.open({ backends: [{ ...backend, limits: { timeoutMs } }] })
  world.fake.profile = profile
}

describe.each(PIPELINES)('%s, behind a server that', (_, { speaks, ...call }) => {
  const isWhole = (profile: ChatProfile, reads: boolean): boolean =>
    HARMLESS.includes(profile) || (profile === LATE && !(speaks && reads))

  it.each(CHAT_PROFILES)('does %s: one text, or its fault, whole and read along', async (profile) => {
    for (const reads of [false, true]) {
      await opened(profile)
      if (call.model === 'model-3') world.fake.answer = sayingByStage()
      const read = reads ? await world.read(call) : { outcome: await world.ask(call), text: null }
      const { outcome } = read
      if (isWhole(profile, reads)) {
        if (!outcome.ok) throw new Error(JSON.stringify(outcome.fault))
        const said = outcome.value.choices[0]?.message.content
        expect(said).not.toBe('')
        if (read.text !== null) expect(read.text).toBe(said)
      } else {
        expect(outcome.ok).toBe(false)
        const code = outcome.ok ? '' : outcome.fault.code
        expect(code).toMatch(FAULT[profile] ?? /^chat\/(upstream|no-backend)$/)
      }
      await world.settled()
      await world.close()
    }
  })
})

describe('model-voice, behind a server that', () => {
  const wish = { voice: null, speed: 1 }

  it.each(CHAT_PROFILES)('does %s while it answers: a text and its sound, or a fault', async (profile) => {
    await opened(profile, SPEAKING_BACKEND)
    const { signal } = new AbortController()
    const aloud = await voiceOver(world).answerAloud(callOf({ model: 'model-2' }), wish, signal)
    if (HARMLESS.includes(profile) || profile === LATE) {
      if (!aloud.ok) throw new Error(JSON.stringify(aloud.fault))
      expect(aloud.value.audio.durationMs).toBeGreaterThan(0)
    } else {
      const code = aloud.ok ? '' : aloud.fault.code
      expect(code).toMatch(FAULT[profile] ?? /^chat\/(upstream|no-backend)$/)
    }
    await world.settled()
  })
})
