import { describe, expect, it } from 'vitest'
import { createInlineVerifier, type SignatureVerifier } from '../../../consensus/crypto/verifier.ts'
import type { Hash, TxId } from '../../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../../consensus/tx/kinds.ts'
import { voucherMessage } from '../../../consensus/tx/tab-messages.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { TABS } from '../../../marketplace/ledger/tab-records.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import { TestChain, type TxOptions, wallet } from '../../support/chain.ts'
import { TestMempool } from '../../support/mempool.ts'
import { VOUCHER_KEYS } from '../../support/tab-choices.ts'
import { tabRuleBook } from '../../support/tab-seller.ts'
import { filled, SAMPLE, units } from '../../support/unsigned.ts'

const PAYER = 1
const SELLER = 2
const STRANGER = 3
const KEY = VOUCHER_KEYS[0] as (typeof VOUCHER_KEYS)[number]

/** A mempool on a chain with one open tab. */
async function withTab(parts: Parameters<typeof TestMempool.open>[0] = {}) {
  const pool = await TestMempool.open({ ruleBook: tabRuleBook(), ...parts })
  const { test } = pool
  const seller = wallet(SELLER)
  const agent = { payout: seller.address, settlers: [seller.address] }
  await test.mine([
    await test.tx(seller, 'agent_register', SAMPLE.agent_register(agent)),
    await test.tx(seller, 'tab_terms', SAMPLE.tab_terms()),
  ])
  const voucherKey = KEY.publicKey as Hash
  const open = await test.tx(wallet(PAYER), 'tab_open', SAMPLE.tab_open({ voucherKey }))
  await test.mine([open, await pool.pay(STRANGER, 0)])
  const make = <K extends TxKind>(from: number, kind: K, payload: PayloadOf<K>, options: TxOptions = {}) =>
    test.tx(wallet(from), kind, payload, options)
  return { pool, tabId: open.txId, make }
}

const codeOf = async (pool: TestMempool, tx: Transaction) => (await pool.submit(tx))?.code ?? null

describe('of one tab, one transaction of the payer that funds or closes it', () => {
  it('may wait; the next has to wait until that is mined', async () => {
    const { pool, tabId, make } = await withTab()
    const fund = await make(PAYER, 'tab_fund', { tabId, amount: units(5_000) })
    const more = await make(PAYER, 'tab_fund', { tabId, amount: units(6_000) })
    const close = await make(PAYER, 'tab_close', { tabId })
    expect(await pool.submit(fund)).toBeNull()
    expect(await pool.submit(more)).toEqual({ code: 'mempool/tab-waits', detail: { tabId } })
    expect(await codeOf(pool, close)).toBe('mempool/tab-waits')
    await pool.test.mine([fund])
    expect(await pool.submit(more)).toBeNull()
  })

  it('can be replaced by another one', async () => {
    const { pool, tabId, make } = await withTab()
    const fund = await make(PAYER, 'tab_fund', { tabId, amount: units(5_000) })
    const options = { nonce: fund.body.nonce, tip: 50n, maxFeeRate: 20_000n }
    const close = await make(PAYER, 'tab_close', { tabId }, options)
    expect([await pool.submit(fund), await pool.submit(close)]).toEqual([null, null])
    expect(pool.mempool.ofAccount(wallet(PAYER).address)).toEqual([close])
  })

  it('leaves room for those of other tabs', async () => {
    const { pool, tabId, make } = await withTab()
    const other = await make(PAYER, 'tab_open', SAMPLE.tab_open())
    const close = await make(PAYER, 'tab_close', { tabId })
    const ahead = await make(PAYER, 'tab_fund', { tabId: other.txId, amount: units(5_000) })
    for (const tx of [other, close, ahead]) expect(await pool.submit(tx)).toBeNull()
  })

  it('cannot be kept out by a third party (attack 10)', async () => {
    const { pool, tabId, make } = await withTab()
    expect(await pool.submit(await make(STRANGER, 'tab_close', { tabId }))).toBeNull()
    const close = await make(PAYER, 'tab_close', { tabId })
    expect(await pool.submit(close)).toBeNull()
    await pool.test.mine([close])
    expect(pool.test.chain.database.get(TABS, tabId)?.closesAt).toBe(pool.test.height + 400)
  })
})

