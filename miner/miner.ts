import type { Block } from '../consensus/block/block.ts'
import { sealHeader } from '../consensus/block/header.ts'
import { powInput } from '../consensus/block/pow.ts'
import type { PowRules } from '../consensus/block/rules.ts'
import type { Chain } from '../consensus/chain/chain.ts'
import type { Clock, Pacer, Timers } from '../consensus/chain/ports.ts'
import { uintBE } from '../consensus/primitives/bytes.ts'
import type { Fault } from '../consensus/primitives/fault.ts'
import type { Address } from '../consensus/primitives/ids.ts'
import type { Mempool } from '../mempool/mempool.ts'
import { dropGuilty, dropHopeless, FULL_REFUSALS_MAX } from './refusals.ts'
import { buildTemplate, type Template } from './template.ts'

/** What threads search over. */
export interface MiningJob {
  readonly input: Uint8Array
  /** Big-endian, 32 bytes. */
  readonly target: Uint8Array
  readonly cost: PowRules
  /** First nonce, below 2^63 and 0 unless said: who shares a job with others begins elsewhere. */
  readonly start?: bigint
}

/** Threads that search for nonces. */
export interface NonceSearcher {
  /** Replaces the job of every thread; null lets them rest. */
  assign(job: MiningJob | null): void
  /** Hears of every nonce found, with the job it belongs to. */
  onFound(listener: (nonce: bigint, job: MiningJob) => void): void
}

/** What a miner works with. */
export interface MinerDependencies {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly searcher: NonceSearcher
  readonly clock: Clock
  readonly pacer: Pacer
  readonly timers: Timers
  /** 32 bytes that tell this miner's headers from another's with the same address. */
  readonly extra: Uint8Array
  readonly onMined: (block: Block) => void
  /** A block of our own that the chain refused: stale, or a bug. */
  readonly onRefused: (block: Block, fault: Fault) => void
  /** An error that no block can cause: a bug, or a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** How often a waiting template is looked at: for better fees, to keep its time near the clock, and for its parent. */
export const REFRESH_MS = 1_000

/**
 * Keeps the threads at work on the best head: an empty block at once when the head moves, so that nobody searches on a
 * dead one, then the best paying block that the mempool gives.
 */
export class Miner {
  readonly #deps: MinerDependencies
  readonly #rewardTo: Address
  #template: Template | undefined
  #job: MiningJob | null = null
  #better = false
  #building: Promise<void> = Promise.resolve()
  /** Pieces of work that wait in `#building` or are under way. */
  #queued = 0
  #importing = false
  /** Own blocks refused since the head last moved. */
  #refusals = 0
  #running = false
  #cancelRefresh: () => void = () => {}

  constructor(dependencies: MinerDependencies, rewardTo: Address) {
    this.#deps = dependencies
    this.#rewardTo = rewardTo
    dependencies.chain.onHeadChange(() => {
      this.#refusals = 0
      this.#startOver()
    })
    dependencies.mempool.onAdmission(() => {
      this.#better = true
    })
    dependencies.searcher.onFound((nonce, job) => this.#found(nonce, job))
  }

  /** Begins to mine. */
  start(): void {
    this.#running = true
    this.#startOver()
    this.#scheduleRefresh()
  }

  /** Lets the threads rest and waits for work under way. */
  async stop(): Promise<void> {
    this.#running = false
    this.#cancelRefresh()
    this.#publish(undefined)
    await this.#building
  }

  /** The block that is being searched for. */
  get template(): Template | undefined {
    return this.#template
  }

  #startOver(): void {
    if (!this.#running) return
    this.#enqueue(async () => {
      await this.#build([])
      if (this.#trusting && this.#deps.mempool.count > 0) await this.#build(this.#deps.mempool.candidates())
    })
  }

  /** Whether what the mempool gives may stand in a block on this head. */
  get #trusting(): boolean {
    return this.#refusals < FULL_REFUSALS_MAX
  }

  /** Builds one template after another. */
  #enqueue(work: () => Promise<void>): void {
    this.#queued++
    this.#building = this.#building
      .then(work)
      .catch(this.#deps.onFatal)
      .finally(() => {
        this.#queued--
      })
  }

  async #build(candidates: Iterable<Template['block']['transactions'][number]>): Promise<void> {
    if (!this.#running) return
    const { chain, pacer, clock, extra, mempool } = this.#deps
    this.#better = false
    const request = { miner: this.#rewardTo, nowMs: clock.now(), candidates, extra }
    const template = await buildTemplate(chain, pacer, request)
    // Undefined: the head moves. Its listener queues the next build, or the refresh does once the chain rests.
    if (template === undefined || !this.#running) return
    dropHopeless(mempool, template)
    this.#publish(template)
  }

  #publish(template: Template | undefined): void {
    this.#template = template
    this.#job = template === undefined ? null : this.#jobOf(template)
    this.#deps.searcher.assign(this.#job)
  }

  #jobOf({ block }: Template): MiningJob {
    const { pow } = this.#deps.chain.ruleBook.at(block.header.height).block
    return { input: powInput(block.bytes), target: uintBE(block.header.target, 32), cost: pow }
  }

  #scheduleRefresh(): void {
    this.#cancelRefresh = this.#deps.timers.after(REFRESH_MS, () => {
      this.#refresh()
      if (this.#running) this.#scheduleRefresh()
    })
  }

  #refresh(): void {
    const { chain, mempool } = this.#deps
    // The head is a passing one, or a template is on its way.
    if (chain.moving || this.#importing || this.#queued > 0) return
    const template = this.#template
    if (template === undefined || template.parent.id !== chain.head.id) {
      this.#startOver()
      return
    }
    if (this.#better && this.#trusting) {
      this.#enqueue(() => this.#build(mempool.candidates()))
      return
    }
    // The state does not depend on the time, so the header alone is made anew.
    const header = { ...template.block.header, timeMs: Math.max(this.#deps.clock.now(), template.block.header.timeMs) }
    this.#publish({ ...template, block: { ...sealHeader(header), transactions: template.block.transactions } })
  }

  #found(nonce: bigint, job: MiningJob): void {
    const template = this.#template
    if (template === undefined || job !== this.#job) return
    this.#publish(undefined)
    const block = { ...sealHeader({ ...template.block.header, nonce }), transactions: template.block.transactions }
    this.#importing = true
    this.#import(block).catch(this.#deps.onFatal)
  }

  async #import(block: Block): Promise<void> {
    const outcome = await this.#deps.chain.import(block)
    this.#importing = false
    if (outcome.ok && outcome.value === 'connected') return this.#deps.onMined(block)
    if (!outcome.ok) this.#blame(block, outcome.fault)
    // Refused even with nothing in it: the next refresh tries again, so that easy work does not become a hot loop.
    if (this.#refusals <= FULL_REFUSALS_MAX) this.#startOver()
  }

  /** Tells of a refused block and takes out what it was refused for. */
  #blame(block: Block, fault: Fault): void {
    this.#refusals++
    this.#deps.onRefused(block, fault)
    dropGuilty(this.#deps.mempool, block, fault)
  }
}
