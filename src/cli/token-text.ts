import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { factLines, rowLines, textFact } from './facts.ts'
import { bpsCell, cellOf, type Fields, itemsOf, unitsCell } from './reading.ts'
import { unitsText } from './values.ts'

/** A token for people: what it is, how much of it there is, who may make more, and what it is worth. */
export function tokenLines(document: Fields): readonly string[] {
  const token = fieldsOf(document.token)
  const { symbol, decimals } = token
  const asset = typeof decimals === 'number' ? { symbol: cellOf(symbol) as TokenSymbol, decimals } : undefined
  const units = (value: unknown): string => unitsText(value, asset, cellOf(symbol))
  const facts = factLines([
    ['Token', `${cellOf(symbol)} (${cellOf(token.name)}), ${cellOf(token.kind)}, ${cellOf(decimals)} decimals`],
    ['Supply', units(token.supply)],
    ['Maximum', token.maxSupply === null ? 'none' : `${units(token.maxSupply)}, ${units(token.headroom)} to go`],
    ['Burned', token.burned === '0' ? undefined : units(token.burned)],
    ['Holders', textFact(token.holders)],
    ['Issuer', textFact(token.issuer) ?? 'none: no more can be minted'],
    ['Freezing', freezingOf(token)],
    ['Since', `height ${cellOf(token.createdAt)}`],
    ['Price', priceOf(token)],
    ['Backing', document.backing === null ? undefined : backingOf(fieldsOf(document.backing))],
    ['Hidden', token.hidden === true ? 'yes: lists leave it out' : undefined],
  ])
  const pools = itemsOf(document.pools).map(({ name, reserve }) => [cellOf(name), unitsCell(reserve)])
  return [...facts, ...rowLines(['POOL', 'HOLDS'], pools)]
}

function freezingOf({ frozen, freezable }: Fields): string {
  if (frozen === true) return 'frozen now'
  return freezable === true ? 'its issuer may freeze it' : 'impossible'
}

function priceOf({ price, symbol }: Fields): string {
  const { usd, route } = fieldsOf(price)
  if (typeof usd !== 'string') return 'unknown'
  const pools = Array.isArray(route) && route.length > 0 ? `, by ${route.map(cellOf).join(' and ')}` : ''
  return `1 ${cellOf(symbol)} = ${usd} USD${pools}`
}

function backingOf({ reserve, backingBps, redeemable }: Fields): string {
  return `${unitsCell(reserve)}, ${bpsCell(backingBps)} of the supply; ${unitsCell(redeemable)} redeemable`
}
