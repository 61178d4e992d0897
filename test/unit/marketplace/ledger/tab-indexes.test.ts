import { describe, expect, it } from 'vitest'
import type { Block } from '../../../../consensus/block/block.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../../consensus/chain/layout.ts'
import { decodeReceipt, type ReceiptOf } from '../../../../consensus/ledger/receipt.ts'
import { toHex, ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { BlockId, Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { tabChain } from '../../../../consensus/tx/tab-messages.ts'
import { type HistoryEntry, historyOf } from '../../../../marketplace/ledger/history.ts'
import { decodeOutcomes, OUTCOMES, operatorOutcomesKey, outcomesKey } from '../../../../marketplace/ledger/outcomes.ts'
import { AGENT_STATISTICS, NO_STATISTICS } from '../../../../marketplace/ledger/statistics.ts'
import { type TabPlace, tabsListed } from '../../../../marketplace/ledger/tab-lists.ts'
import { tabClaims } from '../../../../marketplace/ledger/tab-lives.ts'
import { TABS, tabTotals } from '../../../../marketplace/ledger/tab-records.ts'
import { type TabFacts, tabFacts } from '../../../../marketplace/queries/tabs.ts'
import { auditState } from '../../../../src/cli/commands/audit.ts'
import { rebuildIndexes } from '../../../../src/storage/reindex.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom, importAll } from '../../../support/branches.ts'
import { TestChain, WALLETS } from '../../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { runs } from '../../../support/runs.ts'
import { agentId, serviceId } from '../../../support/unsigned.ts'

const RULES = restlessRuleBook()
const AGENTS = ['agent-one', 'agent-two'].map(agentId)
const ALL = 10_000
const TAB_INDEXES = [0x08, 0x09, 0x0a, 0x0b]

/** A node that followed a branch, then a longer one; and the blocks of the longer. */
async function reorganised(seed: number): Promise<{ readonly node: TestChain; readonly straight: TestChain }> {
  const first = new RandomChain(await TestChain.open(RULES), seeded(seed))
  await first.grow(14)
  const second = await first.branch(seed % 9)
  await second.grow(20 - second.test.height)
  const node = await TestChain.open(RULES, new MemoryKeyValueStore())
  await importAll(node, [...blocksFrom(first.test, 1), ...blocksFrom(second.test, 1)])
  expect(node.chain.head.id).toBe(second.test.chain.head.id)
  return { node, straight: second.test }
}

async function entriesOf({ chain }: TestChain, prefixes: readonly number[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const prefix of prefixes)
    for await (const [key, value] of chain.database.store.entries(KEYS.index(prefix, new Uint8Array(0))))
      found.set(toHex(key), toHex(value))
  return found
}

interface Mined {
  readonly block: Block
  readonly receipts: ReadonlyMap<TxId, ReceiptOf<'transaction'>>
  readonly returns: readonly ReceiptOf<'tab_return'>[]
}

function minedIn({ chain: { database } }: TestChain, block: Block): Mined {
  const all = (database.receipts(block.id as BlockId) ?? []).map(decodeReceipt)
  const transactions = all.filter((receipt) => receipt.type === 'transaction')
  return {
    block,
    receipts: new Map(transactions.map((receipt) => [receipt.txId, receipt])),
    returns: all.filter((receipt) => receipt.type === 'tab_return'),
  }
}

/** What is found by reading all blocks: openings, top-ups, sound claims and returns of each tab. */
function told(test: TestChain) {
  const tabs = new Map<
    TxId,
    { deposit: bigint; opening: bigint; claims: { txId: TxId; entry: number }[]; end: string }
  >()
  for (const { block, receipts, returns } of blocksFrom(test, 1).map((one) => minedIn(test, one))) {
    const { height } = block.header
    for (const { tabId, amount } of returns) tabs.get(tabId)!.end = `return ${height} ${amount}`
    for (const { txId, body } of block.transactions) {
      const receipt = receipts.get(txId)!
      if (receipt.code !== 0) continue
      const { kind, payload } = body
      if (kind === 'tab_open')
        tabs.set(txId, { deposit: payload.deposit, opening: payload.deposit, claims: [], end: 'open' })
      if (kind === 'tab_fund') tabs.get(payload.tabId)!.deposit += payload.amount
      if (kind !== 'tab_claim') continue
      for (const [entry, { tabId, close, claimed }] of payload.entries.entries()) {
        if (receipt.entries[entry] !== 0) continue
        const tab = tabs.get(tabId)!
        tab.claims.push({ txId, entry })
        if (close) tab.end = `claim ${height} ${tab.deposit - claimed}`
      }
    }
  }
  return tabs
}

function endOf({ end }: TabFacts): string {
  return end === null ? 'open' : `${end.how} ${end.height} ${end.returned}`
}

describe('indexes of tabs', () => {
  it('hold every tab with its claims, sums and end as the blocks tell them, also after a reorganisation', async () => {
    const seen = { open: 0, claim: 0, return: 0, claims: 0 }
    for (let seed = 1; seed <= runs(12); seed++) {
      const { node } = await reorganised(seed)
      const { database } = node.chain
      const tabs = told(node)
      const sums = { open: 0, locked: 0n, claimed: 0n, burned: 0n }
      for (const [tabId, expected] of tabs) {
        const facts = tabFacts(node.chain, tabId)!
        const { sums: own, tab, end, locked } = facts
        expect(endOf(facts)).toBe(expected.end)
        expect(facts.dueAt === null).toBe(end !== null)
        expect([tab.deposit, own?.opening, own?.claims]).toEqual([
          expected.deposit,
          expected.opening,
          expected.claims.length,
        ])
        expect(own!.paid + own!.burned + locked + (end?.returned ?? 0n)).toBe(expected.deposit)
        if (end?.how === 'claim') expect(end.txId).toBe(expected.claims.at(-1)?.txId)
        const claims = await tabClaims(database, tabId, { limit: ALL })
        expect(claims.map(({ txId, entry }) => ({ txId, entry }))).toEqual(expected.claims)
        // The record of the state commits to the claims.
        const linked = claims.filter(({ root }) => root !== ZERO_HEX_32)
        expect(linked.reduce(tabChain, ZERO_HEX_32 as Hash)).toBe(tab.chain)
        expect(claims.reduce((sum, { charged }) => sum + charged, 0n)).toBe(tab.claimed)
        expect(claims.reduce((sum, { burned }) => sum + burned, 0n)).toBe(own?.burned)
        expect(claims.reduce((sum, { failed }) => sum + failed, 0)).toBe(own?.failed)
        sums.open += end === null ? 1 : 0
        sums.locked += locked
        sums.claimed += tab.claimed
        sums.burned += own?.burned ?? 0n
        seen[end === null ? 'open' : end.how] += 1
        seen.claims += claims.length
      }
      expect(sums).toEqual(tabTotals(database))
      expect(tabFacts(node.chain, 'ab'.repeat(32) as TxId)).toBeUndefined()
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(5)
  })

  it('list the tabs of a payer, of an agent and all, newest first, open ones apart, page by page', async () => {
    const { node } = await reorganised(3)
    const { database } = node.chain
    const every = [...told(node).keys()].map((tabId) => tabFacts(node.chain, tabId)!)
    expect(every.some(({ end }) => end === null) && every.some(({ end }) => end !== null)).toBe(true)
    const lists = [
      { list: 'all' as const, has: () => true },
      ...WALLETS.map(({ address }) => ({
        list: { payer: address },
        has: ({ tab }: TabFacts) => tab.payer === address,
      })),
      ...AGENTS.map((id) => ({ list: { agentId: id }, has: ({ tab }: TabFacts) => tab.agentId === id })),
    ]
    for (const { list, has } of lists) {
      for (const open of [false, true]) {
        const expected = every.filter(has).filter(({ end }) => !open || end === null)
        const listed: TabPlace[] = []
        for (;;) {
          const page = await tabsListed(database, list, { limit: 2, open, before: listed.at(-1) })
          listed.push(...page)
          if (page.length < 2) break
        }
        expect(new Set(listed.map(({ tabId }) => tabId))).toEqual(new Set(expected.map(({ tabId }) => tabId)))
        const heights = listed.map(({ openedAt }) => openedAt)
        expect(heights).toEqual(heights.toSorted((a, b) => b - a))
      }
    }
  })

  it('are the same entries on a node that followed the best branch alone, after a rebuild, and by an audit', async () => {
    for (let seed = 1; seed <= runs(6); seed++) {
      const store = new MemoryKeyValueStore()
      const first = new RandomChain(await TestChain.open(RULES), seeded(seed))
      await first.grow(12)
      const second = await first.branch(seed)
      await second.grow(18 - seed)
      const node = await TestChain.open(RULES, store)
      await importAll(node, [...blocksFrom(first.test, 1), ...blocksFrom(second.test, 1)])
      const entries = await entriesOf(node, TAB_INDEXES)
      expect(entries.size).toBeGreaterThan(10)
      expect(entries).toEqual(await entriesOf(second.test, TAB_INDEXES))
      await rebuildIndexes({ store: node.chain.database.store, database: node.chain.database, ruleBook: RULES })
      expect(await entriesOf(node, TAB_INDEXES)).toEqual(entries)
      const { sound, indexes } = await auditState(node.chain)
      expect([sound, indexes.map(({ name }) => name)]).toEqual([true, ['holders', 'pools-by-asset', 'open-tabs']])
    }
  })

  it('have in the history of payer and payout each claim, and of the payer each return', async () => {
    const { node } = await reorganised(5)
    const { database } = node.chain
    const expected: string[] = []
    for (const tabId of told(node).keys()) {
      const { tab, end } = tabFacts(node.chain, tabId)!
      for (const { height, charged } of await tabClaims(database, tabId, { limit: ALL })) {
        const line = `tab_claimed ${tabId} ${height} ${charged}`
        expected.push(`${tab.payer} ${line}`, ...(tab.payout === tab.payer ? [] : [`${tab.payout} ${line}`]))
      }
      if (end !== null) expected.push(`${tab.payer} tab_returned ${tabId} ${end.height} ${end.returned}`)
    }
    const found: string[] = []
    for (const { address } of WALLETS) {
      const isTab = ({ event }: HistoryEntry): boolean => event === 'tab_claimed' || event === 'tab_returned'
      const events = (await historyOf(database, address, ALL)).filter(isTab)
      found.push(...events.map(({ event, txId, height, amount }) => `${address} ${event} ${txId} ${height} ${amount}`))
      for (const { event, roles, txId } of events) {
        const { payer, payout } = database.get(TABS, txId!) ?? tabFacts(node.chain, txId!)!.tab
        const payee = event === 'tab_claimed' && payout === address
        expect(new Set(roles)).toEqual(new Set([...(payer === address ? ['payer'] : []), ...(payee ? ['payout'] : [])]))
      }
    }
    expect(found.toSorted()).toEqual(expected.toSorted())
    expect(found.length).toBeGreaterThan(10)
  })
})

describe('the record of an agent', () => {
  it('counts calls on tabs apart, without insiders, as the statistics of consensus do together', async () => {
    const seen = { calls: 0, failed: 0, insiders: 0 }
    for (let seed = 1; seed <= runs(12); seed++) {
      const { node } = await reorganised(seed)
      const { database } = node.chain
      const tabs = [...told(node).keys()].map((tabId) => tabFacts(node.chain, tabId)!)
      for (const id of AGENTS) {
        const counted = tabs.filter(({ tab }) => tab.agentId === id && !tab.insider)
        const sumOf = (of: (facts: TabFacts) => bigint | number) =>
          counted.reduce((sum, facts) => sum + BigInt(of(facts)), 0n)
        const outcomes = decodeOutcomes(database.indexed(OUTCOMES, operatorOutcomesKey(id)))
        expect(BigInt(outcomes.provenCallsByTab)).toBe(sumOf(({ sums }) => sums!.calls))
        expect(BigInt(outcomes.failedByTab)).toBe(sumOf(({ sums }) => sums!.failed))
        expect(outcomes.volumeByTab).toBe(sumOf(({ tab }) => tab.claimed))
        expect(outcomes.burnedByTab).toBe(sumOf(({ sums }) => sums!.burned))
        const payers = counted.filter(({ sums }) => sums!.calls > 0).map(({ tab }) => tab.payer)
        expect(outcomes.payersByTab).toBe(new Set(payers).size)
        const proven = database.get(AGENT_STATISTICS, id) ?? NO_STATISTICS
        expect(outcomes.delivered + outcomes.provenCallsByTab).toBe(proven.calls)
        expect(outcomes.volume + outcomes.volumeByTab).toBe(proven.volume)
        const name = { agentId: id, serviceId: serviceId('summarise') }
        const service = decodeOutcomes(database.indexed(OUTCOMES, outcomesKey(name)))
        expect([service.provenCallsByTab, service.volumeByTab]).toEqual([
          outcomes.provenCallsByTab,
          outcomes.volumeByTab,
        ])
        // A claim does not say which service failed.
        expect(service.failedByTab).toBe(0)
        expect(service.burnedByTab).toBe(outcomes.burnedByTab)
        seen.calls += outcomes.provenCallsByTab
        seen.failed += outcomes.failedByTab
      }
      seen.insiders += tabs.filter(({ tab }) => tab.insider && tab.claimed > 0n).length
    }
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(3)
  })
})
