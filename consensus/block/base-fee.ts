import type { Header } from './header.ts'
import type { BlockRules } from './rules.ts'

/** Highest base fee, a quarter of 64 bits: it leaves room for the tip. */
const BASE_FEE_MAX = 1n << 62n

/**
 * Base fee of a child, from its parent's header alone (EIP-1559 with another divisor). It rises above half-full blocks
 * and falls below: by at most 1/32 of itself, by at least 1 upward, never below the floor. A parent heavier than the
 * present limit, from before a rule step, counts as full.
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
