import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEYS } from '../../../consensus/chain/layout.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import { serveState } from '../../../src/p2p/serve/state.ts'
import { LevelStore } from '../../../src/storage/level-store.ts'
import { StateSnapshots } from '../../../src/storage/state-snapshots.ts'
import { seeded } from '../../sim/miners.ts'
import { TestChain } from '../../support/chain.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import { connect, headersAbove, joiningNode, takeSnapshot } from '../../support/snapshot-nodes.ts'
import { IMPATIENT, peersOver, SILENT, Wire } from '../../support/wire.ts'

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
const RULES = restlessRuleBook()
const residue = { key: KEYS.meta('residue'), value: new Uint8Array(0) }

let folder: string
const stores: LevelStore[] = []

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  removeFolder(folder)
})

async function open(name: string, create = true): Promise<LevelStore> {
  const store = await LevelStore.open(join(folder, name), SIZES, create)
  stores.push(store)
  return store
}

async function close(store: LevelStore): Promise<void> {
  stores.splice(stores.indexOf(store), 1)
  await store.close()
}

/** A serving node on a real database, with a snapshot at every tenth block. */
async function serving(store: LevelStore) {
  const test = await TestChain.open(RULES, store)
  const wire = new Wire('server')
  const clock = { now: () => test.nowMs }
  const peers = peersOver(wire, RULES, () => ({}), clock.now)
  const pin = () => store.pin()
  const snapshots = new StateSnapshots({ chain: test.chain, pin, clock, timers: IMPATIENT, blocks: 10 })
  serveState(peers.exchange, { states: snapshots, ruleBook: RULES, log: SILENT })
  snapshots.start()
  return { test, wire, peers, snapshots }
}

describe('a snapshot of a real database', () => {
  it('stays unchanged while the chain goes on, is taken across restarts, and is served to others in turn', async () => {
    const server = await serving(await open('server'))
    const random = new RandomChain(server.test, seeded(5))
    await random.grow(10)
    const id = server.test.chain.head.id
    await random.grow(15)
    expect(server.snapshots.refs().map(({ height }) => height)).toEqual([20, 10])
    const snapshot = { height: 10, id }

    const first = await open('joining')
    const broken = await joiningNode(RULES, first)
    await connect(broken, server)
    let left = 2
    const stopped = (): boolean => left-- <= 0
    expect(await takeSnapshot(broken, server.test, snapshot, { stopped })).toMatchObject({ ok: false })
    await close(first)

    const second = await open('joining', false)
    const node = await joiningNode(RULES, second, 'again')
    expect(node.sync.keptTip()?.id).toBe(server.test.chain.head.id)
    await connect(node, server)
    expect(await takeSnapshot(node, server.test, snapshot)).toEqual({ ok: true, value: undefined })
    expect(node.test.chain.head.id).toBe(id)
    await close(second)

    const third = await open('joining', false)
    const turned = await serving(third)
    expect((await auditState(turned.test.chain)).sound).toBe(true)
    expect(turned.test.chain.database.base).toBe(10)
    turned.test.nowMs = server.test.nowMs
    await turned.test.mineTo(20)
    const last = await joiningNode(RULES, await open('last'), 'last')
    // A node that began from the snapshot also knows the headers below it.
    await connect(last, turned)
    const served = { height: 20, id: turned.test.chain.head.id }
    expect(await takeSnapshot(last, turned.test, served)).toEqual({ ok: true, value: undefined })
    expect((await auditState(last.test.chain)).sound).toBe(true)
    expect(last.test.stateRoot).toBe(turned.test.stateRoot)
  })

  it('leaves an old key space that is emptied after a crash, even while a newer one is kept, and before the next snapshot', async () => {
    const server = await serving(await open('server'))
    const random = new RandomChain(server.test, seeded(7))
    await random.grow(10)
    const snapshot = { height: 10, id: server.test.chain.head.id }
    await random.grow(15)
    const store = await open('joining')
    const node = await joiningNode(RULES, store)
    await connect(node, server)
    expect(await takeSnapshot(node, server.test, snapshot)).toEqual({ ok: true, value: undefined })
    // The leftovers of a process that died before it cleaned up.
    const { database } = node.test.chain
    const rest = [KEYS.state('0a01' as never), KEYS.page('0' as never)]
    await database.staged.store().batch(
      rest.map((key) => ({ key, value: key })),
      () => {},
    )
    await store.batch([...rest.map(() => ({ key: KEYS.kept(3), value: rest[0]! })), residue], () => {})
    await close(store)

    const again = await joiningNode(RULES, await open('joining', false), 'again')
    const cleared = again.sync.clearResidue()
    await again.sync.keepHeaders(headersAbove(server.test, 10))
    await connect(again, server)
    const newer = server.snapshots.refs()[0] as typeof snapshot
    expect(newer.height).toBe(20)
    expect(await takeSnapshot(again, server.test, newer)).toEqual({ ok: true, value: undefined })
    await cleared
    const after = again.test.chain.database
    expect(after.store.get(residue.key)).toBeUndefined()
    for (const key of [...rest, KEYS.kept(3)]) expect(after.staged.store().get(key)).toBeUndefined()
    expect((await auditState(again.test.chain)).sound).toBe(true)
  })

  it('leaves an old key space whose emptying pauses at a stop and goes on at the next start', async () => {
    const store = await open('alone')
    const node = await joiningNode(RULES, store)
    const key = KEYS.state('0a01' as never)
    const writes = [{ key, value: key }]
    await node.test.chain.database.staged.store().batch(writes, () => {})
    await store.batch([residue], () => {})
    const cleared = node.sync.clearResidue()
    await node.sync.stop()
    await cleared
    expect(store.get(residue.key)).toBeDefined()
    const again = await joiningNode(RULES, store, 'again')
    await again.sync.clearResidue()
    expect([store.get(residue.key), again.test.chain.database.staged.store().get(key)]).toEqual([undefined, undefined])
  })

  it('is dropped when its block leaves the best chain', async () => {
    const server = await serving(await open('server'))
    const random = new RandomChain(server.test, seeded(6))
    await random.grow(9)
    const other = await random.branch(8)
    await random.grow(1)
    expect(server.snapshots.refs()).toHaveLength(1)
    for (const block of await other.grow(4)) await server.test.import(block)
    expect(server.test.height).toBe(12)
    expect(server.snapshots.refs()).toEqual([])
  })
})
