import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runNow } from '../../../../consensus/primitives/steps.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import type { StateTable } from '../../../../consensus/state/table.ts'
import { MemoryState, type StateView } from '../../../../consensus/state/view.ts'
import { runs } from '../../../support/runs.ts'
import { change, NOTES, THINGS } from '../../../support/state.ts'

const bytes = (value: number) => Uint8Array.of(value)

/** A state with the records 1, 2 and 3. The value of each is its id. */
function base(): MemoryState {
  const state = new MemoryState()
  state.apply([1, 2, 3].map((id) => change(id, undefined, id)))
  return state
}

function shown(overlay: StateView, ids: readonly number[]) {
  return ids.map((id) => overlay.get(THINGS, id)?.[0])
}

describe('an overlay', () => {
  it('shows the base until something is written, and then what was written', () => {
    const overlay = new Overlay(base())
    overlay.put(THINGS, 2, bytes(20))
    overlay.delete(THINGS, 3)
    overlay.put(THINGS, 4, bytes(40))
    expect(shown(overlay, [1, 2, 3, 4, 5])).toEqual([1, 20, undefined, 40, undefined])
  })

  it('never touches its base', () => {
    const state = base()
    const overlay = new Overlay(state)
    overlay.put(THINGS, 1, bytes(10))
    overlay.delete(THINGS, 2)
    expect(shown(state, [1, 2, 3])).toEqual([1, 2, 3])
  })

  it('reads a record of its base at most once', () => {
    const reads: number[] = []
    const overlay = new Overlay({
      get: <Id, T>(_: StateTable<Id, T>, id: Id) => void reads.push(id as number),
    })
    overlay.get(THINGS, 1)
    overlay.put(THINGS, 1, bytes(1))
    overlay.get(THINGS, 1)
    overlay.revert(0)
    overlay.get(THINGS, 1)
    runNow(overlay.diff())
    expect(reads).toEqual([1])
  })

  it('keeps tables with equal ids apart', () => {
    const overlay = new Overlay(base())
    overlay.put(NOTES, 1, bytes(99))
    expect(overlay.get(THINGS, 1)).toEqual(bytes(1))
    expect(overlay.get(NOTES, 1)).toEqual(bytes(99))
  })

  it('can lie over another overlay', () => {
    const lower = new Overlay(base())
    lower.put(THINGS, 1, bytes(10))
    const upper = new Overlay(lower)
    upper.put(THINGS, 2, bytes(20))
    expect(shown(upper, [1, 2, 3])).toEqual([10, 20, 3])
    expect(shown(lower, [1, 2, 3])).toEqual([10, 2, 3])
    expect(runNow(upper.diff()).map(({ key }) => key)).toEqual([THINGS.key(2)])
  })
})

describe('marks', () => {
  it('take back everything since, nested ones too', () => {
    const overlay = new Overlay(base())
    overlay.put(THINGS, 1, bytes(10))
    const outer = overlay.mark()
    overlay.put(THINGS, 1, bytes(11))
    overlay.delete(THINGS, 2)
    const inner = overlay.mark()
    overlay.put(THINGS, 1, bytes(12))
    overlay.put(THINGS, 2, bytes(22))
    overlay.put(THINGS, 5, bytes(5))
    overlay.revert(inner)
    expect(shown(overlay, [1, 2, 3, 5])).toEqual([11, undefined, 3, undefined])
    overlay.revert(outer)
    expect(shown(overlay, [1, 2, 3])).toEqual([10, 2, 3])
    overlay.revert(0)
    expect(shown(overlay, [1, 2, 3])).toEqual([1, 2, 3])
    expect(runNow(overlay.diff())).toEqual([])
  })

  it('change nothing when nothing was written since', () => {
    const overlay = new Overlay(base())
    overlay.put(THINGS, 1, bytes(10))
    const mark = overlay.mark()
    overlay.get(THINGS, 2)
    overlay.revert(mark)
    expect(shown(overlay, [1, 2])).toEqual([10, 2])
    expect(overlay.changesSince(mark)).toEqual([])
  })

  it('give each record written since once, with its value then and now', () => {
    const overlay = new Overlay(base())
    overlay.put(THINGS, 1, bytes(10))
    const mark = overlay.mark()
    overlay.put(THINGS, 1, bytes(11))
    overlay.put(THINGS, 1, bytes(12))
    overlay.delete(THINGS, 2)
    overlay.put(THINGS, 9, bytes(9))
    const changes = overlay.changesSince(mark).map(({ key, before, after }) => ({ key, before, after }))
    expect(changes).toEqual([
      { key: THINGS.key(1), before: bytes(10), after: bytes(12) },
      { key: THINGS.key(2), before: bytes(2), after: undefined },
      { key: THINGS.key(9), before: undefined, after: bytes(9) },
    ])
  })
})

describe('the diff of an overlay', () => {
  it('is in key order, with the bytes of before and after', () => {
    const overlay = new Overlay(base())
    overlay.put(NOTES, 1, bytes(7))
    overlay.put(THINGS, 300, bytes(30))
    overlay.delete(THINGS, 3)
    overlay.put(THINGS, 1, bytes(10))
    const diff = runNow(overlay.diff())
    expect(diff.map(({ key }) => key)).toEqual([THINGS.key(1), THINGS.key(3), THINGS.key(300), NOTES.key(1)])
    expect(diff.map(({ before }) => before?.[0])).toEqual([1, 3, undefined, undefined])
    expect(diff.map(({ after }) => after?.[0])).toEqual([10, undefined, 30, 7])
    expect(diff.map(({ table }) => table.name)).toEqual(['things', 'things', 'things', 'notes'])
  })

  it('leaves out what ended as it began', () => {
    const overlay = new Overlay(base())
    overlay.put(THINGS, 1, bytes(10))
    overlay.put(THINGS, 1, bytes(1))
    overlay.delete(THINGS, 2)
    overlay.put(THINGS, 2, bytes(2))
    overlay.put(THINGS, 4, bytes(4))
    overlay.delete(THINGS, 4)
    overlay.delete(THINGS, 5)
    overlay.get(THINGS, 3)
    expect(runNow(overlay.diff())).toEqual([])
  })

  it('carries a state to the next one and, unwound, back again', () => {
    const edit = fc.tuple(fc.nat(6), fc.option(fc.nat(255), { nil: undefined }), fc.constantFrom('keep', 'revert'))
    fc.assert(
      fc.property(fc.array(fc.array(edit, { maxLength: 5 }), { maxLength: 6 }), (groups) => {
        const state = base()
        const overlay = new Overlay(state)
        const expected = new Map([1, 2, 3].map((id) => [id, id]))
        for (const group of groups) {
          const mark = overlay.mark()
          const undone = group.some(([, , end]) => end === 'revert')
          for (const [id, value] of group) {
            if (value === undefined) overlay.delete(THINGS, id)
            else overlay.put(THINGS, id, bytes(value))
            if (undone) continue
            if (value === undefined) expected.delete(id)
            else expected.set(id, value)
          }
          if (undone) overlay.revert(mark)
        }
        const ids = [0, 1, 2, 3, 4, 5, 6]
        const diff = runNow(overlay.diff())
        expect(shown(overlay, ids)).toEqual(ids.map((id) => expected.get(id)))
        state.apply(diff)
        expect(shown(state, ids)).toEqual(ids.map((id) => expected.get(id)))
        state.apply(diff, true)
        expect(shown(state, ids)).toEqual([undefined, 1, 2, 3, undefined, undefined, undefined])
      }),
      { numRuns: runs(300) },
    )
  })
})
