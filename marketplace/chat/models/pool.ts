import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ModelAnswer, ModelPicture, ModelRequest, ModelRole, Models, ModelUsage } from '../../ports/models.ts'
import { notConfigured, notNow, type Readiness } from '../../ports/readiness.ts'
import { checkedIll, withoutWords } from '../../ports/trouble.ts'
import { AnswerTally } from './answer-tally.ts'
import { attempts, isBackends, type Work } from './attempts.ts'
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
import { listedDetail } from './listed.ts'
import { type BackendTotals, Member, type ModelLatency } from './member.ts'
import { heardBy, type Silence } from './silence.ts'
import { type PoolSpeech, type PoolSpeechRequest, speaksWith, speechWork } from './spoken.ts'
import { type Candidate, isThat, outWith, parted, type Tier, troublesOf } from './tiers.ts'
import { estimatedPrompt, usageOf } from './usage.ts'

/** What a pool is given. */
export interface ModelPoolParts {
  /** Backends of the same priority are asked in this order. */
  readonly entries: readonly BackendEntry[]
  readonly clock: Clock
  readonly timers: Timers
  /** From 0 to 1, so that retries of different callers do not coincide. */
  readonly random: () => number
}

/** A conversation for any model of the pool that fits. */
export interface PoolRequest extends Omit<ModelRequest, 'messages'> {
  readonly messages: readonly ChatMessage[]
  /** Alternative roles, in order, for when no model with `role` can answer. */
  readonly orRoles?: readonly ModelRole[]
  readonly needs?: readonly ModelSupport[]
  /** Models without these abilities are asked last. */
  readonly prefers?: readonly ModelSupport[]
  /** Name of a backend to ask last. */
  readonly avoid?: string
  /** Whether the answer must be a JSON object, of any shape. */
  readonly json?: boolean
  /** Absent: any model with the role. */
  readonly only?: { readonly backend: string; readonly model: string }
  readonly extra?: Readonly<Record<string, unknown>>
  /** The caller, for fairness between callers. Absent if unknown. */
  readonly who?: string
  /** No caller pays for it. */
  readonly isFree?: boolean
  /** Usage of each failed attempt that a model had begun, or that the caller left. */
  readonly wasted?: (usage: ModelUsage) => void
}

/** An answer with everything that the backend sent. */
export type PoolAnswer = ModelAnswer & Pick<ChatAnswer, 'message' | 'skipped' | 'logprobs' | 'heldBy'>

/** State of a backend, for operators. */
export interface BackendFacts {
  readonly what: string
  readonly name: string
  readonly usable: boolean
  readonly trouble: string | null
  readonly models: readonly ModelFacts[]
  readonly inside: number
  readonly waiting: number
  readonly totals: BackendTotals
  readonly latencies: readonly ModelLatency[]
}

/** Result of checking a backend. */
export interface BackendCheck {
  readonly what: string
  readonly name: string
  readonly ok: boolean
  /** It answers, but something is odd. */
  readonly doubtful?: true
  readonly detail: string
  readonly ms: number
}

const WHAT = 'models'
const CHECK_MS = 5_000
const WELL_MS = 300_000
const ILL_MS = 30_000
/** After this many refusals the question is considered at fault. Each refusal costs a prompt. */
const REFUSALS_MAX = 4
/** Least room for an answer that a model must have, in tokens. */
const ANSWER_TOKENS_MIN = 128
/** Counted against the rate limit for an image. */
const PICTURE_TOKENS = 1_000

/** Asks one model. `firstWord` must be called at the first word. */
type Ask = (
  backend: ModelBackend,
  request: ChatRequest,
  means: { readonly until: AbortSignal; readonly firstWord: () => void } & Pick<Silence, 'heard' | 'hold'>,
) => Promise<Result<ChatAnswer>>

/** Several backends as one, asked in order of priority within their limits. If one fails, the next is asked. */
export class ModelPool implements Models {
  readonly #parts: ModelPoolParts
  readonly #members: readonly Member[]
  #cancel: (() => void) | null = null
  #stopped = false
  #nextCheckMs = 0

  constructor(parts: ModelPoolParts) {
    this.#parts = parts
    const ordered = parts.entries.toSorted((one, other) => one.limits.priority - other.limits.priority)
    this.#members = ordered.map((entry) => new Member(entry, parts.clock, parts.timers))
  }

  readonly readiness = (role: ModelRole, isFree = false): Readiness => {
    const able = this.#candidates(({ roles }) => roles.includes(role))
    if (able.length === 0) return notConfigured(`a model with the role ${role}`, 'models.file', 'models.gguf')
    const usable = able.find(({ member }) => member.isUsable(isFree))
    if (usable !== undefined) return { available: true, engine: `${usable.member.entry.backend.id}/${usable.model.id}` }
    const reason = `no model with the role ${role} can be asked now (${troublesOf(able)})`
    const lacks = able.map(({ member }) => member.lacks)
    const isLacking = lacks.every((settings) => settings.length > 0)
    return isLacking ? { available: false, reason, requires: [...new Set(lacks.flat())] } : notNow(reason)
  }

