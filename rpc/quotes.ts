import type { Chain } from '../consensus/chain/chain.ts'
import { formatAddress } from '../consensus/crypto/address.ts'
import { type Fault, faultMessage, faultRow } from '../consensus/primitives/fault.ts'
import { NATIVE_ASSET } from '../consensus/state/table.ts'
import type { Offer } from '../marketplace/checkout/operator.ts'
import { computeQuote, type NativeQuote } from '../marketplace/checkout/quote.ts'
import type { Agent, Service } from '../marketplace/ledger/agents.ts'
import { capabilityNumber, capabilitySet } from '../marketplace/ledger/capabilities.ts'
import { checkRequest } from '../marketplace/services/service.ts'
import { coinNumber, moment, usdNumber } from './json.ts'
import type { MarketApi } from './node.ts'

/** Scheme and asset of the native rail, as every document names them. */
export const NATIVE_SCHEME = 'native-x402'

/** The parts of a 402 body that stay the same for all callers while the head does. */
interface QuoteText {
  readonly stamp: string
  readonly error: string
  /** Everything after the fields that differ by request. */
  readonly tail: string
}

/** Texts kept: one per service and base address. */
const TEXTS_MAX = 2_000

/**
 * Bodies of 402 answers. The offer is a function of the head, so its text is made once per head and service, and a quote
 * costs little more than a constant.
 */
export class QuoteBook {
  readonly #chain: Chain
  readonly #market: MarketApi
  readonly #texts = new Map<string, QuoteText>()

  constructor(chain: Chain, market: MarketApi) {
    this.#chain = chain
    this.#market = market
  }

