import { resampled } from './resample.ts'
import { type SoundFormat, VOICE_FORMAT, type WavSound } from './wav.ts'

const SLICE = 32_768

/** Two channels become their mean. Each step takes about a millisecond at most. */
export function* voiceSound({ format, data }: WavSound): Generator<void, Uint8Array> {
  const isVoice = format.rate === VOICE_FORMAT.rate && format.bits === VOICE_FORMAT.bits && format.channels === 1
  // A copy, since a view would keep the whole file in memory.
  if (isVoice) return data.slice()
  const samples = yield* monoSamples({ format, data })
  return yield* bytesOf(yield* resampled(samples, format.rate, VOICE_FORMAT.rate))
}

/** Number of bytes that {@link voiceSound} makes of a sound. */
export function voiceBytes({ format: { rate, bits, channels }, data }: Pick<WavSound, 'format' | 'data'>): number {
  const frames = data.length / (bits / 8) / channels
  return Math.round((frames * VOICE_FORMAT.rate) / rate) * (VOICE_FORMAT.bits / 8)
}

/** Whether sounds of these formats can follow each other without an audible difference. */
export function sameFormat(one: SoundFormat, other: SoundFormat): boolean {
  return one.rate === other.rate && one.bits === other.bits && one.channels === other.channels
}

/** A format in words. */
export function formatText({ rate, bits, channels }: SoundFormat): string {
  return `${rate} Hz, ${bits} bit, ${channels === 1 ? 'mono' : 'stereo'}`
}

function* monoSamples({ format, data }: Pick<WavSound, 'format' | 'data'>): Generator<void, Int16Array> {
  const width = format.bits / 8
  const frames = data.length / width / format.channels
  const samples = new Int16Array(frames)
  const at = (sample: number): number => {
    const end = (sample + 1) * width
    if (width === 1) return ((data[sample] as number) - 128) << 8
    return (((data[end - 1] as number) << 24) >> 16) | (data[end - 2] as number)
  }
  for (let from = 0; from < frames; from += SLICE) {
    const to = Math.min(frames, from + SLICE)
    if (format.channels === 1) for (let i = from; i < to; i++) samples[i] = at(i)
    else for (let i = from; i < to; i++) samples[i] = (at(2 * i) + at(2 * i + 1)) >> 1
    yield
  }
  return samples
}

function* bytesOf(samples: Int16Array): Generator<void, Uint8Array> {
  const bytes = new Uint8Array(samples.length * 2)
  for (let from = 0; from < samples.length; from += SLICE) {
    const to = Math.min(samples.length, from + SLICE)
    for (let i = from; i < to; i++) {
      const sample = samples[i] as number
      bytes[2 * i] = sample & 0xff
      bytes[2 * i + 1] = (sample >> 8) & 0xff
    }
    yield
  }
  return bytes
}
