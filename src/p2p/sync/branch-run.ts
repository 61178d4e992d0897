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
import { Prover, proveBranch, type Unproven } from './prove.ts'
import { type BranchHeader, ProvenBranch } from './proven-branch.ts'
import type { Running } from './reporter.ts'
import type { Signal } from './signal.ts'

/** What a branch is followed with. */
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
 * How a run ended: everything is imported; the peer did not give what it claimed; its branch was proven to have less work than it
 * claimed; it came to nothing for another reason, of which whoever is to blame was told; the node stops; another branch is looked at
 * first; it led on, but so slowly that others are looked at; others did not give what they said they have of it.
 */
export type RunEnd = 'done' | 'useless' | 'short' | 'failed' | 'stopped' | 'gave-way' | 'slow' | 'ungiven'

/** What a run must know of other branches besides: what is followed too far cannot be left again for one that forks below. */
export interface BranchSurroundings extends RunSurroundings {
  /** By how much longer than usual blocks are waited for while others wait. */
  readonly patience: number
  /** Whether a state could be taken in place of its blocks. */
  readonly mayTakeState: () => boolean
  /** Wait for blocks that each one makes up for, before that is done, in ms. */
  readonly stateWorthMs: number
  /** Whether a peer that claims more work than this shows a branch without that block; `height` is that of the branch's end. */
  readonly isDisputed: (block: BlockRef, totalWork: bigint, height: number) => Promise<boolean>
}

/** A run that waits for so long without a new block ends. */
const STALLED_MS = 30_000
/**
 * A run that has waited for so long gives way to another peer's branch; each block makes up for some. Otherwise a branch of
 * little work whose owner gives a block now and then would keep us from all others for days.
 */
const WAITED_MS_MAX = 30_000
const WAIT_PAID_MS = 500
const LOOK_AGAIN_MS = 250
/** Blocks on one that all who follow its branch have, whatever the newest of them are. */
const BURIED_BLOCKS = 100
/** After so many blocks it is asked again whether the branch is disputed: peers may have come meanwhile. */
const CLEAR_BLOCKS = 100
/** A block that this node could not judge is tried again so often. */
const RETRIES_MAX = 20
const RETRY_MS = 1_000

/** Follows the branch of one peer: proves its headers, fetches its blocks from everybody, and imports them in order. */
export class BranchRun implements Running {
  readonly #branch = new ProvenBranch()
  readonly #deps: BranchRunDependencies
  readonly #peer: PeerId
  readonly #changed: Signal
  readonly #around: BranchSurroundings
  readonly #bodies: BodyFetch
  #end: RunEnd | null = null
  /** Whether it ended because blocks did not come, whoever is to blame. */
  lacksBlocks = false
  #movedMs: number
  #waitedMs = 0
  #stateWaitedMs = 0
  #hasMoved = false
  #retries = 0
  /** Up to here no peer with more work disputes the branch. */
  #clearHeight = -1
  /** What peers were asked about last. */
  #asked: BranchHeader | undefined
  /** Work of all of it, where that was proven before. */
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

  /** Goes on until nothing is left or nothing moves. It never rejects. */
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
      // Lighter than ours after all. Whether that is less than the peer claimed is looked at elsewhere.
      this.#end = 'done'
      return
    }
    const block = this.#isWorthBlocks ? this.#bodies.front() : undefined
    if (block === undefined) return this.#wait()
    if (await this.#isClear(block.header.height)) await this.#import(block)
  }

  /** Whether this node may follow the branch to a height. Peers are asked as far ahead as it is proven: who shares that shares all before. */
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

  /** What it gives way to after so long a wait: another branch, a state in place of this one's blocks, or nothing. */
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
    // Blocks came, and may have come as quickly as our own line takes them.
    if (this.#hasMoved && !stalled) return 'slow'
    return this.lacksBlocks && this.#bodies.isOwnerToBlame ? 'useless' : 'failed'
  }

  /** Blocks are fetched where they make the best chain longer, or the branch is proven to become the best. */
  get #isWorthBlocks(): boolean {
    const front = this.#branch.at(0)
    const { head } = this.#deps.chain
    return front !== undefined && (front.parent === head.id || this.#branch.totalWork > head.totalWork)
  }

  /** Lets go of headers whose blocks came by other ways. */
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

  /** What this node could not judge is tried again; the rest ends the run. */
  async #refused({ code }: Fault): Promise<void> {
    const again = code === 'chain/unverified' || code === 'chain/keys-missing' || code === 'block/time-too-new'
    this.#retries += 1
    if (code === 'chain/stopped') this.#end = 'stopped'
    else if (!again || faultRow(code).blame === 'sender' || this.#retries > RETRIES_MAX) this.#end = 'failed'
    else await this.#changed.wait(RETRY_MS)
  }
}
