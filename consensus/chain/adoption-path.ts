import { fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { type ChainDatabase, UNDO_BLOCKS } from './database.ts'
import { type BlockEntry, decodeEntry, KEYS } from './layout.ts'

/** The way from the best chain to a kept header's block. Kept headers are those proven for a snapshot. */
export interface AdoptionPath {
  /** Blocks that leave the best chain, newest first. */
  readonly left: readonly BlockEntry[]
  /** Stored side blocks on the way, oldest first. The blocks of kept headers follow on them. */
  readonly between: readonly BlockEntry[]
}

/**
 * How the block of a kept header can become the head. Faults:
 * - `chain/unknown-parent`: the kept headers do not lead down to a stored block.
 * - `chain/invalid-ancestor`: the block, or a stored one below it, is invalid.
 * - `chain/snapshot-too-light`: the best chain has at least as much work as the branch up to the block. Work above the
 *   block does not count, since the blocks above it may never come.
 * - `chain/fork-too-deep`: the blocks above the fork cannot be unwound.
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

/** {@link adoptionPath}, but only if the staged state is proven for that block, else `chain/state-unproven`. */
export function provenPath(database: ChainDatabase, height: number): Result<AdoptionPath> {
  if (!database.staged.isProven(height)) return fail(fault('chain/state-unproven', { height }))
  return adoptionPath(database, height)
}

/**
 * The newest stored block that a kept header builds on, and its ancestors down to the best chain. The search begins one
 * height above the head and all side blocks, since an invalid child of the head is stored too.
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
  // No stored block was found, so the kept headers fork below what can be unwound.
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
