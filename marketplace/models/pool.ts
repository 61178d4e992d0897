import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { type Fault, fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { ModelAnswer, ModelPicture, ModelRequest, ModelRole, Models } from '../outside/models.ts'
import { notConfigured, notNow, type Readiness, troubleOf } from '../outside/readiness.ts'
import { attempts, type Work } from './attempts.ts'
import type {
  BackendEntry,
  ChatAnswer,
  ChatMessage,
  ChatRequest,
  DeltaSink,
  ModelBackend,
  ModelFacts,
  ModelSupport,
} from './backend.ts'
import { HeldSink } from './held-sink.ts'
import { type BackendTotals, Member } from './member.ts'
import { estimatedPrompt, usageOf } from './usage.ts'

/** What a pool is made of. */
export interface ModelPoolParts {
  /** Those of the same priority in the order in which they are asked. */
  readonly entries: readonly BackendEntry[]
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to 1, for pauses that no two callers share. */
  readonly random: () => number
}

/** A conversation for whatever model of the pool fits. */
export interface PoolRequest extends Omit<ModelRequest, 'messages'> {
  readonly messages: readonly ChatMessage[]
  /** What the model must be able to do. */
  readonly needs?: readonly ModelSupport[]
  /** The one model that is wanted, by the ids of its backend and its own; else any with the role. */
  readonly only?: { readonly backend: string; readonly model: string }
  readonly extra?: Readonly<Record<string, unknown>>
}

/** An answer with everything that came. */
export type PoolAnswer = ModelAnswer & Pick<ChatAnswer, 'message' | 'skipped'>

/** How a backend stands, for operators. */
export interface BackendFacts {
  readonly what: string
  readonly name: string
  readonly usable: boolean
  readonly trouble: string | null
  readonly models: readonly ModelFacts[]
  readonly inside: number
  readonly waiting: number
  readonly totals: BackendTotals
}

/** What came of the check of a backend. */
export interface BackendCheck {
  readonly what: string
  readonly name: string
  readonly ok: boolean
  readonly detail: string
  readonly ms: number
}

const WHAT = 'models'
const CHECK_MS = 5_000
const WELL_MS = 300_000
const ILL_MS = 30_000
/** Room for an answer that a model must have at least. */
const ANSWER_TOKENS_MIN = 128
/** What a picture counts against an allowance of tokens. */
const PICTURE_TOKENS = 1_000

/** A model that can do a piece of work. */
interface Candidate {
  readonly member: Member
  readonly model: ModelFacts
}

/** Several backends as one: asked in order of priority, within their limits, and the next one where one fails. */
export class ModelPool implements Models {
  readonly #parts: ModelPoolParts
  readonly #members: readonly Member[]
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(parts: ModelPoolParts) {
    this.#parts = parts
    const ordered = parts.entries.toSorted((one, other) => one.limits.priority - other.limits.priority)
    this.#members = ordered.map((entry) => new Member(entry, parts.clock, parts.timers))
  }

  readonly readiness = (role: ModelRole): Readiness => {
    const able = this.#candidates(({ roles }) => roles.includes(role))
    if (able.length === 0) return notConfigured(`a model with the role ${role}`, 'models.file', 'models.gguf')
    const usable = able.find(({ member }) => member.isUsable)
    if (usable !== undefined) return { available: true, engine: `${usable.member.entry.backend.id}/${usable.model.id}` }
    return notNow(`no model with the role ${role} can be asked now (${troubles(able)})`)
  }

  readonly complete = (request: ModelRequest | PoolRequest, signal: AbortSignal): Promise<Result<PoolAnswer>> =>
    this.#chat(
      asPoolRequest(request),
      (backend, chat, until) => backend.complete(chat, until),
      signal,
      () => true,
    )

  /** Asks for an answer in pieces. Another backend is asked only while nothing was handed to the sink. */
  async stream(request: PoolRequest, sink: DeltaSink, signal: AbortSignal): Promise<Result<PoolAnswer>> {
    const held = new HeldSink(sink)
    const ask = (backend: ModelBackend, chat: ChatRequest, until: AbortSignal): Promise<Result<ChatAnswer>> => {
      held.reset()
      return backend.stream(chat, held.take, until)
    }
    const answer = await this.#chat(request, ask, signal, () => !held.began)
    if (answer.ok) await held.flush()
    return answer
  }

  readonly picture = async (prompt: string, signal: AbortSignal): Promise<Result<ModelPicture>> => {
    const able = this.#candidates(({ roles }) => roles.includes('image'))
    return this.#serve(
      able,
      'image',
      {
        tokens: PICTURE_TOKENS,
        mayTryAgain: () => true,
        ask: async ({ member, model }, until) => {
          const { backend } = member.entry
          const picture = await backend.picture(model, prompt, until)
          return picture.ok ? ok({ value: { ...picture.value, backend: backend.id }, usage: null }) : picture
        },
      },
      signal,
    )
  }

  get facts(): readonly BackendFacts[] {
    return this.#members.map(({ entry, isUsable, trouble, admission, totals }) => ({
      what: WHAT,
      name: entry.backend.id,
      usable: isUsable,
      trouble,
      models: entry.models,
      inside: admission.inside,
      waiting: admission.waiting,
      totals,
    }))
  }

  async checkAll(): Promise<readonly BackendCheck[]> {
    return Promise.all(this.#members.map((member) => this.#check(member)))
  }

  /** Checks all of them now and from then on; resolves after the first round. */
  async start(): Promise<void> {
    if (this.#members.length === 0) return
    await this.checkAll()
    this.#schedule()
  }

  /** Checks no more. */
  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #candidates(fits: (model: ModelFacts) => boolean): readonly Candidate[] {
    return this.#members.flatMap((member) => member.entry.models.filter(fits).map((model) => ({ member, model })))
  }

  async #chat(
    request: PoolRequest,
    ask: (backend: ModelBackend, chat: ChatRequest, until: AbortSignal) => Promise<Result<ChatAnswer>>,
    signal: AbortSignal,
    mayTryAgain: () => boolean,
  ): Promise<Result<PoolAnswer>> {
    const { role, needs = [], only, messages, maxTokens, ...rest } = request
    const prompt = estimatedPrompt(messages)
    const able = this.#candidates(({ roles, supports, context }) => {
      const hasRoom = prompt + Math.min(maxTokens, ANSWER_TOKENS_MIN) <= context
      return roles.includes(role) && hasRoom && needs.every((need) => supports.has(need))
    }).filter(({ member, model }) => only === undefined || isThat(only, member, model))
    const { temperature, jsonSchema, extra } = rest
    const options = {
      ...(temperature !== undefined && { temperature }),
      ...(jsonSchema && { jsonSchema }),
      ...(extra && { extra }),
    }
    const work: Work<Candidate, PoolAnswer> = {
      tokens: prompt + maxTokens,
      mayTryAgain,
      ask: async ({ member, model }, until) => {
        const { backend } = member.entry
        const room = Math.min(maxTokens, model.context - prompt)
        const answer = await ask(backend, { model, messages, maxTokens: room, ...options }, until)
        if (!answer.ok) return answer
        const { usage: counts, ...told } = answer.value
        const usage = usageOf(counts, messages, told.text)
        return ok({ value: { ...told, backend: backend.id, usage }, usage })
      },
    }
    return this.#serve(able, role, work, signal)
  }

  /** Has a piece of work done by the first candidate that can. */
  async #serve<T>(
    able: readonly Candidate[],
    role: ModelRole,
    work: Work<Candidate, T>,
    signal: AbortSignal,
  ): Promise<Result<T>> {
    if (able.length === 0) return fail(fault('model/none', { reason: `none with the role ${role} fits the request` }))
    let last: Fault | null = null
    let left = able
    while (left.length > 0) {
      const turn = await attempts(left, work, this.#parts, signal)
      if (turn === null) break
      if (turn.result.ok) return turn.result
      last = turn.result.fault
      if (turn.candidate === null || signal.aborted || !work.mayTryAgain()) break
      left = left.filter((one) => one !== turn.candidate)
    }
    return fail(last ?? fault('model/none', { reason: `all with the role ${role} are left alone (${troubles(able)})` }))
  }

  async #check(member: Member): Promise<BackendCheck> {
    const { backend } = member.entry
    const beganMs = this.#parts.clock.now()
    const limit = new AbortController()
    const cancel = this.#parts.timers.after(CHECK_MS, () => limit.abort())
    const checked = await backend.check(limit.signal)
    cancel()
    const ms = this.#parts.clock.now() - beganMs
    // What a check says of a backend that calls failed with is not believed more than the calls.
    if (checked.ok) {
      member.known = true
      if (!member.isResting) member.trouble = null
      return { what: WHAT, name: backend.id, ok: true, detail: 'answers', ms }
    }
    if (!member.known || member.trouble === null) member.noteHealth(checked.fault)
    return { what: WHAT, name: backend.id, ok: false, detail: faultMessage(checked.fault), ms }
  }

  #schedule(): void {
    if (this.#stopped) return
    const isWell = this.#members.every((member) => member.isUsable)
    this.#cancel = this.#parts.timers.after(isWell ? WELL_MS : ILL_MS, () => {
      void this.checkAll().then(() => this.#schedule())
    })
  }
}

function asPoolRequest(request: ModelRequest | PoolRequest): PoolRequest {
  return { ...request, messages: request.messages.map((message) => ({ ...message })) }
}

function isThat(only: NonNullable<PoolRequest['only']>, { entry }: Member, { id }: ModelFacts): boolean {
  return only.backend === entry.backend.id && only.model === id
}

function troubles(able: readonly Candidate[]): string {
  const members = new Set(able.map(({ member }) => member))
  return [...members].map(({ entry, trouble }) => troubleOf(entry.backend.id, trouble)).join('; ')
}
