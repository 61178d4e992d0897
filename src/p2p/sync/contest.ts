import { decodeHeader } from '../../../consensus/block/header.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { PeerId } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { pause, within } from '../relay/within.ts'
import { type Candidates, isChosen } from './candidates.ts'
import { locatorBehind, locatorOf } from './locator.ts'

/** What is asked of other peers with. */
export interface ContestDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  /** Whether peers or seeds are configured, or have been met before. */
  readonly expectsPeers: boolean
}

/** How long after the start no branch is followed far that came with a peer that we did not choose, while we have chosen none. */
export const CHOSEN_MS = 30_000
/** The same where we have chosen some, until there are a few: the first that answers may be a liar. */
const OTHERS_MS = 5_000
const CHOSEN_ENOUGH = 3
const PATIENCE_MS = 5_000
const LOOK_AGAIN_MS = 1_000
/** Times that a silent peer is asked, and the pause before each time: an honest one may be busy for a moment. */
const QUESTIONS_MAX = 5
const QUESTION_PAUSE_MS = 5_000
/** What is fetched is broken off no more often for branches of peers that came to us: those may come without end. */
const BREAK_MS = 60_000

type Answer = 'shares' | 'lacks' | 'silent'

/**
 * Asks peers that claim more work than a branch whether they have a block of it, before this node follows that branch farther than it
 * can come back. A branch of little work can be long: its blocks come late, and are easy from then on.
 */
export class Contest {
  readonly #deps: ContestDependencies
  readonly #candidates: Candidates
  readonly #startedMs: number
  /** Peers that have a block that was asked about. */
  readonly #sharing = new Map<PeerId, BlockId>()
  #brokenMs = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(dependencies: ContestDependencies, candidates: Candidates) {
    this.#deps = dependencies
    this.#candidates = candidates
    this.#startedMs = dependencies.clock.now()
  }

  stop(): void {
    this.#stopped = true
  }

  /** A peer is gone. */
  forget(id: PeerId): void {
    this.#sharing.delete(id)
  }

  /** Waits until peers that we choose had time to show their branches. */
  async othersCame(peer: Peer): Promise<void> {
    const { peers, clock, timers, expectsPeers } = this.#deps
    const isEarly = (): boolean => {
      const chosen = peers.list().filter(isChosen).length
      const waitMs = chosen > 0 ? OTHERS_MS : CHOSEN_MS
      return chosen < CHOSEN_ENOUGH && clock.now() - this.#startedMs < waitMs
    }
    while (!this.#stopped && expectsPeers && peers.isReady(peer.info.id) && isEarly())
      await pause(timers, LOOK_AGAIN_MS)
  }

  /**
   * Whether a peer that claims more work than this shows a branch without a block; then its branch is looked at next. With `isPatient`
   * peers that say nothing are asked again for a while. Peers on the same branch are always ahead, and have the block.
   */
  async isDisputed(block: BlockId, totalWork: bigint, isPatient = true): Promise<boolean> {
    const { peers, clock, timers } = this.#deps
    if (!isPatient && !peers.list().some(isChosen) && clock.now() - this.#brokenMs < BREAK_MS) return false
    for (let question = 1; !this.#stopped; question++) {
      const open = this.#candidates.rivals(totalWork).filter(({ info: { id } }) => this.#sharing.get(id) !== block)
      const answers = await Promise.all(open.map(({ info }) => this.#ask(info.id, block)))
      if (answers.includes('lacks')) {
        this.#brokenMs = clock.now()
        return true
      }
      if (!isPatient || !answers.includes('silent')) return false
      if (question === QUESTIONS_MAX) {
        for (const [i, { info }] of open.entries()) if (answers[i] === 'silent') this.#candidates.discount(info.id)
        return false
      }
      await pause(timers, QUESTION_PAUSE_MS)
    }
    return false
  }

  async #ask(id: PeerId, block: BlockId): Promise<Answer> {
    const { peers, timers, chain } = this.#deps
    const locator = locatorBehind(block, locatorOf(chain))
    const reply = await within(timers, PATIENCE_MS, peers.exchange.ask(id, 'headers', { locator, limit: 1 }))
    if (reply?.ok !== true) return 'silent'
    const [first] = reply.value.map(decodeHeader)
    if (first?.ok !== true) return 'silent'
    if (first.value.header.parent === block) {
      this.#sharing.set(id, block)
      return 'shares'
    }
    this.#candidates.free(id)
    return 'lacks'
  }
}
