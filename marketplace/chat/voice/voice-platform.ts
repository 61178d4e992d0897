import type { Clock, Pacer } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { type Engines, enginesFor } from '../../ports/engines.ts'
import type { ModelUsage } from '../../ports/models.ts'
import type { Readiness } from '../../ports/readiness.ts'
import { type Share, SharedRoom } from '../../ports/shared-room.ts'
import type { Speech } from '../../ports/speech.ts'
import type { ChatCall, PlatformReport, StageReport } from '../call.ts'
import { addUsage, NO_USAGE, spokenUsage } from '../models/usage.ts'
import type { ChatPlatform } from '../platform.ts'
import { asChatFault } from '../upstream-fault.ts'
import { bytesIn, type SpeakingState, soundMs, speakText } from './speaking.ts'
import { WAV_HEADER_BYTES } from './wav.ts'

/** What the platform speaks with. */
export interface VoiceMeans {
  readonly platform: Pick<ChatPlatform, 'readiness' | 'restSeconds' | 'answer' | 'latencies'>
  readonly speech: Speech
  readonly engines: Engines
  readonly clock: Clock
  /** One for each text. */
  readonly pacer: () => Pacer
  /** Time for all of a call, the answer and its speech. */
  readonly budgetMs: number
  /** Texts that are spoken, or on their way to whoever asked, at once; half of them for one who asks. */
  readonly atOnceMax: number
}

/** How a text is to be spoken. */
export interface SpeechWish {
  /** Null is the usual one. */
  readonly voice: string | null
  /** 1 is as usual. */
  readonly speed: number
  /** Who asks, who takes turns with others. */
  readonly who?: string
}

/** A text as a WAV file: 24 kHz, 16 bit, mono. */
export interface SpokenAudio {
  /** Pieces of the file in their order; the first is its header. */
  readonly file: readonly Uint8Array[]
  readonly bytes: number
  readonly durationMs: number
  /** What was spoken, in characters, and whether there was more. */
  readonly spokenChars: number
  readonly isCut: boolean
  readonly stages: readonly StageReport[]
}

/** An answer with its sound. */
export interface AloudOutcome {
  readonly text: string
  readonly audio: SpokenAudio
  /** Of the answer; the tokens that were read out count against a key beside it. */
  readonly usage: ModelUsage
  readonly report: PlatformReport
}

type Answered = Extract<Awaited<ReturnType<ChatPlatform['answer']>>, { ok: true }>['value']

/** For whom a text is spoken. */
interface Speaking {
  /** Who asks; empty where that is not said. */
  readonly who: string
  /** Aborted where its caller went away. */
  readonly gone: AbortSignal
  /** The same, and the end of the time there is. */
  readonly until: AbortSignal
  readonly spent: (usage: ModelUsage) => void
}

const MODEL = 'model-voice'
/** So long one of several sounds of a caller is sent before it yields to others. */
const SENDING_MS = 5_000

/** model-voice: texts read out, and answers of model-2 read out. */
export class VoicePlatform {
  readonly #means: VoiceMeans
  readonly #room: SharedRoom

  constructor(means: VoiceMeans, now?: () => number) {
    this.#means = means
    const { atOnceMax } = means
    const bounds = { max: atOnceMax, ownMax: Math.ceil(atOnceMax / 2), patienceMs: SENDING_MS }
    this.#room = new SharedRoom(bounds, now)
  }

  /**
   * Room for one text of a caller, whose sound takes it until it was sent; null where too many are under way, or too many of that
   * caller. A sound whose reader is behind a listener yields to others, and of several sounds of one caller the oldest, if it may.
   */
  enter(who: string): Share | null {
    return this.#room.enter(who, 1)
  }

