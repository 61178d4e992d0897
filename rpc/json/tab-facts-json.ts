import type { ChainReader } from '../../consensus/chain/reader.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import type { TabClaim } from '../../marketplace/ledger/tab-lives.ts'
import type { TabFacts } from '../../marketplace/queries/tabs.ts'
import type { TAB_CLAIM_FACTS, TAB_FACTS } from '../contract/chain-tabs.ts'
import type { Static } from '../contract/schema.ts'
import { assetAmountJson } from './asset-json.ts'
import { addressText } from './chain-json.ts'

/** JSON of what the chain records about a tab. */
export function tabFactsJson(chain: ChainReader, facts: TabFacts): Static<typeof TAB_FACTS> {
  const { tabId, tab, locked, dueAt, sums, end } = facts
  const { agentId, insider, voucherKey, receiptKey, receipts, openedAt, expiresAt, closeDelay, closesAt } = tab
  const address = (hex: string): string => addressText(chain.ruleBook.params.addressPrefix, hex)
  const coins = (units: bigint) => assetAmountJson(chain, NATIVE_ASSET, units)
  return {
    ...{ tabId, agentId, payer: address(tab.payer), payout: address(tab.payout), insider },
    status: end !== null || dueAt === null ? 'ended' : closesAt === 0 ? 'open' : 'closing',
    ...{ voucherKey, receiptKey, deposit: coins(tab.deposit), claimed: coins(tab.claimed), locked: coins(locked) },
    ...{ receipts, chain: tab.chain, openedAt, expiresAt, closeDelay, dueAt },
    sums: sums && {
      ...{ opening: coins(sums.opening), paid: coins(sums.paid), burned: coins(sums.burned) },
      ...{ calls: sums.calls, failed: sums.failed, claims: sums.claims },
    },
    end: end && { how: end.how, height: end.height, txId: end.txId, returned: coins(end.returned) },
  }
}

/** JSON of a mined claim of a tab. */
export function tabClaimJson(chain: ChainReader, claim: TabClaim): Static<typeof TAB_CLAIM_FACTS> {
  const { height, index, entry, txId, root, receipts, failed, closed } = claim
  const coins = (units: bigint) => assetAmountJson(chain, NATIVE_ASSET, units)
  return {
    ...{ height, index, entry, txId, root, receipts, failed },
    ...{ claimed: coins(claim.claimed), charged: coins(claim.charged), burned: coins(claim.burned) },
    ...{ closed, returned: coins(claim.returned) },
  }
}
