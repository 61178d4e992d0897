import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../../../config/networks/rules.ts'
import { targetOfWork } from '../../../../consensus/block/pow.ts'
import type { HeadChange } from '../../../../consensus/chain/events.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import {
  blocksFrom,
  countingRuleBook,
  deviantRuleBook,
  fork,
  importAll,
  mineBranch,
  outcomeOf,
} from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { testRuleBook } from '../../../support/network.ts'
import { dumpStore } from '../../../support/stores.ts'
import { SAMPLE, units } from '../../../support/unsigned.ts'

const PAY = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })

/** Store prefixes of the best chain (canonical, undo, location, state, pages, head) and of the ids of stored blocks off it (side). */
const BEST_CHAIN = /^(02|06|07|0a|0b|0c|0068656164)/

async function bestChainOf(store: MemoryKeyValueStore): Promise<readonly (readonly [string, string])[]> {
  return [...(await dumpStore(store))].filter(([key]) => BEST_CHAIN.test(key)).sort()
}

describe('the choice between branches', () => {
  it('goes to the most work, and stays with the first seen on a tie', async () => {
    const test = await TestChain.open()
    const other = await fork(test)
    const mine = await mineBranch(test, 2, 1)
    const theirs = await mineBranch(other, 3, 2)
    test.nowMs = other.nowMs
    expect(await outcomeOf(test, theirs[0]!)).toBe('side')
    expect(await outcomeOf(test, theirs[1]!)).toBe('side')
    expect(test.chain.head.id).toBe(mine[1]!.id)
    expect(await outcomeOf(test, theirs[2]!)).toBe('connected')
    expect(test.chain.head.id).toBe(theirs[2]!.id)
    expect(test.stateRoot).toBe(other.stateRoot)
  })

  it('goes by work, not by length', async () => {
    const block = { ...LAUNCH_RULES.block, powLimit: targetOfWork(1_000n), initialTarget: targetOfWork(2n ** 20n) }
    const parts = { powHasher: () => new Uint8Array(32) }
    const slow = await TestChain.open(testRuleBook({ block }), undefined, parts)
    await slow.mine()
    const fast = await fork(slow, { parts })
    // Three late blocks have less work than two quick ones.
    for (let i = 0; i < 3; i++) await slow.mine([], { afterMs: 250_000 })
    const quick = [await fast.mine([], { afterMs: 1 }), await fast.mine([], { afterMs: 1 })]
    expect(fast.chain.head.totalWork > slow.chain.head.totalWork).toBe(true)
    expect(await importAll(slow, quick)).toBe('connected')
    expect([slow.height, slow.chain.head.id]).toEqual([3, fast.chain.head.id])
  })
})

