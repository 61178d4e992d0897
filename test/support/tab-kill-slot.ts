import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Program, until } from './processes.ts'
import { ROOT } from './source-tree.ts'
import type { KillNetwork } from './tab-kill-network.ts'
import type { Death, SellerOrder } from './tab-kill-order.ts'

const ENTRY = join(ROOT, 'test/support/tab-kill-entry.ts')

const around = (what: string): readonly string[] => [`before ${what}`, `during ${what}`, `after ${what}`]
/** Steps of a call, of the start, and of a claim. */
const CALL_STEPS = [
  ...[...around('reserve'), 'before begin', 'during begin', 'after begin', 'before work', 'after work'],
  ...[...around('commit'), 'during commit', 'during commit', 'before answer', 'after answer'],
]
const START_STEPS = ['after open', 'after unclaimed', 'during claims']
const CLAIM_STEPS = [...around('putClaim'), ...around('send'), ...around('claim mined')]
/** Steps that come when something is final, or a payer asks for its refund. */
const FINAL_STEPS = [...around('mark'), ...around('dropClaim')]

/** All steps at which sellers are killed. */
export const STEPS: readonly string[] = [...new Set([...CALL_STEPS, ...START_STEPS, ...CLAIM_STEPS, ...FINAL_STEPS])]

/** Depth at which a claim is final, and a bit. */
const FINAL_BLOCKS = 43
/** How long a seller may take to come to its step. Then it is killed where it is. */
const LIFE_MS = 1_500
/** Part of the lives that end at a random moment, from the first on. */
const ANY_MOMENT = 0.15
const MOMENT_MS_MAX = 500
/** Part of the lives that are to end where the fewest did so far. */
const RARE = 0.1
/** Part of the deaths after which the store is gone too, and of those that other replicas notice before the next start. */
const STORE_LOST = 0.02
const LONG_DEAD = 0.1
const START_MS = 60_000

export interface SlotOptions {
  readonly folder: string
  readonly settler: number
  readonly shared: SellerOrder['shared']
  readonly random: () => number
  /** Whether its store is lost now and then. */
  readonly losesStore: boolean
}

/** One seller that dies again and again. Its folder stays, but for its store now and then. */
export class SellerSlot {
  /** How often it died at each step. */
  readonly deaths = new Map<string, number>()
  /** What sellers wrote that ended by themselves: they must not. */
  readonly failures: string[] = []
  readonly #network: KillNetwork
  readonly #options: SlotOptions
  #program: Program | null = null
  #isFirst = true

  constructor(network: KillNetwork, options: SlotOptions) {
    this.#network = network
    this.#options = options
    mkdirSync(options.folder, { recursive: true })
  }

  get kills(): number {
    return [...this.deaths.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Starts it, and lets it die at a step or at any moment. */
  async live(): Promise<void> {
    const { random, shared } = this.#options
    if (random() < ANY_MOMENT) return this.#dieAtAnyMoment()
    const death = this.#chooseDeath()
    const program = this.#begin(death)
    const url = await this.#ready(program)
    const isFinal = FINAL_STEPS.includes(death.step)
    if (url !== null) {
      this.#network.sellers.add(url)
      await this.#network.mine(isFinal ? FINAL_BLOCKS : 1)
      await Promise.race([program.exit, pause(LIFE_MS)])
    }
    const isLate = program.ended === null
    await this.#end(program, url, isLate ? 'no step in time' : death.step)
    if (this.#options.losesStore && random() < STORE_LOST) this.#loseStore()
    else if (shared !== null && random() < LONG_DEAD) await pause(shared.leaseMs * 1.5)
  }

  /** Starts it to stay. */
  async start(): Promise<void> {
    const program = this.#begin(null)
    const url = await this.#ready(program)
    if (url === null) throw new Error(program.stderr)
    this.#network.sellers.add(url)
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    if (this.#program !== null) await this.#program.end('SIGKILL')
    this.#program = null
  }

  async #dieAtAnyMoment(): Promise<void> {
    const program = this.#begin(null)
    const url = this.#ready(program)
    const moment = pause(this.#options.random() * MOMENT_MS_MAX)
    void url.then((known) => known !== null && program.ended === null && this.#network.sellers.add(known))
    await moment
    program.signal('SIGKILL')
    await this.#end(program, await url, 'at any moment')
  }

  async #end(program: Program, url: string | null, step: string): Promise<void> {
    const { signal, code } = await program.end('SIGKILL')
    if (url !== null) this.#network.sellers.delete(url)
    if (signal !== 'SIGKILL') this.failures.push(`ended with ${code} ${signal}: ${program.stderr}`)
    this.deaths.set(step, (this.deaths.get(step) ?? 0) + 1)
    this.#program = null
  }

  #begin(death: Death | null): Program {
    const { folder, settler, shared } = this.#options
    const order: SellerOrder = { folder, network: this.#network.url, settler, shared, death }
    const env = { TEST_RUNS_FILE: join(folder, 'runs'), ...(this.#isFirst && { TEST_FLUSH: '1' }) }
    this.#isFirst = false
    this.#program = new Program({ entry: ENTRY, args: [JSON.stringify(order)], env })
    return this.#program
  }

  /** Its URL; null if it ended before it was ready. */
  #ready(program: Program): Promise<string | null> {
    const look = (): { readonly url: string | null } | undefined => {
      const url = /ready at (\S+)/.exec(program.stdout)?.[1]
      return url !== undefined ? { url } : program.ended === null ? undefined : { url: null }
    }
    return until('a seller is ready', look, { everyMs: 3, ms: START_MS }).then(({ url }) => url)
  }

  #chooseDeath(): Death {
    const { random } = this.#options
    if (random() < RARE) return { step: this.#rarest(), count: 1 }
    const dice = random()
    const steps = dice < 0.55 ? CALL_STEPS : dice < 0.85 ? CLAIM_STEPS : dice < 0.9 ? START_STEPS : FINAL_STEPS
    const step = steps[Math.floor(random() * steps.length)] as string
    return { step, count: steps === CALL_STEPS ? 1 + Math.floor(random() * 4) : 1 }
  }

  /** One of the steps at which it died least often. */
  #rarest(): string {
    const count = (step: string): number => this.deaths.get(step) ?? 0
    const least = Math.min(...STEPS.map(count))
    const rarest = STEPS.filter((step) => count(step) === least)
    return rarest[Math.floor(this.#options.random() * rarest.length)] as string
  }

  #loseStore(): void {
    rmSync(join(this.#options.folder, 'tabs'), { recursive: true, force: true })
    this.#network.losses.push(this.#network.test.height)
  }
}
