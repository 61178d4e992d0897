import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { HeadChange } from '../../../../consensus/chain/events.ts'
import type { Clock } from '../../../../consensus/chain/ports.ts'
import { decodeReceipt, isTabReturn } from '../../../../consensus/ledger/receipt.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import { FINAL_DEPTH } from '../../settings.ts'
import type { TabClaimRow, TabRow, TabStore } from './tab-store.ts'

/** A tab whose opening a reorganisation took is given up after the longest wait for it that makes sense. */
const GONE_BLOCKS = 12_000

/** What watches the ends of tabs works with. */
export interface TabEndsDependencies {
  readonly chain: Chain
  readonly store: Pick<TabStore, 'tab' | 'mark'>
  readonly clock: Clock
}

/** Notes in the store which tabs have ended for good: by a return that consensus made, or by a claim that closed them. */
export class TabEnds {
  readonly #deps: TabEndsDependencies
  /** Height of the return of each tab that is not final yet. */
  readonly #returned = new Map<TxId, number>()
  /** Height under which each tab was first seen to be gone without a known end. */
  readonly #gone = new Map<TxId, number>()

  constructor(dependencies: TabEndsDependencies) {
    this.#deps = dependencies
    const { height } = dependencies.chain.head.header
    for (let young = Math.max(1, height - FINAL_DEPTH); young <= height; young++) this.#read(young)
  }

  follow({ disconnected, connected }: HeadChange): void {
    const lowest = disconnected.at(-1)?.header.height ?? Number.POSITIVE_INFINITY
    for (const [tabId, height] of this.#returned) if (height >= lowest) this.#returned.delete(tabId)
    for (const { header } of connected) this.#read(header.height)
  }

  /** `rows` are the tabs with something unclaimed. */
  async note(rows: readonly TabRow[]): Promise<void> {
    const { chain, store } = this.#deps
    const { height } = chain.head.header
    for (const [tabId, at] of [...this.#returned]) {
      if (height - at < FINAL_DEPTH) continue
      if ((await store.tab(tabId)) !== undefined) await this.#end(tabId)
      this.#returned.delete(tabId)
    }
    const isGone = ({ tabId }: TabRow): boolean => chain.database.get(TABS, tabId) === undefined
    const gone = new Set(rows.filter(isGone).map(({ tabId }) => tabId))
    for (const tabId of this.#gone.keys()) if (!gone.has(tabId)) this.#gone.delete(tabId)
    for (const tabId of gone) {
      const since = this.#gone.get(tabId) ?? height
      this.#gone.set(tabId, since)
      if (height - since >= GONE_BLOCKS) await this.#end(tabId)
    }
  }

  /** Takes note of a claim that is final. */
  async closedBy({ entries }: Pick<TabClaimRow, 'entries'>): Promise<void> {
    const { chain } = this.#deps
    for (const { tabId, close } of entries)
      if (close && chain.database.get(TABS, tabId) === undefined) await this.#end(tabId)
  }

  #end(tabId: TxId): Promise<void> {
    return this.#deps.store.mark(tabId, { endedAtMs: this.#deps.clock.now() })
  }

  #read(height: number): void {
    const { database } = this.#deps.chain
    const id = database.idAt(height)
    for (const bytes of (id === undefined ? undefined : database.receipts(id)) ?? []) {
      const receipt = isTabReturn(bytes) ? decodeReceipt(bytes) : null
      if (receipt?.type === 'tab_return') this.#returned.set(receipt.tabId, height)
    }
  }
}
