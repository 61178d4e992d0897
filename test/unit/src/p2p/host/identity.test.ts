import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { IDENTITY_FILE, loadIdentity } from '../../../../../src/p2p/host/identity.ts'
import { removeFolder, temporaryFolder } from '../../../../support/processes.ts'

const folder = temporaryFolder()
const path = join(folder, IDENTITY_FILE)
afterAll(() => removeFolder(folder))

test('the key is made once, for its owner alone', async () => {
  const first = await loadIdentity(folder)
  const second = await loadIdentity(folder)
  if (!(first.ok && second.ok)) throw new Error('no identity')
  expect(first.value.peer).toMatch(/^12D3KooW/)
  expect(second.value.peer).toBe(first.value.peer)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('two that make it at once have the same', async () => {
  const other = temporaryFolder()
  const made = await Promise.all([loadIdentity(other), loadIdentity(other)])
  removeFolder(other)
  expect(new Set(made.map((one) => one.ok && one.value.peer)).size).toBe(1)
})

test('a damaged file is a fault, and is not replaced', async () => {
  const whole = readFileSync(path)
  const halvesThatDoNotFit = Buffer.from(whole)
  halvesThatDoNotFit[whole.length - 1] = (whole.at(-1) as number) ^ 1
  for (const bytes of [Buffer.alloc(0), whole.subarray(0, 40), Buffer.alloc(68, 3), halvesThatDoNotFit]) {
    writeFileSync(path, bytes)
    expect(await loadIdentity(folder)).toMatchObject({ fault: { code: 'p2p/key-damaged', detail: { path } } })
    expect(readFileSync(path)).toEqual(bytes)
  }
})
