import { TAB_RULES } from '../../config/networks/rules.ts'
import type { Block } from '../../consensus/block/block.ts'
import type { ChainIndex } from '../../consensus/chain/chain-index.ts'
import type { KeyValueStore } from '../../consensus/chain/key-value.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { fromHex, toHex, uint32LE, uintBE, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash, TxId } from '../../consensus/primitives/ids.ts'
import type { ClaimEntry } from '../../consensus/tx/tab-payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { TABS } from '../../marketplace/ledger/tab-records.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { blocksFrom } from './branches.ts'
import { TestChain, WALLETS, wallet } from './chain.ts'
import { testParams } from './network.ts'
import { dumpStore } from './stores.ts'
import { agentId, filled, SAMPLE, serviceId, units } from './unsigned.ts'
import { VOUCHER_KEY } from './voucher-key.ts'

/** Terms of escrows and tabs in these chains: short, so that some expire. */
const TERMS = [2, 3, 5, 9]
const CLOSE_DELAYS = [1, 2, 4]
const STRETCH = 4

/** An index that folds: it counts the transactions of every four blocks, and the blocks of each miner. */
export const TALLY: ChainIndex = {
  name: 'tally',
  prefix: 0xf0,
  fold: ({ block: { header, transactions } }, read) => {
    const stretch = uintBE(BigInt(Math.floor(header.height / STRETCH)), 4)
    const counted = (key: Uint8Array, more: number) => {
      const before = read(key)
      const count = before === undefined ? 0 : new DataView(before.buffer, before.byteOffset).getUint32(0, true)
      return { key, value: uint32LE(count + more) }
    }
    const miner = fromHex(header.miner)
    // Indexes may also delete: every seventh block deletes the count of its four blocks.
    const tally = header.height % 7 === 6 ? { key: stretch } : counted(stretch, transactions.length)
    return [tally, counted(miner, 1)]
  },
}

/**
 * The program's rules and indexes, with short terms, rewards that mature soon, and {@link TALLY}. Each further step
 * begins at a given height.
 */
export function restlessRuleBook(...further: readonly number[]): RuleBook {
  const params = testParams()
  const { rules } = params.steps[0] as (typeof params.steps)[number]
  const tabs = { ...TAB_RULES, terms: TERMS, closeDelays: CLOSE_DELAYS }
  const change = { tx: { ...rules.tx, invokeTerms: TERMS, tabs }, coin: { ...rules.coin, rewardMaturity: 3 } }
  const steps = [0, ...further].map((fromHeight) => ({ fromHeight, rules: { ...rules, ...change } }))
  return createRuleBook({ ...params, steps }, { ...PROTOCOL, indexes: [...PROTOCOL.indexes, TALLY] })
}

const AGENTS = ['agent-one', 'agent-two'].map(agentId)

/** Grows a chain by blocks of random transfers, paid calls and tabs. Escrows and tabs end in every way within a few blocks. */
export class RandomChain {
  readonly test: TestChain
  readonly #random: () => number
  #open: TxId[] = []
  /** Tabs that may be open, with the wallets that opened them. */
  #tabs: { readonly tabId: TxId; readonly payer: WalletKey }[] = []

  constructor(test: TestChain, random: () => number) {
    this.test = test
    this.#random = random
  }

