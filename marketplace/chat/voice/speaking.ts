import { type Clock, type Pacer, runPaced } from '../../../consensus/chain/ports.ts'
import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Engines } from '../../ports/engines.ts'
import type { Speech } from '../../ports/speech.ts'
import type { StageReport } from '../call.ts'
import { chunksOf } from './chunks.ts'
import { formatText, sameFormat, voiceBytes, voiceSound } from './voice-sound.ts'
import { parseWav, type SoundFormat, VOICE_FORMAT, type WavSound, wavHeader } from './wav.ts'

/** About ten minutes of speech. */
export const SPOKEN_CHARS_MAX = 8_192
/** Fifteen minutes of sound. */
export const SOUND_BYTES_MAX = 900 * VOICE_FORMAT.rate * (VOICE_FORMAT.bits / 8)

/** State of a text between the stages of speaking. */
export interface SpeakingState {
  /** The text as written. After the first stage, without Markdown. */
  readonly text: string
  readonly chunks: readonly string[]
  readonly isCut: boolean
  /** In {@link VOICE_FORMAT} without headers. */
  readonly parts: readonly Uint8Array[]
  readonly models: readonly string[]
  /** A WAV file in pieces. Empty before the last stage. */
  readonly file: readonly Uint8Array[]
}

/** What the stages are given. */
export interface SpeakingMeans {
  readonly speech: Speech
  readonly engines: Engines
  readonly clock: Clock
  readonly pacer: Pacer
  /** Null means the speaker's default. */
  readonly voice: string | null
  readonly speed: number
  readonly signal: AbortSignal
  /** Called for each part that came back as sound, even if the whole fails. */
  readonly spoken: (part: string) => void
}

/** One step from a text to its sound. */
export interface SpeakingStage {
  readonly name: string
  /** One sentence for people. */
  readonly about: string
  /** There is no sound without it. Failures of other stages are reported, and the state stays. */
  readonly isEssential?: true
  readonly run: (state: SpeakingState, means: SpeakingMeans) => Promise<Result<SpeakingState>>
}

/** The spoken text, and three times as much in code and links. */
const MARKDOWN_CHARS_MAX = 4 * SPOKEN_CHARS_MAX
const SPEAKABLE = /[\p{L}\p{N}]/u
const REASON_CHARS_MAX = 200
/** No speech of one chunk takes longer, but a wrong sample rate in a file can claim an hour. */
const PART_SECONDS_MAX = 400

const strip: SpeakingStage = {
  name: 'Markdown Stripping',
  about: 'Code becomes "(code block)", links their text, emphasis and other marks nothing.',
  run: async (state, { engines, signal }) => {
    const text = state.text.slice(0, MARKDOWN_CHARS_MAX)
    const plain = await engines.run('chat/plain-text', { text }, signal)
    return plain.ok ? ok({ ...state, text: plain.value.text, isCut: text.length < state.text.length }) : plain
  },
}

const chunk: SpeakingStage = {
  name: 'Chunking',
  about: 'The text is cut into pieces of at most 1024 characters, where sentences end if they do.',
  isEssential: true,
  run: async (state) => {
    const spoken = state.text.slice(0, SPOKEN_CHARS_MAX)
    const isLong = spoken.length < state.text.length
    const chunks = chunksOf(spoken)
    // The last piece ends at the limit, perhaps within a word, so it is left out.
    const whole = isLong && chunks.length > 1 ? chunks.slice(0, -1) : chunks
    return ok({ ...state, isCut: state.isCut || isLong, chunks: whole.filter((one) => SPEAKABLE.test(one)) })
  },
}

