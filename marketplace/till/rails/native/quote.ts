import type { Chain } from '../../../../consensus/chain/chain.ts'
import { epochOf, lastHeightOfPrice } from '../../../../consensus/ledger/epoch.ts'
import type { Amount } from '../../../../consensus/primitives/amount.ts'
import type { Address, AgentId, ServiceId } from '../../../../consensus/primitives/ids.ts'
import { type Agent, priceInEpoch, type Service } from '../../../ledger/agents.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { confirmationsFor, type MarketSettings, RECEIPT_MARGIN_BLOCKS } from '../../settings.ts'
import { type NativePriceSource, notQuoted, priceIn } from './price.ts'

/** The native offer for one call. Replicas with the same settings compute the same. */
export interface NativeQuote {
  readonly agentId: AgentId
  readonly serviceId: ServiceId
  readonly payTo: Address
  readonly amount: Amount
  readonly priceUsdMicros: bigint
  readonly epoch: number
  /** Last height at which the price is honoured; the client copies it into `validUntil`. */
  readonly validUntil: number
  /** Least escrow term that leaves time for confirmations, work and receipt. */
  readonly term: number
  readonly confirmations: number
  /** Millionths of a dollar for one coin, rounded down, for people: `amount` is exact. */
  readonly nativeUsdMicros: bigint
}

/** Blocks that a client may let pass before its call, once its payment has enough confirmations. */
const CLIENT_MARGIN_BLOCKS = 20

/** What a quote is made from. */
export interface QuoteBasis {
  readonly chain: Chain
  readonly price: NativePriceSource
  readonly settings: MarketSettings
  readonly agentId: AgentId
  readonly agent: Agent
  readonly service: Service
  readonly definition: Pick<ServiceDefinition, 'serviceId' | 'timeoutMs'>
}

/** A quote, or why there is none. */
export type Quoted =
  | { readonly quote: NativeQuote; readonly reason: null }
  | { readonly quote: null; readonly reason: string }

/** Quotes a service at the head. */
export function computeQuote({ chain, price, settings, agentId, agent, service, definition }: QuoteBasis): Quoted {
  const { height } = chain.head.header
  const { market, tx } = chain.ruleBook.at(height)
  const epoch = epochOf(height, market)
  const unpriced = notQuoted(price, settings, epoch)
  if (unpriced !== null) return none(unpriced.reason)
  const amount = priceIn(price, service, epoch)
  if (amount === undefined) return none('its price is more than the chain can hold')
  if (amount < tx.invokeAmountMin) return none('its price is below the least payment that the chain takes')
  const priceUsdMicros = priceInEpoch(service, epoch)
  const confirmations = confirmationsFor(priceUsdMicros, settings)
  const workTime = workBlocks(chain, definition.timeoutMs)
  const term = leastTerm(chain, confirmations + workTime + RECEIPT_MARGIN_BLOCKS + CLIENT_MARGIN_BLOCKS)
  if (term === undefined) return none('no escrow is long enough for its work')
  const validUntil = lastHeightOfPrice(epoch, market)
  const { serviceId } = definition
  const payTo = agent.payout
  const quote = {
    agentId,
    serviceId,
    payTo,
    amount,
    priceUsdMicros,
    epoch,
    validUntil,
    term,
    confirmations,
    nativeUsdMicros: price.usdMicrosPerCoin(epoch) as bigint,
  }
  return { quote, reason: null }
}

function none(reason: string): Quoted {
  return { quote: null, reason }
}

/** Blocks that a service's time limit takes. */
export function workBlocks(chain: Chain, timeoutMs: number): number {
  return Math.ceil(timeoutMs / chain.ruleBook.at(chain.head.header.height).block.spacingMs)
}

function leastTerm(chain: Chain, blocks: number): number | undefined {
  return chain.ruleBook.at(chain.head.header.height).tx.invokeTerms.find((term) => term >= blocks)
}
