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

/** What the voice platform is given. */
export interface VoiceMeans {
  readonly platform: Pick<ChatPlatform, 'readiness' | 'restSeconds' | 'answer' | 'latencies'>
  readonly speech: Speech
  readonly engines: Engines
  readonly clock: Clock
  readonly pacer: () => Pacer
  /** For the answer and its speech. */
  readonly budgetMs: number
  /** Most texts that are spoken or sent at once. One caller may have half of them. */
  readonly atOnceMax: number
}

/** Options of speaking a text. */
export interface SpeechWish {
  /** Null means the default voice. */
  readonly voice: string | null
  /** 1 is normal speed. */
  readonly speed: number
  /** The caller, for fairness between callers. */
  readonly who?: string
}

/** A spoken text as a WAV file: 24 kHz, 16 bit, mono. */
export interface SpokenAudio {
  /** In order, header first. */
  readonly file: readonly Uint8Array[]
  readonly bytes: number
  readonly durationMs: number
  /** Characters that were spoken, and whether the text was longer. */
  readonly spokenChars: number
  readonly isCut: boolean
  readonly stages: readonly StageReport[]
}

/** An answer with its sound. */
export interface AloudOutcome {
  readonly text: string
  readonly audio: SpokenAudio
  /** Without the speech. */
  readonly usage: ModelUsage
  readonly report: PlatformReport
}

type Answered = Extract<Awaited<ReturnType<ChatPlatform['answer']>>, { ok: true }>['value']

interface Speaking {
  /** Empty if unknown. */
  readonly who: string
  /** Aborted when the caller leaves. */
  readonly gone: AbortSignal
  /** Aborted when the caller leaves, or when the time is over. */
  readonly until: AbortSignal
  readonly spent: (usage: ModelUsage) => void
}

const MODEL = 'model-voice'
/** A caller with several sounds may send each for so long before one must yield to another caller. */
const SENDING_MS = 5_000

/** model-voice: speaks texts, and answers of model-2. */
export class VoicePlatform {
  readonly #means: VoiceMeans
  readonly #room: SharedRoom

  constructor(means: VoiceMeans, now?: () => number) {
    this.#means = means
    const { atOnceMax } = means
    const bounds = { max: atOnceMax, ownMax: Math.ceil(atOnceMax / 2), patienceMs: SENDING_MS }
    this.#room = new SharedRoom(bounds, now)
  }

  /** A slot for one text, to be held until its sound was sent. Null if too many are in progress, in total or for this caller. */
  enter(who: string): Share | null {
    return this.#room.enter(who, 1)
  }

  /**
   * `spent` receives the usage, also on failure. Faults: `chat/no-backend`, `chat/invalid-request` (voice, speed, or
   * nothing to say), `chat/busy`, `chat/upstream`, `chat/timeout`, `chat/aborted`.
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

  /** Answers as model-2. `spent` receives the usage, also on failure. Faults: `chat/*`. */
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
    // If the caller left, the whole text counts. If the text failed, the parts that were spoken count.
    const counted = spoken.ok || gone.aborted ? text : parts
    if (counted !== '') spent(spokenUsage(counted))
    return spoken.ok ? ok({ ...audioOf(spoken.value.state), stages: spoken.value.stages }) : spoken
  }

  /** Null if a text can be spoken with these options. */
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

/** The caller asked for model-voice, so the fault names it and not model-2. An answer that cannot be spoken is not the caller's fault. */
function asAloudFault(cause: Fault): Fault {
  const { code, detail } = asChatFault(cause, MODEL)
  if (code === 'chat/aborted') return fault('chat/timeout', { model: MODEL })
  if (code === 'chat/invalid-request' && detail.param === 'input')
    return fault('chat/upstream', { model: MODEL, reason: `its answer cannot be read out: ${detail.reason}` })
  return fault(code, 'model' in detail ? { ...detail, model: MODEL } : detail)
}
