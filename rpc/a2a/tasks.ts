import type { MarketApi } from '../node.ts'

/** Where a task stands; the words of A2A 0.3. */
export type TaskState = 'submitted' | 'input-required' | 'working' | 'completed' | 'failed' | 'canceled'

/** What the node says with a state: a text for people and what programs read. */
export interface Said {
  readonly text: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A state of a task with what is said of it. */
export interface Step {
  readonly state: TaskState
  readonly says: Said
}

/** A paid answer as text of JSON, and what is to be called once it was handed over. */
export interface Artifact {
  readonly text: string
  readonly sent: () => void
}

/** One call of one service, from its terms to its result. */
export interface AgentTask {
  readonly id: string
  readonly contextId: string
  readonly serviceId: string
  readonly request: string
  state: TaskState
  says: Said
  artifact: Artifact | null
  /** What the market keeps the paid call under; null until a payment came. */
  paymentId: string | null
  changedMs: number
  /** Settles when the payment that is being carried out is done with; never rejects. */
  running: Promise<void> | null
  /** What went wrong in this node while nobody waited; told at the next look. */
  bug: unknown
}

/** Tasks that are kept. */
export const TASKS_MAX = 2_000
/** Characters of their requests and results together. */
export const TASK_CHARS_MAX = 32 * 1_024 * 1_024
/** How long a task is kept after it changed last. */
export const TASK_KEPT_MS = 3_600_000

/**
 * Tasks of the last hour, the oldest dropped first where they are too many or too long, and those that nobody has paid before
 * those that somebody has. What was paid outlives them all: claims are kept on disk, and are found by the id of the payment.
 */
export class TaskStore {
  readonly #tasks = new Map<string, { readonly task: AgentTask; readonly chars: number }>()
  #chars = 0

  /** Keeps a task, or how it has changed. */
  keep(task: AgentTask): void {
    this.#drop(task.id)
    const chars = task.request.length + (task.artifact?.text.length ?? 0)
    this.#tasks.set(task.id, { task, chars })
    this.#chars += chars
    this.#dropOldest((other) => other.id === task.id || isPaid(other))
    this.#dropOldest((other) => other.id === task.id)
  }

  /** A task that is kept still. */
  get(id: string, nowMs: number): AgentTask | undefined {
    const { task } = this.#tasks.get(id) ?? {}
    if (task === undefined || nowMs - task.changedMs <= TASK_KEPT_MS || task.running !== null) return task
    this.#drop(id)
    return undefined
  }

  #dropOldest(isSpared: (task: AgentTask) => boolean): void {
    for (const [id, { task }] of this.#tasks) {
      if (this.#tasks.size <= TASKS_MAX && this.#chars <= TASK_CHARS_MAX) return
      if (!isSpared(task)) this.#drop(id)
    }
  }

  #drop(id: string): void {
    this.#chars -= this.#tasks.get(id)?.chars ?? 0
    this.#tasks.delete(id)
  }
}

/** What cost somebody money: it is worked on, or its result is here. */
function isPaid({ running, artifact }: AgentTask): boolean {
  return running !== null || artifact !== null
}

const STORES = new WeakMap<MarketApi, TaskStore>()

/** The tasks of a market. */
export function tasksOf(market: MarketApi): TaskStore {
  const known = STORES.get(market)
  if (known !== undefined) return known
  const store = new TaskStore()
  STORES.set(market, store)
  return store
}
