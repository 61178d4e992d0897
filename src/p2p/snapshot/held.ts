import type { DatabaseReader } from '../../../consensus/chain/reader.ts'
import type { HeldRange } from '../sync/snapshot-door.ts'
import type { SnapshotRef, StorageMode } from '../wire/messages.ts'

/** What a node says of the blocks and snapshots that it has: read from the store, so that it is true at every moment. */
export function heldRange(
  database: Pick<DatabaseReader, 'held'>,
  mode: StorageMode,
  snapshots: readonly SnapshotRef[],
): HeldRange {
  return { mode, ...database.held, snapshots }
}
