import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { poolLines } from '../pool-text.ts'
import { readPoolName } from '../pools.ts'
import { cellOf, type Fields, itemsOf, PAGE_FLAGS, queryOf, readingCommand, unitsCell } from '../reading.ts'
import { readSymbol, usage } from '../values.ts'

/** `farthing pool list`: all pools, or those with an asset. */
export const poolListCommand = readingCommand({
  name: 'pool list',
  usage: '[symbol]',
  wordsMax: 1,
  about: 'List pools, or those of an asset, the deepest of a page first',
  example: 'pool list SALT',
  flags: PAGE_FLAGS,
  path: (context) => {
    const [word] = context.words
    if (word === undefined) return ok(`/pools${queryOf(context, ['limit', 'cursor'])}`)
    const symbol = readSymbol(word)
    if (!symbol.ok) return symbol
    return ok(`/pools${queryOf({ flags: { ...context.flags, asset: symbol.value } }, ['asset', 'limit', 'cursor'])}`)
  },
  arranged: (document) => ({ ...document, pools: itemsOf(document.pools).toSorted((a, b) => depth(b) - depth(a)) }),
  rows: ({ pools }) => [
    ['POOL', 'HOLDS', 'AND', 'PRICE', 'USD', 'TRADES 24 H'],
    ...itemsOf(pools).map(({ name, x, y, priceYPerX, tvlUsd, day }) => [
      ...[cellOf(name), unitsCell(x), unitsCell(y)],
      `${cellOf(priceYPerX)} ${cellOf(fieldsOf(y).symbol)}/${cellOf(fieldsOf(x).symbol)}`,
      ...[cellOf(tvlUsd), cellOf(fieldsOf(day).trades)],
    ]),
  ],
})

/** In dollars, for sorting. Below 0 if unknown. */
function depth({ tvlUsd }: Fields): number {
  const dollars = typeof tvlUsd === 'string' ? Number(tvlUsd) : Number.NaN
  return Number.isFinite(dollars) ? dollars : -1
}

/** `farthing pool show`: one pool. */
export const poolShowCommand = readingCommand({
  name: 'pool show',
  usage: '<pool>',
  wordsMax: 1,
  about: 'Show a pool with reserves, shares, prices and its day',
  example: 'pool show FAR-FUSD-30',
  flags: {},
  path: ({ words: [word] }) => named(word, 'usage: farthing pool show <pool>'),
  lines: poolLines,
})

/** `farthing pool candles`: hourly prices of a pool's swaps. */
export const poolCandlesCommand = readingCommand({
  name: 'pool candles',
  usage: '<pool>',
  wordsMax: 1,
  about: 'List hourly candles of the swaps of a pool',
  example: 'pool candles FAR-SALT-30 --limit 24',
  flags: PAGE_FLAGS,
  rowsMax: 1_000,
  path: (context) => {
    const pool = named(context.words[0], 'usage: farthing pool candles <pool>')
    return pool.ok ? ok(`${pool.value}/candles${queryOf(context, ['limit', 'cursor'])}`) : pool
  },
  rows: ({ candles }) => [
    ['HOUR', 'OPEN', 'HIGH', 'LOW', 'CLOSE', 'TRADES'],
    ...itemsOf(candles).map(({ time, open, high, low, close, trades }) =>
      [time, open, high, low, close, trades].map(cellOf),
    ),
  ],
})

function named(word: string | undefined, otherwise: string): Result<string> {
  if (word === undefined) return usage(otherwise)
  const name = readPoolName(word)
  return name.ok ? ok(`/pools/${name.value}`) : name
}
