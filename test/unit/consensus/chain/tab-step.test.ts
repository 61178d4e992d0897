import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES, TAB_RULES } from '../../../../config/networks/rules.ts'
import { NETWORKS } from '../../../../config/networks/table.ts'
import type { Block } from '../../../../consensus/block/block.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { encode } from '../../../../consensus/primitives/codec.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { proveState, verifyStateProof } from '../../../../consensus/state/proof.ts'
import { TABS } from '../../../../marketplace/ledger/tab-records.ts'
import { auditState } from '../../../../src/cli/commands/audit.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { blocksFrom, outcomeOf } from '../../../support/branches.ts'
import { TestChain, wallet } from '../../../support/chain.ts'
import { overtake, TestMempool } from '../../../support/mempool.ts'
import { steadyChain, steppedRuleBook } from '../../../support/steady-chain.ts'
import { WITH_TABS } from '../../../support/tab-ledger.ts'
import { filled, SAMPLE } from '../../../support/unsigned.ts'

const STEP = 6
const STEPPED = steppedRuleBook([STEP, WITH_TABS])
/** The same network with tabs from its first block on: it makes the blocks that come too early. */
const EAGER = steppedRuleBook([1, WITH_TABS])

/** What the release before tabs, commit 92d295df, computed. */
const BEFORE_TABS = {
  mainnet: 'f79c179b61b519f76d71592b6a1e23d56bb41a5a269bcab39b902f28cd25f244',
  testnet: 'b45eeb9dcba100118bf1525e69277d0117622f97aca39050ef0aed21ee28db83',
  test: '0495bdce242eb6263edbe0da2f3e83f0a68af2c5b19863c41df467964250ef64',
  steadyHead: 'c4369f4ffeb4c7ad00ebbe712e141af04a3495f6ba83e709e19da4d48c4cd16c',
  steadyState: '85423cd7c59747eda1df48155bb84b968282c49a3fc488644ebb75485133259d',
}

const UNKNOWN_KIND = { code: 'block/transaction', detail: { index: 0, reason: 'tx/kind' } }
const agent = SAMPLE.agent_register({ payout: wallet(3).address, settlers: [] })

/** A block with a transaction about tabs, on the tip of a chain. */
async function blockWith(
  test: TestChain,
  kind: 'tab_terms' | 'tab_open' | 'tab_fund' | 'tab_close' | 'tab_claim',
): Promise<Block> {
  const eager = await TestChain.open(EAGER)
  eager.nowMs = test.nowMs
  for (const block of blocksFrom(test, 1)) await eager.import(block)
  return eager.build([await eager.tx(wallet(1), kind, SAMPLE[kind]() as never)])
}

describe('a rule step that brings tabs', () => {
  it.each(['tab_terms', 'tab_open', 'tab_fund', 'tab_close', 'tab_claim'] as const)(
    'makes %s a kind from its height on; in a block before it is malformed',
    async (kind) => {
      const test = await TestChain.open(STEPPED)
      while (test.height < STEP - 2) await test.mine()
      const early = await blockWith(test, kind)
      expect(early.header.height).toBe(STEP - 1)
      expect(await outcomeOf(test, early)).toEqual(UNKNOWN_KIND)
      expect(test.height).toBe(STEP - 2)
      await test.mine()
      const first = await blockWith(test, kind)
      expect([first.header.height, await outcomeOf(test, first)]).toEqual([STEP, 'connected'])
    },
  )

  it('refuses the same before it as a node that knows no step: the two stay on one chain', async () => {
    const [stepped, plain] = [await TestChain.open(STEPPED), await TestChain.open(steppedRuleBook())]
    while (plain.height < STEP - 1) {
      const block = await plain.mine()
      stepped.nowMs = plain.nowMs
      expect(await outcomeOf(stepped, block)).toBe('connected')
    }
    expect(stepped.chain.head.id).toBe(plain.chain.head.id)
    const first = await blockWith(stepped, 'tab_close')
    expect(await outcomeOf(plain, first)).toEqual(UNKNOWN_KIND)
    expect(await outcomeOf(stepped, first)).toBe('connected')
  })

  it('works like a network that had tabs from the beginning', async () => {
    const test = await TestChain.open(STEPPED)
    const owner = wallet(1)
    await test.mine([await test.tx(owner, 'agent_register', agent)])
    await test.mineTo(STEP - 1)
    await test.mine([await test.tx(owner, 'tab_terms', SAMPLE.tab_terms({ minCloseDelay: 3 }))])
    const open = await test.tx(wallet(2), 'tab_open', SAMPLE.tab_open({ term: 8, closeDelay: 3 }))
    await test.mine([open])
    expect(test.chain.database.get(TABS, open.txId)).toMatchObject({ openedAt: STEP + 1, expiresAt: STEP + 9 })
    await test.mineTo(STEP + 9)
    const receipts = (test.chain.database.receipts(test.chain.head.id) ?? []).map(decodeReceipt)
    expect(receipts[0]).toMatchObject({ type: 'tab_return', tabId: open.txId, amount: 1_000_000n })
  })
})

