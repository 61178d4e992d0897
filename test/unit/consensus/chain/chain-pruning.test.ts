import { beforeAll, describe, expect, it } from 'vitest'
import type { Block } from '../../../../consensus/block/block.ts'
import { UNDO_BLOCKS } from '../../../../consensus/chain/database.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { blocksFrom, fork, importAll, mineBranch, outcomeOf, PROVEN_WORK } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'
import { copyStore, dumpStore } from '../../../support/stores.ts'

/** Height of the fork, and height of this node when it hears of the other branch. */
const FORK = 97
const HEARD_AT = UNDO_BLOCKS + FORK - 7

let atFork: MemoryKeyValueStore
let here: MemoryKeyValueStore
let theirs: readonly Block[]

beforeAll(async () => {
  const store = new MemoryKeyValueStore()
  const test = await TestChain.open(undefined, store)
  await test.mineTo(FORK)
  atFork = await copyStore(store)
  const other = await TestChain.open(undefined, await copyStore(store))
  theirs = await mineBranch(other, HEARD_AT - FORK + 20, 7)
  await test.mineTo(HEARD_AT)
  here = store
}, 60_000)

/** This node before it hears of the other branch. */
async function node(store = here): Promise<{ readonly test: TestChain; readonly store: MemoryKeyValueStore }> {
  const own = await copyStore(store)
  const test = await TestChain.open(undefined, own)
  test.nowMs = (theirs.at(-1) as Block).header.timeMs
  return { test, store: own }
}

/** Keys in the store that name one of the blocks. */
async function tracesOf(store: MemoryKeyValueStore, blocks: readonly Block[]): Promise<readonly string[]> {
  const ids = new Set<string>(blocks.map(({ id }) => id))
  return [...(await dumpStore(store)).keys()].filter((key) => ids.has(key.slice(2)))
}

describe('a branch that can no longer be reached', () => {
  it('is dropped with all its blocks at once, and none of them comes back without new work', async () => {
    const { test, store } = await node()
    const five = theirs.slice(0, 5)
    expect(await importAll(test, five.slice(0, 4), PROVEN_WORK)).toBe('side')
    await test.mineTo(FORK + UNDO_BLOCKS)
    expect(test.chain.database.side.size).toBe(4)
    await test.mineTo(2_500)
    expect(test.chain.database.side.size).toBe(0)
    expect(await tracesOf(store, five)).toEqual([])
    const [first, second, , , last] = five as [Block, Block, Block, Block, Block]
    const parent = (block: Block) => ({ code: 'chain/unknown-parent', detail: { parent: block.header.parent } })
    expect(await outcomeOf(test, last)).toEqual(parent(last))
    expect(await outcomeOf(test, second)).toEqual(parent(second))
    const deep = { code: 'chain/fork-too-deep', detail: { depth: 2_500 - FORK, depthMax: UNDO_BLOCKS } }
    expect(await outcomeOf(test, first)).toEqual(deep)
    expect(await tracesOf(store, five)).toEqual([])
  })

  it('is taken in while it forks where everything can be unwound, and not one block further down', async () => {
    const { test } = await node()
    await test.mineTo(FORK + UNDO_BLOCKS)
    const [first, second] = theirs as [Block, Block]
    expect(await outcomeOf(test, first, PROVEN_WORK)).toBe('side')
    await test.mine()
    const deep = { code: 'chain/fork-too-deep', detail: { depth: UNDO_BLOCKS + 1, depthMax: UNDO_BLOCKS } }
    expect(await outcomeOf(test, second)).toEqual(deep)
  })

  it('does not keep a node from starting, however heavy it is', async () => {
    const { test, store } = await node()
    const depthMax = 1_200
    const outcome = await importAll(test, theirs, PROVEN_WORK)
    const depth = HEARD_AT - FORK
    expect(outcome).toEqual({ code: 'chain/reorganisation-too-deep', detail: { depth, depthMax } })
    await test.mineTo(2_500)
    expect(test.chain.database.side.size).toBe(0)
    const again = await TestChain.open(undefined, store)
    expect(await again.chain.resume()).toEqual({ ok: true, value: 'side' })
    expect(again.chain.head.id).toBe(test.chain.head.id)
    again.nowMs = test.nowMs
    expect(await outcomeOf(again, await again.build())).toBe('connected')
  })
})

describe('a branch that can be reached', () => {
  it('of the very depth is taken by a node whose operator allows it', async () => {
    const own = await copyStore(here)
    const test = await TestChain.open(undefined, own, { reorganisationDepthMax: UNDO_BLOCKS })
    await importAll(test, theirs.slice(0, 1), PROVEN_WORK)
    await test.mineTo(FORK + UNDO_BLOCKS)
    expect(await importAll(test, theirs.slice(1), PROVEN_WORK)).toBe('connected')
    expect(test.chain.head.id).toBe(theirs.at(-1)?.id)
  })

  it('stays when others are dropped beside it', async () => {
    const { test } = await node()
    await importAll(test, theirs.slice(0, 3), PROVEN_WORK)
    const near = await TestChain.open(undefined, await copyStore(atFork))
    await importAll(near, blocksFrom(test, FORK + 1).slice(0, 10))
    const kept = await mineBranch(near, 3, 8)
    await importAll(test, kept, PROVEN_WORK)
    await test.mineTo(2_500)
    expect([...test.chain.database.side.ids()].toSorted()).toEqual(kept.map(({ id }) => id).toSorted())
    const [more] = await mineBranch(near, 1, 8)
    expect(await outcomeOf(test, more as Block, PROVEN_WORK)).toBe('side')
    const again = await fork(near)
    expect(again.chain.head.id).toBe(more?.id)
  })
})
