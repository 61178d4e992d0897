import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Stake } from '../../consensus/ledger/staking.ts'
import { demandPerPart, freeUnits, rewardUnits } from '../../consensus/ledger/staking-accrual.ts'
import { pendingReward } from '../../consensus/ledger/staking-facts.ts'
import { runs } from '../support/runs.ts'
import { accruedNow, assertSolvent, STAKERS, type StakingAct, StakingRun, stakingRuleBook } from '../support/staking.ts'
import { Ratio, StakingModel } from '../support/staking-model.ts'

const RUNS = { numRuns: runs(1_000) }
const FUNDS = 10n ** 15n
const TIERS = [
  { lockBlocks: 0, yearlyBps: 100n },
  { lockBlocks: 3, yearlyBps: 777n },
  { lockBlocks: 9, yearlyBps: 2_500n },
]
const STAKING = { tiers: TIERS, blocksPerYear: 1_003n }
const HUGE = { tiers: TIERS.map((tier, i) => ({ ...tier, yearlyBps: 10n ** BigInt(2 * i + 2) })), blocksPerYear: 97n }
const HUGE_FUNDS = (1n << 110n) - (1n << 100n)

/**
 * Networks by when their pools are short of the full rates: `rich` never, `short` always, `fading` later, `stepping` by
 * turns. `huge` has the largest amounts.
 */
const BOOKS = {
  rich: stakingRuleBook({
    ...{ staking: STAKING, funds: FUNDS },
    coin: { supplyCap: 10n ** 17n, subsidyDivisor: 100n, stakingShareBps: 10_000n },
  }),
  short: stakingRuleBook({
    ...{ staking: STAKING, funds: FUNDS },
    coin: { supplyCap: 4n * FUNDS + 10n ** 9n, subsidyDivisor: 1_000n, stakingShareBps: 3_000n },
  }),
  fading: stakingRuleBook({
    ...{ staking: STAKING, funds: FUNDS },
    coin: { supplyCap: 4n * FUNDS + 3n * 10n ** 10n, subsidyDivisor: 6n, stakingShareBps: 10_000n },
  }),
  stepping: stakingRuleBook({
    ...{ staking: STAKING, funds: FUNDS },
    coin: { supplyCap: 4n * FUNDS + 10n ** 13n, subsidyDivisor: 1_000n, stakingShareBps: 200n },
    steps: [
      {
        fromHeight: 9,
        staking: { ...STAKING, tiers: TIERS.map((tier) => ({ ...tier, yearlyBps: tier.yearlyBps * 3n })) },
      },
      { fromHeight: 14, coin: { stakingShareBps: 10_000n } },
      { fromHeight: 20, staking: STAKING, coin: { stakingShareBps: 0n } },
    ],
  }),
  huge: stakingRuleBook({
    ...{ staking: HUGE, funds: HUGE_FUNDS },
    coin: { supplyCap: (1n << 112n) - 1n, subsidyDivisor: 3n, stakingShareBps: 10_000n },
  }),
}
type Network = keyof typeof BOOKS

const networks = (...names: readonly Network[]) => fc.constantFrom(...names)

/** Amounts of every bit length up to 45, small enough for the funds of all networks. */
const amounts = fc
  .integer({ min: 1, max: 45 })
  .chain((bits) => fc.bigInt({ min: 1n << BigInt(bits - 1), max: (1n << BigInt(bits)) - 1n }))

const stakeNumber = fc.nat({ max: 7 })
const staking = fc.record({
  kind: fc.constant('stake' as const),
  who: fc.nat({ max: 3 }),
  tier: fc.nat({ max: 2 }),
  amount: amounts,
})
const changing: fc.Arbitrary<StakingAct> = fc.oneof(
  staking,
  fc.record({ kind: fc.constant('unstake' as const), stake: stakeNumber }),
)
const claiming: fc.Arbitrary<StakingAct> = fc.record({ kind: fc.constant('claim' as const), stake: stakeNumber })