describe('a claim', () => {
  /** Failed calls alone, so that no voucher is needed. */
  const failedCalls = (tabId: TxId, receipts: number) => ({
    ...{ tabId, voucher: [], claimed: units(0), close: false, receipts, failed: receipts },
    ...{ root: filled<Hash>(7), services: [] },
  })

  it('whose entries are all of unknown tabs or stale is refused; one that brings something is not', async () => {
    const { pool, tabId, make } = await withTab()
    const unknown = SAMPLE.tab_claim([{ tabId: filled<TxId>(9) }]).entries
    const nothing = { ...failedCalls(tabId, 0), root: filled<Hash>(0) }
    const claim = (entries: PayloadOf<'tab_claim'>['entries'], nonce = 2n) =>
      make(SELLER, 'tab_claim', { entries }, { nonce })
    expect(await pool.submit(await claim([...unknown, nothing]))).toEqual({ code: 'mempool/claim-spent', detail: {} })
    const good = await claim([...unknown, failedCalls(tabId, 2)])
    expect(await pool.submit(good)).toBeNull()
    await pool.test.mine([good])
    expect(pool.test.chain.database.get(TABS, tabId)?.receipts).toBe(2)
    expect(await codeOf(pool, await claim([failedCalls(tabId, 2)], 3n))).toBe('mempool/claim-spent')
    expect(await codeOf(pool, await claim([{ ...nothing, receipts: 2, close: true }], 3n))).toBeNull()
  })

  it('that is stale is valid in a block', async () => {
    const { pool, tabId, make } = await withTab()
    const first = await make(SELLER, 'tab_claim', { entries: [failedCalls(tabId, 2)] })
    const second = await make(SELLER, 'tab_claim', { entries: [failedCalls(tabId, 2)] })
    await pool.test.mine([first, second])
    expect(pool.test.chain.database.get(TABS, tabId)?.receipts).toBe(2)
  })

  it('that waits and has become stale can be replaced: what waits behind it needs its nonce', async () => {
    const { pool, tabId, make } = await withTab()
    const entries = [failedCalls(tabId, 2)]
    const waits = await make(SELLER, 'tab_claim', { entries }, { nonce: 3n })
    expect(await pool.submit(waits)).toBeNull()
    await pool.test.mine([await make(SELLER, 'tab_claim', { entries }, { nonce: 2n })])
    const dearer = await make(SELLER, 'tab_claim', { entries }, { nonce: 3n, tip: 50n, maxFeeRate: 20_000n })
    expect(await pool.submit(dearer)).toBeNull()
  })

  it('of a protected account is not evicted for want of room, and comes first', async () => {
    const { pool, tabId, make } = await withTab({ policy: { countMax: 4 } })
    pool.mempool.protect(wallet(SELLER).address)
    const claim = await make(SELLER, 'tab_claim', { entries: [failedCalls(tabId, 2)] })
    expect(await pool.submit(claim)).toBeNull()
    for (const from of [4, 5, 6, 7, 8]) await pool.submit(await pool.pay(from, 0, { rate: 5_000n }))
    expect(pool.mempool.get(claim.txId)).toBeDefined()
    expect([...pool.mempool.candidates()][0]).toBe(claim)
  })
})

describe('vouchers of a claim that waits', () => {
  /** A verifier that counts the vouchers that it is given. */
  function counting(): SignatureVerifier & { vouchers: number } {
    const inline = createInlineVerifier(NATIVE_BACKEND)
    const counted = {
      ...{ vouchers: 0, verify: inline.verify },
      verifyTabs: async (jobs: Parameters<NonNullable<SignatureVerifier['verifyTabs']>>[0]) => {
        counted.vouchers += jobs.length
        return jobs.map(({ message, signature, key }) => NATIVE_BACKEND.verifyEd25519(message, signature, key))
      },
    }
    return counted
  }

  it('are checked once: the block that has the claim, and no other claim with them, asks again', async () => {
    const verifier = counting()
    const ruleBook = tabRuleBook()
    const test = await TestChain.open(ruleBook, undefined, { verifier })
    const { pool, tabId, make } = await withTab({ test, ruleBook, verifier })
    const entry = (receipts: number, isSigned = true) => {
      const voucher = { seq: receipts, ceiling: units(9_000), context: filled<Hash>(8) }
      const message = voucherMessage(test.chain.network, tabId, isSigned ? voucher : { ...voucher, seq: 0 })
      const signed = { ...voucher, signature: KEY.sign(message) }
      const counts = {
        claimed: units(0),
        close: false,
        receipts,
        failed: receipts,
        root: filled<Hash>(7),
        services: [],
      }
      return { tabId, voucher: [signed], ...counts }
    }
    const unknown = { ...entry(4), tabId: filled<TxId>(9) }
    const claim = await make(SELLER, 'tab_claim', { entries: [entry(2), entry(2), entry(3, false), unknown] })
    expect(await pool.submit(claim)).toBeNull()
    expect(verifier.vouchers).toBe(2)
    await test.mine([claim])
    expect(test.chain.database.get(TABS, tabId)?.receipts).toBe(2)
    expect(verifier.vouchers).toBe(2)
    await test.mine([await make(SELLER, 'tab_claim', { entries: [entry(2), { ...entry(5), failed: 3 }] })])
    expect(test.chain.database.get(TABS, tabId)?.receipts).toBe(5)
  })
})
