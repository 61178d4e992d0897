import type { Chain } from '../../../../consensus/chain/chain.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import { type Amount, amount } from '../../../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { type AgentTabTerms, TAB_TERMS_TABLE } from '../../../ledger/tab-records.ts'
import type { Shop } from '../../shop.ts'
import type { NativePriceSource } from '../native/price.ts'
import { claimFee } from './claim-fee.ts'

/** How the operator takes tabs. */
export interface TabSelling {
  readonly isOn: boolean
  readonly receiptKey: Hash
  /** Least close delay in blocks. The next one that the rules know is taken. */
  readonly closeDelay: number
}

/** Calls of the dearest service that a deposit must pay for. */
const CALLS_MIN = 10n
/** Least deposit in fees of a claim, so that at most a hundredth of it goes into fees. */
const FEES_MIN = 100n
/** The least deposit is posted again once the price of the coin has moved it by this factor. */
const DRIFT = 2n

/**
 * The terms that the operator is to post now: null if those on chain will do, if the network has no tabs, or if the coin has no price.
 * The least deposit follows the prices, but not each of their moves, since every change costs a fee.
 */
export function missingTerms(
  parts: { readonly chain: Chain; readonly shop: Shop; readonly price: NativePriceSource },
  { isOn, receiptKey, closeDelay }: TabSelling,
): AgentTabTerms | null {
  const { chain, shop } = parts
  const rules = chain.ruleBook.at(chain.head.header.height + 1).tx.tabs
  if (rules === undefined) return null
  const known = chain.database.get(TAB_TERMS_TABLE, shop.operator.agentId)
  const stands = known !== undefined && known.receiptKey !== ZERO_HEX_32
  if (!isOn) return stands ? { ...known, receiptKey: ZERO_HEX_32 as Hash } : null
  const minDeposit = leastDeposit(parts)
  if (minDeposit === undefined) return null
  const minCloseDelay = rules.closeDelays.find((delay) => delay >= closeDelay) ?? (rules.closeDelays.at(-1) as number)
  const isSame = stands && known.receiptKey === receiptKey && known.minCloseDelay === minCloseDelay
  return isSame && isNear(known.minDeposit, minDeposit) ? null : { receiptKey, minDeposit, minCloseDelay }
}

function isNear(one: Amount, other: Amount): boolean {
  return one <= other * DRIFT && other <= one * DRIFT
}

/** Counted at the lowest base fee: a day of full blocks is no reason to keep callers with small deposits out. */
function leastDeposit({
  chain: { head, ruleBook },
  shop,
  price,
}: {
  readonly chain: Chain
  readonly shop: Shop
  readonly price: NativePriceSource
}): Amount | undefined {
  const height = head.header.height + 1
  const { tx, block, market } = ruleBook.at(height)
  const dearest = shop.offers.reduce((most, { priceUsdMicros: one }) => (one > most ? one : most), 0n)
  const priced = price.priceOfMicros(dearest, epochOf(height, market))
  if (tx.tabs === undefined || priced === undefined || shop.offers.length === 0) return undefined
  const byFee = FEES_MIN * claimFee(1, block.baseFeeMin, tx, tx.tabs)
  const byPrice = CALLS_MIN * priced
  const most = byFee > byPrice ? byFee : byPrice
  return amount(most > tx.tabs.depositMin ? most : tx.tabs.depositMin)
}
