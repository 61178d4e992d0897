import { readFileSync } from 'node:fs'
import { decodeBlock } from '../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../consensus/chain/key-value.ts'
import { fromHex } from '../../consensus/primitives/bytes.ts'
import { serveChain } from '../../src/p2p/serve/chain.ts'
import { Backfill } from '../../src/p2p/snapshot/backfill.ts'
import { heldRange } from '../../src/p2p/sync/snapshot-door.ts'
import { LevelStore } from '../../src/storage/level-store.ts'
import { TestChain } from './chain.ts'
import { restlessRuleBook } from './random-chain.ts'
import { connect, joiningNode, servingNode, takeSnapshot } from './snapshot-nodes.ts'
import { IMPATIENT, SILENT, SwiftTime } from './wire.ts'

/**
 * A process whose node takes a snapshot into a LevelDB, follows the chain, and fetches all older blocks. It prints its
 * stage after every durable batch, so that a test can kill it there. Arguments: file of blocks (hex, one a line),
 * folder of the LevelDB, height of the snapshot.
 */
const [blocksFile, folder, height] = process.argv.slice(2) as [string, string, string]
const BASE = Number(height)
const RULES = restlessRuleBook()

const blocks = readFileSync(blocksFile, 'utf8')
  .split('\n')
  .map((line) => {
    const block = decodeBlock(fromHex(line))
    if (!block.ok) throw new Error(block.fault.code)
    return block.value
  })
const served = new MemoryKeyValueStore()
const test = await TestChain.open(RULES, served)
test.nowMs = (blocks.at(-1)?.header.timeMs ?? 0) + 1_000
const server = servingNode('server', test, served, { every: BASE, most: 3 })
serveChain(server.peers.exchange, {
  ...{ chain: test.chain, held: () => heldRange(test.chain.database, 'archive', []) },
})
for (const block of blocks) await test.import(block)

const store = await LevelStore.open(folder, { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }, true)
const stage = { name: 'opening' }
const batch = store.batch.bind(store)
const pause = new Int32Array(new SharedArrayBuffer(4))
store.batch = async (writes, onDurable) => {
  await batch(writes, onDurable)
  process.stdout.write(`${stage.name}\n`)
  // Slow enough that a kill arrives before the next batch, on any machine.
  Atomics.wait(pause, 0, 0, stage.name === 'filling' ? 100 : 5)
}
const node = await joiningNode(RULES, store)
node.test.nowMs = test.nowMs
await connect(node, server)
if (node.test.chain.database.base === 0) {
  stage.name = 'taking'
  const snapshot = server.snapshots.refs().find((ref) => ref.height === BASE)
  const taken = await takeSnapshot(node, test, snapshot as never)
  if (!taken.ok) throw new Error(taken.fault.code)
}
await node.sync.clearResidue()
stage.name = 'following'
for (const block of blocks.slice(node.test.height)) await node.test.import(block)
stage.name = 'filling'
const backfill = new Backfill({
  ...{
    chain: node.test.chain,
    peers: node.peers,
    clock: new SwiftTime(),
    timers: IMPATIENT,
    log: SILENT,
    allowed: () => true,
  },
  wanted: () => ({ bodiesFrom: 0, witnessesFrom: 0 }),
  onFatal: (error) => {
    throw error
  },
})
backfill.start()
while (await backfill.step()) {}
await backfill.stop()
await store.close()
