import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import type { TransactionSink } from '../../shop.ts'

/**
 * Whether the payer of a tab has asked to close it, and the request waits in the mempool. It is seen before it is mined, so that no
 * more work is taken for the tab. A request by another account counts for nothing.
 */
export function closingInMempool(
  chain: Pick<Chain, 'database'>,
  sink: Pick<TransactionSink, 'ofAccount'>,
): (tabId: TxId) => boolean {
  return (tabId) => {
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return false
    return sink.ofAccount(tab.payer).some(({ body }) => body.kind === 'tab_close' && body.payload.tabId === tabId)
  }
}
