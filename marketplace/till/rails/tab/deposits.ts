import type { Chain } from '../../../../consensus/chain/chain.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import { OUTCOME_OK } from '../../../../consensus/ledger/outcome.ts'
import { decodeReceipt } from '../../../../consensus/ledger/receipt.ts'
import { AMOUNT_MAX, type Amount, amount, subtractProven, ZERO } from '../../../../consensus/primitives/amount.ts'
import type { BlockId, TxId } from '../../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import { TABS, type Tab } from '../../../ledger/tab-records.ts'
import { confirmationsFor, type MarketSettings } from '../../settings.ts'
import type { Shop } from '../../shop.ts'
import type { ValueAtRisk } from '../native/payment.ts'
import type { NativePriceSource } from '../native/price.ts'

/** What the risk of deposits is judged by. */
export interface DepositParts {
  readonly chain: Chain
  readonly shop: Pick<Shop, 'operator'>
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  /** Shared with the other rails of the seller: one reorganisation takes the payments of all. */
  readonly atRisk: ValueAtRisk
}

/** Money that came to a tab in one block, on top of the money before it. */
interface Layer {
  readonly txId: TxId
  readonly minedAt: number
  /** What the tab had before. */
  readonly above: bigint
}

interface TopUp {
  readonly txId: TxId
  readonly tabId: TxId
  readonly minedAt: number
  readonly amount: Amount
}

/** How much of a deposit may be used now, and how deep it would have to be for more. */
export interface DepositLimit {
  readonly most: Amount
  readonly confirmations: number
  readonly needed: number
}

/** Knows how much of a deposit a seller may rely on, by the depth of the opening and of the top-ups. */
export class Deposits {
  readonly #parts: DepositParts
  #unclaimed: { readonly headId: BlockId; readonly most: Amount } | null = null
  /** Top-ups of the blocks that are not deep enough for any value. */
  #topUps: readonly TopUp[] = []

