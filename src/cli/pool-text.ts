import { fieldsOf } from '../../rpc/client/http.ts'
import { counted, factLines, textFact } from './facts.ts'
import { bpsCell, cellOf, type Fields, unitsCell } from './reading.ts'

/** A pool for people: what it holds, its price both ways, its fee, and its last day. */
export function poolLines(document: Fields): readonly string[] {
  const pool = fieldsOf(document.pool)
  const [x, y] = [fieldsOf(pool.x), fieldsOf(pool.y)].map(({ symbol }) => cellOf(symbol))
  const day = fieldsOf(pool.day)
  return factLines([
    ['Pool', textFact(pool.name)],
    ['Id', textFact(pool.id)],
    ['Holds', `${unitsCell(pool.x)} and ${unitsCell(pool.y)}`],
    ['Price', `1 ${x} = ${cellOf(pool.priceYPerX)} ${y}`],
    ['', `1 ${y} = ${cellOf(pool.priceXPerY)} ${x}`],
    ['Fee', bpsCell(pool.feeBps)],
    ['Worth', dollars(pool.tvlUsd)],
    ['Shares', `${cellOf(pool.shares)}, ${cellOf(pool.lockedShares)} of them locked for ever`],
    ['Last day', `${counted(day.trades, 'trade')}, volume ${dollars(day.volumeUsd)}, fees ${dollars(day.feesUsd)}`],
    ['Yield', typeof day.aprPct === 'string' ? `${day.aprPct} % a year by the fees of the last day` : undefined],
    ['Since', `height ${cellOf(pool.createdAt)}`],
  ])
}

function dollars(value: unknown): string {
  return typeof value === 'string' ? `${value} USD` : 'unknown'
}
