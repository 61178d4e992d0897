import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { notConfigured, notNow, type Readiness } from '../../ports/readiness.ts'
import type { Speech, SpeechRequest, SpeedRange, SpokenText } from '../../ports/speech.ts'

/** Stands between the number of a speaker and its own id. */
const MARK = ' '

/** The first speaker that is able to speak a text is used, also for the other parts of the text. */
export class FirstSpeaker implements Speech {
  readonly #speakers: readonly Speech[]

  /** In order of preference. */
  constructor(speakers: readonly Speech[]) {
    this.#speakers = speakers
  }

  readonly readiness = (): Readiness => {
    const standings = this.#speakers.map((speaker) => speaker.readiness())
    const usable = standings.find(({ available }) => available)
    if (usable !== undefined) return usable
    const isSetUp = standings.some((one) => !one.available && one.requires.length === 0)
    // Details of speech engines are for the operator only.
    if (isSetUp) return notNow('no speech engine can be asked now')
    return notConfigured('speech', 'models.file', 'chat.espeak')
  }

  readonly voices = (): readonly string[] => [...new Set(this.#usable().flatMap((speaker) => speaker.voices()))]

  readonly speeds = (): SpeedRange => {
    const ranges = this.#usable().map((speaker) => speaker.speeds())
    if (ranges.length === 0) return { min: 1, max: 1 }
    return { min: Math.min(...ranges.map(({ min }) => min)), max: Math.max(...ranges.map(({ max }) => max)) }
  }

  async speak(request: SpeechRequest, signal: AbortSignal): Promise<Result<SpokenText>> {
    const { by } = request
    if (by !== null) {
      const mark = by.indexOf(MARK)
      return this.#speakAs(Number(by.slice(0, mark)), { ...request, by: by.slice(mark + 1) }, signal)
    }
    let last: Result<SpokenText> = fail(
      fault('model/none', { reason: 'no speech engine has this voice at this speed' }),
    )
    for (const [number, speaker] of this.#speakers.entries()) {
      if (!canSpeak(speaker, request)) continue
      last = await this.#speakAs(number, request, signal)
      if (last.ok || signal.aborted) return last
    }
    return last
  }

  async #speakAs(number: number, request: SpeechRequest, signal: AbortSignal): Promise<Result<SpokenText>> {
    const spoken = await (this.#speakers[number] as Speech).speak(request, signal)
    return spoken.ok ? ok({ ...spoken.value, by: `${number}${MARK}${spoken.value.by}` }) : spoken
  }

  #usable(): readonly Speech[] {
    return this.#speakers.filter((speaker) => speaker.readiness().available)
  }
}

function canSpeak(speaker: Speech, { voice, speed }: SpeechRequest): boolean {
  const { min, max } = speaker.speeds()
  const hasVoice = voice === null || speaker.voices().includes(voice)
  return speaker.readiness().available && hasVoice && speed >= min && speed <= max
}