  async grow(count: number): Promise<readonly Block[]> {
    const blocks: Block[] = []
    for (let i = 0; i < count; i++) {
      const transactions: Transaction[] = this.test.height === 0 ? await this.#opening() : []
      for (let n = this.#below(5); n > 0; n--) transactions.push(await this.#transaction())
      for (let n = this.#below(4); n > 0; n--) transactions.push(await this.#tabTransaction())
      const extra = new Uint8Array(32).map(() => this.#below(256))
      blocks.push(await this.test.mine(transactions, { miner: wallet(1 + this.#below(10)).address, extra }))
    }
    return blocks
  }

  /** A chain with this one's blocks up to a height. */
  async branch(height: number): Promise<RandomChain> {
    const test = await TestChain.open(this.test.ruleBook)
    test.nowMs = this.test.nowMs
    for (const block of blocksFrom(this.test, 1).slice(0, height)) await test.import(block)
    return new RandomChain(test, this.#random)
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T
  }

  /** Two agents with a service each, which take tabs. */
  async #opening(): Promise<Transaction[]> {
    const made = AGENTS.map(async (agentId, i) => {
      const owner = wallet(1 + i)
      const register = SAMPLE.agent_register({ agentId, payout: owner.address, settlers: [] })
      return [
        await this.test.tx(owner, 'agent_register', register),
        await this.test.tx(owner, 'service_publish', SAMPLE.service_publish({ agentId })),
        await this.test.tx(owner, 'tab_terms', SAMPLE.tab_terms({ agentId, minCloseDelay: 1 })),
      ]
    })
    return (await Promise.all(made)).flat()
  }

  async #transaction(): Promise<Transaction> {
    const { test } = this
    const agent = { agentId: this.#pick(AGENTS), payout: this.#pick(WALLETS).address }
    // The first two wallets own an agent each and sign for it, so that most changes and receipts are valid.
    const owner = wallet(1 + AGENTS.indexOf(agent.agentId))
    const choice = this.#below(10)
    if (choice === 0) return test.tx(owner, 'agent_register', SAMPLE.agent_register({ ...agent, settlers: [] }))
    if (choice === 1) return test.tx(owner, 'agent_update', SAMPLE.agent_update({ ...agent, owner: owner.address }))
    if (choice < 5 && this.#open.length > 0) {
      const txIds = [...new Set([this.#pick(this.#open), this.#open.at(-1) as TxId])]
      const entries = txIds.map((txId) => ({ txId, outcome: this.#below(2) }))
      return test.tx(owner, 'agent_receipt', SAMPLE.agent_receipt(entries))
    }
    if (choice < 7) return this.#transfer()
    const tx = await test.tx(
      this.#pick(WALLETS),
      'agent_invoke',
      SAMPLE.agent_invoke({ agentId: agent.agentId, term: this.#pick(TERMS) }),
    )
    this.#open = [...this.#open.slice(-5), tx.txId]
    return tx
  }

  async #tabTransaction(): Promise<Transaction> {
    const { test } = this
    const known = this.#below(4) === 0 ? undefined : this.#pick([...this.#tabs, undefined])
    if (known === undefined) return this.#opensTab()
    const { tabId, payer } = known
    const choice = this.#below(8)
    if (choice === 0) return test.tx(payer, 'tab_fund', SAMPLE.tab_fund({ tabId, amount: units(1 + this.#below(900)) }))
    if (choice === 1) return test.tx(payer, 'tab_close', SAMPLE.tab_close({ tabId }))
    const entries = [...new Set([tabId, this.#pick(this.#tabs).tabId])].map((id) => this.#claim(id))
    return test.tx(this.#pick([wallet(1), wallet(2)]), 'tab_claim', SAMPLE.tab_claim(entries))
  }

  async #opensTab(): Promise<Transaction> {
    const payer = this.#pick(this.#below(3) === 0 ? [wallet(1), wallet(2)] : WALLETS)
    const opening = { agentId: this.#pick(AGENTS), deposit: units(1_000_000 + this.#below(3_000_000)) }
    const terms = { term: this.#pick(TERMS), closeDelay: this.#pick(CLOSE_DELAYS), voucherKey: VOUCHER_KEY.publicKey }
    const tx = await this.test.tx(payer, 'tab_open', SAMPLE.tab_open({ ...opening, ...terms }))
    this.#tabs = [...this.#tabs.slice(-7), { tabId: tx.txId, payer }]
    return tx
  }

  /** An entry for a few more calls than the head knows of, now and then with `close`. */
  #claim(tabId: TxId): ClaimEntry {
    const tab = this.test.chain.database.get(TABS, tabId)
    const [calls, failed] = [this.#below(3), this.#below(2)]
    const more = calls === 0 ? 0 : 1 + this.#below(300_000)
    const claimed = units((tab?.claimed ?? 0n) + BigInt(more))
    const voucher = VOUCHER_KEY.voucher(this.test.chain.network, tabId, {
      seq: 0,
      ceiling: claimed,
      context: filled(7),
    })
    return {
      ...{ tabId, voucher: more === 0 ? [] : [voucher], claimed, close: this.#below(4) === 0 },
      ...{ receipts: (tab?.receipts ?? 0) + calls + failed, failed },
      root: calls + failed === 0 ? (ZERO_HEX_32 as Hash) : filled<Hash>(1 + this.#below(99)),
      services: calls === 0 ? [] : [{ serviceId: serviceId('summarise'), calls, amount: units(more) }],
    }
  }

  #transfer(): Promise<Transaction> {
    const fresh = toHex(uintBE(BigInt(1 + this.#below(1_000)), 32)) as Address
    const to = this.#random() < 0.3 ? fresh : this.#pick(WALLETS).address
    const amount = units(1 + this.#below(1_000))
    const create = this.#random() < 0.8
    return this.test.tx(this.#pick(WALLETS), 'transfer', SAMPLE.transfer({ to, amount, create }))
  }
}

/** Everything that indexes keep in a store: entries, undo records, marks, and leftovers of a rebuild. */
export async function indexSpace(store: KeyValueStore): Promise<ReadonlyMap<string, string>> {
  const marks = ['indexes', 'reindex'].map((name) => `00${toHex(new TextEncoder().encode(name))}`)
  const entries = [...(await dumpStore(store))]
  return new Map(entries.filter(([key]) => /^0[def]/.test(key) || marks.includes(key)))
}