/** Acts of up to 30 blocks, most of them quiet. */
function plans(act: fc.Arbitrary<StakingAct>): fc.Arbitrary<readonly (readonly StakingAct[])[]> {
  const quiet = { arbitrary: fc.constant([]), weight: 2 }
  const busy = { arbitrary: fc.array(act, { minLength: 1, maxLength: 3 }), weight: 1 }
  return fc.array(fc.oneof(quiet, busy), { minLength: 5, maxLength: 30 })
}

/** Scales amounts for the network with the largest supply. */
function scaled(network: Network, acts: readonly StakingAct[]): readonly StakingAct[] {
  if (network !== 'huge') return acts
  return acts.map((act) => (act.kind === 'stake' ? { ...act, amount: act.amount << 60n } : act))
}

/** Plays a plan after a first stake, so that there is always a stake. */
function play(
  network: Network,
  plan: readonly (readonly StakingAct[])[],
  each?: (run: StakingRun) => void,
): StakingRun {
  const run = new StakingRun(BOOKS[network])
  run.block(scaled(network, [{ kind: 'stake', who: 0, tier: 1, amount: 1_000_000_007n }]))
  for (const acts of plan) {
    each?.(run)
    run.block(scaled(network, acts))
  }
  each?.(run)
  return run
}

function allStakers(kind: 'unstake' | 'claim', run: StakingRun): readonly StakingAct[] {
  return run.stakes.map((_, stake) => ({ kind, stake }))
}

const every = networks('rich', 'short', 'fading', 'stepping', 'huge')

describe('staking against exact fractions, block by block', () => {
  function compare(network: Exclude<Network, 'stepping'>, plan: readonly (readonly StakingAct[])[]): StakingModel {
    const { staking: rules } = BOOKS[network].at(0)
    const run = new StakingRun(BOOKS[network])
    const model = new StakingModel(
      rules.tiers.map(({ yearlyBps }) => yearlyBps),
      rules.blocksPerYear,
    )
    const first: StakingAct = { kind: 'stake', who: 0, tier: 1, amount: 1_000_000_007n }
    for (const [blocks, acts] of [[first], ...plan, [], []].entries()) {
      model.payBlock()
      // Each accrual of a short pool leaves less than one part of a block's rewards for later. A stake that ends
      // returns its fraction of a unit: the model and the ledger may differ by one unit there.
      const parts = model.mostPerBlock.times(new Ratio(BigInt(blocks), 1n << 64n))
      const ended = model.stakes.filter(({ live }) => !live).length
      const slack = model.wasShort ? parts.plus(new Ratio(BigInt(ended))) : new Ratio(0n)
      const last = blocks === plan.length + 2
      const { outcomes, block } = run.block(last ? allStakers('claim', run) : scaled(network, acts))
      for (const { act, code, paid } of outcomes) {
        if (act.kind === 'stake') {
          expect(code).toBe('success')
          model.stake(act.tier, act.amount)
        } else if (act.kind === 'unstake') {
          if (code === 'success') model.unstake(act.stake)
        } else {
          const due = model.due(act.stake)
          expect(paid).toBeGreaterThanOrEqual(due.minus(slack).floor())
          expect(paid).toBeLessThanOrEqual(due.plus(slack).floor())
          model.pay(act.stake, paid)
        }
      }
      for (const receipt of block.receipts) if (receipt.type === 'close') model.inflow(receipt.stakingShare)
    }
    return model
  }
  const acts = plans(fc.oneof(changing, claiming))

  it('pays to the base unit what a pool that suffices owes', () => {
    fc.assert(
      fc.property(acts, (plan) => {
        expect(compare('rich', plan).wasShort).toBe(false)
      }),
      RUNS,
    )
  })

  it('pays of a short pool what there is, but for a 2^64th of a block’s rewards a block and a unit for each stake that ended', () => {
    fc.assert(
      fc.property(networks('short', 'fading', 'huge'), acts, (network, plan) => {
        compare(network as 'short', plan)
      }),
      RUNS,
    )
  })
})

