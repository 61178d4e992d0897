import { describe, expect, it } from 'vitest'
import { type VoiceMeans, VoicePlatform } from '../../../../../marketplace/chat/voice/voice-platform.ts'

describe('room for texts that are spoken', () => {
  it('is for half of them one’s own, and given back once', () => {
    const voice = new VoicePlatform({ atOnceMax: 8 } as VoiceMeans)
    const mine = Array.from({ length: 8 }, () => voice.enter('one'))
    expect(mine.map((leave) => leave !== null)).toEqual([true, true, true, true, false, false, false, false])
    const others = Array.from({ length: 5 }, (_, i) => voice.enter(`other ${i}`))
    expect(others.map((leave) => leave !== null)).toEqual([true, true, true, true, false])
    for (let i = 0; i < 3; i++) mine[0]?.()
    expect(voice.enter('other 4')).not.toBeNull()
    expect(voice.enter('other 5')).toBeNull()
  })

  it('is there for one even where there is room for one alone', () => {
    const voice = new VoicePlatform({ atOnceMax: 1 } as VoiceMeans)
    const leave = voice.enter('one')
    expect([leave === null, voice.enter('two')]).toEqual([false, null])
  })
})
