import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import { workOfTarget } from '../../../consensus/block/pow.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { NetworkLog } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import type { Candidates } from './candidates.ts'
import { RateMeter, type SyncProgress, type SyncState } from './progress.ts'

/** The run that is under way, as far as `Reporter` needs it. */
export interface Running {
  readonly state: 'headers' | 'snapshot' | 'bodies'
  /** Height up to which headers are proven; 0 if none are. */
  readonly headersHeight: number
  readonly totalWork: bigint
  /** Finished part of the present stage, 0 to 1; null if it follows from heights. */
  readonly part: number | null
}

interface ReporterDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  readonly log: NetworkLog
  readonly expectsPeers: boolean
}

const TICK_MS = 1_000
const LOG_MS = 10_000
/** A node without a peer this long after its start goes on alone. */
const ALONE_MS = 10_000
/**
 * How long unproven claims of peers count, all together. A claim costs nothing, so claims must not keep this node from its work. New peers
 * and new blocks do not restart the time, because both come without end.
 */
const UNPROVEN_MS = 10_000
const UNREACHABLE =
  'a heavier branch forks below the blocks that this node can unwind: nothing is mined or sold here; only a fresh data folder can join it'
/** A node that is more than so many blocks behind a proven heavier branch counts as behind. */
const BEHIND_BLOCKS = 10

/** Tells listeners, the log and callers how far the synchroniser has come. */
export class Reporter {
  readonly #deps: ReporterDependencies
  readonly #candidates: Candidates
  readonly #running: () => Running | null
  readonly #provenWork: () => bigint
  readonly #rate = new RateMeter()
  readonly #listeners: ((progress: SyncProgress) => void)[] = []
  readonly #startedMs: number
  #connected = 0
  #behind = true
  /** When peers began to claim more than is proven to us; null while a heavier branch is proven. */
  #claimedMs: number | null = null
  /** Work of the last proven heavier branch that cannot be followed. */
  #unreachableWork = 0n
  #started = false
  #cancel: () => void = () => {}
  #loggedMs = Number.NEGATIVE_INFINITY
  #told = ''

  constructor(
    dependencies: ReporterDependencies,
    candidates: Candidates,
    running: () => Running | null,
    provenWork: () => bigint,
  ) {
    this.#deps = dependencies
    this.#candidates = candidates
    this.#running = running
    this.#provenWork = provenWork
    this.#startedMs = dependencies.clock.now()
  }

  get behind(): boolean {
    return this.#behind
  }

  start(): void {
    this.#started = true
    this.#tick()
  }

  stop(): void {
    this.#cancel()
  }

  onProgress(listener: (progress: SyncProgress) => void): void {
    this.#listeners.push(listener)
  }

  /** Notes a proven heavier branch that cannot be followed. Until its own head has as much work, this node counts as behind. */
  noteUnreachable({ id, header, totalWork }: HeaderTip): void {
    this.#unreachableWork = totalWork
    const facts = { branchHeight: header.height, branchId: id, height: this.#deps.chain.head.header.height }
    this.#deps.log.warn(facts, UNREACHABLE)
    this.refresh()
  }

  connected(count: number): void {
    this.#connected += count
    this.#rate.note(this.#deps.clock.now(), this.#connected)
  }

  /** Works out again whether this node is behind. Listeners hear if that or the state changed. */
  refresh(): void {
    const before = this.#behind
    this.#behind = this.#isBehind()
    const progress = this.progress()
    if (before && !this.#behind)
      this.#deps.log.info({ height: progress.height, peers: progress.peers }, 'at the head of the network')
    const told = `${progress.state} ${progress.behind}`
    if (told === this.#told) return
    this.#told = told
    this.#tell(progress)
  }

  progress(): SyncProgress {
    const { chain, peers } = this.#deps
    const { height } = chain.head.header
    const running = this.#running()
    const targetHeight = Math.max(height, this.#candidates.targetHeight(), running?.headersHeight ?? 0)
    const blocksPerSecond = this.#rate.perSecond()
    return {
      state: this.#stateOf(running),
      height,
      headersHeight: Math.max(height, running?.headersHeight ?? 0),
      targetHeight,
      peers: peers.list().length,
      blocksPerSecond,
      secondsLeft: blocksPerSecond > 0 && this.#behind ? (targetHeight - height) / blocksPerSecond : null,
      behind: this.#behind,
    }
  }

  #stateOf(running: Running | null): SyncState {
    if (!this.#behind) return 'synced'
    return running?.state ?? 'starting'
  }

  #isBehind(): boolean {
    const { chain, peers, clock, expectsPeers } = this.#deps
    const running = this.#running()
    const { head } = chain
    const margin = workOfTarget(head.header.target) * BigInt(BEHIND_BLOCKS)
    if (this.#provenWork() > head.totalWork + margin || this.#unreachableWork > head.totalWork) return true
    if (running !== null && running.totalWork > head.totalWork) {
      if (running.headersHeight - head.header.height > BEHIND_BLOCKS) {
        this.#claimedMs = null
        return true
      }
    }
    if (!this.#behind) return false
    if (peers.list().length === 0) return expectsPeers && clock.now() - this.#startedMs < ALONE_MS
    return this.#candidates.isAnyAhead() && this.#isClaimFresh()
  }

  /** While our head lacks the work that the release knows of, any claim of more work counts. */
  #isClaimFresh(): boolean {
    const { chain, clock } = this.#deps
    if (chain.head.totalWork < chain.ruleBook.params.minimumWork) return true
    this.#claimedMs ??= clock.now()
    return clock.now() - this.#claimedMs < UNPROVEN_MS
  }

  #tick(): void {
    if (!this.#started) return
    this.#cancel = this.#deps.timers.after(TICK_MS, () => this.#tick())
    this.#rate.note(this.#deps.clock.now(), this.#connected)
    this.refresh()
    if (!this.#behind) return
    this.#tell(this.progress())
    const now = this.#deps.clock.now()
    if (now - this.#loggedMs < LOG_MS) return
    this.#loggedMs = now
    this.#log()
  }

  #tell(progress: SyncProgress): void {
    for (const listener of this.#listeners) listener(progress)
  }

  #log(): void {
    const { state, height, headersHeight, targetHeight, peers, blocksPerSecond, secondsLeft } = this.progress()
    const part = this.#running()?.part ?? (targetHeight === 0 ? 0 : height / targetHeight)
    const facts = { state, height, headersHeight, targetHeight, peers, percent: Math.floor(part * 1_000) / 10 }
    const pace = {
      blocksPerSecond: Math.round(blocksPerSecond * 10) / 10,
      secondsLeft: secondsLeft && Math.ceil(secondsLeft),
    }
    this.#deps.log.info({ ...facts, ...pace }, 'synchronising')
  }
}
