import { assert } from '../primitives/assert.ts'
import { concat, equal, uint32LE, ZERO_32 } from '../primitives/bytes.ts'
import { type HashUse, hashPairs, taggedHash } from './hash.ts'

/**
 * Binary tree over a list. Leaves are tagged. A node is SHA-256((left xor node tag) || right): one 64-byte message, so
 * a level is hashed in one batch. The last node of an odd level moves up unchanged, never duplicated. The root hashes
 * in the count. The top of the tree over an empty list is zero.
 */
export interface MerkleTree {
  readonly leaf: HashUse
  readonly node: HashUse
  readonly root: HashUse
}

/** Over transaction ids. */
export const TRANSACTION_TREE: MerkleTree = {
  leaf: 'transactionLeaf',
  node: 'transactionNode',
  root: 'transactionRoot',
}
/** Over witness transaction ids. */
export const WITNESS_TREE: MerkleTree = { leaf: 'witnessLeaf', node: 'witnessNode', root: 'witnessRoot' }
/** Over encoded receipts. */
export const RECEIPT_TREE: MerkleTree = { leaf: 'receiptLeaf', node: 'receiptNode', root: 'receiptRoot' }

/** `siblings` run from the leaf up; there is none where the node moves up unchanged. */
export interface MerkleProof {
  readonly index: number
  readonly count: number
  readonly siblings: readonly Uint8Array[]
}

/** Separates the nodes of one tree from the nodes of other trees. */
export function nodeTag(use: HashUse): Uint8Array {
  return taggedHash(use)
}

/** Root over the items in order. */
export function merkleRoot(tree: MerkleTree, items: readonly Uint8Array[]): Uint8Array {
  let level = leavesOf(tree, items)
  const tag = nodeTag(tree.node)
  while (level.length > 32) level = levelAbove(level, tag)
  return taggedHash(tree.root, uint32LE(items.length), items.length === 0 ? ZERO_32 : level)
}

/** Proof that the item at `index` is in the list. */
export function merkleProof(tree: MerkleTree, items: readonly Uint8Array[], index: number): MerkleProof {
  assert(Number.isInteger(index) && index >= 0 && index < items.length, 'a proof is about an item of the list')
  const tag = nodeTag(tree.node)
  const siblings: Uint8Array[] = []
  let level = leavesOf(tree, items)
  for (let position = index; level.length > 32; position >>= 1) {
    const sibling = (position ^ 1) * 32
    if (sibling < level.length) siblings.push(level.slice(sibling, sibling + 32))
    level = levelAbove(level, tag)
  }
  return { index, count: items.length, siblings }
}

/** Whether the proof leads from the item to the root. */
export function verifyMerkleProof(tree: MerkleTree, root: Uint8Array, item: Uint8Array, proof: MerkleProof): boolean {
  const { index, count, siblings } = proof
  if (!Number.isInteger(index) || !Number.isInteger(count) || index < 0 || index >= count || count > 0xffffffff)
    return false
  const tag = nodeTag(tree.node)
  let hash = taggedHash(tree.leaf, item)
  let used = 0
  for (let position = index, last = count - 1; last > 0; position >>>= 1, last >>>= 1) {
    if (position === last && position % 2 === 0) continue
    const sibling = siblings[used++]
    if (sibling === undefined || sibling.length !== 32) return false
    hash = position % 2 === 0 ? hashNode(hash, sibling, tag) : hashNode(sibling, hash, tag)
  }
  return used === siblings.length && equal(taggedHash(tree.root, uint32LE(count), hash), root)
}

/** Hash of an inner node. */
export function hashNode(left: Uint8Array, right: Uint8Array, tag: Uint8Array): Uint8Array {
  const message = concat(left, right)
  xorInto(message, 0, tag)
  const hash = new Uint8Array(32)
  hashPairs(message, hash)
  return hash
}

function xorInto(message: Uint8Array, offset: number, tag: Uint8Array): void {
  for (let i = 0; i < 32; i++) message[offset + i] = (message[offset + i] as number) ^ (tag[i] as number)
}

function leavesOf(tree: MerkleTree, items: readonly Uint8Array[]): Uint8Array {
  const leaves = new Uint8Array(items.length * 32)
  items.forEach((item, i) => {
    leaves.set(taggedHash(tree.leaf, item), i * 32)
  })
  return leaves
}

function levelAbove(level: Uint8Array, tag: Uint8Array): Uint8Array {
  const pairs = level.length >> 6
  const carried = level.subarray(pairs * 64)
  const messages = level.slice(0, pairs * 64)
  for (let i = 0; i < pairs; i++) xorInto(messages, i * 64, tag)
  const above = new Uint8Array(pairs * 32 + carried.length)
  hashPairs(messages, above.subarray(0, pairs * 32))
  above.set(carried, pairs * 32)
  return above
}
