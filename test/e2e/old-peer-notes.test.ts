import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { Workshop } from '../support/daemon.ts'

const P2P = {
  ...{ FARTHING_P2P_ENABLED: 'true', FARTHING_P2P_PORT: '0' },
  ...{ FARTHING_P2P_MDNS: 'false', FARTHING_P2P_DHT: 'false' },
}
const workshop = new Workshop()

test('what the first release noted of peers is removed, and the node starts', async () => {
  const folder = workshop.folder()
  expect((await workshop.run(['init', '--data-dir', folder])).code).toBe(0)
  const notes = join(folder, 'peers', 'store')
  const store = new Level<string, Uint8Array>(notes, { valueEncoding: 'view' })
  await store.put('/peers/bafzaajaiaejcbx', new Uint8Array(100))
  await store.close()
  expect(existsSync(join(notes, 'CURRENT'))).toBe(true)
  const daemon = await workshop.start(folder, { mine: 0, env: P2P })
  expect(existsSync(notes)).toBe(false)
  expect((await fetch(`${daemon.url}/health`)).status).toBe(200)
})
