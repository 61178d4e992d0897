import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Cluster, type ClusterNode, starOf } from '../support/cluster.ts'
import { Workshop } from '../support/daemon.ts'
import { mineBlocks } from '../support/mine-by-hand.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
const idsOf = async (node: ClusterNode): Promise<readonly string[]> => (await node.peers()).map(({ id }) => id)

describe('nodes', () => {
  it('whose only known peer comes late connect to it and to its chain', async () => {
    const cluster = await Cluster.make(workshop, { nodes: [{}, {}, {}], links: starOf(3) })
    const [seed, ...others] = cluster.nodes as readonly [ClusterNode, ...ClusterNode[]]
    await Promise.all(others.map((node) => node.start()))
    await until('each has tried in vain', () => cluster.dials.every((dials) => dials >= 4))
    await seed.start()
    const readyMs = performance.now()
    await cluster.connected()
    console.info(`a seed that came late was met by all after ${Math.round(performance.now() - readyMs)} ms`)
    await mineBlocks(seed.url, 3)
    expect(await cluster.converged()).toMatchObject({ height: 3 })
    await cluster.stop()
  })

  it('know each other through a third, and find each other again without it when all start anew', async () => {
    const env = { FARTHING_P2P_OUTBOUND: '8' }
    const cluster = await Cluster.make(workshop, { nodes: [{}, {}, {}], links: starOf(3), direct: true, env })
    const [third, a, b] = cluster.nodes as readonly [ClusterNode, ClusterNode, ClusterNode]
    await Promise.all(cluster.nodes.map((node) => node.start()))
    await until('A knows B', async () => (await idsOf(a)).includes(b.id), { ms: 120_000 })
    await mineBlocks(third.url, 5)
    await cluster.converged()
    expect((await Promise.all([a.stop(), b.stop(), third.kill()])).map(({ code }) => code)).toEqual([0, 0, null])
    await Promise.all([a.start(), b.start()])
    await until('A has found B', async () => (await idsOf(a)).includes(b.id), { ms: 120_000 })
    await mineBlocks(b.url, 5)
    expect(await cluster.converged([a, b])).toMatchObject({ height: 10 })
    await cluster.stop()
  })

  it('that are banned stay away, and come back when the ban is lifted', async () => {
    const cluster = await Cluster.start(workshop, { nodes: [{}, {}], links: starOf(2) })
    const [host, guest] = cluster.nodes as readonly [ClusterNode, ClusterNode]
    const rpc = ['--rpc', host.url]
    expect((await host.command(['peers', ...rpc])).stdout).toContain(guest.id)
    const banned = await host.command(['ban', guest.id, ...rpc])
    expect(banned).toMatchObject({ code: 0, stdout: expect.stringContaining(`${guest.id} is kept away until`) })
    await until('it is gone', async () => (await idsOf(host)).length === 0)
    expect((await host.command(['peers', '--bans', ...rpc])).stdout).toContain(guest.id)
    const [before = 0] = cluster.dials
    await mineBlocks(host.url, 3)
    await until('it has tried again and again', () => (cluster.dials[0] ?? 0) >= before + 3)
    expect(await idsOf(host)).toEqual([])
    expect((await guest.status()).height).toBe(0)
    const lifted = await host.command(['unban', guest.id, ...rpc])
    expect(lifted).toMatchObject({ code: 0, stdout: `${guest.id} may connect again\n` })
    await cluster.connected()
    expect(await cluster.converged()).toMatchObject({ height: 3 })
    await cluster.stop()
  })
})

/** Sends rubbish to a port and waits until the connection is closed. */
async function sendRubbish(port: number, bytes: Uint8Array): Promise<void> {
  const socket = createConnection(port, '127.0.0.1').on('error', () => {})
  socket.resume().write(bytes)
  await until('the rubbish is hung up on', () => socket.closed)
}

describe('strangers', () => {
  it('with another genesis, and ports with rubbish at either end, disturb no other node', async () => {
    const rubbish = createServer((socket) => socket.on('error', () => {}).write(randomBytes(100_000))).listen(
      0,
      '127.0.0.1',
    )
    await once(rubbish, 'listening')
    const peers = [`/ip4/127.0.0.1/tcp/${(rubbish.address() as AddressInfo).port}`]
    // The third node has another genesis, since its first blocks cost more.
    const nodes = [{ peers }, {}, { env: { TEST_FAST_BLOCKS: '2' } }]
    const cluster = await Cluster.make(workshop, { nodes, links: starOf(3) })
    const [host, friend, stranger] = cluster.nodes as readonly [ClusterNode, ClusterNode, ClusterNode]
    await Promise.all(cluster.nodes.map((node) => node.start()))
    await host.hasPeers(1)
    await mineBlocks(stranger.url, 5)
    await until('the stranger has tried again and again', () => (cluster.dials[1] ?? 0) >= 3)
    await Promise.all([1, 20, 1_000, 100_000].map((size) => sendRubbish(host.port, randomBytes(size))))
    await mineBlocks(host.url, 3)
    expect(await cluster.converged([host, friend])).toMatchObject({ height: 3 })
    expect(await idsOf(host)).toEqual([friend.id])
    expect(await idsOf(stranger)).toEqual([])
    expect(await stranger.status()).toMatchObject({ height: 5, ready: true })
    expect((await cluster.stop()).map(({ code }) => code)).toEqual([0, 0, 0])
    for (const node of cluster.nodes) expect(node.errors).toEqual([])
    rubbish.close()
  })
})
