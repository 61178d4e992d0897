import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { DatabaseReader } from '../../../consensus/chain/reader.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import type { SnapshotRef, StorageMode } from '../wire/messages.ts'

/** Which blocks and snapshots a node holds: what it says of itself, and what it serves. */
export interface HeldRange {
  readonly mode: StorageMode
  /** Lowest height from which on all bodies are held. */
  readonly bodiesFrom: number
  /** Lowest height from which on all witnesses are held too. */
  readonly witnessesFrom: number
  readonly snapshots: readonly SnapshotRef[]
}

/** When a node begins from a snapshot: if no peer has all blocks from its own height on, or gives them quickly; whenever it is far behind; never. */
export type SnapshotSetting = 'auto' | 'always' | 'never'

/** A state to be taken. */
export interface SnapshotPlan {
  /** A block of the kept headers. */
  readonly snapshot: SnapshotRef
  /** End of the kept headers: so much work stands on the snapshot. */
  readonly tip: HeaderTip
  /** Peers that serve the snapshot just now. */
  readonly peers: () => readonly PeerId[]
  /** Whether the node is about to stop: then what was taken is kept for the next start. */
  readonly stopped: () => boolean
  /**
   * Whether another branch, or another snapshot, is to be looked at first; `slowMs` is how long was waited beyond what a slow line takes.
   * What was taken is kept; once all of it is there nothing gives way any more.
   */
  readonly givesWay: (slowMs: number) => boolean
  /** Hears how much of the state is there, 0 to 1. */
  readonly report: (part: number) => void
}

/**
 * Begins from a snapshot in place of executing every block. The synchroniser hands over the headers as it proves them, so
 * that their number is bounded by the disk and not by memory, and a restart goes on where they ended; then it names the
 * snapshot. Headers are handed over oldest first, without gaps. Nothing here rejects but for a failing disk.
 */
export interface SnapshotDoor {
  /** Last of the headers kept for a snapshot that is not taken yet: the next one handed over is its child. */
  keptTip(): HeaderTip | undefined
  /** Kept header at a height. */
  keptAt(height: number): Pick<HeaderTip, 'id' | 'totalWork'> | undefined
  /** Keeps headers whose work was proven, durably: children of the kept tip, or of a stored block if none is kept. */
  keepHeaders(headers: readonly HeaderTip[]): Promise<void>
  /** Lets go of the newest kept headers, which may be stale, a hundred at least; false where that was done, and too few came since. */
  shortenHeaders(): Promise<boolean>
  /** Lets go of all kept headers. */
  dropHeaders(): Promise<void>
  /**
   * Takes the state of a snapshot; after success it is the chain's head, and blocks are fetched from there on. After a
   * fault what was proven so far is kept, and another peer or a later call goes on with it.
   */
  run(plan: SnapshotPlan): Promise<Result<void>>
}

/** What a node says of the blocks and snapshots that it has: read from the store, so that it is true at every moment. */
export function heldRange(
  database: Pick<DatabaseReader, 'held'>,
  mode: StorageMode,
  snapshots: readonly SnapshotRef[],
): HeldRange {
  return { mode, ...database.held, snapshots }
}
