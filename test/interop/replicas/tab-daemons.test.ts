import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devSeed } from '../../../config/networks/dev-keys.ts'
import { TAB_RULES } from '../../../config/networks/rules.ts'
import { wordsOfSeed } from '../../../consensus/crypto/words.ts'
import { type AgentClient, createClient, fileJournal, type Tab } from '../../../rpc/client/client.ts'
import { walletFromWords } from '../../../rpc/client/wallet.ts'
import { networkFacts } from '../../../src/market/network-facts.ts'
import { ask } from '../../support/api.ts'
import { Caller } from '../../support/caller.ts'
import { Workshop } from '../../support/daemon.ts'
import { mineAtPace, mineBlocks, mineWhile } from '../../support/mine-by-hand.ts'
import { fastDevnet } from '../../support/network.ts'
import { until } from '../../support/processes.ts'
import { TwoReplicas } from './operator.ts'
import { PostgresServer } from './postgres.ts'

/** Short, so that a dead replica is noticed soon. */
const LEASE_SECONDS = 8
/** Number of the wallet that pays. It does nothing else. */
const PAYER = 5
const AGAIN = 'node-test-again'
const ONCE = 'node-test-once'
const CALLS = 120
const IN_FLIGHT = 8
const DEPTH = 12

const workshop = new Workshop()
let server: PostgresServer
let replicas: TwoReplicas
/** How many paid calls each replica was asked for. */
const asked = [0, 0]

beforeAll(async () => {
  server = await PostgresServer.start()
  replicas = await TwoReplicas.start(workshop, { claimsUrl: server.url(), leaseSeconds: LEASE_SECONDS })
})
afterAll(async () => {
  await replicas?.cluster.stop()
  await server?.remove()
})