describe('a reorganisation across the step', () => {
  /** Blocks up to a height: an agent at the first, its terms and a tab as soon as they can be, a close or a claim behind them. */
  async function branch(from: readonly Block[], parts: { readonly to: number; readonly delayMs: number }) {
    const test = await TestChain.open(STEPPED)
    for (const block of from) {
      test.nowMs = block.header.timeMs
      await test.import(block)
    }
    test.nowMs += parts.delayMs
    await test.mineTo(STEP - 1)
    await test.mine([await test.tx(wallet(1), 'tab_terms', SAMPLE.tab_terms({ minCloseDelay: 3 }))])
    const open = await test.tx(wallet(2), 'tab_open', SAMPLE.tab_open({ term: 8, closeDelay: 3 }))
    await test.mine([open])
    await test.mine([await test.tx(wallet(2), 'tab_close', { tabId: open.txId })])
    await test.mineTo(parts.to)
    return { test, tabId: open.txId }
  }

  it('to and fro leaves the state of a node that followed the last branch alone', async () => {
    const trunk = await TestChain.open(STEPPED)
    await trunk.mine([await trunk.tx(wallet(1), 'agent_register', agent)])
    await trunk.mineTo(STEP - 3)
    const common = blocksFrom(trunk, 1)
    const short = await branch(common, { to: STEP + 3, delayMs: 0 })
    const long = await branch(common, { to: STEP + 5, delayMs: 1 })
    const longest = await branch(common, { to: STEP + 7, delayMs: 0 })
    const node = await TestChain.open(STEPPED)
    node.nowMs = longest.test.nowMs
    for (const { test } of [short, long, longest]) {
      for (const block of blocksFrom(test, 1)) await outcomeOf(node, block)
      expect([node.chain.head.id, node.stateRoot]).toEqual([test.chain.head.id, test.stateRoot])
      const tabs = [short, long, longest].map(({ tabId }) => node.chain.database.get(TABS, tabId) !== undefined)
      expect(tabs).toEqual(
        [short, long, longest].map(({ tabId }) => test.chain.database.get(TABS, tabId) !== undefined),
      )
      expect((await auditState(node.chain)).sound).toBe(true)
    }
  })

  it('puts a tab of the abandoned branch back to the waiting ones, from which it is mined again', async () => {
    const pool = await TestMempool.open({ test: await TestChain.open(STEPPED) })
    const { test, mempool } = pool
    await test.mine([await test.tx(wallet(1), 'agent_register', agent)])
    await test.mineTo(STEP - 2)
    const terms = await test.tx(wallet(1), 'tab_terms', SAMPLE.tab_terms({ minCloseDelay: 3 }))
    expect((await pool.submit(terms))?.code).toBe('tx/kind')
    await test.mine()
    const open = await test.tx(wallet(2), 'tab_open', SAMPLE.tab_open({ term: 8, closeDelay: 3 }))
    await test.mine([terms])
    await test.mine([open])
    await overtake(test, 4, [[], [], [], [], []])
    expect(test.height).toBe(STEP + 2)
    expect(
      mempool
        .transactions()
        .map(({ txId }) => txId)
        .toSorted(),
    ).toEqual([terms.txId, open.txId].toSorted())
    expect(test.chain.database.get(TABS, open.txId)).toBeUndefined()
    await test.mine([terms, open])
    expect(test.chain.database.get(TABS, open.txId)).toMatchObject({ openedAt: STEP + 3, expiresAt: STEP + 11 })
  })
})

