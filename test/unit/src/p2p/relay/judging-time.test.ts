import { expect, it, vi } from 'vitest'
import { UNMEASURED } from '../../../../../src/p2p/network.ts'
import { makeCompactBlock } from '../../../../../src/p2p/relay/compact-block.ts'
import { LINK_MS } from '../../../../support/p2p/memory-network.ts'
import { RelayRow } from '../../../../support/p2p/relay-row.ts'

it('the first message of a good block is charged for decoding alone, not for the search among what waits here', async () => {
  const row = await RelayRow.open()
  const [one, other] = await row.pair()
  const block = await row.source.mine(await row.pays(3))
  const waiting = vi.spyOn(other.mempool, 'transactions')
  let measured = 0
  let searches = 0
  const measure = <T>(work: () => T): T => {
    const before = waiting.mock.calls.length
    const done = work()
    measured += 1
    searches += waiting.mock.calls.length - before
    return done
  }
  other.network.judging = { measure, run: (steps) => measure(() => UNMEASURED.run(steps)) }
  const message = makeCompactBlock(block, 1n, () => false)
  one.network.send(other.id, 'blocks', message)
  await row.hub.time.pass(LINK_MS)
  expect(other.network.verdicts.map(({ verdict }) => verdict)).toEqual(['ignore'])
  expect(waiting).toHaveBeenCalled()
  // Measured: the message, its header, and its prefilled transactions.
  expect({ measured, searches }).toEqual({ measured: 3, searches: 0 })
})
