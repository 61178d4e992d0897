import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, toHex, ZERO_32 } from '../../../../consensus/primitives/bytes.ts'
import {
  EMPTY,
  hashStateNode,
  INNER,
  type Leaf,
  makeLeaf,
  PAGE_ROOT,
  PAGE_SLOTS,
  Page,
  SINGLE,
} from '../../../../consensus/state/page.ts'
import { shownPage } from '../../../support/state.ts'
import { tagged, xor } from '../../../vectors/generate/tx-wire.ts'

const NODE_TAG = tagged('farthing/state-node/1')

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(Buffer.concat(parts)).digest())
}

function node(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(xor(left, NODE_TAG), right)
}

type Content = { readonly leaf: Leaf } | { readonly inner: Uint8Array }

function leaf(fill: number): Leaf {
  const [path, value] = [new Uint8Array(32).fill(fill), new Uint8Array(32).fill(fill + 1)]
  return { path, value, hash: tagged('farthing/state-leaf/1', path, value) }
}

function inner(fill: number): Uint8Array {
  return new Uint8Array(32).fill(fill)
}

function pageOf(slots: Readonly<Record<number, Content>>): Page {
  const page = Page.empty()
  for (const [slot, content] of Object.entries(slots)) {
    if ('leaf' in content) page.setLeaf(Number(slot), content.leaf)
    else page.setInner(Number(slot), content.inner)
  }
  return page
}

function rootOf(slots: Readonly<Record<number, Content>>): string | null {
  const page = pageOf(slots)
  Page.rehash([page])
  return page.kind(PAGE_ROOT) === EMPTY ? null : toHex(page.hash(PAGE_ROOT))
}

function afterStep(page: Page, step: string, slot: number, fill: number): Page {
  switch (step) {
    case 'leaf':
      page.setLeaf(slot, leaf(fill))
      return page
    case 'inner':
      page.setInner(slot, inner(fill))
      return page
    case 'clear':
      page.clear(slot)
      return page
    case 'rehash':
      Page.rehash([page])
      return page
    case 'copy':
      return page.copy()
    case 'store':
      return Page.ofForm(page.form())
    default:
      return Page.ofForm(concat(Uint8Array.of(0), page.form()).subarray(1))
  }
}

describe('hashes of the state tree', () => {
  it('of leaves and nodes are those of the specification', () => {
    const made = leaf(3)
    expect(makeLeaf(made)).toEqual(made)
    expect(toHex(hashStateNode(inner(1), inner(2)))).toBe(toHex(node(inner(1), inner(2))))
  })
})

describe('a slot', () => {
  it('holds a leaf by its path, stored or set since', () => {
    const page = pageOf({ 3: { leaf: leaf(3) }, 4: { inner: inner(4) } })
    for (const shown of [page, page.copy()]) {
      expect(shown.holds(3, leaf(3).path)).toBe(true)
      expect(shown.holds(3, leaf(4).path)).toBe(false)
      expect([4, 5].some((slot) => shown.holds(slot, inner(4)))).toBe(false)
    }
  })
})

