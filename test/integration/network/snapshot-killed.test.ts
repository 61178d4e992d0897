import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeBlock } from '../../../consensus/block/block.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import { LevelStore } from '../../../src/storage/level-store.ts'
import { seeded } from '../../sim/miners.ts'
import { blocksFrom } from '../../support/branches.ts'
import { TestChain } from '../../support/chain.ts'
import { Program, removeFolder, temporaryFolder, until } from '../../support/processes.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'
import { ROOT } from '../../support/source-tree.ts'

const RULES = restlessRuleBook()
/** More blocks below the snapshot than one request of the backfill gets. */
const BASE = 70
const AFTER = 6
const STAGES = ['opening', 'taking', 'following', 'filling']
/**
 * For each run: the stage in which it is killed, after how many durable batches of that stage. If the stage ends
 * sooner, the kill comes later.
 */
const LIVES = [
  ...([1, 2, 5, 9, 17, 30] as const).map((batches) => ['taking', batches] as const),
  ...([1, 2] as const).map((batches) => ['following', batches] as const),
  ...(['filling', 'filling'] as const).map((stage) => [stage, 1] as const),
]

let folder: string

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(() => removeFolder(folder))

const lifeOf = (): Program =>
  new Program({
    entry: join(ROOT, 'test/support/snapshot-entry.ts'),
    args: [join(folder, 'blocks'), join(folder, 'chain'), String(BASE)],
  })

describe('a process that is killed while it takes a snapshot, follows the chain and fetches older blocks', () => {
  it('goes on each time, and ends with the state and blocks of the one that served it', {
    timeout: 240_000,
  }, async () => {
    const test = await TestChain.open(RULES)
    const random = new RandomChain(test, seeded(41))
    await random.grow(BASE + AFTER)
    mkdirSync(join(folder, 'chain'))
    const blocks = blocksFrom(test, 1)
    writeFileSync(join(folder, 'blocks'), blocks.map((block) => toHex(encodeBlock(block))).join('\n'))
    const killedAt = new Set<string>()
    for (const [stage, batches] of LIVES) {
      const program = lifeOf()
      const lines = (): readonly string[] => program.stdout.split('\n').slice(0, -1)
      const isDue = (): boolean =>
        lines().filter((line) => line === stage).length >= batches ||
        STAGES.indexOf(lines().at(-1) as string) > STAGES.indexOf(stage)
      const done = await until(`${batches} batches`, () => program.ended !== null || isDue(), {
        everyMs: 1,
        ms: 60_000,
      })
      expect([done, program.ended === null || program.stderr === '']).toEqual([true, true])
      if (program.ended === null) killedAt.add(lines().at(-1) as string)
      await program.end('SIGKILL')
    }
    expect([...killedAt]).toEqual(expect.arrayContaining(['taking', 'following', 'filling']))
    const last = await lifeOf().finished()
    expect([last.code, last.stderr]).toEqual([0, ''])

    const store = await LevelStore.open(
      join(folder, 'chain'),
      { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 },
      false,
    )
    const node = await TestChain.open(RULES, store)
    expect(node.chain.head.id).toBe(test.chain.head.id)
    expect(node.stateRoot).toBe(test.stateRoot)
    expect((await auditState(node.chain)).sound).toBe(true)
    const { database } = node.chain
    expect([database.base, database.held]).toEqual([BASE, { bodiesFrom: 0, witnessesFrom: 0 }])
    expect(blocksFrom(node, 1).map(encodeBlock)).toEqual(blocks.map(encodeBlock))
    expect(database.store.get(KEYS.meta('residue'))).toBeUndefined()
    await store.close()
  })
})
