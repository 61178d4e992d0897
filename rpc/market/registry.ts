import type { Chain } from '../../consensus/chain/chain.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import { ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../consensus/primitives/ids.ts'
import { meantName } from '../../consensus/primitives/likeness.ts'
import { NO_STATISTICS, SERVICE_STATISTICS } from '../../marketplace/ledger/statistics.ts'
import { TAB_TERMS_TABLE } from '../../marketplace/ledger/tab-records.ts'
import { MAJORS, type Major } from '../../marketplace/ports/crypto-prices.ts'
import type { Readiness } from '../../marketplace/ports/readiness.ts'
import { serviceRecord } from '../../marketplace/queries/reputation.ts'
import type { DollarRail } from '../../marketplace/till/rails/dollar/dollar-rail.ts'
import { dollarsOf } from '../../marketplace/till/rails/dollar/terms.ts'
import { chainPrice, pricedPoolName } from '../../marketplace/till/rails/native/price.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { offerState } from '../cashier/offer-state.ts'
import { NATIVE_SCHEME, nativeNetwork, STABLE_SCHEME, TAB_SCHEME } from '../cashier/options.ts'
import type { PROTOCOL, RegistryEntry } from '../contract/market.ts'
import type { Static } from '../contract/schema.ts'
import { coinNumber, usdNumber } from '../json/chain-json.ts'
import { recordJson } from '../json/record-json.ts'
import type { MarketApi, NodeApi } from '../node/node-api.ts'

/** The dollar rail in the protocol document: all its fields, whether it is on or off. */
type DollarRailDocument = Static<typeof PROTOCOL>['evmStableRail']

const OFF: DollarRailDocument = {
  mode: 'disabled',
  facilitatorUrl: '',
  network: 'base',
  chainId: 8453,
  asset: 'USDC',
  assetContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '',
  scheme: STABLE_SCHEME,
  authVerified: false,
  authDetail: 'The stablecoin rail is not configured on this node.',
  note: 'Use the native rail.',
}

/** `evmStableRail`. `authVerified` tells what a facilitator answered when this node asked it. */
function dollarRailDocument(rail: DollarRail | null): DollarRailDocument {
  if (rail === null) return OFF
  const { terms, verified, closedBecause, facilitators } = rail
  const used = facilitators.find(({ healthy }) => healthy) ?? facilitators[0]
  return {
    mode: closedBecause === null ? 'live' : 'unavailable',
    facilitatorUrl: used?.url ?? '',
    network: terms.network.word,
    chainId: terms.network.chainId,
    asset: terms.asset.symbol,
    assetContract: terms.asset.contract,
    payTo: terms.payTo,
    scheme: STABLE_SCHEME,
    authVerified: verified.ok,
    authDetail: verified.detail,
    note: closedBecause ?? 'Verified before the work and settled after it: a service that fails charges nothing.',
  }
}

/** Facilitators of the dollar rail, in the order of use. If it is off, one entry says what is missing. */
function dollarFacilitators(rail: DollarRail | null): Static<typeof PROTOCOL>['facilitators'] {
  const document = dollarRailDocument(rail)
  const { scheme, network, asset, assetContract, payTo } = document
  const common = { mode: 'external-stable', default: false, scheme, network, asset, assetContract, payTo }
  if (rail === null) return [{ ...common, url: '', verification: 'none: disabled', note: document.authDetail }]
  return rail.facilitators.map(({ url, healthy, detail }) => ({
    ...common,
    url,
    verification: healthy ? 'Asked by this node: it takes the scheme on this network.' : 'none: it cannot be used now',
    note: detail,
  }))
}

/** Unavailable services are there too, with the reason. */
export function registryEntries(node: NodeApi, baseUrl: string): readonly RegistryEntry[] {
  const { market, chain } = node
  if (market === null) return []
  return market.shop.offers.map((offer) => entryOf({ chain, market, baseUrl }, offer))
}

/** Dollars for one coin in the current epoch, by the chain. Unknown is null, since 0 would look like a price. */
export function nativeUsd({ chain }: Pick<NodeApi, 'chain'>): number | null {
  const micros = chainPrice(chain).usdMicrosPerCoin(epochNow(chain))
  return micros === undefined ? null : usdNumber(micros)
}

function epochNow({ head, ruleBook }: Chain): number {
  const { height } = head.header
  return epochOf(height, ruleBook.at(height).market)
}

interface EntryContext {
  readonly chain: Chain
  readonly market: MarketApi
  readonly baseUrl: string
}

/** What a service would cost in coin while there is no quote in coin; 0 if the coin has no price. */
function unquotedPrice(chain: Chain, priceUsdMicros: bigint): bigint {
  return chainPrice(chain).priceOfMicros(priceUsdMicros, epochNow(chain)) ?? 0n
}

