import { hourOf } from '../../amm/candles.ts'
import { inputFor, outputOf, priceImpactPpm } from '../../amm/math.ts'
import { POOLS, type Pool } from '../../amm/pool.ts'
import type { Trade } from '../../amm/trades.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { PoolId } from '../../consensus/primitives/ids.ts'
import { listCandles } from './trading.ts'

type Reserves = Pick<Pool, 'reserveX' | 'reserveY'>

/**
 * Price impacts of the chain's newest trades in parts per million, given newest first. Reserves of the past are not kept:
 * they are worked out backwards from the pool as it is now, or as it was at the end of the trade's hour. An impact is told
 * only where the trade comes out of these reserves again to the base unit, else it is null: liquidity has moved since.
 */
export async function priceImpacts(chain: Chain, trades: readonly Trade[]): Promise<readonly (bigint | null)[]> {
  const states = new Map<PoolId, Reserves | undefined>()
  const impacts: (bigint | null)[] = []
  for (const trade of trades) {
    const pool = chain.database.get(POOLS, trade.poolId)
    const now = states.has(trade.poolId) ? states.get(trade.poolId) : pool
    const ends = [now, await endOfHour(chain, trade)]
    const before =
      pool && ends.map((after) => after && reservesBefore(pool, trade, after)).find((each) => each !== undefined)
    states.set(trade.poolId, before && (trade.assetIn === pool.assetX ? before : turned(before)))
    impacts.push(
      before === undefined ? null : priceImpactPpm(before.reserveX, before.reserveY, trade.amountIn, trade.amountOut),
    )
  }
  return impacts
}

async function endOfHour(chain: Chain, { poolId, timeMs }: Trade): Promise<Reserves | undefined> {
  const hour = hourOf(timeMs)
  const [candle] = await listCandles(chain, { poolId, from: hour, to: hour + 1, limit: 1 })
  return candle
}

/** Reserves before the trade, what goes in as X; undefined where the trade does not come out of them. */
function reservesBefore(
  { assetX, feeBps }: Pool,
  { assetIn, amountIn, amountOut }: Trade,
  after: Reserves,
): Reserves | undefined {
  const { reserveX, reserveY } = assetIn === assetX ? after : turned(after)
  if (reserveX <= amountIn) return undefined
  const [x, y] = [(reserveX - amountIn) as Amount, (reserveY + amountOut) as Amount]
  const fee = BigInt(feeBps)
  const same = outputOf(x, y, amountIn, fee) === amountOut || inputFor(x, y, amountOut, fee) === amountIn
  return same ? { reserveX: x, reserveY: y } : undefined
}

function turned({ reserveX, reserveY }: Reserves): Reserves {
  return { reserveX: reserveY, reserveY: reserveX }
}
