import { cpSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { openChain } from '../../src/storage/folder.ts'
import { ask } from '../support/api.ts'
import { TestChain } from '../support/chain.ts'
import { Cluster, type ClusterNode } from '../support/cluster.ts'
import { Workshop } from '../support/daemon.ts'
import { mineBlocks } from '../support/mine-by-hand.ts'
import { fastDevnet } from '../support/network.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
const SPACING_MS = 3_000
/** More than the 3,600 blocks that pruned nodes keep. */
const LONG = 4_070
const SNAPSHOT_BLOCKS = 120
/** Height of the lowest snapshot above {@link LONG}. */
const SERVED = 4_080
/** Blocks that must follow a snapshot before a node adopts it. */
const BURIED = 101

/** Flags that name peers to join. */
const joining = (...nodes: readonly ClusterNode[]): readonly string[] => [
  '--peer',
  nodes.map(({ address, id }) => `${address}/p2p/${id}`).join(','),
]

/** A folder with a chain of normal block times that ends at the present. */
async function chainOf(height: number): Promise<string> {
  const folder = workshop.folder()
  const ruleBook = createRuleBook(fastDevnet(), PROTOCOL)
  const opened = await openChain(folder, ruleBook, ruleBook.genesis, SIZES)
  if (!opened.ok) throw new Error(opened.fault.code)
  const test = await TestChain.open(ruleBook, opened.value.store)
  test.nowMs = Date.now() - (height + 10) * SPACING_MS
  await test.mineTo(height)
  await test.chain.stop()
  await opened.value.store.close()
  return folder
}

const heldFromGenesis = async ({ url }: ClusterNode): Promise<boolean> =>
  (await ask(url, '/api/v1/blocks/1')).status === 200

describe('a new node with the address of one peer', () => {
  it('joins with the whole chain, whichever blocks it is to keep', async () => {
    const cluster = await Cluster.make(workshop, { nodes: [{}, {}, {}], links: [] })
    const [old, full, pruned] = cluster.nodes as readonly [ClusterNode, ClusterNode, ClusterNode]
    await old.start()
    await mineBlocks(old.url, 150)
    await full.start({ flags: joining(old) })
    await pruned.start({ flags: [...joining(old, full), '--storage-mode', 'pruned'] })
    expect(await cluster.converged()).toMatchObject({ height: 150 })
    await pruned.hasPeers(2)
    expect((await full.peers()).map(({ mode }) => mode).toSorted()).toEqual(['full', 'pruned'])
    await mineBlocks(pruned.url, 1)
    expect(await cluster.converged()).toMatchObject({ height: 151 })
    await cluster.stop()
    expect(await full.audit()).toMatchObject({ sound: true })
  })
})

describe('a new node whose peers all have pruned their first blocks', () => {
  it('begins from a snapshot, says so, goes on with the chain and mines on it', async () => {
    const flags = ['--storage-mode', 'pruned', '--storage-snapshot-blocks', String(SNAPSHOT_BLOCKS)]
    const cluster = await Cluster.make(workshop, { nodes: [{ flags }, { flags }, {}], links: [[1, 0]] })
    const [one, other, fresh] = cluster.nodes as readonly [ClusterNode, ClusterNode, ClusterNode]
    const long = await chainOf(LONG)
    for (const { folder } of [one, other]) cpSync(long, folder, { recursive: true })
    await Promise.all([one.start(), other.start()])
    await cluster.connected()
    for (const node of [one, other])
      await until('the first blocks are pruned', async () => !(await heldFromGenesis(node)), { ms: 120_000 })
    await mineBlocks(one.url, SERVED + BURIED - LONG)
    await cluster.converged()
    await fresh.start({ flags: joining(one, other) })
    expect(await cluster.converged()).toMatchObject({ height: SERVED + BURIED })
    expect(fresh.logged('taking the state of a snapshot')).toMatchObject([{ height: SERVED }])
    const about =
      'this node begins from a snapshot, by its settings, or because peers lack blocks that it needs or give them too slowly'
    expect(fresh.logged(about)).not.toEqual([])
    await mineBlocks(one.url, 2)
    await cluster.converged()
    await mineBlocks(fresh.url, 2)
    expect(await cluster.converged()).toMatchObject({ height: SERVED + BURIED + 4 })
    expect((await cluster.stop()).map(({ code }) => code)).toEqual([0, 0, 0])
    for (const node of cluster.nodes) {
      expect(node.errors).toEqual([])
      expect(await node.audit()).toMatchObject({ sound: true })
    }
  })
})
