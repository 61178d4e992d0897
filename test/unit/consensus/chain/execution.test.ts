import { describe, expect, it } from 'vitest'
import { executeBlock } from '../../../../consensus/chain/execution.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import { receiptsRoot } from '../../../../consensus/ledger/receipt.ts'
import { formatAmount } from '../../../../consensus/primitives/amount.ts'
import { type Fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { runNow } from '../../../../consensus/primitives/steps.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { weightOf } from '../../../../consensus/tx/weight.ts'
import { feeText } from '../../../support/fee-text.ts'
import { testHeader } from '../../../support/headers.ts'
import { FUNDS, MINER, TestLedger } from '../../../support/ledger.ts'
import { type EnvelopeChange, filled, SAMPLE, units } from '../../../support/unsigned.ts'

const [ALICE, BOB, STRANGER] = [filled<Address>(1), filled<Address>(2), filled<Address>(0x55)]

function transfer(ledger: TestLedger, change: EnvelopeChange = {}, sender = ALICE): Transaction {
  return ledger.tx(sender, 'transfer', SAMPLE.transfer({ to: BOB }), change)
}

describe('a transaction that cannot stand in a block', () => {
  it('is one whose sender has no account', () => {
    const ledger = new TestLedger()
    expect(ledger.refusal(transfer(ledger, {}, STRANGER))).toEqual({ code: 'tx/sender-unknown', detail: {} })
  })

  it('is one with a nonce before or after the account’s', () => {
    const ledger = new TestLedger()
    ledger.block([transfer(ledger)])
    expect(ledger.refusal(transfer(ledger, { nonce: 0n }))).toEqual({
      ...{ code: 'tx/nonce-too-low', detail: { nonce: '0', next: '1' } },
    })
    expect(ledger.refusal(transfer(ledger, { nonce: 2n }))).toEqual({
      ...{ code: 'tx/nonce-too-high', detail: { nonce: '2', next: '1' } },
    })
    expect(ledger.refusal(transfer(ledger, { nonce: 1n }))).toBeNull()
  })

  it('is one past its validUntil, which counts inclusively; 0 never ends', () => {
    const ledger = new TestLedger()
    ledger.advanceTo(50)
    expect(ledger.refusal(transfer(ledger, { validUntil: 49 }))).toEqual({
      ...{ code: 'tx/expired', detail: { validUntil: 49, height: 50 } },
    })
    for (const validUntil of [50, 51, 0, 2 ** 32 - 1]) {
      expect(ledger.refusal(transfer(ledger, { validUntil }))).toBeNull()
    }
  })

  it('is one that pays less than the base fee', () => {
    const ledger = new TestLedger()
    const cheap = transfer(ledger, { maxFeeRate: 39n })
    const texts = { feeText: feeText(cheap, 39n), leastText: feeText(cheap, 40n) }
    const refusal = ledger.refusal(cheap, 40n)
    expect(refusal).toEqual({
      ...{ code: 'tx/fee-rate-below-base', detail: { maxFeeRate: '39', baseFee: '40', ...texts } },
    })
    expect(faultMessage(refusal as Fault)).toContain(
      `at most ${texts.feeText}; a block takes at least ${texts.leastText}`,
    )
    expect(ledger.refusal(transfer(ledger, { maxFeeRate: 40n }), 40n)).toBeNull()
  })

  it('is one whose fee the balance does not pay, to the last unit', () => {
    const ledger = new TestLedger()
    const probe = transfer(ledger, { tip: 0n })
    const fee = BigInt(weightOf(probe, ledger.ruleBook.at(1).tx)) * 32n
    // Leaves Bob with exactly `rest` base units.
    const drain = (rest: bigint) => {
      const one = ledger.tx(BOB, 'transfer', SAMPLE.transfer({ to: ALICE, amount: units(1) }), { tip: 0n })
      const spent = BigInt(weightOf(one, ledger.ruleBook.at(1).tx)) * 32n
      const amount = units(ledger.balance(BOB) - spent - rest)
      ledger.block([ledger.tx(BOB, 'transfer', SAMPLE.transfer({ to: ALICE, amount }), { tip: 0n })])
    }
    drain(fee - 1n)
    const refused = ledger.refusal(transfer(ledger, { tip: 0n }, BOB))
    const texts = { balanceText: `${formatAmount(fee - 1n, 8)} FAR`, feeText: `${formatAmount(fee, 8)} FAR` }
    expect(refused).toEqual({
      ...{ code: 'tx/fee-unpayable', detail: { balance: `${fee - 1n}`, fee: `${fee}`, ...texts } },
    })
    expect(faultMessage(refused as Fault)).toMatch(/^the balance of 0\.0\d+ FAR does not pay the fee of 0\.0\d+ FAR$/)
    ledger.block([ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: BOB, amount: units(1) }))])
    expect(ledger.refusal(transfer(ledger, { tip: 0n }, BOB))).toBeNull()
  })

  it('changes nothing', () => {
    const ledger = new TestLedger()
    const execution = ledger.open(40n)
    expect(execution.apply(transfer(ledger, { maxFeeRate: 39n }))?.code).toBe('tx/fee-rate-below-base')
    expect(execution.apply(transfer(ledger, { nonce: 3n }))?.code).toBe('tx/nonce-too-high')
    expect(execution.view.get(ACCOUNTS, ALICE)?.balance).toBe(FUNDS)
    const { receipts, weightUsed, keys } = runNow(execution.close())
    expect([receipts.length, weightUsed, keys.size]).toEqual([1, 0, 0])
  })
})

