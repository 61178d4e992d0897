import { ceilOf, floorOf, least, squareRoot } from './arithmetic.ts'
import { concat, hex, tagged, unhex } from './bytes.ts'
import { type Ledger, NATIVE } from './ledger.ts'
import type { POOL } from './money-schemas.ts'
import { need } from './outcome.ts'
import type { Fields } from './payloads.ts'
import { assetIn, type Place } from './place.ts'
import { u16, type Value } from './ssz.ts'
import { tokenIn } from './token-kinds.ts'

export type Pool = Value<typeof POOL>

/** In every pool, this many shares belong to no account. */
export const LOCKED_SHARES = 1_000n

const AMOUNT_END = 2n ** 112n
const WHOLE_BPS = 10_000n
const ACCUMULATOR_UNIT = 2n ** 112n

/** Id of the pool of two assets, in either order. */
export function poolId(a: string, b: string, feeBps: number): string {
  const [x, y] = a < b ? [a, b] : [b, a]
  return hex(tagged('pool-id', concat(unhex(x), unhex(y), u16.encode(feeBps))))
}

/** The asset with a symbol. Fails unless it exists and is not frozen. */
function usable(place: Place, symbol: string): string {
  if (assetIn(place, symbol) === NATIVE) return NATIVE
  const { asset, token } = tokenIn(place, symbol)
  need(!token.frozen, 'frozen')
  return asset
}

/** The asset with a symbol. Fails unless it exists. */
function known(place: Place, symbol: string): string {
  return assetIn(place, symbol) === NATIVE ? NATIVE : tokenIn(place, symbol).asset
}

const reserveOf = (pool: Pool, asset: string): bigint => (asset === pool.assetX ? pool.reserveX : pool.reserveY)

/** The pool with its accumulators brought up to a height. */
export function accumulatedTo(pool: Pool, height: number): Pool {
  const { reserveX, reserveY, accumulatedAt } = pool
  const blocks = BigInt(height - accumulatedAt)
  return {
    ...pool,
    xPerY: pool.xPerY + floorOf(reserveX * ACCUMULATOR_UNIT, reserveY) * blocks,
    yPerX: pool.yPerX + floorOf(reserveY * ACCUMULATOR_UNIT, reserveX) * blocks,
    accumulatedAt: height,
  }
}

/** Changes the reserves and the shares of a pool. Before that, brings its accumulators up to this block. */
function change(
  { ledger, height }: Place,
  id: string,
  moves: readonly (readonly [asset: string, amount: bigint])[],
  shares = 0n,
): void {
  let pool = accumulatedTo(ledger.pools.of(id), height)
  for (const [asset, amount] of moves) {
    if (asset === pool.assetX) pool = { ...pool, reserveX: pool.reserveX + amount }
    else pool = { ...pool, reserveY: pool.reserveY + amount }
  }
  ledger.pools.set(id, { ...pool, shares: pool.shares + shares })
}

/** Opens a pool. Its owner gets all but the locked shares. The caller of this function moves the assets. */
export function openPool(
  ledger: Ledger,
  [a, amountA]: readonly [asset: string, amount: bigint],
  [b, amountB]: readonly [asset: string, amount: bigint],
  { feeBps, owner, height }: { readonly feeBps: number; readonly owner: string; readonly height: number },
): bigint {
  const id = poolId(a, b, feeBps)
  need(ledger.pools.get(id) === undefined, 'poolExists')
  const shares = squareRoot(amountA * amountB)
  need(shares > LOCKED_SHARES, 'tooSmall')
  const [assetX, assetY, reserveX, reserveY] = a < b ? [a, b, amountA, amountB] : [b, a, amountB, amountA]
  const beginning = { xPerY: 0n, yPerX: 0n, accumulatedAt: height, createdAt: height }
  ledger.pools.set(id, { version: 1, assetX, assetY, feeBps, reserveX, reserveY, shares, ...beginning })
  ledger.moveShares(owner, id, shares - LOCKED_SHARES)
  return shares - LOCKED_SHARES
}

export function poolCreate(place: Place, payload: Fields<'pool_create'>): bigint[] {
  const { ledger, sender, height } = place
  const { feeBps, amountA, amountB } = payload
  const a = usable(place, payload.assetA)
  const b = usable(place, payload.assetB)
  const held = openPool(ledger, [a, amountA], [b, amountB], { feeBps, owner: sender, height })
  ledger.take(sender, a, amountA)
  ledger.take(sender, b, amountB)
  return [amountA, amountB, held]
}