function entryOf({ chain, market, baseUrl }: EntryContext, offer: Offer): RegistryEntry {
  const { operator } = market.shop
  const { serviceId, name, description, capability, requestFormat, example } = offer.definition
  const { native, tab, reason, priceUsdMicros } = offerState(chain, market, offer)
  const { decimals } = chain.ruleBook.params
  const proven = chain.database.get(SERVICE_STATISTICS, { agentId: operator.agentId, serviceId }) ?? NO_STATISTICS
  return {
    serviceId,
    name,
    description,
    capability,
    priceNative: coinNumber(native.quote?.amount ?? unquotedPrice(chain, priceUsdMicros), decimals),
    priceUsd: usdNumber(priceUsdMicros),
    provenCalls: proven.calls,
    ...provenStable(market, serviceId),
    provenVolumeNative: coinNumber(proven.volume, decimals),
    takesTabs: tab !== null && tab.reason === null,
    agentId: operator.agentId,
    agentName: operator.name,
    nodeOperated: true,
    endpoint: `${baseUrl}/api/x402/${serviceId}`,
    requestFormat,
    available: reason === null,
    ...(reason === null ? {} : { unavailableReason: reason, requires: requiredSettings(market, offer) }),
    distinctPayers: proven.payers,
    example,
    reputation: recordJson(chain, serviceRecord(chain, { agentId: operator.agentId, serviceId })),
  }
}

function requiredSettings({ shop }: MarketApi, offer: Offer): string[] {
  const readiness = shop.readiness(offer)
  return readiness.available ? [] : [...readiness.requires]
}

/** Calls settled over the dollar rail, as this node counts them: Farthing's own chain does not show them. */
function provenStable({ stable }: MarketApi, serviceId: ServiceId) {
  const { calls, amount } = stable?.sales(serviceId) ?? { calls: 0, amount: 0n }
  return {
    provenCallsStable: calls,
    provenVolumeStable: stable === null ? 0 : dollarsOf(stable.terms.asset, amount),
    provenStableSource: 'operator' as const,
  }
}

/** The payment protocol document. */
export function protocolDocument(node: NodeApi, baseUrl: string): Static<typeof PROTOCOL> {
  const { chain, market } = node
  const { params } = chain.ruleBook
  const services = registryEntries(node, baseUrl)
  const usd = nativeUsd(node)
  const stable = market?.stable ?? null
  const payTo = market === null ? '' : formatAddress(params.addressPrefix, market.shop.operator.payout)
  return {
    protocol: 'x402',
    version: 1,
    description: `Pay-per-call services for agents on the Farthing chain (${params.name}). Payment is the authentication.`,
    network: 'mainnet',
    networkName: params.name,
    // Networks differ by their genesis: all of them have chain id 1.
    chainId: chain.network.chainId as 1,
    nativeUsd: usd,
    payment: paymentSteps(baseUrl, params.ticker),
    evmStableRail: dollarRailDocument(stable),
    tabs: tabsDocument(node, baseUrl),
    channels: channelsDocument(node),
    facilitators: facilitators({ baseUrl, ticker: params.ticker, payTo, stable }),
    discovery: discovery(baseUrl),
    services,
    nodeOperatedCount: services.length,
    priceFeed: priceFeed(node, usd),
    resources: services.map(({ endpoint }) => endpoint),
  }
}

/** Prices that this node knows: its own coin's from the chain, those of other coins from providers that the operator chose. */
function priceFeed({ chain, market }: NodeApi, usd: number | null) {
  const { epochBlocks } = chain.ruleBook.at(0).market
  const source = `the ${pricedPoolName(chain)}, block by block over the previous ${epochBlocks} blocks`
  const prices = market?.shop.context.outside.prices
  const told = prices?.latest() ?? null
  const majors = MAJORS.map((major) => [major, told?.value.majors[major]?.usd ?? null])
  return {
    source: told === null ? source : `${source}; majors: ${told.source.name}`,
    live: usd !== null && (prices === undefined || isWell(prices.readiness())),
    asOf: told?.source.fetchedAt ?? null,
    majors: Object.fromEntries(majors) as Record<Major, number | null>,
  }
}

/** Whether price providers can be asked, or none is chosen. The prices' age shows nothing: idle nodes ask rarely. */
function isWell(readiness: Readiness): boolean {
  return readiness.available || readiness.requires.length > 0
}