  /** For free work. Null if no model has any of these roles. */
  restMs(roles: readonly ModelRole[]): number | null {
    const able = this.#candidates((model) => model.roles.some((role) => roles.includes(role)))
    return able.length === 0 ? null : this.#restMs(able, true)
  }

  readonly complete = (request: ModelRequest | PoolRequest, signal: AbortSignal): Promise<Result<PoolAnswer>> =>
    this.#chat(
      asPoolRequest(request),
      (backend, chat, { until, heard }) => backend.complete(chat, until, heard),
      signal,
      () => true,
    )

  /** Another backend is asked only while nothing has reached the sink. */
  async stream(request: PoolRequest, sink: DeltaSink, signal: AbortSignal): Promise<Result<PoolAnswer>> {
    let firstWord = (): void => undefined
    const held = new HeldSink(sink, () => firstWord())
    const ask: Ask = (backend, chat, means) => {
      held.reset()
      firstWord = means.firstWord
      return backend.stream(chat, heardBy(held.take, means), means.until)
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
        ask: async ({ member, model }, until, { heard }) => {
          const { backend } = member.entry
          const picture = await backend.picture(model, prompt, until, heard)
          return picture.ok ? ok({ value: { ...picture.value, backend: backend.id }, usage: null }) : picture
        },
      },
      signal,
    )
  }

  readonly speak = (request: PoolSpeechRequest, signal: AbortSignal): Promise<Result<PoolSpeech>> => {
    const { voice, only } = request
    const able = this.#candidates((model) => speaksWith(voice, model))
    const wanted = able.filter(({ member, model }) => only === null || isThat(only, member, model))
    return this.#serve(wanted, 'speech', speechWork(request), signal)
  }

  get facts(): readonly BackendFacts[] {
    return this.#members.map((member) => {
      const { entry, isWell, trouble, admission, totals } = member
      return {
        what: WHAT,
        name: entry.backend.id,
        usable: isWell,
        trouble: trouble === null ? null : faultMessage(trouble),
        models: entry.models,
        inside: admission.inside,
        waiting: admission.waiting,
        totals,
        // A getter: every chat reads the facts, but few readers need the latencies.
        get latencies() {
          return member.latencies
        },
      }
    })
  }

  async checkAll(): Promise<readonly BackendCheck[]> {
    return Promise.all(this.#members.map((member) => this.#check(member)))
  }

  /** Resolves after the first round of checks. */
  async start(): Promise<void> {
    if (this.#members.length === 0) return
    await this.checkAll()
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel?.()
  }

  #candidates(fits: (model: ModelFacts) => boolean): readonly Candidate[] {
    return this.#members.flatMap((member) => member.entry.models.filter(fits).map((model) => ({ member, model })))
  }

  async #chat(
    request: PoolRequest,
    ask: Ask,
    signal: AbortSignal,
    mayTryAgain: () => boolean,
  ): Promise<Result<PoolAnswer>> {
    const { role, messages, maxTokens, temperature, jsonSchema, json, extra, who, wasted, isFree = false } = request
    const prompt = estimatedPrompt(messages, extra, jsonSchema)
    const options = {
      messages,
      ...(temperature !== undefined && { temperature }),
      ...(jsonSchema && { jsonSchema }),
      ...(json && { json }),
      ...(extra && { extra }),
    }
    let isTooMuch = false
    const workAs = (asked: ModelRole): Work<Candidate, PoolAnswer> => ({
      tokens: prompt + maxTokens,
      ...(who !== undefined && { who }),
      isFree,
      // After an answer that was too long, another model would produce and charge as much.
      mayTryAgain: () => !isTooMuch && mayTryAgain(),
      ask: async ({ member, model }, until, silence) => {
        const { backend } = member.entry
        const { clock } = this.#parts
        const beganMs = clock.now()
        const firstWord = (): void => member.took('firstToken', model.id, asked, clock.now() - beganMs)
        const room = Math.min(maxTokens, model.context - prompt)
        const tally = new AnswerTally()
        const answer = await ask(
          backend,
          { model, maxTokens: room, tally, ...options },
          { until, firstWord, ...silence },
        )
        if (answer.ok && !tally.began) tally.take(answer.value.message)
        const counts = answer.ok ? answer.value.usage : tally.counts
        const longest = Math.min(room, tally.longest)
        isTooMuch = tally.isTooLong
        const said = isTooMuch ? Math.max(longest, tally.tokens) : tally.tokens
        const usage = usageOf(counts, { prompt, said, maxTokens: longest })
        if (!answer.ok) {
          // Even if the caller has left, the model has read the prompt.
          if (tally.began || signal.aborted) wasted?.(usage)
          return answer
        }
        member.took('whole', model.id, asked, clock.now() - beganMs)
        return ok({ value: { ...answer.value, backend: backend.id, usage }, usage })
      },
    })
    return this.#serveTiers(this.#tiers(request, prompt), { role, workAs, isFree }, signal)
  }

  /** By preferred abilities, then role, then priority. Models of `avoid` come last. */
  #tiers(request: PoolRequest, prompt: number): readonly Tier[] {
    const { role, orRoles = [], needs = [], prefers = [], only, avoid, maxTokens } = request
    const fits = (model: ModelFacts, as: ModelRole): boolean =>
      model.roles.includes(as) &&
      prompt + Math.min(maxTokens, ANSWER_TOKENS_MIN) <= model.context &&
      needs.every((need) => model.supports.has(need))
    const able = [...new Set([role, ...orRoles])].map((as): Tier => {
      const fitting = this.#candidates((model) => fits(model, as))
      return {
        role: as,
        able: fitting.filter(({ member, model }) => only === undefined || isThat(only, member, model)),
      }
    })
    const isPreferred = ({ model }: Candidate): boolean => prefers.every((one) => model.supports.has(one))
    const isAvoided = ({ member }: Candidate): boolean => member.entry.backend.id === avoid
    return parted(parted(able, isPreferred), (one) => !isAvoided(one))
  }

  #serve<T>(
    able: readonly Candidate[],
    role: ModelRole,
    work: Work<Candidate, T>,
    signal: AbortSignal,
  ): Promise<Result<T>> {
    const { isFree = false } = work
    return this.#serveTiers([{ role, able }], { role, workAs: () => work, isFree }, signal)
  }

  async #serveTiers<T>(
    tiers: readonly Tier[],
    {
      role,
      workAs,
      isFree,
    }: {
      readonly role: ModelRole
      readonly workAs: (role: ModelRole) => Work<Candidate, T>
      readonly isFree: boolean
    },
    signal: AbortSignal,
  ): Promise<Result<T>> {
    const all = tiers.flatMap(({ able }) => able)
    if (all.length === 0) return fail(fault('model/none', { reason: `none with the role ${role} fits the request` }))
    let last: Fault | null = null
    let refusals = 0
    let isOut = (_: Candidate): boolean => false
    for (const tier of tiers) {
      const work = workAs(tier.role)
      for (;;) {
        const left = tier.able.filter((one) => !isOut(one))
        const turn = left.length === 0 ? null : await attempts(left, work, this.#parts, signal)
        if (turn === null) break
        if (turn.result.ok) return turn.result
        last = turn.result.fault
        if (turn.candidate !== null && !isBackends(last)) refusals += 1
        if (signal.aborted || !work.mayTryAgain() || refusals >= REFUSALS_MAX) return fail(withoutWords(last))
        // If all have full queues, models of the next role may not.
        if (turn.candidate === null) break
        isOut = outWith(isOut, turn.candidate, last)
      }
    }
    const reason = `all with the role ${role} are left alone (${troublesOf(all)})`
    return fail(
      last === null ? fault('model/none', { reason, retryAfterMs: this.#restMs(all, isFree) }) : withoutWords(last),
    )
  }

  /** A backend of unknown state is asked after its next check. */
  #restMs(able: readonly Candidate[], isFree: boolean): number {
    const untilCheckMs = Math.max(0, this.#nextCheckMs - this.#parts.clock.now())
    return Math.min(...able.map(({ member }) => Math.max(member.restMs(isFree), member.known ? 0 : untilCheckMs)))
  }

  async #check(member: Member): Promise<BackendCheck> {
    const { backend } = member.entry
    const beganMs = this.#parts.clock.now()
    const limit = new AbortController()
    const cancel = this.#parts.timers.after(CHECK_MS, () => limit.abort())
    const checked = await backend.check(limit.signal)
    cancel()
    const ms = this.#parts.clock.now() - beganMs
    // A successful check does not outweigh failed calls.
    if (checked.ok) {
      member.known = true
      if (member.isWell) member.trouble = null
      return { what: WHAT, name: backend.id, ok: true, ...listedDetail(member.entry.models, checked.value), ms }
    }
    // A failed check counts like a failure of free work, which blocks paid work only if the upstream caused it.
    if (!member.known || member.trouble === null) member.noteHealth(checked.fault, true)
    return { what: WHAT, name: backend.id, ms, ...checkedIll(checked.fault) }
  }

  #schedule(): void {
    if (this.#stopped) return
    const isWell = this.#members.every((member) => member.isWell)
    const ms = isWell ? WELL_MS : ILL_MS
    this.#nextCheckMs = this.#parts.clock.now() + ms
    this.#cancel = this.#parts.timers.after(ms, () => {
      void this.checkAll().then(() => this.#schedule())
    })
  }
}

function asPoolRequest(request: ModelRequest | PoolRequest): PoolRequest {
  return { ...request, messages: request.messages as readonly ChatMessage[] }
}
