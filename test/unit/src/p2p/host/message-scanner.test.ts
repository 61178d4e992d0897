import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageScanner } from '../../../../../src/p2p/host/message-scanner.ts'
import { field, gossipFrame, joined, prefixed, subscribeFrame, varint } from '../../../../support/frames.ts'

const FRAME_MAX = 4_096
const text = (value: string): Uint8Array => Buffer.from(value)
const control = (number: number, ...content: readonly Uint8Array[]): Uint8Array =>
  prefixed(field(3, field(number, joined(...content))))

const GOOD = {
  nothing: prefixed(new Uint8Array(0)),
  subscription: subscribeFrame('/one', '/two'),
  message: gossipFrame('/topic', new Uint8Array(300).fill(255)),
  'empty message': gossipFrame('', new Uint8Array(0)),
  ihave: control(1, field(1, text('/t')), field(2, new Uint8Array(32)), field(2, new Uint8Array(32))),
  iwant: control(2, field(1, new Uint8Array(32))),
  graft: control(3, field(1, text('/t'))),
  prune: control(4, field(1, text('/t')), field(2, field(1, text('peer'))), joined(Uint8Array.of(0x18), varint(60))),
  idontwant: control(5, field(1, new Uint8Array(32))),
  'a field of a later release': prefixed(joined(field(10, text('new')), Uint8Array.of(0x58, 1))),
  'fields of fixed size': prefixed(
    joined(Uint8Array.of(0x59), new Uint8Array(8), Uint8Array.of(0x5d), new Uint8Array(4)),
  ),
}

const BAD = {
  'field 0': prefixed(Uint8Array.of(0x02, 0)),
  'a group': prefixed(Uint8Array.of(0x0b)),
  'content beyond the frame': prefixed(Uint8Array.of(0x0a, 5, 1)),
  'content beyond its message': prefixed(joined(field(3, Uint8Array.of(0x0a, 9)), new Uint8Array(20))),
  'a tag without content': prefixed(Uint8Array.of(0x0a)),
  'a varint cut off by the frame': prefixed(Uint8Array.of(0x0a, 0x80)),
  'a number where a message belongs': prefixed(Uint8Array.of(0x08, 1)),
  'a number that never ends': joined(new Uint8Array(12).fill(0xff)),
  'fixed size beyond the frame': prefixed(Uint8Array.of(0x59, 1, 2)),
  'kilobytes of an unknown field': prefixed(field(10, new Uint8Array(2_000))),
}

/** Scans bytes in pieces of `piece` bytes. */
function scanned(bytes: Uint8Array, piece: number): string | null {
  const scanner = new MessageScanner(FRAME_MAX)
  for (let at = 0; at < bytes.length; at += piece) {
    const offence = scanner.scan(bytes.subarray(at, at + piece))
    if (offence !== null) return offence
  }
  return null
}

test('what gossipsub says passes, however it is cut', () => {
  const all = joined(...Object.values(GOOD))
  for (const piece of [1, 2, 3, 7, 100, all.length]) {
    for (const [name, frame] of Object.entries(GOOD)) expect([name, scanned(frame, piece)]).toEqual([name, null])
    expect(scanned(joined(all, all), piece)).toBe(null)
  }
})

test('what does not decode is seen, also behind what does', () => {
  for (const piece of [1, 5, 10_000]) {
    for (const [name, frame] of Object.entries(BAD)) {
      expect([name, scanned(joined(GOOD.message, frame), piece)]).toEqual([name, 'malformed'])
    }
  }
})

test('a frame is judged by what it claims, before it comes', () => {
  expect(scanned(varint(FRAME_MAX + 1), 1)).toBe('oversize')
  expect(scanned(varint(FRAME_MAX), 1)).toBe(null)
})

test('frames and fields are counted', () => {
  const scanner = new MessageScanner(FRAME_MAX)
  scanner.scan(joined(GOOD.nothing, GOOD.nothing, GOOD.message))
  expect(scanner.units).toBe(2 + 1 + 3)
})

test('any bytes, in any pieces, get the same answer as in one', () => {
  const frames = fc.array(fc.constantFrom(...Object.values(GOOD), ...Object.values(BAD)), { maxLength: 4 })
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        frames.map((some) => joined(...some)),
      ),
      fc.nat(40),
      (bytes, piece) => {
        expect(scanned(bytes, piece + 1)).toBe(scanned(bytes, 100_000))
      },
    ),
    { numRuns: 500 },
  )
})