describe('a transaction whose payload fails', () => {
  it('pays its fee and uses its nonce, and changes nothing else', () => {
    const ledger = new TestLedger()
    const tx = ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER }), { tip: 3n })
    const weight = weightOf(tx, ledger.ruleBook.at(1).tx)
    const { receipts, changes } = ledger.block([tx])
    const fee = BigInt(weight) * 35n
    expect(receipts[0]).toEqual({
      ...{ type: 'transaction', txId: tx.txId, code: 2, weight, rate: 35n, fee, burned: BigInt(weight) * 32n },
      ...{ entries: [], amounts: [] },
    })
    expect(ledger.get(ACCOUNTS, ALICE)).toMatchObject({ nonce: 1n, balance: FUNDS - fee })
    expect(changes.map(({ table }) => table.name).toSorted()).toEqual(['accounts', 'rewards', 'staking-pool', 'supply'])
    expect(ledger.broken()).toEqual([])
  })

  it('leaves room for the sender’s next one in the same block', () => {
    const ledger = new TestLedger()
    const failing = ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER }))
    const { receipts } = ledger.block([failing, transfer(ledger, { nonce: 1n })])
    expect(receipts.map((receipt) => receipt.type === 'transaction' && receipt.code)).toEqual([2, 0, false])
    expect(ledger.balance(BOB)).toBe(FUNDS + 5_000n)
  })

  it('registers the keys that it carried all the same', () => {
    const ledger = new TestLedger()
    const keys = Uint8Array.of(1, 2, 3)
    const failing = ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER }), { witness: { keys } })
    const block = ledger.block([failing, transfer(ledger, { nonce: 1n })])
    expect([...block.keys]).toEqual([[ALICE, keys]])
  })
})

describe('the fee of a transaction', () => {
  it.each([
    [100n, 5n, 32n, 37n],
    [36n, 5n, 32n, 36n],
    [32n, 5n, 32n, 32n],
  ])('at most %d with a tip of %d over a base fee of %d is %d per unit', (maxFeeRate, tip, baseFee, rate) => {
    const ledger = new TestLedger()
    const tx = transfer(ledger, { maxFeeRate, tip })
    const [receipt] = ledger.block([tx], baseFee).receipts
    const weight = BigInt(weightOf(tx, ledger.ruleBook.at(1).tx))
    expect(receipt).toMatchObject({ rate, fee: weight * rate, burned: weight * baseFee })
    expect(ledger.balance(ALICE)).toBe(FUNDS - 5_000n - weight * rate)
  })

  it('is gone from the sender before its payload runs', () => {
    const ledger = new TestLedger()
    const tx = ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: BOB, amount: units(FUNDS - 1n) }))
    expect(ledger.block([tx]).receipts[0]).toMatchObject({ code: 3 })
  })
})

describe('a block', () => {
  it('lets a later transaction spend what an earlier one brought', () => {
    const ledger = new TestLedger()
    const open = ledger.tx(ALICE, 'transfer', SAMPLE.transfer({ to: STRANGER, amount: units(1e9), create: true }))
    const spend = ledger.tx(STRANGER, 'transfer', SAMPLE.transfer({ to: BOB }))
    expect(ledger.refusal(spend)?.code).toBe('tx/sender-unknown')
    expect(ledger.block([open, spend]).receipts.map((one) => one.type === 'transaction' && one.code)).toEqual([
      0,
      0,
      false,
    ])
  })

  it('uses the sum of its weights', () => {
    const ledger = new TestLedger()
    const two = [transfer(ledger), transfer(ledger, {}, BOB)]
    expect(ledger.block(two).weightUsed).toBe(two.reduce((sum, tx) => sum + weightOf(tx, ledger.ruleBook.at(1).tx), 0))
  })

  it('reports its changes in key order', () => {
    const ledger = new TestLedger()
    const keys = ledger.block([transfer(ledger), transfer(ledger, {}, BOB)]).changes.map(({ key }) => key)
    expect(keys).toEqual(keys.toSorted())
  })

  it('executed as a whole names the transaction that cannot stand in it', () => {
    const ledger = new TestLedger()
    const block = {
      header: testHeader({ height: 1, miner: MINER, baseFee: 32n }),
      bytes: new Uint8Array(0),
      id: filled(1),
    }
    const run = (transactions: readonly Transaction[], root = filled(0x13)) => {
      const header = { ...block.header, receiptsRoot: root }
      const steps = executeBlock(ledger.ruleBook, ledger.state, { ...block, header, transactions } as never)
      for (let pauses = 0; ; pauses++) {
        const step = steps.next()
        if (step.done) return { pauses, result: step.value }
      }
    }
    const bad = [transfer(ledger), transfer(ledger, { nonce: 9n })]
    expect(run(bad).result).toEqual({
      ok: false,
      fault: { code: 'block/transaction', detail: { index: 1, reason: 'tx/nonce-too-high' } },
    })
    const good = bad.slice(0, 1)
    expect(run(good).result).toEqual({ ok: false, fault: { code: 'block/receipts-root', detail: {} } })
    const executed = new TestLedger().block(good)
    expect(run(good, receiptsRoot(executed.encodedReceipts) as never)).toMatchObject({
      // One pause after the transaction, one in the closing step.
      pauses: 2,
      result: { ok: true },
    })
  })
})
