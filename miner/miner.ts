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
  /** First nonce, below 2^63; default 0. Miners that share a job begin at different nonces. */
  readonly start?: bigint
}

/** Threads that search for nonces. */
export interface NonceSearcher {
  /** Replaces the job of every thread; null stops them. */
  assign(job: MiningJob | null): void
  onFound(listener: (nonce: bigint, job: MiningJob) => void): void
}

/** The parts that a miner works with. */
export interface MinerDependencies {
  readonly chain: Chain
  readonly mempool: Mempool
  readonly searcher: NonceSearcher
  readonly clock: Clock
  readonly pacer: Pacer
  readonly timers: Timers
  /** 32 bytes that separate this miner's headers from those of other miners that work for the same address. */
  readonly extra: Uint8Array
  readonly onMined: (block: Block) => void
  /** The chain refused a block of this miner. A late block is not refused: it becomes a side block. */
  readonly onRefused: (block: Block, fault: Fault) => void
  /** An error that no block can cause: a bug, or a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** How often the template is reviewed: for better fees, for its time, and for its parent. */
export const REFRESH_MS = 1_000

/**
 * Keeps the threads working on the best head. When the head moves they get an empty block at once, so that they do not
 * search on the old head while the full block is built.
 */
export class Miner {
  readonly #deps: MinerDependencies
  readonly #rewardTo: Address
  #template: Template | undefined
  #job: MiningJob | null = null
  #better = false
  #building: Promise<void> = Promise.resolve()
  /** Tasks in `#building`, waiting or running. */
  #queued = 0
  #importing = false
  /** Blocks of this miner that were refused since the head last moved. */
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

  start(): void {
    this.#running = true
    this.#startOver()
    this.#scheduleRefresh()
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#cancelRefresh()
    this.#publish(undefined)
    await this.#building
  }

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

  get #trusting(): boolean {
    return this.#refusals < FULL_REFUSALS_MAX
  }

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
    // The head moved meanwhile. Its listener or the next refresh starts another build.
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
    // The state does not depend on the time, so only the header changes.
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
    // If even an empty block is refused, an immediate retry would be a hot loop at easy work.
    if (this.#refusals <= FULL_REFUSALS_MAX) this.#startOver()
  }

  #blame(block: Block, fault: Fault): void {
    this.#refusals++
    this.#deps.onRefused(block, fault)
    dropGuilty(this.#deps.mempool, block, fault)
  }
}
