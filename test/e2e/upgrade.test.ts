import { expect, it } from 'vitest'
import { WITH_TEST_SERVICES, Workshop } from '../support/daemon.ts'
import { OlderFolder } from '../support/older-folder.ts'

const workshop = new Workshop()

it('a node goes on over the folder of an older release that was killed at work', async () => {
  const older = await OlderFolder.start(workshop, 'level')
  await older.expectKeys(workshop)
  await older.expectNativeCallsEnd()
  await older.expectDollarCallsEnd()
  older.expectRuns()
  expect((await older.daemon.stop()).code).toBe(0)
  const how = { entry: WITH_TEST_SERVICES, env: { TEST_FAST_BLOCKS: '1' } }
  const audit = await workshop.run(['audit', '--data-dir', older.daemon.dataDir], how)
  expect(audit).toMatchObject({ code: 0, stderr: '' })
})
