import { beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../config/networks/dev-keys.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { wordsOfSeed } from '../../consensus/crypto/words.ts'
import { type AgentClient, type ClientOptions, createClient, fileJournal, type Tab } from '../../rpc/client/client.ts'
import { walletFromWords } from '../../rpc/client/wallet.ts'
import { networkFacts } from '../../src/market/network-facts.ts'
import { ask } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { wallet } from '../support/chain.ts'
import { Cluster, type ClusterNode } from '../support/cluster.ts'
import { Workshop } from '../support/daemon.ts'
import { mineBlocks, mineOnDemand } from '../support/mine-by-hand.ts'
import { fastDevnet } from '../support/network.ts'
import { until } from '../support/processes.ts'

/** A newcomer pays a real seller from a tab, and the seller's plug is pulled. A second node has the same chain. */
const CALLS = 1_000
const IN_FLIGHT = 8
/** Depth at which the seller serves what a thousand calls cost. */
const DEEP = 45
const CLOSE_DELAY = 400
const TERM = 28_800
const SERVICE = 'node-test-again'
/** What clients call the seller, whatever port it has. */
const SELLER = 'http://seller.test'

const workshop = new Workshop()
const network = networkFacts(fastDevnet(1n))
let seller: ClusterNode
let second: ClusterNode
let agentId: string

/** A client of the seller that asks the second node as well. Its journal outlives it. */
function client(key: number, journal: string, options: Partial<ClientOptions> = {}): AgentClient {
  return createClient({
    ...{ baseUrl: SELLER, secondNode: second.url, network, journal: fileJournal(journal) },
    ...{ wallet: walletFromWords(wordsOfSeed(devSeed(key))), fetch: toSeller, settleMs: 180_000 },
    ...{ maxPerTabUsd: 1_000, maxPerDayUsd: 10_000, maxPerTabCoins: '1000', maxPerDayCoins: '10000' },
    ...options,
  })
}

const toSeller: typeof fetch = (input, init) => fetch(String(input).replace(SELLER, seller.url), init)

/** Makes calls, eight at the same time, until all are made or one fails. Returns the texts that were answered. */
async function callMany(tab: Tab, from: number, count: number, answered: () => void = () => {}): Promise<string[]> {
  const texts = Array.from({ length: count }, (_, i) => `number ${from + i}`)
  const done: string[] = []
  const work = async (): Promise<void> => {
    for (let text = texts.shift(); text !== undefined; text = texts.shift()) {
      const { result } = await tab.call<{ readonly echo: string }>(SERVICE, text)
      expect(result.echo).toBe(text)
      done.push(text)
      answered()
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, () => work().catch(() => texts.splice(0))))
  return done
}

interface Facts {
  readonly status: string
  readonly deposit: { readonly units: string }
  readonly claimed: { readonly units: string }
  readonly end: { readonly how: string; readonly returned: { readonly units: string } } | null
}

/** A tab as the second node has it. */
async function factsOf({ tabId }: Tab): Promise<Facts> {
  return (await ask<{ readonly tab: Facts }>(second.url, `/api/v1/tabs/${tabId}`)).body.tab
}

async function balanceOf(key: number): Promise<bigint> {
  const address = formatAddress('dfar', wallet(key).address)
  return BigInt((await ask<{ readonly balance: string }>(second.url, `/api/v1/accounts/${address}`)).body.balance)
}

/** What came back, by the second node. */
function returned({ end }: Facts): bigint {
  return BigInt(end?.returned.units ?? -1)
}

/** Opens a tab that is deep enough for a thousand calls. */
async function opened(agent: AgentClient, deposit: string): Promise<Tab> {
  const stop = mineOnDemand(second.url, 500)
  const tab = await agent.openTab(agentId, { deposit, term: TERM, closeDelay: CLOSE_DELAY })
  await stop()
  await mineBlocks(second.url, DEEP)
  await sameHead()
  return tab
}

function sameHead(): Promise<boolean> {
  return until(
    'both nodes have one head',
    async () => (await seller.status()).blockId === (await second.status()).blockId,
  )
}

beforeAll(async () => {
  const cluster = await Cluster.start(workshop, {
    nodes: [{ sells: true }, {}],
    links: [[1, 0]],
    env: { TEST_FAST_BLOCKS: '1' },
  })
  ;[seller, second] = cluster.nodes as [ClusterNode, ClusterNode]
  const stop = mineOnDemand(second.url, 500)
  await marketOpen(seller.url)
  agentId = (await client(3, workshop.folder()).quote(SERVICE, 'ok')).agentId
  await until('the agent takes tabs', async () => {
    const { body } = await ask<{ readonly terms: object | null }>(second.url, `/api/v1/agents/${agentId}/tabs`)
    return body.terms !== null
  })
  await stop()
})

describe('a seller that is killed and comes back', () => {
  it('loses no answered call, charges none twice, and claims what it charged', { timeout: 600_000 }, async () => {
    const agent = client(3, workshop.folder())
    const tab = await opened(agent, '200')
    let count = 0
    let restarted: Promise<void> | null = null
    const restart = async (): Promise<void> => {
      await seller.kill()
      await seller.start()
      await marketOpen(seller.url)
    }
    const answers = await callMany(tab, 0, CALLS, () => {
      count += 1
      if (count === CALLS / 2) restarted = restart()
    })
    await restarted
    expect(new Set(answers).size).toBe(CALLS)
    const receipts = await tab.receipts()
    expect(receipts.map(({ n }) => n)).toEqual(Array.from({ length: CALLS }, (_, i) => i + 1))
    expect(new Set(receipts.map(({ seq }) => seq)).size).toBe(CALLS)
    const charged = receipts.reduce((sum, receipt) => sum + BigInt(receipt.charged), 0n)
    expect(await tab.state()).toMatchObject({ status: 'open', charged, unanswered: 0, receipts: CALLS })
    await until('the nodes have found each other', async () => (await seller.status()).peers > 0)
    const stop = mineOnDemand(second.url, 500)
    expect(await tab.close()).toMatchObject({ by: 'seller' })
    await until('the seller has claimed and closed', async () => (await factsOf(tab)).status === 'ended')
    await stop()
    const facts = await factsOf(tab)
    expect(facts).toMatchObject({ claimed: { units: String(charged) }, end: { how: 'claim' } })
    expect(returned(facts)).toBe(BigInt(facts.deposit.units) - charged)
    expect(await tab.verifyReceipts()).toMatchObject({ ok: true, missing: [], receipts: CALLS, evidence: null })
  })
})

describe('a seller that is killed for good', () => {
  it('gives all back that it did not claim, by consensus, through another node', { timeout: 600_000 }, async () => {
    const [early, late] = [workshop.folder(), workshop.folder()]
    // One payer closes while the seller is there to claim, the other one calls when it dies.
    const closing = await opened(client(5, early), '50')
    const few = await callMany(closing, 0, 40)
    const stop = mineOnDemand(second.url, 500)
    await closing.close({ byChain: true })
    await until('the seller has claimed', async () => BigInt((await factsOf(closing)).claimed.units) > 0n)
    await stop()
    const tab = await opened(client(6, late, { settleMs: 1_000 }), '200')
    let count = 0
    const answered = await callMany(tab, 0, CALLS, () => {
      count += 1
      if (count === CALLS / 2) void seller.kill()
    })
    expect(answered.length).toBeGreaterThanOrEqual(CALLS / 2)
    expect(answered.length).toBeLessThan(CALLS)

    // Only the second node is left.
    const alone = { baseUrl: second.url, fetch, settleMs: 60_000 }
    const left = await client(6, late, alone).tab(tab.tabId)
    const mining = mineOnDemand(second.url, 500)
    expect(await left.close()).toMatchObject({ by: 'chain' })
    await mining()
    const before = [await balanceOf(5), await balanceOf(6)]
    await mineBlocks(second.url, CLOSE_DELAY + 1)
    const same = await client(5, early, alone).tab(closing.tabId)
    for (const [i, [mine, calls]] of [[same, few] as const, [left, answered] as const].entries()) {
      const facts = await factsOf(mine)
      expect(facts).toMatchObject({ status: 'ended', end: { how: 'return' } })
      const back = BigInt(facts.deposit.units) - BigInt(facts.claimed.units)
      expect(returned(facts)).toBe(back)
      expect((await balanceOf([5, 6][i] as number)) - (before[i] as bigint)).toBe(back)
      expect(await mine.verifyReceipts()).toMatchObject({
        ok: true,
        missing: [],
        evidence: null,
        receipts: calls.length,
      })
      expect(await mine.state()).toMatchObject({ status: 'ended', receipts: calls.length })
    }
    const { charged } = await same.state()
    expect((await factsOf(same)).claimed.units).toBe(String(charged))
    expect((await factsOf(left)).claimed.units).toBe('0')
  })
})