/** A client that sends every question to the next replica that runs, and looks at the chain of the first. */
function client(): AgentClient {
  let turn = 0
  const turning: typeof fetch = (input, init) => {
    const url = new URL(String(input))
    if (!/^\/api\/(x402|tabs)\//.test(url.pathname)) return fetch(url, init)
    const at = [turn, turn + 1].map((each) => each % 2).find((each) => replicas.nodes[each]?.runs) ?? 0
    turn += 1
    if (new Headers(init?.headers).has('payment-signature')) asked[at] = (asked[at] ?? 0) + 1
    return fetch(new URL(url.pathname + url.search, replicas.nodes[at]?.url), init)
  }
  return createClient({
    ...{ baseUrl: replicas.nodes[0].url, wallet: walletFromWords(wordsOfSeed(devSeed(PAYER))), fetch: turning },
    ...{ network: networkFacts(fastDevnet(1n)), journal: fileJournal(workshop.folder()), settleMs: 60_000 },
    ...{ maxPerTabUsd: 100, maxPerDayUsd: 1_000 },
  })
}

describe('two daemons that share a PostgreSQL and sell on tabs', () => {
  let tab: Tab
  let before: { readonly payer: bigint; readonly payout: bigint }
  const requests: string[] = []
  const agent = async (): Promise<string> => (await client().quote(ONCE, 'ok')).agentId

  it('serve the calls of one tab in turns, and both know all receipts', async () => {
    const agentId = await agent()
    const taken = async (): Promise<boolean> => {
      const { body } = await ask<{ terms: unknown }>(replicas.nodes[0].url, `/api/v1/agents/${agentId}/tabs`)
      return body.terms !== null
    }
    await replicas.mineUntil('the agent takes tabs', taken)
    const url = replicas.nodes[0].url
    before = { payer: await new Caller(url, PAYER).balance(), payout: await replicas.earned() }
    tab = await mineWhile(url, client().openTab(agentId, { deposit: '20', term: 28_800 }))
    // So deep that the seller risks nothing by so many calls.
    await mineBlocks(url, DEPTH)
    await replicas.cluster.converged()
    const texts = Array.from({ length: CALLS }, (_, i) => `ok:turn-${i}`)
    const answers = await Promise.all(texts.map((text, i) => tab.call(i % 2 === 0 ? AGAIN : ONCE, text)))
    expect(answers.map(({ result }) => result)).toEqual(texts.map((echo) => ({ echo })))
    expect(answers.map(({ tab: facts }) => facts?.receipt.n).sort((a, b) => Number(a) - Number(b))).toEqual(
      texts.map((_, i) => i + 1),
    )
    requests.push(...texts)
    for (const count of asked) expect(count).toBeGreaterThan(CALLS / 4)
    await expect(tab.call(AGAIN, 'fail:once')).rejects.toMatchObject({ name: 'NotChargedError' })
  })

  it.each([AGAIN, ONCE])('go on when one is killed in the middle of calls of %s', async (serviceId) => {
    const [, dying] = replicas.nodes
    const texts = Array.from({ length: IN_FLIGHT }, (_, i) => `slow:1500:${serviceId}-${i}`)
    const calls = texts.map((text) => tab.call(serviceId, text))
    const outcomes = Promise.allSettled(calls)
    const begun = (): boolean => texts.some((text) => (replicas.runs[1]?.get(`${serviceId} ${text}`) ?? 0) > 0)
    await until('the second replica is at work', begun)
    await dying.kill()
    const ends = await outcomes
    const delivered = texts.filter((_, i) => ends[i]?.status === 'fulfilled')
    requests.push(...delivered)
    // What must not be done twice is not charged where its replica died over it.
    const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
    for (const reason of lost) expect(reason).toMatchObject({ name: 'NotChargedError' })
    if (serviceId === AGAIN) expect(lost).toEqual([])
    for (const text of serviceId === ONCE ? texts : []) {
      const runs = replicas.runsOf({ serviceId, request: text })
      // The replica may be killed when the start is noted, and before the work begins.
      if (delivered.includes(text)) expect(runs).toBe(1)
      else expect(runs).toBeLessThanOrEqual(1)
    }
    expect(await tab.state()).toMatchObject({ status: 'open', unanswered: 0 })
    await dying.start()
    await replicas.cluster.connected()
    await replicas.cluster.converged()
  })

  it('claim all that was charged, once, and the rest goes back to the payer', async () => {
    const url = replicas.nodes[0].url
    const { charged, deposit, receipts } = await tab.state()
    const stop = mineAtPace(url, 200)
    expect(await tab.close()).toMatchObject({ by: 'seller' })
    await until('the tab has ended', async () => (await tab.state()).status === 'ended')
    await stop()
    await replicas.cluster.converged()
    const { claimed } = await tab.state()
    expect([claimed, receipts]).toEqual([charged, await receiptsOf()])
    const checked = await tab.verifyReceipts()
    expect(checked).toMatchObject({ ok: true, missing: [], receipts, evidence: null })
    const each = await tab.receipts()
    expect(new Set(each.map(({ seq }) => seq)).size).toBe(each.length)
    expect(each.filter(({ outcome }) => outcome === 0).length).toBe(requests.length)
    expect(each.reduce((sum, one) => sum + BigInt(one.charged), 0n)).toBe(charged)
    const earned = (await replicas.earned()) - before.payout
    const burned = charged - earned
    const part = (charged + TAB_RULES.burnDivisor - 1n) / TAB_RULES.burnDivisor
    const byCalls = BigInt(requests.length) * TAB_RULES.callBurn
    expect(burned).toBeGreaterThanOrEqual(part > byCalls ? part : byCalls)
    const spent = before.payer - (await new Caller(url, PAYER).balance())
    const fees = await feesOf(url)
    expect(spent).toBe(charged + fees)
    expect(deposit - claimed).toBeGreaterThan(0n)
  })

  const receiptsOf = async (): Promise<number> => (await tab.receipts()).length
  /** Fees of the opening, the only transaction of the payer. */
  const feesOf = async (url: string): Promise<bigint> => {
    const { receipt } = await new Caller(url, PAYER).transaction(tab.tabId)
    return BigInt(receipt.fee)
  }
})
