import { taggedHash } from '../crypto/hash.ts'
import { fromHex, toHex, uint32LE, uintLE, ZERO_32 } from '../primitives/bytes.ts'
import type { Hash } from '../primitives/ids.ts'
import type { SealedHeader } from './header.ts'
import { workOfTarget } from './pow.ts'

/**
 * The history tree of a header is over all blocks before it. Its inner nodes hold sums of work, so that a light client
 * can sample blocks by work. The last node of an odd level moves up unchanged. A tree of n leaves consists of peaks:
 * one perfect subtree per set bit of n.
 */
export interface HistoryNode {
  readonly hash: Uint8Array
  readonly work: bigint
}

/** Root of a perfect subtree of 2^level leaves. */
export interface HistoryPeak extends HistoryNode {
  readonly level: number
}

/** A perfect node that an appended leaf completed. */
export interface HistoryNodeAt extends HistoryNode {
  readonly level: number
  readonly index: number
}

/** Heights are 32-bit. */
const COUNT_MAX = 0xffffffff

/** Sums are 256-bit. */
const WORK_MAX = (1n << 256n) - 1n

/** Leaf of one block: (block id, height, time, target, its own work). */
export function historyLeaf({ header, id }: SealedHeader): HistoryNode {
  const work = workOfTarget(header.target)
  const hash = taggedHash(
    'historyLeaf',
    fromHex(id),
    uint32LE(header.height),
    uintLE(BigInt(header.timeMs), 8),
    uintLE(header.target, 32),
    uintLE(work, 32),
  )
  return { hash, work }
}

/** `nodes` are the perfect nodes that the leaf completes, itself included. */
export function appendLeaf(
  peaks: readonly HistoryPeak[],
  leaf: HistoryNode,
  leafIndex: number,
): { readonly peaks: readonly HistoryPeak[]; readonly nodes: readonly HistoryNodeAt[] } {
  const next = [...peaks]
  const nodes: HistoryNodeAt[] = [{ ...leaf, level: 0, index: leafIndex }]
  let last: HistoryPeak = { ...leaf, level: 0 }
  for (let left = next.at(-1); left?.level === last.level; left = next.at(-1)) {
    next.pop()
    last = { ...joinNodes(left, last), level: last.level + 1 }
    nodes.push({ ...last, index: leafIndex >> last.level })
  }
  next.push(last)
  return { peaks: next, nodes }
}

/** Root over `count` leaves, given their peaks. */
export function historyRoot(peaks: readonly HistoryPeak[], count: number): Hash {
  const top = peaks.reduceRight<HistoryNode | null>(
    (right, left) => (right === null ? left : joinNodes(left, right)),
    null,
  )
  return rootOf(top ?? { hash: ZERO_32, work: 0n }, count)
}

/** Places of the perfect subtrees in a tree of `count` leaves, largest first. */
export function peakPositions(count: number): readonly { readonly level: number; readonly index: number }[] {
  const positions = []
  let start = 0
  for (let level = 31; level >= 0; level--) {
    const size = 2 ** level
    if (Math.floor(count / size) % 2 === 0) continue
    positions.push({ level, index: start / size })
    start += size
  }
  return positions
}

/** The siblings of a leaf, from the bottom up. */
export interface HistoryProof {
  readonly index: number
  readonly count: number
  readonly siblings: readonly HistoryNode[]
}

/** Calls `nodeAt` for perfect nodes only. */
export function historyProof(
  index: number,
  count: number,
  nodeAt: (level: number, index: number) => HistoryNode,
): HistoryProof {
  const siblings: HistoryNode[] = []
  for (
    let level = 0, position = index, last = count - 1;
    last > 0;
    level++, position = position >>> 1, last = last >>> 1
  ) {
    const sibling = (position ^ 1) >>> 0
    if (sibling <= last) siblings.push(carriedNode(level, sibling, count, nodeAt))
  }
  return { index, count, siblings }
}

/** The proof is untrusted: the works in it may have any size. */
export function verifyHistoryProof(root: Hash, block: SealedHeader, proof: HistoryProof): boolean {
  const { index, count, siblings } = proof
  if (!Number.isInteger(count) || count > COUNT_MAX || !Number.isInteger(index) || index < 0 || index >= count)
    return false
  if (index !== block.header.height || workOfTarget(block.header.target) > WORK_MAX) return false
  let node = historyLeaf(block)
  let used = 0
  for (let position = index, last = count - 1; last > 0; position = position >>> 1, last = last >>> 1) {
    if (position === last && position % 2 === 0) continue
    const sibling = siblings[used++]
    if (sibling === undefined || sibling.hash.length !== 32 || sibling.work < 0n) return false
    // No tree of real blocks comes near this bound, so a proof with a larger sum is false.
    if (node.work + sibling.work > WORK_MAX) return false
    node = position % 2 === 0 ? joinNodes(node, sibling) : joinNodes(sibling, node)
  }
  return used === siblings.length && rootOf(node, count) === root
}

function joinNodes(left: HistoryNode, right: HistoryNode): HistoryNode {
  const hash = taggedHash('historyNode', left.hash, uintLE(left.work, 32), right.hash, uintLE(right.work, 32))
  return { hash, work: left.work + right.work }
}

function rootOf(top: HistoryNode, count: number): Hash {
  return toHex(taggedHash('historyRoot', uint32LE(count), top.hash, uintLE(top.work, 32))) as Hash
}

/** A node of the tree: stored if perfect, else joined from the perfect nodes below it. */
function carriedNode(
  level: number,
  index: number,
  count: number,
  nodeAt: (level: number, index: number) => HistoryNode,
): HistoryNode {
  const size = 2 ** level
  if ((index + 1) * size <= count) return nodeAt(level, index)
  const left = carriedNode(level - 1, index * 2, count, nodeAt)
  return (index * 2 + 1) * (size / 2) < count
    ? joinNodes(left, carriedNode(level - 1, index * 2 + 1, count, nodeAt))
    : left
}
