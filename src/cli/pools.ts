import type { PoolFunds } from '../../amm/math.ts'
import { poolIdOf } from '../../amm/pool.ts'
import { assetOf } from '../../consensus/ledger/asset.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AssetView, PoolView } from '../../rpc/client/ledger-client.ts'
import { assetLie, tellDecimals } from './assets.ts'
import type { CommandContext } from './command.ts'
import { ownAddress, type Session } from './session.ts'
import { usage } from './values.ts'

/** A pool seen from one of its assets, which becomes A. */
export interface PoolSide {
  readonly a: AssetView
  readonly b: AssetView
  readonly funds: PoolFunds
}

/** The name of a pool, made of its assets and its fee in basis points, or its id. */
const POOL = /^([0-9a-f]{64}|[A-Z0-9]{2,10}-[A-Z0-9]{2,10}-[0-9]{1,4})$/

/** A pool by its id or its name, with the assets in either order. An answer about another pool is refused. */
export async function findPool({ client, context }: Session, name: string): Promise<Result<PoolView>> {
  const named = readPoolName(name)
  if (!named.ok) return named
  const pool = await client.pool(named.value)
  if (!pool.ok) return pool
  const { x, y, feeBps } = pool.value
  const lie = assetLie(context, [x, y])
  if (lie !== null) return fail(lie)
  for (const asset of [x, y]) tellDecimals(context, asset)
  const [id, own] = [poolId(context, pool.value), poolText(x, y, feeBps)]
  if ([id, own, poolText(y, x, feeBps)].includes(named.value)) return ok({ ...pool.value, id, name: own })
  return fail(fault('cli/refused', { message: `its answer is about ${own}, not about ${named.value}` }))
}

/** The name of a pool. */
export function poolText(one: AssetView, other: AssetView, feeBps: number): string {
  return `${one.symbol}-${other.symbol}-${feeBps}`
}

function poolId({ params }: Pick<CommandContext, 'params'>, { x, y, feeBps }: PoolView): string {
  const coin = { symbol: params.ticker as TokenSymbol }
  return poolIdOf(assetOf(x.symbol, coin), assetOf(y.symbol, coin), feeBps)
}

/** Parses the name or the id of a pool. */
export function readPoolName(name: string): Result<string> {
  if (POOL.test(name)) return ok(name)
  const meant = [name.toUpperCase(), name.toLowerCase()].find((cased) => POOL.test(cased))
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return usage(`"${name.slice(0, 70)}" is no pool: name it as FAR-FUSD-30, or by its id${hint}`)
}

/** The pool, seen from one of its assets. */
export function seenFrom({ name, x, y, shares }: PoolView, symbol: string): Result<PoolSide> {
  if (symbol === x.symbol) return ok({ a: x, b: y, funds: { reserveA: x.units, reserveB: y.units, shares } })
  if (symbol === y.symbol) return ok({ a: y, b: x, funds: { reserveA: y.units, reserveB: x.units, shares } })
  return usage(`${symbol.slice(0, 40)} is not in the pool ${name}`)
}

/** The wallet's shares of a pool. */
export async function ownShares(session: Session, { id }: PoolView): Promise<Result<bigint>> {
  const holdings = await session.client.holdings(ownAddress(session))
  if (!holdings.ok) return holdings
  return ok(holdings.value.positions.find(({ poolId }) => poolId === id)?.shares ?? 0n)
}
