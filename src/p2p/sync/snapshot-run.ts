import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { NetworkLog, PeerId } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { pause } from '../relay/within.ts'
import type { SnapshotRef } from '../wire/messages.ts'
import { holds } from './body-sources.ts'
import type { BranchRunDependencies, BranchSurroundings, RunEnd } from './branch-run.ts'
import { isChosen, type Way } from './candidates.ts'
import type { BlockRef } from './denials.ts'
import { Prover, proveBranch, type Unproven } from './prove.ts'
import type { Running } from './reporter.ts'
import type { SnapshotChoice } from './snapshot-choice.ts'
import type { SnapshotDoor, SnapshotSetting } from './snapshot-door.ts'

interface SnapshotRunDependencies extends BranchRunDependencies {
  readonly snapshots: SnapshotDoor | null
  readonly choice: SnapshotChoice
  readonly log: NetworkLog
}

/** What a run for a state must know of its surroundings. */
export interface SnapshotSurroundings extends BranchSurroundings {
  /** Whether the peer claims more work than this, which is all that it has shown. */
  readonly isShort: (totalWork: bigint) => boolean
  /** See `Contest.isDisputedNow`. */
  readonly isDisputedNow: (block: BlockRef, totalWork: bigint) => Promise<boolean>
  /** Hears of a proven heavier branch that this node cannot follow, because it cannot unwind to the fork. */
  readonly onUnreachable: (tip: HeaderTip) => void
}

interface Wish {
  readonly chain: Chain
  readonly peers: Peers
  readonly snapshots: SnapshotDoor | null
  readonly snapshotSetting: SnapshotSetting
}

/** A snapshot that saves fewer blocks is not worth it. */
const FAR_BEHIND_BLOCKS = 1_200
/** A node that begins takes a state if blocks come slower than ten a second, or so slowly that all of them would take four hours. */
const BLOCK_WORTH_MS = 100
const BLOCKS_MS_MAX = 14_400_000
/** After this much waiting beyond what a slow line takes, a snapshot of other peers is taken instead. */
const SLOW_MS_MAX = 600_000
/** Blocks that must stand on a snapshot. A reorganisation below it would need a whole new state. */
const BURIED_BLOCKS = 100
/** How often peers that claim more work are asked whether they have the snapshot's block while its state is taken. */
const WATCH_MS = 5_000

/** Proves a branch into the store of the snapshots, then takes a snapshot that lies deep enough on it. */
export class SnapshotRun implements Running {
  readonly #deps: SnapshotRunDependencies
  readonly #door: SnapshotDoor
  readonly #peer: PeerId
  readonly #around: SnapshotSurroundings
  #part = 0
  #totalWork: bigint
  #taking = false
  #gaveWay = false
  /** Whether all headers are proven. A failure after that concerns the snapshot and not the branch. */
  proven = false

  constructor(dependencies: SnapshotRunDependencies, door: SnapshotDoor, peer: PeerId, around: SnapshotSurroundings) {
    this.#deps = dependencies
    this.#door = door
    this.#peer = peer
    this.#around = around
    this.#totalWork = door.keptTip()?.totalWork ?? 0n
  }

  /**
   * Whether this node begins from a snapshot, given the setting, how far it is behind, and what peers hold. Offers are only claims, so
   * after one way came to nothing the other is tried if there is one.
   */
  static isWanted(wish: Wish, { head }: Peer, failed: Way | null): boolean {
    const { chain, peers, snapshots, snapshotSetting } = wish
    if (snapshots === null || snapshotSetting === 'never') return false
    const { height } = chain.head.header
    if (!SnapshotRun.isOffered(peers.list(), height)) return false
    const isHeld = (among: readonly Peer[]): boolean => among.some((peer) => holds(peer, height + 1))
    if (failed === 'snapshot' && isHeld(peers.list())) return false
    if ((snapshots.keptTip()?.header.height ?? 0) > height) return true
    if (!SnapshotRun.isFar(head.height - height)) return false
    // If chosen peers offer a state, strangers who claim to have the blocks do not count against it.
    const chosen = peers.list().filter(isChosen)
    const blocks = isHeld(SnapshotRun.isOffered(chosen, height) ? chosen : peers.list())
    return snapshotSetting === 'always' || failed === 'blocks' || !blocks
  }

  /**
   * Milliseconds of waiting that one block makes up for before a state is taken instead. With a state this node loses its past. So a node
   * that has more blocks than it lacks, or that failed to take a state, takes one only if blocks hardly come faster than the chain grows.
   */
  static worthMs({ head: { header }, ruleBook }: Chain, { head }: Peer, hasFailed: boolean): number {
    const lacking = head.height - header.height
    const isBeginning = lacking > header.height && !hasFailed
    return isBeginning
      ? Math.min(BLOCK_WORTH_MS, BLOCKS_MS_MAX / lacking)
      : ruleBook.at(header.height).block.spacingMs / 2
  }

  static isOffered(peers: readonly Peer[], height: number): boolean {
    return peers.some(({ status }) => status.snapshots.some((ref) => ref.height > height))
  }

