import { describe, expect, it } from 'vitest'
import type { RuleBook } from '../../../../consensus/chain/rule-book.ts'
import type { KindHandlers } from '../../../../consensus/ledger/module.ts'
import type { StakingRules } from '../../../../consensus/ledger/rules.ts'
import { STAKES, STAKING, stakingModule } from '../../../../consensus/ledger/staking.ts'
import { rewardUnits } from '../../../../consensus/ledger/staking-accrual.ts'
import { STAKING_POOL } from '../../../../consensus/ledger/supply.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import { FUNDS, fundedRuleBook, TestLedger } from '../../../support/ledger.ts'
import { assertSolvent, STAKERS, StakingRun, type StakingSetup, stakingRuleBook } from '../../../support/staking.ts'
import { filled, SAMPLE, units, unsigned } from '../../../support/unsigned.ts'

const [ALICE, BOB] = STAKERS as [Address, Address]
const COIN = 100_000_000n
const STAKING_RULES: StakingRules = {
  tiers: [
    { lockBlocks: 0, yearlyBps: 100n },
    { lockBlocks: 10, yearlyBps: 500n },
    { lockBlocks: 40, yearlyBps: 0n },
  ],
  blocksPerYear: 100n,
}
const SETUP: StakingSetup = { staking: STAKING_RULES, funds: FUNDS }
const RICH = stakingRuleBook(SETUP)
/** Every block adds only 5 base units to the staking pool. */
const POOR = stakingRuleBook({
  ...SETUP,
  coin: { supplyCap: 4n * FUNDS + 5_000_000n, subsidyDivisor: 1_000_000n, stakingShareBps: 10_000n },
})

/** A ledger on which these stakes were made in block 1, in order. */
function staked(ruleBook: RuleBook, ...stakes: readonly (readonly [who: number, tier: number, amount: bigint])[]) {
  const run = new StakingRun(ruleBook)
  run.block(stakes.map(([who, tier, amount]) => ({ kind: 'stake', who, tier, amount })))
  return run
}

describe('a stake', () => {
  it('takes the coins, and is recorded under the sender and the transaction', () => {
    const ledger = new TestLedger(RICH)
    ledger.block()
    const { code, receipt, tx } = ledger.send(ALICE, 'stake', { tier: 1, amount: units(7n * COIN) })
    expect([code, receipt.amounts]).toEqual(['success', []])
    expect(ledger.balance(ALICE)).toBe(FUNDS - 7n * COIN - receipt.fee)
    expect(ledger.get(STAKES, { address: ALICE, stakeId: tx.txId })).toEqual({
      ...{ tier: 1, amount: 7n * COIN, startIndex: 0n, claimed: 0n, owed: 0n, stakedAt: 2, unlocksAt: 12 },
    })
    const none = { staked: 0n, index: 0n }
    expect(ledger.get(STAKING, undefined)).toEqual({
      ...{ updatedAt: 2, reserved: 0n, owed: 0n, tiers: [none, { staked: 7n * COIN, index: 0n }, none] },
    })
    expect(ledger.broken()).toEqual([])
  })

  it('of more than the sender has fails', () => {
    const run = new StakingRun(RICH)
    expect(run.act({ kind: 'stake', who: 0, tier: 0, amount: FUNDS }).code).toBe('ledger/insufficient-balance')
    expect([run.books, run.record(0)]).toEqual([undefined, undefined])
  })

  it('is what a mempool must see covered; taking out costs nothing beside the fee', () => {
    const { rules } = new StakingRun(RICH)
    const { stake, unstake, claim } = stakingModule.handlers
    expect(stake.spends(unsigned('stake', { tier: 0, amount: units(5) }).body as never, rules)).toBe(5n)
    expect([unstake.spends({} as never, rules), claim.spends({} as never, rules)]).toEqual([0n, 0n])
  })

  it('adds to those of the tier', () => {
    const run = staked(RICH, [0, 1, 5n * COIN], [1, 1, 2n * COIN], [0, 0, COIN])
    expect(run.books?.tiers.map((tier) => tier.staked)).toEqual([COIN, 7n * COIN, 0n])
    assertSolvent(run)
  })
})

