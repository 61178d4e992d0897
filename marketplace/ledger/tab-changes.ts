import { type Amount, amount, mulDivDown, mulDivUp, subtractProven, ZERO } from '../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Address, Hash } from '../../consensus/primitives/ids.ts'
import type { TabRules } from '../../consensus/tx/rules.ts'
import { tabChain } from '../../consensus/tx/tab-messages.ts'
import type { ClaimEntry, TabOpen } from '../../consensus/tx/tab-payloads.ts'
import { isInsider } from './agents.ts'
import type { Seller } from './sellers.ts'
import type { Delivered } from './statistics.ts'
import type { Tab } from './tab-records.ts'

/** Where the coins of a sound claim entry go, before its `close`: `charged` = `paid` to the payout + `burned`. */
export interface ClaimSplit {
  readonly charged: Amount
  readonly paid: Amount
  readonly burned: Amount
  /** Calls that count as proven, by service. */
  readonly counted: readonly Delivered[]
}

/** What a sound entry moves, by the tab that it finds. */
export function splitOf(tab: Tab, { claimed, services }: ClaimEntry, rules: TabRules): ClaimSplit {
  const charged = subtractProven(claimed, tab.claimed)
  const counted = services.map(({ serviceId, calls, amount: own }) => {
    const most = mulDivDown(own, 1n, rules.countedAmount)
    return { serviceId, charged: own, calls: most < BigInt(calls) ? Number(most) : calls }
  })
  const burned = burnOf(
    charged,
    counted.reduce((sum, { calls }) => sum + calls, 0),
    rules,
  )
  return { charged, paid: subtractProven(charged, burned), burned, counted }
}

/** By a tab, a faked call costs little more than what is burned for it. So each counted call burns at least `callBurn`. */
function burnOf(charged: Amount, counted: number, { burnDivisor, callBurn }: TabRules): Amount {
  const share = mulDivUp(charged, 1n, burnDivisor)
  const byCalls = BigInt(counted) * callBurn
  return amount(share > byCalls ? share : byCalls)
}

/** What a `tab_open` makes of its payload, and of the agent and the agent's receipt key at that moment. */
export function tabOpened(opening: {
  readonly payload: TabOpen
  readonly payer: Address
  readonly seller: Seller
  readonly receiptKey: Hash
  readonly height: number
}): Tab {
  const { payload, payer, seller, receiptKey, height } = opening
  const { agentId, deposit, term, closeDelay, scheme, voucherKey } = payload
  const { payout } = seller
  const kept = { agentId, payer, payout, insider: isInsider(seller, payer), scheme, voucherKey, receiptKey }
  const fresh = { claimed: ZERO, receipts: 0, chain: ZERO_HEX_32 as Hash, closesAt: 0 }
  return { version: 1, ...kept, deposit, ...fresh, openedAt: height, expiresAt: height + term, closeDelay }
}

/** The tab after a sound entry. */
export function tabAfter(tab: Tab, { receipts, root, claimed }: ClaimEntry): Tab {
  const chain = receipts === tab.receipts ? tab.chain : tabChain(tab.chain, { root, receipts, claimed })
  return { ...tab, claimed, receipts, chain }
}

/** The tab after its payer asked, in the block at `height`, to close it. */
export function tabClosing(tab: Tab, height: number): Tab {
  return { ...tab, closesAt: Math.min(tab.expiresAt, height + tab.closeDelay) }
}
