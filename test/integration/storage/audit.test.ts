import { describe, expect, it } from 'vitest'
import { MemoryKeyValueStore } from '../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../consensus/chain/layout.ts'
import { BRIDGE_NETWORKS } from '../../../consensus/ledger/bridge-records.ts'
import { STAKING } from '../../../consensus/ledger/staking.ts'
import { amount } from '../../../consensus/primitives/amount.ts'
import { encode } from '../../../consensus/primitives/codec.ts'
import type { StateTable } from '../../../consensus/state/table.ts'
import { tabTotals } from '../../../marketplace/ledger/tab-records.ts'
import { auditState } from '../../../src/cli/commands/audit.ts'
import { seeded } from '../../sim/miners.ts'
import { TestChain, wallet } from '../../support/chain.ts'
import { RandomChain, restlessRuleBook } from '../../support/random-chain.ts'

const BASE = 1

/** A chain with a stake, and a function that falsifies a record in its store. */
async function falsifiable() {
  const store = new MemoryKeyValueStore()
  const test = await TestChain.open(undefined, store)
  await test.mine([await test.tx(wallet(1), 'stake', { tier: 1, amount: amount(500_000_000n) })])
  const falsify = async <Id, T>(table: StateTable<Id, T>, id: Id, change: (record: T) => T): Promise<void> => {
    const record = test.chain.database.get(table, id) as T
    await store.batch([{ key: KEYS.state(table.key(id)), value: encode(table.codec, change(record)) }], () => {})
  }
  return { test, falsify }
}

describe('an audit', () => {
  it('finds sound books sound', async () => {
    const { test } = await falsifiable()
    expect(await auditState(test.chain)).toMatchObject({ sound: true, brokenAssets: [], brokenInvariants: [] })
  })

  it('adds up what open tabs lock', async () => {
    const random = new RandomChain(await TestChain.open(restlessRuleBook()), seeded(4))
    await random.grow(12)
    const { open, locked } = tabTotals(random.test.chain.database)
    expect(open).toBeGreaterThan(0)
    expect(await auditState(random.test.chain)).toMatchObject({
      sound: true,
      tabs: { open, locked: locked.toString() },
    })
  })

  it('finds vaults that hold less than is wrapped', async () => {
    const { test, falsify } = await falsifiable()
    await falsify(BRIDGE_NETWORKS, BASE, (record) => ({ ...record, deposited: amount(record.deposited - 1n) }))
    expect(await auditState(test.chain)).toMatchObject({
      sound: false,
      brokenAssets: [],
      brokenInvariants: ['custody'],
    })
  })

  it('finds a tier whose sum differs from its stakes', async () => {
    const { test, falsify } = await falsifiable()
    await falsify(STAKING, undefined, (books) => ({
      ...books,
      tiers: books.tiers.map((tier) => ({ ...tier, staked: amount(tier.staked + 1n) })),
    }))
    expect(await auditState(test.chain)).toMatchObject({
      sound: false,
      brokenAssets: [],
      brokenInvariants: ['stake-sum'],
    })
  })
})
