import { fieldsOf } from '../../rpc/client/http.ts'
import { counted, factLines, textFact } from './facts.ts'
import { type Asking, bpsCell, cellOf, type Fields, unitsCell } from './reading.ts'

/** The assets stand in the order of the given name. */
export function poolLines(document: Fields, { context: { words } }: Pick<Asking, 'context'>): readonly string[] {
  const pool = inOrder(fieldsOf(document.pool), words[0])
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

function inOrder(pool: Fields, asked: string | undefined): Fields {
  const { x, y, priceYPerX, priceXPerY } = pool
  const name = `${cellOf(fieldsOf(y).symbol)}-${cellOf(fieldsOf(x).symbol)}-${cellOf(pool.feeBps)}`
  return name === asked ? { ...pool, name, x: y, y: x, priceYPerX: priceXPerY, priceXPerY: priceYPerX } : pool
}

function dollars(value: unknown): string {
  return typeof value === 'string' ? `${value} USD` : 'unknown'
}
