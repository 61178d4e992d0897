import { join } from 'node:path'
import { Level } from 'level'
import { expect, it } from 'vitest'
import { LevelTabStore } from '../../../src/storage/level-tabs.ts'
import { tabStoreSuite } from '../../contract/tab-store.suite.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'
import { failing, reserved, sealed, tabIdOf, upTo } from '../../support/tab-calls.ts'

tabStoreSuite('of one node in LevelDB', () => {
  const folder = temporaryFolder()
  return {
    open: () => LevelTabStore.open(join(folder, 'tabs')),
    remove: async () => removeFolder(folder),
  }
})

it('reads the tabs of a release that did not count free calls as tabs without any', async () => {
  const path = join(temporaryFolder(), 'tabs')
  const written = await LevelTabStore.open(path)
  await written.reserve(reserved(1), upTo(1_000))
  await written.commit([failing(reserved(1))], sealed)
  expect(await written.tab(tabIdOf(1))).toMatchObject({ receipts: 1, uncharged: 1 })
  await written.close()
  const raw: Level<string, string> = new Level(path)
  const key = `tab/${tabIdOf(1)}`
  const { uncharged: _, ...older } = JSON.parse((await raw.get(key)) as string)
  await raw.put(key, JSON.stringify(older))
  await raw.close()
  const read = await LevelTabStore.open(path)
  expect(await read.tab(tabIdOf(1))).toMatchObject({ receipts: 1, uncharged: 0 })
  await read.close()
  removeFolder(path)
})
