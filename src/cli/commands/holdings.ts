import type { Fault } from '../../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { LedgerClient } from '../../../rpc/client/ledger-client.ts'
import { type Command, nodeUrl, RPC_FLAG, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { HISTORY_HEADS, historyFacts, historyRow, onePerCall } from '../history-text.ts'
import {
  type Asking,
  cellOf,
  type Fields,
  itemsOf,
  limitFlag,
  PAGE_FLAGS,
  queryOf,
  readingCommand,
  showTable,
  unitsCell,
} from '../reading.ts'
import { accountPath } from '../session.ts'
import { doubtOf, doubtText, THIN } from '../token-text.ts'

/** `farthing wallet holdings`: coins, tokens, pool shares, stakes and open tabs of a wallet or of any address. */
export const walletHoldingsCommand = readingCommand({
  name: 'wallet holdings',
  usage: '[address]',
  wordsMax: 1,
  about: 'List coins, tokens, pool shares, stakes and open tabs',
  example: 'wallet holdings',
  flags: WALLET_FLAG,
  path: (context) => accountPath(context, 'holdings'),
  rows: ({ native, tokens, positions, stakes, tabs, totalUsd, unpriced }) => [
    ['WHAT', 'HOW MUCH', 'USD'],
    ...[fieldsOf(native), ...itemsOf(tokens)].map(assetRow),
    ...itemsOf(positions).map(positionRow),
    ...itemsOf(stakes).map(stakeRow),
    ...itemsOf(tabs).map(tabRow),
    ['total', totalText(itemsOf(tokens), unpriced), cellOf(totalUsd)],
  ],
})

/** Notes on the total: assets in thin markets count at most what their pools could pay, and assets without a price do not count. */
function totalText(tokens: readonly Fields[], unpriced: unknown): string {
  const symbols = Array.isArray(unpriced) ? unpriced.map(cellOf).join(', ') : ''
  return [
    ...(tokens.some(({ price }) => doubtOf(price) === THIN) ? ['thin markets count up to what they could pay'] : []),
    ...(symbols === '' ? [] : [`without ${symbols}, which have no known price`]),
  ].join('; ')
}

function assetRow(held: Fields): readonly string[] {
  return [cellOf(held.symbol), cellOf(held.text), `${cellOf(held.valueUsd)}${doubtText(held.price)}`]
}

function positionRow({ pool, shares, x, y, valueUsd }: Fields): readonly string[] {
  return [`${cellOf(pool)} shares`, `${cellOf(shares)} (${unitsCell(x)}, ${unitsCell(y)})`, cellOf(valueUsd)]
}

function stakeRow({ tier, staked, pending, valueUsd }: Fields): readonly string[] {
  return [`stake in tier ${cellOf(tier)}`, `${unitsCell(staked)} (to claim ${unitsCell(pending)})`, cellOf(valueUsd)]
}

function tabRow({ agentId, locked, dueAt }: Fields): readonly string[] {
  return [`tab with ${cellOf(agentId)}`, `${unitsCell(locked)} (until height ${cellOf(dueAt)})`, '-']
}

/** Most lines of a history: the largest page of the node. */
const LINES_MAX = 50
const LINES_DEFAULT = '20'
/** Most pages that are read to fill the lines. */
const PAGES_MAX = 100

/** `farthing wallet history`: history of a wallet or of any address. */
export const walletHistoryCommand: Command = {
  name: 'wallet history',
  usage: '[address]',
  wordsMax: 1,
  about: 'List what happened to an address, newest first: what it sent, received and swapped, and its calls',
  example: 'wallet history --limit 10',
  flags: {
    ...WALLET_FLAG,
    limit: `Most lines, 1 to ${LINES_MAX}; default ${LINES_DEFAULT}`,
    cursor: PAGE_FLAGS.cursor,
    ...RPC_FLAG,
    json: 'Print a page of events of the node as JSON with fees and amounts; a call has two, its payment and its end',
  },
  run: async (context) => {
    const most = limitFlag(context, LINES_MAX)
    if (!most.ok) return most.fault
    const path = await accountPath(context, 'history')
    if (!path.ok) return path.fault
    const asking = { context, client: new LedgerClient(nodeUrl(context)) }
    if (context.flags.json === undefined) return showHistory(asking, path.value)
    const page = await asking.client.document(`/api/v1${path.value}${queryOf(context, ['limit', 'cursor'])}`)
    if (!page.ok) return page.fault
    const own = path.value.split('/')[2] as string
    const events: Fields[] = []
    for (const event of itemsOf(page.value.events)) events.push(await historyFacts(event, own, asking))
    context.printJson({ ...page.value, events })
    return EXIT.ok
  },
}

async function showHistory(asking: Asking, path: string): Promise<number | Fault> {
  const history = await readHistory(asking, path)
  if (!history.ok) return history.fault
  const { events, nextCursor } = history.value
  const rows = [HISTORY_HEADS]
  for (const event of events) rows.push(await historyRow(event, path.split('/')[2] as string, asking))
  showTable(asking.context, rows, { nextCursor })
  return EXIT.ok
}

/** Reads until there are enough lines: the payment and the end of a call become one line, so a page has fewer. */
async function readHistory(
  { context, client }: Asking,
  path: string,
): Promise<Result<{ readonly events: readonly Fields[]; readonly nextCursor: unknown }>> {
  const most = Number(context.flags.limit ?? LINES_DEFAULT)
  const [events, ended]: [Fields[], Set<unknown>] = [[], new Set()]
  let cursor = context.flags.cursor
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    // Ask for no more than are missing: the cursor continues after the page, so surplus events would be lost.
    const asked = { limit: String(most - events.length), ...(cursor !== undefined && { cursor }) }
    const page = await client.document(`/api/v1${path}${queryOf({ flags: asked }, ['limit', 'cursor'])}`)
    if (!page.ok) return page
    events.push(...onePerCall(itemsOf(page.value.events), ended).slice(0, most - events.length))
    const { nextCursor } = page.value
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined
    if (cursor === undefined || events.length >= most) break
  }
  return ok({ events, nextCursor: cursor })
}
