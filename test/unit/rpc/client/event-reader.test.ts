import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventReader } from '../../../../rpc/client/event-stream.ts'
import { runs } from '../../../support/runs.ts'

const STREAM = ': hello\n\nevent: block\nid: a.0\ndata: {"height":1}\n\n\n\nid: b.0\ndata: x\n\n\ndata: y\n\ndata: rest'
const whole = new EventReader().push(STREAM)

it('a stream gives the same events however it is cut', () => {
  expect(whole?.map(({ data }) => data)).toEqual(['{"height":1}', 'x', 'y'])
  const cuts = fc.array(fc.integer({ min: 0, max: STREAM.length }), { maxLength: 40 })
  fc.assert(
    fc.property(cuts, (places) => {
      const ends = [...places, STREAM.length].sort((a, b) => a - b)
      const reader = new EventReader()
      expect(ends.flatMap((end, i) => reader.push(STREAM.slice(ends[i - 1] ?? 0, end)) ?? [])).toEqual(whole)
    }),
    { numRuns: runs(500) },
  )
})

it('a stream gives the same events letter by letter', () => {
  const reader = new EventReader()
  expect([...STREAM].flatMap((letter) => reader.push(letter) ?? [])).toEqual(whole)
})

it('an event that does not end is given up after a mebibyte', () => {
  const reader = new EventReader()
  const piece = 'x'.repeat(65_536)
  for (let i = 0; i < 16; i++) expect(reader.push(piece)).toEqual([])
  expect(reader.push('x')).toBeUndefined()
})
