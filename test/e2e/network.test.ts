import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { seeded } from '../sim/miners.ts'
import { verdict } from '../support/api.ts'
import { Caller, marketOpen, runsIn } from '../support/caller.ts'
import { wallet } from '../support/chain.ts'
import { Cluster, type ClusterNode, lineOf, starOf } from '../support/cluster.ts'
import { Workshop } from '../support/daemon.ts'
import { Load } from '../support/load.ts'
import { mineBlocks } from '../support/mine-by-hand.ts'
import { until } from '../support/processes.ts'
import { units } from '../support/unsigned.ts'

const workshop = new Workshop()
const CLEAN = { code: 0, signal: null }
const STOP_MS_MAX = 5_000
/** Blocks about every half second, so that five nodes on two cores keep up. */
const STEADY = { TEST_FAST_BLOCKS: '1000' }
/** How long a node is stopped: long enough for connections to fill up and requests to fail. */
const PAUSE_MS = 6_000

const expectNoErrorsIn = (cluster: Cluster): void => {
  for (const node of cluster.nodes) expect(node.errors).toEqual([])
}

/** Waits until a node has that many more blocks. */
async function grown(node: ClusterNode, blocks: number): Promise<void> {
  const { height } = await node.status()
  await until(`${blocks} blocks more`, async () => (await node.status()).height >= height + blocks)
}

describe('five nodes in a line, of which the first mines', () => {
  const runsFile = workshop.path('runs')
  let cluster: Cluster
  let [first, , middle, shop, last] = [] as unknown as readonly ClusterNode[]

  beforeAll(async () => {
    const nodes = [{ mine: 1 }, {}, {}, { sells: true, env: { TEST_RUNS_FILE: runsFile } }, {}]
    cluster = await Cluster.start(workshop, { nodes, links: lineOf(5), env: STEADY })
    ;[first, , middle, shop, last] = cluster.nodes
  })

  it('have one chain, and what one end sends the other mines', async () => {
    await cluster.converged()
    const payload = { to: wallet(8).address, amount: units(5), create: false }
    const { txId } = await new Caller(last!.url, 1).send('transfer', payload)
    const { height, blockId } = await new Caller(last!.url, 1).mined(txId)
    expect(await new Caller(first!.url, 1).mined(txId)).toMatchObject({ height, blockId })
  })

  it('sell on a node that does not mine', async () => {
    await marketOpen(shop!.url)
    const caller = new Caller(shop!.url, 10)
    const payment = await caller.payMined({ serviceId: 'node-test-once', request: 'ok:line', lock: 'lock' })
    expect(verdict(await caller.settle(payment))).toBe('200 paid')
    await caller.closed(payment.txId)
    expect(runsIn(runsFile).get('node-test-once ok:line')).toBe(1)
  })

  it('come together again when the one in the middle was killed, and when it was stopped for a while', async () => {
    await middle!.kill()
    await grown(first!, 5)
    await middle!.start()
    await cluster.connected()
    await cluster.converged()
    middle!.daemon.program.signal('SIGSTOP')
    await Promise.all([grown(first!, 3), setTimeout(PAUSE_MS)])
    middle!.daemon.program.signal('SIGCONT')
    const { height } = await first!.status()
    expect((await cluster.converged()).height).toBeGreaterThanOrEqual(height)
  })

  it('stop cleanly', async () => {
    expect(await cluster.stop()).toEqual(cluster.nodes.map(() => CLEAN))
    expectNoErrorsIn(cluster)
  })
})

describe('a node with four peers', () => {
  it('stops cleanly within five seconds under load', async () => {
    const nodes = [{ sells: true, mine: 1 }, {}, {}, {}, {}]
    const cluster = await Cluster.start(workshop, { nodes, links: starOf(5), env: STEADY })
    const hub = cluster.node(0)
    await marketOpen(hub.url)
    const over = new AbortController()
    const load = new Load([3, 4, 5, 6], seeded(7))
    const work = load.run(hub.url, over.signal)
    await grown(hub, 5)
    const startedMs = performance.now()
    const exit = await hub.stop()
    const stopMs = performance.now() - startedMs
    over.abort()
    await work
    console.info(`with four peers under load: stopped after ${Math.round(stopMs)} ms`)
    expect(exit).toEqual(CLEAN)
    expect(stopMs).toBeLessThan(STOP_MS_MAX)
    expect(hub.errors).toEqual([])
    expect(load.unexpected).toEqual([])
    await hub.start({ mine: 0 })
    await cluster.connected()
    await mineBlocks(hub.url, 1)
    await cluster.converged()
    expect(await cluster.stop()).toEqual(cluster.nodes.map(() => CLEAN))
    expectNoErrorsIn(cluster)
  })
})
