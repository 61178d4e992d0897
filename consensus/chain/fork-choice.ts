import { assert } from '../primitives/assert.ts'
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

/** What branches off the best chain are judged by. */
interface SideBlocks extends Entries {
  sideBlocks(): ReadonlySet<BlockId>
  isCanonical(entry: BlockEntry): boolean
}

/** The stored blocks off the best chain. Where a branch forks off is remembered, so that a long one is walked once. */
export class SideBranches {
  readonly #blocks: SideBlocks
  readonly #forkHeights = new Map<BlockId, number>()

  constructor(blocks: SideBlocks) {
    this.#blocks = blocks
  }

  /** The block with the most work that is not invalid and not `excluded`. */
  heaviest(excluded: (entry: BlockEntry) => boolean): BlockEntry | undefined {
    let best: BlockEntry | undefined
    for (const entry of this.#entries()) {
      if (entry.invalid || excluded(entry)) continue
      if (best === undefined || entry.totalWork > best.totalWork) best = entry
    }
    return best
  }

  /** Height of the best chain's block that the branch builds on. */
  forkHeight(tip: BlockEntry): number {
    const walked: BlockId[] = []
    let at = tip
    let height = this.#forkHeights.get(at.id)
    while (height === undefined && !this.#blocks.isCanonical(at)) {
      walked.push(at.id)
      at = parentOf(this.#blocks, at)
      height = this.#forkHeights.get(at.id)
    }
    const fork = height ?? at.header.height
    for (const id of walked) this.#forkHeights.set(id, fork)
    return fork
  }

  /** Side blocks that build on a block. */
  descendantsOf(ancestor: BlockEntry): readonly BlockEntry[] {
    const family = new Set<BlockId>([ancestor.id])
    const byHeight = this.#entries().toSorted((a, b) => a.header.height - b.header.height)
    return byHeight.filter(({ id, header }) => {
      if (!family.has(header.parent)) return false
      family.add(id)
      return true
    })
  }

  /** Side blocks below a height. */
  below(height: number): readonly BlockEntry[] {
    return this.#entries().filter(({ header }) => header.height < height)
  }

  /** Forgets where branches fork off: the best chain has moved to another branch. */
  forget(): void {
    this.#forkHeights.clear()
  }

  #entries(): readonly BlockEntry[] {
    return [...this.#blocks.sideBlocks()].flatMap((id) => this.#blocks.entry(id) ?? [])
  }
}

function parentOf(entries: Entries, { header }: BlockEntry): BlockEntry {
  const parent = entries.entry(header.parent)
  assert(parent !== undefined, `block ${header.parent} is missing from the store`)
  return parent
}
