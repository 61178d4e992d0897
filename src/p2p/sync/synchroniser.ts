import { decodeHeader } from '../../../consensus/block/header.ts'
import type { HeaderTip } from '../../../consensus/chain/header-tip.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { NetworkLog, PeerId } from '../network.ts'
import type { Peer } from '../peers/peers.ts'
import { within } from '../relay/within.ts'
import { holds } from './body-sources.ts'
import { BranchRun, type BranchRunDependencies, type RunEnd } from './branch-run.ts'
import { Candidates, isChosen } from './candidates.ts'
import { type Claim, isClaimEnough } from './claim.ts'
import { type ClaimOutcome, Claims } from './claims.ts'
import { type HeaderPage, HeaderWalk } from './header-walk.ts'
import { locatorBehind, locatorOf } from './locator.ts'
import type { SyncProgress } from './progress.ts'
import type { Unproven } from './prove.ts'
import { Reporter } from './reporter.ts'
import { Signal } from './signal.ts'
import { SnapshotChoice } from './snapshot-choice.ts'
import type { SnapshotDoor, SnapshotSetting } from './snapshot-door.ts'
import { SnapshotRun } from './snapshot-run.ts'

/** What the synchroniser works with. */
export interface SynchroniserDependencies extends BranchRunDependencies {
  readonly log: NetworkLog
  /** Null where this node takes no snapshots. */
  readonly snapshots: SnapshotDoor | null
  readonly snapshotSetting: SnapshotSetting
  /** Whether peers or seeds are configured, or have been met before: without any nobody is waited for. */
  readonly expectsPeers: boolean
  /** Called with errors after which the process must not go on. */
  readonly onFatal: (error: unknown) => void
}

const LOOK_AGAIN_MS = 1_000
/** A peer that takes longer for its first headers gives way to others. */
const PATIENCE_MS = 5_000
/** The newest blocks come by gossip; those that it lost are fetched after this. */
const GOSSIP_MS = 1_500
const GOSSIP_BLOCKS = 2
const KEPT_MISSES_MAX = 2
/** How long after the start a state is not taken from who came to us before peers that we choose are connected. */
export const CHOSEN_MS = 30_000
/** Times that a peer's claim alone counts against what others have proven: one look at its branch, and letting go of kept headers for it. */
const CHANCES_MAX = 4
/** A state that is taken is broken off no more often for branches of peers that came to us: those may come without end. */
const BREAK_MS = 60_000
/** Pages of 2,000 headers that may hold nothing new: more than the blocks below a fork that can be followed, and its own. */
const KNOWN_PAGES_MAX = 3

/** Keeps this node at the heaviest proven branch of its peers. */
export class Synchroniser {
  readonly #deps: SynchroniserDependencies
  readonly #candidates: Candidates
  readonly #changed: Signal
  readonly #claims: Claims
  readonly #reporter: Reporter
  readonly #choice = new SnapshotChoice()
  #run: BranchRun | SnapshotRun | null = null
  /** Since when somebody is ahead of our head. */
  #ahead: { readonly of: BlockId; readonly sinceMs: number } | null = null
  /** What came to nothing last: the other way is tried next, or one liar who offers it would keep us from both. */
  #failed: 'blocks' | 'snapshot' | null = null
  /** Peers in a row that did not lead on from the kept headers. */
  readonly #keptMisses = new Set<PeerId>()
  /** Peers that have the block of a state that is taken. */
  readonly #sharing = new Map<PeerId, BlockId>()
  readonly #startedMs: number
  /** How often the state of another was broken off for a peer, and kept headers let go of by its claim alone. */
  readonly #chances = new Map<PeerId, number>()
  /** When a state was last broken off for another branch. */
  #brokenMs = Number.NEGATIVE_INFINITY
  #stopped = false
  #loop: Promise<void> = Promise.resolve()