describe('whatever people do', () => {
  it('all money is owed to an account, covered, and there', () => {
    fc.assert(
      fc.property(every, plans(fc.oneof(changing, claiming)), (network, plan) => {
        play(network, plan, (run) => {
          assertSolvent(run)
          const { pool, dues } = accruedNow(run)
          expect(pool >= 0n && dues.every((due) => due >= 0n)).toBe(true)
        })
      }),
      RUNS,
    )
  })

  it('a claim pays what was pending', () => {
    fc.assert(
      fc.property(every, plans(fc.oneof(changing, claiming)), (network, plan) => {
        const run = play(network, plan)
        const pending = run.stakes.map((_, i) => {
          const stake = run.record(i)
          return stake === undefined
            ? 0n
            : pendingReward(run.ledger.state, run.rules, run.ledger.height, stake as Stake)
        })
        expect(run.block(allStakers('claim', run)).outcomes.map(({ paid }) => paid)).toEqual(pending)
      }),
      RUNS,
    )
  })

  it('nothing is left behind when all have gone: no dust is reserved, and pool and payments are all that ever flowed in', () => {
    fc.assert(
      fc.property(every, plans(fc.oneof(changing, claiming)), fc.boolean(), (network, plan, claimFirst) => {
        const run = new StakingRun(BOOKS[network])
        let [inflow, paid] = [0n, 0n]
        const block = (acts: readonly StakingAct[]): void => {
          const { outcomes, block } = run.block(scaled(network, acts))
          for (const outcome of outcomes) if (outcome.act.kind === 'claim') paid += outcome.paid
          for (const receipt of block.receipts) if (receipt.type === 'close') inflow += receipt.stakingShare
        }
        for (const acts of [[{ kind: 'stake', who: 0, tier: 1, amount: 1_000_000_007n } as const], ...plan]) block(acts)
        for (let quiet = 0; quiet < 10; quiet++) block([])
        if (claimFirst) block(allStakers('claim', run))
        block(allStakers('unstake', run))
        block(allStakers('claim', run))
        expect(run.records()).toEqual([])
        expect(run.books).toMatchObject({ reserved: 0n, owed: 0n })
        expect(run.books?.tiers.every(({ staked }) => staked === 0n)).toBe(true)
        expect(run.pool + paid).toBe(inflow)
        assertSolvent(run)
      }),
      RUNS,
    )
  })
})

describe('the order of claims', () => {
  it('within a block changes nothing: not what is paid, not the state after it', () => {
    const shuffled = fc.infiniteStream(fc.nat())
    fc.assert(
      fc.property(every, plans(changing), shuffled, (network, plan, stream) => {
        const [one, other] = [play(network, plan), play(network, plan)]
        const claims = allStakers('claim', one)
        const keys = claims.map(() => stream.next().value as number)
        const order = claims.map((_, i) => i).sort((a, b) => (keys[a] as number) - (keys[b] as number) || b - a)
        const straight = one.block(claims).outcomes
        const mixed = other.block(order.map((i) => claims[i] as StakingAct)).outcomes
        expect(order.map((i) => straight[i])).toEqual(mixed)
        const state = (run: StakingRun) =>
          new Map([...run.ledger.state.records()].map(({ key, value }) => [key, value]))
        expect(state(other)).toEqual(state(one))
      }),
      RUNS,
    )
  })

  it('over time, and their number, change nothing either, be the pool short or not', () => {
    const claims = fc.array(fc.array(claiming, { maxLength: 2 }), { minLength: 30, maxLength: 30 })
    fc.assert(
      fc.property(every, plans(changing), claims, fc.boolean(), (network, plan, extra, always) => {
        const lazy = play(network, plan)
        const often = always ? plan.map(() => [{ kind: 'claim', stake: 0 } as const]) : extra
        const received = new Map<number, bigint>()
        const eager = new StakingRun(BOOKS[network])
        const receive = (run: StakingRun, acts: readonly StakingAct[], into: Map<number, bigint>): void => {
          for (const { act, paid } of run.block(scaled(network, acts)).outcomes)
            if (act.kind === 'claim') into.set(act.stake, (into.get(act.stake) ?? 0n) + paid)
        }
        eager.block(scaled(network, [{ kind: 'stake', who: 0, tier: 1, amount: 1_000_000_007n }]))
        // Claims stand in front of a block, so that they name stakes known to both runs.
        for (const [i, acts] of plan.entries()) {
          const known = (often[i] ?? []).filter((act) => act.kind === 'claim' && act.stake < eager.stakes.length)
          receive(eager, [...known, ...acts], received)
        }
        const once = new Map<number, bigint>()
        // A last stake causes an accrual even if all other stakes are gone and claims fail.
        const last: StakingAct = { kind: 'stake', who: 1, tier: 0, amount: 1n }
        receive(lazy, [...allStakers('claim', lazy), last], once)
        receive(eager, [...allStakers('claim', eager), last], received)
        expect([...received].sort(([a], [b]) => a - b)).toEqual([...once].sort(([a], [b]) => a - b))
        expect(eager.pool).toBe(lazy.pool)
        expect(eager.books).toEqual(lazy.books)
      }),
      RUNS,
    )
  })
})

