import { decodeHeader } from '../../../consensus/block/header.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { pause, within } from '../relay/within.ts'
import { type Candidates, isChosen } from './candidates.ts'
import type { BlockRef } from './denials.ts'
import { locatorBehind, locatorOf } from './header-walk.ts'

/** What a contest works with. */
export interface ContestDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  /** Whether peers or seeds are configured. */
  readonly expectsPeers: boolean
}

/** Blocks that a branch may lead on without a contest. This node can unwind more (`UNDO_BLOCKS`). */
const NEAR_BLOCKS = 600
/** Wait for chosen peers before any branch is followed far: after sleep, and from the start on while none is connected. */
export const CHOSEN_MS = 30_000
/** The same wait while one or two chosen peers are connected. The first to answer may be a liar. */
const OTHERS_MS = 5_000
const CHOSEN_ENOUGH = 3
const PATIENCE_MS = 5_000
const LOOK_AGAIN_MS = 1_000
/** A gap between two looks that means sleep. No work of this node takes so long. */
const SLEEP_MS = 20_000
/** How often a silent chosen peer is asked, and the pause between. An honest one may be busy for a moment. */
const QUESTIONS_MAX = 5
const QUESTION_PAUSE_MS = 5_000
/**
 * While no chosen peer is connected, taking a state is not broken off within this time after a dispute. Peers that came to us could dispute
 * without end.
 */
const BREAK_MS = 60_000

/** How long in all a peer may hold others up while its claim is collected and not proven, and for how many peers that is remembered. */
const HOLD_MS = 600_000
const HELD_MAX = 1_024

type Answer = 'shares' | 'lacks' | 'silent'

/**
 * Before this node follows a branch farther than it can come back, it asks peers that claim more work whether they have a block of it. A
 * light branch can be long: if the times in its headers are far apart, its difficulty falls.
 */
export class Contest {
  readonly #deps: ContestDependencies
  readonly #candidates: Candidates
  readonly #isCollected: (id: PeerId) => boolean
  /** Times when this node began to look for peers and when it woke from sleep. */
  #startedMs: number
  #wokeMs = Number.NEGATIVE_INFINITY
  /** Since when each peer whose claim is collected holds others up. */
  readonly #heldMs = new LruMap<string, { readonly sinceMs: number }>(HELD_MAX)
  /** The last block that a peer said it has. */
  readonly #sharing = new Map<PeerId, BlockId>()
  /** Height up to which no peer with more work disputes what was followed. */
  #clearHeight: number
  #brokenMs = Number.NEGATIVE_INFINITY
  #stopped = false
  #cancel: () => void = () => {}

  constructor(dependencies: ContestDependencies, candidates: Candidates, isCollected: (id: PeerId) => boolean) {
    this.#deps = dependencies
    this.#candidates = candidates
    this.#isCollected = isCollected
    this.#startedMs = dependencies.clock.now()
    this.#clearHeight = dependencies.chain.head.header.height
  }

