import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Write } from '../../consensus/chain/key-value.ts'
import type { AuditReport } from '../../src/cli/commands/audit.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { LevelStore } from '../../src/storage/level-store.ts'
import { ask } from '../support/api.ts'
import { WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { until } from '../support/processes.ts'
import { dumpStore } from '../support/stores.ts'

const workshop = new Workshop()
const env = { TEST_FAST_BLOCKS: '1' }
const folder = workshop.folder()
const SIZES = { cacheBytes: 1 << 20, writeBufferBytes: 1 << 20 }

const run = (command: string) => workshop.run([command, '--data-dir', folder], { entry: WITH_TEST_SERVICES, env })

/** Reads the stopped node's store. */
async function inside<T>(look: (store: LevelStore) => Promise<T>): Promise<T> {
  const store = await LevelStore.open(join(folder, 'chain'), SIZES, false)
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

const write = (...writes: readonly Write[]) => inside((store) => store.batch(writes, () => {}))
const INDEXES_MARK = Uint8Array.of(0, ...new TextEncoder().encode('indexes'))

/** The indexes with wrong entries in an audit's report, each with the number of these entries. */
function wrongIn(report: string): readonly (readonly [string, number])[] {
  const { indexes } = JSON.parse(report) as AuditReport
  expect(indexes.find(({ name }) => name === 'holders')?.entries).toBeGreaterThan(5)
  return indexes.filter(({ wrong }) => wrong > 0).map(({ name, wrong }) => [name, wrong])
}

describe('farthing reindex', () => {
  it('makes the indexes of a node that ran', { timeout: 120_000 }, async () => {
    const daemon = await workshop.start(folder, { env })
    await until(
      'some blocks',
      async () => (await ask<{ height: number }>(daemon.url, '/api/v1/status')).body.height > 3,
    )
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
    const before = await inside(dumpStore)
    expect([...before.keys()].filter((key) => key.startsWith('0d02')).length).toBeGreaterThan(5)
    const { code, stdout, stderr } = await run('reindex')
    expect([code, stderr]).toEqual([0, ''])
    const names = PROTOCOL.indexes.map(({ name }) => name).join(', ')
    expect(stdout).toMatch(new RegExp(`^indexes rebuilt up to height \\d+: ${names}\n$`))
    expect(await inside(dumpStore)).toEqual(before)
  })

  it('is what an audit asks for by its verdict when an entry is wrong', async () => {
    const key = Uint8Array.of(0x0d, 0x02, ...new Uint8Array(80))
    await write({ key, value: new Uint8Array(0) })
    const damaged = await run('audit')
    expect(JSON.parse(damaged.stdout)).toMatchObject({ sound: false, brokenAssets: [] })
    expect([damaged.code, wrongIn(damaged.stdout)]).toEqual([70, [['holders', 1]]])
    expect((await run('reindex')).code).toBe(0)
    const mended = await run('audit')
    expect(JSON.parse(mended.stdout)).toMatchObject({ sound: true })
    expect([mended.code, wrongIn(mended.stdout)]).toEqual([0, []])
  })

  it('is what a node says that finds a rebuild unfinished, and after it the node starts', {
    timeout: 120_000,
  }, async () => {
    await write({ key: INDEXES_MARK })
    for (const program of [workshop.begin(folder, { env }).finished(), run('audit')]) {
      const { code, stderr } = await program
      expect(code).toBe(1)
      expect(stderr).toContain(`rebuild them with: npx --no farthing reindex --data-dir ${folder}`)
    }
    expect((await run('reindex')).code).toBe(0)
    const daemon = await workshop.start(folder, { env })
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  })

  it('needs the node to be stopped', { timeout: 120_000 }, async () => {
    const daemon = await workshop.start(folder, { env })
    const { code, stderr } = await run('reindex')
    expect([code, stderr]).toEqual([1, expect.stringContaining('in use by another process')])
    expect(await daemon.stop()).toEqual({ code: 0, signal: null })
  })
})
