import type { KindHandler, LedgerRules, TxContext } from '../consensus/ledger/module.ts'
import { creditAsset, debitAsset } from '../consensus/ledger/token-balances.ts'
import { type KnownAsset, knownAsset, usableAsset } from '../consensus/ledger/token-records.ts'
import {
  type Amount,
  add,
  amount,
  formatAmount,
  subtract,
  subtractProven,
  ZERO,
} from '../consensus/primitives/amount.ts'
import { assert } from '../consensus/primitives/assert.ts'
import { type Fault, type FaultDetail, fault } from '../consensus/primitives/fault.ts'
import type { Address, Hash, PoolId, TokenSymbol } from '../consensus/primitives/ids.ts'
import type { Overlay } from '../consensus/state/overlay.ts'
import type { StateView } from '../consensus/state/view.ts'
import { addLiquidity, initialShares, LOCKED_SHARES, type PoolFunds, removeLiquidity } from './math.ts'
import {
  fundsFrom,
  orderedAssets,
  POOL_SHARES,
  POOLS,
  type Pool,
  poolIdOf,
  type ShareHolder,
  withFunds,
} from './pool.ts'

/** A pool as payloads name it, with its assets in either order. */
export interface PoolName {
  readonly assetA: TokenSymbol
  readonly assetB: TokenSymbol
  readonly feeBps: number
}

/** The pool may not exist. */
interface Pair {
  readonly assetA: Hash
  readonly assetB: Hash
  readonly poolId: PoolId
}

interface OpenPool extends Pair {
  readonly pool: Pool
  readonly funds: PoolFunds
}

type AssetCheck = typeof usableAsset

function pairOf(view: StateView, name: PoolName, { coin }: LedgerRules, check: AssetCheck): Pair | Fault {
  const a: KnownAsset | Fault = check(view, name.assetA, coin)
  if ('code' in a) return a
  const b: KnownAsset | Fault = check(view, name.assetB, coin)
  if ('code' in b) return b
  return { assetA: a.asset, assetB: b.asset, poolId: poolIdOf(a.asset, b.asset, name.feeBps) }
}

function openPool(view: StateView, name: PoolName, rules: LedgerRules, check: AssetCheck): OpenPool | Fault {
  const pair = pairOf(view, name, rules, check)
  if ('code' in pair) return pair
  const pool = view.get(POOLS, pair.poolId)
  if (pool === undefined) return fault('pool/unknown', poolDetail(name))
  return { ...pair, pool, funds: fundsFrom(pool, pair.assetA) }
}

const PERCENT_DECIMALS = 2

/** Describes a pool in the detail of a fault. */
export function poolDetail({ assetA, assetB, feeBps }: PoolName): FaultDetail {
  return { assetA, assetB, feeBps, feePct: formatAmount(BigInt(feeBps), PERCENT_DECIMALS) }
}

/** The fault of an outcome that misses the limit of its payload. */
export function beyondLimit(got: Amount, limit: Amount): Fault {
  return fault('pool/limit', { got: got.toString(), limit: limit.toString() })
}

/** The record of a new pool. */
export function newPool({ assetA, assetB }: Pair, feeBps: number, funds: PoolFunds, height: number): Pool {
  const [assetX, assetY] = orderedAssets(assetA, assetB)
  const [reserveX, reserveY] = assetX === assetA ? [funds.reserveA, funds.reserveB] : [funds.reserveB, funds.reserveA]
  const shares = amount(funds.shares)
  const facts = { version: 1, assetX, assetY, feeBps, reserveX, reserveY, shares }
  return { ...facts, xPerY: 0n, yPerX: 0n, accumulatedAt: height, createdAt: height }
}

/** Credits shares to an address. The pool's record counts its total separately. */
export function giveShares(overlay: Overlay, holder: ShareHolder, given: Amount): void {
  overlay.put(POOL_SHARES, holder, { shares: add(sharesOf(overlay, holder), given) })
}

/** Shares of a pool that an address holds. */
export function sharesOf(view: StateView, holder: ShareHolder): Amount {
  return view.get(POOL_SHARES, holder)?.shares ?? ZERO
}

