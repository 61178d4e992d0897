import { beforeAll, describe, expect, it } from 'vitest'
import { executedFrom } from '../../../../consensus/chain/adoption.ts'
import { ChainDatabase } from '../../../../consensus/chain/database.ts'
import { changeHeld } from '../../../../consensus/chain/held-bodies.ts'
import { type KeyValueStore, MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { type BlockEntry, KEYS } from '../../../../consensus/chain/layout.ts'
import type { RuleBook } from '../../../../consensus/chain/rule-book.ts'
import { blockWrites } from '../../../../consensus/chain/writes.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import { OUTCOMES } from '../../../../marketplace/ledger/outcomes.ts'
import { auditState } from '../../../../src/cli/commands/audit.ts'
import { rebuildIndexes } from '../../../../src/storage/reindex.ts'
import { type LateRebuild, rebuildLate } from '../../../../src/storage/reindex-late.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom, importAll } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { connect, joiningNode, servingNode, takeSnapshot } from '../../../support/snapshot-nodes.ts'
import { copyStore, DyingStore, dumpStore } from '../../../support/stores.ts'

const RULES = restlessRuleBook()
const BASE = 12
const AFTER = 8
const TOP = BASE + AFTER
/** Rules of a later release, in which one unique and one folded index have another format. */
const LATER: RuleBook = {
  ...RULES,
  indexes: RULES.indexes.map((index) =>
    index.name === 'closures' || index.name === 'tally' ? { ...index, name: `${index.name}-2` } : index,
  ),
}
const STATE_INDEXES = RULES.indexes.filter((index) => 'changesOf' in index).map(({ name }) => name)
const STALE = { code: 'storage/stale-indexes', detail: { folder: '/data', flags: '' } }

const open = (store: KeyValueStore, ruleBook: RuleBook, staleIndexes = false) =>
  ChainDatabase.open(store, ruleBook, ruleBook.genesis, '/data', { staleIndexes })

async function rebuild(store: KeyValueStore, ruleBook: RuleBook): Promise<LateRebuild> {
  const database = await open(store, ruleBook, true)
  if ('code' in database) throw new Error(database.code)
  return rebuildLate({ database, ruleBook })
}

/** The entries of some indexes in hex. */
async function entriesOf({ chain }: TestChain, prefixes: readonly number[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const prefix of prefixes) {
    for await (const [key, value] of chain.database.store.entries(KEYS.index(prefix, new Uint8Array(0))))
      found.set(toHex(key), toHex(value))
  }
  return found
}

describe('indexes of a store that lacks blocks', () => {
  let random: RandomChain
  /** A node that began from a snapshot and followed the chain, and one that pruned its first blocks. */
  let young: KeyValueStore
  let pruned: KeyValueStore
  beforeAll(async () => {
    const whole = new MemoryKeyValueStore()
    const test = await TestChain.open(RULES, whole)
    random = new RandomChain(test, seeded(31))
    const server = servingNode('server', test, whole, { every: BASE })
    await random.grow(BASE)
    young = new MemoryKeyValueStore()
    const node = await joiningNode(RULES, young)
    await connect(node, server)
    await takeSnapshot(node, test, server.snapshots.refs()[0] as never)
    const next = await random.grow(AFTER)
    node.test.nowMs = test.nowMs
    await importAll(node.test, next)
    pruned = await copyStore(whole)
    const database = (await open(pruned, RULES)) as ChainDatabase
    const writes = [1, 2, 3].flatMap((height) =>
      [KEYS.bodies, KEYS.witnesses, KEYS.receipts].map((keyOf) => ({ key: keyOf(database.idAt(height) as BlockId) })),
    )
    await changeHeld(database, () => ({ held: { bodiesFrom: 4, witnessesFrom: 4 }, writes }))
  })

  it('stay as they were for the same release, whatever was wrong in those over the state', async () => {
    for (const original of [young, pruned]) {
      const store = await copyStore(original)
      const { store: shown } = (await open(store, RULES)) as ChainDatabase
      const before = await dumpStore(store)
      const junk = KEYS.index(0x02, new Uint8Array(80))
      const lost = []
      for await (const [key] of shown.range({ gte: KEYS.index(0x02, new Uint8Array(0)), limit: 5 })) lost.push({ key })
      await shown.batch([...lost, { key: junk, value: junk }], () => {})
      const report = await rebuild(store, RULES)
      expect([report.derived, report.begun]).toEqual([STATE_INDEXES, []])
      expect(await dumpStore(store)).toEqual(before)
    }
  })

  it('of which a release has changed some begin anew and say so; the node goes on, and unwinds what it has', async () => {
    for (const original of [young, pruned]) {
      const store = await copyStore(original)
      expect(await open(store, LATER)).toEqual(STALE)
      const report = await rebuild(store, LATER)
      expect(report).toMatchObject({ derived: STATE_INDEXES, begun: ['closures-2', 'tally-2'], indexedFrom: TOP + 1 })
      expect(report.kept).toContain(OUTCOMES.name)
      const node = await TestChain.open(LATER, store)
      expect(node.chain.database.indexedFrom).toBe(TOP + 1)
      expect(executedFrom(node.chain.database)).toBe(original === young ? BASE + 1 : 0)
      expect((await auditState(node.chain)).sound).toBe(true)
      const branch = await random.branch(TOP - 4)
      const blocks = await branch.grow(7)
      node.nowMs = branch.test.nowMs
      await importAll(node, blocks)
      expect(node.chain.head.id).toBe(branch.test.chain.head.id)
      expect((await auditState(node.chain)).sound).toBe(true)
      // The kept index equals that of a node that never rebuilt anything.
      const other = await TestChain.open(RULES, await copyStore(original))
      other.nowMs = branch.test.nowMs
      await importAll(other, blocks)
      expect(await entriesOf(node, [0x07])).toEqual(await entriesOf(other, [0x07]))
      expect((await entriesOf(node, [0x07])).size).toBeGreaterThan(0)
    }
  })

  it('are refused until a rebuild that died is finished by the next', async () => {
    const finished = await copyStore(young)
    await rebuild(finished, LATER)
    let batches = 0
    for (; ; batches++) {
      const store = await copyStore(young)
      const [outcome] = await Promise.allSettled([rebuild(new DyingStore(store, batches), LATER)])
      if (outcome.status === 'fulfilled') break
      expect(await open(store, LATER)).toEqual(STALE)
      if (batches > 0) expect(await open(store, RULES)).toEqual(STALE)
      await rebuild(store, LATER)
      expect(await dumpStore(store), `after ${batches} batches`).toEqual(await dumpStore(finished))
    }
    expect(batches).toBeGreaterThan(4)
  })

  it('are made whole again where all blocks are held in the end', async () => {
    const store = await copyStore(young)
    await rebuild(store, LATER)
    const database = (await open(store, LATER)) as ChainDatabase
    const fill = blocksFrom(random.test, 1).slice(0, BASE)
    await changeHeld(database, () => ({
      held: { bodiesFrom: 0, witnessesFrom: 0 },
      writes: fill.flatMap((block) => blockWrites(block, database.entry(block.id) as BlockEntry)),
    }))
    await rebuildIndexes({ store: database.store, database, ruleBook: LATER })
    expect(database.indexedFrom).toBe(0)
    const node = await TestChain.open(LATER, store)
    const followed = await TestChain.open(LATER)
    followed.nowMs = random.test.nowMs
    await importAll(followed, blocksFrom(random.test, 1))
    const all = LATER.indexes.map(({ prefix }) => prefix)
    expect(await entriesOf(node, all)).toEqual(await entriesOf(followed, all))
  })
})