describe('a short pool', () => {
  it('is shared in proportion to the full rewards, to its last unit, and never beyond', () => {
    const beginnings = fc.array(staking, { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(networks('short', 'huge'), beginnings, fc.integer({ min: 1, max: 25 }), (network, acts, blocks) => {
        const run = new StakingRun(BOOKS[network])
        run.block(scaled(network, [{ kind: 'stake', who: 3, tier: 2, amount: 40_000_000_000_000n }, ...acts]))
        run.advanceTo(1 + blocks)
        const [before, { staking: rules }] = [run.pool, run.rules]
        run.block(allStakers('claim', run))
        const books = run.books as NonNullable<StakingRun['books']>
        const demand = demandPerPart(books, rules)
        const units = rewardUnits(rules)
        const paid = run.stakes.reduce((sum, _, i) => sum + (run.record(i)?.claimed ?? 0n), 0n)
        const [reference, ...others] = books.tiers
        for (const [i, { index }] of others.entries())
          expect(index * (rules.tiers[0]?.yearlyBps as bigint)).toBe(
            (reference?.index as bigint) * (rules.tiers[i + 1]?.yearlyBps as bigint),
          )
        // Of a short pool, all but less than one part of one block's rewards was granted. Unpaid rewards stay reserved.
        expect(books.owed + paid * units).toBeLessThanOrEqual(before * units)
        const wanted = demand * (1n << 64n) * BigInt(blocks)
        if (wanted > before * units) expect(before * units - books.owed - paid * units).toBeLessThan(demand)
        else expect(books.owed + paid * units).toBe(wanted)
        expect(freeUnits({ books, pool: run.pool as never }, rules)).toBeGreaterThanOrEqual(0n)
        if (network === 'short') expect(wanted).toBeGreaterThan(before * units)
      }),
      RUNS,
    )
  })
})

describe('the networks above', () => {
  it('are what they are called', () => {
    const shortOf = (network: Exclude<Network, 'stepping'>): readonly boolean[] => {
      const run = new StakingRun(BOOKS[network])
      run.block(
        scaled(
          network,
          STAKERS.map((_, who) => ({ kind: 'stake', who, tier: 1, amount: 10_000_000_000_007n })),
        ),
      )
      return Array.from({ length: 30 }, () => {
        const { books, pool } = run
        const { staking: rules } = run.rules
        const demand = demandPerPart(books as NonNullable<typeof books>, rules) << 64n
        run.block([{ kind: 'claim', stake: 0 }])
        return demand > freeUnits({ books: books as NonNullable<typeof books>, pool: pool as never }, rules)
      })
    }
    expect(shortOf('rich')).not.toContain(true)
    expect(shortOf('short')).not.toContain(false)
    expect(shortOf('fading')).toEqual(expect.arrayContaining([true, false]))
    expect(shortOf('huge')).toEqual(expect.arrayContaining([true, false]))
  })
})
