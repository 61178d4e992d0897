import { ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { bpsCell, cellOf, type Fields, itemsOf, PAGE_FLAGS, queryOf, readingCommand, unitsCell } from '../reading.ts'
import { doubtText, tokenLines } from '../token-text.ts'
import { readSymbol, usage } from '../values.ts'

/** `farthing token list`: all tokens that are not hidden. */
export const tokenListCommand = readingCommand({
  name: 'token list',
  usage: '',
  wordsMax: 0,
  about: 'List tokens with supply, holders and price',
  example: 'token list',
  flags: PAGE_FLAGS,
  path: (context) => ok(`/tokens${queryOf(context, ['limit', 'cursor'])}`),
  rows: ({ tokens }) => [
    ['SYMBOL', 'NAME', 'KIND', 'SUPPLY', 'HOLDERS', 'USD'],
    ...itemsOf(tokens).map(({ symbol, name, kind, frozen, supplyText, holders, price }) => [
      ...[cellOf(symbol), cellOf(name), `${cellOf(kind)}${frozen === true ? ', frozen' : ''}`],
      ...[cellOf(supplyText), cellOf(holders), `${cellOf(fieldsOf(price).usd)}${doubtText(price)}`],
    ]),
  ],
})

/** `farthing token show`: one token. */
export const tokenShowCommand = readingCommand({
  name: 'token show',
  usage: '<symbol>',
  wordsMax: 1,
  about: 'Show a token, its price, its pools and its backing',
  example: 'token show FUSD',
  flags: {},
  path: ({ words: [word] }) => {
    if (word === undefined) return usage('usage: farthing token show <symbol>')
    const symbol = readSymbol(word)
    return symbol.ok ? ok(`/tokens/${symbol.value}`) : symbol
  },
  lines: tokenLines,
})

/** `farthing token holders`: the holders of a token. */
export const tokenHoldersCommand = readingCommand({
  name: 'token holders',
  usage: '<symbol>',
  wordsMax: 1,
  about: 'List who holds a token, the largest first',
  example: 'token holders SALT',
  flags: PAGE_FLAGS,
  path: (context) => {
    const [word] = context.words
    if (word === undefined) return usage('usage: farthing token holders <symbol>')
    const symbol = readSymbol(word)
    return symbol.ok ? ok(`/tokens/${symbol.value}/holders${queryOf(context, ['limit', 'cursor'])}`) : symbol
  },
  rows: ({ symbol, holders }) => [
    ['ADDRESS', cellOf(symbol), 'PERCENT'],
    ...itemsOf(holders).map(({ address, text, sharePct }) => [cellOf(address), cellOf(text), cellOf(sharePct)]),
  ],
})

/** `farthing stable list`: stable tokens with their reserves. */
export const stableListCommand = readingCommand({
  name: 'stable list',
  usage: '',
  wordsMax: 0,
  about: 'List stable tokens with supply and reserve',
  example: 'stable list',
  flags: {},
  path: () => ok('/stables'),
  rows: ({ stables }) => [['SUPPLY', 'RESERVE', 'SURPLUS', 'BACKING', 'STATE'], ...itemsOf(stables).map(stableRow)],
})

function stableRow({ supply, reserve, surplus, backingBps, frozen }: Fields): readonly string[] {
  const state = frozen === true ? 'frozen' : 'open'
  return [unitsCell(supply), unitsCell(reserve), unitsCell(surplus), bpsCell(backingBps), state]
}
