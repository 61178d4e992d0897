import type { Holder } from '../../consensus/primitives/fair-share.ts'
import type { MarketApi } from '../node/node-api.ts'

/** State of a task, in the words of A2A 0.3. */
export type TaskState = 'submitted' | 'input-required' | 'working' | 'completed' | 'failed' | 'canceled'

/** What the node says with a state: a text for people, and metadata for programs. */
export interface Said {
  readonly text: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A state of a task, and what the node says with it. */
export interface Step {
  readonly state: TaskState
  readonly says: Said
}

/** `text` is JSON. `sent` is to be called once it was delivered. */
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
  /** The caller who began it. */
  readonly holder: Holder
  state: TaskState
  says: Said
  artifact: Artifact | null
  /** Id of the paid call's claim; null before a payment, and for a dollar payment if this node takes none. */
  paymentId: string | null
  changedMs: number
  /** Settles when the payment under way has been carried out; never rejects. */
  running: Promise<void> | null
  /** The exception of a payment that failed by a bug; undefined if there is none, or once it was thrown to a caller. */
  bug: unknown
}

/** Most tasks that are kept. */
export const TASKS_MAX = 2_000
/** Most characters of the requests and results of all tasks together. */
export const TASK_CHARS_MAX = 32 * 1_024 * 1_024
/** How long a task is kept after its last change. */
export const TASK_KEPT_MS = 3_600_000

interface Kept {
  readonly task: AgentTask
  readonly chars: number
}

/**
 * Tasks of the last hour. If they are too many or too long, unpaid tasks go before paid ones: each time the oldest of the
 * address with most, in the network with most. A paid call outlives its task, since its claim is on disk.
 */
export class TaskStore {
  readonly #tasks = new Map<string, Kept>()
  #chars = 0

  keep(task: AgentTask): void {
    this.#drop(task.id)
    const chars = task.request.length + (task.artifact?.text.length ?? 0)
    this.#tasks.set(task.id, { task, chars })
    this.#chars += chars
    this.#makeRoom(({ task: other }) => other.id !== task.id && !isPaid(other))
    this.#makeRoom(({ task: other }) => other.id !== task.id)
  }

  get(id: string, nowMs: number): AgentTask | undefined {
    const { task } = this.#tasks.get(id) ?? {}
    if (task === undefined || nowMs - task.changedMs <= TASK_KEPT_MS || task.running !== null) return task
    this.#drop(id)
    return undefined
  }

  #makeRoom(mayGo: (kept: Kept) => boolean): void {
    while (this.#tasks.size > TASKS_MAX || this.#chars > TASK_CHARS_MAX) {
      const measure = this.#chars > TASK_CHARS_MAX ? ({ chars }: Kept): number => chars : (): number => 1
      const ofNetwork = largest([...this.#tasks.values()].filter(mayGo), ({ network }) => network, measure)
      const [oldest] = largest(ofNetwork, ({ address }) => address, measure)
      if (oldest === undefined) return
      this.#drop(oldest.task.id)
    }
  }

  #drop(id: string): void {
    this.#chars -= this.#tasks.get(id)?.chars ?? 0
    this.#tasks.delete(id)
  }
}

function isPaid({ running, artifact }: AgentTask): boolean {
  return running !== null || artifact !== null
}

/** The tasks of the network or address with most by the measure, oldest change first. */
function largest(
  all: readonly Kept[],
  nameOf: (holder: Holder) => string,
  measure: (kept: Kept) => number,
): readonly Kept[] {
  let most: readonly Kept[] = []
  let mostMeasured = -1
  for (const ofOne of Map.groupBy(all, ({ task }) => nameOf(task.holder)).values()) {
    const measured = ofOne.reduce((sum, kept) => sum + measure(kept), 0)
    if (measured > mostMeasured) [most, mostMeasured] = [ofOne, measured]
  }
  return most
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
