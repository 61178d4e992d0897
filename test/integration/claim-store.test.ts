import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NATIVE_CLAIMS } from '../../marketplace/checkout/claim.ts'
import { storageFault } from '../../src/storage/folder.ts'
import { LevelClaimStore } from '../../src/storage/level-claims.ts'
import { claimStoreSuite } from '../contract/claim-store.suite.ts'
import { removeFolder, temporaryFolder } from '../support/processes.ts'

claimStoreSuite('of one node in LevelDB', () => {
  const folder = temporaryFolder()
  return {
    open: (kind) => LevelClaimStore.open(join(folder, kind.name), kind),
    remove: async () => removeFolder(folder),
  }
})

describe('the claim store of one node', () => {
  it('is open in one place at a time, and the second opening says so', async () => {
    const folder = temporaryFolder()
    const store = await LevelClaimStore.open(join(folder, 'market'), NATIVE_CLAIMS)
    const second = await LevelClaimStore.open(join(folder, 'market'), NATIVE_CLAIMS).then(
      () => null,
      (error: unknown) => storageFault(folder, error),
    )
    expect(second?.code).toBe('storage/locked')
    await store.close()
    removeFolder(folder)
  })
})
