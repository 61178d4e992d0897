import type { Fault } from '../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { ModelRole, ModelUsage } from '../ports/models.ts'
import { Listener } from './listener.ts'
import type { ChatMessage, DeltaSink, ModelFacts, ModelSupport } from './models/backend.ts'
import type { ModelPool, PoolAnswer, PoolRequest } from './models/pool.ts'
import { estimatedTokens } from './models/tokens.ts'
import { addUsage, NO_USAGE } from './models/usage.ts'

/** The part of the model pool that the platform uses. */
export type ChatModels = Pick<ModelPool, 'readiness' | 'restMs' | 'complete' | 'stream' | 'facts'>

/** The most general first. */
export const TEXT_ROLES: readonly ModelRole[] = ['general', 'reason', 'code', 'fast', 'judge']

/** Models with these roles may be asked about images, if they support them. */
export const PICTURE_ROLES: readonly ModelRole[] = [...TEXT_ROLES, 'vision']

/** The role `vision` counts only for questions about images. */
export function canAnswer(
  { roles, supports }: Pick<ModelFacts, 'roles' | 'supports'>,
  needs: readonly ModelSupport[] = [],
): boolean {
  const wanted = needs.includes('vision') ? PICTURE_ROLES : TEXT_ROLES
  return roles.some((role) => wanted.includes(role)) && needs.every((need) => supports.has(need))
}

/** A question for a model. */
export interface DeskQuestion extends Omit<PoolRequest, 'role' | 'orRoles' | 'who' | 'isFree' | 'wasted'> {
  /** Best first. With images `vision` comes before them. Any other model that answers in text comes last. */
  readonly roles: readonly ModelRole[]
  readonly sink?: DeltaSink | null
}

/** An answer that broke off after this many UTF-16 units, and was continued by another question. */
export interface Resumption {
  readonly afterChars: number
}

/** Options for the questions of one call. */
export interface DeskManner {
  /** Whether a streamed answer that breaks off is continued by another question, once. */
  readonly resumes?: boolean
  /** The caller, for fairness in the pool. */
  readonly who?: string
  readonly isPaid?: boolean
}

/** Longest partial answer to continue, in UTF-16 units. */
const RESUMED_CHARS_MAX = 100_000
const BREAKS: ReadonlySet<string> = new Set(['model/cut', 'model/answer', 'model/unreachable', 'model/timeout'])
const GO_ON =
  'Your answer broke off there. Continue it with the very next character: repeat nothing, and say nothing about the break.'

/** Asks models for one call, and counts the tokens. */
export class ModelDesk {
  readonly #models: ChatModels
  readonly #signal: AbortSignal
  readonly #resumes: boolean
  readonly #who: string | undefined
  readonly #isFree: boolean
  #usage: ModelUsage = NO_USAGE
  #isAnswered = false
  #answered: string[] = []
  #resumed: Resumption | null = null

  constructor(models: ChatModels, signal: AbortSignal, { resumes = false, who, isPaid = false }: DeskManner = {}) {
    this.#models = models
    this.#signal = signal
    this.#resumes = resumes
    this.#who = who
    this.#isFree = !isPaid
  }

  /** Includes questions that were given up. */
  get usage(): ModelUsage {
    return this.#usage
  }

  /** Whether a question used tokens: it got an answer or a part of one, or it was given up while a model had it. */
  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /** Null if no answer was continued. */
  get resumed(): Resumption | null {
    return this.#resumed
  }

  /** Since the last call of this method, each once. */
  answered(): readonly string[] {
    return [...new Set(this.#answered.splice(0))]
  }

  /** Faults: `model/*`. */
  async ask({ roles, sink, ...question }: DeskQuestion, signal = this.#signal): Promise<Result<PoolAnswer>> {
    const seeing: readonly ModelRole[] = question.needs?.includes('vision') ? ['vision'] : []
    const [role, ...orRoles] = [...seeing, ...roles, ...TEXT_ROLES] as [ModelRole, ...ModelRole[]]
    const who = this.#who === undefined ? {} : { who: this.#who }
    const request: PoolRequest = { ...question, role, orRoles, ...who, isFree: this.#isFree, wasted: this.#used }
    if (!sink) return this.#noted(await this.#models.complete(request, signal))
    const heard = new Listener(sink)
    const answer = await this.#models.stream(request, heard.take, signal)
    if (answer.ok) return this.#noted(answer)
    return this.#canGoOn(request, heard, answer.fault) && !signal.aborted
      ? this.#goOn(request, heard, { sink, signal, broken: answer.fault })
      : answer
  }

  #noted(answer: Result<PoolAnswer>): Result<PoolAnswer> {
    if (!answer.ok) return answer
    this.#used(answer.value.usage)
    this.#answered.push(answer.value.model)
    return answer
  }

  note(usage: ModelUsage): void {
    this.#usage = addUsage(this.#usage, usage)
  }

  readonly #used = (usage: ModelUsage): void => {
    this.#isAnswered = true
    this.note(usage)
  }

  /** Continues only once, and only plain text: half a tool call or half a JSON object cannot be continued. */
  #canGoOn({ jsonSchema, json }: PoolRequest, { text, isPlain }: Listener, { code }: Fault): boolean {
    const isForm = jsonSchema !== undefined || json === true
    const isShort = text.trim() !== '' && text.length <= RESUMED_CHARS_MAX
    return this.#resumes && this.#resumed === null && BREAKS.has(code) && isPlain && isShort && !isForm
  }

  async #goOn(
    request: PoolRequest,
    { text }: Listener,
    { sink, signal, broken }: { readonly sink: DeltaSink; readonly signal: AbortSignal; readonly broken: Fault },
  ): Promise<Result<PoolAnswer>> {
    this.#resumed = { afterChars: text.length }
    const partly: readonly ChatMessage[] = [
      { role: 'assistant', content: text },
      { role: 'user', content: GO_ON },
    ]
    const rest: PoolRequest = {
      ...request,
      messages: [...request.messages, ...partly],
      maxTokens: Math.max(1, request.maxTokens - estimatedTokens(text)),
      ...(typeof broken.detail.backend === 'string' && { avoid: broken.detail.backend }),
    }
    const heard = new Listener(({ role: _, ...delta }, logprobs) => sink(delta, logprobs))
    const answer = this.#noted(await this.#models.stream(rest, heard.take, signal))
    if (!answer.ok) return answer
    const { logprobs: _, ...told } = answer.value
    const whole = text + told.text
    return ok({ ...told, text: whole, message: { ...told.message, content: whole } })
  }
}
