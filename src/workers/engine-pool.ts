import { Piscina } from 'piscina'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { WorkSlots } from '../../marketplace/checkout/work-slots.ts'
import type { Engines, EngineTask, EngineTasks } from '../../marketplace/outside/engines.ts'
import type { EngineJob, EngineOutcome } from './engine-worker.ts'

/** Longest time that a piece of work may run in its thread. */
const LIMIT_MS: Readonly<Record<EngineTask, number>> = {
  'page/article': 4_000,
  'page/meta': 2_000,
  'page/feed': 3_000,
  'document/pdf': 5_000,
  'text/summary': 4_000,
  'text/mood': 2_000,
  'text/subjects': 4_000,
  'image/square-png': 5_000,
  'image/procedural': 5_000,
}

/** Memory of one thread: what a page of two megabytes needs as a tree, and no more. */
const THREAD_HEAP_MB = { young: 16, old: 256 }
const STACK_MB = 4
/** Threads that are idle for longer end, and give their memory back. */
const IDLE_MS = 30_000
const REASON_CHARS_MAX = 200

/** Threads of one kind of work. */
class EngineThreads {
  readonly #pool: Piscina
  readonly #slots: WorkSlots

  constructor(threads: number) {
    this.#slots = new WorkSlots(threads)
    this.#pool = new Piscina({
      filename: new URL('./engine-worker.ts', import.meta.url).href,
      name: 'runEngine',
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      resourceLimits: {
        maxYoungGenerationSizeMb: THREAD_HEAP_MB.young,
        maxOldGenerationSizeMb: THREAD_HEAP_MB.old,
        stackSizeMb: STACK_MB,
      },
    })
    // The death of a thread is told to whoever waits for its work.
    this.#pool.on('error', () => undefined)
  }

  /** Runs a job in its turn; the time limit begins with the turn. */
  run(job: EngineJob, signal: AbortSignal): Promise<Result<unknown>> {
    return this.#slots.run(() => this.#runNow(job, signal))
  }

  async #runNow(job: EngineJob, signal: AbortSignal): Promise<Result<unknown>> {
    if (signal.aborted) return fail(fault('engine/killed'))
    const ended = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS[job.task])])
    try {
      const outcome = (await this.#pool.run(job, { signal: ended })) as EngineOutcome
      return 'refused' in outcome
        ? fail(fault('engine/refused', { reason: outcome.refused.slice(0, REASON_CHARS_MAX) }))
        : ok(outcome.output)
    } catch (error) {
      return fail(ended.aborted || isMemoryDeath(error) ? fault('engine/killed') : failed(error))
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }
}

/** Engines on worker threads. Work on what strangers wrote has threads of its own: it must not hold up the rest. */
export class EnginePool implements Engines {
  readonly #strangers: EngineThreads
  readonly #own: EngineThreads

  constructor(threads: number) {
    this.#strangers = new EngineThreads(threads)
    this.#own = new EngineThreads(threads)
  }

  async run<Name extends EngineTask>(
    task: Name,
    input: EngineTasks[Name]['input'],
    signal: AbortSignal,
  ): Promise<Result<EngineTasks[Name]['output']>> {
    const threads = task.startsWith('page/') || task === 'image/square-png' ? this.#strangers : this.#own
    return (await threads.run({ task, input }, signal)) as Result<EngineTasks[Name]['output']>
  }

  /** Ends all threads, with the work in them. */
  async close(): Promise<void> {
    await Promise.all([this.#strangers.close(), this.#own.close()])
  }
}

function isMemoryDeath(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function failed(error: unknown): ReturnType<typeof fault> {
  const reason = error instanceof Error ? error.message : 'unknown cause'
  return fault('engine/failed', { reason: reason.slice(0, REASON_CHARS_MAX) })
}
