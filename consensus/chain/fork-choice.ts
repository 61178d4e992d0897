import { assert } from '../primitives/assert.ts'
import type { BlockId } from '../primitives/ids.ts'
import type { BlockEntry } from './layout.ts'

/** Blocks to take from the head (newest first) and to put on (oldest first) to get from one tip to another. */
export interface BranchPath {
  readonly disconnect: readonly BlockEntry[]
  readonly connect: readonly BlockEntry[]
}

interface Entries {
  entry(id: BlockId): BlockEntry | undefined
}

/** Path from one tip to another over their fork. */
export function pathBetween(entries: Entries, from: BlockEntry, to: BlockEntry): BranchPath {
  const parentOf = ({ header }: BlockEntry): BlockEntry => {
    const parent = entries.entry(header.parent)
    assert(parent !== undefined, `block ${header.parent} is missing from the store`)
    return parent
  }
  const disconnect: BlockEntry[] = []
  const connect: BlockEntry[] = []
  let left = from
  let right = to
  while (left.id !== right.id) {
    if (left.header.height >= right.header.height) {
      disconnect.push(left)
      left = parentOf(left)
    } else {
      connect.push(right)
      right = parentOf(right)
    }
  }
  return { disconnect, connect: connect.reverse() }
}