  /**
   * Reads a text out. `spent` hears what was used, also where it fails. Faults: `chat/no-backend`, `chat/invalid-request` (voice,
   * speed, or nothing to say), `chat/busy`, `chat/upstream`, `chat/timeout`, `chat/aborted`.
   */
  async speak(
    text: string,
    wish: SpeechWish,
    signal: AbortSignal,
    spent: (usage: ModelUsage) => void = () => {},
  ): Promise<Result<SpokenAudio>> {
    const trouble = this.#troubleWith(wish, this.#means.speech.readiness())
    if (trouble !== null) return fail(trouble)
    const speaking = { who: wish.who ?? '', gone: signal, until: this.#until(signal), spent }
    const spoken = await this.#speak(text, wish, speaking)
    return spoken.ok ? spoken : fail(signal.aborted ? fault('chat/aborted') : asChatFault(spoken.fault, MODEL))
  }

  /** Answers as model-2 does, and reads the answer out. `spent` hears what was used, also where it fails. Faults as both have them. */
  async answerAloud(
    call: Omit<ChatCall, 'model'>,
    wish: SpeechWish,
    signal: AbortSignal,
    spent: (usage: ModelUsage) => void = () => {},
  ): Promise<Result<AloudOutcome>> {
    const { platform, clock } = this.#means
    const beganMs = clock.now()
    const text = platform.readiness('model-2')
    const trouble = this.#troubleWith(wish, text.available ? this.#means.speech.readiness() : text)
    if (trouble !== null) return fail(trouble)
    const until = this.#until(signal)
    let used = NO_USAGE
    const noted = (usage: ModelUsage): void => {
      used = usage
      spent(usage)
    }
    const answered = await platform.answer({ ...call, model: 'model-2' }, null, until, noted)
    const spentBeside = (usage: ModelUsage): void => spent(addUsage(used, usage))
    const speaking = { who: call.who ?? '', gone: signal, until, spent: spentBeside }
    const outcome = answered.ok ? await this.#aloud(answered.value, wish, speaking) : answered
    if (outcome.ok) {
      platform.latencies.note(MODEL, clock.now() - beganMs, clock.now())
      return outcome
    }
    return fail(signal.aborted ? fault('chat/aborted') : asAloudFault(outcome.fault))
  }

  async #aloud(answered: Answered, wish: SpeechWish, speaking: Speaking): Promise<Result<AloudOutcome>> {
    const { usage, report } = answered
    const text = textIn(answered)
    const audio = await this.#speak(text, wish, speaking)
    if (!audio.ok) return audio
    const { stages, spokenChars, isCut } = audio.value
    const speech = { characters: spokenChars, truncated: isCut }
    const told = { ...report, model: MODEL, pipeline: 'voice', stages: [...report.stages, ...stages], speech } as const
    return ok({ text, audio: audio.value, usage, report: told })
  }

  async #speak(
    text: string,
    { voice, speed }: SpeechWish,
    { who, gone, until, spent }: Speaking,
  ): Promise<Result<SpokenAudio>> {
    const { speech, engines, clock, pacer } = this.#means
    let parts = ''
    const heard = (part: string): void => {
      parts += part
    }
    const means = {
      ...{ speech, engines: enginesFor(engines, who), clock, pacer: pacer() },
      ...{ voice, speed, signal: until, spoken: heard },
    }
    const spoken = await speakText(text, means)
    // A model has spoken for a caller who went away, and a text that fails at its end was spoken until then.
    const counted = spoken.ok || gone.aborted ? text : parts
    if (counted !== '') spent(spokenUsage(counted))
    return spoken.ok ? ok({ ...audioOf(spoken.value.state), stages: spoken.value.stages }) : spoken
  }

  /** Why it cannot be spoken at all; null where it can. */
  #troubleWith({ voice, speed }: SpeechWish, readiness: Readiness): Fault | null {
    if (!readiness.available) {
      const { reason, requires } = readiness
      const seconds = requires.length > 0 ? {} : { seconds: this.#means.platform.restSeconds }
      return fault('chat/no-backend', { model: MODEL, reason, requires, ...seconds })
    }
    const { speech } = this.#means
    const voices = speech.voices()
    if (voice !== null && !voices.includes(voice))
      return fault('chat/invalid-request', { param: 'voice', reason: `it must be one of ${voices.join(', ')}` })
    const { min, max } = speech.speeds()
    if (speed < min || speed > max)
      return fault('chat/invalid-request', { param: 'speed', reason: `it must be from ${min} to ${max} here` })
    return null
  }

  /** The signal of whoever asks, and the end of the time there is. */
  #until(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#means.budgetMs)])
  }
}

function textIn({ choices }: Answered): string {
  return String(choices[0]?.message.content ?? '')
}

function audioOf({ file, chunks, isCut }: SpeakingState): Omit<SpokenAudio, 'stages'> {
  const bytes = bytesIn(file)
  return {
    file,
    bytes,
    durationMs: soundMs(bytes - WAV_HEADER_BYTES),
    spokenChars: chunks.reduce((sum, { length }) => sum + length, 0),
    isCut,
  }
}

/** Whoever asked did not write what cannot be spoken, and asked for one model. */
function asAloudFault(cause: Fault): Fault {
  const { code, detail } = asChatFault(cause, MODEL)
  if (code === 'chat/aborted') return fault('chat/timeout', { model: MODEL })
  if (code === 'chat/invalid-request' && detail.param === 'input')
    return fault('chat/upstream', { model: MODEL, reason: `its answer cannot be read out: ${detail.reason}` })
  return fault(code, 'model' in detail ? { ...detail, model: MODEL } : detail)
}
