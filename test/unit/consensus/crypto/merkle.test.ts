import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { taggedHash } from '../../../../consensus/crypto/hash.ts'
import {
  hashNode,
  type MerkleProof,
  type MerkleTree,
  merkleProof,
  merkleRoot,
  nodeTag,
  RECEIPT_TREE,
  TRANSACTION_TREE,
  verifyMerkleProof,
  WITNESS_TREE,
} from '../../../../consensus/crypto/merkle.ts'
import { concat, equal, fromHex, toHex, uint32LE } from '../../../../consensus/primitives/bytes.ts'
import { TAB_RECEIPT_TREE } from '../../../../consensus/tx/tab-messages.ts'
import { loadVectors } from '../../../support/vectors.ts'

interface TreeVectors {
  readonly items: readonly string[]
  readonly receipts: readonly string[]
  readonly roots: readonly { readonly tree: string; readonly count: number; readonly root: string }[]
  readonly proofs: readonly { readonly count: number; readonly index: number; readonly siblings: readonly string[] }[]
}

const vectors = loadVectors<TreeVectors>('list-trees.json', { roots: 72, proofs: 153 })
const TREES: Readonly<Record<string, MerkleTree>> = {
  transactions: TRANSACTION_TREE,
  witnesses: WITNESS_TREE,
  receipts: RECEIPT_TREE,
  'receipts of a tab': TAB_RECEIPT_TREE,
}
const ITEMS = vectors.items.map(fromHex)
const RECEIPTS = vectors.receipts.map(fromHex)
const TREE = TRANSACTION_TREE

describe('the root of a list', () => {
  it('is that of the vectors, for 0 to 17 items in every tree', () => {
    for (const { tree, count, root } of vectors.roots) {
      const items = tree.startsWith('receipts') ? RECEIPTS : ITEMS
      expect(toHex(merkleRoot(TREES[tree] as MerkleTree, items.slice(0, count))), `${count} ${tree}`).toBe(root)
    }
  })

  it('differs from every root of a list that looks alike', () => {
    const [a, b, c] = ITEMS as [Uint8Array, Uint8Array, Uint8Array]
    const inner = hashNode(taggedHash(TREE.leaf, a), taggedHash(TREE.leaf, b), nodeTag(TREE.node))
    const lists = [
      [],
      [a],
      [a, a],
      [a, b],
      [b, a],
      [a, b, c],
      [a, b, c, c],
      [concat(a, b)],
      [new Uint8Array(0)],
      [inner],
    ]
    const roots = Object.values(TREES).flatMap((tree) => lists.map((items) => toHex(merkleRoot(tree, items))))
    expect(new Set(roots).size).toBe(Object.keys(TREES).length * lists.length)
  })

  it('leaves the items as they were', () => {
    const before = ITEMS.map(toHex)
    merkleRoot(TREE, ITEMS)
    merkleProof(TREE, ITEMS, 3)
    expect(ITEMS.map(toHex)).toEqual(before)
  })
})

