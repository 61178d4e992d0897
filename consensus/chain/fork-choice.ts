import { assert } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { BlockEntry } from './layout.ts'

/** `disconnect` is newest first, `connect` oldest first. */
export interface BranchPath {
  readonly disconnect: readonly BlockEntry[]
  readonly connect: readonly BlockEntry[]
}

interface Entries {
  entry(id: BlockId): BlockEntry | undefined
}

/** Path from one tip to another through their fork. */
export function pathBetween(entries: Entries, from: BlockEntry, to: BlockEntry): BranchPath {
  const disconnect: BlockEntry[] = []
  const connect: BlockEntry[] = []
  let left = from
  let right = to
  while (left.id !== right.id) {
    if (left.header.height >= right.header.height) {
      disconnect.push(left)
      left = parentOf(entries, left)
    } else {
      connect.push(right)
      right = parentOf(entries, right)
    }
  }
  return { disconnect, connect: connect.reverse() }
}

interface SideBlock {
  readonly id: BlockId
  readonly parent: BlockId
  readonly height: number
  readonly totalWork: bigint
  readonly invalid: boolean
}

/** Conditions for a branch: heavier than `totalWork`, forking at `forkHeightMin` or above, and not refused before. */
export interface BranchWish {
  readonly totalWork: bigint
  readonly forkHeightMin: number
  readonly refused: { has(id: BlockId): boolean }
}

/**
 * The stored side blocks. They are held in memory, since the import of a side block that is heavier than the head
 * searches all of them. The parent of each is a side block too or on the best chain: branches are kept or dropped as a
 * whole.
 */
export class SideBranches {
  readonly #blocks = new Map<BlockId, SideBlock>()
  /** Fork heights found so far, so that a long branch is walked once. */
  readonly #forkHeights = new Map<BlockId, number>()

  get size(): number {
    return this.#blocks.size
  }

  has(id: BlockId): boolean {
    return this.#blocks.has(id)
  }

  /** Adds a new block, which has no children yet, or updates a known one. */
  add({ id, header, totalWork, invalid }: BlockEntry): void {
    this.#blocks.set(id, { id, parent: header.parent, height: header.height, totalWork, invalid })
  }

  /** Adds a block that was unwound. Branches that forked from it fork from a lower block now. */
  addUnwound(entry: BlockEntry): void {
    this.#forkHeights.clear()
    this.add(entry)
  }

  /** The block joined the best chain or was dropped with its branch. */
  delete(id: BlockId): void {
    if (this.#blocks.delete(id)) this.#forkHeights.clear()
  }

  ids(): Iterable<BlockId> {
    return this.#blocks.keys()
  }

  /** On a tie, the block that was added first. */
  heaviest({ totalWork, forkHeightMin, refused }: BranchWish): BlockId | undefined {
    let best: SideBlock | undefined
    for (const block of this.#blocks.values()) {
      if (block.totalWork <= (best?.totalWork ?? totalWork) || block.invalid || refused.has(block.id)) continue
      if (this.forkHeight(block.id) >= forkHeightMin) best = block
    }
    return best?.id
  }

  /** Height of the best chain's block from which a side block's branch forks. */
  forkHeight(tip: BlockId): number {
    const walked: BlockId[] = []
    let fork: number | undefined
    for (let at = this.#blocks.get(tip); fork === undefined; at = this.#blocks.get(at.parent)) {
      assert(at !== undefined, 'only blocks off the best chain fork off it')
      walked.push(at.id)
      fork = this.#forkHeights.get(at.id) ?? (this.#blocks.has(at.parent) ? undefined : at.height - 1)
    }
    for (const id of walked) this.#forkHeights.set(id, fork)
    return fork
  }

  descendantsOf(ancestor: BlockId): readonly BlockId[] {
    const family = new Set<BlockId>([ancestor])
    for (const { id, parent } of [...this.#blocks.values()].sort((a, b) => a.height - b.height)) {
      if (family.has(parent)) family.add(id)
    }
    return [...family].slice(1)
  }

  forkingBelow(height: number): readonly BlockId[] {
    return [...this.#blocks.keys()].filter((id) => this.forkHeight(id) < height)
  }
}

function parentOf(entries: Entries, { header }: BlockEntry): BlockEntry {
  const parent = entries.entry(header.parent)
  assert(parent !== undefined, `block ${header.parent} is missing from the store`)
  return parent
}

/** `depth` is how many blocks of the best chain the branch would replace. */
export interface RefusedBranch {
  readonly tip: BlockEntry
  readonly depth: number
  readonly depthMax: number
  /** Whether the operator can take it: the blocks above its fork can be unwound. */
  readonly isReachable: boolean
}

interface Branches extends Entries {
  readonly head: BlockEntry
  readonly side: SideBranches
  canUnwindTo(height: number): boolean
  forkDepth(entry: BlockEntry): number
}

const NOTHING_REFUSED: ReadonlySet<BlockId> = new Set()

/**
 * The heaviest stored branch, if it is heavier than the head's and forks too deep for the chain to take it by itself;
 * else null.
 */
export function refusedBranch(database: Branches, depthMax: number): RefusedBranch | null {
  const { side, head } = database
  const id = side.heaviest({ totalWork: head.totalWork, forkHeightMin: 0, refused: NOTHING_REFUSED })
  if (id === undefined) return null
  const tip = database.entry(id)
  assert(tip !== undefined, `block ${id} is missing from the store`)
  const depth = database.forkDepth(tip)
  const isReachable = database.canUnwindTo(side.forkHeight(id))
  return isReachable && depth <= depthMax ? null : { tip, depth, depthMax, isReachable }
}

/** The fault of a known, sound block whose branch only the operator may take. */
export function tooDeep(database: Branches, entry: BlockEntry, depthMax: number): Fault {
  return fault('chain/reorganisation-too-deep', { depth: database.forkDepth(entry), depthMax })
}
