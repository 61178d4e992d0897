import { fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { type ChainDatabase, UNDO_BLOCKS } from './database.ts'
import { type BlockEntry, decodeEntry, KEYS } from './layout.ts'

/** The way from the best chain to a block of the kept headers. */
export interface AdoptionPath {
  /** Blocks that leave the best chain, newest first: mined here before this node met others, or come while the state was fetched. */
  readonly left: readonly BlockEntry[]
  /** Stored blocks between the best chain and the first kept header, oldest first: they lie off the best chain. */
  readonly between: readonly BlockEntry[]
}

/**
 * How the kept header at a height can become the head. Faults: `chain/unknown-parent` where the kept headers stand on no stored
 * block, `chain/invalid-ancestor` where the block itself, or a stored one below it, is invalid; `chain/snapshot-too-light` where the
 * best chain has as much work as that block, whatever stands on it: those blocks may never come; `chain/fork-too-deep` where the blocks
 * above the fork cannot be unwound.
 */
export function adoptionPath(database: ChainDatabase, height: number): Result<AdoptionPath> {
  const below = belowKept(database, height)
  if (!below.ok) return below
  const between = below.value.filter((entry) => !database.isCanonical(entry)).toReversed()
  const kept = keptAt(database, height)
  const invalid = [...between, kept && database.entry(kept.id)].find((entry) => entry?.invalid)
  if (invalid !== undefined) return fail(fault('chain/invalid-ancestor', { id: invalid.id }))
  const { head } = database
  if ((kept?.totalWork ?? 0n) <= head.totalWork) return fail(fault('chain/snapshot-too-light', { height }))
  const fork = (below.value.at(-1) as BlockEntry).header.height
  if (!database.canUnwindTo(fork))
    return fail(fault('chain/fork-too-deep', { depth: head.header.height - fork, depthMax: UNDO_BLOCKS }))
  const left: BlockEntry[] = []
  for (let at = head; at.header.height > fork; at = parentOf(database, at)) left.push(at)
  return ok({ left, between })
}

/** The same where the state in staging is the one of that block; `chain/state-unproven` where that was not found. */
export function provenPath(database: ChainDatabase, height: number): Result<AdoptionPath> {
  if (!database.staged.isProven(height)) return fail(fault('chain/state-unproven', { height }))
  return adoptionPath(database, height)
}

/**
 * The newest stored block that a kept header stands on, and its ancestors down to the best chain. The search begins one above the head,
 * whose child may be known to be invalid, or higher where a branch off it reaches higher. It ends where blocks can no longer be unwound.
 */
function belowKept(database: ChainDatabase, height: number): Result<readonly BlockEntry[]> {
  const { head, side } = database
  let top = head.header.height
  for (const id of side.ids()) top = Math.max(top, database.entry(id)?.header.height ?? 0)
  const lowest = Math.max(0, head.header.height - UNDO_BLOCKS)
  for (let at = Math.min(top + 1, height - 1), lost: BlockId | undefined; at >= lowest; at--) {
    const parent = keptParent(database, at + 1)
    if (parent === undefined) return fail(fault('chain/unknown-parent', { parent: lost ?? 'not stored' }))
    const entry = database.entry(parent)
    if (entry !== undefined) return ok(downToChain(database, entry))
    lost = parent
  }
  // They go on below: their fork is older than what can be unwound.
  return fail(fault('chain/fork-too-deep', { depth: head.header.height - lowest + 1, depthMax: UNDO_BLOCKS }))
}

function downToChain(database: ChainDatabase, entry: BlockEntry): readonly BlockEntry[] {
  const entries = [entry]
  for (let at = entry; !database.isCanonical(at); entries.push(at)) at = parentOf(database, at)
  return entries
}

function parentOf(database: ChainDatabase, { header }: BlockEntry): BlockEntry {
  return database.entry(header.parent) as BlockEntry
}

function keptParent(database: ChainDatabase, height: number): BlockId | undefined {
  return keptAt(database, height)?.header.parent
}

function keptAt({ store }: ChainDatabase, height: number): BlockEntry | undefined {
  const bytes = store.get(KEYS.kept(height))
  return bytes && decodeEntry(bytes)
}
