import type { Chain } from '../../../../consensus/chain/chain.ts'
import { type Amount, amount } from '../../../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import type { TabRules } from '../../../../consensus/tx/rules.ts'
import { type AgentTabTerms, TAB_TERMS_TABLE } from '../../../ledger/tab-records.ts'
import type { Shop } from '../../shop.ts'
import { claimFee } from './claim-fee.ts'

/** How the operator takes tabs. */
export interface TabSelling {
  readonly isOn: boolean
  readonly receiptKey: Hash
  /** Least close delay in blocks. The next one that the rules know is taken. */
  readonly closeDelay: number
}

/** Least deposit in fees of a claim, so that at most a hundredth of it goes into fees. */
const FEES_MIN = 100n
/** The least deposit is posted again once it has moved by this factor. */
const DRIFT = 2n

/**
 * The terms that the operator is to post now: null if those on chain will do, or if the network has no tabs. What a deposit must pay for
 * depends on the service, so the offer of a service may ask for more.
 */
export function missingTerms(
  { chain, shop }: { readonly chain: Chain; readonly shop: Shop },
  { isOn, receiptKey, closeDelay }: TabSelling,
): AgentTabTerms | null {
  const rules = chain.ruleBook.at(chain.head.header.height + 1).tx.tabs
  if (rules === undefined) return null
  const known = chain.database.get(TAB_TERMS_TABLE, shop.operator.agentId)
  const stands = known !== undefined && known.receiptKey !== ZERO_HEX_32
  if (!isOn) return stands ? { ...known, receiptKey: ZERO_HEX_32 as Hash } : null
  if (shop.offers.length === 0) return null
  const minDeposit = leastDeposit(chain, rules)
  const minCloseDelay = rules.closeDelays.find((delay) => delay >= closeDelay) ?? (rules.closeDelays.at(-1) as number)
  const isSame = stands && known.receiptKey === receiptKey && known.minCloseDelay === minCloseDelay
  return isSame && isNear(known.minDeposit, minDeposit) ? null : { receiptKey, minDeposit, minCloseDelay }
}

function isNear(one: Amount, other: Amount): boolean {
  return one <= other * DRIFT && other <= one * DRIFT
}

/** Counted at the lowest base fee: a day of full blocks is no reason to keep callers with small deposits out. */
function leastDeposit({ head, ruleBook }: Chain, tabs: TabRules): Amount {
  const { tx, block } = ruleBook.at(head.header.height + 1)
  const byFee = FEES_MIN * claimFee(1, block.baseFeeMin, tx, tabs)
  return amount(byFee > tabs.depositMin ? byFee : tabs.depositMin)
}
