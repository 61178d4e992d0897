import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { Hash } from '../../../consensus/primitives/ids.ts'
import { exitCodeOf } from '../../../src/cli/exit-codes.ts'
import { runCommand } from '../../support/run-command.ts'
import { ACME, ECHO, TabWorld } from '../../support/tab-world.ts'

const root = mkdtempSync(join(tmpdir(), 'farthing-tab-commands-'))
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})
beforeEach(() => world.calm())

/** Runs a command in a data folder of this test. */
async function run(folder: string, ...args: readonly string[]) {
  const { url, params } = world
  const { outcome, ...ran } = await runCommand({ url, params, folder: join(root, folder) }, args)
  const notes = typeof outcome === 'object' ? [...ran.notes, faultMessage(outcome)] : ran.notes
  const code = typeof outcome === 'number' ? outcome : exitCodeOf(outcome)
  return { code, out: ran.prints.join('\n'), notes: notes.join('\n') }
}

async function opened(folder: string): Promise<string> {
  const { out } = await run(folder, 'tab', 'open', ACME, '--deposit', '0.1', '--json')
  return (JSON.parse(out) as { readonly tabId: string }).tabId
}

it('a tab is opened, used, shown, added to, verified and closed', async () => {
  const tabId = await opened('whole')
  const called = await run('whole', 'tab', 'call', ECHO, 'hello')
  expect(called).toMatchObject({ code: 0, out: expect.stringContaining('hello') })
  expect(called.notes).toContain('yes: the seller signed the receipt')
  expect((await run('whole', 'tab', 'call', ECHO, 'json', '--json')).out).toContain('"charged":"200000"')
  expect(await run('whole', 'tab', 'call', ECHO, 'fail')).toMatchObject({
    ...{ code: 3, notes: expect.stringContaining('Nothing was charged') },
  })
  expect((await run('whole', 'tab', 'list')).out).toContain(tabId)
  expect((await run('whole', 'tab', 'fund', tabId, '0.05')).out).toMatch(/Deposit +0\.15 FAR/)
  expect((await run('whole', 'tab', 'show', tabId)).out).toMatch(/Left +0\.146 FAR/)
  expect((await run('whole', 'tab', 'receipts', tabId)).out.split('\n').length).toBe(4)
  expect((await run('whole', 'tab', 'receipts', tabId, '--from-seller')).out.split('\n').length).toBe(4)
  await world.claim(tabId)
  expect(await run('whole', 'tab', 'verify', tabId)).toMatchObject({
    ...{ code: 0, out: expect.stringContaining('yes: every claim has the root of its receipts') },
  })
  expect((await run('whole', 'tab', 'verify', tabId, '--json')).out).toContain('"claimed":"400000"')
  expect((await run('whole', 'tab', 'close', tabId)).out).toContain('the seller closes it with')
  expect((await run('whole', 'tab', 'list')).notes).toContain('there is nothing to list')
  expect((await run('whole', 'tab', 'list', '--all')).out).toContain('ended')
})

it('farthing call uses an open tab of the agent, and says so', async () => {
  const tabId = await opened('call')
  const called = await run('call', 'call', ECHO, 'from the tab')
  expect(called).toMatchObject({ code: 0, out: expect.stringContaining('from the tab') })
  expect(called.notes).toContain(`paid from the tab ${tabId} with ${ACME}`)
  const before = world.sent.length
  await run('call', 'call', ECHO, 'alone', '--no-tab')
  expect(world.sent.length).toBe(before + 1)
})

it('a folder without notes finds the tab of its wallet, and an answer that was lost', async () => {
  const tabId = await opened('found')
  await run('found', 'tab', 'call', ECHO, 'noted', '--tab', tabId)
  const found = await run('elsewhere', 'tab', 'recover')
  expect(found.out).toContain(tabId)
  expect((await run('elsewhere', 'tab', 'call', ECHO, 'again', '--tab', tabId)).code).toBe(0)
})

it('a claim that its receipts contradict gives exit code 4 and a file', async () => {
  const tabId = await opened('evidence')
  await run('evidence', 'tab', 'call', ECHO, 'one', '--tab', tabId)
  await world.claim(tabId, { root: 'ab'.repeat(32) as Hash })
  const path = join(root, 'evidence.json')
  const checked = await run('evidence', 'tab', 'verify', tabId, '--evidence', path)
  expect(checked).toMatchObject({ code: 4, out: expect.stringContaining('NO: every claim has the root') })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ kind: 'a claim that its receipts contradict', tabId })
  expect((await run('evidence', 'tab', 'verify', tabId, '--evidence', path)).code).toBe(1)
  expect((await run('evidence', 'tab', 'call', ECHO, 'two', '--tab', tabId)).notes).toContain('tab_stopped')
})

it('wrong words end with exit code 2, and what cannot be done with 1', async () => {
  for (const words of [
    ['open', ACME],
    ['open', 'A B', '--deposit', '1'],
    ['show'],
    ['show', 'ab'],
    ['fund', 'ab'.repeat(32), 'x'],
  ])
    expect([1, 2], words.join(' ')).toContain((await run('wrong', 'tab', ...words)).code)
  expect(await run('wrong', 'tab', 'open', ACME, '--deposit', 'much')).toMatchObject({ code: 2 })
  expect(await run('wrong', 'tab', 'call', ECHO, 'x')).toMatchObject({
    ...{ code: 1, notes: expect.stringContaining(`there is no open tab with ${ACME}`) },
  })
  expect(await run('wrong', 'tab', 'show', 'ab'.repeat(32))).toMatchObject({
    ...{ code: 1, notes: expect.stringContaining('tab recover') },
  })
})
