import { symbolOf } from '../consensus/ledger/asset.ts'
import type { CoinRules } from '../consensus/ledger/rules.ts'
import { TOKENS, usableAsset } from '../consensus/ledger/token-records.ts'
import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND } from '../consensus/primitives/amount.ts'
import { assert } from '../consensus/primitives/assert.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { Hash, PoolId, TokenSymbol } from '../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../consensus/primitives/result.ts'
import type { StateView } from '../consensus/state/view.ts'
import { HOPS_MAX } from '../consensus/tx/asset-payloads.ts'
import type { PayloadOf } from '../consensus/tx/kinds.ts'
import { feeOf, inputFor, priceImpactPpm } from './math.ts'
import { fundsFrom, POOLS } from './pool.ts'
import { bestRoute, type ListedPool, paidBy, type Route, type RouteHop } from './route.ts'

/** Maximum pools that a quote examines. The deepest should come first. */
export const QUOTE_POOLS_MAX = 1_024

const [BPS, PPM] = [10_000n, 1_000_000n]

/** A requested swap. */
export interface SwapOrder {
  readonly assetIn: TokenSymbol
  readonly assetOut: TokenSymbol
  /** Base units to pay, or to receive if the output is exact. */
  readonly amount: Amount
  /** Accepted loss against the quote before the swap fails: 0 to 10,000 basis points. */
  readonly slippageBps: bigint
}

/** Pool ids without a pool are ignored. */
export interface QuoteBasis {
  readonly view: StateView
  readonly coin: Pick<CoinRules, 'symbol'>
  readonly pools: Iterable<PoolId>
}

/** A hop of a quote. */
export interface QuotedHop extends RouteHop {
  /** What the liquidity providers earn, in the asset paid in, rounded up. */
  readonly fee: Amount
  readonly priceImpactPpm: bigint
}

/** A swap as it would execute on this state, exact to the base unit. */
export interface SwapQuote {
  readonly hops: readonly QuotedHop[]
  readonly amountIn: Amount
  readonly amountOut: Amount
  /** Distance from the price before the swap, fees included, in parts per million, rounded up: less than 5 too high. */
  readonly priceImpactPpm: bigint
  /** Least output, rounded up, or most input, rounded down: slippage never exceeds the accepted one. */
  readonly limit: Amount
  readonly payload: PayloadOf<'swap'>
}

/** Quotes an exact input over the best route of at most three different pools, through assets that are not frozen. */
export function quoteExactIn(basis: QuoteBasis, order: SwapOrder): Result<SwapQuote> {
  const ends = endsOf(basis, order)
  if ('code' in ends) return fail(ends)
  const pools = tradedPools(basis)
  const route = bestRoute(pools, { ...ends, amountIn: order.amount })
  if (route !== undefined) return ok(quoted(basis, order, route, false))
  return fail(connected(pools, ends) ? fault('pool/too-small') : noRoute(order))
}

/** Quotes an exact output over the pool between the two assets that takes the least input. */
export function quoteExactOut(basis: QuoteBasis, order: SwapOrder): Result<SwapQuote> {
  const ends = endsOf(basis, order)
  if ('code' in ends) return fail(ends)
  const pools = tradedPools(basis).filter(({ pool }) => isBetween(pool, ends))
  if (pools.length === 0) return fail(noRoute(order, 'one pool, which an exact output takes,'))
  const [best] = pools
    .flatMap((listed) => hopFor(listed, ends, order.amount) ?? [])
    .sort((a, b) => (a.amountIn < b.amountIn ? -1 : a.amountIn > b.amountIn ? 1 : 0))
  return best === undefined ? fail(fault('pool/too-large')) : ok(quoted(basis, order, [best], true))
}

interface Ends {
  readonly assetIn: Hash
  readonly assetOut: Hash
}

