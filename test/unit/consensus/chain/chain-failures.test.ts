import { describe, expect, it, vi } from 'vitest'
import type { Block } from '../../../../consensus/block/block.ts'
import type { HeadChange } from '../../../../consensus/chain/events.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { createInlineVerifier } from '../../../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { blocksFrom, deviantRuleBook, fork, importAll, mineBranch, outcomeOf } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { copyStore, DyingStore, ForgetfulStore } from '../../../support/stores.ts'
import { SAMPLE, units } from '../../../support/unsigned.ts'

const PAY = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })

const idsOf = (blocks: readonly { readonly id: string }[]): readonly string[] => blocks.map(({ id }) => id)

/** Records the head changes of a chain, and whether it was moving at that time. */
function heardBy({ chain }: TestChain) {
  const heard: { head: string; off: readonly string[]; on: readonly string[]; moving: boolean }[] = []
  chain.onHeadChange(({ head, disconnected, connected }: HeadChange) => {
    heard.push({ head: head.id, off: idsOf(disconnected), on: idsOf(connected), moving: chain.moving })
  })
  return heard
}

/** A verifier whose backend throws when told to. */
function fragileVerifier() {
  const state = { failing: false }
  const verifier = createInlineVerifier({
    ...NATIVE_BACKEND,
    verifyMlDsa: (...shown) => {
      if (state.failing) throw new RangeError('allocation failed')
      return NATIVE_BACKEND.verifyMlDsa(...shown)
    },
  })
  return { state, verifier }
}

describe('a reorganisation that meets an invalid block', () => {
  it('tells that the old branch left and came back, when the chain is at rest again', async () => {
    const common = await TestChain.open()
    await common.mine()
    const test = await fork(common)
    const mine = await mineBranch(test, 3, 1)
    const theirs = await mineBranch(await fork(common, { ruleBook: deviantRuleBook(4) }), 4, 2)
    const heard = heardBy(test)
    await importAll(test, theirs)
    const [on, head] = [idsOf(mine), mine[2]!.id]
    expect(heard).toEqual([{ head, off: on.toReversed(), on, moving: false }])
    expect([test.chain.head.id, test.chain.moving]).toEqual([head, false])
  })

  it('stays on the blocks before it if they are heavier than the old branch, and tells that', async () => {
    const common = await TestChain.open()
    const test = await fork(common, { parts: { reorganisationDepthMax: 2 } })
    const mine = await mineBranch(test, 3, 1)
    const theirs = await mineBranch(await fork(common, { ruleBook: deviantRuleBook(5) }), 5, 2)
    await importAll(test, theirs)
    expect(test.chain.head.id).toBe(mine[2]!.id)
    const store = new MemoryKeyValueStore()
    const allowed = await fork(common, { store })
    await importAll(allowed, mine)
    for (const block of theirs) await allowed.chain.database.storeSide(block, test.chain.database.entry(block.id)!)
    const heard = heardBy(allowed)
    await allowed.chain.resume()
    const on = idsOf(theirs.slice(0, 4))
    expect(heard).toEqual([{ head: on[3], off: idsOf(mine).toReversed(), on, moving: false }])
    expect(allowed.chain.database.entry(theirs[4]!.id)?.invalid).toBe(true)
    expect(allowed.stateRoot).toBe(theirs[3]!.header.stateRoot)
  })
})

describe('a verifier that fails', () => {
  it('has the import rejected and the block neither taken nor condemned', async () => {
    const { state, verifier } = fragileVerifier()
    const test = await TestChain.open(undefined, undefined, { verifier })
    const block = await test.build([await test.tx(wallet(1), 'transfer', PAY)])
    state.failing = true
    await expect(test.chain.import(block)).rejects.toThrow('allocation failed')
    expect(test.chain.database.entry(block.id)).toBeUndefined()
    state.failing = false
    expect(await outcomeOf(test, block)).toBe('connected')
  })

  it('in a reorganisation leaves the old branch, told as such, and nothing condemned', async () => {
    const { state, verifier } = fragileVerifier()
    const common = await TestChain.open()
    const test = await fork(common, { parts: { verifier } })
    const other = await fork(common)
    await test.mine([await test.tx(wallet(3), 'transfer', PAY)])
    await test.mine()
    for (let i = 0; i < 3; i++) await other.mine([await other.tx(wallet(1), 'transfer', PAY)])
    const theirs = blocksFrom(other, 1)
    const mine = idsOf(blocksFrom(test, 1))
    await importAll(test, theirs.slice(0, 2))
    const heard = heardBy(test)
    state.failing = true
    // Blocks that were on the best chain are put back without verification, so only the new branch needs the verifier.
    test.chain.verified.has = () => false
    test.nowMs = other.nowMs
    await expect(test.chain.import(theirs[2] as Block)).rejects.toThrow('allocation failed')
    expect(heard).toEqual([{ head: mine[1], off: mine.toReversed(), on: mine, moving: false }])
    expect(theirs.map(({ id }) => test.chain.database.entry(id)?.invalid)).toEqual([false, false, false])
    state.failing = false
    expect(await test.chain.resume()).toEqual({ ok: true, value: 'connected' })
    expect(test.chain.head.id).toBe(theirs[2]!.id)
  })
})

