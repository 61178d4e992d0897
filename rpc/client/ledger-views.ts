import { type Amount, SUPPLY_BOUND } from '../../consensus/primitives/amount.ts'
import { isHex } from '../../consensus/primitives/bytes.ts'
import { TOKEN_SYMBOL, type TokenSymbol } from '../../consensus/primitives/ids.ts'
import { HOPS_MAX } from '../../consensus/tx/asset-payloads.ts'
import { fieldsOf } from './http.ts'

/**
 * What clients count with, read out of answers: amounts become numbers here and nowhere else. Each reader gives undefined
 * where the answer is not what it should be; a node is a stranger.
 */
export type Reader<T> = (answer: Readonly<Record<string, unknown>>) => T | undefined

/** An asset with its decimals. */
export interface AssetView {
  readonly symbol: TokenSymbol
  readonly decimals: number
}

/** Units of an asset. */
export interface UnitsView extends AssetView {
  readonly units: Amount
}

/** A token as far as a transaction needs it. */
export interface TokenView extends AssetView {
  readonly frozen: boolean
  readonly hidden: boolean
}

/** What backs a stable token. */
export interface StableView {
  readonly symbol: TokenSymbol
  readonly supply: UnitsView
  readonly reserve: UnitsView
}

/** A pool with its reserves; `shares` are all of them, the locked ones included. */
export interface PoolView {
  readonly id: string
  readonly name: string
  readonly feeBps: number
  readonly x: UnitsView
  readonly y: UnitsView
  readonly shares: bigint
}

/** One pool of a quoted way. */
export interface HopView {
  readonly pool: string
  readonly feeBps: number
  readonly out: UnitsView
}

/** What a swap would come to at the head. */
export interface QuoteView {
  readonly amountIn: UnitsView
  readonly amountOut: UnitsView
  readonly route: readonly HopView[]
}

const DECIMALS_MAX = 18
const FEE_BPS_BOUND = 10_000

/** A token of `/api/v1/tokens/{symbol}`. */
export const readToken: Reader<TokenView> = ({ token }) => {
  const asset = assetOf(token)
  const { frozen, hidden } = fieldsOf(token)
  if (asset === undefined || typeof frozen !== 'boolean' || typeof hidden !== 'boolean') return undefined
  return { ...asset, frozen, hidden }
}

/** The stable tokens of `/api/v1/stables`. */
export const readStables: Reader<readonly StableView[]> = ({ stables }) => allOf(stables, readStable)

const readStable: Reader<StableView> = (stable) => {
  const [supply, reserve] = [unitsOf(stable.supply), unitsOf(stable.reserve)]
  const symbol = symbolOf(stable.symbol)
  return supply === undefined || reserve === undefined || symbol === undefined ? undefined : { symbol, supply, reserve }
}

/** A pool of `/api/v1/pools/{id}`. */
export const readPool: Reader<PoolView> = ({ pool }) => {
  const { id, name, feeBps, x, y, shares } = fieldsOf(pool)
  const [unitsX, unitsY, all] = [unitsOf(x), unitsOf(y), amountOf(shares)]
  const named = typeof id === 'string' && isHex(id, 32) && typeof name === 'string' && isFee(feeBps)
  if (!named || unitsX === undefined || unitsY === undefined || all === undefined) return undefined
  // A pool never runs dry, and what it is worth is divided by what it holds.
  const sound = unitsX.units > 0n && unitsY.units > 0n && all > 0n && unitsX.symbol !== unitsY.symbol
  return sound ? { id, name, feeBps, x: unitsX, y: unitsY, shares: all } : undefined
}

/** A quote of `/api/v1/quote`. */
export const readQuote: Reader<QuoteView> = (quote) => {
  const [amountIn, amountOut] = [unitsOf(quote.amountIn), unitsOf(quote.amountOut)]
  const route = allOf(quote.route, readHop)
  if (amountIn === undefined || amountOut === undefined || route === undefined) return undefined
  // No swap goes further: a longer way is no answer.
  if (route.length === 0 || route.length > HOPS_MAX) return undefined
  return { amountIn, amountOut, route }
}

const readHop: Reader<HopView> = ({ pool, feeBps, out }) => {
  const units = unitsOf(out)
  if (typeof pool !== 'string' || !isFee(feeBps) || units === undefined) return undefined
  return { pool, feeBps, out: units }
}

/** All items of a list, each read alike; undefined where one is not what it should be. */
export function allOf<T>(list: unknown, read: Reader<T>): readonly T[] | undefined {
  if (!Array.isArray(list)) return undefined
  const items = list.flatMap((item) => read(fieldsOf(item)) ?? [])
  return items.length === list.length ? items : undefined
}

/** An unsigned amount below every supply. */
export function amountOf(value: unknown): Amount | undefined {
  if (typeof value !== 'string' || !/^(0|[1-9][0-9]{0,33})$/.test(value)) return undefined
  const units = BigInt(value)
  return units < SUPPLY_BOUND ? (units as Amount) : undefined
}

/** Units of an asset. */
export function unitsOf(value: unknown): UnitsView | undefined {
  const asset = assetOf(value)
  const units = amountOf(fieldsOf(value).units)
  return asset === undefined || units === undefined ? undefined : { ...asset, units }
}

function assetOf(value: unknown): AssetView | undefined {
  const fields = fieldsOf(value)
  const symbol = symbolOf(fields.symbol)
  const { decimals } = fields
  const counted = Number.isInteger(decimals) && (decimals as number) >= 0 && (decimals as number) <= DECIMALS_MAX
  return symbol !== undefined && counted ? { symbol, decimals: decimals as number } : undefined
}

function symbolOf(value: unknown): TokenSymbol | undefined {
  return typeof value === 'string' && TOKEN_SYMBOL.test(value) ? (value as TokenSymbol) : undefined
}

function isFee(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < FEE_BPS_BOUND
}
