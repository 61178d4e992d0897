import { expect, it } from 'vitest'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { Waits } from '../../../../../src/p2p/snapshot/waits.ts'

const MIB = 1_048_576
const PEER = 'peer' as PeerId

it.each([
  ['2 Mbit/s', 4_200, 0],
  ['a Mbit/s', 8_000, 0],
  ['26 kB/s', 40_000, 320_000],
])('ten MiB at %s are so long a wait beyond what a slow line takes: %d ms each', (_, mibMs, slowMs) => {
  const waits = new Waits({ peers: {}, clock: { now: () => 0 } } as never)
  for (let mib = 0; mib < 10; mib++) {
    waits.note(PEER, mibMs, 0)
    waits.note(PEER, 0, MIB)
  }
  expect(Math.max(0, waits.slowMs)).toBe(slowMs)
  expect(waits.areTooLong(PEER)).toBe(false)
})
