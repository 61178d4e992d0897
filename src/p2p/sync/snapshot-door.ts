import type { HeaderTip } from '../../../consensus/block/header-tip.ts'
import type { DatabaseReader } from '../../../consensus/chain/reader.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import type { SnapshotRef, StorageMode } from '../wire/messages.ts'

/** Blocks and snapshots that a node holds, as it tells peers and serves them. */
export interface HeldRange {
  readonly mode: StorageMode
  /** Lowest height from which on all bodies are held. */
  readonly bodiesFrom: number
  /** Lowest height from which on all witnesses are held too. */
  readonly witnessesFrom: number
  readonly snapshots: readonly SnapshotRef[]
}

/**
 * Whether a node that is far behind begins from a snapshot. `always`: if a peer offers one. `auto`: only if no peer has all missing
 * blocks, or they come too slowly. `never`: not at all.
 */
export type SnapshotSetting = 'auto' | 'always' | 'never'

/** A state to take. */
export interface SnapshotPlan {
  /** A block of the kept headers. */
  readonly snapshot: SnapshotRef
  /** End of the kept headers, which gives the work that stands on the snapshot. */
  readonly tip: HeaderTip
  readonly peers: () => readonly PeerId[]
  /** Whether the node is about to stop. What was taken is then kept for the next start. */
  readonly stopped: () => boolean
  /**
   * Whether another branch or snapshot goes first. `slowMs`: milliseconds waited beyond what a slow line takes. What was taken is kept,
   * even if it is all of the state.
   */
  readonly givesWay: (slowMs: number) => boolean
  /** Hears how much of the state is there, 0 to 1. */
  readonly report: (part: number) => void
}

/**
 * Begins from a snapshot instead of executing every block. It is first given the headers as they are proven, oldest first and without gaps,
 * then the snapshot. Headers are kept on the disk, so memory does not bound their number, and a restart goes on where they ended. Only a
 * failing disk makes a call reject.
 */
export interface SnapshotDoor {
  /** Last of the headers kept for a snapshot that is not taken yet. The next header must be its child. */
  keptTip(): HeaderTip | undefined
  keptAt(height: number): Pick<HeaderTip, 'id' | 'totalWork'> | undefined
  /** Durably keeps proven headers: children of the kept tip, or of a stored block if none is kept. */
  keepHeaders(headers: readonly HeaderTip[]): Promise<void>
  /** Drops the newest kept headers, at least a hundred, because they may be stale. False if that was done before and too few came since. */
  shortenHeaders(): Promise<boolean>
  dropHeaders(): Promise<void>
  /**
   * Takes the state of a snapshot, which then is the chain's head; blocks are fetched from there on. After a fault the proven part is kept,
   * and another peer or a later call goes on with it. Only after `chain/state-unproven` nothing is kept.
   */
  run(plan: SnapshotPlan): Promise<Result<void>>
}

/** What a node says that it holds. */
export function heldRange(
  database: Pick<DatabaseReader, 'held'>,
  mode: StorageMode,
  snapshots: readonly SnapshotRef[],
): HeldRange {
  return { mode, ...database.held, snapshots }
}
