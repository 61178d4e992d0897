import { describe, expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import { headerBranch } from '../../support/header-branch.ts'
import { easyBranch, freshNode, LATE_MS, RULES } from '../../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../../support/p2p/memory-network.ts'
import { SyncNode } from '../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../support/sim/virtual-clock.ts'

const HEADERS = 32_000
const PAGE_MS = 4_900
/** Longer than the node repeats a request to a busy peer. */
const BUSY_MS = 6_000

it('a peer that drips headers of a branch that forks too deep decides nothing by that, and is asked less and less often', async () => {
  const { lighter } = await easyBranch()
  const { database } = lighter.chain
  const genesis = headerTipOf(database, database.entry(database.idAt(0) as BlockId) as BlockEntry)
  // After a late header all others are easy. Together they never have more work than the chain.
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
  // Each look asks twice from the start: to find the fork too deep, and to walk the whole branch.
  expect(looks).toBeGreaterThan(2)
  expect(looks).toBeLessThanOrEqual(8)
  expect(node.synchroniser.mayExtend).toBe(true)
  await node.stop()
}, 280_000)

interface WorldParts {
  readonly headers: number
  /** Time that honest peers take for a page. */
  readonly pageMs: number
  /** Height at which each honest peer is busy once. */
  readonly busyAt?: number
  /** Chosen peers that claim the most work. They give headers of the honest branch just in time, but never the last page. */
  readonly liars?: number
  /** Chosen peers that claim the most work. They deny every block, and are busy when asked for their own headers. */
  readonly deniers?: number
  readonly honest?: number
}

describe('a node whose first peer is a liar with a lighter branch', () => {
  /**
   * Runs a node that has met only the lighter branch. A second later it dials the liars, the deniers and the honest peers. All these claim
   * a branch of far more work.
   */
  async function world(parts: WorldParts) {
    const { headers, pageMs, busyAt = Number.POSITIVE_INFINITY, liars = 0, deniers = 0, honest = 3 } = parts
    const { lighter } = await easyBranch()
    const { database } = lighter.chain
    const genesis = headerTipOf(database, database.entry(database.idAt(0) as BlockId) as BlockEntry)
    const heavier = headerBranch(RULES, genesis, headers)
    const heights = new Map(heavier.map(({ id, header }) => [id, header.height]))
    const end = heavier.at(-1) as HeaderTip
    const hub = new MemoryNetwork(new VirtualTime(Math.max(lighter.nowMs, end.header.timeMs) + 120_000_000))
    const node = await freshNode(hub)
    const looks: string[] = []
    let whole = 0
    let followed = false
    const open = async (name: string, totalWork: bigint, isLiar: boolean, isDenier = false): Promise<SyncNode> => {
      const says = (status: Status): Status => ({ ...status, head: end.id, height: headers, totalWork })
      const peer = await SyncNode.open(hub, name, { ruleBook: RULES, says })
      let busyUntilMs = 0
      peer.peers.exchange.answer('headers', async (_, { locator, limit }) => {
        const from = Math.max(0, ...locator.map((id) => heights.get(id) ?? 0))
        const isLast = from + limit >= headers
        if (limit > 1 && from === 0) looks.push(name)
        if (!isLiar && from >= busyAt && busyUntilMs === 0) busyUntilMs = hub.time.nowMs + BUSY_MS
        const isKeptBack = isLiar && (isLast || isDenier) && limit > 1
        if (hub.time.nowMs < busyUntilMs || isKeptBack) return { refusal: 'busy' }
        if (isDenier) return { reply: heavier.slice(0, 1).map(({ bytes }) => bytes) }
        await pause(hub.time, ((isLiar ? PAGE_MS : pageMs) * Math.min(limit, headers - from)) / 2_000)
        if (limit > 1 && isLast) whole += 1
        return { reply: heavier.slice(from, from + limit).map(({ bytes }) => bytes) }
      })
      peer.peers.exchange.answer('bodies', async (_, blocks) => {
        followed ||= blocks.some((id) => heights.has(id))
        return { refusal: 'busy' }
      })
      return peer
    }
    const many = (count: number, one: (i: number) => Promise<SyncNode>) =>
      Array.from({ length: count }, (_, i) => one(i))
    const peers = await Promise.all([
      ...many(liars, (i) => open(`liar ${i}`, 2n ** 200n, true)),
      ...many(deniers, (i) => open(`denier ${i}`, 2n ** 200n, true, true)),
      ...many(honest, (i) => open(`honest ${i}`, end.totalWork, false)),
    ])
    const first = await SyncNode.open(hub, 'first', { test: lighter })
    hub.connect(node.network, first.network)
    await hub.time.pass(100)
    node.synchroniser.start()
    await hub.time.pass(1_000)
    for (const { network } of peers) hub.connect(node.network, network)
    const isOver = (): boolean => (deniers > 0 ? followed : whole > 0) || node.height > 0
    let seconds = 0
    for (; seconds < 1_800 && !isOver(); seconds += 10) await hub.time.pass(10_000)
    // The node may be waiting for a page, so time must pass for it to stop.
    await Promise.all([node.stop(), hub.time.pass(30_000)])
    return { node, whole, looks, followed, seconds }
  }

  it.each([
    ['are busy once, late in what they show', { headers: 32_000, pageMs: 4_900, busyAt: 28_000 }],
    ['are on lines of less than a Mbit/s', { headers: 8_000, pageMs: 6_900 }],
    ['are on such lines, and have many headers', { headers: 64_000, pageMs: 6_900 }],
  ])('does not follow the lighter branch if honest peers %s', async (_, parts) => {
    const { node, whole } = await world(parts)
    expect([node.height, whole > 0, node.offences]).toEqual([0, true, []])
  })

  it('asks honest peers before it asks a peer with a higher claim twice', async () => {
    const { node, whole, looks } = await world({ headers: 32_000, pageMs: 100, liars: 2 })
    expect([node.height, whole > 0, node.offences]).toEqual([0, true, []])
    expect(looks.slice(0, 3)).toEqual(['liar 0', 'liar 1', 'honest 0'])
  })

  it('follows the honest branch soon, although a peer that shows nothing denies every block of it', async () => {
    const { node, followed, seconds } = await world({ headers: 16_000, pageMs: 4_600, deniers: 1, honest: 6 })
    expect([node.height, followed]).toEqual([0, true])
    expect(seconds).toBeLessThanOrEqual(200)
  })
})
