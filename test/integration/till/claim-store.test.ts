import { join } from 'node:path'
import { Level } from 'level'
import { describe, expect, it } from 'vitest'
import { NATIVE_CLAIMS } from '../../../marketplace/till/rails/native/claim.ts'
import { storageFault } from '../../../src/storage/folder.ts'
import { LevelClaimStore } from '../../../src/storage/level-claims.ts'
import { claimStoreSuite } from '../../contract/claim-store.suite.ts'
import { claimed, delivered, txIdOf } from '../../support/claims.ts'
import { removeFolder, temporaryFolder } from '../../support/processes.ts'

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

  it('knows payers and prices of a folder that kept only the lengths of results', async () => {
    const folder = temporaryFolder()
    const path = join(folder, 'market')
    const open = () => LevelClaimStore.open(path, NATIVE_CLAIMS)
    let store = await open()
    const callers = ['modest', ...Array.from({ length: 29 }, () => 'greedy')]
    for (const [i, caller] of callers.entries()) {
      await store.claim(claimed(i))
      await store.advance('claimed', { ...delivered(i, { finishedAtMs: i }), caller })
    }
    await store.close()
    const database = new Level<string, string>(path)
    const lengths = await database.iterator({ gte: 'result/', lt: 'result0' }).all()
    expect(lengths.length).toBe(callers.length)
    const bytes = Buffer.byteLength((delivered(0) as { result: string }).result)
    for (const [key] of lengths) await database.put(key, String(bytes))
    await database.close()
    store = await open()
    const isKept = async (number: number): Promise<boolean> =>
      ((await store.get(txIdOf(number))) as { result: string | null }).result !== null
    expect(await store.pruneResults(0, 29 * bytes)).toBe(1)
    expect([await isKept(0), await isKept(1), await isKept(2)]).toEqual([true, false, true])
    await store.handedOver(txIdOf(9))
    expect(await store.pruneResults(0, 28 * bytes)).toBe(1)
    expect([await isKept(0), await isKept(2), await isKept(9)]).toEqual([true, true, false])
    expect(await store.pruneResults(29, 1_000_000)).toBe(27)
    await store.close()
    removeFolder(folder)
  })
})
