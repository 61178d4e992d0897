import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { HeadChange } from '../../../../consensus/chain/events.ts'
import { OUTCOME_OK, type OutcomeCode, outcomeCode } from '../../../../consensus/ledger/outcome.ts'
import { decodeReceipt, isReceiptOf } from '../../../../consensus/ledger/receipt.ts'
import { fromHex } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import { FINAL_DEPTH } from '../../settings.ts'
import type { TabClaimRow, TabRow, TabStore } from './tab-store.ts'

/** A tab whose claim the chain refused would be refused again, so no further fee is paid for it within this many blocks. */
const RETRY_BLOCKS = 1_200
/**
 * Outcomes that are no sign of a bad claim: its value was claimed before, the tab had ended, the settler was removed, or a reorganisation
 * took a top-up meanwhile.
 */
const HARMLESS: ReadonlySet<OutcomeCode> = new Set<OutcomeCode>([
  'tab/stale',
  'tab/unknown',
  'tab/foreign',
  'tab/over-deposit',
])

interface Reached {
  readonly receipts: number
  /** Height of the head under which the chain was first seen to have them. */
  readonly since: number
}

/** Notes in the store which receipts are in final claims, by whatever transaction, and which claims the chain refused. */
export class MinedClaims {
  readonly #chain: Chain
  readonly #store: Pick<TabStore, 'mark'>
  readonly #onFault: (fault: Fault) => void
  readonly #reached = new Map<TxId, Reached>()
  readonly #judged = new Set<TxId>()
  readonly #failedAt = new Map<TxId, number>()

  constructor(chain: Chain, store: Pick<TabStore, 'mark'>, onFault: (fault: Fault) => void) {
    this.#chain = chain
    this.#store = store
    this.#onFault = onFault
  }

  /** What was claimed in blocks that left the chain is young again. */
  follow({ disconnected, head }: HeadChange): void {
    const lowest = disconnected.at(-1)?.header.height
    if (lowest === undefined) return
    this.#judged.clear()
    for (const [tabId, { receipts, since }] of this.#reached)
      if (since >= lowest) this.#reached.set(tabId, { receipts, since: head.header.height })
  }

  async note(rows: readonly TabRow[]): Promise<void> {
    const known = new Set(rows.map(({ tabId }) => tabId))
    keepOnly(this.#reached, known)
    keepOnly(this.#failedAt, known)
    for (const row of rows) await this.#note(row)
  }

  async #note({ tabId, finalReceipts }: TabRow): Promise<void> {
    const { database, head } = this.#chain
    const { height } = head.header
    const receipts = database.get(TABS, tabId)?.receipts ?? 0
    const before = this.#reached.get(tabId)
    if (before !== undefined && receipts >= before.receipts) {
      if (height - before.since < FINAL_DEPTH) return
      await this.#store.mark(tabId, { finalReceipts: before.receipts })
    }
    const final = before === undefined || receipts < before.receipts ? finalReceipts : before.receipts
    if (receipts > final) this.#reached.set(tabId, { receipts, since: height })
    else this.#reached.delete(tabId)
  }

  /** Forgets claims that are not kept any more. */
  keep(claims: readonly Pick<TabClaimRow, 'txId'>[]): void {
    keepOnly(this.#judged, new Set(claims.map(({ txId }) => txId)))
  }

  /** Looks once at what became of a mined claim. */
  judge({ txId, entries }: Pick<TabClaimRow, 'txId' | 'entries'>, minedAt: number): void {
    if (this.#judged.has(txId)) return
    this.#judged.add(txId)
    const { database } = this.#chain
    const id = database.idAt(minedAt)
    const bytes = id === undefined ? undefined : database.receipts(id)?.find((one) => isReceiptOf(one, fromHex(txId)))
    const receipt = bytes === undefined ? undefined : decodeReceipt(bytes)
    if (receipt?.type !== 'transaction') return
    for (const [i, { tabId }] of entries.entries()) {
      const number = receipt.entries[i] ?? OUTCOME_OK
      const code = number === OUTCOME_OK ? undefined : outcomeCode(number)
      if (number === OUTCOME_OK || (code !== undefined && HARMLESS.has(code))) continue
      this.#failedAt.set(tabId, minedAt)
      this.#onFault(fault('market/claim-failed', { tabId, outcome: code ?? `code ${number}` }))
    }
  }

  failedLately(tabId: TxId): boolean {
    const at = this.#failedAt.get(tabId)
    return at !== undefined && this.#chain.head.header.height < at + RETRY_BLOCKS
  }
}

/** Deletes all that is not in `known`. */
export function keepOnly(kept: Map<TxId, unknown> | Set<TxId>, known: ReadonlySet<TxId>): void {
  for (const id of kept.keys()) if (!known.has(id)) kept.delete(id)
}
