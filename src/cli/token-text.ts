import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import { LOW_DEPTH } from '../../marketplace/queries/prices.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { factLines, rowLines, textFact } from './facts.ts'
import { bpsCell, cellOf, type Fields, itemsOf, unitsCell } from './reading.ts'
import { unitsText } from './values.ts'

const USD_MICROS = 1_000_000

/** A token for people: what it is, its supply, its issuer, and its price. */
export function tokenLines(document: Fields): readonly string[] {
  const token = fieldsOf(document.token)
  const { symbol, decimals } = token
  const asset = typeof decimals === 'number' ? { symbol: cellOf(symbol) as TokenSymbol, decimals } : undefined
  const units = (value: unknown): string => unitsText(value, asset, cellOf(symbol))
  const facts = factLines([
    ['Token', `${cellOf(symbol)} (${cellOf(token.name)}), ${cellOf(token.kind)}, ${cellOf(decimals)} decimals`],
    ['Supply', units(token.supply)],
    ['Maximum', maximumOf(token, units)],
    ['Burned', token.burned === '0' ? undefined : units(token.burned)],
    ['Holders', textFact(token.holders)],
    ['Issuer', textFact(token.issuer) ?? (token.kind === 'plain' ? 'none: no more can be minted' : undefined)],
    ['Freezing', freezingOf(token)],
    ['Since', `height ${cellOf(token.createdAt)}`],
    ['Price', priceOf(token)],
    ['Backing', document.backing === null ? undefined : backingOf(fieldsOf(document.backing))],
    ['Hidden', token.hidden === true ? 'yes: lists leave it out' : undefined],
  ])
  const pools = itemsOf(document.pools).map(({ name, reserve }) => [cellOf(name), unitsCell(reserve)])
  return [...facts, ...rowLines(['POOL', 'HOLDS'], pools)]
}

function maximumOf({ maxSupply, headroom, issuer }: Fields, units: (value: unknown) => string): string {
  if (maxSupply === null) return 'none'
  return issuer === null ? units(maxSupply) : `${units(maxSupply)}, ${units(headroom)} to go`
}

function freezingOf({ frozen, freezable, issuer }: Fields): string {
  if (frozen === true) return 'frozen now'
  if (issuer === null && freezable === true) return 'impossible: it has no issuer'
  return freezable === true ? 'its issuer may freeze it' : 'impossible'
}

function priceOf({ price, symbol }: Fields): string {
  const { usd, route, depthUsd } = fieldsOf(price)
  if (typeof usd !== 'string') return 'unknown'
  const doubt = doubtOf(price)
  const why = doubt === THIN ? `a thin market, which could pay $${cellOf(depthUsd)} in all` : UNSETTLED
  const pools = Array.isArray(route) && route.length > 0 ? `, by ${route.map(cellOf).join(' and ')}` : ''
  return `1 ${cellOf(symbol)} = ${usd} USD${pools}${doubt === undefined ? '' : `; ${why}`}`
}

/** A price from pools that hold little. */
export const THIN = 'thin market'
const UNSETTLED = 'price moved far and back, nothing is sold by it now'

/** Why a price is of low confidence, in a few words. */
export function doubtOf(price: unknown): typeof THIN | typeof UNSETTLED | undefined {
  const { confidence, depthUsd } = fieldsOf(price)
  if (confidence !== 'low') return undefined
  const depth = typeof depthUsd === 'string' ? Number(depthUsd) : 0
  return depth * USD_MICROS >= Number(LOW_DEPTH) ? UNSETTLED : THIN
}

/** The text of {@link doubtOf} in brackets, to follow a value. */
export function doubtText(price: unknown): string {
  const doubt = doubtOf(price)
  return doubt === undefined ? '' : ` (${doubt})`
}

function backingOf({ reserve, backingBps, redeemable }: Fields): string {
  return `${unitsCell(reserve)}, ${bpsCell(backingBps)} of the supply; ${unitsCell(redeemable)} redeemable`
}