  static isFar(blocks: number): boolean {
    return blocks >= FAR_BEHIND_BLOCKS
  }

  get state(): Running['state'] {
    return this.#taking ? 'snapshot' : 'headers'
  }

  get headersHeight(): number {
    return this.#door.keptTip()?.header.height ?? 0
  }

  get totalWork(): bigint {
    return this.#totalWork
  }

  get part(): number | null {
    return this.#taking ? this.#part : null
  }

  /** Runs until the state is taken or this peer leads no further. It rejects only if the disk fails. */
  async run(unproven: Unproven): Promise<RunEnd> {
    this.#deps.log.info(
      { peer: this.#peer, height: this.#deps.chain.head.header.height },
      'this node begins from a snapshot, by its settings, or because peers lack blocks that it needs or give them too slowly',
    )
    const prover = new Prover(this.#deps, this.#peer)
    const end = await proveBranch(unproven, prover, this.#keep, this.#around.others)
    if (this.#around.stopped()) return 'stopped'
    // The headers that it has shown so far are kept.
    if (end !== 'complete') return unproven.walk.slow ? 'slow' : 'failed'
    this.proven = true
    const tip = this.#door.keptTip()
    if (tip !== undefined && tip.totalWork <= this.#deps.chain.head.totalWork) {
      // The branch is not heavier than ours after all.
      await this.#door.dropHeaders()
      return 'done'
    }
    if (tip !== undefined && this.#around.isShort(tip.totalWork)) return 'short'
    const snapshot = tip && this.#best(tip)
    if (tip === undefined || snapshot === undefined) return 'failed'
    if (await this.#around.isDisputed(snapshot, tip.totalWork, tip.header.height)) return 'gave-way'
    if (this.#around.stopped()) return 'stopped'
    return this.#take(snapshot, tip)
  }

  /** If a peer disputes the snapshot's block, the state gives way. */
  async #watch(snapshot: SnapshotRef, { totalWork }: HeaderTip): Promise<void> {
    const { stopped, isDisputedNow } = this.#around
    while (this.#taking && !this.#gaveWay && !stopped()) {
      await pause(this.#deps.timers, WATCH_MS)
      if (this.#taking && (await isDisputedNow(snapshot, totalWork))) this.#gaveWay = true
    }
  }

  readonly #keep = async (headers: readonly HeaderTip[]): Promise<boolean> => {
    if (headers.length > 0) await this.#door.keepHeaders(headers)
    this.#totalWork = headers.at(-1)?.totalWork ?? this.#totalWork
    return !this.#around.stopped()
  }

  #best(tip: HeaderTip): SnapshotRef | undefined {
    return this.#deps.choice.best(this.#deps.peers.list(), this.#peer, (ref) => this.#isUsable(ref, tip))
  }

  /** Whether a snapshot is on the kept headers and deep enough, and heavier than our head by itself: the blocks on it may never come. */
  #isUsable({ height, id }: SnapshotRef, tip: HeaderTip): boolean {
    const { header, totalWork } = this.#deps.chain.head
    if (height <= header.height || height + BURIED_BLOCKS > tip.header.height) return false
    const kept = this.#door.keptAt(height)
    return kept?.id === id && kept.totalWork > totalWork
  }

  async #take(snapshot: SnapshotRef, tip: HeaderTip): Promise<RunEnd> {
    this.#taking = true
    this.#deps.log.info({ snapshot: snapshot.id, height: snapshot.height }, 'taking the state of a snapshot')
    void this.#watch(snapshot, tip)
    const offerers = this.#offerers(snapshot)
    const { choice, peers } = this.#deps
    let isTooSlow = false
    const givesWay = (slowMs: number): boolean => {
      isTooSlow ||= slowMs > SLOW_MS_MAX && choice.hasRival(peers.list(), snapshot, (ref) => this.#isUsable(ref, tip))
      return this.#gaveWay || isTooSlow
    }
    const taken = await this.#door.run({
      snapshot,
      tip,
      peers: () => this.#offerers(snapshot),
      stopped: this.#around.stopped,
      givesWay,
      report: (part) => {
        this.#part = part
      },
    })
    this.#taking = false
    if (taken.ok) {
      choice.succeeded()
      return 'done'
    }
    this.#deps.log.warn({ snapshot: snapshot.id, reason: faultMessage(taken.fault) }, 'the snapshot was not taken')
    if (this.#around.stopped()) return 'stopped'
    if (taken.fault.code === 'chain/fork-too-deep') this.#around.onUnreachable(tip)
    // The part that was taken is kept, in case the other branch turns out to be this one.
    if (this.#gaveWay) return 'gave-way'
    choice.failed(offerers)
    // If the state came too slowly, another one is taken next, and the peer that shows the branch is not to blame.
    return isTooSlow ? 'ungiven' : 'failed'
  }

  #offerers(snapshot: SnapshotRef): readonly PeerId[] {
    const peers = this.#deps.peers.list()
    return peers
      .filter(({ status }) => status.snapshots.some(({ id }) => id === snapshot.id))
      .map(({ info }) => info.id)
  }
}
