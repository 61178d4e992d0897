import { describe, expect, it } from 'vitest'
import { resampled } from '../../../../../marketplace/chat/voice/resample.ts'
import { voiceBytes, voiceSound } from '../../../../../marketplace/chat/voice/voice-sound.ts'
import { VOICE_FORMAT } from '../../../../../marketplace/chat/voice/wav.ts'

function run<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

function samplesIn(bytes: Uint8Array): readonly number[] {
  const view = Buffer.from(bytes)
  return Array.from({ length: bytes.length / 2 }, (_, i) => view.readInt16LE(2 * i))
}

function converted(bits: number, channels: number, hex: string): readonly number[] {
  const data = new Uint8Array(Buffer.from(hex, 'hex'))
  return samplesIn(run(voiceSound({ format: { rate: 24_000, bits, channels }, data, isShort: false })))
}

function tone(hertz: number, rate: number, height = 10_000): Int16Array {
  return Int16Array.from({ length: rate }, (_, i) => Math.round(height * Math.sin((2 * Math.PI * hertz * i) / rate)))
}

/** The largest absolute sample, away from both ends. */
function peak(samples: ArrayLike<number>): number {
  return Math.max(...Array.from(samples).slice(500, -500).map(Math.abs))
}

describe('samples of other widths', () => {
  it.each([
    [8, '007f80ff', [-32_768, -256, 0, 32_512]],
    [16, '0080ffff0000ff7f', [-32_768, -1, 0, 32_767]],
    [24, '000080ffffff000100ffff7f', [-32_768, -1, 1, 32_767]],
    [32, '00000080ffffffff00000100ffffff7f', [-32_768, -1, 1, 32_767]],
  ])('of %i bits', (bits, hex, samples) => {
    expect(converted(bits, 1, hex)).toEqual(samples)
  })

  it('of two channels become their mean', () => {
    expect(converted(16, 2, '0a001e00' + '00800080' + 'ff7f0180')).toEqual([20, -32_768, 0])
    expect(converted(8, 2, '80ff')).toEqual([16_256])
  })

  it('that are right already stay as they are, in memory of their own', () => {
    const file = Uint8Array.from([9, 9, 1, 2, 3, 4])
    const sound = run(voiceSound({ format: VOICE_FORMAT, data: file.subarray(2), isShort: false }))
    expect([...sound]).toEqual([1, 2, 3, 4])
    expect(sound.buffer.byteLength).toBe(4)
  })
})

describe('what a sound will be', () => {
  it.each([8_000, 11_025, 22_050, 24_000, 44_100, 96_000])('is known before it is made, at %i', (rate) => {
    for (const [bits, channels] of [
      [8, 1],
      [16, 1],
      [16, 2],
      [24, 1],
      [32, 2],
    ] as const) {
      const sound = {
        format: { rate, bits, channels },
        data: new Uint8Array(1_001 * channels * (bits / 8)),
        isShort: false,
      }
      expect(run(voiceSound(sound)).length).toBe(voiceBytes(sound))
    }
  })
})

describe('another rate', () => {
  it.each([8_000, 11_025, 12_000, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000])(
    'of %i keeps a tone where it is and as loud as it is',
    (rate) => {
      const out = run(resampled(tone(1_000, rate), rate, 24_000))
      const wanted = tone(1_000, 24_000)
      expect(out.length).toBe(24_000)
      expect(peak(out.map((sample, i) => sample - (wanted[i] as number)))).toBeLessThan(10)
    },
  )

  it.each([32_000, 44_100, 48_000, 96_000])('lower than %i leaves nothing of a tone that it cannot hold', (rate) => {
    expect(peak(run(resampled(tone(13_500, rate), rate, 24_000)))).toBeLessThan(10)
  })

  it('higher than 22,050 adds no mirror of a tone', () => {
    const out = run(resampled(tone(8_000, 22_050), 22_050, 24_000))
    const wanted = tone(8_000, 24_000)
    expect(peak(out.map((sample, i) => sample - (wanted[i] as number)))).toBeLessThan(10)
  })

  it('keeps the loudest level there is, and silence', () => {
    const loud = run(resampled(new Int16Array(4_000).fill(32_767), 22_050, 24_000))
    expect(loud.slice(500, -500).every((sample) => sample === 32_767)).toBe(true)
    expect(run(resampled(new Int16Array(4_000), 22_050, 24_000)).every((sample) => sample === 0)).toBe(true)
  })

  it('of nothing is nothing', () => {
    expect(run(resampled(new Int16Array(), 22_050, 24_000))).toHaveLength(0)
  })

  it('is made in many short steps', () => {
    let steps = 0
    for (const _ of resampled(new Int16Array(22_050 * 60), 22_050, 24_000)) steps += 1
    expect(steps).toBeGreaterThan(300)
  })
})
