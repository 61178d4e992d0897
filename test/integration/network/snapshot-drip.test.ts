import { afterEach, beforeAll, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { Host } from '../../../src/p2p/host/host.ts'
import type { SnapshotRef } from '../../../src/p2p/wire/messages.ts'
import { PROTOCOLS } from '../../../src/p2p/wire/protocols.ts'
import { seeded } from '../../sim/miners.ts'
import { TestChain } from '../../support/chain.ts'
import { startHost } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import { joiningOver, servingOver, takeSnapshot } from '../../support/snapshot-nodes.ts'
import { SwiftTime } from '../../support/wire.ts'

const RULES = restlessRuleBook()
/** A reply arrives just before its deadline. */
const DRIP_MS = PROTOCOLS.statePages.deadlineMs - 100
const MINUTE_MS = 60_000

let test: TestChain
let store: MemoryKeyValueStore
const hosts: Host[] = []

beforeAll(async () => {
  store = new MemoryKeyValueStore()
  test = await TestChain.open(RULES, store)
  await new RandomChain(test, seeded(11)).grow(20)
})

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop()
})

async function open(): Promise<Host> {
  const host = await startHost({ genesis: RULES.genesis.block.id })
  hosts.push(host)
  return host
}

type Joining = Awaited<ReturnType<typeof join>>

async function join(time: SwiftTime) {
  const host = await open()
  return { host, time, ...(await joiningOver(host, RULES, new MemoryKeyValueStore(), time)) }
}

/** A server over real connections. A reply takes `waitMs(bytes)`, on the joining node's clock. */
async function serve(time: SwiftTime, most: number, waitMs: (bytes: number) => number) {
  const host = await open()
  const server = servingOver(host, test, store, { most })
  const replies = { count: 0 }
  server.past.map = (state) => ({
    read: async (...range) => {
      const read = await state.read(...range)
      replies.count += 1
      time.nowMs += waitMs(read.entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0))
      return read
    },
  })
  return { ...server, host, replies }
}

type Serving = Awaited<ReturnType<typeof serve>>

const drips = (time: SwiftTime): Promise<Serving> => serve(time, 1, () => DRIP_MS)
const gives = (time: SwiftTime): Promise<Serving> => serve(time, 7, () => 200)

async function connect(from: Joining | Serving, to: Joining | Serving): Promise<void> {
  const dialled = await from.host.dial(to.host.addresses()[0] as string)
  if (!dialled.ok) throw new Error(dialled.fault.code)
  const ready = (): boolean => from.peers.isReady(to.host.self) && to.peers.isReady(from.host.self)
  await until('hands are shaken', ready, { everyMs: 5 })
}

/** Mines a block and takes its snapshot, which all servers have. */
async function take(node: Joining, server: Serving): Promise<Result<void>> {
  await test.mine()
  return takeSnapshot(node, test, server.snapshots.refs()[0] as SnapshotRef)
}

it('a server that drips page by page does not delay a snapshot without limit, and is not blamed', async () => {
  const time = new SwiftTime()
  const [node, dripping] = [await join(time), await drips(time)]
  await connect(node, dripping)
  expect(await take(node, dripping)).toMatchObject({ ok: false, fault: { code: 'p2p/snapshot-unserved' } })
  expect(time.nowMs).toBeLessThan(4 * MINUTE_MS)
  expect(node.peers.reputation.pointsOf(dripping.host.self)).toBe(0)
  expect(node.peers.isReady(dripping.host.self)).toBe(true)
})

it('the snapshot is taken from the honest server, whichever server was dialled', async () => {
  for (const chosen of [true, false]) {
    const time = new SwiftTime()
    const [node, dripping, honest] = [await join(time), await drips(time), await gives(time)]
    await connect(node, dripping)
    await (chosen ? connect(node, honest) : connect(honest, node))
    expect(await take(node, honest)).toEqual({ ok: true, value: undefined })
    expect(node.test.chain.head.id).toBe(test.chain.head.id)
    expect(dripping.replies.count).toBeLessThan(8)
    expect(time.nowMs).toBeLessThan(5 * MINUTE_MS)
  }
})

it('servers that drip under many names do not delay a snapshot without limit', async () => {
  const time = new SwiftTime()
  const node = await join(time)
  const dripping: Serving[] = []
  for (let names = 0; names < 8; names++) dripping.push(await drips(time))
  for (const server of dripping) await connect(server, node)
  expect(await take(node, dripping[0] as Serving)).toMatchObject({
    ok: false,
    fault: { code: 'p2p/snapshot-unserved' },
  })
  expect(time.nowMs).toBeLessThan(12 * MINUTE_MS)
})

it('an honest server on a slow line with a steady rate is kept', async () => {
  const time = new SwiftTime()
  const slowest = (PROTOCOLS.statePages.replyMax / PROTOCOLS.statePages.deadlineMs) * 1_000
  const [node, slow] = [await join(time), await serve(time, 2, (bytes) => (bytes / slowest) * 1_000)]
  await connect(node, slow)
  expect(await take(node, slow)).toEqual({ ok: true, value: undefined })
})
