import { ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { WALLET_FLAG } from '../command.ts'
import { cellOf, type Fields, itemsOf, PAGE_FLAGS, queryOf, readingCommand, unitsCell } from '../reading.ts'
import { accountPath } from '../session.ts'

/** `farthing wallet holdings`: coins, tokens, pool shares and stakes of a wallet or of any address. */
export const walletHoldingsCommand = readingCommand({
  name: 'wallet holdings',
  usage: '[address]',
  wordsMax: 1,
  about: 'List coins, tokens, pool shares and stakes',
  example: 'wallet holdings',
  flags: WALLET_FLAG,
  path: (context) => accountPath(context, 'holdings'),
  rows: ({ native, tokens, positions, stakes }) => [
    ['WHAT', 'HOW MUCH', 'USD'],
    ...[fieldsOf(native), ...itemsOf(tokens)].map(assetRow),
    ...itemsOf(positions).map(positionRow),
    ...itemsOf(stakes).map(stakeRow),
  ],
})

function assetRow(held: Fields): readonly string[] {
  return [cellOf(held.symbol), cellOf(held.text), cellOf(held.valueUsd)]
}

function positionRow({ pool, shares, x, y, valueUsd }: Fields): readonly string[] {
  return [`${cellOf(pool)} shares`, `${cellOf(shares)} (${unitsCell(x)}, ${unitsCell(y)})`, cellOf(valueUsd)]
}

function stakeRow({ tier, staked, pending }: Fields): readonly string[] {
  return [`stake in tier ${cellOf(tier)}`, `${unitsCell(staked)} (to claim ${unitsCell(pending)})`, '-']
}

/** `farthing wallet history`: what happened to a wallet or to any address. */
export const walletHistoryCommand = readingCommand({
  name: 'wallet history',
  usage: '[address]',
  wordsMax: 1,
  about: 'List what happened to an address, newest first',
  example: 'wallet history --limit 10',
  flags: { ...WALLET_FLAG, ...PAGE_FLAGS },
  path: async (context) => {
    const path = await accountPath(context, 'history')
    return path.ok ? ok(`${path.value}${queryOf(context, ['limit', 'cursor'])}`) : path
  },
  rows: ({ events }) => [
    ['HEIGHT', 'TIME', 'EVENT', 'OUTCOME', 'TRANSACTION'],
    ...itemsOf(events).map(({ height, time, event, kind, success, outcome, txId }) => [
      ...[cellOf(height), cellOf(time), typeof kind === 'string' ? kind : cellOf(event)],
      ...[success === true ? 'success' : cellOf(outcome), cellOf(txId)],
    ]),
  ],
})
