import { beforeAll, describe, expect, it } from 'vitest'
import type { HeadChange } from '../../../consensus/chain/events.ts'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import type { SnapshotRef } from '../../../src/p2p/wire/messages.ts'
import { seeded } from '../../sim/miners.ts'
import { blocksFrom, fork, mineBranch } from '../../support/branches.ts'
import { TestChain } from '../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import {
  connect,
  type JoiningNode,
  joiningNode,
  type ServingNode,
  servingNode,
  takeSnapshot,
} from '../../support/snapshot-nodes.ts'

const RULES = restlessRuleBook()
const BEFORE = 24
const AFTER = 8

let source: TestChain
let server: ServingNode
let snapshot: SnapshotRef

beforeAll(async () => {
  const store = new MemoryKeyValueStore()
  source = await TestChain.open(RULES, store)
  server = servingNode('server', source, store, { every: BEFORE })
  const random = new RandomChain(source, seeded(5))
  await random.grow(BEFORE)
  snapshot = server.snapshots.refs()[0] as SnapshotRef
  await random.grow(AFTER)
})

/** Expects a node to reach the source's head after it got the blocks after the snapshot, whatever it mined before. */
async function expectJoined({ test }: JoiningNode): Promise<void> {
  const { database } = test.chain
  expect(test.chain.head.id).toBe(snapshot.id)
  test.nowMs = source.nowMs
  for (const block of blocksFrom(source, BEFORE + 1)) expect(await test.import(block)).toBe('connected')
  expect(test.chain.head.id).toBe(source.chain.head.id)
  for (let height = 0; height <= source.height; height++)
    expect(database.idAt(height), `height ${height}`).toBe(source.chain.database.idAt(height))
  expect((await auditState(test.chain)).sound).toBe(true)
}

describe('a node that mined before it met others', () => {
  it('leaves its own blocks for the branch of the snapshot, and tells of them', async () => {
    const store = new MemoryKeyValueStore()
    const node = await joiningNode(RULES, store)
    await connect(node, server)
    const own = [await node.test.mine(), await node.test.mine(), await node.test.mine()]
    const changes: HeadChange[] = []
    node.test.chain.onHeadChange((change) => changes.push(change))
    const start = { test: { height: 0 } }
    expect((await takeSnapshot({ ...node, ...start } as never, source, snapshot)).ok).toBe(true)
    expect(changes.map(({ disconnected }) => disconnected.map(({ id }) => id))).toEqual([
      own.map(({ id }) => id).toReversed(),
    ])
    await expectJoined(node)
  })

  it('leaves those too that it mines while it takes the state', async () => {
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    await connect(node, server)
    let mined = 0
    const peers = () => {
      if (mined++ < 4) void node.test.mine()
      return node.peers.list().map(({ info }) => info.id)
    }
    expect((await takeSnapshot(node, source, snapshot, { peers })).ok).toBe(true)
    expect(mined).toBeGreaterThan(4)
    await expectJoined(node)
  })
})

describe('a node that knows a block of the branch to be invalid', () => {
  it.each(['its next block', 'the block of the snapshot'])('does not adopt it: %s', async (which) => {
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    await connect(node, server)
    const { database } = source.chain
    const id = which === 'its next block' ? (database.idAt(1) as BlockId) : snapshot.id
    await node.test.chain.database.markInvalid([database.entry(id) as BlockEntry])
    const taken = await takeSnapshot(node, source, snapshot)
    expect(taken).toMatchObject({ ok: false, fault: { code: 'chain/invalid-ancestor' } })
    expect(node.test.height).toBe(0)
  })
})

describe('a node that has a block of the branch off its own best chain', () => {
  const KNOWN = 2
  /** The node for `takeSnapshot`, which hands it the headers above the block at height `KNOWN`. */
  const from = (node: JoiningNode) => ({ ...node, test: { height: KNOWN } }) as never

  async function importKnown({ test }: JoiningNode): Promise<void> {
    test.nowMs = source.nowMs
    for (const block of blocksFrom(source, 1).slice(0, KNOWN)) await test.import(block)
  }

  it('leaves its own blocks for that branch', async () => {
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    await connect(node, server)
    await mineBranch(node.test, KNOWN + 3, 1)
    const own = node.test.chain.head.id
    await importKnown(node)
    expect(node.test.chain.head.id).toBe(own)
    expect((await takeSnapshot(from(node), source, snapshot)).ok).toBe(true)
    await expectJoined(node)
  })

  it('does so if the block left the best chain while the state was fetched', async () => {
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    const ahead = await fork(node.test)
    await mineBranch(ahead, KNOWN + 3, 1)
    await connect(node, server)
    await importKnown(node)
    const known = node.test.chain.head.id
    let asked = 0
    const peers = () => {
      if (asked++ === 2) void Promise.all(blocksFrom(ahead, 1).map((block) => node.test.import(block)))
      return node.peers.list().map(({ info }) => info.id)
    }
    const changes: HeadChange[] = []
    node.test.chain.onHeadChange((change) => changes.push(change))
    expect((await takeSnapshot(from(node), source, snapshot, { peers })).ok).toBe(true)
    expect(changes.flatMap(({ disconnected }) => disconnected.map(({ id }) => id))).toContain(known)
    await expectJoined(node)
  })

  it('drops headers above a block that is gone, and fetches nothing for them', async () => {
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    await connect(node, server)
    await mineBranch(node.test, KNOWN + 3, 1)
    let asked = 0
    const peers = () => {
      asked += 1
      return []
    }
    const taken = await takeSnapshot(from(node), source, snapshot, { peers })
    expect(taken).toMatchObject({ ok: false, fault: { code: 'chain/unknown-parent' } })
    expect([asked, node.sync.keptTip()]).toEqual([0, undefined])
    expect((await takeSnapshot({ ...node, test: { height: 0 } } as never, source, snapshot)).ok).toBe(true)
    await expectJoined(node)
  })
})