const speech: SpeakingStage = {
  name: 'Text-to-Speech',
  about: 'The pieces are spoken one after another, with pauses where a server asks for them.',
  isEssential: true,
  run: async (state, means) => {
    if (state.chunks.length === 0) return unspeakable('there is nothing in it that can be spoken')
    const parts: Uint8Array[] = []
    const models = new Set<string>()
    let first: { readonly by: string; readonly format: SoundFormat } | null = null
    let bytes = 0
    for (const text of state.chunks) {
      const spoken = await spokenChunk(text, first?.by ?? null, means)
      if (!spoken.ok) return spoken
      const { by, model, sound } = spoken.value
      first ??= { by, format: sound.format }
      if (!sameFormat(first.format, sound.format)) return unusable(by, changed(first.format, sound.format))
      // Checked before the conversion, whose memory and work grow with the length.
      const partBytes = voiceBytes(sound)
      if (soundMs(partBytes) > PART_SECONDS_MAX * 1_000)
        return unusable(by, `one part is longer than ${PART_SECONDS_MAX} seconds`)
      bytes += partBytes
      if (bytes > SOUND_BYTES_MAX)
        return unspeakable(`its speech is longer than ${soundMs(SOUND_BYTES_MAX) / 1_000} seconds`)
      parts.push(await runPaced(voiceSound(sound), means.pacer))
      models.add(model)
    }
    return ok({ ...state, parts, models: [...models] })
  },
}

const join: SpeakingStage = {
  name: 'WAV Joining',
  about: 'The sounds become one file with one header of the right sizes: 24 kHz, 16 bit, mono.',
  isEssential: true,
  run: async (state) => ok({ ...state, file: [wavHeader(bytesIn(state.parts)), ...state.parts] }),
}

/** From a text with Markdown to a WAV file. */
export const SPEAKING: readonly SpeakingStage[] = [strip, chunk, speech, join]

/** Duration of this many bytes of sound. */
export function soundMs(bytes: number): number {
  return Math.round((bytes * 1_000) / (VOICE_FORMAT.rate * (VOICE_FORMAT.bits / 8)))
}

/** Sum of the bytes. */
export function bytesIn(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/** Faults: `chat/invalid-request` for a text that cannot be spoken, `model/*`. */
export async function speakText(
  text: string,
  means: SpeakingMeans,
): Promise<Result<{ readonly state: SpeakingState; readonly stages: readonly StageReport[] }>> {
  const stages: StageReport[] = []
  let state: SpeakingState = { text, chunks: [], isCut: false, parts: [], models: [], file: [] }
  for (const stage of SPEAKING) {
    if (means.signal.aborted) return fail(fault('model/timeout', { backend: 'speech' }))
    const beganMs = means.clock.now()
    const next: Result<SpeakingState> = await stage.run(state, means)
    if (!next.ok && (stage.isEssential === true || means.signal.aborted)) return next
    const models = next.ok && stage === speech ? next.value.models : []
    const report = { stage: stage.name, models, ms: Math.round(means.clock.now() - beganMs) }
    if (next.ok) stages.push({ ...report, ran: true })
    else stages.push({ ...report, ran: false, reason: faultMessage(next.fault).slice(0, REASON_CHARS_MAX) })
    if (next.ok) state = next.value
  }
  return ok({ state, stages })
}

async function spokenChunk(
  text: string,
  by: string | null,
  { speech: speaker, voice, speed, signal, spoken: heard }: SpeakingMeans,
): Promise<Result<{ readonly by: string; readonly model: string; readonly sound: WavSound }>> {
  const spoken = await speaker.speak({ text, voice, speed, by }, signal)
  if (!spoken.ok) {
    // Sound too long to be read was spoken all the same.
    if (spoken.fault.detail.isSpoken === true) heard(text)
    return spoken
  }
  const sound = parseWav(spoken.value.bytes)
  if (typeof sound === 'string') return unusable(spoken.value.by, sound)
  if (sound.data.length > 0) heard(text)
  if (sound.isShort) return fail(fault('model/cut', { backend: spoken.value.by }))
  if (sound.data.length === 0) return unusable(spoken.value.by, 'there is nothing to hear')
  return ok({ by: spoken.value.by, model: spoken.value.model, sound })
}

function changed(first: SoundFormat, other: SoundFormat): string {
  return `one part is ${formatText(first)}, another ${formatText(other)}`
}

function unspeakable(reason: string): Result<never> {
  return fail(fault('chat/invalid-request', { param: 'input', reason }))
}

function unusable(backend: string, reason: string): Result<never> {
  return fail(fault('model/answer', { backend, reason }))
}