describe('the rules before the step', () => {
  it('have the fingerprint that they had in the release before tabs', () => {
    for (const name of ['mainnet', 'testnet'] as const) {
      const params = NETWORKS[name]
      const book = createRuleBook(params, PROTOCOL)
      const { fromHeight, rules } = params.steps[1]!
      expect(rules.tx.tabs).toEqual(TAB_RULES)
      expect([0, fromHeight - 1].map(book.fingerprintAt)).toEqual([BEFORE_TABS[name], BEFORE_TABS[name]])
      expect(book.fingerprintAt(fromHeight)).toBe(book.fingerprint)
      expect(book.fingerprint).not.toBe(BEFORE_TABS[name])
    }
    expect(steppedRuleBook().fingerprint).toBe(BEFORE_TABS.test)
  })

  it('differ from a step that changes something else, and from one with other rules about tabs', () => {
    const other = { tx: { ...LAUNCH_RULES.tx, tabs: { ...TAB_RULES, callBurn: 1n } } }
    const books = [WITH_TABS, other, { token: { createBurn: 1n } }].map((change) => steppedRuleBook([STEP, change]))
    expect(new Set(books.map(({ fingerprint }) => fingerprint)).size).toBe(3)
    expect(new Set(books.map((book) => book.fingerprintAt(STEP - 1)))).toEqual(new Set([BEFORE_TABS.test]))
  })

  it('replay an old chain to the same head and state, with and without the step behind it', async () => {
    const old = await steadyChain(steppedRuleBook())
    expect([old.chain.head.id, old.stateRoot]).toEqual([BEFORE_TABS.steadyHead, BEFORE_TABS.steadyState])
    const upgraded = await TestChain.open(steppedRuleBook([old.height + 1, WITH_TABS]))
    upgraded.nowMs = old.nowMs
    for (const block of blocksFrom(old, 1)) expect(await outcomeOf(upgraded, block)).toBe('connected')
    expect([upgraded.chain.head.id, upgraded.stateRoot]).toEqual([BEFORE_TABS.steadyHead, BEFORE_TABS.steadyState])
    expect(await outcomeOf(upgraded, await blockWith(upgraded, 'tab_close'))).toBe('connected')
  })
})

describe('the record of a tab', () => {
  it('is shown by a state proof, and so is that it has ended', async () => {
    const test = await TestChain.open(steppedRuleBook([1, WITH_TABS]))
    await test.mine([
      await test.tx(wallet(1), 'agent_register', agent),
      await test.tx(wallet(1), 'tab_terms', SAMPLE.tab_terms({ minCloseDelay: 3 })),
    ])
    const open = await test.tx(wallet(2), 'tab_open', SAMPLE.tab_open({ term: 8, closeDelay: 3 }))
    await test.mine([open])
    const { database } = test.chain
    const shows = (tabId: TxId, value: Uint8Array | undefined) =>
      verifyStateProof(test.stateRoot as Hash, TABS.key(tabId), value, proveState(database, TABS.key(tabId)))
    const tab = database.get(TABS, open.txId)!
    expect(shows(open.txId, encode(TABS.codec, tab))).toBe(true)
    expect(shows(open.txId, encode(TABS.codec, { ...tab, claimed: tab.deposit }))).toBe(false)
    expect(shows(open.txId, undefined)).toBe(false)
    expect(shows(filled<TxId>(9), undefined)).toBe(true)
    await test.mineTo(tab.expiresAt)
    expect(shows(open.txId, undefined)).toBe(true)
  })
})
