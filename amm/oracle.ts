import type { MarketRules } from '../consensus/ledger/rules.ts'
import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND } from '../consensus/primitives/amount.ts'
import type { StateView } from '../consensus/state/view.ts'
import { PRICE_ONE } from './math.ts'
import { PRICE_ENTRIES, type PriceEntry } from './pool.ts'

/**
 * Price of a millionth of a dollar in base units of the native coin, in an epoch, as an exact fraction: 0 < numerator <
 * 2^256, denominator < 2^176. The dollar of the priced pool has 6 decimals.
 */
export interface EpochPrice {
  readonly numerator: bigint
  readonly denominator: bigint
}

type PricingRules = Pick<MarketRules, 'epochBlocks'>

/** The price entries of an epoch: those of its first block and of the previous epoch's; for epoch 0 only its own. */
function entriesOf(view: StateView, epoch: number): readonly PriceEntry[] | undefined {
  const entries = (epoch === 0 ? [0] : [epoch - 1, epoch]).map((each) => view.get(PRICE_ENTRIES, each))
  return entries.includes(undefined) ? undefined : (entries as PriceEntry[])
}

/**
 * The price in an epoch: the mean over the block ends of the previous epoch; in epoch 0 from the genesis reserves.
 * Undefined if an entry is missing: the pool has no full epoch yet, the epoch has not begun, or its entries were
 * deleted.
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

/** Dollars in the priced pool, in millionths: the lowest value of the epoch's entries. Undefined if an entry is missing. */
export function epochDepth(view: StateView, epoch: number): Amount | undefined {
  const entries = entriesOf(view, epoch)
  return entries?.map(({ reserveDollar }) => reserveDollar).reduce((low, each) => (each < low ? each : low))
}

/** An epoch's price and the pool's ratios at its entries may differ by a quarter of the larger one. */
const [STRAY_PARTS, STRAY_WHOLE] = [3n, 4n]

/**
 * Whether the mean of an epoch is more than a quarter below the ratio at each of its entries, or each of these ratios is
 * more than a quarter below the mean. This detects an attacker who adds depth at the entries and withdraws it in
 * between: that makes the mean cheap to move, but not the two ratios.
 */
export function epochStrays(view: StateView, epoch: number, rules: PricingRules): boolean {
  const [entries, price] = [entriesOf(view, epoch), epochPrice(view, epoch, rules)]
  if (entries === undefined || price === undefined) return false
  // Compares the fractions by cross-multiplication.
  const sides = entries.map(({ reserveNative, reserveDollar }) => ({
    mean: price.numerator * reserveDollar,
    ratio: reserveNative * price.denominator,
  }))
  return (
    sides.every(({ mean, ratio }) => mean * STRAY_WHOLE < ratio * STRAY_PARTS) ||
    sides.every(({ mean, ratio }) => mean * STRAY_PARTS > ratio * STRAY_WHOLE)
  )
}

/** Base units that cost this many millionths of a dollar, rounded up; undefined if no supply reaches them. */
export function nativeOfMicros({ numerator, denominator }: EpochPrice, micros: bigint): Amount | undefined {
  // Compared before dividing, since the product may exceed 256 bits.
  if (micros * numerator > (SUPPLY_BOUND - 1n) * denominator) return undefined
  return amount(mulDivUp(micros, numerator, denominator))
}

/** Value of base units in millionths of a dollar, rounded down. */
export function microsOfNativeDown({ numerator, denominator }: EpochPrice, native: bigint): bigint {
  return mulDivDown(native, denominator, numerator)
}

/** Value of base units in millionths of a dollar, rounded up. */
export function microsOfNativeUp({ numerator, denominator }: EpochPrice, native: bigint): bigint {
  return mulDivUp(native, denominator, numerator)
}
