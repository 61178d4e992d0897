import type { Clock } from '../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { LruSet } from '../../../../consensus/primitives/lru.ts'
import { ClientCounts, RecentCounts } from '../../client-counts.ts'

/**
 * Wrong signatures that are borne within a minute, from one client and for one tab. A client with fewer than `spared` is heard whatever
 * others have sent for the tab.
 */
export const WRONG_SIGNATURES = { ofClient: 30, ofTab: 120, spared: 3, withinMs: 60_000 } as const
const NAMES_MAX = 10_000
const GOOD_CLIENTS_MAX = 10_000
/** Good signatures that are counted for a client. */
const GOOD_MAX = 200

/**
 * Bounds the signatures that are checked in vain. Ids of tabs are public, so another party can use up what is borne for a tab. That binds
 * only clients that sent wrong ones themselves: not the payer, also when it calls for the first time or from a new address. Each good
 * signature allows a client one more wrong one: payers share addresses with others.
 */
export class BadVouchers {
  readonly #ofClient: ClientCounts
  readonly #goodOfClient: ClientCounts
  readonly #ofTab: RecentCounts
  readonly #good = new LruSet<string>(GOOD_CLIENTS_MAX)

  constructor(clock: Clock) {
    const { ofClient, ofTab, withinMs } = WRONG_SIGNATURES
    const bounds = { withinMs, namesMax: NAMES_MAX }
    this.#ofClient = new ClientCounts(clock, { ...bounds, most: ofClient + GOOD_MAX })
    this.#goodOfClient = new ClientCounts(clock, { ...bounds, most: GOOD_MAX })
    this.#ofTab = new RecentCounts(clock, { ...bounds, most: ofTab })
  }

  /** Milliseconds until a signature for this tab from this client is checked again; 0 if it is checked now. */
  waitMs(tabId: TxId, from: Holder | undefined): number {
    const clientMs = from === undefined ? 0 : this.#ofClient.waitMs(from, WRONG_SIGNATURES.ofClient, this.#goodOfClient)
    if (clientMs > 0) return clientMs
    const tabMs = this.#ofTab.waitMs(tabId)
    return tabMs > 0 && (this.isRegular(tabId, from) || this.#isSpared(from)) ? 0 : tabMs
  }

  /** Whether this client showed a good signature for this tab lately. */
  isRegular(tabId: TxId, from: Holder | undefined): boolean {
    return this.#good.has(pair(tabId, from))
  }

  good(tabId: TxId, from: Holder | undefined): void {
    this.#good.add(pair(tabId, from))
    if (from !== undefined) this.#goodOfClient.add(from)
  }

  bad(tabId: TxId, from: Holder | undefined): void {
    this.#ofTab.add(tabId)
    if (from !== undefined) this.#ofClient.add(from)
  }

  #isSpared(from: Holder | undefined): boolean {
    return from !== undefined && this.#ofClient.count(from) < WRONG_SIGNATURES.spared
  }
}

function pair(tabId: TxId, from: Holder | undefined): string {
  return `${tabId} ${from?.address ?? ''}`
}
