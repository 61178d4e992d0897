import type { Chain } from '../../../../consensus/chain/chain.ts'
import { epochOf, lastHeightOfPrice } from '../../../../consensus/ledger/epoch.ts'
import { amount, mulDivUp } from '../../../../consensus/primitives/amount.ts'
import type { BlockId, ServiceId } from '../../../../consensus/primitives/ids.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import { priceInEpoch, type Service } from '../../../ledger/agents.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import type { PriceBounds } from '../../settings.ts'
import type { Shop } from '../../shop.ts'
import { type NativePriceSource, notQuoted, priceIn } from '../native/price.ts'
import type { TabPrice } from './tab-call.ts'

/** What calls on tabs are priced by. */
export interface PriceParts {
  readonly chain: Chain
  readonly shop: Shop
  readonly price: NativePriceSource
  readonly settings: PriceBounds
}

/** Why a service has no price now. */
export interface Unpriced {
  readonly reason: string
}

/** What a call is charged at most, in base units and in millionths of a dollar. */
export type PriceInForce = Pick<TabPrice, 'amount' | 'priceUsdMicros'>

/** The most that one request costs, by the price of its service. A request that cannot be used has the price itself. */
export function priceOfRequest<P extends PriceInForce>(
  price: P,
  { mostOnTab }: ServiceDefinition,
  input: Result<unknown>,
): P {
  if (mostOnTab === undefined || !input.ok) return price
  const { times, of } = mostOnTab(input.value)
  const part = (whole: bigint): bigint => mulDivUp(whole, times, of)
  return { ...price, amount: amount(part(price.amount)), priceUsdMicros: part(price.priceUsdMicros) }
}

interface Priced {
  readonly quoted: TabPrice | Unpriced
  readonly inForce: PriceInForce | null
}

/** Prices of calls on tabs, computed once per head. */
export class TabPrices {
  readonly #parts: PriceParts
  readonly #known = new Map<ServiceId, Priced>()
  #headId: BlockId | null = null

  constructor(parts: PriceParts) {
    this.#parts = parts
  }

  /** What is quoted now. */
  quoted(serviceId: ServiceId): TabPrice | Unpriced {
    return this.#of(serviceId).quoted
  }

  /** A price is honoured in its epoch and the next; of two such prices the lower one is charged. Null if nothing was quoted. */
  inForce(serviceId: ServiceId): PriceInForce | null {
    return this.#of(serviceId).inForce
  }

  #of(serviceId: ServiceId): Priced {
    const { id } = this.#parts.chain.head
    if (id !== this.#headId) this.#known.clear()
    this.#headId = id
    const known = this.#known.get(serviceId)
    if (known !== undefined) return known
    const priced = this.#price(serviceId)
    this.#known.set(serviceId, priced)
    return priced
  }

  #price(serviceId: ServiceId): Priced {
    const { chain, shop, price, settings } = this.#parts
    const service = shop.record(serviceId)
    if (service === undefined) return { quoted: { reason: 'not published yet' }, inForce: null }
    const { market } = chain.ruleBook.at(chain.head.header.height)
    const epoch = epochOf(chain.head.header.height, market)
    const lowest = this.#lowest(service, epoch > 0 ? [epoch, epoch - 1] : [epoch])
    const missing = notQuoted(price, settings, epoch)
    if (missing !== null) return { quoted: missing, inForce: lowest }
    const units = priceIn(price, service, epoch)
    if (units === undefined) return { quoted: { reason: 'its price is more than the chain can hold' }, inForce: lowest }
    const priceUsdMicros = priceInEpoch(service, epoch)
    return { quoted: { amount: units, priceUsdMicros, validUntil: lastHeightOfPrice(epoch, market) }, inForce: lowest }
  }

  /** Nothing is honoured of an epoch in which nothing was quoted. */
  #lowest(service: Service, epochs: readonly number[]): PriceInForce | null {
    const { price, settings } = this.#parts
    let lowest: PriceInForce | null = null
    for (const epoch of epochs) {
      const units = notQuoted(price, settings, epoch) === null ? priceIn(price, service, epoch) : undefined
      if (units !== undefined && (lowest === null || units < lowest.amount))
        lowest = { amount: units, priceUsdMicros: priceInEpoch(service, epoch) }
    }
    return lowest
  }
}
