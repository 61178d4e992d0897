import { assetOf } from '../consensus/ledger/asset.ts'
import type { KindHandler, TxContext } from '../consensus/ledger/module.ts'
import { debitAsset } from '../consensus/ledger/token-balances.ts'
import { usableAsset } from '../consensus/ledger/token-records.ts'
import { type Amount, add, subtractProven, ZERO } from '../consensus/primitives/amount.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { Address, Hash, PoolId, TokenSymbol } from '../consensus/primitives/ids.ts'
import { NATIVE_ASSET } from '../consensus/state/table.ts'
import type { SwapHop } from '../consensus/tx/asset-payloads.ts'
import type { PayloadOf } from '../consensus/tx/kinds.ts'
import { beyondLimit, give, poolDetail } from './liquidity.ts'
import { inputFor, outputOf } from './math.ts'
import { fundsFrom, POOLS, type Pool, poolIdOf, withFunds } from './pool.ts'

/** The asset and amount that a swap holds between hops. */
interface Way {
  readonly symbol: TokenSymbol
  readonly asset: Hash
  readonly value: Amount
}

interface Step {
  readonly assetOut: Hash
  readonly poolId: PoolId
  readonly pool: Pool
}

function stepOf({ overlay, rules }: TxContext, from: Omit<Way, 'value'>, hop: SwapHop): Step | Fault {
  const out = usableAsset(overlay, hop.asset, rules.coin)
  if ('code' in out) return out
  const poolId = poolIdOf(from.asset, out.asset, hop.feeBps)
  const pool = overlay.get(POOLS, poolId)
  if (pool === undefined) {
    return fault('pool/unknown', poolDetail({ assetA: from.symbol, assetB: hop.asset, feeBps: hop.feeBps }))
  }
  return { assetOut: out.asset, poolId, pool }
}

/** The whole input goes into the reserve, with its fee. */
function trade({ overlay, height }: TxContext, { pool, poolId }: Step, from: Way, paid: Amount): void {
  const funds = fundsFrom(pool, from.asset)
  const traded = {
    ...funds,
    reserveA: add(funds.reserveA, from.value),
    reserveB: subtractProven(funds.reserveB, paid),
  }
  overlay.put(POOLS, poolId, withFunds(pool, from.asset, traded, height))
}

function passHop(context: TxContext, from: Way, hop: SwapHop): Way | Fault {
  const step = stepOf(context, from, hop)
  if ('code' in step) return step
  const { reserveA, reserveB } = fundsFrom(step.pool, from.asset)
  const value = outputOf(reserveA, reserveB, from.value, BigInt(hop.feeBps))
  if (value === 0n) return fault('pool/too-small')
  trade(context, step, from, value)
  return { symbol: hop.asset, asset: step.assetOut, value }
}

/** A route may use a pool twice: every hop sees the reserves that earlier hops left. */
function swapIn(context: TxContext, sender: Address, start: Way, { hops, limit }: PayloadOf<'swap'>): Fault | null {
  const short = debitAsset(context.overlay, { address: sender, asset: start.asset }, start.value)
  if (short !== null) return short
  const amounts = [start.value]
  let way = start
  for (const hop of hops) {
    const next = passHop(context, way, hop)
    if ('code' in next) return next
    amounts.push(next.value)
    way = next
  }
  if (way.value < limit) return beyondLimit(way.value, limit)
  give(context.overlay, sender, way.asset, way.value)
  context.reportAmounts(amounts)
  return null
}

function swapOut(
  context: TxContext,
  sender: Address,
  start: Omit<Way, 'value'>,
  { hops, amount: wanted, limit }: PayloadOf<'swap'>,
): Fault | null {
  const [hop] = hops as readonly [SwapHop]
  const step = stepOf(context, start, hop)
  if ('code' in step) return step
  const { reserveA, reserveB } = fundsFrom(step.pool, start.asset)
  const needed = inputFor(reserveA, reserveB, wanted, BigInt(hop.feeBps))
  if (needed === undefined) return fault('pool/too-large')
  if (needed > limit) return beyondLimit(needed, limit)
  const short = debitAsset(context.overlay, { address: sender, asset: start.asset }, needed)
  if (short !== null) return short
  trade(context, step, { ...start, value: needed }, wanted)
  give(context.overlay, sender, step.assetOut, wanted)
  context.reportAmounts([needed, wanted])
  return null
}

/** `swap`: over up to three pools if the input is known, over one if the output is known. */
export const swap: KindHandler<'swap'> = {
  spends: ({ payload: { assetIn, exactOut, amount: known, limit } }, { coin }) => {
    if (assetOf(assetIn, coin) !== NATIVE_ASSET) return ZERO
    return exactOut ? limit : known
  },
  apply: (context, { body: { sender, payload } }) => {
    const { assetIn: symbol, exactOut, amount: known } = payload
    const start = usableAsset(context.overlay, symbol, context.rules.coin)
    if ('code' in start) return start
    if (exactOut) return swapOut(context, sender, { symbol, asset: start.asset }, payload)
    return swapIn(context, sender, { symbol, asset: start.asset, value: known }, payload)
  },
}
