import { expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../../../consensus/chain/key-value.ts'
import type { NetworkLog } from '../../../../../src/p2p/network.ts'
import { TestChain } from '../../../../support/chain.ts'
import { connect, joiningNode, servingNode } from '../../../../support/snapshot-nodes.ts'
import { SILENT } from '../../../../support/wire.ts'

it('tells the operator of each kind of failing read once, and of so many at most', async () => {
  const store = new MemoryKeyValueStore()
  const test = await TestChain.open(undefined, store)
  const told: object[] = []
  const log: NetworkLog = { ...SILENT, warn: (facts) => told.push(facts) }
  const server = servingNode('server', test, store, { log })
  await test.mine()
  const node = await joiningNode(test.ruleBook, new MemoryKeyValueStore())
  await connect(node, server)
  let reason = 'the disk is gone'
  const read = async (): Promise<never> => {
    throw new Error(reason)
  }
  server.past.map = () => ({ read })
  const snapshot = test.chain.head.id
  const ask = () => node.peers.exchange.ask(server.wire.self, 'stateRecords', { snapshot, after: new Uint8Array(0) })
  for (let i = 0; i < 5; i++) expect(await ask()).toMatchObject({ fault: { detail: { reason: 'busy' } } })
  expect(told).toEqual([{ protocol: 'stateRecords', reason: 'Error: the disk is gone' }])
  for (let i = 0; i < 100; i++) {
    reason = `block ${i} is damaged`
    test.nowMs += 1_000
    await ask()
  }
  expect(told).toHaveLength(16)
})
