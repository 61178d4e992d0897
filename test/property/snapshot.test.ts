import { describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import { auditState } from '../../src/cli/commands/audit.ts'
import { seeded } from '../sim/miners.ts'
import { blocksFrom } from '../support/branches.ts'
import { TestChain } from '../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../support/random-chain.ts'
import { runs } from '../support/runs.ts'
import { connect, joiningNode, servingNode, takeSnapshot } from '../support/snapshot-nodes.ts'
import { stateOf } from '../support/snapshot-state.ts'

const RULES = restlessRuleBook()
const BEFORE = 24
const AFTER = 16

describe('a node that took a snapshot', () => {
  it('has the state of those who executed every block, and goes on with them', { timeout: 120_000 }, async () => {
    for (let seed = 1; seed <= runs(6); seed++) {
      const store = new MemoryKeyValueStore()
      const test = await TestChain.open(RULES, store)
      const random = new RandomChain(test, seeded(seed))
      const server = servingNode('server', test, store, { every: BEFORE, most: 3 + seed })
      await random.grow(BEFORE)
      const wanted = await stateOf(test)
      expect(wanted.size).toBeGreaterThan(100)
      const snapshot = server.snapshots.refs()[0]
      expect(snapshot).toEqual({ height: BEFORE, id: test.chain.head.id })
      const blocks = [...blocksFrom(test, 1), ...(await random.grow(AFTER))]
      const node = await joiningNode(RULES, new MemoryKeyValueStore())
      await connect(node, server)

      expect(await takeSnapshot(node, test, snapshot as never)).toEqual({ ok: true, value: undefined })
      const taken = node.test
      expect(taken.chain.head.id).toBe(snapshot?.id)
      expect(await stateOf(taken)).toEqual(wanted)
      expect((await auditState(taken.chain)).sound).toBe(true)
      expect(taken.chain.database.held).toEqual({ bodiesFrom: BEFORE + 1, witnessesFrom: BEFORE + 1 })
      expect(taken.chain.database.canUnwindTo(BEFORE - 1)).toBe(false)

      taken.nowMs = test.nowMs
      for (const block of blocks.slice(BEFORE)) expect(await taken.import(block)).toBe('connected')
      expect(taken.chain.head.id).toBe(test.chain.head.id)
      expect(await stateOf(taken)).toEqual(await stateOf(test))
      expect((await auditState(taken.chain)).sound).toBe(true)
      expect(server.wire.ended.size + node.wire.ended.size).toBe(0)
    }
  })
})
