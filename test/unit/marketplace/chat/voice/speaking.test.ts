import { describe, expect, it } from 'vitest'
import { ok } from '../../../../../consensus/primitives/result.ts'
import { type SpeakingMeans, speakText } from '../../../../../marketplace/chat/voice/speaking.ts'
import { type SoundFormat, VOICE_FORMAT, wavHeader } from '../../../../../marketplace/chat/voice/wav.ts'
import { eventLoopPacer, systemClock } from '../../../../../src/daemon/runtime.ts'

/** Speaks with a speaker that returns sound of a fixed length and format for each piece. */
function spoken(text: string, seconds: number, format: SoundFormat) {
  const bytes = seconds * format.rate * (format.bits / 8) * format.channels
  const file = new Uint8Array(44 + bytes)
  file.set(wavHeader(bytes, format))
  const means = {
    speech: { speak: async () => ok({ bytes: file, by: 'somebody', model: 'a voice' }) },
    engines: { run: async () => ok({ text }) },
    clock: systemClock,
    pacer: eventLoopPacer(),
    voice: null,
    speed: 1,
    signal: new AbortController().signal,
    spoken: () => undefined,
  } as unknown as SpeakingMeans
  return speakText(text, means)
}

const SMALLEST: SoundFormat = { rate: 8_000, bits: 8, channels: 1 }
const LONG = 'One of many sentences that all say the same thing. '.repeat(100)

describe('a server that answers with too much', () => {
  it('in one part is at fault itself, before anything is made of it', async () => {
    const before = process.memoryUsage().arrayBuffers
    const said = await spoken('Hello.', 2_000, SMALLEST)
    expect(said).toMatchObject({ ok: false, fault: { code: 'model/answer' } })
    // The file is 16 MB. As converted sound it would take another 96 MB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000)
  })

  it('in all parts together has spoken a text that is too long', async () => {
    expect(await spoken(LONG, 399, SMALLEST)).toMatchObject({ ok: false, fault: { code: 'chat/invalid-request' } })
  })

  it('is heard where it is just not too much', async () => {
    const said = await spoken('Hello.', 400, { ...VOICE_FORMAT, rate: 8_000 })
    expect(said.ok && said.value.state.parts.map(({ length }) => length)).toEqual([400 * 48_000])
  })
})
