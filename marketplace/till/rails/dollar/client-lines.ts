import { type Holder, heldTooMany, NETWORK_CLIENTS } from '../../../../consensus/primitives/fair-share.ts'

interface Waiter {
  readonly holder: Holder
  readonly line: Line
  readonly settle: (begins: boolean) => void
}

/** What is under way of a client or a network, and what waits for that. */
interface Line {
  open: number
  readonly waiting: Set<Waiter>
}

/** How much waits: of one client, and in all. */
export interface LineBounds {
  readonly ofClient: number
  readonly ofAll: number
}

/**
 * Lets so much of one client be under way at once, and of its network as much as of a few clients; the rest waits in line. Where as much
 * waits as may, who has most waiting makes room for another.
 */
export class ClientLines {
  readonly #atOnce: () => number
  readonly #bounds: LineBounds
  readonly #lines = new Map<string, Line>()
  readonly #waiting = new Set<Waiter>()

  /** `atOnce` says how much of one client may be under way now. */
  constructor(atOnce: () => number, bounds: LineBounds) {
    this.#atOnce = atOnce
    this.#bounds = bounds
  }

  /** Waits for a place; false where too much waits already, or it made room for another. */
  async begin(holder: Holder): Promise<boolean> {
    const { address, network } = holder
    if (!(await this.#enter(address, 1, holder))) return false
    if (network === address || (await this.#enter(network, NETWORK_CLIENTS, holder))) return true
    this.#leave(address, 1)
    return false
  }

  /** A place is free again. */
  end({ address, network }: Holder): void {
    if (network !== address) this.#leave(network, NETWORK_CLIENTS)
    this.#leave(address, 1)
  }

  #enter(name: string, clients: number, holder: Holder): boolean | Promise<boolean> {
    const line = this.#lines.get(name) ?? { open: 0, waiting: new Set() }
    this.#lines.set(name, line)
    if (line.open < clients * this.#atOnce()) {
      line.open += 1
      return true
    }
    if (line.waiting.size >= this.#bounds.ofClient || !this.#isRoomFor(holder)) return false
    return new Promise((settle) => {
      const waiter = { holder, line, settle }
      line.waiting.add(waiter)
      this.#waiting.add(waiter)
    })
  }

  #isRoomFor(holder: Holder): boolean {
    if (this.#waiting.size < this.#bounds.ofAll) return true
    const newest = heldTooMany(this.#waiting, holder).at(-1)
    if (newest !== undefined) this.#settle(newest, false)
    return newest !== undefined
  }

  #leave(name: string, clients: number): void {
    const line = this.#lines.get(name) as Line
    line.open -= 1
    for (const waiter of line.waiting) {
      if (line.open >= clients * this.#atOnce()) break
      line.open += 1
      this.#settle(waiter, true)
    }
    if (line.open === 0) this.#lines.delete(name)
  }

  #settle(waiter: Waiter, begins: boolean): void {
    waiter.line.waiting.delete(waiter)
    this.#waiting.delete(waiter)
    waiter.settle(begins)
  }
}
