import type { Chain } from '../../../../consensus/chain/chain.ts'
import { epochOf } from '../../../../consensus/ledger/epoch.ts'
import { priceInEpoch, type Service } from '../../../ledger/agents.ts'

/**
 * Prices in millionths of a dollar that are honoured now, the current one first: those quoted within the last seconds too,
 * since whoever signed one could not know of the next. A function of the chain and the time alone: replicas agree, and a
 * restart forgets none.
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