const poolCreate: KindHandler<'pool_create'> = {
  spends: ({ payload }, rules) => nativeOf(payload, rules),
  apply: (context, { body: { sender, payload } }) => {
    const { overlay, rules, height } = context
    const pair = pairOf(overlay, payload, rules, usableAsset)
    if ('code' in pair) return pair
    const { poolId } = pair
    if (overlay.get(POOLS, poolId) !== undefined) return fault('pool/exists', poolDetail(payload))
    const { amountA, amountB, feeBps } = payload
    const shares = initialShares(amountA, amountB)
    if (shares <= LOCKED_SHARES) return fault('pool/too-small')
    const short = takeBoth(context, sender, pair, { amountA, amountB })
    if (short !== null) return short
    overlay.put(POOLS, poolId, newPool(pair, feeBps, { reserveA: amountA, reserveB: amountB, shares }, height))
    const own = amount(shares - LOCKED_SHARES)
    giveShares(overlay, { address: sender, poolId }, own)
    context.reportAmounts([amountA, amountB, own])
    return null
  },
}

const liquidityAdd: KindHandler<'liquidity_add'> = {
  spends: ({ payload }, rules) => nativeOf(payload, rules),
  apply: (context, { body: { sender, payload } }) => {
    const { overlay, rules, height } = context
    const open = openPool(overlay, payload, rules, usableAsset)
    if ('code' in open) return open
    const { funds, pool, poolId, assetA } = open
    const added = addLiquidity(funds, payload.amountA, payload.amountB)
    if (added.shares === 0n) return fault('pool/too-small')
    if (added.shares < payload.minShares) return beyondLimit(added.shares, payload.minShares)
    const short = takeBoth(context, sender, open, added)
    if (short !== null) return short
    const grown = {
      reserveA: add(funds.reserveA, added.amountA),
      reserveB: add(funds.reserveB, added.amountB),
      shares: funds.shares + added.shares,
    }
    overlay.put(POOLS, poolId, withFunds(pool, assetA, grown, height))
    giveShares(overlay, { address: sender, poolId }, added.shares)
    context.reportAmounts([added.amountA, added.amountB, added.shares])
    return null
  },
}

/** Also allowed for a frozen token, so that funds are never trapped. */
const liquidityRemove: KindHandler<'liquidity_remove'> = {
  spends: () => ZERO,
  apply: (context, { body: { sender, payload } }) => {
    const { overlay, rules, height } = context
    const open = openPool(overlay, payload, rules, knownAsset)
    if ('code' in open) return open
    const { funds, pool, poolId, assetA } = open
    const { shares, minA, minB } = payload
    const holder = { address: sender, poolId }
    const held = sharesOf(overlay, holder)
    const left = subtract(held, shares)
    if (left === undefined) {
      return fault('ledger/insufficient-balance', { balance: held.toString(), amount: shares.toString() })
    }
    const removed = removeLiquidity(funds, shares)
    if (removed.amountA === 0n && removed.amountB === 0n) return fault('pool/too-small')
    if (removed.amountA < minA) return beyondLimit(removed.amountA, minA)
    if (removed.amountB < minB) return beyondLimit(removed.amountB, minB)
    const shrunk = {
      reserveA: subtractProven(funds.reserveA, removed.amountA),
      reserveB: subtractProven(funds.reserveB, removed.amountB),
      shares: funds.shares - shares,
    }
    overlay.put(POOLS, poolId, withFunds(pool, assetA, shrunk, height))
    if (left === 0n) overlay.delete(POOL_SHARES, holder)
    else overlay.put(POOL_SHARES, holder, { shares: left })
    give(overlay, sender, open.assetA, removed.amountA)
    give(overlay, sender, open.assetB, removed.amountB)
    context.reportAmounts([removed.amountA, removed.amountB])
    return null
  },
}

interface BothAmounts {
  readonly amountA: Amount
  readonly amountB: Amount
}

function takeBoth({ overlay }: TxContext, address: Address, pair: Pair, { amountA, amountB }: BothAmounts) {
  return (
    debitAsset(overlay, { address, asset: pair.assetA }, amountA) ??
    debitAsset(overlay, { address, asset: pair.assetB }, amountB)
  )
}

/** Credits an address that must have an account, as every sender has. */
export function give(overlay: Overlay, address: Address, asset: Hash, given: Amount): void {
  const received = creditAsset(overlay, { address, asset }, given)
  assert(received, 'a sender without an account')
}

function nativeOf({ assetA, assetB, amountA, amountB }: PoolName & BothAmounts, { coin }: LedgerRules): Amount {
  if (assetA === coin.symbol) return amountA
  return assetB === coin.symbol ? amountB : ZERO
}

/** Handlers of the liquidity transactions. */
export const LIQUIDITY_HANDLERS = {
  pool_create: poolCreate,
  liquidity_add: liquidityAdd,
  liquidity_remove: liquidityRemove,
}
