import { describe, expect, it } from 'vitest'
import { ChainDatabase } from '../../../../consensus/chain/database.ts'
import { type KeyValueStore, MemoryKeyValueStore, prefixRange } from '../../../../consensus/chain/key-value.ts'
import type { RuleBook } from '../../../../consensus/chain/rule-book.ts'
import { rebuildIndexes } from '../../../../src/storage/reindex.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom, importAll } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'
import { indexSpace, RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { runs } from '../../../support/runs.ts'
import { copyStore, DyingStore, dumpStore } from '../../../support/stores.ts'

const RULES = restlessRuleBook()
/** So few that a rebuild needs many batches. */
const BATCH_WRITES = 15

/** The store of a node on a random chain, after a reorganisation. */
async function followed(seed: number): Promise<MemoryKeyValueStore> {
  const chain = new RandomChain(await TestChain.open(RULES), seeded(seed))
  await chain.grow(12)
  const other = await chain.branch(7)
  await other.grow(7)
  const store = new MemoryKeyValueStore()
  const node = await TestChain.open(RULES, store)
  await importAll(node, [...blocksFrom(chain.test, 1), ...blocksFrom(other.test, 1)])
  expect(node.height).toBe(14)
  return store
}

async function rebuild(store: KeyValueStore, ruleBook: RuleBook = RULES, batchWrites = BATCH_WRITES): Promise<void> {
  const database = await ChainDatabase.open(store, ruleBook, ruleBook.genesis, '/data', { staleIndexes: true })
  if ('code' in database) throw new Error(database.code)
  await rebuildIndexes({ store, database, ruleBook, batchWrites })
}

const opened = (store: KeyValueStore, ruleBook = RULES) =>
  ChainDatabase.open(store, ruleBook, ruleBook.genesis, '/data')

describe('a rebuild of the indexes', () => {
  it.each(Array.from({ length: runs(8) }, (_, i) => i + 1))(
    'ends with the store of a node that followed the chain, to the byte (seed %i)',
    async (seed) => {
      const store = await followed(seed)
      const before = await dumpStore(store)
      await rebuild(store)
      expect(await dumpStore(store)).toEqual(before)
    },
  )

  it('makes what was lost and drops what should not be there', async () => {
    const store = await followed(21)
    const before = await dumpStore(store)
    const junk = [
      Uint8Array.of(0x0d, 0x02, 1),
      Uint8Array.of(0x0d, 0xff),
      Uint8Array.of(0x0e, 7),
      Uint8Array.of(0x0f, 1),
    ]
    const lost = [...store.range({ ...prefixRange(Uint8Array.of(0x0d)), limit: 30 })].map(([key]) => ({ key }))
    await store.batch([...lost, ...junk.map((key) => ({ key, value: key }))], () => {})
    await rebuild(store)
    expect(await dumpStore(store)).toEqual(before)
  })

  it('that dies after any batch is continued by the next one, and by nothing else', async () => {
    const original = await followed(22)
    const before = await dumpStore(original)
    let batches = 0
    for (; ; batches++) {
      const store = await copyStore(original)
      const [outcome] = await Promise.allSettled([rebuild(new DyingStore(store, batches))])
      if (outcome.status === 'fulfilled') break
      const refused = { code: 'storage/stale-indexes', detail: { folder: '/data', flags: '' } }
      if (batches > 0) expect(await opened(store)).toEqual(refused)
      await rebuild(store)
      expect(await dumpStore(store), `after ${batches} batches`).toEqual(before)
      expect(await opened(store)).toBeInstanceOf(ChainDatabase)
    }
    expect(batches).toBeGreaterThan(10)
  })

  it('goes on where the one before was broken off, and does not begin again', async () => {
    const store = await copyStore(await followed(23))
    await Promise.allSettled([rebuild(new DyingStore(store, 8))])
    const database = await ChainDatabase.open(store, RULES, RULES.genesis, '/data', { staleIndexes: true })
    if ('code' in database) throw new Error(database.code)
    const heights: number[] = []
    const onProgress = (height: number) => heights.push(height)
    await rebuildIndexes({ store, database, ruleBook: RULES, batchWrites: 1, onProgress })
    expect(heights[0]).toBeGreaterThan(0)
    expect(heights).toEqual(heights.map((_, i) => (heights[0] as number) + i))
    expect(heights.at(-1)).toBe(14)
  })

  it('for other indexes than the one before begins again', async () => {
    const original = await followed(24)
    const store = await copyStore(original)
    const fewer = { ...RULES, indexes: RULES.indexes.slice(1) }
    await Promise.allSettled([rebuild(new DyingStore(store, 8), fewer)])
    await rebuild(store)
    expect(await dumpStore(store)).toEqual(await dumpStore(original))
  })
})

describe('a store with the indexes of another release', () => {
  it('is refused until they are rebuilt', async () => {
    const store = await followed(25)
    const fewer = { ...RULES, indexes: RULES.indexes.slice(1) }
    const refused = { code: 'storage/stale-indexes', detail: { folder: '/data', flags: '' } }
    expect(await opened(store, fewer)).toEqual(refused)
    await rebuild(store, fewer)
    expect(await opened(store, fewer)).toBeInstanceOf(ChainDatabase)
    expect(await opened(store)).toEqual(refused)
    expect([...(await indexSpace(store)).keys()].filter((key) => key.startsWith('0d01'))).toEqual([])
  })
})