describe('a disk that fails', () => {
  /** A node whose next import reorganises: it stores one side block, unwinds two and connects three. */
  async function scene(batches: number) {
    const common = await TestChain.open()
    const store = new MemoryKeyValueStore()
    const before = await fork(common, { store })
    await mineBranch(before, 2, 1)
    const theirs = await mineBranch(await fork(common), 3, 2)
    await importAll(before, theirs.slice(0, 2))
    const test = await TestChain.open(undefined, new DyingStore(store, batches))
    test.nowMs = theirs[2]!.header.timeMs
    return { test, store, last: theirs[2] as Block, mine: await mineBranch(await fork(before), 1, 4) }
  }

  it.each([0, 1, 2, 3, 4, 5])('after %i batches of a reorganisation stops the chain where it is', async (batches) => {
    const { test, store, last, mine } = await scene(batches)
    const heard = heardBy(test)
    const queued = [test.chain.import(last), test.chain.import(mine[0] as Block), test.chain.resume()]
    const [first, ...others] = await Promise.allSettled(queued)
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'the process died' } })
    const stopped = { status: 'fulfilled', value: { ok: false, fault: { code: 'chain/stopped', detail: {} } } }
    expect(others).toEqual([stopped, stopped])
    expect(heard).toEqual([])
    // Readers still see that this is a passing head.
    expect(test.chain.moving).toBe(batches > 0)
    await test.chain.stop()
    const again = await TestChain.open(undefined, await copyStore(store))
    again.nowMs = test.nowMs
    await again.chain.resume()
    if (batches === 0) await again.import(last)
    expect(again.chain.head.id).toBe(last.id)
  })

  it('in a plain extension stops the chain: it is unknown what was written', async () => {
    const store = new MemoryKeyValueStore()
    await fork(await TestChain.open(), { store })
    const test = await TestChain.open(undefined, new DyingStore(store, 0))
    const block = await test.build()
    await expect(test.chain.import(block)).rejects.toThrow('the process died')
    expect(await outcomeOf(test, block)).toEqual({ code: 'chain/stopped', detail: {} })
  })
})

describe('a branch whose fork cannot be unwound to any more', () => {
  it('is refused like one that is too deep, and nothing moves', async () => {
    const common = await TestChain.open()
    await common.mine()
    const store = new ForgetfulStore()
    const test = await fork(common, { store })
    const mine = await mineBranch(test, 2, 1)
    // This happens after a move to a heavier, shorter branch: the oldest undo records were dropped when the longer one grew.
    store.hidden = [`06${mine[0]!.id}`]
    const heard = heardBy(test)
    const theirs = await mineBranch(await fork(common), 4, 2)
    const fault = { code: 'chain/reorganisation-too-deep', detail: { depth: 2, depthMax: 1_200 } }
    expect(await importAll(test, theirs.slice(0, 3))).toEqual(fault)
    expect(await importAll(test, theirs.slice(3))).toEqual(fault)
    expect([test.chain.head.id, test.chain.moving, heard]).toEqual([mine[1]!.id, false, []])
    expect(await outcomeOf(test, await test.build())).toBe('connected')
  })
})

describe('branches that a crash left', () => {
  it('fork off where they do, once the node has gone on along one of them', async () => {
    const base = await TestChain.open()
    await base.mineTo(2)
    const other = await fork(base)
    const theirs = await mineBranch(other, 5, 5)
    const store = new MemoryKeyValueStore()
    const victim = await fork(base, { store })
    await mineBranch(victim, 1, 6)
    await importAll(victim, theirs.slice(0, 1))
    const dying = await TestChain.open(undefined, new DyingStore(store, 2), { reorganisationDepthMax: 3 })
    dying.nowMs = other.nowMs
    await expect(dying.chain.import(theirs[1] as Block)).rejects.toThrow('the process died')
    const again = await TestChain.open(undefined, store, { reorganisationDepthMax: 3 })
    expect([again.height, await again.chain.resume()]).toEqual([2, { ok: true, value: 'connected' }])
    expect(await importAll(again, theirs.slice(2))).toBe('connected')
    const beside = await fork(base)
    await importAll(beside, theirs.slice(0, 2))
    expect(await importAll(again, await mineBranch(beside, 4, 8))).toBe('connected')
    expect(again.chain.head.id).toBe(beside.chain.head.id)
  })
})

describe('a long branch that is refused', () => {
  it('is looked through once for each new block of it, and walked not at all', async () => {
    const test = await TestChain.open(undefined, undefined, { reorganisationDepthMax: 4 })
    const other = await fork(test)
    await mineBranch(test, 5, 1)
    const { side } = test.chain.database
    const looks = vi.spyOn(side, 'heaviest')
    const entries = vi.spyOn(test.chain.database, 'entry')
    const theirs = await mineBranch(other, 60, 2)
    await importAll(test, theirs.slice(0, 59))
    looks.mockClear()
    entries.mockClear()
    const detail = { depth: 5, depthMax: 4 }
    expect(await importAll(test, theirs.slice(59))).toEqual({ code: 'chain/reorganisation-too-deep', detail })
    expect(looks).toHaveBeenCalledTimes(1)
    expect(entries.mock.calls.length).toBeLessThan(10)
  })
})
