import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { Engines, EngineTask, EngineTasks } from '../../marketplace/ports/engines.ts'
import { FreePlaces } from '../../marketplace/ports/free-places.ts'
import type { EngineJob, EngineOutcome } from './engine-worker.ts'
import { KillableProcess, type ProcessEnding } from './killable-process.ts'
import { SizedSlots } from './sized-slots.ts'

/** Maximum run time of each task, ms, without the time to load its engine. */
export const LIMIT_MS: Readonly<Record<EngineTask, number>> = {
  'page/article': 4_000,
  'page/meta': 2_000,
  'page/feed': 3_000,
  'document/pdf': 5_000,
  'document/font': 2_000,
  'text/summary': 4_000,
  'text/mood': 2_000,
  'text/subjects': 4_000,
  'chat/check-code': 3_000,
  'chat/check-schema': 1_500,
  'chat/plain-text': 3_000,
  'image/square-png': 5_000,
  'image/vision': 5_000,
  'image/procedural': 5_000,
}

/** Maximum time until a task begins. A process may have to load the engine's libraries before that. */
const START_MS = 10_000
/** Heap of one process: enough for the tree of a two-megabyte page. */
export const HEAP_MB = 256
/** Idle processes end after this time to free their memory. */
const IDLE_MS = 30_000
/** A process ends after this many jobs, which bounds what libraries leak. */
const PROCESS_JOBS_MAX = 1_000
const REASON_CHARS_MAX = 200

const ENTRY = new URL('./engine-process.ts', import.meta.url)
const KILLED = fault('engine/killed')
const CLOSED = fault('engine/failed', { reason: 'the engines have ended' })

/** Only `readable` is set outside of tests. */
export interface EnginePoolOptions {
  /** Program of the processes; speaks the protocol of `process-port.ts`. */
  readonly entry?: URL
  readonly idleMs?: number
  readonly startMs?: number
  /** Further files that engines may read, as absolute paths. */
  readonly readable?: readonly string[]
}

/** Runs work when it gets a slot, unless the signal is aborted before that. */
type Turn = (job: EngineJob, work: () => Promise<void>, signal: AbortSignal, who: string) => Promise<unknown>

interface Idle {
  readonly child: KillableProcess
  readonly jobs: number
  readonly timer: NodeJS.Timeout
}

class EngineProcesses {
  readonly #options: Required<EnginePoolOptions>
  readonly #turn: Turn
  readonly #readable: readonly string[]
  readonly #children = new Set<KillableProcess>()
  readonly #idle: Idle[] = []
  #closed = false

  constructor(turn: Turn, options: EnginePoolOptions) {
    this.#turn = turn
    this.#options = { entry: ENTRY, idleMs: IDLE_MS, startMs: START_MS, readable: [], ...options }
    this.#readable = [...programPaths(this.#options.entry), ...this.#options.readable]
  }

