import { ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { payoutFact } from '../ends.ts'
import { factLines, textFact } from '../facts.ts'
import { bpsCell, cellOf, type Fields, itemsOf, readingCommand, unitsCell } from '../reading.ts'
import { readId, usage } from '../values.ts'

/** `farthing bridge status`: networks of the bridge, and the funds of their vaults. */
export const bridgeStatusCommand = readingCommand({
  name: 'bridge status',
  usage: '[network]',
  wordsMax: 1,
  about: 'List the networks of the bridge, what they hold and what they cost',
  example: 'bridge status base',
  flags: {},
  path: ({ words: [network] }) => ok(network === undefined ? '/bridge' : `/bridge/${encodeURIComponent(network)}`),
  rows: (bridge) => [
    ['NETWORK', 'STATUS', 'HOLDS', 'PENDING', 'FEE', 'LEAST'],
    ...networksOf(bridge).map(({ key, status, float, pending, feeBps, minimum }) => [
      ...[cellOf(key), cellOf(status), unitsCell(float), unitsCell(pending), bpsCell(feeBps), unitsCell(minimum)],
    ]),
  ],
})

function networksOf({ networks, network }: Fields): readonly Fields[] {
  return network === undefined ? itemsOf(networks) : [fieldsOf(network)]
}

/** `farthing bridge deposits`: vault addresses and deposits so far. */
export const bridgeDepositsCommand = readingCommand({
  name: 'bridge deposits',
  usage: '[network]',
  wordsMax: 1,
  about:
    'List where deposits go, how long they take and how many came; the vaults of the devnet have no known keys: send nothing real',
  example: 'bridge deposits base',
  flags: {},
  path: ({ words: [network] }) => ok(network === undefined ? '/bridge' : `/bridge/${encodeURIComponent(network)}`),
  rows: (bridge) => [
    ['NETWORK', 'VAULT', 'CONFIRMATIONS', 'DEPOSITS', 'MINTED TODAY', 'OF AT MOST'],
    ...networksOf(bridge).map(({ key, vault, confirmations, deposits, mintedToday, dailyMintCap }) => [
      ...[cellOf(key), cellOf(vault), cellOf(confirmations), cellOf(deposits)],
      ...[unitsCell(mintedToday), unitsCell(dailyMintCap)],
    ]),
  ],
})

/** `farthing bridge withdrawal`: state of a withdrawal. */
export const bridgeWithdrawalCommand = readingCommand({
  name: 'bridge withdrawal',
  usage: '<id>',
  wordsMax: 1,
  about: 'Show how far a withdrawal has come',
  example: 'bridge withdrawal <id that bridge withdraw showed>',
  flags: {},
  path: ({ words: [word] }) => {
    if (word === undefined) return usage('usage: farthing bridge withdrawal <id>')
    const id = readId('withdrawal', word)
    return id.ok ? ok(`/bridge/withdrawals/${id.value}`) : id
  },
  lines: ({ withdrawal }) => withdrawalLines(fieldsOf(withdrawal)),
})

function withdrawalLines(withdrawal: Fields): readonly string[] {
  return factLines([
    ['Withdrawal', textFact(withdrawal.id)],
    ['State', textFact(withdrawal.status)],
    ['Network', textFact(fieldsOf(withdrawal.network).name)],
    ['From', textFact(withdrawal.sender)],
    ['To', textFact(withdrawal.recipient)],
    ['Amount', unitsCell(withdrawal.amount)],
    ['Fee', withdrawal.status === 'cancelled' ? undefined : unitsCell(withdrawal.fee)],
    payoutFact(withdrawal.status, unitsCell(withdrawal.amount), unitsCell(withdrawal.receives)),
    ['Asked for', `at height ${cellOf(withdrawal.createdAt)}`],
    ['Paid by', textFact(withdrawal.externalTxId)],
  ])
}
