import type { CallResult, CheckedTab, TabReceiptJson, TabStanding } from '../../rpc/client/client.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import { counted, factLines, timeFact } from './facts.ts'
import { cellOf, tableOf } from './reading.ts'
import { amountText } from './values.ts'

/** What is left of a tab, and where it stands. */
export function standingLines(standing: TabStanding, coin: AssetView): readonly string[] {
  const { tabId, agentId, status, reason, deposit, claimed, charged, unresolved, available, endsAt, height } = standing
  return factLines([
    ['Tab', tabId],
    ['Agent', agentId],
    ['Status', reason === null ? status : `${status}: ${reason}`],
    ['Deposit', amountText(deposit, coin)],
    ['Left', amountText(available, coin)],
    ['Charged', `${amountText(charged, coin)} for ${counted(standing.receipts, 'receipt')}`],
    ['Claimed', amountText(claimed, coin)],
    [
      'Open',
      unresolved === 0n
        ? undefined
        : `${counted(standing.unanswered, 'call')} without an answer, up to ${amountText(unresolved, coin)}`,
    ],
    ['Ends', endsAt === 0 ? undefined : `at height ${endsAt}, now ${height}`],
  ])
}

/** Tabs as a table. */
export function tabRows(standings: readonly TabStanding[], coin: AssetView): readonly (readonly string[])[] {
  return [
    ['ID', 'AGENT', 'STATUS', 'DEPOSIT', 'LEFT', 'CALLS', 'ENDS'],
    ...standings.map(({ tabId, agentId, status, deposit, available, receipts, endsAt }) => [
      ...[tabId, agentId, status, amountText(deposit, coin), amountText(available, coin), cellOf(receipts)],
      endsAt === 0 ? '-' : `at height ${endsAt}`,
    ]),
  ]
}

/** What a call on a tab was charged, and what was checked. */
export function tabReceiptLines({ tab, receipt }: CallResult, coin: AssetView): readonly string[] {
  const { tabId, seq, charged } = tab as NonNullable<CallResult['tab']>
  return factLines([
    ['Paid', `${amountText(charged, coin)} for ${cellOf(receipt.serviceId)}`],
    ['Tab', `${tabId}, call ${seq}`],
    ['Answered', `${timeFact(receipt.completedAt) ?? '-'}, in ${cellOf(receipt.durationMs)} ms`],
    ['Checked', 'yes: the seller signed the receipt'],
    ['', 'yes: the result is the one of the receipt'],
    ['', 'yes: the receipt is the one of this call'],
  ])
}

/** Receipts as a table. */
export function receiptRows(receipts: readonly TabReceiptJson[], coin: AssetView): readonly (readonly string[])[] {
  return [
    ['N', 'SERVICE', 'OUTCOME', 'CHARGED', 'SUM', 'MS', 'TIME'],
    ...receipts.map(({ n, serviceId, outcome, charged, cumulative, durationMs, timeMs }) => [
      ...[String(n), serviceId, outcome === 0 ? 'delivered' : 'failed', amountText(BigInt(charged), coin)],
      ...[amountText(BigInt(cumulative), coin), String(durationMs)],
      timeFact(new Date(timeMs).toISOString()) ?? '-',
    ]),
  ]
}

const CHECKS: Readonly<Record<keyof CheckedTab['checks'], string>> = {
  signatures: 'the seller signed every receipt',
  sums: 'numbers and sums go on without a gap',
  roots: 'every claim has the root of its receipts',
  claims: 'no claim takes more than its receipts charge',
  own: 'every receipt is of a call that was made here',
  complete: 'there is a receipt of everything that was claimed',
  chain: 'these claims are all that there are',
}

/** What a check of receipts found. */
export function checkedLines({ checks, claims, receipts, missing }: CheckedTab, coin: AssetView): readonly string[] {
  const lines = Object.entries(CHECKS).map(([name, what], i): readonly [string, string | undefined] => {
    const good = checks[name as keyof CheckedTab['checks']]
    return [i === 0 ? 'Checked' : '', good === null ? undefined : `${good ? 'yes' : 'NO'}: ${what}`]
  })
  const rows = claims.map(({ txId, height, receipts: upTo, claimed, root }) => {
    return [txId, String(height), String(upTo), amountText(claimed, coin), root === null ? '-' : root ? 'yes' : 'NO']
  })
  return [
    ...factLines([
      ['Receipts', String(receipts)],
      ['Missing', missing.length === 0 ? undefined : missing.slice(0, 20).join(', ')],
      ...lines,
    ]),
    ...(rows.length === 0 ? [] : ['', ...tableOf([['CLAIM', 'HEIGHT', 'RECEIPTS', 'CLAIMED', 'ROOT'], ...rows])]),
  ]
}
