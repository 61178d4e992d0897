import type { ChainReader } from '../consensus/chain/reader.ts'
import type { KindHandler } from '../consensus/ledger/module.ts'
import { type Fault, fault } from '../consensus/primitives/fault.ts'
import type { TxId } from '../consensus/primitives/ids.ts'
import type { TxKind } from '../consensus/tx/kinds.ts'
import type { TxBody } from '../consensus/tx/transaction.ts'
import type { MempoolEntry } from './account-queue.ts'
import type { Pool } from './pool.ts'

/**
 * A fault if the sender has another waiting `tab_fund` or `tab_close` of the tab. Those of other senders do not count: they will
 * fail, and must not keep the payer out.
 */
export function checkTabPlace({ tx: { body } }: MempoolEntry, { pool }: { readonly pool: Pool }): Fault | null {
  const tabId = movedTab(body)
  if (tabId === null) return null
  const waiting = pool.account(body.sender)?.entries() ?? []
  const taken = waiting.some(({ tx }) => tx.body.nonce !== body.nonce && movedTab(tx.body) === tabId)
  return taken ? fault('mempool/tab-waits', { tabId }) : null
}

function movedTab({ kind, payload }: TxBody): TxId | null {
  return kind === 'tab_fund' || kind === 'tab_close' ? payload.tabId : null
}

/**
 * A fault if against the head the transaction would only cost its fee. In a block it is valid. A replacement is welcome: it takes no
 * new place, and other transactions of the account may wait for its nonce.
 */
export function checkSpent(
  { tx: { body } }: MempoolEntry,
  { chain, pool }: { readonly chain: ChainReader; readonly pool: Pool },
): Fault | null {
  if (pool.account(body.sender)?.at(body.nonce) !== undefined) return null
  const { isSpent } = chain.ruleBook.handlers[body.kind] as unknown as KindHandler<TxKind>
  return isSpent?.(body, chain.database) === true ? fault('mempool/claim-spent') : null
}
