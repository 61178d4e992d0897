import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import type { ClaimKind, TillStore } from '../../claim-store.ts'
import type { Deposits } from './deposits.ts'
import { callIdOf, isAnswered, isTab, type ReservedTabCall, type TabCallRow, type TabStore } from './tab-store.ts'

/** Calls on tabs, as the till knows them. */
export const TAB_CALLS: ClaimKind<TabCallRow> = {
  name: 'tab',
  idOf: callIdOf,
  isOpen: (call) => !isAnswered(call),
  paidFor: ({ caller, priceUsdMicros }) => ({
    payer: caller,
    priceUsdMicros: BigInt(priceUsdMicros),
    isDelivered: false,
  }),
}

/** The store of the tabs in the form that the till works with. Only the ends of calls are written past it, in groups. */
export class TabDesk implements TillStore<TabCallRow> {
  readonly #store: TabStore
  readonly #chain: Chain
  readonly #deposits: Deposits

  constructor(store: TabStore, chain: Chain, deposits: Deposits) {
    this.#store = store
    this.#chain = chain
    this.#deposits = deposits
  }

  get(id: string): Promise<TabCallRow | undefined> {
    const [tabId, seq] = id.split(':') as [TxId, string]
    return this.#store.call(tabId, Number(seq))
  }

  /** A call that is refused by now counts as taken: it is judged again, which says why. */
  async claim(call: TabCallRow): Promise<TabCallRow | null> {
    const { tabId } = call
    const tab = this.#chain.database.get(TABS, tabId)
    if (tab === undefined) return call
    const { most } = this.#deposits.limitOf(tabId, tab, 0n)
    const { claimed, receipts } = tab
    const reserved = await this.#store.reserve(call as ReservedTabCall, { most, claimed, receipts })
    if (reserved.is === 'held') return null
    return reserved.is === 'known' ? reserved.call : call
  }

  advance(_: TabCallRow['state'], next: TabCallRow): Promise<boolean> {
    return this.#store.begin(next as ReservedTabCall)
  }

  async open(): Promise<readonly TabCallRow[]> {
    return (await this.#store.open()).filter(isTab)
  }
}
