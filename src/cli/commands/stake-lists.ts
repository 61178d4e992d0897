import { ok } from '../../../consensus/primitives/result.ts'
import { fieldsOf } from '../../../rpc/client/http.ts'
import { WALLET_FLAG } from '../command.ts'
import { cellOf, itemsOf, readingCommand, unitsCell } from '../reading.ts'
import { accountPath } from '../session.ts'

/** `farthing stake list`: stakes of a wallet or of any address. */
export const stakeListCommand = readingCommand({
  name: 'stake list',
  usage: '[address]',
  wordsMax: 1,
  about: 'List stakes of the wallet or of an address, with what a claim would pay',
  example: 'stake list',
  flags: WALLET_FLAG,
  path: (context) => accountPath(context, 'holdings'),
  arranged: ({ address, height, blockId, stakes, truncated }) => ({
    ...{ address, height, blockId, stakes },
    truncated: fieldsOf(truncated).stakes,
  }),
  rows: ({ stakes }) => [
    ['ID', 'TIER', 'STAKED', 'TO CLAIM', 'LOCK'],
    ...itemsOf(stakes).map(({ stakeId, tier, staked, pending, unlocksAt, unlocked }) => [
      ...[cellOf(stakeId), cellOf(tier), unitsCell(staked), unitsCell(pending)],
      unlocked === true ? 'over' : `until height ${cellOf(unlocksAt)}`,
    ]),
  ],
})

/** `farthing stake tiers`: locks and rewards of the tiers. */
export const stakeTiersCommand = readingCommand({
  name: 'stake tiers',
  usage: '',
  wordsMax: 0,
  about: 'List the tiers of staking, their locks and what they pay',
  example: 'stake tiers',
  flags: {},
  path: () => ok('/staking'),
  rows: ({ tiers }) => [
    ['TIER', 'LOCK', 'PERCENT A YEAR', 'AS PAID NOW', 'STAKED'],
    ...itemsOf(tiers).map(({ tier, lockBlocks, yearlyPct, effectiveYearlyPct, staked }) => [
      ...[cellOf(tier), `${cellOf(lockBlocks)} blocks`, cellOf(yearlyPct), cellOf(effectiveYearlyPct)],
      unitsCell(staked),
    ]),
  ],
})
