import type { Chain } from '../../../../consensus/chain/chain.ts'
import type { Clock } from '../../../../consensus/chain/ports.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import { priceInEpoch, type Service } from '../../../ledger/agents.ts'
import type { Order } from '../../rail.ts'
import type { Shop } from '../../shop.ts'
import { checkPayment } from './checks.ts'
import type { DollarCall, DollarIn } from './claim.ts'
import type { CallIdentity } from './identity.ts'
import type { Seller } from './requirements.ts'
import { dollarAmount } from './terms.ts'

type DollarOrder = Order<DollarCall, CallIdentity>

/** What an {@link Intake} works with. */
export interface IntakeDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly seller: Seller
  readonly clock: Clock
}

/** Judges payments before a facilitator is asked, and makes their claims. */
export class Intake {
  readonly #deps: IntakeDependencies

  constructor(dependencies: IntakeDependencies) {
    this.#deps = dependencies
  }

  refusal({ call, offer, asked }: DollarOrder): Fault | null {
    const { shop, clock, seller } = this.#deps
    const { definition } = offer
    const { serviceId, timeoutMs } = definition
    const standing = shop.readiness(offer)
    if (!standing.available) return fault('service/unavailable', { serviceId, reason: standing.reason })
    // The rail refuses a new call whose input cannot be read. A repeat whose work is finished needs only its money, so it may pass.
    const unfit = asked.input.ok ? asked.faultNow(shop.context) : null
    if (unfit !== null) return unfit
    const nowMs = clock.now()
    const prices = this.#prices(standing.service, nowMs)
    return checkPayment(call.payment, { terms: seller.terms, prices, nowMs, timeoutMs })
  }

  /** The payment must fit an offer. */
  newClaim({ call, offer, identity }: DollarOrder): DollarIn<'claimed'> {
    const { shop, clock, seller } = this.#deps
    const { network, asset } = seller.terms
    const { authorization, payload, version } = call.payment
    const nowMs = clock.now()
    const record = shop.record(offer.definition.serviceId)
    const prices = record === undefined ? [] : this.#prices(record, nowMs)
    const price = prices.find((one) => dollarAmount(asset, one) === authorization.value)
    return {
      ...identity,
      state: 'claimed',
      network: network.caip2,
      asset: asset.contract.toLowerCase(),
      payer: authorization.from,
      nonce: authorization.nonce,
      amount: authorization.value.toString(),
      priceUsdMicros: (price ?? 0n).toString(),
      validBefore: Number(authorization.validBefore),
      version,
      claimedAtMs: nowMs,
      request: call.request,
      payload,
      unsent: true,
    }
  }

  #prices(service: Service, nowMs: number): readonly bigint[] {
    const { chain, seller } = this.#deps
    return honouredPrices(chain, service, { nowMs, seconds: seller.terms.maxTimeoutSeconds })
  }
}

/**
 * In millionths of a dollar, the current price first. The previous price counts too if it was quoted within the last `seconds`: a payer
 * that signed it could not know the next. The prices follow from chain and time alone, so replicas agree and a restart forgets none.
 */
export function honouredPrices(
  { head, ruleBook, database }: Chain,
  service: Service,
  { nowMs, seconds }: { readonly nowMs: number; readonly seconds: number },
): readonly bigint[] {
  const { height } = head.header
  const { market } = ruleBook.at(height)
  const current = priceInEpoch(service, epochOf(height, market))
  const { previousPriceUsdMicros: previous, previousPriceLastEpoch } = service
  const firstHeight = (previousPriceLastEpoch + 1) * market.epochBlocks
  if (previous === current || firstHeight > height) return [current]
  const id = database.idAt(firstHeight)
  const changedMs = id === undefined ? undefined : database.entry(id)?.header.timeMs
  return changedMs !== undefined && nowMs - changedMs <= seconds * 1_000 ? [current, previous] : [current]
}
