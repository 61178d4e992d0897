import { afterEach, describe, expect, it } from 'vitest'
import type { HeadChange } from '../../../consensus/chain/events.ts'
import type { Pacer } from '../../../consensus/chain/ports.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { blocksFrom, fork, importAll, PROVEN_WORK } from '../../support/branches.ts'
import { type TestChain, wallet } from '../../support/chain.ts'
import { TestMempool } from '../../support/mempool.ts'
import { closeStores, levelChain } from '../../support/partition.ts'
import { units } from '../../support/unsigned.ts'

afterEach(closeStores)

const OTHER = { extra: new Uint8Array(32).fill(0x33) }
const PAY = { to: wallet(2).address, amount: units(5_000), create: false }

/** A pacer that pauses after every step, and tells the test. */
class EveryStep implements Pacer {
  onPause: () => void = () => {}

  due(): boolean {
    return true
  }

  async pause(): Promise<void> {
    this.onPause()
  }
}

/** A chain in two halves. Ours has a mempool and a LevelDB. */
async function parted(pacer: Pacer = new EveryStep()) {
  const test = await levelChain(undefined, { pacer })
  const pool = await TestMempool.open({ test })
  await test.mine()
  return { test, pool, mempool: pool.mempool, theirs: await fork(test), forkHeight: test.height }
}

async function mineApart(test: TestChain, bodies: readonly (readonly Transaction[])[], apart = {}): Promise<void> {
  for (const body of bodies) await test.mine(body, apart)
}

const empty = (count: number): readonly Transaction[][] => Array.from({ length: count }, () => [])

describe.each([10, 100, 1_000])('what the losing half had mined in %i blocks', (depth) => {
  it('waits again in order as far as it is valid, before listeners hear of the new head', async () => {
    const { test, pool, mempool, theirs, forkHeight } = await parted()
    const kept: Transaction[] = []
    for (let nonce = 0; nonce < 5; nonce++) kept.push(await pool.pay(1, nonce))
    const mined = [await pool.pay(3, 0), await pool.pay(3, 1)]
    const expired = await pool.pay(4, 0, { validUntil: forkHeight + depth })
    const rival = await theirs.tx(wallet(5), 'transfer', { ...PAY, to: wallet(6).address })
    const spent = await pool.pay(5, 0)
    const bodies: Transaction[][] = [[expired, spent], mined, kept.slice(0, 2), [], kept.slice(2)]
    await mineApart(test, [...bodies, ...empty(depth - bodies.length)])
    await mineApart(theirs, [[rival], mined, ...empty(depth - 1)], OTHER)
    const told: (readonly [HeadChange, readonly string[]])[] = []
    test.chain.onHeadChange((change) => told.push([change, mempool.transactions().map(({ txId }) => txId)]))
    expect(await importAll(test, blocksFrom(theirs, forkHeight + 1), PROVEN_WORK)).toBe('connected')
    expect(told).toHaveLength(1)
    const [change, waiting] = told[0]!
    expect([change.disconnected.length, change.connected.length]).toEqual([depth, depth + 1])
    expect(waiting).toEqual(kept.map(({ txId }) => txId))
    expect(mempool.nextNonce(wallet(1).address)).toBe(5n)
    await test.mine([...mempool.candidates()])
    expect(mempool.count).toBe(0)
  })
})

describe('giving transactions back to the mempool', () => {
  it('is done in slices; meanwhile the head counts as passing, and nothing is admitted', async () => {
    const pacer = new EveryStep()
    const { test, pool, mempool, theirs, forkHeight } = await parted(pacer)
    const run: Transaction[] = []
    for (let nonce = 0; nonce < 60; nonce++) run.push(await pool.pay(1, nonce))
    await mineApart(test, [run.slice(0, 30), run.slice(30)])
    await mineApart(theirs, empty(3), OTHER)
    const late = await pool.pay(3, 0)
    const seen: { readonly count: number; readonly moving: boolean }[] = []
    const refusals: (string | undefined)[] = []
    pacer.onPause = () => {
      if (test.chain.head.id !== theirs.chain.head.id) return
      seen.push({ count: mempool.count, moving: test.chain.moving })
      void pool.submit(late).then((refusal) => refusals.push(refusal?.code))
    }
    await importAll(test, blocksFrom(theirs, forkHeight + 1), PROVEN_WORK)
    pacer.onPause = () => {}
    // Other work had its turn after every transaction.
    for (let count = 1; count <= 60; count++) expect(seen.some((one) => one.count === count)).toBe(true)
    expect(seen.every(({ moving }) => moving)).toBe(true)
    expect(new Set(refusals)).toEqual(new Set(['mempool/busy']))
    expect([test.chain.moving, mempool.count, await pool.submit(late)]).toEqual([false, 60, null])
  })

  it('fills a full pool with minable transactions, not with stranded ones', async () => {
    const { test, theirs, forkHeight } = await parted()
    const pool = await TestMempool.open({ test, policy: { countMax: 20 } })
    const cheap: Transaction[] = []
    const dear: Transaction[] = []
    for (let nonce = 0; nonce < 30; nonce++) {
      cheap.push(await pool.pay(1, nonce, { rate: 100n }))
      dear.push(await pool.pay(3, nonce, { rate: 200n }))
    }
    for (let i = 0; i < 30; i += 10) await test.mine([...cheap.slice(i, i + 10), ...dear.slice(i, i + 10)])
    await mineApart(theirs, empty(4), OTHER)
    await importAll(test, blocksFrom(theirs, forkHeight + 1), PROVEN_WORK)
    const { mempool } = pool
    expect(mempool.count).toBeGreaterThan(0)
    expect(mempool.count).toBeLessThanOrEqual(20)
    expect([...mempool.candidates()]).toHaveLength(mempool.count)
    expect(pool.noncesOf(3).length).toBeGreaterThan(pool.noncesOf(1).length)
  })
})
