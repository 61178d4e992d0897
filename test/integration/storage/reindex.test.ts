import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChainDatabase } from '../../../consensus/chain/database.ts'
import { LevelStore } from '../../../src/storage/level-store.ts'
import { rebuildIndexes } from '../../../src/storage/reindex.ts'
import { seeded } from '../../sim/miners.ts'
import { blocksFrom, importAll } from '../../support/branches.ts'
import { TestChain } from '../../support/chain.ts'
import { removeFolder, temporaryFolder, until } from '../../support/processes.ts'
import { indexSpace, RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import { runs } from '../../support/runs.ts'
import { runScript, sourceUrl } from '../../support/script.ts'
import { dumpStore } from '../../support/stores.ts'

const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }
const RULES = restlessRuleBook()

let folder: string
const stores: LevelStore[] = []

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  removeFolder(folder)
})

async function open(path: string, create = true): Promise<LevelStore> {
  const store = await LevelStore.open(join(folder, path), SIZES, create)
  stores.push(store)
  return store
}

async function close(store: LevelStore): Promise<void> {
  stores.splice(stores.indexOf(store), 1)
  await store.close()
}

/** Branches that overtake one another, as lists of blocks; the last one is the best chain. */
async function branches(seed: number, heights: readonly number[]) {
  const random = seeded(seed)
  let chain = new RandomChain(await TestChain.open(RULES), random)
  const grown = []
  for (const height of heights) {
    const forkAt = Math.max(0, chain.test.height - 1 - Math.floor(random() * 6))
    if (chain.test.height > 0) chain = await chain.branch(forkAt)
    await chain.grow(height - chain.test.height)
    grown.push(blocksFrom(chain.test, 1))
  }
  return grown
}

async function rebuild(store: LevelStore, batchWrites: number): Promise<void> {
  const database = await ChainDatabase.open(store, RULES, RULES.genesis, folder, { staleIndexes: true })
  if ('code' in database) throw new Error(database.code)
  await rebuildIndexes({ store, database, ruleBook: RULES, batchWrites })
}

describe('the indexes in a LevelDB', () => {
  it.each(Array.from({ length: runs(3) }, (_, i) => i + 1))(
    'are the same after reorganisations, in a node that had none, and after a rebuild of either (seed %i)',
    async (seed) => {
      const grown = await branches(seed, [9, 13, 18, 24])
      const [restless, calm] = [await open('restless'), await open('calm')]
      await importAll(await TestChain.open(RULES, restless), grown.flat())
      const node = await TestChain.open(RULES, calm)
      await importAll(node, grown.at(-1) ?? [])
      expect(node.height).toBe(24)
      const followed = await indexSpace(calm)
      expect(followed.size).toBeGreaterThan(100)
      expect(await indexSpace(restless)).toEqual(followed)
      for (const store of [restless, calm]) {
        await rebuild(store, 100)
        expect(await indexSpace(store)).toEqual(followed)
      }
    },
  )
})

/** A process that rebuilds the indexes of a store, one block per batch, and prints finished heights. */
function rebuilding(path: string) {
  const imports = [
    ['{ LevelStore }', 'src/storage/level-store.ts'],
    ['{ rebuildIndexes }', 'src/storage/reindex.ts'],
    ['{ ChainDatabase }', 'consensus/chain/database.ts'],
    ['{ restlessRuleBook }', 'test/support/random-chain.ts'],
  ].map(([names, file]) => `import ${names} from ${JSON.stringify(sourceUrl(file as string))}`)
  return runScript(
    [
      ...imports,
      `const store = await LevelStore.open(process.argv[1], ${JSON.stringify(SIZES)}, false)`,
      'const ruleBook = restlessRuleBook()',
      "const database = await ChainDatabase.open(store, ruleBook, ruleBook.genesis, '', { staleIndexes: true })",
      'const clock = new Int32Array(new SharedArrayBuffer(4))',
      // Slow enough that the kill comes before the end on any machine.
      'const onProgress = (height) => {',
      '  process.stdout.write(String(height).concat("\\n"))',
      '  Atomics.wait(clock, 0, 0, 5)',
      '}',
      'await rebuildIndexes({ store, database, ruleBook, batchWrites: 1, onProgress })',
      'await store.close()',
    ],
    [join(folder, path)],
  )
}

describe('a rebuild that is killed', () => {
  it('again and again goes on each time, and ends with the same store', async () => {
    const [blocks = []] = await branches(31, [60])
    let store = await open('chain')
    await importAll(await TestChain.open(RULES, store), blocks)
    const before = await dumpStore(store)
    await close(store)
    const reached: number[] = []
    for (const height of [0, 6, 12, 18, 24]) {
      const program = rebuilding('chain')
      const heights = () => program.stdout.trim().split('\n').map(Number)
      await until(`height ${height}`, () => program.stdout !== '' && (heights().at(-1) as number) >= height, {
        everyMs: 1,
      })
      await program.end('SIGKILL')
      reached.push(heights()[0] as number)
      store = await open('chain', false)
      expect(await dumpStore(store)).not.toEqual(before)
      const refused = await ChainDatabase.open(store, RULES, RULES.genesis, folder)
      expect(refused).toEqual({ code: 'storage/stale-indexes', detail: { folder, flags: '' } })
      await close(store)
    }
    // Each process continued where the previous one stopped.
    expect(reached).toEqual([...new Set(reached)].sort((a, b) => a - b))
    const last = await rebuilding('chain').finished()
    expect([last.code, last.stderr]).toEqual([0, ''])
    store = await open('chain', false)
    expect(await dumpStore(store)).toEqual(before)
  })
})
