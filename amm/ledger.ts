import { assetOf } from '../consensus/ledger/asset.ts'
import type { LedgerModule, LedgerRules } from '../consensus/ledger/module.ts'
import type { GenesisLedgers } from '../consensus/ledger/rules.ts'
import { mintAsset } from '../consensus/ledger/supply.ts'
import { amount } from '../consensus/primitives/amount.ts'
import { assert } from '../consensus/primitives/assert.ts'
import type { PoolId } from '../consensus/primitives/ids.ts'
import type { Overlay, ValueChange } from '../consensus/state/overlay.ts'
import { anyTable } from '../consensus/state/table.ts'
import { giveShares, LIQUIDITY_HANDLERS, newPool } from './liquidity.ts'
import { initialShares, LOCKED_SHARES, type PoolFunds, poolNeverLoses } from './math.ts'
import { fundsFrom, POOL_SHARES, POOLS, type Pool, PRICE_ENTRIES, poolIdOf, poolOfKey, poolOfShareKey } from './pool.ts'
import { recordPrice, writePriceEntry } from './price-entries.ts'
import { swap } from './swap.ts'

/** Stands for a pool before its creation: any number of shares up to the root of the product passes the check. */
const NO_POOL: PoolFunds = { reserveA: amount(1n), reserveB: amount(1n), shares: 1n }

/** Reserves of genesis pools are minted; all shares except the locked ones belong to the owner. */
function genesis(overlay: Overlay, rules: LedgerRules, { pools }: GenesisLedgers): void {
  for (const { assetA: symbolA, assetB: symbolB, feeBps, amountA, amountB, owner } of pools) {
    const [assetA, assetB] = [assetOf(symbolA, rules.coin), assetOf(symbolB, rules.coin)]
    const poolId = poolIdOf(assetA, assetB, feeBps)
    assert(rules.tx.poolFeesBps.includes(feeBps) && assetA !== assetB, 'a genesis pool is one that could be created')
    assert(overlay.get(POOLS, poolId) === undefined, 'a genesis pool is named once')
    const funds = { reserveA: amount(amountA), reserveB: amount(amountB), shares: 0n }
    const shares = initialShares(funds.reserveA, funds.reserveB)
    assert(shares > LOCKED_SHARES, 'a genesis pool is worth more than its locked shares')
    mintAsset(overlay, assetA, funds.reserveA)
    mintAsset(overlay, assetB, funds.reserveB)
    overlay.put(POOLS, poolId, newPool({ assetA, assetB, poolId }, feeBps, { ...funds, shares }, 0))
    giveShares(overlay, { address: owner, poolId }, amount(shares - LOCKED_SHARES))
  }
  writePriceEntry(overlay, rules.market, 0, 0)
}

function poolLoses({ before, after }: ValueChange): boolean {
  if (after === undefined) return true
  const pool = after as Pool
  const was = before === undefined ? NO_POOL : fundsFrom(before as Pool, pool.assetX)
  return !poolNeverLoses(was, fundsFrom(pool, pool.assetX))
}

/** By pool: the change of its share count, without the locked shares, minus the change of the holders' shares. */
function shareDifferences(changes: readonly ValueChange[]): ReadonlyMap<PoolId, bigint> {
  const differences = new Map<PoolId, bigint>()
  const count = (poolId: PoolId, change: bigint): void => {
    differences.set(poolId, (differences.get(poolId) ?? 0n) + change)
  }
  for (const { table, key, before, after } of changes) {
    if (table.prefix === POOLS.prefix) {
      count(poolOfKey(key), sharesIn(after) - (before === undefined ? LOCKED_SHARES : sharesIn(before)))
    } else if (table.prefix === POOL_SHARES.prefix) count(poolOfShareKey(key), sharesIn(before) - sharesIn(after))
  }
  return differences
}

function sharesIn(record: unknown): bigint {
  return (record as { readonly shares: bigint } | undefined)?.shares ?? 0n
}

function poolInvariant(changes: readonly ValueChange[]): string | null {
  if (changes.some((change) => change.table.prefix === POOLS.prefix && poolLoses(change))) return 'pool-product'
  return [...shareDifferences(changes).values()].some((difference) => difference !== 0n) ? 'pool-shares' : null
}

/** Pools, their shares, and the price entries of the pool that prices the native coin. */
export const ammModule = {
  name: 'amm',
  tables: [anyTable(POOLS), anyTable(POOL_SHARES), anyTable(PRICE_ENTRIES)],
  handlers: { ...LIQUIDITY_HANDLERS, swap },
  beginBlock: recordPrice,
  genesis,
  invariant: poolInvariant,
} satisfies LedgerModule
