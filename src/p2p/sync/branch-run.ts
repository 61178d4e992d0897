import type { Block } from '../../../consensus/block/block.ts'
import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock, Pacer, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, faultRow } from '../../../consensus/primitives/fault.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { BodyFetch } from './body-fetch.ts'
import type { BodySources } from './body-sources.ts'
import type { BlockRef } from './denials.ts'
import type { RunSurroundings } from './header-walk.ts'
import type { BlockIntake } from './intake.ts'
import { BURIED_BLOCKS, Prover, proveBranch, type Unproven } from './prove.ts'
import { type BranchHeader, ProvenBranch } from './proven-branch.ts'
import type { Running } from './reporter.ts'
import type { Signal } from './signal.ts'

/** What following a branch works with. */
export interface BranchRunDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly intake: BlockIntake
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly timers: Timers
  readonly pacer: Pacer
  readonly sources: BodySources
}

/**
 * How a run ended. `done`: all blocks are imported, a state is taken, or the branch is not heavier than ours. `useless`: the peer did not
 * give what it claimed. `short`: its branch was proven to have less work than claimed. `failed`: another reason, and any peer to blame was
 * reported. `stopped`: the node stops. `gave-way`: another branch is looked at first. `slow`: the peer led on, but so slowly that others
 * are looked at. `ungiven`: blocks or a state did not come, and the peer whose branch it is is not to blame.
 */
export type RunEnd = 'done' | 'useless' | 'short' | 'failed' | 'stopped' | 'gave-way' | 'slow' | 'ungiven'

/** What a run must know of other branches. A branch that was followed too far cannot be left for one that forks below. */
export interface BranchSurroundings extends RunSurroundings {
  /** By what factor blocks are waited for longer than usual while others wait. */
  readonly patience: number
  readonly mayTakeState: () => boolean
  /** Waiting that one block makes up for, in ms, before a state is taken instead. */
  readonly stateWorthMs: number
  /** Whether the branch is disputed, see `Contest.isDisputed`. `block` lies on the branch, and `height` is its end. */
  readonly isDisputed: (block: BlockRef, totalWork: bigint, height: number) => Promise<boolean>
}

/** A run ends if it waits while neither headers nor blocks have come for this long. */
const STALLED_MS = 30_000
/**
 * A run that has waited this long in all, times its patience, gives way to another branch. Each block makes up for `WAIT_PAID_MS`. Without
 * this bound a light branch whose owner gives a block now and then would keep us from all others for days.
 */
const WAITED_MS_MAX = 30_000
const WAIT_PAID_MS = 500
const LOOK_AGAIN_MS = 250
/** After so many blocks the question whether the branch is disputed is asked again, since new peers may have come. */
const CLEAR_BLOCKS = 100
/** How often a block that this node could not judge is tried again. */
const RETRIES_MAX = 20
const RETRY_MS = 1_000

/** Follows the branch of one peer: proves its headers, fetches its blocks from all peers, and imports them in order. */
export class BranchRun implements Running {
  readonly #branch = new ProvenBranch()
  readonly #deps: BranchRunDependencies
  readonly #peer: PeerId
  readonly #changed: Signal
  readonly #around: BranchSurroundings
  readonly #bodies: BodyFetch
  #end: RunEnd | null = null
  /** Whether the run ended because blocks did not come, whichever peer is to blame. */
  lacksBlocks = false
  #movedMs: number
  #waitedMs = 0
  #stateWaitedMs = 0
  #hasMoved = false
  #retries = 0
  /** Up to this height no peer with more work disputes the branch. */
  #clearHeight = -1
  /** The block that peers were last asked about. */
  #asked: BranchHeader | undefined
  /** Work of the whole branch, if it was proven before. */
  #provenBefore = 0n

  constructor(dependencies: BranchRunDependencies, peer: PeerId, changed: Signal, around: BranchSurroundings) {
    this.#deps = dependencies
    this.#peer = peer
    this.#changed = changed
    this.#around = around
    this.#bodies = new BodyFetch(dependencies, this.#branch, peer, changed)
    this.#movedMs = dependencies.clock.now()
  }

  get state(): Running['state'] {
    return this.#branch.complete || this.#branch.full ? 'bodies' : 'headers'
  }

  get headersHeight(): number {
    return this.#branch.height
  }

  get totalWork(): bigint {
    const { totalWork } = this.#branch
    return totalWork > this.#provenBefore ? totalWork : this.#provenBefore
  }

  get part(): null {
    return null
  }

