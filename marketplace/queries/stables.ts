import { fundsFrom, POOLS, poolIdOf } from '../../amm/pool.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { symbolOf } from '../../consensus/ledger/asset.ts'
import { STABLE_RESERVES } from '../../consensus/ledger/stable.ts'
import type { StableFacts } from '../../consensus/ledger/stable-facts.ts'
import { mulDivDown } from '../../consensus/primitives/amount.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { coinOf } from './assets.ts'
import { bridgeNetworks } from './collateral.ts'
import { type PoolRow, poolRow } from './pools.ts'
import { type Ratio, ratio } from './ratio.ts'
import { type AssetRow, recordedRow } from './tokens.ts'

/** A stable token with its backing. */
export interface StableRow extends AssetRow {
  readonly backing: StableFacts
}

/** Maximum stable tokens that are listed. */
export const STABLES_MAX = 100

/** Stable tokens, ordered by symbol. */
export async function listStables(chain: ChainReader): Promise<readonly StableRow[]> {
  const rows: StableRow[] = []
  for await (const { key } of chain.database.stateRange(STABLE_RESERVES, '', STABLES_MAX)) {
    const row = recordedRow(chain, key.slice(2) as Hash)
    if (isStable(row)) rows.push(row)
  }
  return rows
}

/** Whether an asset is a stable token. */
export function isStable(row: AssetRow): row is StableRow {
  return row.backing !== null
}

/** Market price of a stable token in its reserve asset. */
export interface Peg {
  readonly pool: PoolRow
  /** Base units of the reserve asset per base unit of the token. */
  readonly price: Ratio
  /** 10^6 (price - 1), truncated towards 0. */
  readonly deviationPpm: bigint
}

/** Price of a stable token in its deepest pool with the reserve asset; null if there is no such pool. */
export function pegOf(chain: ChainReader, { asset, backing }: StableRow): Peg | null {
  const { database, ruleBook, head } = chain
  const pools = ruleBook.at(head.header.height + 1).tx.poolFeesBps.flatMap((feeBps) => {
    const poolId = poolIdOf(asset, backing.reserveAsset, feeBps)
    const pool = database.get(POOLS, poolId)
    return pool === undefined ? [] : [{ poolId, pool, ...fundsFrom(pool, asset) }]
  })
  const [deepest] = pools.toSorted((a, b) => (a.reserveB > b.reserveB ? -1 : 1))
  if (deepest === undefined) return null
  const { poolId, pool, reserveA, reserveB } = deepest
  const deviationPpm = ((reserveB - reserveA) * 1_000_000n) / reserveA
  return { pool: poolRow(chain, poolId, pool), price: ratio(reserveB, reserveA), deviationPpm }
}

/** Deviations from the peg, in basis points, that count as `warn` and `critical`. */
export const PEG_BOUNDS = { warnBps: 100n, criticalBps: 500n } as const

/** Health of a stable token. `unknown`: the supply is 0, so nothing is owed. */
export type Health = 'ok' | 'warn' | 'critical' | 'unknown'

/** A problem of a stable token; at level `info`, the remark that its supply is 0 or its peg is unknown. */
export interface HealthReason {
  readonly code: 'under-backed' | 'peg-off' | 'frozen' | 'bridge-halted' | 'no-supply' | 'peg-unknown'
  readonly level: 'info' | 'warn' | 'critical'
  readonly detail: string
}

/** All problems of a stable token at the head. */
export function healthReasons(chain: ChainReader, row: StableRow, peg: Peg | null): readonly HealthReason[] {
  return [...backingReasons(row), ...pegReasons(peg), ...flowReasons(chain, row)]
}

/** The worst level among the problems; without `warn` or `critical` it is `ok`, or `unknown` while the supply is 0. */
export function healthOf({ backing }: StableRow, reasons: readonly HealthReason[]): Health {
  if (reasons.some(({ level }) => level === 'critical')) return 'critical'
  if (reasons.some(({ level }) => level === 'warn')) return 'warn'
  return backing.supply === 0n ? 'unknown' : 'ok'
}

function backingReasons({ backing }: StableRow): readonly HealthReason[] {
  const { supply, reserve } = backing
  if (supply === 0n) return [{ code: 'no-supply', level: 'info', detail: 'none of it is in circulation' }]
  if (reserve >= supply) return []
  const covered = mulDivDown(reserve, 10_000n, supply)
  const detail = `the reserve covers ${Number(covered) / 100} % of the supply; who redeems gets that share`
  return [{ code: 'under-backed', level: 'critical', detail }]
}

function pegReasons(peg: Peg | null): readonly HealthReason[] {
  if (peg === null) {
    const detail = 'no pool trades it against what backs it'
    return [{ code: 'peg-unknown', level: 'info', detail }]
  }
  const { deviationPpm, pool } = peg
  const off = deviationPpm < 0n ? -deviationPpm : deviationPpm
  if (off < PEG_BOUNDS.warnBps * 100n) return []
  const level = off < PEG_BOUNDS.criticalBps * 100n ? 'warn' : 'critical'
  return [{ code: 'peg-off', level, detail: `${Number(deviationPpm) / 10_000} % off its reserve in ${pool.name}` }]
}

/** Problems that stop holders from moving the token, or its reserve asset from leaving over the bridge. */
function flowReasons(chain: ChainReader, { frozen, backing }: StableRow): readonly HealthReason[] {
  const symbol = symbolOf(backing.reserveAsset, coinOf(chain))
  const halted = bridgeNetworks(chain).filter(({ rules, status }) => rules.asset === symbol && status === 'halted')
  const names = halted.map(({ rules }) => rules.name).join(', ')
  return [
    ...(frozen ? [{ code: 'frozen', level: 'warn', detail: 'it cannot be moved, only redeemed' } as const] : []),
    ...(names === ''
      ? []
      : [{ code: 'bridge-halted', level: 'warn', detail: `${symbol} is halted on ${names}` } as const]),
  ]
}