export function liquidityAdd(place: Place, payload: Fields<'liquidity_add'>): bigint[] {
  const { ledger, sender } = place
  const a = usable(place, payload.assetA)
  const b = usable(place, payload.assetB)
  const id = poolId(a, b, payload.feeBps)
  const pool = ledger.pools.get(id)
  need(pool !== undefined, 'poolUnknown')
  const [reserveA, reserveB] = [reserveOf(pool, a), reserveOf(pool, b)]
  const shares = least(
    floorOf(payload.amountA * pool.shares, reserveA),
    floorOf(payload.amountB * pool.shares, reserveB),
  )
  need(shares > 0n, 'tooSmall')
  need(shares >= payload.minShares, 'limit')
  const takenA = ceilOf(shares * reserveA, pool.shares)
  const takenB = ceilOf(shares * reserveB, pool.shares)
  ledger.take(sender, a, takenA)
  ledger.take(sender, b, takenB)
  const moves = [[a, takenA] as const, [b, takenB] as const]
  change(place, id, moves, shares)
  ledger.moveShares(sender, id, shares)
  return [takenA, takenB, shares]
}

export function liquidityRemove(place: Place, payload: Fields<'liquidity_remove'>): bigint[] {
  const { ledger, sender } = place
  const { shares, minA, minB } = payload
  const a = known(place, payload.assetA)
  const b = known(place, payload.assetB)
  const id = poolId(a, b, payload.feeBps)
  const pool = ledger.pools.get(id)
  need(pool !== undefined, 'poolUnknown')
  need((ledger.poolShares.get(sender + id)?.shares ?? 0n) >= shares, 'insufficientBalance')
  const givenA = floorOf(shares * reserveOf(pool, a), pool.shares)
  const givenB = floorOf(shares * reserveOf(pool, b), pool.shares)
  need(givenA > 0n || givenB > 0n, 'tooSmall')
  need(givenA >= minA && givenB >= minB, 'limit')
  const moves = [[a, -givenA] as const, [b, -givenB] as const]
  change(place, id, moves, -shares)
  ledger.moveShares(sender, id, -shares)
  ledger.give(sender, a, givenA)
  ledger.give(sender, b, givenB)
  return [givenA, givenB]
}

export function swap(place: Place, payload: Fields<'swap'>): bigint[] {
  return payload.exactOut ? swapExactOut(place, payload) : swapExactIn(place, payload)
}

function swapExactIn(place: Place, { assetIn: first, amount, limit, hops }: Fields<'swap'>): bigint[] {
  const { ledger, sender } = place
  let asset = usable(place, first)
  ledger.take(sender, asset, amount)
  const amounts = [amount]
  for (const hop of hops) {
    const into = usable(place, hop.asset)
    const id = poolId(asset, into, hop.feeBps)
    const pool = ledger.pools.get(id)
    need(pool !== undefined, 'poolUnknown')
    const given = amounts[amounts.length - 1] as bigint
    const worth = given * (WHOLE_BPS - BigInt(hop.feeBps))
    const out = floorOf(reserveOf(pool, into) * worth, reserveOf(pool, asset) * WHOLE_BPS + worth)
    need(out > 0n, 'tooSmall')
    const moves = [[asset, given] as const, [into, -out] as const]
    change(place, id, moves)
    amounts.push(out)
    asset = into
  }
  const last = amounts[amounts.length - 1] as bigint
  need(last >= limit, 'limit')
  ledger.give(sender, asset, last)
  return amounts
}

function swapExactOut(place: Place, { assetIn: first, amount, limit, hops }: Fields<'swap'>): bigint[] {
  const { ledger, sender } = place
  const [hop] = hops as [Fields<'swap'>['hops'][number]]
  const from = usable(place, first)
  const into = usable(place, hop.asset)
  const id = poolId(from, into, hop.feeBps)
  const pool = ledger.pools.get(id)
  need(pool !== undefined, 'poolUnknown')
  const [reserveIn, reserveOut] = [reserveOf(pool, from), reserveOf(pool, into)]
  need(amount < reserveOut, 'tooLarge')
  const taken = ceilOf(reserveIn * amount * WHOLE_BPS, (reserveOut - amount) * (WHOLE_BPS - BigInt(hop.feeBps)))
  need(taken < AMOUNT_END, 'tooLarge')
  need(taken <= limit, 'limit')
  ledger.take(sender, from, taken)
  const moves = [[from, taken] as const, [into, -amount] as const]
  change(place, id, moves)
  ledger.give(sender, into, amount)
  return [taken, amount]
}