  /** It never rejects. */
  async run(unproven: Unproven): Promise<RunEnd> {
    this.#provenBefore = unproven.claim?.proven?.tip.totalWork ?? 0n
    void this.#proveAll(unproven)
    while (this.#end === null) {
      if (this.#around.stopped()) this.#end = 'stopped'
      else await this.#step()
    }
    this.#bodies.close()
    this.#changed.wake()
    return this.#end
  }

  async #proveAll(unproven: Unproven): Promise<void> {
    const end = await proveBranch(unproven, new Prover(this.#deps, this.#peer), this.#take)
    if (end === 'complete') this.#branch.complete = true
    else this.#end ??= 'failed'
    this.#changed.wake()
  }

  readonly #take = async (headers: readonly HeaderTip[]): Promise<boolean> => {
    this.#branch.push(headers)
    this.#movedMs = this.#deps.clock.now()
    this.#changed.wake()
    while (this.#branch.full && this.#end === null) await this.#changed.wait(LOOK_AGAIN_MS)
    return this.#end === null
  }

  async #step(): Promise<void> {
    this.#skipStored()
    if (this.#end !== null) return
    if (this.#branch.length === 0 && this.#branch.complete) {
      this.#end = 'done'
      return
    }
    if (this.#isWorthBlocks) this.#bodies.fill()
    else if (this.#branch.complete) {
      // The branch is not heavier than ours after all.
      this.#end = 'done'
      return
    }
    const block = this.#isWorthBlocks ? this.#bodies.front() : undefined
    if (block === undefined) return this.#wait()
    if (await this.#isClear(block.header.height)) await this.#import(block)
  }

  /**
   * Whether this node may follow the branch to a height. Peers are asked about a block near the end of the proven headers: a peer that has
   * it has all blocks below.
   */
  async #isClear(height: number): Promise<boolean> {
    if (height <= this.#clearHeight) return true
    const { length } = this.#branch
    if (this.#asked === undefined || this.#asked.height < height + CLEAR_BLOCKS)
      this.#asked = this.#branch.at(Math.max(0, length - BURIED_BLOCKS)) as BranchHeader
    if (await this.#around.isDisputed(this.#asked, this.totalWork, this.#branch.height)) this.#end ??= 'gave-way'
    this.#clearHeight = height + CLEAR_BLOCKS - 1
    this.#movedMs = this.#deps.clock.now()
    return this.#end === null
  }

  async #wait(): Promise<void> {
    const { clock } = this.#deps
    const beganMs = clock.now()
    await this.#changed.wait(LOOK_AGAIN_MS)
    const waitedMs = clock.now() - beganMs
    this.#waitedMs += waitedMs
    this.#stateWaitedMs += waitedMs
    const stalled = clock.now() - this.#movedMs > STALLED_MS
    const givesWay = this.#givesWay
    if (!stalled && givesWay === null) return
    this.lacksBlocks = this.#end === null && this.#branch.length > 0
    this.#end ??= !stalled && givesWay === 'state' ? 'ungiven' : this.#endOfWait(stalled)
  }

  /** What a long wait gives way to: another branch, a state in place of the blocks, or nothing. */
  get #givesWay(): 'branch' | 'state' | null {
    const { patience, others, mayTakeState } = this.#around
    const mostMs = WAITED_MS_MAX * patience
    if (this.#waitedMs > mostMs && others(true)) return 'branch'
    return this.#stateWaitedMs > mostMs && this.#isWorthBlocks && mayTakeState() ? 'state' : null
  }

  #endOfWait(stalled: boolean): RunEnd {
    const front = this.#branch.at(0)
    if (front !== undefined && this.#isWorthBlocks && !this.#bodies.isOwnerToBlame) {
      if (!this.#deps.sources.mayGive(this.#peer, front.height)) return 'ungiven'
    }
    // Blocks came, perhaps as fast as our own line takes them.
    if (this.#hasMoved && !stalled) return 'slow'
    return this.lacksBlocks && this.#bodies.isOwnerToBlame ? 'useless' : 'failed'
  }

  /** Whether the blocks of the branch are worth fetching: they extend the best chain, or the branch is proven to be heavier. */
  get #isWorthBlocks(): boolean {
    const front = this.#branch.at(0)
    const { head } = this.#deps.chain
    return front !== undefined && (front.parent === head.id || this.#branch.totalWork > head.totalWork)
  }

  /** Drops headers whose blocks came by other ways. */
  #skipStored(): void {
    const { database } = this.#deps.chain
    for (let front = this.#branch.at(0); front !== undefined; front = this.#branch.at(0)) {
      const entry = database.entry(front.id)
      if (entry === undefined) return
      if (entry.invalid) {
        this.#deps.peers.report(this.#peer, 'bad-block', `${entry.id} is known to be invalid`)
        this.#end = 'failed'
        return
      }
      this.#next()
    }
  }

  async #import(block: Block): Promise<void> {
    const outcome = await this.#deps.intake.take(block, this.#peer, { provenWork: this.totalWork })
    this.#hasMoved ||= outcome.ok
    if (outcome.ok || outcome.fault.code === 'chain/known-block') this.#next()
    else await this.#refused(outcome.fault)
  }

  #next(): void {
    this.#bodies.release()
    this.#branch.shift()
    this.#movedMs = this.#deps.clock.now()
    this.#waitedMs = Math.max(0, this.#waitedMs - WAIT_PAID_MS)
    this.#stateWaitedMs = Math.max(0, this.#stateWaitedMs - this.#around.stateWorthMs)
    this.#retries = 0
    this.#changed.wake()
  }

  async #refused({ code }: Fault): Promise<void> {
    const again = code === 'chain/unverified' || code === 'chain/keys-missing' || code === 'block/time-too-new'
    this.#retries += 1
    if (code === 'chain/stopped') this.#end = 'stopped'
    else if (!again || faultRow(code).blame === 'sender' || this.#retries > RETRIES_MAX) this.#end = 'failed'
    else await this.#changed.wait(RETRY_MS)
  }
}