describe('a reward', () => {
  it('is the year’s rate to the base unit, from the block after the stake on', () => {
    const run = staked(RICH, [0, 1, 100n * COIN])
    run.advanceTo(101)
    expect(run.act({ kind: 'claim', stake: 0 })).toMatchObject({ code: 'success', paid: 5n * COIN })
  })

  it('is rounded down once, however often it is claimed', () => {
    const amount = 3n * COIN + 77n
    const run = staked(RICH, [0, 0, amount])
    let paid = 0n
    for (let height = 2; height <= 30; height++) paid += run.act({ kind: 'claim', stake: 0 }).paid
    expect(paid).toBe((amount * 100n * 29n) / 1_000_000n)
    expect(run.record(0)).toMatchObject({ amount, claimed: paid })
    assertSolvent(run)
  })

  it('reaches the claimer’s balance and leaves the reserve', () => {
    const run = staked(RICH, [0, 0, 100n * COIN])
    run.advanceTo(11)
    const before = run.ledger.balance(ALICE)
    const { outcomes, block } = run.block([{ kind: 'claim', stake: 0 }])
    const [receipt] = block.receipts.filter((one) => one.type === 'transaction')
    expect(outcomes[0]?.paid).toBe(10_000_000n)
    expect(run.ledger.balance(ALICE)).toBe(before + 10_000_000n - (receipt?.fee ?? 0n))
    expect(run.books).toMatchObject({ updatedAt: 11, reserved: 0n, owed: 0n })
    assertSolvent(run)
  })

  it('is nothing in the stake’s own block, nor twice in one block', () => {
    const run = new StakingRun(RICH)
    const acts = [{ kind: 'stake', who: 0, tier: 0, amount: COIN } as const, { kind: 'claim', stake: 0 } as const]
    expect(run.block(acts).outcomes.map(({ code }) => code)).toEqual(['success', 'stake/nothing-due'])
    const twice = run.block([acts[1], acts[1]] as never).outcomes
    expect(twice.map(({ code, paid }) => [code, paid])).toEqual([
      ['success', 10_000n],
      ['stake/nothing-due', 0n],
    ])
  })

  it('of a tiny tier beside a large one is what it would be alone', () => {
    const run = staked(RICH, [0, 0, 10_000n], [1, 1, 1_000n * COIN])
    run.advanceTo(101)
    run.act({ kind: 'claim', stake: 1 })
    expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(101n)
    assertSolvent(run)
  })

  it('of a first staker after a long time is the rate and no more: the pool pays nothing for blocks without stakes', () => {
    const run = new StakingRun(RICH)
    run.advanceTo(200)
    run.act({ kind: 'stake', who: 0, tier: 0, amount: COIN })
    const { pool } = run
    expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(10_000n)
    expect(run.pool > pool - 10_000n).toBe(true)
  })

  it('of a tier without a rate is nothing', () => {
    const run = staked(RICH, [0, 2, COIN])
    run.advanceTo(20)
    expect(run.act({ kind: 'claim', stake: 0 }).code).toBe('stake/nothing-due')
  })

  it('is for the staker alone to claim, and needs a stake', () => {
    const run = staked(RICH, [0, 0, COIN])
    const stakeId = (run.stakes[0] as { readonly stakeId: TxId }).stakeId
    for (const kind of ['claim', 'unstake'] as const) {
      expect(run.ledger.send(BOB, kind, { stakeId }).code).toBe('stake/unknown')
      expect(run.ledger.send(ALICE, kind, { stakeId: filled<TxId>(9) }).code).toBe('stake/unknown')
    }
  })
})

describe('a pool that is short', () => {
  it('is shared in proportion to the full rewards, whatever the order, and paid out to the last unit', () => {
    // Full rewards of a block are 100 and 300 units; 5 flow in.
    const claims = [0, 1].map((stake) => ({ kind: 'claim', stake }) as const)
    const stakes = [[0, 0, 1_000_000n] as const, [1, 1, 600_000n] as const] as const
    for (const order of [claims, claims.toReversed()]) {
      const run = staked(POOR, ...stakes)
      run.advanceTo(41)
      const poolThen = run.pool
      const { outcomes } = run.block(order)
      const paid = (stake: number): bigint =>
        outcomes.find(({ act }) => act.kind === 'claim' && act.stake === stake)?.paid ?? -1n
      expect(poolThen).toBeGreaterThan(150n)
      expect([paid(0), paid(1)]).toEqual([poolThen / 4n, (poolThen * 3n) / 4n])
      // All that is left is the inflow of this block, and one unit of which parts are owed.
      expect(run.pool + (run.books?.reserved ?? 0n)).toBeLessThanOrEqual(5n + 1n)
      assertSolvent(run)
    }
  })

  it('owes nothing later for what it could not pay', () => {
    const run = staked(POOR, [0, 1, 1_000n * COIN])
    run.advanceTo(50)
    run.act({ kind: 'claim', stake: 0 })
    run.act({ kind: 'unstake', stake: 0 })
    const left = run.pool
    run.act({ kind: 'stake', who: 1, tier: 0, amount: 10_000n })
    expect(run.act({ kind: 'claim', stake: 1 }).paid).toBe(1n)
    expect(run.pool).toBeGreaterThanOrEqual(left)
    assertSolvent(run)
  })
})

