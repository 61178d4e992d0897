import { POOLS } from '../../amm/pool.ts'
import { deepestPools, POOLS_BY_ASSET, poolOfEntry } from '../../amm/pools-by-asset.ts'
import { type Holding, topHolders } from '../../consensus/chain/holders.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { REWARDS } from '../../consensus/ledger/rewards.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import { STAKING } from '../../consensus/ledger/staking.ts'
import { STAKING_POOL, supplyOf } from '../../consensus/ledger/supply.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { ESCROW_TOTALS } from '../ledger/escrow.ts'
import { tabTotals } from '../ledger/tab-records.ts'

/** Where all units of an asset are, in base units. */
export interface SupplyPlaces {
  readonly supply: bigint
  /** At addresses. */
  readonly held: bigint
  readonly inPools: bigint
  /** In reserves of stable tokens. */
  readonly inReserves: bigint
  /** 0 except for the native coin. `forStakers`: kept for staking rewards. `maturing`: block rewards not yet mature. */
  readonly staked: bigint
  readonly forStakers: bigint
  readonly inEscrow: bigint
  readonly inTabs: bigint
  readonly maturing: bigint
  /** Whether the places add up to the supply; null if {@link SUPPLY_ENTRIES_MAX} was reached. */
  readonly reconciles: boolean | null
}

/** Maximum holders, and maximum pools, that are summed up, and how many holders are read at once. */
export const SUPPLY_ENTRIES_MAX = 100_000
const AT_ONCE = 1_000
/** Upper bounds that reserves and unmatured rewards never reach. */
const RESERVES_MAX = 1_000
const REWARDS_MAX = 100_000

/** Reads all holders and pools, up to {@link SUPPLY_ENTRIES_MAX} each. Call it within `atOneHead`. */
export async function supplyPlaces(chain: ChainReader, asset: Hash): Promise<SupplyPlaces> {
  const { database } = chain
  const held = await heldOf(chain, asset)
  const inPools = await inPoolsOf(chain, asset)
  const native = asset === NATIVE_ASSET ? await nativePlaces(chain) : NOWHERE_ELSE
  const inReserves = await inReservesOf(chain, asset)
  const supply = supplyOf(database, asset)
  const places = { held: held ?? 0n, inPools: inPools ?? 0n, inReserves, ...native }
  const sum = Object.values(places).reduce((total, units) => total + units, 0n)
  return { supply, ...places, reconciles: held === null || inPools === null ? null : sum === supply }
}

const NOWHERE_ELSE = { staked: 0n, forStakers: 0n, inEscrow: 0n, inTabs: 0n, maturing: 0n }

/** Null if {@link SUPPLY_ENTRIES_MAX} was reached. */
async function heldOf({ database }: ChainReader, asset: Hash): Promise<bigint | null> {
  let sum = 0n
  let after: Holding | undefined
  for (let read = 0; read < SUPPLY_ENTRIES_MAX; read += AT_ONCE) {
    const page = await topHolders(database, asset, AT_ONCE, after)
    sum += page.reduce((total, { amount }) => total + amount, 0n)
    if (page.length < AT_ONCE) return sum
    after = page.at(-1)
  }
  return null
}

/** Null if {@link SUPPLY_ENTRIES_MAX} was reached. */
async function inPoolsOf({ database }: ChainReader, asset: Hash): Promise<bigint | null> {
  const range = deepestPools(asset, SUPPLY_ENTRIES_MAX)
  let [sum, count] = [0n, 0]
  for await (const entry of database.indexRange(POOLS_BY_ASSET, range)) {
    const pool = database.get(POOLS, poolOfEntry(entry))
    if (pool !== undefined) sum += pool.assetX === asset ? pool.reserveX : pool.reserveY
    count += 1
  }
  return count < SUPPLY_ENTRIES_MAX ? sum : null
}

async function inReservesOf({ database }: ChainReader, asset: Hash): Promise<bigint> {
  let sum = 0n
  for await (const { value } of database.stateRange(STABLE_RESERVES, '', RESERVES_MAX)) {
    if (value.reserveAsset === asset) sum += value.reserve
  }
  return sum
}

async function nativePlaces({ database }: ChainReader): Promise<typeof NOWHERE_ELSE> {
  const books = database.get(STAKING, undefined)
  const accrued = database.get(STAKING_POOL, undefined)?.accrued ?? 0n
  let maturing = 0n
  for await (const { value } of database.stateRange(REWARDS, '', REWARDS_MAX)) maturing += value.amount
  return {
    staked: books?.tiers.reduce((sum, { staked }) => sum + staked, 0n) ?? 0n,
    forStakers: accrued + (books?.reserved ?? 0n),
    inEscrow: database.get(ESCROW_TOTALS, undefined)?.amount ?? 0n,
    inTabs: tabTotals(database).locked,
    maturing,
  }
}
