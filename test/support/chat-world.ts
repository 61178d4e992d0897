import type { ChatCall, ChatOutcome, ChatPiece } from '../../marketplace/chat/call.ts'
import type { BackendLimits, ModelFacts } from '../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../marketplace/chat/models/pool.ts'
import { ChatPlatform } from '../../marketplace/chat/platform.ts'
import type { ChatMeans } from '../../marketplace/chat/stage.ts'
import { OpenAiBackend } from '../../src/chat/backends/openai-backend.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'
import { EnginePool } from '../../src/workers/engine-pool.ts'
import { outsideOf } from './outside.ts'
import { until } from './processes.ts'
import { FakeOpenAi, HOUSE_MODEL } from './upstreams/openai.ts'

/** A server of the world. Defaults are {@link HOUSE} and {@link LIMITS}. */
export interface WorldBackend {
  readonly models?: readonly Partial<ModelFacts>[]
  readonly limits?: Partial<BackendLimits>
}

/** What a test may change in its world. */
export interface ChatWorldParts {
  /** Servers in the order in which they are asked; one by default. */
  readonly backends?: readonly WorldBackend[]
  /** Engines, search, clock and the like; by default real engines and no search. */
  readonly means?: Partial<ChatMeans>
}

/** The outcome of a streamed chat. */
export interface ReadAlong {
  readonly outcome: Awaited<ReturnType<ChatPlatform['answer']>>
  readonly pieces: readonly ChatPiece[]
  /** Text of the answer with index 0, as it was read. */
  readonly text: string
  /** How many pieces had come when the platform said that it begins to answer; null if it never did. */
  readonly readyAt: number | null
}

/** A model for every role. */
export const HOUSE: ModelFacts = {
  id: HOUSE_MODEL,
  roles: ['fast', 'general', 'code', 'reason', 'judge', 'vision'],
  context: 32_000,
  supports: new Set(['tools', 'jsonSchema', 'vision', 'streamUsage']),
  declaredParameters: null,
}
const LIMITS: BackendLimits = { rpm: null, tpm: null, concurrency: 16, priority: 0, timeoutMs: 5_000 }
const BUDGET_MS = 10_000

/**
 * The chat platform over servers of this process that speak the OpenAI interface:
 *
 *     const world = await ChatWorld.open()
 *     world.fake.profile = 'cut'                        // what the first server does from now on; `world.fakes` are all
 *     await world.ask({ model: 'model-2' })             // a whole answer, as the platform gives it
 *     await world.read({ model: 'model-2' })            // the same, streamed
 *     await world.settled()                             // no server has a question open
 *     await world.close()
 *
 * Failed attempts are tried again without a pause.
 */
export class ChatWorld {
  readonly fakes: readonly FakeOpenAi[]
  readonly pool: ModelPool
  readonly platform: ChatPlatform
  readonly engines: EnginePool

  private constructor(fakes: readonly FakeOpenAi[], { backends = [{}], means = {} }: ChatWorldParts) {
    this.fakes = fakes
    this.pool = poolOf(fakes, backends)
    // An engine process starts at its first use.
    this.engines = new EnginePool(1)
    const { search, web } = outsideOf()
    this.platform = new ChatPlatform({
      engines: this.engines,
      search,
      web,
      models: this.pool,
      clock: systemClock,
      random: () => 0.5,
      modelRouter: false,
      budgetMs: BUDGET_MS,
      ...means,
    })
  }

  /** Starts the servers and looks at them for the first time. */
  static async open(parts: ChatWorldParts = {}): Promise<ChatWorld> {
    const fakes = await Promise.all((parts.backends ?? [{}]).map(() => FakeOpenAi.open()))
    const world = new ChatWorld(fakes, parts)
    await world.pool.start()
    return world
  }

  /** The first server. */
  get fake(): FakeOpenAi {
    return this.fakes[0] as FakeOpenAi
  }

  /** How many questions each server was asked. */
  get hits(): readonly number[] {
    return this.fakes.map(({ questions }) => questions.length)
  }

  /** Asks for a whole answer. */
  ask(call: Partial<ChatCall> = {}, signal = new AbortController().signal): ReturnType<ChatPlatform['answer']> {
    return this.platform.answer(callOf(call), null, signal)
  }

  /** Asks for a whole answer, and throws if the chat fails. */
  async outcome(call: Partial<ChatCall> = {}): Promise<ChatOutcome> {
    const answered = await this.ask(call)
    if (!answered.ok) throw new Error(JSON.stringify(answered.fault))
    return answered.value
  }

  /** Asks for a streamed answer. */
  async read(call: Partial<ChatCall> = {}, signal = new AbortController().signal): Promise<ReadAlong> {
    const pieces: ChatPiece[] = []
    let readyAt: number | null = null
    const sink = {
      ready: () => {
        readyAt ??= pieces.length
      },
      take: (piece: ChatPiece) => void pieces.push(piece),
    }
    const outcome = await this.platform.answer(callOf(call), sink, signal)
    return { outcome, pieces, text: textOf(pieces), readyAt }
  }

  /** Waits until no server has an open question and the pool has no request under way or waiting. */
  async settled(): Promise<void> {
    await until('no server has a question open', () => this.fakes.every(({ open }) => open === 0))
    await until('nothing is under way', () => this.pool.facts.every(({ inside, waiting }) => inside + waiting === 0))
  }

  async close(): Promise<void> {
    this.pool.stop()
    await Promise.all([this.engines.close(), ...this.fakes.map((fake) => fake.close())])
  }
}

/** A chat with a question. What a test leaves out is as simple as can be. */
export function callOf(call: Partial<ChatCall> = {}): ChatCall {
  return {
    model: 'model-1',
    messages: [{ role: 'user', content: 'Hello?' }],
    maxTokens: 256,
    temperature: null,
    form: { is: 'text' },
    usesTools: false,
    count: 1,
    extra: {},
    resumes: false,
    ...call,
  }
}

export function textOf(pieces: readonly ChatPiece[], index = 0): string {
  return pieces.map((piece) => (piece.index === index ? (piece.delta.content ?? '') : '')).join('')
}

function poolOf(fakes: readonly FakeOpenAi[], backends: readonly WorldBackend[]): ModelPool {
  const entries = fakes.map(({ url, key }, i) => {
    const { models = [{}], limits } = backends[i] ?? {}
    return {
      backend: new OpenAiBackend({ id: `house-${i}`, baseUrl: url, key }),
      models: models.map((model) => ({ ...HOUSE, ...model })),
      limits: { ...LIMITS, ...limits },
    }
  })
  return new ModelPool({ entries, clock: systemClock, timers: systemTimers, random: () => 0 })
}
