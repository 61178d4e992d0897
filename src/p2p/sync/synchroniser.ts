import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import { type Chain, leastWork } from '../../../consensus/chain/chain.ts'
import type { Clock } from '../../../consensus/chain/ports.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { NetworkLog, PeerId } from '../network.ts'
import type { Peer } from '../peers/peers.ts'
import type { BodyFetchDependencies } from './body-fetch.ts'
import { BodySources, holds } from './body-sources.ts'
import { BranchRun, type BranchRunDependencies, type BranchSurroundings, type RunEnd } from './branch-run.ts'
import { Candidates } from './candidates.ts'
import { type Claim, collectClaim, isClaimEnough, keepsClaim } from './claim.ts'
import { type ClaimOutcome, Claims } from './claims.ts'
import { Contest } from './contest.ts'
import type { BlockRef } from './denials.ts'
import { type FirstPageDependencies, firstNew } from './first-page.ts'
import { type HeaderPage, HeaderWalk, type Others, type RunSurroundings, type WalkDependencies } from './header-walk.ts'
import type { SyncProgress } from './progress.ts'
import type { Unproven } from './prove.ts'
import { ProofRun } from './prove.ts'
import { Reporter } from './reporter.ts'
import { Signal } from './signal.ts'
import { SnapshotChoice } from './snapshot-choice.ts'
import type { SnapshotDoor, SnapshotSetting } from './snapshot-door.ts'
import { SnapshotRun, type SnapshotSurroundings } from './snapshot-run.ts'

/** What the synchroniser works with. */
export interface SynchroniserDependencies extends Omit<BranchRunDependencies, 'sources'> {
  readonly log: NetworkLog
  /** Null if this node takes no snapshots. */
  readonly snapshots: SnapshotDoor | null
  readonly snapshotSetting: SnapshotSetting
  /** Whether peers or seeds are configured. Without any, no peer is waited for. */
  readonly expectsPeers: boolean
  /** Hears of errors after which the process must not go on. */
  readonly onFatal: (error: unknown) => void
}

const LOOK_AGAIN_MS = 1_000
/**
 * Time without a block after which proven headers give way to a lighter undisputed branch, because the blocks of these headers may never be
 * given.
 */
const STUCK_MS = 600_000

/** Keeps this node at the heaviest proven branch of its peers. */
export class Synchroniser {
  readonly #deps: SynchroniserDependencies & WalkDependencies & BodyFetchDependencies
  readonly #candidates: Candidates
  readonly #changed: Signal
  readonly #claims: Claims
  readonly #reporter: Reporter
  readonly #choice = new SnapshotChoice((id) => this.#candidates.nameOf(id))
  readonly #contest: Contest
  readonly #gossip: GossipWait
  #run: BranchRun | SnapshotRun | ProofRun | null = null
  /**
   * Whether a branch was disputed (see `Contest`) since one was last followed to its end. If so, a far branch is proven to its end before
   * its blocks are fetched.
   */
  #isContested = false
  #movedMs: number
  readonly #waiting: FirstPageDependencies
  #stopped = false
  #loop: Promise<void> = Promise.resolve()

  constructor(dependencies: SynchroniserDependencies) {
    this.#changed = new Signal(dependencies.timers)
    this.#candidates = new Candidates(dependencies)
    const sources = new BodySources(dependencies.peers, dependencies.clock)
    this.#deps = { ...dependencies, sources, denials: this.#candidates.denials }
    this.#claims = new Claims(dependencies, (peer, outcome) => this.#claimed(peer, outcome))
    this.#contest = new Contest(dependencies, this.#candidates, (id) => this.#claims.has(id))
    this.#gossip = new GossipWait(dependencies.chain, dependencies.clock)
    this.#waiting = { ...dependencies, changed: this.#changed, stopped: () => this.#stopped }
    this.#movedMs = dependencies.clock.now()
    dependencies.chain.awaitedWork = () => this.#awaitedWork()
    this.#reporter = new Reporter(
      dependencies,
      this.#candidates,
      () => this.#run,
      () => this.#provenWork,
    )
    dependencies.peers.onPeer({
      ready: (peer) => {
        this.#candidates.came(peer)
        this.#contest.came(peer)
        this.#changed.wake()
      },
      news: () => this.#changed.wake(),
      gone: (id, last) => {
        if (this.#claims.has(id)) this.#candidates.asking(id)
        this.#candidates.forget(last)
        this.#contest.left(last)
        this.#claims.forget(id)
        this.#changed.wake()
      },
    })
    dependencies.chain.onHeadChange(({ connected }) => {
      this.#movedMs = dependencies.clock.now()
      this.#reporter.connected(connected.length)
    })
  }