describe('the root of a page', () => {
  it('is nothing when the page is empty', () => {
    expect(rootOf({})).toBeNull()
  })

  it.each([0, 7, 15])('is the only leaf, wherever it stands (%i)', (at) => {
    const page = pageOf({ [at]: { leaf: leaf(5) } })
    Page.rehash([page])
    expect(toHex(page.hash(PAGE_ROOT))).toBe(toHex(leaf(5).hash))
    expect(page.kind(PAGE_ROOT)).toBe(SINGLE)
    expect(page.singleLeaf(PAGE_ROOT)).toEqual(leaf(5))
  })

  it('hashes a page below up to the top, with nothing beside it', () => {
    const one = node(inner(9), ZERO_32)
    const expected = node(ZERO_32, node(node(ZERO_32, one), ZERO_32))
    // 10 is 1010 in binary: right, left, right, left from the top.
    expect(rootOf({ 10: { inner: inner(9) } })).toBe(toHex(expected))
    const page = pageOf({ 10: { inner: inner(9) } })
    Page.rehash([page])
    expect(page.kind(PAGE_ROOT)).toBe(INNER)
  })

  it('joins two leaves where their ways part, and no deeper', () => {
    const [a, b] = [leaf(1), leaf(2)]
    expect(rootOf({ 0: { leaf: a }, 15: { leaf: b } })).toBe(toHex(node(a.hash, b.hash)))
    const below = node(a.hash, b.hash)
    expect(rootOf({ 4: { leaf: a }, 5: { leaf: b } })).toBe(toHex(node(node(ZERO_32, node(below, ZERO_32)), ZERO_32)))
  })

  it('moves a leaf up beside a page', () => {
    const right = node(node(ZERO_32, node(ZERO_32, inner(2))), ZERO_32)
    expect(rootOf({ 1: { leaf: leaf(1) }, 11: { inner: inner(2) } })).toBe(toHex(node(leaf(1).hash, right)))
  })

  it('is the same for pages hashed together and alone', () => {
    const contents: Readonly<Record<number, Content>>[] = [
      { 0: { leaf: leaf(1) } },
      {},
      { 3: { inner: inner(3) }, 4: { leaf: leaf(4) } },
      { 1: { leaf: leaf(1) }, 2: { leaf: leaf(2) }, 3: { leaf: leaf(3) } },
    ]
    const together = contents.map(pageOf)
    Page.rehash(together)
    for (const [i, content] of contents.entries()) {
      const alone = pageOf(content)
      Page.rehash([alone])
      expect(shownPage(alone)).toEqual(shownPage(together[i]!))
    }
  })

  it('is the same whether slots were set at once or one after another, cleared and set again', () => {
    const contents: Readonly<Record<number, Content>> = {
      2: { leaf: leaf(1) },
      3: { inner: inner(8) },
      9: { leaf: leaf(4) },
    }
    const page = pageOf({ 2: { inner: inner(1) }, 5: { leaf: leaf(7) } })
    Page.rehash([page])
    page.clear(5)
    Page.rehash([page])
    page.setLeaf(2, leaf(1))
    page.setInner(3, inner(8))
    Page.rehash([page])
    page.setLeaf(9, leaf(4))
    Page.rehash([page])
    const fresh = pageOf(contents)
    Page.rehash([fresh])
    expect(shownPage(page)).toEqual(shownPage(fresh))
  })

  it('is that of a fresh page after any changes, hashed, copied and stored between them or not', () => {
    const slot = fc.nat({ max: PAGE_SLOTS - 1 })
    const steps = fc.oneof(
      fc.record({ step: fc.constantFrom('leaf', 'inner', 'clear'), slot, fill: fc.integer({ min: 1, max: 200 }) }),
      fc.record({ step: fc.constantFrom('rehash', 'copy', 'store', 'store off a word'), slot, fill: fc.constant(0) }),
    )
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (list) => {
        const contents = new Map<number, Content>()
        let page = Page.empty()
        for (const { step, slot, fill } of list) {
          page = afterStep(page, step, slot, fill)
          if (step === 'leaf') contents.set(slot, { leaf: leaf(fill) })
          else if (step === 'inner') contents.set(slot, { inner: inner(fill) })
          else if (step === 'clear') contents.delete(slot)
        }
        expect(shownPage(page)).toEqual(shownPage(pageOf(Object.fromEntries(contents))))
      }),
      { numRuns: 300 },
    )
  })

  it('of a copy changes alone', () => {
    const page = pageOf({ 1: { leaf: leaf(1) } })
    Page.rehash([page])
    const before = shownPage(page)
    const copy = page.copy()
    copy.setLeaf(8, leaf(2))
    Page.rehash([copy])
    expect(shownPage(page)).toEqual(before)
    expect(shownPage(copy)).not.toEqual(before)
  })
})
