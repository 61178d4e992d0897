import { expect, it } from 'vitest'
import { headerTipOf } from '../../../../../consensus/block/header-tip.ts'
import type { BlockEntry } from '../../../../../consensus/chain/layout.ts'
import { UNPACED } from '../../../../../consensus/chain/ports.ts'
import type { PeerId } from '../../../../../src/p2p/network.ts'
import { type Claim, collectClaim } from '../../../../../src/p2p/sync/claim.ts'
import { Denials } from '../../../../../src/p2p/sync/denials.ts'
import { type HeaderPage, HeaderWalk } from '../../../../../src/p2p/sync/header-walk.ts'
import { ProofRun } from '../../../../../src/p2p/sync/prove.ts'
import { headerBranch } from '../../../../support/header-branch.ts'
import { testRuleBook } from '../../../../support/network.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

const RULES = testRuleBook()
const AROUND = { stopped: () => false, others: () => false }

/** A node, and a peer with `count` headers on genesis. */
async function world(count: number) {
  const hub = new MemoryNetwork(new VirtualTime(Date.UTC(2030, 0)))
  const node = await SyncNode.open(hub, 'node', { ruleBook: RULES })
  const peer = await SyncNode.open(hub, 'peer', { ruleBook: RULES })
  const { database, ruleBook } = node.test.chain
  const genesis = database.entry(ruleBook.genesis.block.id) as BlockEntry
  const headers = headerBranch(RULES, headerTipOf(database, genesis), count)
  peer.peers.exchange.answer('headers', (_, { locator, limit }) => {
    const from = headers.findIndex(({ id }) => id === locator[0]) + 1
    return { reply: headers.slice(from, from + limit).map(({ bytes }) => bytes) }
  })
  hub.connect(node.network, peer.network)
  await hub.time.pass(100)
  const clock = { now: () => hub.time.nowMs }
  const workVerifier = { verifyWork: async (jobs: readonly unknown[]) => jobs.map(() => true) }
  const deps = {
    ...{ chain: node.test.chain, peers: node.peers, clock, timers: hub.time, pacer: UNPACED, workVerifier },
    denials: new Denials((id) => id),
  }
  const walk = (claim?: Claim) =>
    new HeaderWalk(
      deps as never,
      'peer' as PeerId,
      claim ? { tip: claim.base, sizes: claim.sizes } : { tip: undefined },
    )
  const prove = async (claim?: Claim): Promise<Claim | null> => {
    const headersOf = walk(claim)
    const first = await during(headersOf.next({ claimed: false }))
    if (!first.ok) throw new Error(first.fault.code)
    const run = new ProofRun(deps as never, 'peer' as PeerId, () => false)
    return during(run.run({ walk: headersOf, first: first.value, claim }))
  }
  const during = async <T>(work: Promise<T>): Promise<T> => {
    await hub.time.pass(60_000)
    return work
  }
  return { node, prove, during, walk }
}

it.each([1_999, 2_000, 4_000])('a branch of %d headers, proven, can be walked and proven again', async (count) => {
  const { node, prove, during, walk } = await world(count)
  const claim = (await prove()) as Claim
  expect(claim.sizes).not.toContain(0)
  expect(claim.sizes.reduce((sum, size) => sum + size, 0)).toBe(count)
  const again = walk(claim)
  let shown = 0
  for (let page: HeaderPage = { headers: [], more: true }; page.more; ) {
    const next = await during(again.next({ claimed: false }))
    if (!next.ok) throw new Error(next.fault.code)
    page = next.value
    shown += page.headers.length
  }
  expect(shown).toBe(count)
  expect((await prove(claim))?.sizes).toEqual(claim.sizes)
  await node.stop()
})

it('a claim that is collected has no page of known headers in it', async () => {
  const { node } = await world(3)
  const { database, head } = node.test.chain
  const tips = headerBranch(RULES, headerTipOf(database, head), 2)
  const pages: HeaderPage[] = [
    { headers: [], more: true },
    { headers: tips, more: true },
    { headers: [], more: false },
  ]
  const walk = {
    base: headerTipOf(database, head),
    get tip() {
      return pages.length === 0 ? tips[1] : undefined
    },
    next: async () => ({ ok: true, value: pages.shift() }),
  }
  const judge = { ruleBook: RULES, leastWork: 1n }
  const claim = await collectClaim(walk as never, pages.shift() as HeaderPage, judge as never, AROUND)
  expect(claim).toMatchObject({ ok: true, value: { sizes: [2] } })
  await node.stop()
})
