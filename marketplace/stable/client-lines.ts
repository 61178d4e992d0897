import { type Holder, NETWORK_CLIENTS } from '../../consensus/primitives/fair-share.ts'

/** What is under way of a client or a network, and what waits for that. */
interface Line {
  open: number
  readonly waiting: (() => void)[]
}

/** How much waits: of one client, and in all. */
export interface LineBounds {
  readonly ofClient: number
  readonly ofAll: number
}

/** Lets so much of one client be under way at once, and of its network as much as of a few clients; the rest waits in line. */
export class ClientLines {
  readonly #atOnce: () => number
  readonly #bounds: LineBounds
  readonly #lines = new Map<string, Line>()
  #waiting = 0

  /** `atOnce` says how much of one client may be under way now. */
  constructor(atOnce: () => number, bounds: LineBounds) {
    this.#atOnce = atOnce
    this.#bounds = bounds
  }

  /** Waits for a place; false where too much waits already. */
  async begin({ address, network }: Holder): Promise<boolean> {
    if (!(await this.#enter(address, 1))) return false
    if (network === address || (await this.#enter(network, NETWORK_CLIENTS))) return true
    this.#leave(address, 1)
    return false
  }

  /** A place is free again. */
  end({ address, network }: Holder): void {
    if (network !== address) this.#leave(network, NETWORK_CLIENTS)
    this.#leave(address, 1)
  }

  async #enter(name: string, clients: number): Promise<boolean> {
    const line = this.#lines.get(name) ?? { open: 0, waiting: [] }
    this.#lines.set(name, line)
    if (line.open < clients * this.#atOnce()) {
      line.open += 1
      return true
    }
    const { ofClient, ofAll } = this.#bounds
    if (line.waiting.length >= ofClient || this.#waiting >= ofAll) return false
    this.#waiting += 1
    await new Promise<void>((begin) => line.waiting.push(begin))
    this.#waiting -= 1
    return true
  }

  #leave(name: string, clients: number): void {
    const line = this.#lines.get(name) as Line
    line.open -= 1
    while (line.open < clients * this.#atOnce() && line.waiting.length > 0) {
      line.open += 1
      line.waiting.shift()?.()
    }
    if (line.open === 0) this.#lines.delete(name)
  }
}
