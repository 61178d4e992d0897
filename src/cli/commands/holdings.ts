import { formatAmount } from '../../../consensus/primitives/amount.ts'
import { ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { amountOf } from '../../../rpc/client/ledger-views.ts'
import { type CommandContext, WALLET_FLAG } from '../command.ts'
import { cellOf, type Fields, itemsOf, PAGE_FLAGS, queryOf, readingCommand, unitsCell } from '../reading.ts'
import { accountPath } from '../session.ts'

const CALL = 'agent_invoke'
/** Ends of a call, in words for its caller. */
const CALL_ENDS: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  failed: 'failed, paid back',
  refunded: 'expired, paid back',
}

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

function stakeRow({ tier, staked, pending, valueUsd }: Fields): readonly string[] {
  return [`stake in tier ${cellOf(tier)}`, `${unitsCell(staked)} (to claim ${unitsCell(pending)})`, cellOf(valueUsd)]
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
  rows: ({ events }, { params }) => [
    ['HEIGHT', 'TIME', 'EVENT', 'OUTCOME', 'TRANSACTION'],
    ...onePerCall(itemsOf(events)).map((event) => [
      ...[cellOf(event.height), cellOf(event.time), eventText(event, params)],
      ...[outcomeOf(event), cellOf(event.txId)],
    ]),
  ],
})

/** Events without the payments of calls whose end stands above them: a call is one line. Newest come first. */
function onePerCall(events: readonly Fields[]): readonly Fields[] {
  const ended = new Set<unknown>()
  return events.filter(({ event, kind, txId }) => {
    if (kind !== CALL) return true
    if (event === 'transaction') return !ended.has(txId)
    ended.add(txId)
    return true
  })
}

/** What happened; of a paid call its service, price and seller. */
function eventText({ event, kind, payload }: Fields, { decimals, ticker }: CommandContext['params']): string {
  if (kind !== CALL) return typeof kind === 'string' ? kind : cellOf(event)
  const { serviceId, agentId, amount } = fieldsOf(payload)
  const units = amountOf(amount)
  const price = units === undefined ? '-' : `${formatAmount(units, decimals)} ${ticker}`
  return `call of ${cellOf(serviceId)} for ${price} to ${cellOf(agentId)}`
}

/** How it ended. A payment that succeeded is a call that is not answered yet. */
function outcomeOf({ event, kind, success, outcome }: Fields): string {
  const end = kind === CALL ? CALL_ENDS[String(event)] : undefined
  if (end !== undefined) return end
  if (success !== true) return cellOf(outcome)
  return kind === CALL ? 'paid' : 'success'
}
