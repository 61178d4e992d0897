import type { ChainReader } from '../../consensus/chain/reader.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { assetOfBalanceKey, TOKEN_BALANCES } from '../../consensus/ledger/token-balances.ts'
import { type Amount, amount, ZERO } from '../../consensus/primitives/amount.ts'
import type { Address, Hash, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { tabsListed } from '../ledger/tab-lists.ts'
import { type AssetFacts, recordedAsset } from './assets.ts'
import { type PoolPosition, positionsOf } from './pools.ts'
import { PriceBook, type PriceFacts } from './prices.ts'
import { type StakeFacts, stakesOf } from './staking.ts'
import { type TabFacts, tabFacts } from './tabs.ts'

/** An amount with its price and value at the head. Both are null, never 0, if the price is unknown. */
export interface Valued {
  readonly asset: AssetFacts
  readonly amount: Amount
  readonly price: PriceFacts | null
  readonly valueUsdMicros: bigint | null
}

/** `x` and `y` are what the position would withdraw. The sum is null if either value is unknown. */
export interface ValuedPosition extends PoolPosition {
  readonly x: Valued
  readonly y: Valued
  readonly valueUsdMicros: bigint | null
}

/** What an address holds, up to {@link HOLDINGS_MAX} tokens, positions, stakes and open tabs each. */
export interface Holdings {
  readonly exists: boolean
  readonly nonce: bigint
  readonly native: Valued
  readonly tokens: readonly Valued[]
  readonly positions: readonly ValuedPosition[]
  readonly stakes: readonly StakeFacts[]
  /** Sums over the listed stakes. `pendingRewards` is what claims in the next block would pay. */
  readonly staked: Valued
  readonly pendingRewards: Valued
  /** Open tabs that the address pays, and what they lock: what would come back if nothing more is claimed. */
  readonly tabs: readonly TabFacts[]
  readonly inTabs: Valued
  /**
   * Value of everything listed that has a price. All units of one asset are valued together, so pools bound their sum.
   */
  readonly totalUsdMicros: bigint
  /** Symbols of the listed assets without a price, except those with an amount of 0. */
  readonly unpriced: readonly TokenSymbol[]
  /** Whether there are more tokens, positions, stakes or tabs than are listed. */
  readonly truncated: Readonly<Record<'tokens' | 'positions' | 'stakes' | 'tabs', boolean>>
}

/** Maximum tokens of an address that are listed. */
export const HOLDINGS_MAX = 100

/** Call it within `atOneHead`. */
export async function holdingsOf(chain: ChainReader, address: Address): Promise<Holdings> {
  const { database } = chain
  const account = database.get(ACCOUNTS, address)
  const [held, lp, allStakes, allTabs] = await Promise.all([
    tokensOf(chain, address),
    positionsOf(chain, address, { limit: HOLDINGS_MAX + 1 }),
    stakesOf(chain, address, { limit: HOLDINGS_MAX + 1 }),
    tabsListed(database, { payer: address }, { limit: HOLDINGS_MAX + 1, open: true }),
  ])
  const stakes = allStakes.slice(0, HOLDINGS_MAX)
  const tabs = allTabs.slice(0, HOLDINGS_MAX).flatMap(({ tabId }) => tabFacts(chain, tabId) ?? [])
  const [native, staked, pendingRewards, inTabs, tokens, positions] = await Promise.all([
    valued(chain, NATIVE_ASSET, account?.balance ?? ZERO),
    valued(
      chain,
      NATIVE_ASSET,
      sumOf(stakes, ({ stake }) => stake.amount),
    ),
    valued(
      chain,
      NATIVE_ASSET,
      sumOf(stakes, ({ pending }) => pending),
    ),
    valued(
      chain,
      NATIVE_ASSET,
      sumOf(tabs, ({ locked }) => locked),
    ),
    Promise.all(held.slice(0, HOLDINGS_MAX).map(([asset, units]) => valued(chain, asset, units))),
    Promise.all(lp.slice(0, HOLDINGS_MAX).map((position) => valuedPosition(chain, position))),
  ])
  const all = [native, ...tokens, ...positions.flatMap(({ x, y }) => [x, y]), staked, pendingRewards, inTabs]
  return {
    ...{ exists: account !== undefined, nonce: account?.nonce ?? 0n },
    ...{ native, tokens, positions, stakes, staked, pendingRewards, tabs, inTabs },
    totalUsdMicros: await totalOf(chain, all),
    unpriced: [...new Set(all.flatMap((one) => (one.price === null && one.amount > 0n ? [one.asset.symbol] : [])))],
    truncated: {
      tokens: held.length > HOLDINGS_MAX,
      positions: lp.length > HOLDINGS_MAX,
      stakes: allStakes.length > HOLDINGS_MAX,
      tabs: allTabs.length > HOLDINGS_MAX,
    },
  }
}

async function totalOf(chain: ChainReader, all: readonly Valued[]): Promise<bigint> {
  let total = 0n
  for (const [asset, held] of Map.groupBy(all, (one) => one.asset.asset)) {
    const values = held.reduce((sum, { valueUsdMicros }) => sum + (valueUsdMicros ?? 0n), 0n)
    const together = await PriceBook.of(chain).valueOf(
      asset,
      sumOf(held, (one) => one.amount),
    )
    total += together === null || values < together ? values : together
  }
  return total
}

async function tokensOf({ database }: ChainReader, address: Address): Promise<readonly (readonly [Hash, Amount])[]> {
  const held: (readonly [Hash, Amount])[] = []
  for await (const { key, value } of database.stateRange(TOKEN_BALANCES, address, HOLDINGS_MAX + 1)) {
    held.push([assetOfBalanceKey(key), value.amount])
  }
  return held
}

/** An amount of an asset with its value. */
export async function valued(chain: ChainReader, asset: Hash, units: Amount): Promise<Valued> {
  const book = PriceBook.of(chain)
  const price = await book.priceOf(asset)
  return {
    asset: recordedAsset(chain, asset),
    amount: units,
    price,
    valueUsdMicros: await book.valueOf(asset, units),
  }
}

async function valuedPosition(chain: ChainReader, position: PoolPosition): Promise<ValuedPosition> {
  const { pool } = position.row
  const [x, y] = await Promise.all([
    valued(chain, pool.assetX, position.amountX),
    valued(chain, pool.assetY, position.amountY),
  ])
  const known = x.valueUsdMicros !== null && y.valueUsdMicros !== null
  return {
    ...position,
    x,
    y,
    valueUsdMicros: known ? (x.valueUsdMicros as bigint) + (y.valueUsdMicros as bigint) : null,
  }
}

function sumOf<T>(items: readonly T[], of: (item: T) => bigint): Amount {
  return amount(items.reduce((sum, item) => sum + of(item), 0n))
}