  /** Begins to watch the clock. After sleep connections may be dead, and peers' claims are old. */
  start(): void {
    const beganMs = this.#deps.clock.now()
    this.#cancel = this.#deps.timers.after(LOOK_AGAIN_MS, () => {
      const nowMs = this.#deps.clock.now()
      if (nowMs - beganMs > SLEEP_MS) this.#wokeMs = nowMs
      // A clock that was set back must not make any wait longer.
      this.#wokeMs = Math.min(this.#wokeMs, nowMs)
      this.#startedMs = Math.min(this.#startedMs, nowMs)
      this.start()
    })
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  /** Waits anew for others after the first peer came, or the first chosen one. */
  came(peer: Peer): void {
    const others = this.#deps.peers.list().filter(({ info }) => info.id !== peer.info.id)
    if (others.length === 0 || (isChosen(peer) && !others.some(isChosen))) this.#waitAnew()
  }

  /** Waits anew after the last chosen peer left: it may come back, or others may come. */
  left(peer: Peer): void {
    this.#sharing.delete(peer.info.id)
    if (isChosen(peer) && !this.#deps.peers.list().some(isChosen)) this.#waitAnew()
  }

  /** Whether chosen peers have not had enough time yet to connect and show their branches. */
  get isEarly(): boolean {
    const { peers, clock, expectsPeers } = this.#deps
    const chosen = peers.list().filter(isChosen).length
    const waitMs = chosen > 0 ? OTHERS_MS : CHOSEN_MS
    if (!expectsPeers) return false
    const nowMs = clock.now()
    return nowMs - this.#wokeMs < CHOSEN_MS || (chosen < CHOSEN_ENOUGH && nowMs - this.#startedMs < waitMs)
  }

  async #othersCame(peer: Peer): Promise<void> {
    const { peers, timers } = this.#deps
    while (!this.#stopped && peers.isReady(peer.info.id) && this.isEarly) await pause(timers, LOOK_AGAIN_MS)
  }

  /**
   * Whether a gossiped block may be taken. If the head is `NEAR_BLOCKS` or more above the undisputed height, blocks are taken only along a
   * followed branch, which is contested.
   */
  get mayExtend(): boolean {
    return this.#deps.chain.head.header.height - this.#clearHeight < NEAR_BLOCKS
  }

  /**
   * Whether a branch leads more than `NEAR_BLOCKS` above the height up to which there is no dispute, or its peer or one of `heard` claims
   * so.
   */
  isFar(peer: Peer, height: number): boolean {
    const claimed = [peer, ...this.#candidates.heard()].map(({ head }) => head.height)
    return Math.max(height, ...claimed) - this.#clearHeight > NEAR_BLOCKS
  }

  /**
   * Whether a branch is disputed: another peer claims more work than the branch is proven to have, and shows a branch without a block of
   * it. Or the claim of such a peer is being collected, which counts for ten minutes. `height` is the end of the branch. A near end (see
   * `isFar`) is not disputed, because the branch can be left again.
   */
  async isDisputed(owner: Peer, block: BlockRef, totalWork: bigint, height: number): Promise<boolean> {
    if (!this.isFar(owner, height)) return false
    await this.#othersCame(owner)
    if (await this.#isDenied(owner.info.id, block, totalWork, true)) return true
    this.clear()
    return false
  }

  /** Like `isDisputed`, but at any distance, and without asking silent peers again. */
  isDisputedNow(owner: PeerId, block: BlockRef, totalWork: bigint): Promise<boolean> {
    return this.#isDenied(owner, block, totalWork, false)
  }

  /** Notes that no peer disputes what was followed so far. */
  clear(): void {
    this.#clearHeight = this.#deps.chain.head.header.height
  }

  async #isDenied(owner: PeerId, block: BlockRef, totalWork: bigint, isPatient: boolean): Promise<boolean> {
    const { peers, clock, timers } = this.#deps
    if (!isPatient && !peers.list().some(isChosen) && clock.now() - this.#brokenMs < BREAK_MS) return false
    for (let question = 1; !this.#stopped; question++) {
      const rivals = this.#candidates.rivals(totalWork).filter(({ info }) => info.id !== owner)
      // Claims of rivals are being collected, so their own branches are being looked at.
      if (rivals.some(({ info: { id } }) => this.#isCollected(id) && this.#mayHold(id))) return true
      const isOpen = (id: PeerId): boolean => this.#sharing.get(id) !== block.id && !this.#isCollected(id)
      const open = rivals.filter(({ info }) => isOpen(info.id))
      const answers = await Promise.all(open.map(({ info }) => this.#ask(info.id, block)))
      if (answers.includes('lacks')) {
        this.#brokenMs = clock.now()
        return true
      }
      if (!isPatient || !answers.includes('silent')) return false
      if (question === QUESTIONS_MAX || !peers.list().some(isChosen)) {
        for (const [i, { info }] of open.entries()) if (answers[i] === 'silent') this.#candidates.discount(info.id)
        return false
      }
      await pause(timers, QUESTION_PAUSE_MS)
    }
    return false
  }

  #mayHold(id: PeerId): boolean {
    const nowMs = this.#deps.clock.now()
    const name = this.#candidates.nameOf(id)
    const { sinceMs } = this.#heldMs.get(name) ?? { sinceMs: nowMs }
    this.#heldMs.set(name, { sinceMs })
    return nowMs - sinceMs < HOLD_MS
  }

  /** A peer that comes and goes makes this node wait at most half of the time. */
  #waitAnew(): void {
    const nowMs = this.#deps.clock.now()
    if (nowMs - this.#startedMs >= 2 * CHOSEN_MS) this.#startedMs = nowMs
  }

  async #ask(id: PeerId, block: BlockRef): Promise<Answer> {
    const { peers, timers, chain } = this.#deps
    this.#candidates.asking(id)
    const locator = locatorBehind(block.id, locatorOf(chain))
    const reply = await within(timers, PATIENCE_MS, peers.exchange.ask(id, 'headers', { locator, limit: 1 }))
    if (reply?.ok !== true || !peers.isReady(id)) return 'silent'
    const [first] = reply.value.map(decodeHeader)
    if (first?.ok !== true) return 'silent'
    if (first.value.header.parent === block.id) {
      this.#sharing.set(id, block.id)
      this.#candidates.shares(id)
      return 'shares'
    }
    this.#candidates.denies(id)
    this.#candidates.denials.note(id, block)
    return 'lacks'
  }
}
