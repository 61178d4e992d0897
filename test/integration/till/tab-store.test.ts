import { join } from 'node:path'
import { LevelTabStore } from '../../../src/storage/level-tabs.ts'
import { tabStoreSuite } from '../../contract/tab-store.suite.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'

tabStoreSuite('of one node in LevelDB', () => {
  const folder = temporaryFolder()
  return {
    open: () => LevelTabStore.open(join(folder, 'tabs')),
    remove: async () => removeFolder(folder),
  }
})