  /** Call it once. */
  start(): void {
    this.#reporter.start()
    this.#contest.start()
    this.#loop = this.#follow().catch((error: unknown) => this.#deps.onFatal(error))
  }

  /** A block that is being imported is finished first. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#claims.stop()
    this.#contest.stop()
    this.#reporter.stop()
    this.#changed.wake()
    await this.#loop
  }

  wanted(peer: PeerId): void {
    this.#candidates.want(peer)
    this.#changed.wake()
  }

  /** See `Contest.mayExtend`. */
  get mayExtend(): boolean {
    return this.#contest.mayExtend
  }

  progress(): SyncProgress {
    return this.#reporter.progress()
  }

  /** The listener hears progress once a second while this node is behind, and whenever the state or `behind` changes. */
  onProgress(listener: (progress: SyncProgress) => void): void {
    this.#reporter.onProgress(listener)
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      this.#reporter.refresh()
      if (!this.#contest.isEarly && this.#candidates.rivals(this.#deps.chain.head.totalWork).length === 0) {
        this.#contest.clear()
        this.#candidates.calm()
      }
      const peer = this.#candidates.best((id) => this.#claims.has(id))
      const waitMs = this.#gossip.leftMs(peer, this.#reporter.behind)
      if (peer === undefined) await this.#changed.wait(LOOK_AGAIN_MS)
      else if (waitMs > 0) await this.#changed.wait(Math.max(1, waitMs))
      else await this.#look(peer)
    }
  }

  async #look(peer: Peer): Promise<void> {
    const { id } = peer.info
    this.#candidates.looking(id)
    const [headBefore, keptBefore] = [this.#deps.chain.head.id, this.#keptTip?.totalWork ?? 0n]
    const end = await this.#walk(peer)
    const moved = this.#deps.chain.head.id !== headBefore
    const isFurther = moved || (this.#keptTip?.totalWork ?? 0n) > keptBefore
    const isPutOff = end === 'gave-way' || (end === 'slow' && !moved)
    if (!isPutOff || this.#claims.of(id)?.proven === undefined) this.#claims.drop(id)
    const hasTakenState = this.#run instanceof SnapshotRun
    this.#run = null
    if (end === 'stopped' || end === 'collecting') return
    if (end === 'useless' || end === 'short')
      this.#deps.peers.report(id, 'useless', `claimed ${peer.head.id} at ${peer.head.height}`)
    // A peer that led on, but not as far as it claimed, waits. A header from the future may have ended its branch, so no blame.
    const isReached = hasTakenState || peer.head.totalWork <= this.#deps.chain.head.totalWork
    if (end === 'done' && moved && isReached) {
      this.#isContested &&= !this.#candidates.isHeard(id)
      this.#candidates.unpark(id)
    } else if (end === 'gave-way') {
      this.#isContested = true
      this.#candidates.rest(id, true)
    } else if (end === 'slow') this.#candidates.slow(id, isFurther)
    else if (end === 'ungiven') this.#candidates.spare(id)
    else if (end === 'short') this.#candidates.refute(id)
    // Its blocks came by gossip before.
    else if (end === 'done' && isReached && this.#candidates.isHeard(id)) this.#candidates.rest(id, false)
    else this.#candidates.park(id)
    this.#deps.log.debug({ peer: id, end, height: this.#deps.chain.head.header.height }, 'followed a branch')
  }

  /** `isBeside`: the kept headers are left aside. They give way only to a branch that is proven to have more work. */
  async #walk(peer: Peer, isBeside = false): Promise<RunEnd | 'collecting'> {
    const { id } = peer.info
    const isSnapshotWanted = SnapshotRun.isWanted(this.#deps, peer, this.#candidates.failedOf(id))
    const keptTip = isSnapshotWanted && !isBeside ? this.#keptTip : undefined
    const claim = this.#claimOf(id, keptTip)
    const kept = claim === undefined || claim.base.id === keptTip?.id ? keptTip : undefined
    const patience = this.#candidates.patienceFor(id)
    const start = claim === undefined ? { tip: kept, patience } : { tip: claim.base, sizes: claim.sizes, patience }
    const walk = new HeaderWalk(this.#deps, id, start)
    const first = await firstNew(walk, peer, this.#waiting)
    if (first === null) return this.#stopped ? 'stopped' : 'failed'
    if (!first.ok) {
      if (first.fault.code === 'chain/fork-too-deep') return this.#beyondReach(peer)
      if (kept === undefined || first.fault.code !== 'chain/unknown-parent') return 'failed'
      return this.#walk(peer, !(await this.#shortenKept(peer)))
    }
    // Its branch builds on the kept headers, so it has them.
    const isKeptShown = kept !== undefined && (walk.early || first.value.headers.length > 0)
    if (isKeptShown && this.#candidates.denials.takeBack(id, this.#isKept)) return 'failed'
    const { tip } = walk
    // The peer has nothing after the newest block that it shares with us, which is one of our best chain.
    if (tip === undefined) return this.#isShort(peer, this.#deps.chain.head.totalWork) ? 'useless' : 'failed'
    if (first.value.headers.length === 0 && kept === undefined)
      return walk.early ? 'failed' : this.#nothingNew(peer, tip)
    if (claim === undefined && !isClaimEnough(this.#deps.chain, tip.totalWork)) {
      if (!first.value.more) return !walk.early && this.#isShort(peer, tip.totalWork) ? 'useless' : 'failed'
      this.#claims.collect(id, walk, first.value)
      return 'collecting'
    }
    const unproven = { walk, first: first.value, claim }
    // How far behind we are is taken from what is shown, not from claims. Kept headers show that we are.
    const isShown =
      keptTip !== undefined ||
      first.value.more ||
      SnapshotRun.isFar(tip.header.height - this.#deps.chain.head.header.height)
    const snapshots = isSnapshotWanted && isShown ? this.#deps.snapshots : null
    if (
      isBeside ||
      kept !== keptTip ||
      claim?.proven !== undefined ||
      (snapshots === null && this.#isContested && this.#contest.isFar(peer, tip.header.height))
    )
      return this.#proveFirst(peer, unproven, snapshots)
    return this.#prove(peer, unproven, snapshots)
  }

  readonly #isKept = ({ id, height }: BlockRef): boolean => this.#deps.snapshots?.keptAt(height)?.id === id

  /** The newest kept headers may be stale. True if any were dropped. */
  async #shortenKept(peer: Peer): Promise<boolean> {
    const { snapshots } = this.#deps
    const work = snapshots?.keptTip()?.totalWork ?? 0n
    if (snapshots === null || peer.head.totalWork <= work || !this.#candidates.isHeard(peer.info.id)) return false
    return snapshots.shortenHeaders()
  }

  /** Proves a branch to its end before anything else, and follows it if it has the most work. */
  async #proveFirst(peer: Peer, unproven: Unproven, snapshots: SnapshotDoor | null): Promise<RunEnd> {
    const { id } = peer.info
    const known = unproven.claim?.proven && unproven.claim
    if (known && !keepsClaim(known, 0, unproven.first.headers)) return 'failed'
    // If the branch has grown since, it is proven from there on, and the present claim is held against that.
    const isWhole = known?.proven !== undefined && !this.#isShort(peer, known.proven.tip.totalWork)
    const claim = isWhole ? known : await this.#proof(peer, unproven)
    if (typeof claim === 'string') return claim
    if (claim.proven === undefined || !this.#deps.peers.isReady(id)) return 'failed'
    const { tip, buried, isEarly } = claim.proven
    // Another branch that waits is proven to have more work, and may still be given.
    const isOutweighed = tip.totalWork < leastWork(tip, this.#claims.provenWork) && !this.#isStuck
    const isLighter = tip.totalWork <= this.#deps.chain.head.totalWork || isOutweighed
    if (this.#isShort(peer, tip.totalWork)) return isEarly ? 'failed' : 'short'
    const kept = snapshots?.keptTip()
    const isOther = kept !== undefined && kept.id !== claim.base.id
    if (isLighter || (isOther && tip.totalWork <= kept.totalWork && !this.#isStuck)) return 'failed'
    // Noted before others are asked. Until they answer this node is behind, and follows nothing lighter.
    this.#claims.put(id, claim)
    if (await this.#contest.isDisputed(peer, buried, tip.totalWork, tip.header.height)) return 'gave-way'
    if (this.#stopped) return 'stopped'
    if (isOther) await snapshots?.dropHeaders()
    const walk = new HeaderWalk(this.#deps, id, { tip: claim.base, sizes: claim.sizes })
    const first = await walk.next({ claimed: false })
    return first.ok ? this.#prove(peer, { walk, first: first.value, claim }, snapshots) : 'failed'
  }

  /** The proven claim of a peer's branch, or how proving it ended early. */
  async #proof({ info }: Peer, unproven: Unproven): Promise<Claim | RunEnd> {
    const run = new ProofRun(this.#deps, info.id, this.#othersOf(info.id))
    this.#run = run
    const claim = await run.run(unproven)
    if (claim !== null || this.#stopped) return claim ?? 'stopped'
    const { slow, waitedMs } = unproven.walk
    // A peer that breaks off is excused if it has shown more work than any other proven branch that waits. A slow one need not have outrun
    // the kept headers yet.
    const kept = this.#keptTip
    const isBeside = kept !== undefined && kept.id !== unproven.walk.base?.id && run.totalWork <= kept.totalWork
    const isMore = run.totalWork > this.#claims.provenBeside(info.id)
    const isWorthMore = isMore && (!isBeside || (slow && this.#candidates.mayBeSlow(info.id)))
    if (!isWorthMore) this.#candidates.heldUp(info.id, waitedMs)
    return slow && isWorthMore ? 'slow' : 'failed'
  }

  /** Handles a branch that forks below what this node can unwind. If its work is proven to be more, the operator must know. */
  async #beyondReach(peer: Peer): Promise<RunEnd> {
    if (!this.#candidates.isHeard(peer.info.id)) return 'failed'
    const around = { stopped: () => this.#stopped, others: this.#othersOf(peer.info.id) }
    const { claim, waitedMs } = await claimFromBelow(this.#deps, peer, this.#waiting, around)
    if (claim === null) {
      this.#candidates.heldUp(peer.info.id, waitedMs)
      return 'failed'
    }
    const walk = new HeaderWalk(this.#deps, peer.info.id, { tip: claim.base, sizes: claim.sizes, deep: true })
    const first = await walk.next({ claimed: true })
    const proof = first.ok ? await this.#proof(peer, { walk, first: first.value, claim }) : 'failed'
    if (typeof proof === 'string' || proof.proven === undefined) return 'failed'
    const { proven } = proof
    if (proven.tip.totalWork > this.#deps.chain.head.totalWork) this.#reporter.noteUnreachable(proven.tip)
    return !walk.early && this.#isShort(peer, proven.tip.totalWork) ? 'short' : 'failed'
  }

  /** A peer's claim, unless it stands on kept headers that are gone or have grown. */
  #claimOf(id: PeerId, kept: HeaderTip | undefined): Claim | undefined {
    const claim = this.#claims.of(id)
    const isThere =
      claim && (claim.base.id === kept?.id || this.#deps.chain.database.entry(claim.base.id) !== undefined)
    if (!isThere) this.#claims.drop(id)
    return isThere ? claim : undefined
  }

  /** Follows the branch: by a state with `snapshots`, by blocks without. */
  async #prove(peer: Peer, unproven: Unproven, snapshots: SnapshotDoor | null): Promise<RunEnd> {
    const [{ peers, log }, { id }] = [this.#deps, peer.info]
    const around: BranchSurroundings = {
      stopped: () => this.#stopped,
      patience: this.#candidates.patienceFor(id),
      others: this.#othersOf(id),
      mayTakeState: () =>
        SnapshotRun.isWanted(this.#deps, peer, 'blocks') &&
        SnapshotRun.isOffered(this.#candidates.heard(), this.#deps.chain.head.header.height),
      stateWorthMs: SnapshotRun.worthMs(this.#deps.chain, peer, this.#candidates.hasFailedState(id)),
      isDisputed: (block, totalWork, height) => this.#contest.isDisputed(peer, block, totalWork, height),
    }
    const surroundings: SnapshotSurroundings = {
      ...around,
      isShort: (totalWork) => !unproven.walk.early && this.#isShort(peer, totalWork),
      isDisputedNow: (block, totalWork) => this.#contest.isDisputedNow(id, block, totalWork),
      onUnreachable: (tip) => this.#reporter.noteUnreachable(tip),
    }
    const run =
      snapshots !== null
        ? new SnapshotRun({ ...this.#deps, choice: this.#choice }, snapshots, id, surroundings)
        : new BranchRun(this.#deps, id, this.#changed, around)
    const next = (unproven.walk.base?.header.height ?? 0) + 1
    if (run instanceof BranchRun && !peers.list().some((other) => holds(other, next))) {
      log.warn({ height: next, peers: peers.list().length }, 'no connected peer holds the next blocks; waiting for one')
      // Only peers with a say are spared. Strangers can come in any number, so they are parked.
      return this.#candidates.isHeard(id) ? 'ungiven' : 'failed'
    }
    this.#run = run
    const end = await run.run(unproven)
    if (run instanceof BranchRun && run.lacksBlocks) this.#candidates.failed(id, 'blocks')
    if (run instanceof SnapshotRun && run.proven && end === 'failed') {
      this.#candidates.failed(id, 'snapshot')
      return unproven.walk.early ? 'failed' : 'ungiven'
    }
    return end === 'done' && !unproven.walk.early && this.#isShort(peer, run.totalWork) ? 'short' : end
  }

  #othersOf(id: PeerId): Others {
    return (isLong) => this.#candidates.mayReplace(id, isLong, (other) => this.#claims.has(other))
  }

  get #keptTip(): HeaderTip | undefined {
    return this.#deps.snapshots?.keptTip()
  }

  get #isStuck(): boolean {
    return this.#deps.clock.now() - this.#movedMs > STUCK_MS
  }

  /**
   * Work of the heaviest proven branch that is not followed to its end; while blocks are imported, work of the branch that they belong to.
   */
  #awaitedWork(): bigint {
    const run = this.#run
    if (run instanceof BranchRun) return run.totalWork
    const proven = this.#isStuck ? this.#claims.provenWork : this.#provenWork
    const own = run?.totalWork ?? 0n
    return own > proven ? own : proven
  }

  /** Work of the heaviest proven branch that waits to be followed. */
  get #provenWork(): bigint {
    const [kept, claimed] = [this.#keptTip?.totalWork ?? 0n, this.#claims.provenWork]
    return kept > claimed ? kept : claimed
  }

  #claimed(peer: PeerId, outcome: ClaimOutcome): void {
    if (outcome === 'too-little') this.#deps.peers.report(peer, 'useless', 'its branch claims too little work')
    if (outcome === 'enough') this.#candidates.free(peer)
    else this.#candidates.park(peer)
    this.#changed.wake()
  }

  /** All that the peer has is stored here. If its branch is heavier than the best chain, something held it up. */
  async #nothingNew(peer: Peer, tip: HeaderTip): Promise<RunEnd> {
    const { chain, intake } = this.#deps
    const block = tip.totalWork > chain.head.totalWork ? chain.database.block(tip.id) : undefined
    if (block === undefined) return this.#isShort(peer, tip.totalWork) ? 'useless' : 'done'
    const outcome = await intake.take(block, peer.info.id, { provenWork: tip.totalWork })
    return outcome.ok ? 'done' : 'failed'
  }

  /** Whether the peer has less than it claims. Headers that it passed on are no claim, because their bodies may be bad. */
  #isShort({ claimedWork }: Peer, totalWork: bigint): boolean {
    return claimedWork > totalWork
  }
}

/**
 * The claim of a branch that forks too deep to unwind, unhashed, and the milliseconds waited. The claim is null if it was not shown to be
 * more work than our head has.
 */
async function claimFromBelow(
  ...[deps, peer, waiting, around]: [WalkDependencies, Peer, FirstPageDependencies, RunSurroundings]
): Promise<{ readonly claim: Claim | null; readonly waitedMs: number }> {
  const walk = new HeaderWalk(deps, peer.info.id, { tip: undefined, deep: true })
  const claim = await collected(deps, walk, await firstNew(walk, peer, waiting), around)
  return { claim, waitedMs: walk.waitedMs }
}

async function collected(
  ...[deps, walk, first, around]: [WalkDependencies, HeaderWalk, Result<HeaderPage> | null, RunSurroundings]
): Promise<Claim | null> {
  if (first?.ok !== true) return null
  const { ruleBook, head } = deps.chain
  const judge = { ruleBook, leastWork: head.totalWork + 1n }
  const claim = await collectClaim(walk, first.value, judge, around)
  return claim.ok ? claim.value : null
}

/** The newest blocks come by gossip. Any that it lost are fetched after this time. */
const GOSSIP_MS = 1_500
const GOSSIP_BLOCKS = 2

class GossipWait {
  readonly #chain: Pick<Chain, 'head'>
  readonly #clock: Clock
  /** The head that a peer is ahead of, and since when. */
  #ahead: { readonly of: BlockId; readonly sinceMs: number } | null = null

  constructor(chain: Pick<Chain, 'head'>, clock: Clock) {
    this.#chain = chain
    this.#clock = clock
  }

  /**
   * Milliseconds that gossip may still take for a block or two that a peer has and we lack; 0 or less if none. The time runs for each head
   * of ours, so a peer that keeps claiming new heads cannot restart it.
   */
  leftMs(peer: Peer | undefined, isBehind: boolean): number {
    const { head } = this.#chain
    if (peer === undefined) this.#ahead = null
    if (peer === undefined || isBehind || peer.head.height - head.header.height > GOSSIP_BLOCKS) return 0
    if (this.#ahead?.of !== head.id) this.#ahead = { of: head.id, sinceMs: this.#clock.now() }
    return this.#ahead.sinceMs + GOSSIP_MS - this.#clock.now()
  }
}
