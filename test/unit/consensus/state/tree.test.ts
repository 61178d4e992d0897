import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { anyTable, type StateKey } from '../../../../consensus/state/table.ts'
import { type PageId, ROOT_PAGE, updateTree, updateTreeNow } from '../../../../consensus/state/tree.ts'
import type { StateChange } from '../../../../consensus/state/view.ts'
import { useNativeSha256 } from '../../../../src/crypto/native-backend.ts'
import { runs } from '../../../support/runs.ts'
import { change, crowdedIds, NOTES, naiveRoot, PageStore, THINGS } from '../../../support/state.ts'

useNativeSha256()

/** Ids in groups whose paths begin with the same 16 bits, and ids with unrelated paths. */
const IDS = [...crowdedIds(16, 6, 3), ...Array.from({ length: 30 }, (_, i) => 5_000_000 + i)]

/** One block: the new value of each touched id. Undefined deletes. */
type Step = ReadonlyMap<number, number | undefined>

const step: fc.Arbitrary<Step> = fc
  .array(fc.tuple(fc.constantFrom(...IDS), fc.option(fc.nat(255), { nil: undefined })), { maxLength: 25 })
  .map((edits) => new Map(edits))

/** A state as records, and as pages that are grown step by step. It makes the list of changes of each step. */
class Model {
  readonly records = new Map<number, number>()
  readonly store = new PageStore()
  root = ZERO_HEX_32

  changesOf(edits: Step): readonly StateChange[] {
    return [...edits]
      .filter(([id, after]) => this.records.get(id) !== after)
      .map(([id, after]) => change(id, this.records.get(id), after))
  }

  apply(edits: Step): readonly StateChange[] {
    const changes = this.changesOf(edits)
    const update = updateTreeNow(this.store, changes)
    this.store.apply(update)
    this.root = update.root
    for (const [id, after] of edits) {
      if (after === undefined) this.records.delete(id)
      else this.records.set(id, after)
    }
    return changes
  }

  /** Puts the same records into an empty tree at once. */
  fromScratch(): { readonly store: PageStore; readonly root: string } {
    const store = new PageStore()
    const update = updateTreeNow(
      store,
      [...this.records].map(([id, value]) => change(id, undefined, value)),
    )
    store.apply(update)
    return { store, root: update.root }
  }

  naive(): string {
    return naiveRoot([...this.records].map(([id, value]) => [THINGS.key(id), Uint8Array.of(value)] as const))
  }
}

describe('the state tree', () => {
  it('grown step by step has the root of its definition', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        const model = new Model()
        for (const edits of steps) {
          model.apply(edits)
          expect(model.root).toBe(model.naive())
        }
      }),
      { numRuns: runs(150) },
    )
  })

  it('grown step by step leaves exactly the pages of a tree built at once', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const model = new Model()
        for (const edits of steps) model.apply(edits)
        const { store, root } = model.fromScratch()
        expect(model.root).toBe(root)
        expect(model.store.dump()).toEqual(store.dump())
      }),
      { numRuns: runs(150) },
    )
  })

  it('unwound step by step comes back to every earlier root and its pages', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const model = new Model()
        model.apply(new Map())
        const past = steps.map((edits) => {
          const [root, pages] = [model.root, model.store.dump()]
          return { root, pages, changes: model.apply(edits) }
        })
        for (const { root, pages, changes } of past.toReversed()) {
          const update = updateTreeNow(model.store, changes, true)
          model.store.apply(update)
          expect(update.root).toBe(root)
          expect(model.store.dump()).toEqual(pages)
        }
      }),
      { numRuns: runs(100) },
    )
  })

  it('does not depend on the order of the changes', () => {
    const records = IDS.map((id, i) => change(id, undefined, i))
    const forward = updateTreeNow(new PageStore(), records)
    expect(updateTreeNow(new PageStore(), records.toReversed()).root).toBe(forward.root)
  })
})

