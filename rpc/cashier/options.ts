import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { needsRequest } from '../../marketplace/services/service.ts'
import { type DollarTerms, dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { NativeQuote } from '../../marketplace/till/rails/native/quote.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { coinNumber, usdNumber } from '../json/chain-json.ts'
import { shortened } from '../json/shortened.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { OfferState, StableState } from './offer-state.ts'

/** Scheme of the native rail. */
export const NATIVE_SCHEME = 'native-x402'
/** Scheme of the stablecoin rail. */
export const STABLE_SCHEME = 'exact'
/** Name of the native rail's network in x402 version 1, the same on every Farthing network. */
export const NATIVE_NETWORK_WORD = 'mainnet'

/** A rail, as the filter `rail` of a quote names it. */
export type Rail = 'native' | 'stable'

/** CAIP-2 name of the native rail's network. The genesis in `extra` tells the networks apart. */
export function nativeNetwork({ network }: Pick<ChainReader, 'network'>): string {
  return `farthing:${network.chainId}`
}

/** A payment option. In HTTP, version 1 is for the body of a 402 and version 2 for its header. */
export interface PaymentOption {
  readonly isPayable: boolean
  readonly v1: Readonly<Record<string, unknown>>
  readonly v2: Readonly<Record<string, unknown>>
}

/** What options are made from. */
export interface OptionBasis {
  readonly chain: ChainReader
  readonly market: MarketApi
  readonly offer: Offer
  readonly baseUrl: string
}

/** `rail` adds the filter that leaves only the options of that rail. */
export function resourceUrl(baseUrl: string, serviceId: string, rail?: Rail): string {
  return `${baseUrl}/api/x402/${serviceId}${rail === undefined ? '' : `?rail=${rail}`}`
}

/** The ways to pay for an offer, the stablecoin first. Without a stablecoin rail the filter does nothing. */
export function paymentOptions(basis: OptionBasis, state: OfferState, rail?: Rail): readonly PaymentOption[] {
  const { terms } = basis.market.stable ?? {}
  const { native, stable } = state
  const only = terms === undefined ? undefined : rail
  const options: PaymentOption[] = []
  if (terms !== undefined && stable !== null && only !== 'native') options.push(dollarOption(basis, terms, stable))
  if (native.quote !== null && only !== 'stable') {
    const { chain, offer, baseUrl } = basis
    const { description, serviceId } = offer.definition
    const resource = resourceUrl(baseUrl, serviceId)
    options.push(nativeOption(chain, { quote: native.quote, description, resource, reason: native.reason }))
  }
  return options
}

/** A stock client pays anything in `accepts`, so options that cannot be paid are in `offers`. */
export function shownOptions(options: readonly PaymentOption[], form: 'v1' | 'v2', isWithheld = false): Shown {
  const isMeant = ({ isPayable }: PaymentOption): boolean => isPayable && !isWithheld
  const offers = options.filter((option) => !isMeant(option)).map((option) => option[form])
  const accepts = options.filter(isMeant).map((option) => option[form])
  return offers.length === 0 ? { accepts } : { accepts, offers }
}

interface Shown {
  readonly accepts: readonly Readonly<Record<string, unknown>>[]
  readonly offers?: readonly Readonly<Record<string, unknown>>[]
}

/** Maximum characters of a reason in a header. Headers must stay small, and the body has all of it. */
const REASON_CHARS_MAX = 60

/** A reason, shortened for a header or for a text beside the full reason. */
export function shortReason(reason: string): string {
  return shortened(reason, REASON_CHARS_MAX)
}

function availability(reason: string | null): object {
  return reason === null ? { available: true } : { available: false, unavailableReason: shortReason(reason) }
}

function dollarOption(
  { offer: { definition }, baseUrl }: OptionBasis,
  { network, asset, payTo, maxTimeoutSeconds }: DollarTerms,
  { amount, reason }: StableState,
): PaymentOption {
  const { serviceId, description } = definition
  const paid = { asset: asset.contract, payTo, maxTimeoutSeconds }
  const extra = { ...asset.domain, ...(reason === null ? {} : availability(reason)) }
  return {
    isPayable: reason === null,
    v1: {
      scheme: STABLE_SCHEME,
      network: network.word,
      maxAmountRequired: amount.toString(),
      amount: dollarsOf(asset, amount),
      // Whatever URL was called: clients of version 1 can read only the answer at this one.
      resource: resourceUrl(baseUrl, serviceId, 'stable'),
      description,
      mimeType: 'application/json',
      ...paid,
      outputSchema: {
        input: {
          type: 'http',
          method: 'POST',
          discoverable: true,
          bodyType: 'json',
          bodyFields: { request: { type: 'string', required: needsRequest(definition) } },
        },
        output: { type: 'object' },
      },
      extra,
    },
    v2: { scheme: STABLE_SCHEME, network: network.caip2, amount: amount.toString(), ...paid, extra },
  }
}

/** Terms of a native offer. */
export interface NativeTerms {
  readonly quote: NativeQuote
  readonly description: string
  readonly resource: string
  /** Why the offer cannot be paid now, or null. */
  readonly reason: string | null
  /** Seconds that the seller needs after the payment. Default: as long as the price holds. */
  readonly maxTimeoutSeconds?: number
}

/** The native offer of any agent of the chain, in x402 versions 1 and 2. */
export function nativeOption(chain: ChainReader, terms: NativeTerms): PaymentOption {
  const { quote, description, resource, reason } = terms
  const { ruleBook, network, head } = chain
  const { params } = ruleBook
  const { spacingMs } = ruleBook.at(head.header.height).block
  const blocksLeft = quote.validUntil - head.header.height
  const paid = {
    asset: params.ticker,
    payTo: formatAddress(params.addressPrefix, quote.payTo),
    maxTimeoutSeconds: terms.maxTimeoutSeconds ?? Math.max(1, Math.ceil((blocksLeft * spacingMs) / 1_000)),
  }
  const extra = {
    txType: 'agent_invoke',
    chainId: network.chainId,
    genesis: network.genesis,
    networkName: params.name,
    assetId: NATIVE_ASSET,
    decimals: params.decimals,
    agentId: quote.agentId,
    serviceId: quote.serviceId,
    units: 1,
    term: quote.term,
    validUntil: quote.validUntil,
    epoch: quote.epoch,
    confirmations: quote.confirmations,
    priceUsd: usdNumber(quote.priceUsdMicros),
    nativeUsd: usdNumber(quote.nativeUsdMicros),
    ...availability(reason),
  }
  return {
    isPayable: reason === null,
    v1: {
      scheme: NATIVE_SCHEME,
      network: NATIVE_NETWORK_WORD,
      ...paid,
      maxAmountRequired: quote.amount.toString(),
      amount: coinNumber(quote.amount, params.decimals),
      resource,
      description,
      mimeType: 'application/json',
      extra,
    },
    v2: { scheme: NATIVE_SCHEME, network: nativeNetwork(chain), amount: quote.amount.toString(), ...paid, extra },
  }
}