  /** The time limit begins with the work. When the signal is aborted, the caller gets an answer at once. */
  run(job: EngineJob, signal: AbortSignal, who: string): Promise<Result<unknown>> {
    if (signal.aborted) return Promise.resolve(fail(KILLED))
    return new Promise((resolve) => {
      const giveUp = (): void => resolve(fail(KILLED))
      signal.addEventListener('abort', giveUp, { once: true })
      this.#turn(job, () => this.#runNow(job, signal, resolve), signal, who)
        .catch((error: unknown) => resolve(fail(failed(error instanceof Error ? error.message : 'unknown cause'))))
        .finally(() => signal.removeEventListener('abort', giveUp))
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer)
    const children = [...this.#children]
    for (const child of children) child.kill()
    await Promise.all(children.map(({ exited }) => exited))
  }

  /** The slot is kept until a killed process is gone. Otherwise a new process would compete with it for the processor. */
  async #runNow(job: EngineJob, signal: AbortSignal, resolve: (result: Result<unknown>) => void): Promise<void> {
    if (this.#closed) return resolve(fail(CLOSED))
    if (signal.aborted) return resolve(fail(KILLED))
    const { child, jobs } = this.#take()
    const limits = { startMs: this.#options.startMs, workMs: LIMIT_MS[job.task] }
    const ending = await child.run({ message: job, ...limits }, signal)
    resolve(resultOf(ending))
    if (child.usable && jobs < PROCESS_JOBS_MAX && !this.#closed) return this.#keep(child, jobs)
    child.kill()
    await child.exited
  }

  /** `jobs` counts this job, too. */
  #take(): { readonly child: KillableProcess; readonly jobs: number } {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      clearTimeout(idle.timer)
      if (idle.child.usable) return { child: idle.child, jobs: idle.jobs + 1 }
    }
    const child = new KillableProcess({ entry: this.#options.entry, heapMb: HEAP_MB, readable: this.#readable })
    this.#children.add(child)
    void child.exited.then(() => this.#children.delete(child))
    return { child, jobs: 1 }
  }

  #keep(child: KillableProcess, jobs: number): void {
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(idle), 1)
      child.kill()
    }, this.#options.idleMs)
    const idle = { child, jobs, timer: timer.unref() }
    this.#idle.push(idle)
  }
}

/**
 * Engines in processes of their own, in three groups. Work on untrusted input must not delay other work; the free chat
 * must not delay paid work. In the chat, callers take turns, so that none delays the others.
 */
export class EnginePool implements Engines {
  readonly #chat: EngineProcesses
  readonly #strangers: EngineProcesses
  readonly #own: EngineProcesses

  constructor(atOnce: number, options: EnginePoolOptions = {}) {
    this.#chat = new EngineProcesses(inTurns(atOnce), options)
    this.#strangers = new EngineProcesses(bySize(atOnce), options)
    this.#own = new EngineProcesses(bySize(atOnce), options)
  }

  async run<Name extends EngineTask>(
    task: Name,
    input: EngineTasks[Name]['input'],
    signal: AbortSignal,
    who = '',
  ): Promise<Result<EngineTasks[Name]['output']>> {
    const processes = isOfChat(task) ? this.#chat : isOfStrangers(task) ? this.#strangers : this.#own
    return (await processes.run({ task, input }, signal, who)) as Result<EngineTasks[Name]['output']>
  }

  async close(): Promise<void> {
    await Promise.all([this.#chat.close(), this.#strangers.close(), this.#own.close()])
  }
}

/** Whether a task belongs to the chat: its input comes from chat callers or models. */
function isOfChat(task: EngineTask): boolean {
  return task.startsWith('chat/') || task === 'image/vision'
}

/** Whether a task outside the chat works on input of strangers or of models. */
function isOfStrangers(task: EngineTask): boolean {
  return task.startsWith('page/') || task === 'image/square-png'
}

/** For free work: every caller gets an equal share. */
function inTurns(atOnce: number): Turn {
  const places = new FreePlaces({ atOnce, perWho: atOnce, perWhat: atOnce })
  return (_, work, signal, who) => places.run({ who, what: who, signal }, work)
}

function bySize(atOnce: number): Turn {
  const slots = new SizedSlots(atOnce)
  return (job, work, signal) => slots.run(sizeOf(job), work, signal)
}

/** Bytes of the page or picture in a job; other jobs count as small. */
function sizeOf({ input }: EngineJob): number {
  const { bytes } = input as { readonly bytes?: unknown }
  return bytes instanceof Uint8Array ? bytes.length : 0
}

function resultOf(ending: ProcessEnding): Result<unknown> {
  if (ending.kind === 'killed') return fail(KILLED)
  if (ending.kind === 'failed') return fail(failed(ending.reason))
  const outcome = ending.output as EngineOutcome
  if (!('refused' in outcome)) return ok(outcome.output)
  return fail(fault('engine/refused', { reason: outcome.refused.slice(0, REASON_CHARS_MAX) }))
}

function failed(reason: string): ReturnType<typeof fault> {
  return fault('engine/failed', { reason: reason.slice(0, REASON_CHARS_MAX) })
}

/** Folders with the engines' programs, and package.json, which says that they are modules. */
const PARTS = ['consensus', 'marketplace', 'src', 'package.json']
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a process must read to run its program. Not the whole project folder, because operators keep wallets there. */
function programPaths(entry: URL): readonly string[] {
  const own = [...PARTS.map((part) => join(ROOT, part)), dirname(fileURLToPath(entry))]
  return [...own, ...packageFolders(ROOT)].map((path) => realpathSync(path))
}

function packageFolders(folder: string): readonly string[] {
  const above = dirname(folder)
  const packages = join(folder, 'node_modules')
  return [...(existsSync(packages) ? [packages] : []), ...(above === folder ? [] : packageFolders(above))]
}
