import type { Header } from './header.ts'
import type { BlockRules } from './rules.ts'

/** A quarter of the range of a uint64: the rest is room for the tip. */
const BASE_FEE_MAX = 1n << 62n

/**
 * Base fee of a child (EIP-1559 with another divisor). No change is more than 1/divisor of the fee, except a rise of 1
 * unit, or a rise to a floor that a rule step lifted. A parent heavier than the present limit, from before a rule step,
 * counts as full.
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