describe('a reorganisation', () => {
  it.each([1, 2, 10])('%i deep leads to the state of the new branch and back to that of the old', async (depth) => {
    const store = new MemoryKeyValueStore()
    const common = await TestChain.open()
    await common.mine([await common.tx(wallet(1), 'transfer', PAY)])
    const test = await fork(common, { store })
    const other = await fork(common)
    for (let i = 0; i < depth; i++)
      await test.mine([await test.tx(wallet(1), 'transfer', PAY)], { miner: wallet(5).address })
    const before = await bestChainOf(store)
    const old = blocksFrom(test, 2)
    const root = test.stateRoot
    for (let i = 0; i <= depth; i++) await other.mine([await other.tx(wallet(3), 'transfer', PAY)])
    expect(await importAll(test, blocksFrom(other, 2))).toBe('connected')
    expect([test.height, test.stateRoot]).toEqual([other.height, other.stateRoot])
    const back = await fork(common)
    await importAll(back, old)
    const longer = [await back.mine(), await back.mine()]
    expect(await importAll(test, longer)).toBe('connected')
    expect(test.chain.head.id).toBe(longer[1]!.id)
    // Unwinding the new branch gives the old branch's records again, byte for byte.
    const again = new MemoryKeyValueStore()
    const fresh = await fork(back, { store: again })
    expect(fresh.stateRoot).toBe(test.stateRoot)
    const state = async (of: MemoryKeyValueStore) =>
      (await bestChainOf(of)).filter(([key]) => /^(02|06|07|0a|0b)/.test(key))
    expect(await state(store)).toEqual(await state(again))
    expect(root).toBe(old.at(-1)!.header.stateRoot)
    expect(before.length).toBeGreaterThan(0)
  })

  it('tells its listeners what left, newest first, and what came, oldest first', async () => {
    const test = await TestChain.open()
    const other = await fork(test)
    const mine = await mineBranch(test, 2, 1)
    const theirs = await mineBranch(other, 3, 2)
    const heard: HeadChange[] = []
    test.chain.onHeadChange((change) => heard.push(change))
    await importAll(test, theirs)
    expect(heard.length).toBe(1)
    expect(heard[0]!.head.id).toBe(theirs[2]!.id)
    expect(heard[0]!.disconnected.map(({ id }) => id)).toEqual([mine[1]!.id, mine[0]!.id])
    expect(heard[0]!.connected.map(({ id }) => id)).toEqual(theirs.map(({ id }) => id))
    for (const { id } of heard[0]!.connected) {
      expect(decodeReceipt(test.chain.database.receipts(id)!.at(-1)!).type).toBe('close')
    }
  })

  it('is never shown half done', async () => {
    const test = await TestChain.open()
    const other = await fork(test)
    await mineBranch(test, 2, 1)
    const moving: boolean[] = []
    test.chain.onHeadChange(() => moving.push(test.chain.moving))
    await importAll(test, await mineBranch(other, 3, 2))
    expect([moving, test.chain.moving]).toEqual([[false], false])
  })

  it('forgets where the old branch held its transactions', async () => {
    const test = await TestChain.open()
    const other = await fork(test)
    const tx = await test.tx(wallet(1), 'transfer', PAY)
    await test.mine([tx])
    expect(test.chain.database.location(tx.txId)).toEqual({ height: 1, index: 0 })
    await importAll(test, [await other.mine(), await other.mine([tx])])
    expect(test.chain.database.location(tx.txId)).toEqual({ height: 2, index: 0 })
    const third = await fork(await TestChain.open())
    await importAll(test, await mineBranch(third, 3, 3))
    expect(test.chain.database.location(tx.txId)).toBeUndefined()
  })
})

