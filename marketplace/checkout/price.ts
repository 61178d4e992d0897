import type { Chain } from '../../consensus/chain/chain.ts'
import { type Amount, amount, mulDivUp } from '../../consensus/primitives/amount.ts'
import { priceInEpoch, type Service } from '../ledger/agents.ts'
import { epochOf } from '../ledger/epoch.ts'

/** Dollar price of the native coin by epoch: whatever prices it, the chain alone decides. */
export interface NativePriceSource {
  /** Millionths of a dollar for one coin in an epoch; undefined where the coin has no usable price. */
  usdMicrosIn(epoch: number): bigint | undefined
}

/** The network parameter, for as long as there are no pools: that of the epoch's first block, for the whole epoch. */
export function parameterPrice({ ruleBook, head }: Chain): NativePriceSource {
  const { epochBlocks } = ruleBook.at(head.header.height).market
  return { usdMicrosIn: (epoch) => ruleBook.at(epoch * epochBlocks).market.nativeUsdMicros }
}

/** Exact price of a service in base units in an epoch, rounded up: the payer pays the fraction. */
export function priceIn(source: NativePriceSource, chain: Chain, service: Service, epoch: number): Amount | undefined {
  const nativeUsdMicros = source.usdMicrosIn(epoch)
  if (nativeUsdMicros === undefined) return undefined
  const coin = 10n ** BigInt(chain.ruleBook.params.decimals)
  return amount(mulDivUp(priceInEpoch(service, epoch), coin, nativeUsdMicros))
}

/** Prices that an `agent_invoke` mined at a height may have paid: of its own epoch, or of the one before. */
export function pricesHonouredAt(
  source: NativePriceSource,
  chain: Chain,
  service: Service,
  minedAt: number,
): readonly Amount[] {
  const epoch = epochOf(minedAt, chain.ruleBook.at(minedAt).market)
  const epochs = epoch > 0 ? [epoch, epoch - 1] : [epoch]
  return epochs.flatMap((each) => priceIn(source, chain, service, each) ?? [])
}
