import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ClientOptions } from '../../../rpc/client/client.ts'
import { exitCodeOf } from '../../../src/cli/exit-codes.ts'
import type { Json } from '../../support/lying-tab-seller.ts'
import { runCommand } from '../../support/run-command.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** What docs/tabs.md tells callers, sentence by sentence. */
const root = mkdtempSync(join(tmpdir(), 'farthing-tab-words-'))
let world: TabWorld
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 400, ...options })
const opened = (options: Partial<ClientOptions> = {}) => client(options).openTab(ACME, { deposit: '0.1', term: 1_200 })

/** Runs a command in a data folder of this test. */
async function run(folder: string, ...args: readonly string[]) {
  const { url, params } = world
  const heard = (note: string) => {
    if (note.includes('waits already')) void world.mine()
  }
  const { outcome, ...ran } = await runCommand({ url, params, folder: join(root, folder), heard }, args)
  const notes = typeof outcome === 'object' ? [...ran.notes, faultMessage(outcome)] : ran.notes
  const code = typeof outcome === 'number' ? outcome : exitCodeOf(outcome)
  return { code, out: ran.prints.join('\n'), notes: notes.join('\n') }
}

describe('limits', () => {
  it('a first price that was never charged is not the first price', async () => {
    const tab = await opened()
    world.seller.prices.set(ECHO, 2_000_000n)
    const sell = world.seller.call.bind(world.seller)
    world.seller.call = async (service, request, payload) => {
      world.seller.call = sell
      world.seller.prices.delete(ECHO)
      world.seller.seen.push(payload)
      void request
      return world.seller.terms(service, 'tab_ceiling_low', tab.tabId)
    }
    await tab.call(ECHO, 'a', { maxPrice: '0.02' })
    expect((await tab.state()).charged).toBe(PRICE)
    world.seller.prices.set(ECHO, 2_400_000n)
    await caught(tab.call(ECHO, 'b'))
    expect((await tab.state()).charged).toBe(PRICE)
  })
})

describe('evidence', () => {
  it('of two receipts for one number is written by `tab verify --evidence`', async () => {
    const open = await run('fork', 'tab', 'open', ACME, '--deposit', '0.1', '--json')
    const { tabId } = JSON.parse(open.out) as { readonly tabId: string }
    await run('fork', 'tab', 'call', ECHO, 'a', '--tab', tabId)
    const fork = world.seller.copy()
    await run('fork', 'tab', 'call', ECHO, 'b', '--tab', tabId)
    world.seller.ledgers = fork
    // Each command shows the newest receipt; a seller that keeps silent about it goes on.
    const { code, notes } = await run('fork', 'tab', 'call', ECHO, 'c', '--tab', tabId)
    expect([code, notes]).toEqual([4, expect.stringContaining('two receipts for one number')])
    const file = join(root, 'evidence.json')
    const verified = await run('fork', 'tab', 'verify', tabId, '--evidence', file)
    expect(existsSync(file)).toBe(true)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'two receipts for one number' })
    expect(verified.code).toBe(4)
  })
})

describe('commands', () => {
  it('`tab recover --json` prints one JSON object', async () => {
    const { fileJournal } = await import('../../../rpc/client/client.ts')
    const { folderPaths } = await import('../../../src/storage/folder.ts')
    const open = await run('json', 'tab', 'open', ACME, '--deposit', '0.1', '--json')
    const { tabId } = JSON.parse(open.out) as { readonly tabId: string }
    // A process that dies with two calls under way.
    const dying = client({ settleMs: 0, journal: fileJournal(folderPaths(join(root, 'json')).tabs) })
    const tab = await dying.tab(tabId)
    world.mischief.mute = 2
    await Promise.all(['x', 'y'].map((text) => caught(tab.call(ECHO, text))))
    const { out } = await run('json', 'tab', 'recover', '--json')
    const told = JSON.parse(out) as { readonly tabs: readonly Json[]; readonly answers: readonly Json[] }
    expect(told.tabs.map((each) => each.tabId)).toContain(tabId)
    // The two calls went out side by side.
    expect(told.answers.map(({ result }) => (result as { readonly echo: string }).echo).toSorted()).toEqual(['x', 'y'])
  })

  it('`tab open` after an interrupted `tab open` does not open a second tab', async () => {
    const { fileJournal } = await import('../../../rpc/client/client.ts')
    const { folderPaths } = await import('../../../src/storage/folder.ts')
    world.isMining = false
    const journal = fileJournal(folderPaths(join(root, 'twice')).tabs)
    await caught(client({ settleMs: 100, journal }).openTab(ACME, { deposit: '0.1', term: 28_800 }))
    world.isMining = true
    const before = world.sent.length
    const { out, notes } = await run('twice', 'tab', 'open', ACME, '--deposit', '0.1', '--json')
    const listed = await run('twice', 'tab', 'list', '--json')
    const { tabs } = JSON.parse(listed.out) as { readonly tabs: readonly unknown[] }
    expect(tabs.length).toBe(1)
    expect([out, notes]).toEqual([expect.stringContaining('"open"'), expect.stringContaining('waits already')])
    expect(world.sent.length).toBe(before)
  })

  it('a tab that was never opened has nothing left', async () => {
    let gone = false
    const later: typeof fetch = async (input, init) => {
      const url = String(input)
      const json = (body: Json, status = 200) => new Response(JSON.stringify(body), { status })
      if (gone && /\/api\/v1\/tabs\/[0-9a-f]{64}$/.test(url)) return json({ error: 'none', code: 'tab_not_found' }, 404)
      if (gone && /\/api\/v1\/tx\/[0-9a-f]{64}$/.test(url))
        return json({ status: 'unknown', executedFrom: 0, executedTo: 9_000 })
      const answer = await fetch(input, init)
      if (!gone || !url.endsWith('/api/v1/status')) return answer
      return json({ ...((await answer.json()) as Json), height: 9_000 })
    }
    const tab = await opened({ fetch: later })
    gone = true
    expect(await tab.state()).toMatchObject({ status: 'void', available: 0n })
    expect(tab.isUsable).toBe(false)
  })
})
