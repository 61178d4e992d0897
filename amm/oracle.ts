import type { MarketRules } from '../consensus/ledger/rules.ts'
import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND } from '../consensus/primitives/amount.ts'
import type { StateView } from '../consensus/state/view.ts'
import { PRICE_ONE } from './math.ts'
import { PRICE_ENTRIES, type PriceEntry } from './pool.ts'

/**
 * Base units of the native coin per millionth of a dollar, as an exact fraction with 0 < numerator < 2^256. The dollar
 * of the priced pool has 6 decimals.
 */
export interface EpochPrice {
  readonly numerator: bigint
  readonly denominator: bigint
}

type PricingRules = Pick<MarketRules, 'epochBlocks'>

/** Entries of this epoch's first block and of the previous epoch's; for epoch 0 only its own. */
function entriesOf(view: StateView, epoch: number): readonly PriceEntry[] | undefined {
  const entries = (epoch === 0 ? [0] : [epoch - 1, epoch]).map((each) => view.get(PRICE_ENTRIES, each))
  return entries.includes(undefined) ? undefined : (entries as PriceEntry[])
}

/**
 * The mean over the block ends of the previous epoch; in epoch 0 the price of the genesis reserves. Undefined if a price
 * entry is missing.
 */
export function epochPrice(view: StateView, epoch: number, { epochBlocks }: PricingRules): EpochPrice | undefined {
  const entries = entriesOf(view, epoch)
  if (entries === undefined) return undefined
  const [first, last] = entries as readonly [PriceEntry, PriceEntry?]
  if (last === undefined) return { numerator: first.reserveNative, denominator: first.reserveDollar }
  return {
    numerator: last.nativePerDollar - first.nativePerDollar,
    denominator: BigInt(epochBlocks) * PRICE_ONE,
  }
}

/** The lowest dollar reserve among the epoch's entries, in millionths. Undefined if an entry is missing. */
export function epochDepth(view: StateView, epoch: number): Amount | undefined {
  const entries = entriesOf(view, epoch)
  return entries?.map(({ reserveDollar }) => reserveDollar).reduce((low, each) => (each < low ? each : low))
}

/** The price and the pool's ratios may differ by a quarter of the larger one. */
const [STRAY_PARTS, STRAY_WHOLE] = [3n, 4n]

/**
 * Whether the mean of an epoch is more than a quarter below the ratio at each of its entries, or each ratio is more than
 * a quarter below the mean. This detects an attacker who adds depth at the entries and withdraws it in between: that
 * makes the mean cheap to move, but not the two ratios.
 */
export function epochStrays(view: StateView, epoch: number, rules: PricingRules): boolean {
  const [entries, price] = [entriesOf(view, epoch), epochPrice(view, epoch, rules)]
  if (entries === undefined || price === undefined) return false
  const sides = entries.map(({ reserveNative, reserveDollar }) => ({
    mean: price.numerator * reserveDollar,
    ratio: reserveNative * price.denominator,
  }))
  return (
    sides.every(({ mean, ratio }) => mean * STRAY_WHOLE < ratio * STRAY_PARTS) ||
    sides.every(({ mean, ratio }) => mean * STRAY_PARTS > ratio * STRAY_WHOLE)
  )
}

/** Base units for millionths of a dollar, rounded up; undefined if they exceed any supply. */
export function nativeOfMicros({ numerator, denominator }: EpochPrice, micros: bigint): Amount | undefined {
  // Checked before the division, since the product may exceed 256 bits.
  if (micros * numerator > (SUPPLY_BOUND - 1n) * denominator) return undefined
  return amount(mulDivUp(micros, numerator, denominator))
}

/** Millionths of a dollar for base units, rounded down. */
export function microsOfNativeDown({ numerator, denominator }: EpochPrice, native: bigint): bigint {
  return mulDivDown(native, denominator, numerator)
}

/** Millionths of a dollar for base units, rounded up. */
export function microsOfNativeUp({ numerator, denominator }: EpochPrice, native: bigint): bigint {
  return mulDivUp(native, denominator, numerator)
}
