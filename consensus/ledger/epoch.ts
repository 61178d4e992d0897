import type { MarketRules } from './rules.ts'

/** Price epoch of a height. */
export function epochOf(height: number, { epochBlocks }: Pick<MarketRules, 'epochBlocks'>): number {
  return Math.floor(height / epochBlocks)
}

/** Last height at which a price of this epoch is honoured: the end of the next epoch. */
export function lastHeightOfPrice(epoch: number, { epochBlocks }: Pick<MarketRules, 'epochBlocks'>): number {
  return (epoch + 2) * epochBlocks - 1
}
