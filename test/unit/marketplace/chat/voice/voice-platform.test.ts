import { describe, expect, it, vi } from 'vitest'
import { ok } from '../../../../../consensus/primitives/result.ts'
import { estimatedTokens } from '../../../../../marketplace/chat/models/tokens.ts'
import { type VoiceMeans, VoicePlatform } from '../../../../../marketplace/chat/voice/voice-platform.ts'
import { type SoundFormat, wavHeader } from '../../../../../marketplace/chat/voice/wav.ts'
import type { ModelUsage } from '../../../../../marketplace/ports/models.ts'
import { eventLoopPacer, systemClock } from '../../../../../src/daemon/runtime.ts'

const SMALLEST: SoundFormat = { rate: 8_000, bits: 8, channels: 1 }

describe('room for texts that are spoken', () => {
  it('is for half of them one’s own, and given back once', () => {
    let nowMs = 0
    const voice = new VoicePlatform({ atOnceMax: 8 } as VoiceMeans, () => nowMs)
    const mine = Array.from({ length: 8 }, () => voice.enter('one'))
    expect(mine.map((leave) => leave !== null)).toEqual([true, true, true, true, false, false, false, false])
    const others = Array.from({ length: 5 }, (_, i) => voice.enter(`other ${i}`))
    expect(others.map((leave) => leave !== null)).toEqual([true, true, true, true, false])
    for (let i = 0; i < 3; i++) mine[0]?.leave()
    expect(voice.enter('other 4')).not.toBeNull()
    expect(voice.enter('other 5')).toBeNull()
    // If one caller reads several sounds slowly, the oldest makes room.
    const cut = vi.fn()
    for (const one of [...mine.slice(1), others[0]]) one?.yields(cut)
    expect(voice.enter('other 5')).toBeNull()
    nowMs += 5_000
    expect([voice.enter('other 5'), voice.enter('other 6')].map((share) => share !== null)).toEqual([true, true])
    expect([cut.mock.calls.length, voice.enter('other 7')]).toEqual([2, null])
  })

  it('is there for one even where there is room for one alone', () => {
    const voice = new VoicePlatform({ atOnceMax: 1 } as VoiceMeans)
    const leave = voice.enter('one')
    expect([leave === null, voice.enter('two')]).toEqual([false, null])
  })
})

describe('a text whose speech is longer than is kept', () => {
  it('counts as its parts that were spoken before it is refused', async () => {
    const parts: string[] = []
    const speech = {
      readiness: () => ({ available: true, engine: 'a voice' }),
      voices: () => ['alloy'],
      speeds: () => ({ min: 0.25, max: 4 }),
      speak: async ({ text }: { readonly text: string }) => {
        parts.push(text)
        const bytes = 399 * SMALLEST.rate
        const file = Buffer.concat([wavHeader(bytes, SMALLEST), Buffer.alloc(bytes)])
        return ok({ bytes: file, by: 'somebody', model: 'a voice' })
      },
    }
    const text = 'One of many sentences that all say so. '.repeat(105)
    const engines = { run: async () => ok({ text }) }
    const means = { speech, engines, clock: systemClock, pacer: eventLoopPacer, budgetMs: 60_000, atOnceMax: 8 }
    const voice = new VoicePlatform(means as unknown as VoiceMeans)
    const spent: ModelUsage[] = []
    const wish = { voice: null, speed: 0.25 }
    const spoken = await voice.speak(text, wish, new AbortController().signal, (usage) => void spent.push(usage))
    expect(spoken).toMatchObject({ ok: false, fault: { code: 'chat/invalid-request' } })
    expect(parts.length).toBe(3)
    expect(spent).toMatchObject([{ promptTokens: estimatedTokens(parts.join('')) }])
  })
})
