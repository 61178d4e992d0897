import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toHex, ZERO_32 } from '../../../../consensus/primitives/bytes.ts'
import {
  hashLeaves,
  hashStateNode,
  PAGE_SLOTS,
  type Page,
  pageLevels,
  pageRoots,
  type Slot,
} from '../../../../consensus/state/page.ts'
import { tagged, xor } from '../../../vectors/generate/tx-wire.ts'

const LEAF_TAG = tagged('farthing/state-leaf/1')
const NODE_TAG = tagged('farthing/state-node/1')

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(Buffer.concat(parts)).digest())
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(xor(left, NODE_TAG), right)
}

function leaf(fill: number): Slot {
  const [path, value] = [new Uint8Array(32).fill(fill), new Uint8Array(32).fill(fill + 1)]
  return { kind: 'leaf', path, value, hash: sha256(xor(path, LEAF_TAG), value) }
}

function inner(fill: number): Slot {
  return { kind: 'inner', hash: new Uint8Array(32).fill(fill) }
}

function pageOf(slots: Readonly<Record<number, Slot>>): Page {
  return Array.from({ length: PAGE_SLOTS }, (_, i) => slots[i] ?? null)
}

function rootOf(slots: Readonly<Record<number, Slot>>): string | null {
  const [element] = pageRoots([pageOf(slots)])
  return element === null || element === undefined ? null : toHex(element.hash)
}

describe('hashes of the state tree', () => {
  it('of leaves and nodes are those of the specification', () => {
    const slot = leaf(3) as Slot & { kind: 'leaf' }
    expect(hashLeaves([slot, slot]).map(toHex)).toEqual([toHex(slot.hash), toHex(slot.hash)])
    const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    expect(toHex(hashStateNode(a, b))).toBe(toHex(node(a, b)))
    expect(hashLeaves([])).toEqual([])
  })
})

describe('the root of a page', () => {
  it('is nothing when the page is empty', () => {
    expect(rootOf({})).toBeNull()
  })

  it.each([0, 7, 15])('is the only leaf, wherever it stands (%i)', (at) => {
    expect(rootOf({ [at]: leaf(5) })).toBe(toHex(leaf(5).hash))
    expect(pageRoots([pageOf({ [at]: leaf(5) })])[0]?.leaf).toEqual(leaf(5))
  })

  it('hashes a page below up to the top, with nothing beside it', () => {
    const one = node(inner(9).hash, ZERO_32)
    const expected = node(ZERO_32, node(node(ZERO_32, one), ZERO_32))
    // 10 is 1010 in binary: right, left, right, left from the top.
    expect(rootOf({ 10: inner(9) })).toBe(toHex(expected))
    expect(pageRoots([pageOf({ 10: inner(9) })])[0]?.leaf).toBeNull()
  })

  it('joins two leaves where their ways part, and no deeper', () => {
    const [a, b] = [leaf(1), leaf(2)]
    expect(rootOf({ 0: a, 15: b })).toBe(toHex(node(a.hash, b.hash)))
    const below = node(a.hash, b.hash)
    const nothing = ZERO_32
    expect(rootOf({ 4: a, 5: b })).toBe(toHex(node(node(nothing, node(below, nothing)), nothing)))
  })

  it('moves a leaf up beside a page', () => {
    const [a, b] = [leaf(1), inner(2)]
    const right = node(node(ZERO_32, node(ZERO_32, b.hash)), ZERO_32)
    expect(rootOf({ 1: a, 11: b })).toBe(toHex(node(a.hash, right)))
  })

  it('is the same for pages hashed together and alone', () => {
    const pages = [{ 0: leaf(1) }, {}, { 3: inner(3), 4: leaf(4) }, { 1: leaf(1), 2: leaf(2), 3: leaf(3) }].map(pageOf)
    const together = pageRoots(pages)
    pages.forEach((page, i) => {
      expect(pageRoots([page])[0] ?? null).toEqual(together[i])
    })
  })
})

describe('the levels of a page', () => {
  it('run from the root to the sixteen slots', () => {
    const [levels] = pageLevels([pageOf({ 4: leaf(1), 5: leaf(2) })])
    expect(levels?.map((level) => level.length)).toEqual([1, 2, 4, 8, 16])
    expect(levels?.[4]?.[4]?.leaf).toEqual(leaf(1))
    expect(levels?.[3]?.[2]?.leaf).toBeNull()
    expect(levels?.[3]?.[3]).toBeNull()
  })
})