describe('a proof', () => {
  it('is that of the vectors and leads to the root', () => {
    for (const { count, index, siblings } of vectors.proofs) {
      const items = ITEMS.slice(0, count)
      const proof = merkleProof(TREE, items, index)
      expect({ ...proof, siblings: proof.siblings.map(toHex) }).toEqual({ index, count, siblings })
      expect(verifyMerkleProof(TREE, merkleRoot(TREE, items), ITEMS[index] as Uint8Array, proof)).toBe(true)
    }
  })

  it('exists for every item of lists of any length', () => {
    const lists = fc.array(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 130 })
    fc.assert(
      fc.property(lists, fc.nat(), (items, at) => {
        const index = at % items.length
        const root = merkleRoot(TREE, items)
        const proof = merkleProof(TREE, items, index)
        expect(verifyMerkleProof(TREE, root, items[index] as Uint8Array, proof)).toBe(true)
        expect(verifyMerkleProof(WITNESS_TREE, root, items[index] as Uint8Array, proof)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  it('proves one item at one place only', () => {
    for (const count of [1, 2, 3, 5, 7, 8, 11, 17]) {
      const items = ITEMS.slice(0, count)
      const root = merkleRoot(TREE, items)
      for (let index = 0; index < count; index++) {
        const proof = merkleProof(TREE, items, index)
        for (let other = 0; other < count; other++) {
          const asOther = { ...proof, index: other }
          expect(verifyMerkleProof(TREE, root, items[other] as Uint8Array, proof)).toBe(other === index)
          expect(verifyMerkleProof(TREE, root, items[index] as Uint8Array, asOther)).toBe(other === index)
        }
      }
    }
  })
})

describe('a hostile proof is refused', () => {
  const items = ITEMS.slice(0, 11)
  const root = merkleRoot(TREE, items)
  const item = items[6] as Uint8Array
  const good = merkleProof(TREE, items, 6)
  const flip = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 31 ? byte ^ 1 : byte))
  const withSiblings = (siblings: readonly Uint8Array[]): MerkleProof => ({ ...good, siblings })
  const zero = new Uint8Array(32)

  const proofs: readonly [string, MerkleProof][] = [
    ['an index behind the end', { ...good, index: 11 }],
    ['an index that differs by a power of two', { ...good, index: 6 + 16 }],
    ['a negative index', { ...good, index: -1 }],
    ['a negative zero that is another item', { ...good, index: -0 }],
    ['half an index', { ...good, index: 6.5 }],
    ['no number for an index', { ...good, index: Number.NaN }],
    ['an endless index', { ...good, index: Number.POSITIVE_INFINITY }],
    ['a count too small', { ...good, count: 10 }],
    ['a count too large', { ...good, count: 12 }],
    ['a count of 0', { ...good, count: 0 }],
    ['a count of the index', { ...good, count: 6 }],
    ['a negative count', { ...good, count: -11 }],
    ['half a count', { ...good, count: 11.5 }],
    ['no number for a count', { ...good, count: Number.NaN }],
    ['an endless count', { ...good, count: Number.POSITIVE_INFINITY }],
    ['a count that reads as the same 32 bits', { ...good, count: 11 + 2 ** 32 }],
    ['index and count shifted by 2^32', { ...good, index: 6 + 2 ** 32, count: 11 + 2 ** 32 }],
    ['no siblings', withSiblings([])],
    ['a sibling missing', withSiblings(good.siblings.slice(0, -1))],
    ['the first sibling missing', withSiblings(good.siblings.slice(1))],
    ['a sibling too many', withSiblings([...good.siblings, zero])],
    ['a sibling too many before', withSiblings([zero, ...good.siblings])],
    ['an empty sibling behind', withSiblings([...good.siblings, new Uint8Array(0)])],
    ['siblings in reverse', withSiblings(good.siblings.toReversed())],
    ['a changed sibling', withSiblings(good.siblings.map((sibling, i) => (i === 1 ? flip(sibling) : sibling)))],
    ['a short sibling', withSiblings(good.siblings.map((sibling) => sibling.subarray(0, 31)))],
    ['a long sibling', withSiblings(good.siblings.map((sibling) => concat(sibling, Uint8Array.of(0))))],
    ['siblings of 64 bytes', withSiblings(good.siblings.map((sibling) => concat(sibling, zero)))],
  ]

  it.for(proofs)('%s', ([, proof]) => {
    expect(verifyMerkleProof(TREE, root, item, good)).toBe(true)
    expect(verifyMerkleProof(TREE, root, item, proof)).toBe(false)
  })

  it('for another item, another root, a root of another length', () => {
    expect(verifyMerkleProof(TREE, root, flip(item), good)).toBe(false)
    expect(verifyMerkleProof(TREE, root, new Uint8Array(0), good)).toBe(false)
    expect(verifyMerkleProof(TREE, flip(root), item, good)).toBe(false)
    expect(verifyMerkleProof(TREE, root.subarray(0, 31), item, good)).toBe(false)
    expect(verifyMerkleProof(TREE, concat(root, zero), item, good)).toBe(false)
    expect(verifyMerkleProof(TREE, new Uint8Array(0), item, good)).toBe(false)
  })

  it('whose index only rounds or wraps to that of the last of eight items', () => {
    const eight = ITEMS.slice(0, 8)
    const top = merkleRoot(TREE, eight)
    const last = eight[7] as Uint8Array
    const proof = merkleProof(TREE, eight, 7)
    expect(verifyMerkleProof(TREE, top, last, proof)).toBe(true)
    for (const index of [-1, -9, 7.5, 7 + 2 ** 32, -(2 ** 32) + 7, Number.NaN, Number.NEGATIVE_INFINITY])
      expect(verifyMerkleProof(TREE, top, last, { ...proof, index }), `${index}`).toBe(false)
  })

  it('that gives the only item another index', () => {
    const only = merkleRoot(TREE, [item])
    expect(verifyMerkleProof(TREE, only, item, { index: 0, count: 1, siblings: [] })).toBe(true)
    for (const index of [1, 2, -1, 0.5, 2 ** 32])
      expect(verifyMerkleProof(TREE, only, item, { index, count: 1, siblings: [] })).toBe(false)
  })

  it('that shows an inner node as an item', () => {
    const leaves = items.map((each) => taggedHash(TREE.leaf, each))
    const inner = hashNode(leaves[6] as Uint8Array, leaves[7] as Uint8Array, nodeTag(TREE.node))
    const shorter: MerkleProof = { index: 3, count: 6, siblings: good.siblings.slice(1) }
    for (const shown of [inner, concat(leaves[6] as Uint8Array, leaves[7] as Uint8Array)])
      expect(verifyMerkleProof(TREE, root, shown, shorter)).toBe(false)
  })

  it('that says nothing about the path in a list of more than 2^31 items', () => {
    // The last of 2^32 - 1 items has 31 siblings. A proof without siblings would prove any root.
    const count = 0xffffffff
    const bare = taggedHash(TREE.root, uint32LE(count), taggedHash(TREE.leaf, item))
    expect(verifyMerkleProof(TREE, bare, item, { index: count - 1, count, siblings: [] })).toBe(false)
    const siblings = Array.from({ length: 32 }, () => zero)
    expect(verifyMerkleProof(TREE, bare, item, { index: 0, count: 2 ** 31 + 1, siblings: [] })).toBe(false)
    expect(verifyMerkleProof(TREE, bare, item, { index: 0, count: 2 ** 31 + 1, siblings })).toBe(false)
  })

  it('exists for an item of a list of more than 2^31 items as for any other', () => {
    // 2^31 + 2 items: the last two are a pair, which is carried up thirty levels and joined with the full left half.
    const count = 2 ** 31 + 2
    const [left, right, top] = [7, 8, 9].map((fill) => new Uint8Array(32).fill(fill)) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ]
    const tag = nodeTag(TREE.node)
    const pair = hashNode(left, taggedHash(TREE.leaf, right), tag)
    const root = taggedHash(TREE.root, uint32LE(count), hashNode(top, pair, tag))
    expect(verifyMerkleProof(TREE, root, right, { index: count - 1, count, siblings: [left, top] })).toBe(true)
  })
})

describe('an inner node', () => {
  it('binds the order of its children and the tag of its tree', () => {
    const [a, b] = ITEMS as [Uint8Array, Uint8Array]
    const nodes = [
      hashNode(a, b, nodeTag('transactionNode')),
      hashNode(b, a, nodeTag('transactionNode')),
      hashNode(a, b, nodeTag('witnessNode')),
      hashNode(a, b, new Uint8Array(32)),
    ]
    expect(new Set(nodes.map(toHex)).size).toBe(4)
    expect(equal(ITEMS[0] as Uint8Array, a)).toBe(true)
  })
})