  /** Body of an unpaid call. */
  unpaid(offer: Offer, request: string | undefined, { requestId, baseUrl }: RequestFacts): string {
    const { error, tail } = this.#text(offer, baseUrl)
    return quoteBody({ error, code: 'payment_required', requestId, extra: this.#requestFields(offer, request), tail })
  }

  /** Body of a call whose payment does not do: the fault, and a fresh quote. */
  refused(offer: Offer, fault: Fault, { requestId, baseUrl }: RequestFacts): string {
    const { tail } = this.#text(offer, baseUrl)
    const extra = `"details":${JSON.stringify(fault.detail)},`
    return quoteBody({
      error: JSON.stringify(faultMessage(fault)),
      code: faultRow(fault.code).api,
      requestId,
      extra,
      tail,
    })
  }

  #text(offer: Offer, baseUrl: string): QuoteText {
    const { shop } = this.#market
    const key = `${offer.definition.serviceId} ${baseUrl}`
    const { head, moving } = this.#chain
    const stamp = `${head.id} ${moving} ${shop.closedBecause ?? ''}`
    const known = this.#texts.get(key)
    if (known?.stamp === stamp) return known
    const text = { stamp, ...this.#compose(offer, baseUrl) }
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear()
    this.#texts.set(key, text)
    return text
  }

  #compose(offer: Offer, baseUrl: string): Omit<QuoteText, 'stamp'> {
    const { serviceId, name } = offer.definition
    const { quote, reason } = offerState(this.#chain, this.#market, offer)
    const unavailable = reason === null ? {} : { unavailableReason: reason }
    const accepts = quote === null ? [] : [this.#option(offer, quote, { baseUrl, reason })]
    const tail = {
      serviceId,
      available: reason === null,
      ...unavailable,
      expiresAt: moment(this.#expiryMs(quote)),
      accepts,
    }
    const error =
      reason === null
        ? `Payment required: ${name}`
        : `Payment required, but ${serviceId} is unavailable: ${reason}. Do not pay now.`
    return { error: JSON.stringify(error), tail: JSON.stringify(tail).slice(1) }
  }

  #option(offer: Offer, quote: NativeQuote, { baseUrl, reason }: { baseUrl: string; reason: string | null }): object {
    const { ruleBook, network, head } = this.#chain
    const { params } = ruleBook
    const { description, serviceId } = offer.definition
    const blocksLeft = quote.validUntil - head.header.height
    return {
      scheme: NATIVE_SCHEME,
      network: 'mainnet',
      asset: params.ticker,
      payTo: formatAddress(params.addressPrefix, quote.payTo),
      maxAmountRequired: quote.amount.toString(),
      amount: coinNumber(quote.amount, params.decimals),
      resource: `${baseUrl}/api/x402/${serviceId}`,
      description,
      mimeType: 'application/json',
      maxTimeoutSeconds: Math.max(1, Math.ceil((blocksLeft * ruleBook.at(head.header.height).block.spacingMs) / 1_000)),
      extra: {
        txType: 'agent_invoke',
        chainId: network.chainId,
        genesis: network.genesis,
        networkName: params.name,
        assetId: NATIVE_ASSET,
        decimals: params.decimals,
        agentId: quote.agentId,
        serviceId,
        units: 1,
        term: quote.term,
        validUntil: quote.validUntil,
        epoch: quote.epoch,
        confirmations: quote.confirmations,
        priceUsd: usdNumber(quote.priceUsdMicros),
        nativeUsd: usdNumber(quote.nativeUsdMicros),
        available: reason === null,
        ...(reason === null ? {} : { unavailableReason: reason }),
      },
    }
  }

  /** Nobody pays for a typo: the quote says so where the request text would not do. */
  #requestFields({ definition }: Offer, request: string | undefined): string {
    const checked = checkRequest(definition, request ?? '', this.#market.shop.context)
    if (checked.ok) return '"requestValid":true,'
    const { example, requestFormat } = definition
    const reason = String(checked.fault.detail.reason)
    return `"requestValid":false,"requestError":${JSON.stringify({ reason, example, requestFormat })},`
  }

  /** When the last block that honours the price is due. */
  #expiryMs(quote: NativeQuote | null): number {
    const { header } = this.#chain.head
    const blocks = quote === null ? 0 : quote.validUntil - header.height
    return header.timeMs + blocks * this.#chain.ruleBook.at(header.height).block.spacingMs
  }
}

/** How an offer stands: its native quote, which one that is not on chain yet has too, and why it cannot be sold, or null. */
export interface OfferState {
  readonly quote: NativeQuote | null
  readonly reason: string | null
}

/** A head that is only passed through prices what no block on the way on need honour. */
const PASSING = 'the node is moving to another branch of the chain; ask again in a moment'

/** How an offer stands at the head. */
export function offerState(chain: Chain, market: MarketApi, offer: Offer): OfferState {
  const { shop, price, settings } = market
  const { definition } = offer
  const agent = shop.agent ?? expectedAgent(market)
  const service = shop.record(definition.serviceId) ?? expectedService(offer)
  const { agentId } = shop.operator
  const quoted = computeQuote({ chain, price, settings, agentId, agent, service, definition })
  const availability = shop.availability(offer)
  const passing = chain.moving ? PASSING : null
  return {
    quote: quoted.quote,
    reason: passing ?? quoted.reason ?? (availability.available ? null : availability.reason),
  }
}

/** What a quote takes from its request. */
export interface RequestFacts {
  readonly requestId: string
  readonly baseUrl: string
}

function quoteBody(parts: { error: string; code: string; requestId: string; extra: string; tail: string }): string {
  const { error, code, requestId, extra, tail } = parts
  return `{"x402":true,"x402Version":1,"error":${error},"code":"${code}","requestId":"${requestId}",${extra}${tail}`
}

/** The agent as it will be registered. */
function expectedAgent({ shop }: MarketApi): Agent {
  const { owner, payout, settler, name, endpoint } = shop.operator
  const capabilities = capabilitySet(shop.offers.map(({ definition }) => definition.capability))
  return { version: 1, owner, payout, settlers: [settler.address], name, endpoint, capabilities, registeredAt: 0 }
}

/** The service as it will be published. */
function expectedService({ definition, priceUsdMicros }: Offer): Service {
  const { name, requestFormat, description, capability } = definition
  return {
    version: 1,
    capability: capabilityNumber(capability),
    retired: false,
    priceUsdMicros,
    previousPriceUsdMicros: priceUsdMicros,
    previousPriceLastEpoch: 0,
    name,
    requestFormat,
    description,
    publishedAt: 0,
  }
}
