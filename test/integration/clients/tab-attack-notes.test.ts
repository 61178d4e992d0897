import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientOptions, fileJournal, storageJournal, type TabNote } from '../../../rpc/client/client.ts'
import { ACME, caught, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/** Two processes or pages of one wallet that share their notes. The seller is honest. */
const folder = mkdtempSync(join(tmpdir(), 'farthing-notes-'))
let world: TabWorld
let folders = 0
beforeAll(async () => {
  world = await TabWorld.open()
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => world.calm())

const client = (options: Partial<ClientOptions> = {}) => world.client({ settleMs: 400, ...options })

describe('a look at all tabs', () => {
  it('does not accuse the seller while another process with the same notes makes calls', async () => {
    const path = join(folder, String(folders++))
    const first = client({ journal: fileJournal(path) })
    const tab = await first.openTab(ACME, { deposit: '0.1', term: 1_200 })
    await tab.call(ECHO, 'a')
    // Between the notes that the second process has read and the seller's answer, the first one makes a call.
    const busy: typeof fetch = async (input, init) => {
      if (/\/api\/tabs\/[0-9a-f]{64}\?/.test(String(input))) await tab.call(ECHO, 'between')
      return fetch(input, init)
    }
    const second = client({ journal: fileJournal(path), fetch: busy })
    const found = await second.recoverTabs()
    expect(found.map(({ standing }) => standing.status)).toEqual(['open'])
    expect(await caught(tab.call(ECHO, 'b'))).toBe('no error')
  })
})

describe('notes of two pages', () => {
  it('are all read, also where the clock was set back between them', async () => {
    const texts = new Map<string, string>()
    const storage = {
      get length() {
        return texts.size
      },
      key: (index: number) => [...texts.keys()][index] ?? null,
      getItem: (key: string) => texts.get(key) ?? null,
      setItem: (key: string, value: string) => void texts.set(key, value),
      removeItem: (key: string) => void texts.delete(key),
    }
    const one = client({ journal: storageJournal(storage), settleMs: 0 })
    const tab = await one.openTab(ACME, { deposit: '0.1', term: 1_200 })
    await tab.call(ECHO, 'a')
    const two = client({ journal: storageJournal(storage) })
    const same = await two.tab(tab.tabId)
    await same.call(ECHO, 'b')
    await same.state()
    await tab.state()
    const { now } = Date
    Date.now = () => now() - 60_000
    try {
      world.mischief.mute = 1
      await caught(tab.call(ECHO, 'without an answer'))
    } finally {
      Date.now = now
    }
    expect(await same.state()).toMatchObject({ unanswered: 1, unresolved: PRICE })
    expect(await caught(same.call(ECHO, 'c'))).toBe('no error')
    expect((await same.state()).status).toBe('open')
  })
})

describe('notes of two processes', () => {
  it('do not tear each other apart where they are long', async () => {
    const path = join(folder, String(folders++))
    const tabId = 'ab'.repeat(32)
    const note = (name: string, i: number): TabNote => {
      const request = `${name}${i}`.padEnd(900_000, '.')
      return { what: 'call', tabId, seq: i, request, context: `${name}${i}` } as unknown as TabNote
    }
    const journals = ['x', 'y', 'z'].map((name) => ({ name, tabs: fileJournal(path).tabs }))
    await Promise.all(
      journals.map(async ({ name, tabs }) => {
        for (let i = 0; i < 10; i++) await tabs?.append(note(name, i))
      }),
    )
    expect((await fileJournal(path).tabs?.read(tabId))?.length).toBe(30)
  })
})
