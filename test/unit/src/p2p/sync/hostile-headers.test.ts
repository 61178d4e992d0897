import { beforeAll, describe, expect, it } from 'vitest'
import type { Header } from '../../../../../consensus/block/header.ts'
import { type HeaderTip, headerTipOf } from '../../../../../consensus/block/header-tip.ts'
import { UNDO_BLOCKS } from '../../../../../consensus/chain/database.ts'
import type { BlockEntry } from '../../../../../consensus/chain/layout.ts'
import { createRuleBook } from '../../../../../consensus/chain/rule-book.ts'
import type { BlockId, Hash } from '../../../../../consensus/primitives/ids.ts'
import type { Status } from '../../../../../src/p2p/wire/messages.ts'
import { PROTOCOL } from '../../../../../src/protocol.ts'
import { TestChain } from '../../../../support/chain.ts'
import { freePow } from '../../../../support/differential.ts'
import { childHeader, headerBranch } from '../../../../support/header-branch.ts'
import { testParams } from '../../../../support/network.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { SyncNode } from '../../../../support/p2p/sync-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'

const LATER_MS = 1_000_000_000

/** A peer that claims a heavy head and shows headers of the test, and a node connected to it. */
async function hostile(
  target: TestChain,
  headersAfter: (locator: readonly BlockId[], limit: number) => readonly Uint8Array[],
  heavy = 2n ** 200n,
) {
  const hub = new MemoryNetwork(new VirtualTime(target.nowMs + LATER_MS))
  const node = await SyncNode.open(hub, 'node', { test: target })
  const says = (status: Status): Status => ({
    ...status,
    head: 'ee'.repeat(32) as BlockId,
    height: 1_000_000,
    totalWork: heavy,
  })
  const attacker = await SyncNode.open(hub, 'attacker', { ruleBook: target.ruleBook, says })
  let pages = 0
  attacker.peers.exchange.answer('headers', (_, { locator, limit }) => {
    pages += 1
    return { reply: headersAfter(locator, limit) }
  })
  hub.connect(node.network, attacker.network)
  node.synchroniser.start()
  return { hub, node, pages: () => pages }
}

function genesisTip({ chain }: TestChain): HeaderTip {
  return headerTipOf(chain.database, chain.head)
}

describe('a header that contradicts its parent', () => {
  const zero = '00'.repeat(32)
  const lies: readonly (readonly [string, Partial<Header>])[] = [
    ['version', { version: 9 }],
    ['height', { height: 7 }],
    ['target', { target: 5n }],
    ['time', { timeMs: 1 }],
    ['base fee', { baseFee: 1_000n }],
    ['history root', { historyRoot: zero as Hash }],
  ]
  it.each(lies)('with a wrong %s costs no hash and no signature check, and its sender is banned', async (_, change) => {
    const test = await TestChain.open()
    const tip = genesisTip(test)
    const good = headerBranch(test.ruleBook, tip, 3)
    const page = [...good.map(({ bytes }) => bytes), childHeader(test.ruleBook, good.at(-1) as HeaderTip, change).bytes]
    const { hub, node } = await hostile(test, () => page)
    await hub.time.pass(20_000)
    expect(node.hashes).toBe(0)
    expect(node.verifier.checked).toBe(0)
    expect(node.offencesOf('attacker')).toEqual(['bad-header'])
    expect(node.network.ended).toEqual([{ peer: 'attacker', reason: 'bad-header', banned: true }])
    await node.stop()
  })

  it('on an unknown parent costs no hash', async () => {
    const test = await TestChain.open()
    const orphan = childHeader(test.ruleBook, genesisTip(test), { parent: zero as BlockId })
    const { hub, node, pages } = await hostile(test, () => [orphan.bytes])
    await hub.time.pass(20_000)
    expect(node.hashes).toBe(0)
    expect(node.offencesOf('attacker')).toContain('unasked')
    expect(pages()).toBeLessThan(10)
    await node.stop()
  })
})

