import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { balanceOf } from '../../consensus/ledger/token-balances.ts'
import { parseAmount } from '../../consensus/primitives/amount.ts'
import type { Address, Hash, TokenSymbol, TxId } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { assetNamed } from '../../marketplace/queries/assets.ts'
import { blockAt, outcomesOf } from '../../marketplace/queries/blocks.ts'
import { concentrationOf } from '../../marketplace/queries/distribution.ts'
import { movementsOf } from '../../marketplace/queries/movements.ts'
import { runs } from '../support/runs.ts'
import { type ServiceChain, serviceChain } from '../support/service-chain.ts'
import { resultOf } from '../support/service-results.ts'
import { steadyWallet } from '../support/steady-keys.ts'
import { units } from '../support/unsigned.ts'

/** Wallets that act; wallet 9 mines. */
const ACTORS = [1, 2, 3, 4, 5, 6, 7, 8] as const
const SYMBOLS = ['FAR', 'FUSD', 'XUSD', 'SALT', 'WOOL', 'GLASS', 'MOSS'] as const

interface Act {
  readonly kind: 'send' | 'swap' | 'route' | 'out' | 'stake' | 'burn' | 'add' | 'remove' | 'deposit' | 'redeem'
  readonly from: number
  readonly to: number
  readonly symbol: (typeof SYMBOLS)[number]
  readonly amount: number
}

const acts: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('send', 'swap', 'route', 'out', 'stake', 'burn', 'add', 'remove', 'deposit', 'redeem'),
  from: fc.constantFrom(...ACTORS),
  to: fc.constantFrom(...ACTORS),
  symbol: fc.constantFrom(...SYMBOLS),
  amount: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 2_000_000_000 })),
})

const symbol = (text: string): TokenSymbol => text as TokenSymbol
const MAIN = { assetA: symbol('FUSD'), assetB: symbol('FAR'), feeBps: 30 }

function transactionOf({ test }: ServiceChain, act: Act): Promise<Transaction> {
  const from = steadyWallet(act.from)
  const to = steadyWallet(act.to).address
  const [amount, limit] = [units(act.amount), units(0)]
  const swap = { assetIn: symbol('FAR'), exactOut: false, amount, limit }
  switch (act.kind) {
    case 'send':
      return act.symbol === 'FAR'
        ? test.tx(from, 'transfer', { to, amount, create: false })
        : test.tx(from, 'token_transfer', { symbol: symbol(act.symbol), to, amount, create: false })
    case 'swap':
      return test.tx(from, 'swap', { ...swap, hops: [{ asset: symbol('FUSD'), feeBps: 30 }] })
    case 'route':
      return test.tx(from, 'swap', {
        ...swap,
        hops: [
          { asset: symbol('SALT'), feeBps: 30 },
          { asset: symbol('WOOL'), feeBps: 100 },
        ],
      })
    case 'out':
      return test.tx(from, 'swap', {
        ...{ assetIn: symbol('WOOL'), exactOut: true, amount, limit: units(10n ** 18n) },
        hops: [{ asset: symbol('SALT'), feeBps: 100 }],
      })
    case 'stake':
      return test.tx(from, 'stake', { tier: act.to % 4, amount: units(100_000_000 + act.amount) })
    case 'burn':
      return test.tx(from, 'token_burn', { symbol: symbol(act.symbol === 'FAR' ? 'WOOL' : act.symbol), amount })
    case 'add':
      return test.tx(from, 'liquidity_add', { ...MAIN, amountA: amount, amountB: amount, minShares: limit })
    case 'remove':
      return test.tx(from, 'liquidity_remove', { ...MAIN, shares: amount, minA: limit, minB: limit })
    case 'deposit':
      return test.tx(from, 'stable_deposit', { symbol: symbol('FUSD'), amount })
    case 'redeem':
      return test.tx(from, 'stable_redeem', { symbol: symbol('FUSD'), amount, minPaid: limit })
  }
}

/** Every actor's balance of every asset, by `address/asset`. */
function balancesOf({ test: { chain } }: ServiceChain): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>()
  for (const number of ACTORS) {
    const { address } = steadyWallet(number)
    for (const name of SYMBOLS) {
      const asset = (assetNamed(chain, name) as { readonly asset: Hash }).asset
      const native = chain.database.get(ACCOUNTS, address)?.balance ?? 0n
      balances.set(
        `${address}/${asset}`,
        asset === NATIVE_ASSET ? native : balanceOf(chain.database, { address, asset }),
      )
    }
  }
  return balances
}

/** The balances after applying the head's movements, fees and refunds. */
function movedBy({ test: { chain } }: ServiceChain, before: ReadonlyMap<string, bigint>): ReadonlyMap<string, bigint> {
  const balances = new Map(before)
  const change = (address: Address, asset: Hash, by: bigint): void => {
    const key = `${address}/${asset}`
    const had = balances.get(key)
    if (had !== undefined) balances.set(key, had + by)
  }
  const block = blockAt(chain, chain.head.header.height)
  if (block === undefined) throw new Error('the head has no block')
  for (const receipt of block.receipts)
    if (receipt.type === 'refund') change(receipt.caller, NATIVE_ASSET, receipt.amount)
  const outcomes = outcomesOf(block)
  for (const tx of block.transactions) {
    const receipt = outcomes.get(tx.txId)
    if (receipt === undefined) throw new Error('a transaction without a receipt')
    change(tx.body.sender, NATIVE_ASSET, -receipt.fee)
    for (const { asset, amount, from, to } of movementsOf(chain, tx, receipt)) {
      if (from.place === 'address') change(from.address, asset, -amount)
      if (to.place === 'address') change(to.address, asset, amount)
    }
  }
  return balances
}

