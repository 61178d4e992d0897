import { EMPTY_LEDGERS } from '../../config/networks/ledgers.ts'
import type { ExecutedBlock } from '../../consensus/chain/execution.ts'
import type { Rules } from '../../consensus/chain/params.ts'
import { createRuleBook, type RuleBook } from '../../consensus/chain/rule-book.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { outcomeCode } from '../../consensus/ledger/outcome.ts'
import type { CoinRules, StakingRules } from '../../consensus/ledger/rules.ts'
import { dueOf, STAKES, STAKING, type Stake, type StakeName } from '../../consensus/ledger/staking.ts'
import { accrueRewards, rewardUnits, type StakingBooks } from '../../consensus/ledger/staking-accrual.ts'
import { stakePosition } from '../../consensus/ledger/staking-facts.ts'
import { STAKING_POOL } from '../../consensus/ledger/supply.ts'
import type { Address, TxId } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { TestLedger } from './ledger.ts'
import { testParams } from './network.ts'
import { filled, units, unsigned } from './unsigned.ts'

/** Accounts of a staking test: `filled(1)` to `filled(4)`. */
export const STAKERS = [1, 2, 3, 4].map((n) => filled<Address>(n))

/** What a staking test may change in a network. */
export interface StakingSetup {
  readonly staking: StakingRules
  readonly coin?: Partial<CoinRules>
  /** Genesis balance of each staker, in base units. */
  readonly funds: bigint
  /** Rule steps after the first. */
  readonly steps?: readonly {
    readonly fromHeight: number
    readonly staking?: StakingRules
    readonly coin?: Partial<CoinRules>
  }[]
}

/** A rule book with the stakers funded and stakes of any size allowed. */
export function stakingRuleBook({ staking, coin = {}, funds, steps = [] }: StakingSetup): RuleBook {
  const params = testParams()
  const { rules } = params.steps[0] as (typeof params.steps)[number]
  const withStaking = (of: Rules, changed: StakingRules, coins: Partial<CoinRules>): Rules => ({
    ...of,
    staking: changed,
    coin: { ...of.coin, ...coins },
    tx: { ...of.tx, stakeTiers: changed.tiers.length, stakeAmountMin: 1n },
  })
  let last = withStaking(rules, staking, coin)
  const all = [{ fromHeight: 0, rules: last }]
  for (const step of steps) {
    last = withStaking(last, step.staking ?? last.staking, step.coin ?? {})
    all.push({ fromHeight: step.fromHeight, rules: last })
  }
  const allocations = STAKERS.map((address) => ({ address, amount: funds }))
  return createRuleBook(
    { ...params, genesis: { ...params.genesis, allocations, ledgers: EMPTY_LEDGERS }, steps: all },
    PROTOCOL,
  )
}

/** An action of a staker. `stake` is the number of a stake, counted from 0 over all that were made. */
export type StakingAct =
  | { readonly kind: 'stake'; readonly who: number; readonly tier: number; readonly amount: bigint }
  | { readonly kind: 'unstake' | 'claim'; readonly stake: number }

/** The outcome of an act. `paid` is the first amount of its receipt, or 0. */
export interface ActOutcome {
  readonly act: StakingAct
  readonly code: string
  readonly paid: bigint
}

/** A stake that was made, also one that has ended. */
export interface MadeStake extends StakeName {
  readonly tier: number
  readonly amount: bigint
}

export class StakingRun {
  readonly ledger: TestLedger
  readonly stakes: MadeStake[] = []

  constructor(ruleBook: RuleBook) {
    this.ledger = new TestLedger(ruleBook)
  }

  /** Rules of the last executed block. */
  get rules(): Rules {
    return this.ledger.ruleBook.at(this.ledger.height - 1)
  }

  get books(): StakingBooks | undefined {
    return this.ledger.get(STAKING, undefined)
  }

  get pool(): bigint {
    return this.ledger.get(STAKING_POOL, undefined)?.accrued ?? 0n
  }

  record(stake: number): Stake | undefined {
    return this.ledger.get(STAKES, this.stakes[stake] as MadeStake)
  }

