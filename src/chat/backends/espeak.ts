import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { Admission } from '../../../marketplace/chat/models/admission.ts'
import { notNow, type Readiness } from '../../../marketplace/ports/readiness.ts'
import type { Speech, SpeechRequest, SpeedRange, SpokenText } from '../../../marketplace/ports/speech.ts'
import type { Checkable, ProviderCheck, ProviderFacts } from '../../adapters/providers/provider.ts'
import { type ProgramEnd, runProgram } from './espeak-process.ts'

/** What the speaker is given. */
export interface EspeakParts {
  /** A name on the PATH, or a path. */
  readonly program: string
  readonly clock: Clock
  readonly timers: Timers
}

const NAME = 'espeak-ng'
const WHAT = 'speech'
/** Many clients of the OpenAI API ask for this voice. The other voices are languages. */
const VOICE_USUAL = 'alloy'
const LANGUAGE_USUAL = 'en'
const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]{1,12}){0,3}$/
/** Normal speed. The program accepts 80 to 450. */
const WORDS_PER_MINUTE = 175
const SPEEDS: SpeedRange = { min: 0.5, max: 2.5 }
/** Far above what is needed: the program makes a minute of sound in a fraction of a second. */
const SPEAK_MS = 30_000
/** On a busy machine the program starts slowly, and is none the worse. */
const CHECK_MS = 15_000
const WELL_MS = 300_000
const ILL_MS = 30_000
const SOUND_BYTES_MAX = 16 * 1_048_576
const LIST_BYTES_MAX = 262_144
/** The program reads control characters as commands, except line ends. */
const COMMANDS = /(?!\n)\p{Cc}/gu
/** Two brackets start phoneme input. */
const SOUNDS = /\[(?=\[)/g

const LIMITS = { rpm: null, tpm: null, concurrency: 1, priority: 0, timeoutMs: SPEAK_MS }

/** Speech by espeak-ng, a separate program that operators install. One text at a time. */
export class Espeak implements Speech, Checkable {
  readonly #parts: EspeakParts
  readonly #admission: Admission
  readonly #closing = new AbortController()
  #languages: readonly string[] = []
  #trouble: string | null = null
  #known = false
  #cancel: (() => void) | null = null

  constructor(parts: EspeakParts) {
    this.#parts = parts
    this.#admission = new Admission(LIMITS, parts.clock, parts.timers)
  }

  readonly readiness = (): Readiness => {
    if (this.#known && this.#trouble === null) return { available: true, engine: NAME }
    // What is wrong with the program is for the operator only.
    return notNow(`${NAME} cannot be run now`)
  }

  readonly voices = (): readonly string[] => [VOICE_USUAL, ...this.#languages]

  readonly speeds = (): SpeedRange => SPEEDS

  async speak({ text, voice, speed }: SpeechRequest, signal: AbortSignal): Promise<Result<SpokenText>> {
    const until = AbortSignal.any([signal, this.#closing.signal])
    const leave = await this.#admission.enter(0, until)
    if (leave === 'full') return fail(fault('model/busy', { reason: `${NAME} has as many waiting as it takes` }))
    if (leave === 'aborted') return fail(fault('model/timeout', { backend: NAME }))
    try {
      return this.#spoken(await this.#run(argsFor(voice, speed), spokenForm(text), until))
    } finally {
      leave(null)
    }
  }

  get facts(): readonly ProviderFacts[] {
    const usable = this.readiness().available
    return [{ what: WHAT, name: NAME, usable, trouble: this.#trouble }]
  }

  async checkAll(): Promise<readonly ProviderCheck[]> {
    const beganMs = this.#parts.clock.now()
    const trouble = await this.#check()
    const ms = this.#parts.clock.now() - beganMs
    return [{ what: WHAT, name: NAME, ok: trouble === null, detail: trouble ?? 'answers', ms }]
  }

  /** Checks now and regularly. Resolves after the first check. */
  async start(): Promise<void> {
    await this.#check()
    if (this.#closing.signal.aborted) return
    this.#cancel = this.#parts.timers.after(this.#trouble === null ? WELL_MS : ILL_MS, () => void this.start())
  }

  /** Also aborts the current text and all that wait. */
  stop(): void {
    this.#closing.abort()
    this.#cancel?.()
  }

  /** What is wrong with the program, or null. */
  async #check(): Promise<string | null> {
    const { program } = this.#parts
    const run = { program, args: ['--voices'], input: '', bytesMax: LIST_BYTES_MAX, timeoutMs: CHECK_MS }
    const end = await runProgram({ ...run, signal: this.#closing.signal })
    const languages = end.is === 'said' ? languagesIn(Buffer.from(end.bytes).toString('utf8')) : []
    this.#trouble = languages.length > 0 ? null : troubleIn(end)
    this.#known = true
    if (languages.length > 0) this.#languages = languages
    return this.#trouble
  }

  #run(args: readonly string[], input: string, signal: AbortSignal): Promise<ProgramEnd> {
    const { program } = this.#parts
    return runProgram({ program, args, input, bytesMax: SOUND_BYTES_MAX, timeoutMs: SPEAK_MS, signal })
  }

  #spoken(end: ProgramEnd): Result<SpokenText> {
    if (end.is === 'said') return ok({ bytes: end.bytes, by: NAME, model: NAME })
    if (end.is === 'late') return fail(fault('model/timeout', { backend: NAME }))
    return fail(fault('model/answer', { backend: NAME, reason: end.reason }))
  }
}

function argsFor(voice: string | null, speed: number): readonly string[] {
  const language = voice === null || voice === VOICE_USUAL ? LANGUAGE_USUAL : voice
  const pace = String(Math.round(WORDS_PER_MINUTE * speed))
  return ['--stdin', '--stdout', '-b', '1', '-v', language, '-s', pace]
}

/** Removes what the program would read as commands. */
function spokenForm(text: string): string {
  return text.toWellFormed().replaceAll(COMMANDS, ' ').replaceAll(SOUNDS, '[ ')
}

/** The columns of the table are priority, language, and more. */
function languagesIn(table: string): readonly string[] {
  const named = table.split('\n').map((line) => /^\s*\d+\s+(\S+)/.exec(line)?.[1] ?? '')
  return [...new Set(named.filter((name) => LANGUAGE.test(name)))]
}

function troubleIn(end: ProgramEnd): string {
  if (end.is === 'failed') return end.reason
  return end.is === 'late' ? 'it does not end' : 'it has no voices'
}