describe('a branch from below what can be unwound', () => {
  it.each([
    ['costs no hash where it has less work, also where a block that is stored here is shown before it', 1_000],
    ['is proven where it has more, and the operator hears of it', UNDO_BLOCKS + 100],
  ])(
    '%s',
    async (_, length) => {
      const test = await TestChain.open(undefined, undefined, { powHasher: freePow })
      const below = genesisTip(test)
      await test.mineTo(UNDO_BLOCKS + 2)
      const { database } = test.chain
      const known = database.entry(database.idAt(1) as BlockId) as BlockEntry
      const branch = headerBranch(test.ruleBook, headerTipOf(database, known), length)
      expect(known.header.parent).toBe(below.id)
      const all = [known, ...branch]
      const { hub, node, pages } = await hostile(test, (locator, limit) => {
        const from = all.findIndex(({ id }) => id === locator[0]) + 1
        return all.slice(from, from + limit).map(({ bytes }) => bytes)
      })
      await hub.time.pass(20_000)
      expect(pages()).toBeGreaterThan(0)
      const isHeavier = length > UNDO_BLOCKS
      expect(node.hashes).toBe(isHeavier ? length : 0)
      expect(node.log.some(({ message }) => message.includes('only a fresh data folder'))).toBe(isHeavier)
      expect(node.synchroniser.progress().behind).toBe(isHeavier)
      await node.stop()
    },
    60_000,
  )
})

describe('false work', () => {
  it('is hashed for one batch, and then the peer is gone', async () => {
    const test = await TestChain.open()
    const page = headerBranch(test.ruleBook, genesisTip(test), 2_000).map(({ bytes }) => bytes)
    const { hub, node, pages } = await hostile(test, () => page)
    node.isFalse = () => true
    await hub.time.pass(20_000)
    expect(node.batches).toEqual([64])
    expect(node.offencesOf('attacker')).toContain('bad-work')
    expect(node.network.ended[0]).toEqual({ peer: 'attacker', reason: 'bad-work', banned: true })
    // The second page was already on its way.
    expect(pages()).toBeLessThanOrEqual(2)
    expect(node.height).toBe(0)
    await node.stop()
  })
})

describe('a long branch of easy headers from genesis', () => {
  const COUNT = 50_000
  let branch: readonly HeaderTip[]
  let index: Map<string, number>
  const heavyBook = createRuleBook({ ...testParams(), minimumWork: 10n ** 9n }, PROTOCOL)

  beforeAll(async () => {
    branch = headerBranch(heavyBook, genesisTip(await TestChain.open(heavyBook)), COUNT)
    index = new Map(branch.map(({ id }, i) => [id, i]))
  }, 120_000)

  function pageAfter(locator: readonly BlockId[], limit: number): readonly Uint8Array[] {
    const at = locator.map((id) => index.get(id)).find((found) => found !== undefined)
    const start = at === undefined ? 0 : at + 1
    return branch.slice(start, start + limit).map(({ bytes }) => bytes)
  }

  it('is never hashed: below the minimum work nothing is kept of it', async () => {
    const test = await TestChain.open(heavyBook)
    const { hub, node, pages } = await hostile(test, pageAfter)
    await hub.time.pass(4_000)
    expect(pages()).toBe(COUNT / 2_000 + 1)
    expect(node.hashes).toBe(0)
    expect(node.offencesOf('attacker')).toEqual(['useless'])
    expect(node.synchroniser.progress()).toMatchObject({ height: 0, headersHeight: 0 })
    await node.stop()
  }, 60_000)

  it('is asked for once more and hashed where in the end it claims enough', async () => {
    const enough = createRuleBook({ ...testParams(), minimumWork: 40_000n }, PROTOCOL)
    const test = await TestChain.open(enough)
    expect(test.chain.head.id).toBe((await TestChain.open(heavyBook)).chain.head.id)
    const { hub, node, pages } = await hostile(test, pageAfter)
    await hub.time.pass(3_000)
    // Twenty pages prove enough work, and one is on its way. Then pages come until the window is full.
    expect(pages()).toBeGreaterThanOrEqual(21 + 17)
    expect(node.hashes).toBeGreaterThan(32_768)
    expect(node.hashes).toBeLessThanOrEqual(36_000)
    await node.stop()
  }, 60_000)

  it('is not hashed where the second telling differs from the first', async () => {
    const enough = createRuleBook({ ...testParams(), minimumWork: 6_000n }, PROTOCOL)
    const test = await TestChain.open(enough)
    const other = headerBranch(enough, genesisTip(test), 2_000, { extra: new Uint8Array(32).fill(7) })
    let fromGenesis = 0
    const { hub, node } = await hostile(test, (locator, limit) => {
      if (locator.length > 1) return pageAfter(locator, limit)
      fromGenesis += 1
      return fromGenesis === 1 ? pageAfter(locator, limit) : other.map(({ bytes }) => bytes)
    })
    await hub.time.pass(3_000)
    expect(fromGenesis).toBe(2)
    expect(node.hashes).toBe(0)
    await node.stop()
  }, 60_000)
})