function tabsDocument({ chain, market }: NodeApi, baseUrl: string): Static<typeof PROTOCOL>['tabs'] {
  const terms = market?.tabs ? chain.database.get(TAB_TERMS_TABLE, market.shop.operator.agentId) : undefined
  const isLive = terms !== undefined && terms.receiptKey !== ZERO_HEX_32
  return {
    mode: isLive ? 'live' : 'disabled',
    scheme: TAB_SCHEME,
    network: nativeNetwork(chain),
    asset: chain.ruleBook.params.ticker,
    minDeposit: isLive ? terms.minDeposit.toString() : '',
    minCloseDelay: isLive ? terms.minCloseDelay : 0,
    open: `${baseUrl}/api/tabs`,
    note: isLive
      ? 'One deposit pays for many calls, each answered at once: the offers are under ?rail=tab of each service.'
      : 'This node takes no tabs: each call is paid by itself.',
  }
}

function channelsDocument({ market }: NodeApi): Static<typeof PROTOCOL>['channels'] {
  const channels = market?.channels ?? null
  const terms = channels?.closedBecause === null ? channels.terms : null
  return {
    mode: terms === null ? 'disabled' : 'live',
    scheme: TAB_SCHEME,
    network: terms?.network.caip2 ?? '',
    asset: terms?.asset.contract ?? '',
    minDeposit: terms?.leastDeposit.toString() ?? '',
    withdrawDelay: terms?.withdrawDelay ?? 0,
    note:
      terms === null
        ? 'This node takes no dollar channels now.'
        : 'One deposit of dollars pays for many calls: the offers are under ?rail=channel of each service.',
  }
}

function paymentSteps(baseUrl: string, ticker: string): Static<typeof PROTOCOL>['payment'] {
  return {
    scheme: NATIVE_SCHEME,
    asset: ticker,
    step1: `POST ${baseUrl}/api/x402/{serviceId} with {"request": "..."}: the answer is 402 with the exact price.`,
    step2: `Sign an agent_invoke transaction for exactly that amount, with a commitment and a lock, and POST it to ${baseUrl}/api/v1/tx as {"raw": "<hex of its bytes>"}. Its block comes in about 3 seconds.`,
    step3:
      'Repeat the call with {"payment": {"txId": "...", "secret": "..."}}: the answer is 200 with result and receipt. A service that fails is refunded on chain.',
  }
}

function facilitators({
  baseUrl,
  ticker,
  payTo,
  stable,
}: {
  baseUrl: string
  ticker: string
  payTo: string
  stable: DollarRail | null
}): Static<typeof PROTOCOL>['facilitators'] {
  return [
    {
      mode: 'node-native',
      url: `${baseUrl}/facilitator`,
      default: true,
      verification: 'The node checks the mined agent_invoke and its open escrow in its own chain state.',
      scheme: NATIVE_SCHEME,
      network: 'mainnet',
      asset: ticker,
      assetContract: 'native',
      payTo,
      note: 'Escrowed: released by a receipt on chain, refunded by consensus at the deadline.',
    },
    ...dollarFacilitators(stable),
  ]
}

function discovery(baseUrl: string) {
  return {
    wellKnown: `${baseUrl}/.well-known/x402`,
    bazaar: `${baseUrl}/x402/discovery`,
    services: `${baseUrl}/services.json`,
    agentCard: `${baseUrl}/.well-known/agent.json`,
    llmsTxt: `${baseUrl}/llms.txt`,
    requests: `${baseUrl}/api/x402/requests`,
    perService: `${baseUrl}/api/x402/{serviceId}`,
  }
}

const SUGGESTIONS_MAX = 3
const ID_START = /^node-/
const ASKED_CHARS_MAX = 64

/** The fault for an unknown service, with suggestions. */
export function noService(market: MarketApi, serviceId: string): Fault {
  return fault('service/not-found', { serviceId: serviceId.slice(0, 64), suggestions: suggestions(market, serviceId) })
}

/** Ids that a mistyped one may mean: first the nearest spelling, then those that share the most words. */
export function suggestions({ shop }: MarketApi, serviceId: string): readonly string[] {
  const asked = serviceId.toLowerCase().slice(0, ASKED_CHARS_MAX)
  const words = asked.split(/[^a-z0-9]+/).filter((word) => word.length > 2 && word !== 'node')
  const score = (id: string): number => words.filter((word) => id.includes(word)).length
  const ids = shop.offers.map(({ definition }) => definition.serviceId as string)
  const sharing = ids.filter((id) => score(id) > 0).sort((a, b) => score(b) - score(a))
  // Compare without the common prefix, which would make different ids look alike.
  const spelled = meantName(
    asked.replace(ID_START, ''),
    ids.map((id) => id.replace(ID_START, '')),
  )
  const meant = ids.filter((id) => id.replace(ID_START, '') === spelled)
  return [...new Set([...meant, ...sharing])].slice(0, SUGGESTIONS_MAX)
}
