import { describe, expect, it } from 'vitest'
import { pathBetween } from '../../../../consensus/chain/fork-choice.ts'
import type { BlockEntry } from '../../../../consensus/chain/layout.ts'

/** Blocks named after their branch and height, `b3` on the branch `b`; branches part after `m4`. */
const PARENTS: Readonly<Record<string, string>> = {
  ...{ m1: 'm0', m2: 'm1', m3: 'm2', m4: 'm3' },
  ...{ a5: 'm4', a6: 'a5', b5: 'm4', b6: 'b5', b7: 'b6', b8: 'b7' },
}

function entry(id: string): BlockEntry {
  return { id, header: { height: Number(id.slice(1)), parent: PARENTS[id] } } as unknown as BlockEntry
}

function path(from: string, to: string) {
  const { disconnect, connect } = pathBetween({ entry: (id) => entry(id) }, entry(from), entry(to))
  return [disconnect.map(({ id }) => id).join(' '), connect.map(({ id }) => id).join(' ')]
}

describe('the path between two tips', () => {
  it.each([
    ['m4', 'm4', '', ''],
    ['m2', 'm4', '', 'm3 m4'],
    ['m4', 'm1', 'm4 m3 m2', ''],
    ['a6', 'b6', 'a6 a5', 'b5 b6'],
    ['a5', 'b8', 'a5', 'b5 b6 b7 b8'],
    ['b8', 'a5', 'b8 b7 b6 b5', 'a5'],
    ['a6', 'm0', 'a6 a5 m4 m3 m2 m1', ''],
  ])('from %s to %s takes off "%s" and puts on "%s"', (from, to, off, on) => {
    expect(path(from, to)).toEqual([off, on])
  })

  it('is a bug when a parent is missing', () => {
    const entries = { entry: () => undefined }
    expect(() => pathBetween(entries, entry('a6'), entry('b6'))).toThrow('missing from the store')
  })
})