interface Audit {
  readonly reconciles: boolean | null
  readonly tokens: readonly {
    readonly symbol: string
    readonly decimals: number
    readonly supply: string
    readonly atAddresses: string
    readonly elsewhere: readonly { readonly amount: string }[]
  }[]
}

interface Holders {
  readonly tokens: readonly {
    readonly decimals: number
    readonly supply: string
    readonly holders: number
    readonly top10: readonly { readonly amount: string; readonly pct: number }[]
    readonly top10Pct: number
    readonly coverage: { readonly holders: number; readonly amount: string; readonly complete: boolean }
  }[]
}

function unitsOf(text: string, decimals: number): bigint {
  const parsed = parseAmount(text, decimals)
  if (!parsed.ok) throw new Error(`${text} is no amount`)
  return parsed.value
}

const plans = fc.array(acts, { minLength: 1, maxLength: 6 })
/**
 * Plans that every run begins with: they contain a success of each kind below, so the check never depends on chance.
 */
const FIRST = fc.sample(plans, { seed: 5, numRuns: 30 })

describe('whatever people do', () => {
  it('movements explain every balance, and audits and shares add up', async () => {
    const chain = await serviceChain()
    // The waiting transaction is mined first, because later nonces depend on it.
    await chain.test.mine([chain.mempool.get(chain.named.waiting as TxId) as Transaction])
    const moved = new Set<string>()
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const before = balancesOf(chain)
        const transactions: Transaction[] = []
        for (const act of plan) transactions.push(await transactionOf(chain, act))
        await chain.test.mine(transactions, { miner: steadyWallet(9).address })
        expect(balancesOf(chain)).toEqual(movedBy(chain, before))
        const block = blockAt(chain.test.chain, chain.test.height)
        for (const receipt of outcomesOf(block as NonNullable<typeof block>).values()) {
          const { body } = transactions.find(({ txId }) => txId === receipt.txId) as Transaction
          moved.add(`${body.kind} ${receipt.code === 0}`)
        }
        const audit = await resultOf<Audit>('node-supply-audit', '', chain.context)
        expect(audit.reconciles).toBe(true)
        for (const { decimals, supply, atAddresses, elsewhere } of audit.tokens) {
          const parts = [atAddresses, ...elsewhere.map(({ amount }) => amount)]
          const sum = parts.reduce((total, text) => total + unitsOf(text, decimals), 0n)
          expect(sum).toBe(unitsOf(supply, decimals))
        }
        for (const name of SYMBOLS) {
          const { tokens } = await resultOf<Holders>('node-holder-stats', name, chain.context)
          const [token] = tokens as readonly [Holders['tokens'][number]]
          const audited = audit.tokens.find((one) => one.symbol === name)
          expect(token.coverage).toMatchObject({ holders: token.holders, amount: audited?.atAddresses, complete: true })
          const pcts = token.top10.map(({ pct }) => pct)
          expect(pcts).toEqual(pcts.toSorted((a, b) => b - a))
          // Each share is truncated after 4 decimals, and so is their sum.
          expect(Math.abs(pcts.reduce((sum, pct) => sum + pct, 0) - token.top10Pct)).toBeLessThan(0.0011)
          expect(token.top10Pct).toBeLessThanOrEqual(100)
        }
      }),
      { numRuns: runs(60), examples: FIRST.map((plan) => [plan] as [typeof plan]) },
    )
    // Transactions of each of these kinds succeeded, and some transactions failed.
    for (const kind of ['transfer', 'token_transfer', 'swap', 'stake', 'token_burn', 'liquidity_add']) {
      expect(moved).toContain(`${kind} true`)
    }
    expect([...moved].some((one) => one.endsWith('false'))).toBe(true)
  })
})

describe('concentration', () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 12n }), { minLength: 1, maxLength: 40 })
  const descending = (values: readonly bigint[]): readonly bigint[] =>
    values.toSorted((a, b) => (a > b ? -1 : a < b ? 1 : 0))

  it('is what the textbook definitions say', () => {
    fc.assert(
      fc.property(amounts, (values) => {
        const { hhiPpm, giniPpm } = concentrationOf(descending(values)) ?? { hhiPpm: -1n, giniPpm: -1n }
        const numbers = values.map(Number)
        const sum = numbers.reduce((a, b) => a + b, 0)
        const hhi = numbers.reduce((total, value) => total + ((100 * value) / sum) ** 2, 0)
        // Mean absolute difference of all pairs, divided by twice the mean.
        const pairs = numbers.reduce((total, a) => total + numbers.reduce((sub, b) => sub + Math.abs(a - b), 0), 0)
        const gini = pairs / (2 * numbers.length * sum)
        expect(Math.abs(Number(hhiPpm) / 1e6 - hhi)).toBeLessThan(1e-4)
        expect(Math.abs(Number(giniPpm) / 1e6 - gini)).toBeLessThan(1e-5)
      }),
      { numRuns: runs(300) },
    )
  })

  it('is none where all hold the same, and whole where one holds all', () => {
    expect(concentrationOf([5n, 5n, 5n, 5n])).toEqual({ hhiPpm: 2_500_000_000n, giniPpm: 0n })
    expect(concentrationOf([7n])).toEqual({ hhiPpm: 10_000_000_000n, giniPpm: 0n })
    expect(concentrationOf([])).toBeNull()
  })
})
