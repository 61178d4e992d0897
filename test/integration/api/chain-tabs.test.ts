import { afterEach, expect, it } from 'vitest'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { TxId } from '../../../consensus/primitives/ids.ts'
import { tabTotals } from '../../../marketplace/ledger/tab-records.ts'
import { tabFacts } from '../../../marketplace/queries/tabs.ts'
import { seeded } from '../../sim/miners.ts'
import { ask, verdict } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { importAll, PROVEN_WORK } from '../../support/branches.ts'
import { TestChain, WALLETS } from '../../support/chain.ts'
import { tabHistory } from '../../support/closings.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'

interface TabView {
  readonly tabId: string
  readonly agentId: string
  readonly payer: string
  readonly status: string
  readonly openedAt: number
  readonly deposit: { readonly units: string }
  readonly claimed: { readonly units: string }
  readonly locked: { readonly units: string }
  readonly sums: { readonly paid: { readonly units: string }; readonly burned: { readonly units: string } }
  readonly end: { readonly how: string; readonly height: number; readonly returned: { readonly units: string } } | null
}

interface Page {
  readonly tabs: readonly TabView[]
  readonly totals: { readonly open: number; readonly locked: { readonly units: string } }
  readonly nextCursor: string | null
}

const servers: ApiServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    await server.close()
    expect(server.errors).toEqual([])
  }
})

/** A server whose chain was reorganised. */
async function opened(): Promise<ApiServer> {
  const server = await ApiServer.open({}, null, restlessRuleBook())
  servers.push(server)
  const first = new RandomChain(await TestChain.open(restlessRuleBook()), seeded(26))
  await importAll(server.test, await first.grow(16), PROVEN_WORK)
  const second = await first.branch(11)
  await importAll(server.test, await second.grow(16), PROVEN_WORK)
  expect(server.test.height).toBe(27)
  return server
}

/** All pages of a list of tabs. */
async function listed(url: string, path: string, more = ''): Promise<readonly TabView[]> {
  const tabs: TabView[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = (await ask<Page>(url, `${path}?limit=3${more}${cursor === '' ? '' : `&cursor=${cursor}`}`)).body
    tabs.push(...page.tabs)
    cursor = page.nextCursor
  }
  return tabs
}

it('tabs are listed with what they lock, of all, of an address and of an agent, as the blocks tell', async () => {
  const { url, test } = await opened()
  const moves = await tabHistory(url, test.height)
  const openings = moves.filter(({ how }) => how === 'opened')
  const ended = new Map(moves.filter(({ how }) => how === 'returned').map((move) => [move.tabId, move]))
  const all = await listed(url, '/api/v1/tabs')
  expect(new Set(all.map(({ tabId }) => tabId))).toEqual(new Set(openings.map(({ tabId }) => tabId)))
  expect(all.map(({ openedAt }) => openedAt)).toEqual(all.map(({ openedAt }) => openedAt).toSorted((a, b) => b - a))
  for (const { tabId, status, deposit, locked, sums, end } of all) {
    const move = ended.get(tabId)
    expect([status === 'ended', end?.height, end?.how]).toEqual([
      move !== undefined,
      move?.height,
      move && (move.byTxId === null ? 'return' : 'claim'),
    ])
    const units = [sums.paid, sums.burned, locked, ...(end === null ? [] : [end.returned])]
    expect(units.reduce((sum, part) => sum + BigInt(part.units), 0n)).toBe(BigInt(deposit.units))
  }
  const open = all.filter(({ status }) => status !== 'ended')
  expect(Math.min(open.length, ended.size)).toBeGreaterThan(2)
  expect(await listed(url, '/api/v1/tabs', '&open=true')).toEqual(open)
  const { totals } = (await ask<Page>(url, '/api/v1/tabs')).body
  const { locked } = tabTotals(test.chain.database)
  expect([totals.open, totals.locked.units]).toEqual([open.length, locked.toString()])
  for (const { address } of WALLETS) {
    const payer = formatAddress('dfar', address)
    const own = all.filter((tab) => tab.payer === payer)
    expect(await listed(url, `/api/v1/accounts/${payer}/tabs`)).toEqual(own)
    const holdings = (
      await ask<{ inTabs: { units: string }; tabs: object[] }>(url, `/api/v1/accounts/${payer}/holdings`)
    ).body
    const ownOpen = own.filter(({ status }) => status !== 'ended')
    expect(holdings.tabs).toEqual(ownOpen)
    expect(BigInt(holdings.inTabs.units)).toBe(ownOpen.reduce((sum, tab) => sum + BigInt(tab.locked.units), 0n))
  }
  for (const agentId of ['agent-one', 'agent-two']) {
    expect(await listed(url, `/api/v1/agents/${agentId}/tabs`)).toEqual(all.filter((tab) => tab.agentId === agentId))
    const { body } = await ask<{ terms: object }>(url, `/api/v1/agents/${agentId}/tabs`)
    expect(body.terms).toMatchObject({ minCloseDelay: 1, minDeposit: { units: '0' } })
  }
})

it('a tab and its opening say how it stands, and its claims are listed in order, page by page', async () => {
  const { url, test } = await opened()
  const moves = await tabHistory(url, test.height)
  let count = 0
  for (const { tabId } of moves.filter(({ how }) => how === 'opened')) {
    const { tab } = (await ask<{ tab: TabView }>(url, `/api/v1/tabs/${tabId}`)).body
    expect((await ask<{ tab: TabView }>(url, `/api/v1/tx/${tabId}`)).body.tab).toEqual(tab)
    expect(tab.deposit.units).toBe(String(tabFacts(test.chain, tabId as TxId)?.tab.deposit))
    const claims: { height: number; txId: string; claimed: { units: string } }[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/api/v1/tabs/${tabId}/claims?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`
      const page = (await ask<{ claims: typeof claims; nextCursor: string | null }>(url, path)).body
      claims.push(...page.claims)
      cursor = page.nextCursor
    }
    const expected = moves.filter((move) => move.tabId === tabId && move.how === 'claimed')
    expect(claims.map(({ height, txId, claimed }) => [height, txId, claimed.units])).toEqual(
      expected.map(({ height, byTxId, amount }) => [height, byTxId, amount]),
    )
    count += claims.length
  }
  expect(count).toBeGreaterThan(5)
})

it('what does not exist, and cursors that no page gave, are refused', async () => {
  const { url } = await opened()
  const unknown = 'ab'.repeat(32)
  for (const path of [`/api/v1/tabs/${unknown}`, `/api/v1/tabs/${unknown}/claims`])
    expect(verdict(await ask(url, path))).toEqual('404 tab_not_found')
  expect((await ask(url, '/api/v1/agents/nobody/tabs')).status).toBe(404)
  const bad = ['tabs?cursor=x', `tabs?cursor=1-${unknown}-1`, `tabs?cursor=${2 ** 32}-${unknown}`, 'tabs?open=no']
  for (const path of bad) expect((await ask(url, `/api/v1/${path}`)).status, path).toBe(400)
  expect((await ask(url, `/api/v1/tabs?cursor=5-${unknown}`)).status).toBe(200)
})