  constructor(dependencies: SynchroniserDependencies) {
    this.#deps = dependencies
    this.#changed = new Signal(dependencies.timers)
    this.#startedMs = dependencies.clock.now()
    this.#candidates = new Candidates(dependencies)
    this.#claims = new Claims(dependencies, (peer, outcome) => this.#claimed(peer, outcome))
    this.#reporter = new Reporter(dependencies, this.#candidates, () => this.#run)
    dependencies.peers.onPeer({
      ready: () => this.#changed.wake(),
      news: () => this.#changed.wake(),
      gone: (id) => {
        this.#candidates.forget(id)
        this.#sharing.delete(id)
        this.#chances.delete(id)
        this.#claims.forget(id)
        this.#changed.wake()
      },
    })
    dependencies.chain.onHeadChange(({ connected }) => this.#reporter.connected(connected.length))
  }

  /** Begins; call once. */
  start(): void {
    this.#reporter.start()
    this.#loop = this.#follow().catch((error: unknown) => this.#deps.onFatal(error))
  }

  /** Ends; a block that is being imported is finished first. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#claims.stop()
    this.#reporter.stop()
    this.#changed.wake()
    await this.#loop
  }

  /** A peer showed a header whose parent is not here: its headers are looked at soon. */
  wanted(peer: PeerId): void {
    this.#candidates.want(peer)
    this.#changed.wake()
  }

  progress(): SyncProgress {
    return this.#reporter.progress()
  }

  /** Hears of progress: at most once a second, and whenever the state or `behind` changes. */
  onProgress(listener: (progress: SyncProgress) => void): void {
    this.#reporter.onProgress(listener)
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      this.#reporter.refresh()
      const peer = this.#candidates.best((id) => this.#claims.has(id))
      if (peer === undefined) this.#ahead = null
      const waitMs = peer === undefined ? LOOK_AGAIN_MS : this.#leftToGossip(peer)
      if (peer === undefined || waitMs > 0) await this.#changed.wait(Math.max(1, waitMs))
      else await this.#look(peer)
    }
  }

  /**
   * How long gossip may still take for a block or two that a peer has and we have not. The time runs from our own head on:
   * whoever claims another head every moment must not begin it anew.
   */
  #leftToGossip({ head }: Peer): number {
    const { chain, clock } = this.#deps
    if (this.#reporter.behind || head.height - chain.head.header.height > GOSSIP_BLOCKS) return 0
    if (this.#ahead?.of !== chain.head.id) this.#ahead = { of: chain.head.id, sinceMs: clock.now() }
    return this.#ahead.sinceMs + GOSSIP_MS - clock.now()
  }

  /** Looks at a peer's branch, and follows it as far as it is worth it. */
  async #look(peer: Peer): Promise<void> {
    const { id } = peer.info
    this.#candidates.looking(id)
    const height = this.#deps.chain.head.header.height
    const end = await this.#walk(peer)
    this.#run = null
    if (end === 'stopped' || end === 'collecting') return
    if (end === 'useless') this.#deps.peers.report(id, 'useless', `claimed ${peer.head.id} at ${peer.head.height}`)
    const moved = this.#deps.chain.head.header.height !== height
    if (moved) this.#failed = null
    if (moved) this.#chances.clear()
    if (end === 'done' && moved) this.#candidates.unpark(id)
    else if (end === 'gave-way') this.#candidates.rest(id)
    else this.#candidates.park(id)
    this.#deps.log.debug({ peer: id, end, height: this.#deps.chain.head.header.height }, 'followed a branch')
  }

