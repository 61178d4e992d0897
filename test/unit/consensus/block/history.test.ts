import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SealedHeader, sealHeader } from '../../../../consensus/block/header.ts'
import {
  appendLeaf,
  type HistoryNode,
  type HistoryNodeAt,
  type HistoryPeak,
  type HistoryProof,
  historyLeaf,
  historyProof,
  historyRoot,
  peakPositions,
  verifyHistoryProof,
} from '../../../../consensus/block/history.ts'
import { taggedHash } from '../../../../consensus/crypto/hash.ts'
import { toHex, uint32LE, uintLE } from '../../../../consensus/primitives/bytes.ts'
import { testHeader } from '../../../support/headers.ts'
import { runs } from '../../../support/runs.ts'

const BLOCKS: readonly SealedHeader[] = Array.from({ length: 70 }, (_, height) =>
  sealHeader(testHeader({ height, target: 2n ** 240n - BigInt(height) })),
)

/** The tree over the first `count` blocks, grown leaf by leaf. */
function grown(count: number) {
  const nodes = new Map<string, HistoryNodeAt>()
  let peaks: readonly HistoryPeak[] = []
  BLOCKS.slice(0, count).forEach((block, i) => {
    const appended = appendLeaf(peaks, historyLeaf(block), i)
    peaks = appended.peaks
    for (const node of appended.nodes) nodes.set(`${node.level}/${node.index}`, node)
  })
  const nodeAt = (level: number, index: number): HistoryNode => {
    const node = nodes.get(`${level}/${index}`)
    if (node === undefined) throw new Error(`node ${level}/${index} is not there`)
    return node
  }
  return { peaks, nodeAt, root: historyRoot(peaks, count) }
}

/** The tree by its definition, level by level. */
function naiveRoot(count: number): string {
  let level: HistoryNode[] = BLOCKS.slice(0, count).map(historyLeaf)
  while (level.length > 1) {
    level = level.flatMap((left, i) => {
      const right = level[i + 1]
      if (i % 2 === 1) return []
      if (right === undefined) return [left]
      const data = [left.hash, uintLE(left.work, 32), right.hash, uintLE(right.work, 32)]
      return [{ hash: taggedHash('historyNode', ...data), work: left.work + right.work }]
    })
  }
  const top = level[0] ?? { hash: new Uint8Array(32), work: 0n }
  return toHex(taggedHash('historyRoot', uint32LE(count), top.hash, uintLE(top.work, 32)))
}

describe('the history root', () => {
  it('grown leaf by leaf is the one of the whole list', () => {
    for (let count = 0; count <= BLOCKS.length; count++) expect(grown(count).root).toBe(naiveRoot(count))
  })

  it('follows from the perfect subtrees at the peaks’ places', () => {
    for (const count of [1, 2, 3, 21, 64, 70]) {
      const { peaks, nodeAt, root } = grown(count)
      const positions = peakPositions(count)
      expect(positions.map(({ level }) => level)).toEqual(peaks.map(({ level }) => level))
      const stored = positions.map(({ level, index }) => ({ ...nodeAt(level, index), level }))
      expect(historyRoot(stored, count)).toBe(root)
    }
  })

  it('adds up the work of all its blocks', () => {
    const { peaks } = grown(21)
    const sum = BLOCKS.slice(0, 21).reduce((work, block) => work + historyLeaf(block).work, 0n)
    expect(peaks.reduce((work, peak) => work + peak.work, 0n)).toBe(sum)
  })
})

describe('a history proof', () => {
  const proved = fc.integer({ min: 1, max: BLOCKS.length }).chain((count) =>
    fc.nat(count - 1).map((index) => {
      const { root, nodeAt } = grown(count)
      return { root, proof: historyProof(index, count, nodeAt), block: BLOCKS[index] as SealedHeader }
    }),
  )

  it('holds for every block of every tree', () => {
    for (const count of [1, 2, 3, 6, 7, 33]) {
      const { root, nodeAt } = grown(count)
      for (let index = 0; index < count; index++) {
        const proof = historyProof(index, count, nodeAt)
        expect(verifyHistoryProof(root, BLOCKS[index] as SealedHeader, proof)).toBe(true)
      }
    }
  })

  it('does not hold for another block, another root, or changed siblings', () => {
    fc.assert(
      fc.property(proved, fc.nat(), ({ root, proof, block }, pick) => {
        const other = sealHeader({ ...block.header, nonce: 6n })
        expect(verifyHistoryProof(root, other, proof)).toBe(false)
        expect(verifyHistoryProof(grown(69).root, block, { ...proof, count: 68 })).toBe(false)
        for (const siblings of spoiled(proof.siblings, pick)) {
          expect(verifyHistoryProof(root, block, { ...proof, siblings })).toBe(false)
        }
      }),
      { numRuns: runs(150) },
    )
  })

  it('does not hold with another index or count', () => {
    const { root, nodeAt } = grown(5)
    const proof = historyProof(2, 5, nodeAt)
    const block = BLOCKS[2] as SealedHeader
    const holds = (change: Partial<HistoryProof>) => verifyHistoryProof(root, block, { ...proof, ...change })
    expect(holds({})).toBe(true)
    for (const index of [-1, 0, 1, 3, 4, 5, 2.5, Number.NaN]) expect(holds({ index })).toBe(false)
    for (const count of [-1, 0, 2, 3, 4, 6, Number.NaN, Number.POSITIVE_INFINITY]) expect(holds({ count })).toBe(false)
  })

  it('does not hold with a count that only its low 32 bits, or its whole part, make right', () => {
    const { root, nodeAt } = grown(5)
    const proof = historyProof(2, 5, nodeAt)
    for (const count of [5 + 2 ** 32, 5 + 2 ** 40, 5.5]) {
      expect(verifyHistoryProof(root, BLOCKS[2] as SealedHeader, { ...proof, count })).toBe(false)
    }
  })

  it('does not hold with hashes or work that do not fit their fields', () => {
    const { root, nodeAt } = grown(5)
    const proof = historyProof(2, 5, nodeAt)
    const first = proof.siblings[0] as HistoryNode
    for (const sibling of [
      { ...first, work: first.work + 2n ** 256n },
      { ...first, work: -1n },
      { ...first, hash: first.hash.slice(1) },
      { ...first, hash: new Uint8Array([...first.hash, 0]) },
    ]) {
      const siblings = [sibling, ...proof.siblings.slice(1)]
      expect(verifyHistoryProof(root, BLOCKS[2] as SealedHeader, { ...proof, siblings })).toBe(false)
    }
  })
})

/** Wrong lists of siblings, each made from the right one. */
function spoiled(siblings: readonly HistoryNode[], pick: number): readonly (readonly HistoryNode[])[] {
  const extra = { hash: new Uint8Array(32), work: 1n }
  if (siblings.length === 0) return [[extra]]
  const at = pick % siblings.length
  const change = (edit: (node: HistoryNode) => HistoryNode) => siblings.map((node, i) => (i === at ? edit(node) : node))
  return [
    [...siblings, extra],
    siblings.toSpliced(at, 1),
    change((node) => ({ ...node, work: node.work + 1n })),
    change((node) => ({ ...node, hash: node.hash.map((byte, i) => (i === pick % 32 ? byte ^ 1 : byte)) })),
  ]
}