  constructor(parts: DepositParts) {
    this.#parts = parts
    parts.chain.onHeadChange(({ connected, disconnected }) => {
      const lowest = disconnected.at(-1)?.header.height ?? Number.POSITIVE_INFINITY
      const oldest = this.#oldest
      const kept = this.#topUps.filter(({ minedAt }) => minedAt >= oldest && minedAt < lowest)
      const added = connected.flatMap(({ id, header }) => this.#topUpsOf(id, header.height))
      if (added.length > 0 || kept.length < this.#topUps.length) this.#topUps = [...kept, ...added]
    })
  }

  /** Finds the top-ups of the blocks before the start. */
  *load(): Generator<void, void> {
    const { database, head } = this.#parts.chain
    const { height } = head.header
    const found: TopUp[] = []
    for (let at = Math.max(1, this.#oldest); at <= height; at++) {
      const id = database.idAt(at)
      if (id !== undefined) found.push(...this.#topUpsOf(id, at))
      yield
    }
    const known = new Set(this.#topUps.map(({ txId }) => txId))
    this.#topUps = [...found.filter(({ txId }) => !known.has(txId)), ...this.#topUps]
  }

  /**
   * The most that may be charged on one tab and not claimed: the highest value that some depth makes safe. A payer that closes while no
   * claim gets in takes no more than that.
   */
  get unclaimedMost(): Amount {
    const { chain, settings, price } = this.#parts
    const { id, header } = chain.head
    if (this.#unclaimed?.headId !== id) {
      const micros = highestStep(settings)
      const units = price.priceOfMicros(micros, epochOf(header.height, chain.ruleBook.at(header.height).market))
      this.#unclaimed = { headId: id, most: units ?? amount(AMOUNT_MAX) }
    }
    return this.#unclaimed?.most as Amount
  }

  /** Whether `used` base units in all may be relied on; if not, the confirmations that are missing. */
  limitOf(tabId: TxId, tab: Tab, used: bigint): DepositLimit {
    const height = this.#parts.chain.head.header.height
    let limit: DepositLimit = { most: tab.deposit, confirmations: 0, needed: 0 }
    for (const layer of this.#layersOf(tabId, tab)) {
      const confirmations = height - layer.minedAt + 1
      const most = amount(layer.above + this.#mayRisk(layer, confirmations))
      if (most >= limit.most) continue
      const risked = used > layer.above ? used - layer.above : 0n
      const needed = this.#needed(layer, amount(risked))
      limit = { most, confirmations, needed }
    }
    return limit
  }

  /** Notes that `used` base units of a tab are relied on. */
  take(tabId: TxId, tab: Tab, used: bigint): void {
    const { atRisk } = this.#parts
    for (const { txId, minedAt, above } of this.#layersOf(tabId, tab))
      if (used > above) atRisk.take(txId, minedAt, used - above)
  }

  /** A reorganisation that takes the opening takes all; one that takes a top-up takes what was used above the money before. */
  #layersOf(tabId: TxId, tab: Tab): readonly Layer[] {
    const oldest = this.#oldest
    const layers: Layer[] = []
    let above: Amount = tab.deposit
    if (this.#topUps.length > 0)
      for (const topUp of this.#topUps.filter((one) => one.tabId === tabId && one.minedAt >= oldest).toReversed()) {
        above = subtractProven(above, topUp.amount)
        // What came in one block is one layer: a payer can split a deposit into thousands.
        if (layers.at(-1)?.minedAt === topUp.minedAt) layers.pop()
        layers.push({ ...topUp, above })
      }
    if (tab.openedAt >= oldest) layers.push({ txId: tabId, minedAt: tab.openedAt, above: ZERO })
    return layers
  }

  #needed({ txId, minedAt }: Layer, risked: Amount): number {
    const { atRisk, settings } = this.#parts
    return confirmationsFor(atRisk.withOneMore(txId, minedAt, risked), settings)
  }

  /** Base units that may be risked at this depth, beside what other payments of the same block risk. */
  #mayRisk({ txId, minedAt }: Layer, confirmations: number): bigint {
    const { atRisk, settings, price, chain } = this.#parts
    const room = highestStep(settings, confirmations) - 1n - atRisk.withOneMore(txId, minedAt, 0n)
    if (room <= 0n) return 0n
    const units = price.priceOfMicros(room, epochOf(minedAt, chain.ruleBook.at(minedAt).market))
    // The price rounds up: one unit less is surely worth no more than the room.
    return units === undefined || units === 0n ? 0n : units - 1n
  }

  get #oldest(): number {
    const { chain, settings } = this.#parts
    return chain.head.header.height - settings.confirmationsMax + 2
  }

  #topUpsOf(blockId: BlockId, minedAt: number): readonly TopUp[] {
    const { chain, shop } = this.#parts
    const { database } = chain
    const isOwn = ({ body }: Transaction): boolean => {
      const tab = body.kind === 'tab_fund' ? database.get(TABS, body.payload.tabId) : null
      // A tab that has ended can come back in a reorganisation.
      return tab !== null && (tab === undefined || tab.agentId === shop.operator.agentId)
    }
    const funds = (database.block(blockId)?.transactions ?? []).filter(isOwn)
    if (funds.length === 0) return []
    const failed = new Set<TxId>()
    for (const bytes of database.receipts(blockId) ?? []) {
      const receipt = decodeReceipt(bytes)
      if (receipt.type === 'transaction' && receipt.code !== OUTCOME_OK) failed.add(receipt.txId)
    }
    return funds.flatMap(({ txId, body }): readonly TopUp[] => {
      if (body.kind !== 'tab_fund' || failed.has(txId)) return []
      return [{ txId, minedAt, ...body.payload }]
    })
  }
}

/** The highest value that needs at most so many confirmations, in millionths of a dollar. */
function highestStep({ confirmationSteps }: MarketSettings, within = Number.POSITIVE_INFINITY): bigint {
  const steps = confirmationSteps.filter(({ confirmations }) => confirmations <= within)
  return steps.reduce((most, { belowUsdMicros }) => (belowUsdMicros > most ? belowUsdMicros : most), 0n)
}