  async #walk(peer: Peer): Promise<RunEnd | 'collecting'> {
    const { id } = peer.info
    const isSnapshotWanted = SnapshotRun.isWanted(this.#deps, peer, this.#failed)
    const kept = isSnapshotWanted ? this.#deps.snapshots?.keptTip() : undefined
    const claim = this.#claimOf(id, kept)
    const walk = new HeaderWalk(
      this.#deps,
      id,
      claim === undefined ? { tip: kept } : { tip: claim.base, sizes: claim.sizes },
    )
    const first = await this.#firstNew(walk)
    if (first === null) return this.#stopped ? 'stopped' : 'failed'
    if (!first.ok) {
      const missed = kept !== undefined && first.fault.code === 'chain/unknown-parent'
      // Asked again at once: the peers that made us keep what it does not have come before it the next time too.
      return missed && (await this.#forgetKept(peer)) ? this.#walk(peer) : 'failed'
    }
    this.#keptMisses.clear()
    const { tip } = walk
    // It has nothing behind the newest block that both have, which is one of ours.
    if (tip === undefined) return this.#isShort(peer, this.#deps.chain.head.totalWork) ? 'useless' : 'failed'
    if (first.value.headers.length === 0 && kept === undefined)
      return walk.early ? 'failed' : this.#nothingNew(peer, tip)
    if (claim === undefined && !isClaimEnough(this.#deps.chain, tip.totalWork)) {
      if (!first.value.more) return !walk.early && this.#isShort(peer, tip.totalWork) ? 'useless' : 'failed'
      this.#claims.collect(id, walk, first.value)
      return 'collecting'
    }
    return this.#prove(peer, { walk, first: first.value, claim }, isSnapshotWanted ? this.#deps.snapshots : null)
  }

  /**
   * The first page with something new, or the last that was asked for. The steps of the locator double: behind the newest of its blocks that
   * a peer has may come pages of blocks that are stored here, below the fork and on the peer's branch. They are waited for
   * together no longer than one is.
   */
  async #firstNew(walk: HeaderWalk): Promise<Result<HeaderPage> | null> {
    let isOver = false
    const pages = async (): Promise<Result<HeaderPage>> => {
      let page = await walk.next({ claimed: true })
      for (let known = 1; known <= KNOWN_PAGES_MAX && !isOver; known++) {
        if (!page.ok || page.value.headers.length > 0 || !page.value.more) break
        page = await walk.next({ claimed: true })
      }
      return page
    }
    const first = await this.#patiently(pages())
    isOver = true
    return first
  }

  /** What a peer claimed, unless that stands on headers that were kept then and are not, or not the last ones, any more. */
  #claimOf(id: PeerId, kept: HeaderTip | undefined): Claim | undefined {
    const claim = this.#claims.take(id)
    if (claim === undefined) return undefined
    const { database } = this.#deps.chain
    const stands = kept === undefined ? database.entry(claim.base.id) !== undefined : claim.base.id === kept.id
    return stands ? claim : undefined
  }

