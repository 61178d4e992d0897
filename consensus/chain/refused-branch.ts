import { assert } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { ChainDatabase } from './database.ts'
import type { BlockEntry } from './layout.ts'

/** A heavier branch that is not taken without the operator, and how many blocks of ours it would replace. */
export interface RefusedBranch {
  readonly tip: BlockEntry
  readonly depth: number
  readonly depthMax: number
  /** Whether the operator can have it taken: the blocks above its fork can be unwound. */
  readonly isReachable: boolean
}

const NOTHING_REFUSED: ReadonlySet<BlockId> = new Set()

/** The heaviest stored branch, if it is heavier than the head's and its fork lies beyond what is unwound by itself. */
export function refusedBranch(database: ChainDatabase, depthMax: number): RefusedBranch | null {
  const { side, head } = database
  const id = side.heaviest({ totalWork: head.totalWork, forkHeightMin: 0, refused: NOTHING_REFUSED })
  if (id === undefined) return null
  const tip = database.entry(id)
  assert(tip !== undefined, `block ${id} is missing from the store`)
  const depth = forkDepth(database, tip)
  const isReachable = database.canUnwindTo(side.forkHeight(id))
  return isReachable && depth <= depthMax ? null : { tip, depth, depthMax, isReachable }
}

/** How many blocks must be unwound to take a branch through a known, sound block. */
export function forkDepth({ side, head }: ChainDatabase, { id, header }: BlockEntry): number {
  return head.header.height - (side.has(id) ? side.forkHeight(id) : header.height)
}

/** Why a branch through a known, sound block is not taken without the operator. */
export function tooDeep(database: ChainDatabase, entry: BlockEntry, depthMax: number): Fault {
  return fault('chain/reorganisation-too-deep', { depth: forkDepth(database, entry), depthMax })
}
