import { assert } from '../primitives/assert.ts'
import { type Fault, fault } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { BlockEntry } from './layout.ts'

/** Blocks to take from the head (newest first) and to put on (oldest first) to get from one tip to another. */
export interface BranchPath {
  readonly disconnect: readonly BlockEntry[]
  readonly connect: readonly BlockEntry[]
}

/** Blocks by id. */
interface Entries {
  entry(id: BlockId): BlockEntry | undefined
}

/** Path from one tip to another over their fork. */
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

/** What the choice between branches needs to know of a block off the best chain. */
interface SideBlock {
  readonly id: BlockId
  readonly parent: BlockId
  readonly height: number
  readonly totalWork: bigint
  readonly invalid: boolean
}

/** What a branch must be to be taken: heavier than this, forking at this height or above, not refused before. */
export interface BranchWish {
  readonly totalWork: bigint
  readonly forkHeightMin: number
  readonly refused: { has(id: BlockId): boolean }
}

/**
 * The stored blocks off the best chain, held in memory: every import of a heavier one looks through all of them. The parent
 * of one is either among them or on the best chain, so a branch is kept whole or not at all.
 */
export class SideBranches {
  readonly #blocks = new Map<BlockId, SideBlock>()
  /** Where blocks' branches fork off, as far as it was asked for, so that a long branch is walked once. */
  readonly #forkHeights = new Map<BlockId, number>()

  get size(): number {
    return this.#blocks.size
  }

  has(id: BlockId): boolean {
    return this.#blocks.has(id)
  }

  /** Takes in a block that nothing builds on yet, or what became of one that is here. */
  add({ id, header, totalWork, invalid }: BlockEntry): void {
    this.#blocks.set(id, { id, parent: header.parent, height: header.height, totalWork, invalid })
  }

  /** Takes in a block that has left the best chain. Branches that forked off above it now do so further down. */
  addUnwound(entry: BlockEntry): void {
    this.#forkHeights.clear()
    this.add(entry)
  }

  /** Lets go of a block: it has joined the best chain, or it was dropped with its branch. */
  delete(id: BlockId): void {
    if (this.#blocks.delete(id)) this.#forkHeights.clear()
  }

  ids(): Iterable<BlockId> {
    return this.#blocks.keys()
  }

  /** The block with the most work at the end of a branch that is as wished, the first seen of several. */
  heaviest({ totalWork, forkHeightMin, refused }: BranchWish): BlockId | undefined {
    let best: SideBlock | undefined
    for (const block of this.#blocks.values()) {
      if (block.totalWork <= (best?.totalWork ?? totalWork) || block.invalid || refused.has(block.id)) continue
      if (this.forkHeight(block.id) >= forkHeightMin) best = block
    }
    return best?.id
  }

  /** Height of the best chain's block that the branch of a block here builds on. */
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

  /** Blocks here that build on a block off the best chain. */
  descendantsOf(ancestor: BlockId): readonly BlockId[] {
    const family = new Set<BlockId>([ancestor])
    for (const { id, parent } of [...this.#blocks.values()].sort((a, b) => a.height - b.height)) {
      if (family.has(parent)) family.add(id)
    }
    return [...family].slice(1)
  }

  /** All blocks of the branches that fork off below a height. */
  forkingBelow(height: number): readonly BlockId[] {
    return [...this.#blocks.keys()].filter((id) => this.forkHeight(id) < height)
  }
}

function parentOf(entries: Entries, { header }: BlockEntry): BlockEntry {
  const parent = entries.entry(header.parent)
  assert(parent !== undefined, `block ${header.parent} is missing from the store`)
  return parent
}

/** A heavier branch that is not taken without the operator, and how many blocks of ours it would replace. */
export interface RefusedBranch {
  readonly tip: BlockEntry
  readonly depth: number
  readonly depthMax: number
  /** Whether the operator can have it taken: the blocks above its fork can be unwound. */
  readonly isReachable: boolean
}

/** The stored blocks on the best chain and off it. */
interface Branches extends Entries {
  readonly head: BlockEntry
  readonly side: SideBranches
  canUnwindTo(height: number): boolean
}

const NOTHING_REFUSED: ReadonlySet<BlockId> = new Set()

/** The heaviest stored branch, if it is heavier than the head's and forks deeper than the chain unwinds by itself. */
export function refusedBranch(database: Branches, depthMax: number): RefusedBranch | null {
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
export function forkDepth({ side, head }: Pick<Branches, 'side' | 'head'>, { id, header }: BlockEntry): number {
  return head.header.height - (side.has(id) ? side.forkHeight(id) : header.height)
}

/** Why a branch through a known, sound block is not taken without the operator. */
export function tooDeep(database: Branches, entry: BlockEntry, depthMax: number): Fault {
  return fault('chain/reorganisation-too-deep', { depth: forkDepth(database, entry), depthMax })
}
