import { describe, expect, it } from 'vitest'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import type { ModelBackend, ModelFacts, SpeechQuestion } from '../../../../../marketplace/chat/models/backend.ts'
import { ModelSpeech } from '../../../../../marketplace/chat/models/model-speech.ts'
import { ModelPool } from '../../../../../marketplace/chat/models/pool.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const LIMITS = { rpm: null, tpm: null, concurrency: 2, priority: 0, timeoutMs: 60_000 }
const REQUEST = { text: 'Hello.', voice: null, speed: 1, by: null }
const BYTES = Uint8Array.from([1, 2, 3])
const never = (): AbortSignal => new AbortController().signal
const slowDown = (retryAfterMs: number): Result<never> =>
  fail(fault('model/refused', { backend: 'x', reason: 'status 429', status: 429, retryAfterMs }))

/** A backend with speech models that answers as the test says and records its requests. */
function speaker(id: string, does: (call: number) => Result<Uint8Array> = () => ok(BYTES), voices?: readonly string[]) {
  const asked: SpeechQuestion[] = []
  const backend: ModelBackend = {
    id,
    complete: async () => fail(fault('model/cut', { backend: id })),
    stream: async () => fail(fault('model/cut', { backend: id })),
    picture: async () => fail(fault('model/cut', { backend: id })),
    speech: async (question) => {
      asked.push(question)
      return does(asked.length)
    },
    check: async () => ok(null),
  }
  const facts: ModelFacts = {
    id: 'tts/1',
    roles: ['speech'],
    context: 4_096,
    supports: new Set(),
    declaredParameters: null,
  }
  const models = [voices === undefined ? facts : { ...facts, voices }]
  return { entry: { backend, models, limits: LIMITS }, asked }
}

async function speechOf(...speakers: readonly ReturnType<typeof speaker>[]) {
  const time = new ManualTime()
  const entries = speakers.map(({ entry }) => entry)
  const pool = new ModelPool({ entries, clock: time, timers: time, random: () => 1 })
  await pool.checkAll()
  return { time, speech: new ModelSpeech(pool) }
}

describe('models that speak', () => {
  it('are asked with their usual voice where none is wanted', async () => {
    const [one, two] = [speaker('one'), speaker('two', undefined, ['nova', 'echo'])]
    const { speech } = await speechOf(one, two)
    expect(speech.voices()).toEqual(['alloy', 'nova', 'echo'])
    expect(speech.readiness()).toMatchObject({ available: true })
    await speech.speak(REQUEST, never())
    await speech.speak({ ...REQUEST, voice: 'echo', speed: 2 }, never())
    expect(one.asked).toMatchObject([{ text: 'Hello.', voice: 'alloy', speed: 1 }])
    expect(two.asked).toMatchObject([{ text: 'Hello.', voice: 'echo', speed: 2 }])
    expect(await speech.speak({ ...REQUEST, voice: 'nobody' }, never())).toMatchObject({
      fault: { code: 'model/none' },
    })
  })

  it('say who they are, and are asked again by that', async () => {
    const [one, two] = [speaker('one', () => fail(fault('model/cut', { backend: 'one' }))), speaker('two')]
    const { speech } = await speechOf(one, two)
    const first = await speech.speak(REQUEST, never())
    expect(first).toEqual(ok({ bytes: BYTES, by: 'two/tts/1', model: 'tts/1' }))
    await speech.speak({ ...REQUEST, by: 'two/tts/1' }, never())
    expect([one.asked.length, two.asked.length]).toEqual([1, 2])
  })

  it('are asked five times, after pauses that double', async () => {
    const one = speaker('one', () => slowDown(0))
    const { speech, time } = await speechOf(one)
    const spoken = await time.runUntil(speech.speak(REQUEST, never()))
    expect(spoken).toMatchObject({ ok: false, fault: { code: 'model/refused' } })
    expect(one.asked).toHaveLength(5)
    expect(time.waits.filter((ms) => ms < 60_000)).toEqual([500, 1_000, 2_000, 4_000])
  })

  it('are left alone for as long as they ask', async () => {
    const one = speaker('one', (call) => (call === 1 ? slowDown(7_000) : ok(BYTES)))
    const { speech, time } = await speechOf(one)
    expect(await time.runUntil(speech.speak(REQUEST, never()))).toMatchObject({ ok: true })
    expect(time.waits).toEqual([7_000])
  })

  it('are not waited for longer than a caller would wait', async () => {
    const one = speaker('one', () => slowDown(60_000))
    const { speech, time } = await speechOf(one)
    expect(await time.runUntil(speech.speak(REQUEST, never()))).toMatchObject({ ok: false })
    expect(one.asked).toHaveLength(1)
    expect(speech.readiness()).toMatchObject({ available: false })
  })

  it('are asked no more once the caller left', async () => {
    const gone = new AbortController()
    const one = speaker('one', () => slowDown(0))
    const { speech } = await speechOf(one)
    const spoken = speech.speak(REQUEST, gone.signal)
    gone.abort()
    expect(await spoken).toMatchObject({ ok: false })
    expect(one.asked.length).toBeLessThanOrEqual(1)
  })
})