describe('unstaking', () => {
  it('gives the coins back from the height on at which the lock is over', () => {
    const run = staked(RICH, [0, 1, COIN])
    run.advanceTo(10)
    expect(run.act({ kind: 'unstake', stake: 0 }).code).toBe('stake/locked')
    expect(run.act({ kind: 'unstake', stake: 0 })).toMatchObject({ code: 'success', paid: COIN })
    expect(run.books?.tiers[1]?.staked).toBe(0n)
    assertSolvent(run)
  })

  it('ends the reward, which waits for its claim; then the record is gone', () => {
    const run = staked(RICH, [0, 0, COIN])
    run.advanceTo(11)
    const before = run.ledger.balance(ALICE)
    run.act({ kind: 'unstake', stake: 0 })
    expect(run.ledger.balance(ALICE)).toBeGreaterThan(before)
    expect(run.record(0)).toMatchObject({ amount: 0n, owed: 100_000n, unlocksAt: 1 })
    expect(run.act({ kind: 'unstake', stake: 0 }).code).toBe('stake/unknown')
    run.advanceTo(40)
    expect(run.act({ kind: 'claim', stake: 0 })).toMatchObject({ code: 'success', paid: 100_000n })
    expect(run.record(0)).toBeUndefined()
    expect(run.act({ kind: 'claim', stake: 0 }).code).toBe('stake/unknown')
    expect(run.books).toMatchObject({ reserved: 0n, owed: 0n })
  })

  it('deletes at once a stake that nothing is owed to', () => {
    const run = staked(RICH, [0, 0, COIN])
    run.block([
      { kind: 'claim', stake: 0 },
      { kind: 'unstake', stake: 0 },
    ])
    expect(run.record(0)).toBeUndefined()
  })

  it('owes what was not claimed before, without what was', () => {
    const run = staked(RICH, [0, 0, COIN])
    run.act({ kind: 'claim', stake: 0 })
    run.act({ kind: 'unstake', stake: 0 })
    expect(run.record(0)).toMatchObject({ amount: 0n, owed: 10_000n, claimed: 10_000n })
    assertSolvent(run)
  })

  it('leaves the fraction of a base unit to the pool: in the end nothing stays reserved', () => {
    const run = staked(RICH, [0, 0, 333n], [1, 0, 777n])
    run.advanceTo(152)
    const inflows = run.pool
    run.act({ kind: 'unstake', stake: 0 })
    // 333 x 1 % x 151 / 100 = 5.0283 and 777 x 1 % x 151 / 100 = 11.7327. Together 16.761, so the reserve is 17.
    expect(run.books?.reserved).toBe(17n)
    run.block([
      { kind: 'unstake', stake: 1 },
      { kind: 'claim', stake: 0 },
      { kind: 'claim', stake: 1 },
    ])
    expect(run.books).toMatchObject({ reserved: 0n, owed: 0n })
    expect(run.pool).toBeGreaterThan(inflows)
    assertSolvent(run)
  })

  it('names the height at which the lock is over, and the stake that is not there', () => {
    const run = staked(RICH, [0, 1, COIN])
    const { stakeId } = run.stakes[0] as { readonly stakeId: TxId }
    const context = { overlay: new Overlay(run.ledger.state), rules: run.rules, height: 10 } as never
    const { unstake } = stakingModule.handlers
    const tx = (id: TxId) => unsigned('unstake', { stakeId: id }, { sender: ALICE }) as never
    expect(unstake.apply(context, tx(stakeId))).toEqual({ code: 'stake/locked', detail: { unlocksAt: 11 } })
    const gone = filled<TxId>(9)
    expect(unstake.apply(context, tx(gone))).toEqual({ code: 'stake/unknown', detail: { stakeId: gone } })
  })
})

