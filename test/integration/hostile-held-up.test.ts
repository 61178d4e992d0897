import { expect, it } from 'vitest'
import { type HeaderTip, headerTipOf } from '../../consensus/chain/header-tip.ts'
import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { pause } from '../../src/p2p/relay/within.ts'
import { headerBranch } from '../support/header-branch.ts'
import { easyBranch, LATE_MS, RULES } from '../support/p2p/easy-branch.ts'
import { MemoryNetwork } from '../support/p2p/memory-network.ts'
import { SyncNode } from '../support/p2p/sync-node.ts'
import { VirtualTime } from '../support/sim/virtual-clock.ts'

const HEADERS = 32_000
const PAGE_MS = 4_900

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
