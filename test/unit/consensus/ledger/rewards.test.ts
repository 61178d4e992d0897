import { describe, expect, it } from 'vitest'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import type { ReceiptOf } from '../../../../consensus/ledger/receipt.ts'
import { REWARDS } from '../../../../consensus/ledger/rewards.ts'
import { nativeSupply, STAKING_POOL } from '../../../../consensus/ledger/supply.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { FUNDS, fundedRuleBook, MINER, TestLedger } from '../../../support/ledger.ts'
import { filled, SAMPLE } from '../../../support/unsigned.ts'

const ALICE = filled<Address>(1)
const CAP = 10n ** 16n
/** Coins of genesis: those of six accounts, and 400,000 and 40,000 coins in the devnet's pools. */
const MINTED = 6n * FUNDS + 440_000n * 10n ** 8n

function closeOf(receipts: readonly { readonly type: string }[]): ReceiptOf<'close'> {
  return receipts.at(-1) as ReceiptOf<'close'>
}

describe('the close of a block', () => {
  it('mints a 2^23rd of the headroom, a tenth of it for stakers, the rest for the miner', () => {
    const ledger = new TestLedger()
    const subsidy = (CAP - MINTED) / 2n ** 23n
    const stakingShare = subsidy / 10n
    const close = closeOf(ledger.block().receipts)
    expect(close).toEqual({
      ...{ type: 'close', burned: 0n, subsidy, stakingShare, miner: MINER, reward: subsidy - stakingShare },
    })
    expect(nativeSupply(ledger.state)).toEqual({ minted: MINTED + subsidy, burned: 0n, cap: CAP })
    expect(ledger.get(STAKING_POOL, undefined)).toEqual({ accrued: stakingShare })
    expect(ledger.get(REWARDS, 1)).toEqual({ miner: MINER, amount: subsidy - stakingShare })
  })

  it('mints a little less with every block, and adds up the stakers’ share', () => {
    const ledger = new TestLedger()
    const [one, two] = [closeOf(ledger.block().receipts), closeOf(ledger.block().receipts)]
    expect(two.subsidy).toBe((CAP - MINTED - one.subsidy) / 2n ** 23n)
    expect(two.subsidy < one.subsidy).toBe(true)
    expect(ledger.get(STAKING_POOL, undefined)?.accrued).toBe(one.stakingShare + two.stakingShare)
  })

  it('burns the base fees and gives the tips to the miner', () => {
    const ledger = new TestLedger()
    const tx = ledger.tx(ALICE, 'transfer', SAMPLE.transfer(), { tip: 5n })
    const block = ledger.block([tx], 40n)
    const paid = block.receipts[0] as ReceiptOf<'transaction'>
    const close = closeOf(block.receipts)
    expect(paid).toMatchObject({ rate: 45n, fee: BigInt(paid.weight) * 45n, burned: BigInt(paid.weight) * 40n })
    expect(close.burned).toBe(paid.burned)
    expect(close.reward).toBe(close.subsidy - close.stakingShare + paid.fee - paid.burned)
    expect(nativeSupply(ledger.state).burned).toBe(paid.burned)
  })
})

describe('a reward', () => {
  it('reaches its miner 100 blocks later, opening the account, with a receipt before all others', () => {
    const ledger = new TestLedger()
    const first = closeOf(ledger.block().receipts)
    ledger.advanceTo(101)
    expect(ledger.balance(MINER)).toBe(-1n)
    const block = ledger.block([ledger.tx(ALICE, 'transfer', SAMPLE.transfer())])
    expect(block.receipts.map(({ type }) => type)).toEqual(['reward', 'transaction', 'close'])
    expect(block.receipts[0]).toEqual({ type: 'reward', height: 1, miner: MINER, amount: first.reward })
    expect(ledger.get(ACCOUNTS, MINER)).toEqual({ version: 1, nonce: 0n, balance: first.reward, auth: filled(0) })
    expect(ledger.get(REWARDS, 1)).toBeUndefined()
    expect(ledger.get(REWARDS, 2)).toBeDefined()
  })

  it('can be spent in the very block in which it matures', () => {
    const ledger = new TestLedger()
    ledger.advanceTo(101)
    const spend = ledger.tx(MINER, 'transfer', SAMPLE.transfer({ to: ALICE }))
    const [, paid] = ledger.block([spend]).receipts
    expect(paid).toMatchObject({ type: 'transaction', code: 0 })
    expect(ledger.balance(ALICE)).toBe(FUNDS + 5_000n)
  })

  it('is added to what the miner has by then', () => {
    const ledger = new TestLedger()
    const [one, two] = [closeOf(ledger.block().receipts), closeOf(ledger.block().receipts)]
    ledger.advanceTo(103)
    expect(ledger.balance(MINER)).toBe(one.reward + two.reward)
    expect(ledger.broken()).toEqual([])
  })

  it('of nothing is entered, credited and receipted like any other, when every coin is minted', () => {
    const { params } = fundedRuleBook()
    const { rules } = params.steps[0] as (typeof params.steps)[number]
    const capped = { ...rules, coin: { ...rules.coin, supplyCap: MINTED } }
    const ledger = new TestLedger(createRuleBook({ ...params, steps: [{ fromHeight: 0, rules: capped }] }, PROTOCOL))
    expect(closeOf(ledger.block().receipts)).toMatchObject({ subsidy: 0n, stakingShare: 0n, reward: 0n })
    expect(ledger.get(REWARDS, 1)).toEqual({ miner: MINER, amount: 0n })
    ledger.advanceTo(101)
    expect(ledger.block().receipts[0]).toEqual({ type: 'reward', height: 1, miner: MINER, amount: 0n })
    expect(ledger.get(ACCOUNTS, MINER)).toEqual({ version: 1, nonce: 0n, balance: 0n, auth: filled(0) })
  })

  it('is paid once, and none is passed over, when a later step lets rewards mature more slowly', () => {
    const { params } = fundedRuleBook()
    const { rules } = params.steps[0] as (typeof params.steps)[number]
    const step = (fromHeight: number, rewardMaturity: number) => ({
      fromHeight,
      rules: { ...rules, coin: { ...rules.coin, rewardMaturity } },
    })
    const ledger = new TestLedger(createRuleBook({ ...params, steps: [step(0, 2), step(6, 5)] }, PROTOCOL))
    const paid: number[] = []
    for (let height = 1; height <= 15; height++) {
      for (const receipt of ledger.block().receipts) if (receipt.type === 'reward') paid.push(receipt.height)
    }
    expect(paid).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })
})
