import type { Header } from './header.ts'
import type { BlockRules } from './rules.ts'

/** Room above every base fee, so that adding a tip stays within 64 bits. */
const BASE_FEE_MAX = 1n << 62n

/**
 * Base fee of a child, a pure function of its parent's header: it moves towards a half-full block by at most 1/32 of
 * itself, at least 1 upward, never below the floor (the shape of EIP-1559 with another divisor). A parent that a larger weight
 * limit let in counts as a full block.
 */
export function baseFeeAfter(
  { baseFee, weightUsed }: Pick<Header, 'baseFee' | 'weightUsed'>,
  rules: BlockRules,
): bigint {
  const half = BigInt(rules.weightMax) / 2n
  const used = BigInt(Math.min(weightUsed, rules.weightMax))
  if (used > half) {
    const step = (baseFee * (used - half)) / half / rules.baseFeeChangeDivisor
    const next = baseFee + (step > 1n ? step : 1n)
    return next < BASE_FEE_MAX ? next : BASE_FEE_MAX
  }
  const next = baseFee - (baseFee * (half - used)) / half / rules.baseFeeChangeDivisor
  return next > rules.baseFeeMin ? next : rules.baseFeeMin
}
