import type { Amount } from '../consensus/primitives/amount.ts'
import type { Hash, PoolId } from '../consensus/primitives/ids.ts'
import { HOPS_MAX } from '../consensus/tx/asset-payloads.ts'
import { outputOf } from './math.ts'
import { fundsFrom, type Pool } from './pool.ts'

/** A pool with its id. */
export interface ListedPool {
  readonly poolId: PoolId
  readonly pool: Pool
}

/** A hop of a route, with its input and output. */
export interface RouteHop extends ListedPool {
  readonly assetIn: Hash
  readonly assetOut: Hash
  readonly amountIn: Amount
  readonly amountOut: Amount
}

/** Each hop's output is the next one's input. */
export type Route = readonly RouteHop[]

interface Edge extends ListedPool {
  readonly assetOut: Hash
}

class PoolGraph {
  readonly #byAsset = new Map<Hash, Edge[]>()
  readonly #byPair = new Map<string, Edge[]>()

  constructor(pools: Iterable<ListedPool>) {
    for (const { poolId, pool } of pools) {
      this.#add(pool.assetX, { poolId, pool, assetOut: pool.assetY })
      this.#add(pool.assetY, { poolId, pool, assetOut: pool.assetX })
    }
  }

  from(asset: Hash): readonly Edge[] {
    return this.#byAsset.get(asset) ?? []
  }

  between(assetIn: Hash, assetOut: Hash): readonly Edge[] {
    return this.#byPair.get(assetIn + assetOut) ?? []
  }

  #add(assetIn: Hash, edge: Edge): void {
    push(this.#byAsset, assetIn, edge)
    push(this.#byPair, assetIn + edge.assetOut, edge)
  }
}

function push<K>(lists: Map<K, Edge[]>, key: K, edge: Edge): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [edge])
  else list.push(edge)
}

interface Order {
  readonly assetIn: Hash
  readonly assetOut: Hash
  readonly amountIn: Amount
}

/**
 * The best route for an exact input over at most three different pools, by trying every one. Of equal outputs the
 * shorter route wins, then the first found. With one pool per pair and fee, a pool is in the middle of at most 2 fees^2
 * routes. Undefined if no route pays anything.
 */
export function bestRoute(pools: Iterable<ListedPool>, order: Order): Route | undefined {
  const graph = new PoolGraph(pools)
  let best: Route | undefined
  const extend = (route: Route, asset: Hash, value: Amount): void => {
    const last = route.length === HOPS_MAX - 1
    for (const edge of last ? graph.between(asset, order.assetOut) : graph.from(asset)) {
      const hop = hopOver(edge, asset, value)
      if (hop.amountOut === 0n || route.some(({ poolId }) => poolId === edge.poolId)) continue
      const longer = [...route, hop]
      if (hop.assetOut === order.assetOut && beats(longer, best)) best = longer
      if (!last) extend(longer, hop.assetOut, hop.amountOut)
    }
  }
  extend([], order.assetIn, order.amountIn)
  return best
}

function hopOver({ poolId, pool, assetOut }: Edge, assetIn: Hash, amountIn: Amount): RouteHop {
  const { reserveA, reserveB } = fundsFrom(pool, assetIn)
  const amountOut = outputOf(reserveA, reserveB, amountIn, BigInt(pool.feeBps))
  return { poolId, pool, assetIn, assetOut, amountIn, amountOut }
}

/** The final output of a route. */
export function paidBy(route: Route): Amount {
  return (route.at(-1) as RouteHop).amountOut
}

function beats(route: Route, best: Route | undefined): boolean {
  if (best === undefined) return true
  const [paid, most] = [paidBy(route), paidBy(best)]
  return paid > most || (paid === most && route.length < best.length)
}
