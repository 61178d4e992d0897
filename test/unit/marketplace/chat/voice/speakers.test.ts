import { describe, expect, it } from 'vitest'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../../../consensus/primitives/result.ts'
import { FirstSpeaker } from '../../../../../marketplace/chat/voice/speakers.ts'
import { notConfigured, notNow, type Readiness } from '../../../../../marketplace/ports/readiness.ts'
import type { Speech, SpeechRequest } from '../../../../../marketplace/ports/speech.ts'

const READY: Readiness = { available: true, engine: 'x' }
const REQUEST: SpeechRequest = { text: 'Hello', voice: null, speed: 1, by: null }
const never = new AbortController().signal

/** A speaker that succeeds or fails, and records its requests. */
function speaker(by: string, parts: Partial<Speech> & { readonly fails?: boolean } = {}) {
  const asked: SpeechRequest[] = []
  const speech: Speech = {
    readiness: () => READY,
    voices: () => [`${by}-voice`, 'shared'],
    speeds: () => ({ min: 0.5, max: 2 }),
    speak: async (request) => {
      asked.push(request)
      if (parts.fails === true) return fail(fault('model/cut', { backend: by }))
      return ok({ bytes: new Uint8Array(), by, model: by })
    },
    ...parts,
  }
  return { ...speech, asked }
}

describe('several who speak', () => {
  it('are asked in their order, and the one that began goes on', async () => {
    const [one, two] = [speaker('one', { fails: true }), speaker('two of them')]
    const both = new FirstSpeaker([one, two])
    const first = await both.speak(REQUEST, never)
    expect(first).toMatchObject({ ok: true, value: { model: 'two of them' } })
    if (!first.ok) throw new Error('no speaker spoke')
    await both.speak({ ...REQUEST, by: first.value.by }, never)
    expect(one.asked).toHaveLength(1)
    expect(two.asked.map(({ by }) => by)).toEqual([null, 'two of them'])
  })

  it('are not changed for another in the middle', async () => {
    const [one, two] = [speaker('one', { fails: true }), speaker('two')]
    const both = new FirstSpeaker([one, two])
    expect(await both.speak({ ...REQUEST, by: '0 one' }, never)).toMatchObject({ ok: false })
    expect(two.asked).toEqual([])
  })

  it('are asked only for what they have', async () => {
    const [one, two] = [speaker('one', { speeds: () => ({ min: 1, max: 1 }) }), speaker('two')]
    const both = new FirstSpeaker([one, two])
    expect(await both.speak({ ...REQUEST, voice: 'two-voice' }, never)).toMatchObject({ value: { model: 'two' } })
    expect(await both.speak({ ...REQUEST, speed: 1.5 }, never)).toMatchObject({ value: { model: 'two' } })
    expect(await both.speak({ ...REQUEST, voice: 'nobody' }, never)).toMatchObject({ fault: { code: 'model/none' } })
    expect(one.asked).toEqual([])
    expect(both.voices()).toEqual(['one-voice', 'shared', 'two-voice'])
    expect(both.speeds()).toEqual({ min: 0.5, max: 2 })
  })

  it('count only while they can be asked', async () => {
    const one = speaker('one', { readiness: () => notNow('one: ECONNREFUSED at 10.0.0.1') })
    const two = speaker('two', { readiness: () => notConfigured('two', 'some.setting') })
    const both = new FirstSpeaker([one, two])
    expect(both.readiness()).toEqual({ available: false, reason: 'no speech engine can be asked now', requires: [] })
    expect(both.voices()).toEqual([])
    expect(await both.speak(REQUEST, never)).toMatchObject({ fault: { code: 'model/none' } })
    expect(new FirstSpeaker([speaker('three'), one]).readiness()).toEqual(READY)
  })

  it('of whom none is set up tell the settings', () => {
    const none = new FirstSpeaker([speaker('two', { readiness: () => notConfigured('two', 'some.setting') })])
    expect(none.readiness()).toMatchObject({ available: false, requires: ['models.file', 'chat.espeak'] })
  })
})