describe('a heavier branch with an invalid block in its middle', () => {
  /** A node on its own branch, and a branch of five whose third block breaks the rules. */
  async function deviating(own = 3) {
    const { ruleBook, executions } = countingRuleBook()
    const store = new MemoryKeyValueStore()
    const common = await TestChain.open(ruleBook)
    await common.mine()
    const test = await fork(common, { store })
    await mineBranch(test, own, 1)
    const deviant = await fork(common, { ruleBook: deviantRuleBook(4) })
    return { test, store, executions, theirs: await mineBranch(deviant, 5, 2) }
  }

  it('leaves the old branch as it was, byte for byte', async () => {
    const { test, store, theirs } = await deviating()
    const head = test.chain.head.id
    const before = await bestChainOf(store)
    const heard: HeadChange[] = []
    test.chain.onHeadChange((change) => heard.push(change))
    await importAll(test, theirs.slice(0, 4))
    expect(test.chain.head.id).toBe(head)
    const after = (await bestChainOf(store)).filter(([key]) => !theirs.some(({ id }) => key === `0c${id}`))
    expect(after).toEqual(before)
    const own = blocksFrom(test, 2).map(({ id }) => id)
    expect(heard.map(({ disconnected }) => disconnected.map(({ id }) => id))).toEqual([own.toReversed()])
    expect(heard.map(({ connected }) => connected.map(({ id }) => id))).toEqual([own])
    expect((await fork(test)).stateRoot).toBe(test.stateRoot)
  })

  it('is never executed again, whatever is built on it', async () => {
    const { test, executions, theirs } = await deviating()
    await importAll(test, theirs.slice(0, 4))
    const [, , bad, above, last] = theirs
    expect(test.chain.database.entry(bad!.id)?.invalid).toBe(true)
    const counted = executions()
    expect(await outcomeOf(test, bad!)).toEqual({ code: 'chain/invalid-ancestor', detail: { id: bad!.id } })
    await outcomeOf(test, last!)
    await test.chain.resume()
    expect(executions()).toBe(counted)
    expect(test.chain.database.entry(above!.id)?.invalid).toBe(true)
  })

  it('is refused as invalid when the invalid block is the one that makes it heavier', async () => {
    const { test, theirs } = await deviating(2)
    await importAll(test, theirs.slice(0, 2))
    const fault = { code: 'block/receipts-root', detail: {} }
    expect(await outcomeOf(test, theirs[2]!)).toEqual(fault)
  })

  it('takes no further blocks on top', async () => {
    const { test, theirs } = await deviating()
    await importAll(test, theirs.slice(0, 4))
    expect(await outcomeOf(test, theirs[4]!)).toMatchObject({ code: 'chain/invalid-ancestor' })
  })

  it('gives way to the next heaviest branch that is sound', async () => {
    const { test, theirs } = await deviating()
    const sound = await TestChain.open(test.ruleBook)
    await importAll(sound, blocksFrom(test, 1).slice(0, 1))
    const better = await mineBranch(sound, 3, 3)
    await importAll(test, [...theirs.slice(0, 3), ...better])
    expect(test.chain.head.id).not.toBe(better[2]!.id)
    await importAll(test, theirs.slice(3, 4))
    expect(test.chain.head.id).not.toBe(theirs[3]!.id)
    const last = await mineBranch(sound, 1, 3)
    expect(await importAll(test, last)).toBe('connected')
    expect(test.chain.head.id).toBe(last[0]!.id)
  })
})

describe('a branch that forks too deep', () => {
  const parts = { reorganisationDepthMax: 4 }

  it('is taken at the limit and refused beyond it, without a verdict', async () => {
    for (const depth of [4, 5]) {
      const test = await TestChain.open(undefined, undefined, parts)
      const other = await fork(test)
      await mineBranch(test, depth, 1)
      const head = test.chain.head.id
      const outcome = await importAll(test, await mineBranch(other, depth + 1, 2))
      if (depth === 4) expect([outcome, test.chain.head.id]).toEqual(['connected', other.chain.head.id])
      else {
        expect(outcome).toEqual({ code: 'chain/reorganisation-too-deep', detail: { depth: 5, depthMax: 4 } })
        expect(test.chain.head.id).toBe(head)
        expect(test.chain.database.entry(other.chain.head.id)?.invalid).toBe(false)
      }
    }
  })

  it('is taken by a node whose operator allows it', async () => {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(undefined, store, parts)
    const other = await fork(test)
    await mineBranch(test, 5, 1)
    await importAll(test, await mineBranch(other, 6, 2))
    const allowed = await TestChain.open(undefined, store, { reorganisationDepthMax: 5 })
    expect(await allowed.chain.resume()).toEqual({ ok: true, value: 'connected' })
    expect(allowed.chain.head.id).toBe(other.chain.head.id)
  })

  it('does not keep the node from extending its own', async () => {
    const test = await TestChain.open(undefined, undefined, parts)
    const other = await fork(test)
    await mineBranch(test, 5, 1)
    await importAll(test, await mineBranch(other, 9, 2))
    expect(await outcomeOf(test, await test.build())).toBe('connected')
  })

  it('does not keep the node from following a shallower branch that is heavier than its own', async () => {
    const test = await TestChain.open(undefined, undefined, parts)
    const deep = await fork(test)
    await mineBranch(test, 5, 1)
    const near = await fork(test)
    await mineBranch(test, 1, 1)
    await importAll(test, await mineBranch(deep, 9, 2))
    const theirs = await mineBranch(near, 2, 3)
    expect(await importAll(test, theirs)).toBe('connected')
    expect(test.chain.head.id).toBe(theirs[1]!.id)
  })
})