  /** With `snapshots`, for a state; else for blocks. */
  async #prove(peer: Peer, unproven: Unproven, snapshots: SnapshotDoor | null): Promise<RunEnd> {
    const { peers, log } = this.#deps
    const { id } = peer.info
    const around = { stopped: () => this.#stopped, others: () => this.#isAnotherWaiting(id) }
    const surroundings = {
      ...around,
      othersCame: () => this.#othersCame(peer),
      isDisputed: (block: BlockId, totalWork: bigint) => this.#isDisputed(block, totalWork),
      onUnreachable: (tip: HeaderTip) => this.#reporter.noteUnreachable(tip),
    }
    const run =
      snapshots !== null
        ? new SnapshotRun({ ...this.#deps, choice: this.#choice }, snapshots, id, surroundings)
        : new BranchRun(this.#deps, id, this.#changed, around)
    const next = (unproven.walk.base?.header.height ?? 0) + 1
    if (run instanceof BranchRun && !peers.list().some((other) => holds(other, next))) {
      log.warn({ height: next, peers: peers.list().length }, 'no connected peer holds the next blocks; waiting for one')
      return 'failed'
    }
    this.#run = run
    const end = await run.run(unproven)
    if (run instanceof SnapshotRun && run.proven && end === 'failed') this.#failed = 'snapshot'
    if (run instanceof SnapshotRun && unproven.walk.slow) this.#keptMisses.add(id)
    if (run instanceof BranchRun && end === 'useless') this.#failed = 'blocks'
    return end === 'done' && !unproven.walk.early && this.#isShort(peer, run.totalWork) ? 'useless' : end
  }

  /** Whether another peer's branch could be followed in place of this one's. */
  #isAnotherWaiting(id: PeerId): boolean {
    return this.#candidates.best((other) => other === id || this.#claims.has(other)) !== undefined
  }

  /** Waits until we have chosen a peer, where this one came to us: the first who comes after a start can be anybody. */
  async #othersCame(peer: Peer): Promise<void> {
    const { peers, clock, expectsPeers } = this.#deps
    const isEarly = (): boolean => expectsPeers && clock.now() - this.#startedMs < CHOSEN_MS
    while (!this.#stopped && !isChosen(peer) && !peers.list().some(isChosen) && isEarly())
      await this.#changed.wait(LOOK_AGAIN_MS)
  }

  /**
   * Whether a peer that claims more work than the kept headers shows a branch without the block of a state. Peers on the same branch are
   * always ahead of those headers, and have that block.
   */
  async #isDisputed(block: BlockId, totalWork: bigint): Promise<boolean> {
    const { peers, clock } = this.#deps
    if (!peers.list().some(isChosen) && clock.now() - this.#brokenMs < BREAK_MS) return false
    const open = this.#candidates
      .above(totalWork)
      .filter(({ info: { id } }) => this.#hasChance(id) && this.#sharing.get(id) !== block)
    const disputes = await Promise.all(open.map(({ info }) => this.#lacks(info.id, block)))
    return disputes.includes(true)
  }

  /** Whether a peer shows that it has not a block; then its branch is looked at next. Who says nothing says nothing against it. */
  async #lacks(id: PeerId, block: BlockId): Promise<boolean> {
    const { peers, timers, clock, chain } = this.#deps
    const locator = locatorBehind(block, locatorOf(chain))
    const reply = await within(timers, PATIENCE_MS, peers.exchange.ask(id, 'headers', { locator, limit: 1 }))
    if (reply?.ok !== true) return false
    const [first] = reply.value.map(decodeHeader)
    if (first?.ok !== true) return false
    if (first.value.header.parent === block) {
      this.#sharing.set(id, block)
      return false
    }
    this.#takeChance(id)
    this.#candidates.unpark(id)
    this.#brokenMs = clock.now()
    return true
  }

  /** Whether a peer's mere claim may still take others from what they give: a liar must not do so again and again. */
  #hasChance(id: PeerId): boolean {
    return (this.#chances.get(id) ?? 0) < CHANCES_MAX
  }

  #takeChance(id: PeerId): void {
    this.#chances.set(id, (this.#chances.get(id) ?? 0) + 1)
  }

  /**
   * Lets go of kept headers that two peers in a row do not have, or lead on from too slowly, or one that claims more work than they show:
   * first of the newest, which may be stale, then of all. Peers that came to us, who may be one, have no say where we chose some.
   * Whether any were let go of.
   */
  async #forgetKept(peer: Peer): Promise<boolean> {
    const { peers, snapshots } = this.#deps
    if (!isChosen(peer) && peers.list().some(isChosen)) return false
    this.#keptMisses.add(peer.info.id)
    const { id } = peer.info
    const isHeavier = peer.head.totalWork > (snapshots?.keptTip()?.totalWork ?? 0n) && this.#hasChance(id)
    if (!isHeavier && this.#keptMisses.size < KEPT_MISSES_MAX) return false
    if (isHeavier) this.#takeChance(id)
    await snapshots?.shortenHeaders()
    return true
  }

  /** A branch that was too light at its beginning is known to its end, or as far as it suffices. */
  #claimed(peer: PeerId, outcome: ClaimOutcome): void {
    if (outcome === 'too-little') this.#deps.peers.report(peer, 'useless', 'its branch claims too little work')
    if (outcome === 'enough') this.#candidates.unpark(peer)
    else this.#candidates.park(peer)
    this.#changed.wake()
  }

  /** All that the peer has is stored here. A heavier branch that is not the best chain was held up by something. */
  async #nothingNew(peer: Peer, tip: HeaderTip): Promise<RunEnd> {
    const { chain, intake } = this.#deps
    const block = tip.totalWork > chain.head.totalWork ? chain.database.block(tip.id) : undefined
    if (block === undefined) return this.#isShort(peer, tip.totalWork) ? 'useless' : 'done'
    const outcome = await intake.take(block, peer.info.id, tip.totalWork)
    return outcome.ok ? 'done' : 'failed'
  }

  /** Whether the peer has less than it says of itself. Headers that it passed on are no claim: their bodies may be bad. */
  #isShort({ status }: Peer, totalWork: bigint): boolean {
    return status.totalWork > totalWork
  }

  /** Waits for a peer's first headers: null where it takes too long while others wait, or the node stops. */
  async #patiently(page: Promise<Result<HeaderPage>>): Promise<Result<HeaderPage> | null> {
    const { clock } = this.#deps
    const startedMs = clock.now()
    let came = false
    const note = (): void => {
      came = true
      this.#changed.wake()
    }
    void page.then(note, note)
    while (!came) {
      await this.#changed.wait(LOOK_AGAIN_MS)
      const slow = clock.now() - startedMs >= PATIENCE_MS && this.#deps.peers.list().length > 1
      // What it is checked with may be closed by then: a page that is given up fails unheard.
      if (this.#stopped || (!came && slow)) return null
    }
    return page
  }
}