  records(): readonly Stake[] {
    const found: Stake[] = []
    for (const { table, key, value } of this.ledger.state.records()) {
      if (table.name === STAKES.name) found.push(stakePosition(key, STAKES.codec.deserialize(value)).stake)
    }
    return found
  }

  /** Executes the next block. Acts on stakes that do not exist are left out. */
  block(acts: readonly StakingAct[] = []): { readonly outcomes: readonly ActOutcome[]; readonly block: ExecutedBlock } {
    const nonces = new Map<Address, bigint>()
    const done: StakingAct[] = []
    const made: MadeStake[] = []
    const txs: Transaction[] = []
    for (const act of acts) {
      const known = act.kind === 'stake' ? undefined : (this.stakes[act.stake] ?? made[act.stake - this.stakes.length])
      if (act.kind !== 'stake' && known === undefined) continue
      const sender = known?.address ?? (STAKERS[(act as { readonly who: number }).who] as Address)
      const nonce = nonces.get(sender) ?? this.ledger.get(ACCOUNTS, sender)?.nonce ?? 0n
      nonces.set(sender, nonce + 1n)
      const tx =
        act.kind === 'stake'
          ? unsigned('stake', { tier: act.tier, amount: units(act.amount) }, { sender, nonce })
          : unsigned(act.kind, { stakeId: known?.stakeId as TxId }, { sender, nonce })
      if (act.kind === 'stake') made.push({ address: sender, stakeId: tx.txId, tier: act.tier, amount: act.amount })
      txs.push(tx)
      done.push(act)
    }
    const block = this.ledger.block(txs)
    this.stakes.push(...made)
    const receipts = block.receipts.filter((receipt) => receipt.type === 'transaction')
    const outcomes = done.map((act, i) => {
      const { code, amounts } = receipts[i] as (typeof receipts)[number]
      return { act, code: code === 0 ? 'success' : String(outcomeCode(code)), paid: amounts[0] ?? 0n }
    })
    return { outcomes, block }
  }

  /** Executes the next block with one act. */
  act(act: StakingAct): ActOutcome {
    return this.block([act]).outcomes[0] as ActOutcome
  }

  /** Executes empty blocks until the next one has this height. */
  advanceTo(height: number): void {
    this.ledger.advanceTo(height)
  }
}

/**
 * Throws unless the staking state is sound over all records: tiers equal the sums of their stakes, the debt equals what stakes are owed,
 * and the reserve is the debt, rounded up to base units, and covers all dues. Also throws if coins were created or lost.
 */
export function assertSolvent(run: StakingRun): void {
  const { books, rules } = run
  if (books === undefined) return
  const of = rewardUnits(rules.staking)
  const sums = books.tiers.map(() => 0n)
  let [owed, dues] = [0n, 0n]
  for (const stake of run.records()) {
    const { index } = books.tiers[stake.tier] as { readonly index: bigint }
    sums[stake.tier] = (sums[stake.tier] as bigint) + stake.amount
    owed += stake.amount === 0n ? stake.owed * of : stake.amount * (index - stake.startIndex) - stake.claimed * of
    dues += dueOf(stake, books, rules.staking)
  }
  const expected = { sums: books.tiers.map(({ staked }) => staked as bigint), owed: books.owed }
  if (JSON.stringify({ sums, owed }, decimal) !== JSON.stringify(expected, decimal))
    throw new Error(`books ${JSON.stringify(expected, decimal)}, stakes ${JSON.stringify({ sums, owed }, decimal)}`)
  const least = (owed + of - 1n) / of
  if (books.reserved !== least || dues > books.reserved)
    throw new Error(`reserved ${books.reserved}, owed ${least}, due ${dues}`)
  if (run.ledger.broken().length > 0) throw new Error('coins are created or lost')
}

/** The pool and the stakes' dues if rewards accrued in the next block. */
export function accruedNow(run: StakingRun): { readonly dues: readonly bigint[]; readonly pool: bigint } {
  const { books, pool, rules } = run
  if (books === undefined) return { dues: [], pool }
  const funds = accrueRewards({ books, pool: units(pool) }, rules.staking, run.ledger.height)
  return { dues: run.records().map((stake) => dueOf(stake, funds.books, rules.staking)), pool: funds.pool }
}

function decimal(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
