import { expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import type { SnapshotDoor } from '../../../src/p2p/sync/snapshot-door.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import { TestChain } from '../../support/chain.ts'
import { headerBranch } from '../../support/header-branch.ts'
import { easyBranch, freshNode } from '../../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'

/** A `SnapshotDoor` that begins with these kept headers. */
class KeptDoor implements SnapshotDoor {
  kept: HeaderTip[]

  constructor(kept: readonly HeaderTip[]) {
    this.kept = [...kept]
  }

  keptTip(): HeaderTip | undefined {
    return this.kept.at(-1)
  }

  keptAt(height: number): HeaderTip | undefined {
    return this.kept[height - 1]
  }

  async dropHeaders(): Promise<void> {
    this.kept = []
  }

  async keepHeaders(headers: readonly HeaderTip[]): Promise<void> {
    this.kept.push(...headers)
  }

  async shortenHeaders(): Promise<boolean> {
    return false
  }

  async run() {
    return fail(fault('p2p/snapshot-unserved', { height: 0 }))
  }
}

it('peers on slow lines are waited for until their branch outruns kept headers of another', async () => {
  const source = await TestChain.open()
  const { database, ruleBook } = source.chain
  const genesis = headerTipOf(database, database.entry(database.idAt(0) as BlockId) as BlockEntry)
  const other = headerBranch(ruleBook, genesis, 24_000, { miner: `${'ab'.repeat(32)}` as never })
  const heavier = headerBranch(ruleBook, genesis, 40_000)
  const heights = new Map(heavier.map(({ id, header }) => [id, header.height]))
  const tip = heavier.at(-1) as HeaderTip
  const hub = new MemoryNetwork(new VirtualTime(tip.header.timeMs + 120_000_000))
  const door = new KeptDoor(other)
  const node = await SyncNode.open(hub, 'node', { door, snapshotSetting: 'always' })
  const snapshots = [{ height: 39_000, id: heavier[38_999]?.id as BlockId }]
  const head = { head: tip.id, height: 40_000, totalWork: tip.totalWork }
  for (const name of ['a', 'b', 'c']) {
    const says = (status: Status): Status => ({
      ...status,
      ...head,
      mode: 2,
      bodiesFrom: 39_500,
      witnessesFrom: 39_500,
      snapshots,
    })
    const peer = await SyncNode.open(hub, name, { says })
    peer.peers.exchange.answer('headers', async (_, { locator, limit }) => {
      const from = Math.max(0, ...locator.map((id) => heights.get(id) ?? 0))
      await pause(hub.time, (9_500 * Math.min(limit, 40_000 - from)) / 2_000)
      return { reply: heavier.slice(from, from + limit).map(({ bytes }) => bytes) }
    })
    hub.connect(node.network, peer.network)
  }
  node.synchroniser.start()
  const isOver = (): boolean => heights.has(door.keptTip()?.id as BlockId)
  for (let s = 0; s < 3_600 && !isOver(); s += 10) await hub.time.pass(10_000)
  expect([isOver(), node.offences]).toEqual([true, []])
  await Promise.all([node.stop(), hub.time.pass(60_000)])
})

it('peers whose blocks come slowly are not blamed', async () => {
  const { own } = await easyBranch()
  const { database } = own.chain
  const hub = new MemoryNetwork(new VirtualTime(own.nowMs + 120_000_000))
  const node = await freshNode(hub)
  for (const name of ['a', 'b']) {
    const peer = await SyncNode.open(hub, name, { test: own })
    peer.peers.exchange.answer('bodies', async (_, [id]) => {
      await pause(hub.time, 2_500)
      return { reply: [database.encodedTransactions(id as BlockId) ?? []] }
    })
    hub.connect(node.network, peer.network)
  }
  node.synchroniser.start()
  await hub.time.pass(600_000)
  expect(node.height).toBeGreaterThan(100)
  expect(node.offences).toEqual([])
  await Promise.all([node.stop(), hub.time.pass(60_000)])
})