describe('a rule step', () => {
  const [slow, fast, none] = STAKING_RULES.tiers as unknown as readonly [
    StakingRules['tiers'][number],
    StakingRules['tiers'][number],
    StakingRules['tiers'][number],
  ]
  const step = (tiers: StakingRules['tiers']) => ({ fromHeight: 21, staking: { ...STAKING_RULES, tiers } })
  const doubled = stakingRuleBook({ ...SETUP, steps: [step([{ ...slow, yearlyBps: 200n }, fast, none])] })

  it('changes a rate from its first block on, whatever is claimed before or after', () => {
    for (const claims of [[], [20], [21], [20, 21, 22]]) {
      const run = staked(doubled, [0, 0, COIN])
      let paid = 0n
      while (run.ledger.height < 31)
        paid +=
          run.block(claims.includes(run.ledger.height) ? [{ kind: 'claim', stake: 0 }] : []).outcomes[0]?.paid ?? 0n
      paid += run.act({ kind: 'claim', stake: 0 }).paid
      expect(paid).toBe(20n * 10_000n + 10n * 20_000n)
      assertSolvent(run)
    }
  })

  it('writes nothing without stakes', () => {
    const run = new StakingRun(doubled)
    run.advanceTo(22)
    expect(run.books).toBeUndefined()
  })

  it('that adds a tier opens it without a past', () => {
    const added = { lockBlocks: 3, yearlyBps: 1_000n }
    const run = staked(stakingRuleBook({ ...SETUP, steps: [step([slow, fast, none, added])] }), [0, 0, COIN])
    run.advanceTo(25)
    run.act({ kind: 'stake', who: 1, tier: 3, amount: COIN })
    expect(run.record(1)).toMatchObject({ tier: 3, startIndex: (4n * 1_000n) << 64n, unlocksAt: 28 })
    expect(run.act({ kind: 'claim', stake: 1 }).paid).toBe(100_000n)
    expect(run.act({ kind: 'claim', stake: 0 }).paid).toBe(260_000n)
    assertSolvent(run)
  })
})

describe('the invariants of staking', () => {
  /** Code of a transfer whose handler is replaced by `apply`, and the amount that is then staked in tier 0. */
  function broken(apply: KindHandlers['transfer']['apply']): readonly [string, bigint | undefined] {
    const handlers = { ...PROTOCOL.handlers, transfer: { ...PROTOCOL.handlers.transfer, apply } }
    const ledger = new TestLedger(fundedRuleBook(2, { ...PROTOCOL, handlers }))
    ledger.send(ALICE, 'stake', { tier: 0, amount: units(COIN) })
    const { code } = ledger.send(ALICE, 'transfer', SAMPLE.transfer())
    return [code, ledger.get(STAKING, undefined)?.tiers[0]?.staked]
  }
  const books = (overlay: Overlay) => overlay.get(STAKING, undefined) as NonNullable<StakingRun['books']>

  it('fail a payload that moves the sum of a tier without a stake', () => {
    expect(
      broken(({ overlay }) => {
        const [first, ...others] = books(overlay).tiers
        const tiers = [{ index: first?.index ?? 0n, staked: units(5) }, ...others]
        overlay.put(STAKING, undefined, { ...books(overlay), tiers })
        return null
      }),
    ).toEqual(['ledger/invariant', COIN])
  })

  it('fail a payload that moves it to another tier', () => {
    expect(
      broken(({ overlay }) => {
        const [first, second, ...others] = books(overlay).tiers as [never, never, never, never]
        overlay.put(STAKING, undefined, { ...books(overlay), tiers: [second, first, ...others] })
        return null
      }),
    ).toEqual(['ledger/invariant', COIN])
  })

  it('fail a payload that owes more than is reserved, and allow what is covered', () => {
    const owing = (excess: bigint) =>
      broken(({ overlay, rules }) => {
        const pool = overlay.get(STAKING_POOL, undefined)?.accrued ?? 0n
        overlay.put(STAKING_POOL, undefined, { accrued: units(pool - 3n) })
        const owed = 3n * rewardUnits(rules.staking) + excess
        overlay.put(STAKING, undefined, { ...books(overlay), reserved: units(3), owed })
        return null
      })[0]
    expect([owing(0n), owing(1n)]).toEqual(['success', 'ledger/invariant'])
  })

  it('fail a payload that reserves coins from nowhere', () => {
    const [code] = broken(({ overlay }) => {
      overlay.put(STAKING, undefined, { ...books(overlay), reserved: units(1) })
      return null
    })
    expect(code).toBe('ledger/invariant')
  })
})