describe('an update of the tree', () => {
  const deep = crowdedIds(16, 1, 2) as readonly [number, number]

  it('of nothing gives the zero root', () => {
    expect(updateTreeNow(new PageStore(), []).root).toBe(ZERO_HEX_32)
  })

  it('of one record needs the top page alone', () => {
    const { pages } = updateTreeNow(new PageStore(), [change(deep[0], undefined, 1)])
    expect([...pages.keys()]).toEqual([ROOT_PAGE])
  })

  it('makes a page for every four bits that two paths share, and folds them when one leaves', () => {
    const store = new PageStore()
    store.apply(updateTreeNow(store, [change(deep[0], undefined, 1), change(deep[1], undefined, 2)]))
    const lengths = [...store.pages.keys()].map((id) => id.length).sort()
    expect(lengths.slice(0, 5)).toEqual([0, 1, 2, 3, 4])
    const removal = updateTreeNow(store, [change(deep[1], 2, undefined)])
    expect([...removal.pages].filter(([, page]) => page === null).length).toBe(lengths.length - 1)
    store.apply(removal)
    expect([...store.pages.keys()]).toEqual([ROOT_PAGE])
    expect(removal.root).toBe(naiveRoot([[THINGS.key(deep[0]), Uint8Array.of(1)]]))
  })

  it('touches only the pages on the way to its records', () => {
    const model = new Model()
    model.apply(new Map(IDS.map((id, i) => [id, i])))
    const { pages } = updateTreeNow(model.store, [change(deep[0], 0, 77)])
    for (const id of pages.keys()) expect(id.length).toBeLessThan(6)
    expect(pages.size).toBeLessThan(8)
  })

  it('begins a page that the tree did not have without what the store holds under its id', () => {
    const store = new PageStore()
    const [first, second, third] = crowdedIds(8, 1, 3) as [number, number, number]
    store.apply(updateTreeNow(store, [change(first, undefined, 1)]))
    const grown = new PageStore()
    grown.apply(updateTreeNow(grown, [change(second, undefined, 2), change(third, undefined, 3)]))
    // Leftovers of another state: pages at ids that this tree does not have.
    for (const [id, page] of grown.pages) if (id !== ROOT_PAGE) store.pages.set(id, page)
    const clean = new PageStore()
    const both = [change(first, undefined, 1), change(second, undefined, 2)]
    const wanted = updateTreeNow(clean, both)
    const update = updateTreeNow(store, [change(second, undefined, 2)])
    expect(update.root).toBe(wanted.root)
  })

  it('never changes a page that it was given', () => {
    const model = new Model()
    model.apply(new Map(IDS.map((id, i) => [id, i])))
    const before = model.store.dump()
    updateTreeNow(model.store, [change(deep[0], 0, undefined), change(deep[1], 1, 9)])
    expect(model.store.dump()).toEqual(before)
  })

  it('ignores the removal of what is not there', () => {
    const model = new Model()
    model.apply(new Map([[deep[0], 1]]))
    expect(updateTreeNow(model.store, [change(deep[1], undefined, undefined)]).root).toBe(model.root)
    expect(updateTreeNow(model.store, [change(5_000_000, undefined, undefined)]).root).toBe(model.root)
  })

  it('leaves out tables that the root does not cover', () => {
    const note = { table: anyTable(NOTES), key: NOTES.key(1) as StateKey, before: undefined, after: Uint8Array.of(1) }
    expect(updateTreeNow(new PageStore(), [note]).root).toBe(ZERO_HEX_32)
  })

  it('pauses every few records, and gives the same whether or not others run meanwhile', () => {
    const changes = Array.from({ length: 200 }, (_, i) => change(i, undefined, i % 256))
    const steps = updateTree(new PageStore(), changes)
    let pauses = 0
    let last = steps.next()
    for (; !last.done; last = steps.next()) pauses++
    expect(pauses).toBeGreaterThan(200 / 32)
    expect(last.value.root).toBe(updateTreeNow(new PageStore(), changes).root)
  })

  it('asks for pages by their nibbles alone', () => {
    const asked: PageId[] = []
    const reader = { page: (id: PageId) => void asked.push(id) }
    updateTreeNow(reader, [change(deep[0], undefined, 1)])
    expect(asked).toEqual([''])
  })
})
