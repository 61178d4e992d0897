import { describe, expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../consensus/chain/header-tip.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { pause } from '../../src/p2p/relay/within.ts'
import type { Status } from '../../src/p2p/wire/messages.ts'
import { headerBranch } from '../support/header-branch.ts'
import { easyBranch, freshNode, LATE_MS, RULES } from '../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../support/p2p/memory-network.ts'
import { SyncNode } from '../support/p2p/sync-node.ts'
import { VirtualTime } from '../support/sim/virtual-clock.ts'

const HEADERS = 32_000
const PAGE_MS = 4_900
/** Longer than a busy peer is asked again. */
const BUSY_MS = 6_000

it('a peer that drips headers of a branch that forks too deep has no say by that, and is looked at ever less often', async () => {
  const { lighter } = await easyBranch()
  const { database } = lighter.chain
  const genesis = headerTipOf(database, database.entry(database.idAt(0) as BlockId) as BlockEntry)
  // Behind a late header all are easy, so that no number of them has more work than the chain.
  const [first] = headerBranch(RULES, genesis, 1) as [HeaderTip]
  const [late] = headerBranch(RULES, first, 1, { timeMs: first.header.timeMs + LATE_MS }) as [HeaderTip]
  const invented: readonly HeaderTip[] = [first, late, ...headerBranch(RULES, late, HEADERS)]
  const hub = new MemoryNetwork(new VirtualTime(lighter.nowMs + 120_000_000))
  const node = await SyncNode.open(hub, 'node', { test: lighter })
  const height = lighter.height + 1_000_000
  const liar = await SyncNode.open(hub, 'liar', {
    ruleBook: RULES,
    says: (status) => ({ ...status, height, totalWork: 2n ** 200n }),
  })
  let looks = 0
  liar.peers.exchange.answer('headers', async (_, { locator, limit }) => {
    const from = invented.findIndex(({ id }) => id === locator[0]) + 1
    if (from === 0) looks += 1
    else await pause(hub.time, PAGE_MS)
    return { reply: invented.slice(from, from + limit).map(({ bytes }) => bytes) }
  })
  hub.connect(node.network, liar.network)
  node.synchroniser.start()
  await hub.time.pass(1_200_000)
  // Each look begins twice: where the fork is found too deep, and where all of it is walked.
  expect(looks).toBeGreaterThan(2)
  expect(looks).toBeLessThanOrEqual(8)
  expect(node.synchroniser.mayExtend).toBe(true)
  await node.stop()
}, 280_000)

describe('a node that a liar with a lighter branch came to first', () => {
  /** Honest peers, dialled a second later, have headers of far more work; each is `busy` once at a height. */
  async function world({ headers, pageMs, busyAt }: { headers: number; pageMs: number; busyAt: number }) {
    const { lighter } = await easyBranch()
    const { database } = lighter.chain
    const genesis = headerTipOf(database, database.entry(database.idAt(0) as BlockId) as BlockEntry)
    const heavier = headerBranch(RULES, genesis, headers)
    const end = heavier.at(-1) as HeaderTip
    const hub = new MemoryNetwork(new VirtualTime(Math.max(lighter.nowMs, end.header.timeMs) + 120_000_000))
    const node = await freshNode(hub)
    let whole = 0
    const honest = ['a', 'b', 'c'].map(async (name) => {
      const says = (status: Status): Status => ({ ...status, head: end.id, height: headers, totalWork: end.totalWork })
      const peer = await SyncNode.open(hub, name, { ruleBook: RULES, says })
      let busyUntilMs = 0
      peer.peers.exchange.answer('headers', async (_, { locator, limit }) => {
        const from = heavier.findIndex(({ id }) => locator.includes(id)) + 1
        if (from >= busyAt && busyUntilMs === 0) busyUntilMs = hub.time.nowMs + BUSY_MS
        if (hub.time.nowMs < busyUntilMs) return { refusal: 'busy' }
        await pause(hub.time, (pageMs * Math.min(limit, headers - from)) / 2_000)
        if (limit > 1 && from + limit >= headers) whole += 1
        return { reply: heavier.slice(from, from + limit).map(({ bytes }) => bytes) }
      })
      return peer
    })
    const peers = await Promise.all(honest)
    const liar = await SyncNode.open(hub, 'liar', { test: lighter })
    hub.connect(node.network, liar.network)
    await hub.time.pass(100)
    node.synchroniser.start()
    await hub.time.pass(1_000)
    for (const { network } of peers) hub.connect(node.network, network)
    for (let s = 0; s < 900 && whole === 0 && node.height === 0; s += 10) await hub.time.pass(10_000)
    // It may be waiting for a page.
    await Promise.all([node.stop(), hub.time.pass(30_000)])
    return { node, whole }
  }

  it('does not follow that where honest peers are busy once, late in what they show', async () => {
    const { node, whole } = await world({ headers: 32_000, pageMs: 4_900, busyAt: 28_000 })
    expect([node.height, whole > 0, node.offences]).toEqual([0, true, []])
  }, 280_000)

  it('does not follow that where honest peers are on lines of less than a Mbit/s', async () => {
    const { node, whole } = await world({ headers: 8_000, pageMs: 6_900, busyAt: 8_001 })
    expect([node.height, whole > 0, node.offences]).toEqual([0, true, []])
  }, 280_000)
})
