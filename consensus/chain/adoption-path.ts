import { fault } from '../primitives/fault.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { type ChainDatabase, UNDO_BLOCKS } from './database.ts'
import { type BlockEntry, decodeEntry, KEYS } from './layout.ts'

/**
 * Blocks that leave the best chain, newest first, so that a snapshot at a height can become its head: those that the kept headers
 * do not build on, mined here before this node met others, or come while the state was fetched. Faults:
 * `chain/fork-too-deep` where they cannot be unwound, or the best chain has grown beyond the snapshot; `chain/state-unproven` where
 * the state that is to become the head's was not found to be the one of that block.
 */
export function adoptionPath(database: ChainDatabase, height: number): Result<readonly BlockEntry[]> {
  if (!database.staged.isProven(height)) return fail(fault('chain/state-unproven', { height }))
  const left: BlockEntry[] = []
  let at: BlockEntry | undefined = database.head
  while (at !== undefined && keptParent(database, at.header.height + 1) !== at.id) {
    left.push(at)
    at = database.entry(at.header.parent)
  }
  const depth = left.length
  const fork = database.head.header.height - depth
  if (at === undefined || database.head.header.height >= height || !database.canUnwindTo(fork))
    return fail(fault('chain/fork-too-deep', { depth, depthMax: UNDO_BLOCKS }))
  return ok(left)
}

function keptParent({ store }: ChainDatabase, height: number): BlockEntry['id'] | undefined {
  const bytes = store.get(KEYS.kept(height))
  return bytes && decodeEntry(bytes).header.parent
}
