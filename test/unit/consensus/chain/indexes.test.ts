import { describe, expect, it } from 'vitest'
import { UNDO_BLOCKS } from '../../../../consensus/chain/database.ts'
import { HOLDERS, holderCount, topHolders } from '../../../../consensus/chain/holders.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { runNow } from '../../../../consensus/primitives/steps.ts'
import { NATIVE_ASSET, type StateKey } from '../../../../consensus/state/table.ts'
import { updateTree } from '../../../../consensus/state/tree.ts'
import { rebuildIndexes } from '../../../../src/storage/reindex.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom, importAll } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'
import { indexSpace, RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { runs } from '../../../support/runs.ts'

const RULES = restlessRuleBook()

/** A node that followed a random chain and then a heavier branch, and one that saw only the best chain. */
async function reorganised(seed: number) {
  const random = seeded(seed)
  const first = new RandomChain(await TestChain.open(RULES), random)
  await first.grow(12)
  const second = await first.branch(Math.floor(random() * 12))
  await second.grow(14 - second.test.height)
  const store = new MemoryKeyValueStore()
  const node = await TestChain.open(RULES, store)
  await importAll(node, [...blocksFrom(first.test, 1), ...blocksFrom(second.test, 1)])
  const plain = new MemoryKeyValueStore()
  const twin = await TestChain.open(RULES, plain)
  await importAll(twin, blocksFrom(second.test, 1))
  expect(node.chain.head.id).toBe(second.test.chain.head.id)
  return { node, store, twin, plain }
}

describe('indexes of a chain that was reorganised', () => {
  it.each(Array.from({ length: runs(12) }, (_, i) => i + 1))(
    'are those of a node that only saw the best chain (seed %i)',
    async (seed) => {
      const { store, plain } = await reorganised(seed)
      const found = await indexSpace(store)
      expect(found).toEqual(await indexSpace(plain))
      // Every kind of index has written something.
      for (const prefix of ['0d02', '0d03', '0df0', '0e'])
        expect([...found.keys()].some((key) => key.startsWith(prefix))).toBe(true)
    },
  )

  it('come back when the node goes back to where it was', async () => {
    for (let seed = 100; seed < 100 + runs(6); seed++) {
      const chain = new RandomChain(await TestChain.open(RULES), seeded(seed))
      await chain.grow(10)
      const store = new MemoryKeyValueStore()
      const node = await TestChain.open(RULES, store)
      await importAll(node, blocksFrom(chain.test, 1))
      const { database } = node.chain
      for (const { header } of blocksFrom(node, 1).toReversed()) {
        const changes = database.undoOf(database.head)!
        const tree = runNow(updateTree(database, changes, true))
        await database.disconnect(changes, tree)
        const short = new MemoryKeyValueStore()
        await importAll(await TestChain.open(RULES, short), blocksFrom(chain.test, 1).slice(0, header.height - 1))
        expect(await indexSpace(store)).toEqual(await indexSpace(short))
      }
    }
  })

  it('hold the accounts with money in the order of their balances', async () => {
    const { node } = await reorganised(77)
    const { database } = node.chain
    const rich: { address: string; amount: bigint }[] = []
    for await (const { key, value } of database.stateRange(ACCOUNTS, '', 10_000))
      if (value.balance > 0n) rich.push({ address: key.slice(2), amount: value.balance })
    const byAddress = rich.toSorted((a, b) => (a.address < b.address ? -1 : 1))
    const expected = byAddress.toSorted((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
    expect(await topHolders(database, NATIVE_ASSET, 1_000)).toEqual(expected)
    expect(holderCount(database, NATIVE_ASSET)).toBe(expected.length)
  })
})

describe('undo records of folded indexes', () => {
  it('are kept for as long as those of the state, by a rebuild as well', async () => {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(RULES, store)
    await test.mineTo(UNDO_BLOCKS + 3)
    const followed = await indexSpace(store)
    const undone = (height: number) => followed.has(`0e${test.chain.database.idAt(height)}`)
    expect([1, 3, 4, UNDO_BLOCKS + 3].map(undone)).toEqual([false, false, true, true])
    await rebuildIndexes({ store, database: test.chain.database, ruleBook: RULES, batchWrites: 5_000 })
    expect(await indexSpace(store)).toEqual(followed)
  })
})

describe('listings of a database', () => {
  /** A node on a random chain, all accounts by key, and all entries of the holders' index. */
  async function listed() {
    const chain = new RandomChain(await TestChain.open(RULES), seeded(9))
    await chain.grow(10)
    const { database } = chain.test.chain
    const accounts = await Array.fromAsync(database.stateRange(ACCOUNTS, '', 1_000), ({ key }) => key)
    const holders = await Array.fromAsync(database.indexRange(HOLDERS, ALL), ({ key }) => toHex(key))
    return { chain, database, accounts, holders }
  }
  const ALL = { prefix: new Uint8Array(0), limit: 1_000 }

  it('have the records of a table, or those whose ids begin alike, in pages', async () => {
    const { database, accounts } = await listed()
    expect(accounts.length).toBeGreaterThan(10)
    expect(accounts).toEqual(accounts.toSorted())
    const page = async (idPrefix: string, limit: number, after?: StateKey) =>
      Array.fromAsync(database.stateRange(ACCOUNTS, idPrefix, limit, after), ({ key }) => key)
    expect(await page('', 4, accounts[2])).toEqual(accounts.slice(3, 7))
    for (const key of accounts) {
      const alike = accounts.filter((other) => other.startsWith(key.slice(0, 4)))
      expect(await page(key.slice(2, 4), 1_000)).toEqual(alike)
      expect(await page(key.slice(2), 1_000)).toEqual([key])
      expect(await page(key.slice(2, 4), 1_000, key)).toEqual(alike.filter((other) => other > key))
    }
  })

  it('have the entries of one index between two keys, in either direction', async () => {
    const { database, holders } = await listed()
    expect(holders.length).toBeGreaterThan(10)
    const page = async (range: object) =>
      Array.fromAsync(database.indexRange(HOLDERS, { ...ALL, ...range }), ({ key }) => toHex(key))
    const [from, to] = [fromHex(holders[2] as string), fromHex(holders[6] as string)]
    expect(await page({ from, to })).toEqual(holders.slice(2, 6))
    expect(await page({ from, to, reverse: true, limit: 3 })).toEqual(holders.slice(3, 6).toReversed())
    expect(await page({ to })).toEqual(holders.slice(0, 6))
    expect(await page({ prefix: fromHex(NATIVE_ASSET), reverse: true, limit: 1 })).toEqual([
      holders.findLast((key) => key.startsWith(NATIVE_ASSET)),
    ])
  })

  it('show the head of the moment of their call', async () => {
    const { chain, database, accounts, holders } = await listed()
    const head = database.head.id
    const listings = [database.stateRange(ACCOUNTS, '', 1_000), database.indexRange(HOLDERS, ALL)] as const
    const page = database.indexPage(HOLDERS, ALL, ({ key }) => toHex(key))
    await chain.grow(5)
    expect(database.head.id).not.toBe(head)
    expect(await Array.fromAsync(listings[0], ({ key }) => key)).toEqual(accounts)
    expect(await Array.fromAsync(listings[1], ({ key }) => toHex(key))).toEqual(holders)
    expect(await page).toEqual(holders)
    expect(await Array.fromAsync(database.indexRange(HOLDERS, ALL), ({ key }) => toHex(key))).not.toEqual(holders)
  })
})