function endsOf({ view, coin }: QuoteBasis, { assetIn, assetOut, slippageBps }: SwapOrder): Ends | Fault {
  assert(slippageBps >= 0n && slippageBps <= BPS, 'slippage is a share')
  if (assetIn === assetOut)
    return fault('tx/field', { field: 'assetOut', reason: 'must be another asset than goes in' })
  const from = usableAsset(view, assetIn, coin)
  if ('code' in from) return from
  const to = usableAsset(view, assetOut, coin)
  return 'code' in to ? to : { assetIn: from.asset, assetOut: to.asset }
}

function tradedPools({ view, pools }: QuoteBasis): readonly ListedPool[] {
  const frozen = (asset: Hash): boolean => view.get(TOKENS, asset)?.frozen === true
  return [...new Set(pools)].slice(0, QUOTE_POOLS_MAX).flatMap((poolId) => {
    const pool = view.get(POOLS, poolId)
    return pool === undefined || frozen(pool.assetX) || frozen(pool.assetY) ? [] : [{ poolId, pool }]
  })
}

function isBetween({ assetX, assetY }: ListedPool['pool'], { assetIn, assetOut }: Ends): boolean {
  return (assetX === assetIn && assetY === assetOut) || (assetX === assetOut && assetY === assetIn)
}

/** Whether any route connects the two ends, even one that pays nothing. */
function connected(pools: readonly ListedPool[], { assetIn, assetOut }: Ends): boolean {
  let reached = new Set([assetIn])
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const next = new Set(reached)
    for (const { pool } of pools) {
      if (reached.has(pool.assetX)) next.add(pool.assetY)
      if (reached.has(pool.assetY)) next.add(pool.assetX)
    }
    reached = next
  }
  return reached.has(assetOut)
}

function noRoute({ assetIn, assetOut }: SwapOrder, pools = `at most ${HOPS_MAX} pools`): Fault {
  return fault('pool/no-route', { assetIn, assetOut, pools })
}

function hopFor({ poolId, pool }: ListedPool, { assetIn, assetOut }: Ends, amountOut: Amount): RouteHop | undefined {
  const { reserveA, reserveB } = fundsFrom(pool, assetIn)
  const amountIn = inputFor(reserveA, reserveB, amountOut, BigInt(pool.feeBps))
  return amountIn === undefined ? undefined : { poolId, pool, assetIn, assetOut, amountIn, amountOut }
}

function quoted({ coin }: QuoteBasis, order: SwapOrder, route: Route, exactOut: boolean): SwapQuote {
  const hops = route.map(quotedHop)
  const [{ amountIn }] = hops as [QuotedHop]
  const amountOut = paidBy(route)
  const limit = exactOut ? mostIn(amountIn, order.slippageBps) : leastOut(amountOut, order.slippageBps)
  const kept = hops.reduce((part, hop) => mulDivDown(part, PPM - hop.priceImpactPpm, PPM), PPM)
  const payload = {
    assetIn: order.assetIn,
    exactOut,
    amount: order.amount,
    limit,
    hops: hops.map(({ assetOut, pool }) => ({ asset: symbolOf(assetOut, coin), feeBps: pool.feeBps })),
  }
  return { hops, amountIn, amountOut, priceImpactPpm: PPM - kept, limit, payload }
}

function quotedHop(hop: RouteHop): QuotedHop {
  const { pool, assetIn, amountIn, amountOut } = hop
  const { reserveA, reserveB } = fundsFrom(pool, assetIn)
  return {
    ...hop,
    fee: feeOf(amountIn, BigInt(pool.feeBps)),
    priceImpactPpm: priceImpactPpm(reserveA, reserveB, amountIn, amountOut),
  }
}

function leastOut(out: Amount, slippageBps: bigint): Amount {
  return amount(mulDivUp(out, BPS - slippageBps, BPS))
}

/** Every amount in a transaction is below 2^112. */
function mostIn(paid: Amount, slippageBps: bigint): Amount {
  const most = mulDivDown(paid, BPS + slippageBps, BPS)
  return amount(most < SUPPLY_BOUND ? most : SUPPLY_BOUND - 1n)
}
