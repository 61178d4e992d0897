import { describe, expect, it } from 'vitest'
import type { Block } from '../../../../consensus/block/block.ts'
import { type KeyValueStore, MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { blocksFrom, deviantRuleBook, fork, importAll, mineBranch } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { naiveRoot } from '../../../support/state.ts'
import { copyStore, DyingStore, dumpStore } from '../../../support/stores.ts'
import { SAMPLE, units } from '../../../support/unsigned.ts'

const PAY = SAMPLE.transfer({ to: wallet(2).address, amount: units(5_000) })

/**
 * The store of a node on the branch `mine` of three blocks with transactions, and the branch `theirs` of four. The store lacks the last
 * block of `theirs`, which makes that branch the heavier one.
 */
interface Scene {
  readonly store: MemoryKeyValueStore
  readonly mine: readonly Block[]
  readonly theirs: readonly Block[]
}

async function makeScene(deviant: boolean): Promise<Scene> {
  const common = await TestChain.open()
  await common.mine([await common.tx(wallet(1), 'transfer', PAY)])
  const test = await fork(common)
  for (let i = 0; i < 3; i++) await test.mine([await test.tx(wallet(1), 'transfer', PAY)], { miner: wallet(5).address })
  const other = await fork(common, deviant ? { ruleBook: deviantRuleBook(4) } : {})
  for (let i = 0; i < 4; i++) await other.mine([await other.tx(wallet(3), 'transfer', PAY)])
  const [mine, theirs] = [blocksFrom(test, 2), blocksFrom(other, 2)]
  const store = await copyStore(await storeOf(common))
  const node = await TestChain.open(undefined, store)
  await importAll(node, [...mine, ...theirs.slice(0, 3)])
  return { store, mine, theirs }
}

const SCENES = { plain: makeScene(false), deviant: makeScene(true) }

/** The scene with a copy of its store. */
async function scene(which: keyof typeof SCENES = 'plain'): Promise<Scene> {
  const made = await SCENES[which]
  return { ...made, store: await copyStore(made.store) }
}

/** The best chain of a node in a store of its own. */
async function storeOf(test: TestChain): Promise<KeyValueStore> {
  const store = new MemoryKeyValueStore()
  await fork(test, { store })
  return store
}

/** Imports the last block on a store that dies after `batches` batches. Returns false if it did not die. */
async function dies(store: KeyValueStore, last: Block, batches: number): Promise<boolean> {
  const test = await TestChain.open(undefined, new DyingStore(store, batches))
  test.nowMs = last.header.timeMs
  const [outcome] = await Promise.allSettled([test.chain.import(last)])
  return outcome?.status === 'rejected'
}

/** Expects that everything in the store belongs to its head. */
async function expectConsistent(test: TestChain, store: KeyValueStore): Promise<void> {
  const { database, head } = test.chain
  const records: (readonly [never, Uint8Array])[] = []
  for await (const { key, value } of database.stateRecords()) {
    if (!key.startsWith('e0')) records.push([key as never, value])
  }
  expect(naiveRoot(records)).toBe(head.header.stateRoot)
  for (let at = head; at.header.height > 0; ) {
    expect(database.idAt(at.header.height)).toBe(at.id)
    expect(database.undoOf(at)).toBeDefined()
    at = database.entry(at.header.parent)!
  }
  const keys = [...(await dumpStore(store)).keys()]
  expect(keys.filter((key) => key.startsWith('02')).length).toBe(head.header.height + 1)
  const onChain = new Set(Array.from({ length: head.header.height + 1 }, (_, height) => database.idAt(height)))
  for (const id of database.side.ids()) expect(onChain.has(id)).toBe(false)
}

/** Batches of the import: a side block stored, three blocks unwound, four connected. */
const BATCHES = 1 + 3 + 4

describe('a process that dies in a reorganisation', () => {
  it.each(Array.from({ length: BATCHES }, (_, i) => i))('after %i batches finds a consistent head', async (batches) => {
    const { store, mine, theirs } = await scene()
    expect(await dies(store, theirs[3]!, batches)).toBe(true)
    const again = await TestChain.open(undefined, store)
    const height = batches < 2 ? 4 : batches < 4 ? 4 - (batches - 1) : 1 + (batches - 4)
    expect(again.height).toBe(height)
    const passing = [...mine, ...theirs].map(({ id }) => id)
    if (height > 1) expect(passing).toContain(again.chain.head.id)
    await expectConsistent(again, store)
  })

  it.each(Array.from({ length: BATCHES }, (_, i) => i))(
    'after %i batches goes on to the heavier branch',
    async (batches) => {
      const { store, mine, theirs } = await scene()
      await dies(store, theirs[3]!, batches)
      const again = await TestChain.open(undefined, store)
      const outcome = await again.chain.resume()
      if (batches === 0) {
        // The block never arrived, so the old branch is still the best.
        expect([outcome, again.chain.head.id]).toEqual([{ ok: true, value: 'side' }, mine[2]!.id])
        again.nowMs = theirs[3]!.header.timeMs
        await again.import(theirs[3]!)
      } else expect(outcome).toEqual({ ok: true, value: 'connected' })
      expect(again.chain.head.id).toBe(theirs[3]!.id)
      await expectConsistent(again, store)
    },
  )

  it('ends with the very store that one that lived ends with', async () => {
    const lived = await scene()
    expect(await dies(lived.store, lived.theirs[3]!, BATCHES)).toBe(false)
    for (const batches of [1, 3, 5, 7]) {
      const { store, theirs } = await scene()
      await dies(store, theirs[3]!, batches)
      await (await TestChain.open(undefined, store)).chain.resume()
      const state = async (of: KeyValueStore) =>
        [...(await dumpStore(of))].filter(([key]) => /^(0a|0b)/.test(key)).sort()
      expect(await state(store)).toEqual(await state(lived.store))
    }
  })

  it('may die again and again on the way', async () => {
    const { store, theirs } = await scene()
    await dies(store, theirs[3]!, 2)
    for (const batches of [1, 1, 2]) {
      const test = await TestChain.open(undefined, new DyingStore(store, batches))
      await expect(test.chain.resume()).rejects.toThrow('the process died')
      await expectConsistent(await TestChain.open(undefined, store), store)
    }
    const last = await TestChain.open(undefined, store)
    await last.chain.resume()
    expect(last.chain.head.id).toBe(theirs[3]!.id)
  })
})

describe('a process that dies while it goes back from an invalid branch', () => {
  // A side block stored; three unwound; two connected; the third marked invalid; two unwound; three connected again.
  it.each(Array.from({ length: 1 + 3 + 2 + 1 + 2 + 3 }, (_, i) => i))(
    'after %i batches returns to its own',
    async (batches) => {
      const { store, mine, theirs } = await scene('deviant')
      expect(await dies(store, theirs[3]!, batches)).toBe(true)
      const again = await TestChain.open(undefined, store)
      await expectConsistent(again, store)
      await again.chain.resume()
      expect(again.chain.head.id).toBe(mine[2]!.id)
      await expectConsistent(again, store)
      expect(again.chain.database.entry(theirs[2]!.id)?.invalid ?? false).toBe(batches > 0)
    },
  )
})

describe('a process that dies while it extends its chain', () => {
  it('has the block or has it not', async () => {
    const common = await TestChain.open()
    const [block] = await mineBranch(await fork(common), 1, 1)
    for (const batches of [0, 1]) {
      const store = await copyStore(await storeOf(common))
      expect(await dies(store, block!, batches)).toBe(batches === 0)
      const again = await TestChain.open(undefined, store)
      expect(again.height).toBe(batches)
      await expectConsistent(again, store)
    }
  })
})
