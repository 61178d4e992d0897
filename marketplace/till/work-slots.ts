import { addTo, ClientTally } from './client-counts.ts'
import type { Caller } from './failing-callers.ts'

/** How many services of one kind run at once: more would only make each other late, and a late service is a refund. */
const WORK_AT_ONCE = 16

interface Waiter {
  readonly caller: Caller
  readonly start: () => void
  readonly refuse: () => void
}

/** What places for work are made with. */
export interface WorkSlotsParts {
  /** How many there are. */
  readonly atOnce?: number
  /** Asked each time that a place is free: which callers go behind all others. */
  readonly goesLast?: () => (caller: Caller) => boolean
}

/**
 * Places for work. A free place goes to the client that has the fewest at the time, then to the payer with the fewest, then to the call
 * that came first. So a client with a hundred calls waits for itself, and other clients do not. Clients count before payers, because a
 * client can make any number of payers.
 */
export class WorkSlots {
  #free: number
  readonly #queue: Waiter[] = []
  readonly #ofClients = new ClientTally()
  readonly #ofPayers = new Map<string, number>()
  readonly #goesLast: () => (caller: Caller) => boolean

  constructor({ atOnce = WORK_AT_ONCE, goesLast = () => () => false }: WorkSlotsParts = {}) {
    this.#free = atOnce
    this.#goesLast = goesLast
  }

  /** Runs work as soon as there is a place for it; places are counted for each caller. */
  run<T>(work: () => Promise<T>, caller: Caller | string = ''): Promise<T> {
    return this.runUnlessFull(work, caller, Number.POSITIVE_INFINITY) as Promise<T>
  }

  /**
   * The same where at most so many wait. Null where too many do, or where the client with the most waiting had to make room.
   */
  async runUnlessFull<T>(work: () => Promise<T>, who: Caller | string, waitingMax: number): Promise<T | null> {
    const caller = typeof who === 'string' ? named(who) : who
    if (this.#free > 0) {
      this.#free -= 1
      this.#count(caller, 1)
    } else if (!(await this.#turn(caller, waitingMax))) return null
    try {
      return await work()
    } finally {
      this.#count(caller, -1)
      this.#pass()
    }
  }

  /** False where it does not come. */
  async #turn(caller: Caller, waitingMax: number): Promise<boolean> {
    if (this.#queue.length >= waitingMax && !this.#makeRoom(caller)) return false
    return new Promise((resolve) => {
      this.#queue.push({ caller, start: () => resolve(true), refuse: () => resolve(false) })
    })
  }

  /** Refuses the last call of the client with the most waiting, where those are more than the new client would have. */
  #makeRoom({ client }: Caller): boolean {
    const groups = Map.groupBy(this.#queue, ({ caller }) => caller.client.address)
    const own = groups.get(client.address)?.length ?? 0
    const most = [...groups.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    if (most.length <= own + 1) return false
    const last = most.at(-1) as Waiter
    this.#queue.splice(this.#queue.indexOf(last), 1)
    last.refuse()
    return true
  }

  #count({ payer, client }: Caller, more: 1 | -1): void {
    addTo(this.#ofPayers, payer, more)
    this.#ofClients.add(client, more)
  }

  #pass(): void {
    const next = this.#next()
    if (next === undefined) {
      this.#free += 1
      return
    }
    this.#queue.splice(this.#queue.indexOf(next), 1)
    this.#count(next.caller, 1)
    next.start()
  }

  #next(): Waiter | undefined {
    const goesLast = this.#goesLast()
    let next: Waiter | undefined
    let least: Rank = []
    for (const waiter of this.#queue) {
      const { caller } = waiter
      const rank = [
        goesLast(caller) ? 1 : 0,
        this.#ofClients.shareOf(caller.client),
        this.#ofPayers.get(caller.payer) ?? 0,
      ]
      if (next !== undefined && !isBefore(rank, least)) continue
      next = waiter
      least = rank
    }
    return next
  }
}

/** Figures that are compared in turn: the first that differs decides, and the smaller one comes first. */
type Rank = readonly number[]

function isBefore(one: Rank, other: Rank): boolean {
  const at = one.findIndex((figure, index) => figure !== other[index])
  return at >= 0 && (one[at] as number) < (other[at] as number)
}

/** A caller of whom one name is known. */
function named(name: string): Caller {
  return { payer: name, client: { address: name, network: name } }
}
