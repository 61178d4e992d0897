import { expect, it } from 'vitest'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail } from '../../../../../consensus/primitives/result.ts'
import type { Network, PeerId } from '../../../../../src/p2p/network.ts'
import { Exchange } from '../../../../../src/p2p/peers/exchange.ts'
import type { Offence } from '../../../../../src/p2p/peers/offences.ts'
import { PROTOCOLS } from '../../../../../src/p2p/wire/protocols.ts'

const PEER = 'a peer' as PeerId
const { deadlineMs } = PROTOCOLS.poolIds

/** What a peer is blamed for whose answer did not come, where that was noticed after so many ms. */
async function blameAfter(ms: number): Promise<readonly Offence[]> {
  const offences: Offence[] = []
  const conduct = {
    budgetOf: () => undefined,
    isReady: () => true,
    report: (_: PeerId, it: Offence) => offences.push(it),
  }
  let nowMs = 0
  const request: Network['request'] = async (_, protocol) => {
    nowMs += ms
    return fail(fault('p2p/timeout', { protocol, ms: deadlineMs }))
  }
  const exchange = new Exchange({ request } as Network, conduct, { now: () => nowMs })
  expect(await exchange.ask(PEER, 'poolIds', { cursor: 0 })).toMatchObject({ fault: { code: 'p2p/timeout' } })
  return offences
}

it('blames a peer for an answer that did not come in time, and not for the time in which this node stood still', async () => {
  expect(await blameAfter(deadlineMs)).toEqual(['timeout'])
  expect(await blameAfter(deadlineMs + 900)).toEqual(['timeout'])
  expect(await blameAfter(deadlineMs + 5_000)).toEqual([])
})
