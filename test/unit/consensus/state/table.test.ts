import { describe, expect, it } from 'vitest'
import { uint8 } from '../../../../consensus/primitives/codec.ts'
import { heightKey, noKey, stateTable, textKey } from '../../../../consensus/state/table.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import { change, THINGS } from '../../../support/state.ts'

describe('a state table', () => {
  it('puts its prefix before the id', () => {
    const table = stateTable<string, number>({ name: 'words', prefix: 0x0a, codec: uint8, id: textKey })
    expect(table.key('ab')).toBe('0a6162')
    expect(table.rooted).toBe(true)
  })

  it('may have a single record under an empty id', () => {
    const table = stateTable<void, number>({ name: 'one', prefix: 0xff, codec: uint8, id: noKey, rooted: false })
    expect(table.key(undefined)).toBe('ff')
    expect(table.rooted).toBe(false)
  })

  it('sorts heights as numbers', () => {
    const heights = [0, 9, 10, 255, 256, 65_536, 2 ** 32 - 1]
    const keys = heights.map(heightKey)
    expect(keys).toEqual(keys.toSorted())
    expect(keys.every((key) => key.length === 8)).toBe(true)
  })
})

describe('a state in memory', () => {
  it('holds what changes brought, and gives every record back encoded', () => {
    const state = new MemoryState()
    state.apply([change(1, undefined, 5), change(2, undefined, 6)])
    state.apply([change(1, 5, 7), change(2, 6, undefined)])
    expect(state.get(THINGS, 1)).toEqual(Uint8Array.of(7))
    expect([...state.records()].map(({ key, value }) => [key, [...value]])).toEqual([[THINGS.key(1), [7]]])
  })
})
