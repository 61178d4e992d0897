import type { ChainReader } from '../../consensus/chain/reader.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { NATIVE_ASSET } from '../../consensus/state/table.ts'
import { TAB_TERMS_TABLE } from '../../marketplace/ledger/tab-records.ts'
import { needsRequest } from '../../marketplace/services/service.ts'
import { channelOffer } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import { type DollarTerms, dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import type { NativeQuote } from '../../marketplace/till/rails/native/quote.ts'
import { TAB_IN_FLIGHT_MAX } from '../../marketplace/till/rails/tab/settings.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { coinNumber, usdNumber } from '../json/chain-json.ts'
import { shortened } from '../json/shortened.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { OfferState, StableState, TabOfferState } from './offer-state.ts'

/** Scheme of the native rail. */
export const NATIVE_SCHEME = 'native-x402'
/** Scheme of the stablecoin rail. */
export const STABLE_SCHEME = 'exact'
/** Name of the native rail's network in x402 version 1, the same on every Farthing network. */
export const NATIVE_NETWORK_WORD = 'mainnet'

/** Scheme of tabs, and of channels of EVM networks. */
export const TAB_SCHEME = 'batch-settlement'

/** A rail, as the filter `rail` of a quote names it. */
export type Rail = 'native' | 'stable' | 'tab' | 'channel'

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

/**
 * The ways to pay for an offer, the stablecoin first. A filter for a rail that this node does not have does nothing; without a
 * stablecoin rail there is nothing to filter the native one from. Tabs and channels come last, on wish only: see
 * {@link TextFacts.withTabs}.
 */
export function paymentOptions(
  basis: OptionBasis,
  state: OfferState,
  rail?: Rail,
  withTabs = false,
): readonly PaymentOption[] {
  const { terms } = basis.market.stable ?? {}
  const { native, stable, tab, channel } = state
  const isAbsent = {
    native: terms === undefined,
    stable: terms === undefined,
    tab: tab === null,
    channel: channel === null,
  }
  const only = rail === undefined || isAbsent[rail] ? undefined : rail
  const has = (one: Rail): boolean => only === undefined || only === one
  const options: PaymentOption[] = []
  if (terms !== undefined && stable !== null && has('stable')) options.push(dollarOption(basis, terms, stable))
  if (native.quote !== null && has('native')) {
    const { chain, offer, baseUrl } = basis
    const { description, serviceId } = offer.definition
    const resource = resourceUrl(baseUrl, serviceId)
    options.push(nativeOption(chain, { quote: native.quote, description, resource, reason: native.reason }))
  }
  const shown = tab !== null && (only === 'tab' || (withTabs && has('tab'))) ? tabOption(basis, tab) : null
  if (shown !== null) options.push(shown)
  const isWished = only === 'channel' || (withTabs && has('channel') && channel?.reason === null)
  if (channel !== null && isWished) options.push(channelOption(basis, channel))
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

/** Least deposit of an offer, in calls: less is not worth an opening. */
const DEPOSIT_CALLS_MIN = 10n

/** Null without a price, or if the agent has no terms for tabs on chain. */
function tabOption(
  { chain, market, offer, baseUrl }: OptionBasis,
  { price, reason }: TabOfferState,
): PaymentOption | null {
  const { shop } = market
  const { agentId, payout } = shop.operator
  const { params } = chain.ruleBook
  const { height } = chain.head.header
  const { block, tx } = chain.ruleBook.at(height)
  const terms = chain.database.get(TAB_TERMS_TABLE, agentId)
  if (price === null || terms === undefined || tx.tabs === undefined) return null
  const { serviceId, description } = offer.definition
  const wished = DEPOSIT_CALLS_MIN * price.amount
  const paid = {
    asset: params.ticker,
    payTo: formatAddress(params.addressPrefix, shop.agent?.payout ?? payout),
    maxTimeoutSeconds: secondsUntil(chain, price.validUntil),
  }
  const extra = {
    genesis: chain.network.genesis,
    networkName: params.name,
    decimals: params.decimals,
    agentId,
    serviceId,
    receiverAuthorizer: terms.receiptKey,
    withdrawDelay: Math.ceil((terms.minCloseDelay * block.spacingMs) / 1_000),
    closeDelay: terms.minCloseDelay,
    terms: tx.tabs.terms,
    minDeposit: (wished > terms.minDeposit ? wished : terms.minDeposit).toString(),
    validUntil: price.validUntil,
    inFlight: TAB_IN_FLIGHT_MAX / 8,
    priceUsd: usdNumber(price.priceUsdMicros),
    ...(reason === null ? {} : availability(reason)),
  }
  const amount = price.amount.toString()
  return {
    isPayable: reason === null,
    v1: {
      scheme: TAB_SCHEME,
      network: NATIVE_NETWORK_WORD,
      ...paid,
      maxAmountRequired: amount,
      amount: coinNumber(price.amount, params.decimals),
      resource: resourceUrl(baseUrl, serviceId, 'tab'),
      description,
      mimeType: 'application/json',
      extra,
    },
    v2: { scheme: TAB_SCHEME, network: nativeNetwork(chain), amount, ...paid, extra },
  }
}

/** The offer of a call that is paid from a channel of an EVM network. */
function channelOption({ market, offer, baseUrl }: OptionBasis, { amount, reason }: StableState): PaymentOption {
  const { terms } = market.channels as NonNullable<MarketApi['channels']>
  const { serviceId, description } = offer.definition
  const { extra: ours, ...v2 } = channelOffer(terms, amount)
  const { asset, payTo, maxTimeoutSeconds } = v2
  const extra = { ...ours, ...(reason === null ? {} : availability(reason)) }
  return {
    isPayable: reason === null,
    v1: {
      scheme: TAB_SCHEME,
      network: terms.network.word,
      maxAmountRequired: amount.toString(),
      amount: dollarsOf(terms.asset, amount),
      resource: resourceUrl(baseUrl, serviceId, 'channel'),
      description,
      mimeType: 'application/json',
      ...{ asset, payTo, maxTimeoutSeconds },
      extra,
    },
    v2: { ...v2, extra },
  }
}

/** Seconds until a height is due, at least one. */
function secondsUntil({ head, ruleBook }: ChainReader, height: number): number {
  const { spacingMs } = ruleBook.at(head.header.height).block
  return Math.max(1, Math.ceil(((height - head.header.height) * spacingMs) / 1_000))
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
  const { ruleBook, network } = chain
  const { params } = ruleBook
  const paid = {
    asset: params.ticker,
    payTo: formatAddress(params.addressPrefix, quote.payTo),
    maxTimeoutSeconds: terms.maxTimeoutSeconds ?? secondsUntil(chain, quote.validUntil),
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
