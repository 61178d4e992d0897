import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type AgentClient,
  fileJournal,
  memoryJournal,
  type PaymentJournal,
  type TabJournal,
} from '../../../rpc/client/client.ts'
import { wallet as walletKey } from '../../support/chain.ts'
import { ACME, ECHO, PRICE, TabWorld } from '../../support/tab-world.ts'

/**
 * A client dies at each of its steps: before and after each note, before a request leaves, and when its answer is there.
 * Another client takes over, with the notes or without them. Nothing may be lost, and nothing charged twice.
 */
const folder = mkdtempSync(join(tmpdir(), 'farthing-deaths-'))
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

class Death extends Error {}

/** Counts steps. At the fatal one the client dies, before the step or after it, and does nothing any more. */
class Fate {
  steps = 0
  readonly #at: number
  readonly #when: 'before' | 'after'

  constructor(at: number, when: 'before' | 'after') {
    this.#at = at
    this.#when = when
  }

  async step<T>(work: () => Promise<T> | T): Promise<T> {
    if (this.steps >= this.#at) throw new Death()
    this.steps += 1
    if (this.steps === this.#at && this.#when === 'before') throw new Death()
    const done = await work()
    if (this.steps >= this.#at) throw new Death()
    return done
  }
}

/** A client whose every note and every POST is a step. */
function mortal(journal: PaymentJournal, fate: Fate): AgentClient {
  const notes = journal.tabs as TabJournal
  const dying: PaymentJournal = {
    put: (record) => fate.step(() => journal.put(record)),
    get: (txId) => journal.get(txId),
    since: (atMs) => journal.since(atMs),
    tabs: {
      append: (note) => fate.step(() => notes.append(note)),
      read: (tabId) => notes.read(tabId),
      list: () => notes.list(),
    },
  }
  const posting: typeof fetch = (input, init) =>
    init?.method === 'POST' ? fate.step(() => fetch(input, init)) : fetch(input, init)
  // With no time to wait, a client that is dead gives up at once.
  return world.client({
    ...{ fetch: posting, journal: dying, settleMs: 0, maxPerDayCoins: '10000', maxPerDayUsd: 10_000 },
  })
}

const alive = (journal: PaymentJournal): AgentClient =>
  world.client({ journal, settleMs: 5_000, maxPerDayCoins: '10000', maxPerDayUsd: 10_000 })

/** What the client was doing: it opens a tab, makes calls side by side, adds to the deposit, and calls again. */
async function life(agent: AgentClient, name: string): Promise<void> {
  const tab = await agent.openTab(ACME, { deposit: '0.02', term: 1_200 })
  await tab.call(ECHO, `${name} a`)
  await Promise.all([tab.call(ECHO, `${name} b`), tab.call(ECHO, `${name} c`)])
  await tab.topUp('0.01')
  await tab.call(ECHO, `${name} d`)
}

/** Takes over, finishes what has no answer, makes one more call and closes. Returns the tabs. */
async function takeOver(agent: AgentClient, name: string): Promise<readonly string[]> {
  await agent.recoverTabs({ maxUnnoted: '1' })
  const ids: string[] = []
  for (const tab of await agent.tabs()) {
    const { status } = await tab.state()
    if (status === 'void' || status === 'ended') continue
    await tab.resume()
    await tab.call(ECHO, `${name} last`)
    expect(await tab.state()).toMatchObject({ status: 'open', unanswered: 0, unresolved: 0n })
    expect((await tab.state()).charged).toBe(world.seller.ledger(tab.tabId).charged)
    ids.push(tab.tabId)
  }
  return ids
}

/** Whatever was served was charged once, the receipts are whole, and the rest is back. */
async function settleUp(agent: AgentClient, name: string, ids: readonly string[]): Promise<void> {
  const served = world.seller.served.filter((each) => each.includes(`${name} `))
  expect(new Set(served).size).toBe(served.length)
  const charged = ids.reduce((sum, id) => sum + world.seller.ledger(id).charged, 0n)
  expect(charged).toBe(PRICE * BigInt(served.length))
  for (const id of ids) {
    const tab = await agent.tab(id)
    const { deposit } = await tab.state()
    await world.claim(id)
    expect(await tab.verifyReceipts()).toMatchObject({ ok: true, missing: [] })
    const before = world.test.balance(walletKey(1).address)
    await tab.close()
    const { charged: taken } = await tab.state()
    expect(world.test.balance(walletKey(1).address) - before).toBe(deposit - taken)
  }
}

/** Steps of a life without death. */
async function stepsOf(): Promise<number> {
  const fate = new Fate(Number.POSITIVE_INFINITY, 'after')
  const agent = mortal(memoryJournal(), fate)
  await life(agent, 'whole')
  const { steps } = fate
  // Nothing is left open for the clients without notes to find.
  for (const tab of await agent.tabs()) await tab.close()
  return steps
}

describe('a client that dies', () => {
  it.each(['before', 'after'] as const)('%s any of its steps: another one with its notes goes on', async (when) => {
    const steps = await stepsOf()
    expect(steps).toBeGreaterThan(15)
    for (let at = 1; at <= steps; at++) {
      const name = `kept-${when}-${at}`
      const journal = fileJournal(join(folder, String(folders++)))
      await expect(life(mortal(journal, new Fate(at, when)), name)).rejects.toBeDefined()
      const agent = alive(journal)
      await settleUp(agent, name, await takeOver(agent, name))
    }
  })

  it.each(['before', 'after'] as const)('%s any of its steps: another one without its notes goes on', async (when) => {
    const steps = await stepsOf()
    for (let at = 1; at <= steps; at++) {
      const name = `bare-${when}-${at}`
      await expect(life(mortal(memoryJournal(), new Fate(at, when)), name)).rejects.toBeDefined()
      // What other tests left open is not taken over here.
      const agent = alive(memoryJournal())
      await settleUp(agent, name, await takeOver(agent, name))
    }
  })

  it('after its opening was noted and before it was sent: the next one sends it, and it is opened once', async () => {
    const journal = fileJournal(join(folder, String(folders++)))
    await expect(life(mortal(journal, new Fate(3, 'before')), 'unsent')).rejects.toBeDefined()
    const [tab] = await alive(journal).tabs()
    expect(tab).toBeDefined()
    await tab?.ready()
    expect(world.tab(tab?.tabId ?? '')?.deposit).toBe(2_000_000n)
    await tab?.close()
  })
})
