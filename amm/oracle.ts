import type { MarketRules } from '../consensus/ledger/rules.ts'
import { type Amount, amount, mulDivDown, mulDivUp, SUPPLY_BOUND } from '../consensus/primitives/amount.ts'
import type { StateView } from '../consensus/state/view.ts'
import { PRICE_ONE } from './math.ts'
import { PRICE_ENTRIES, type PriceEntry } from './pool.ts'

/**
 * Base units of the native coin that a millionth of a dollar costs in an epoch, as an exact fraction: numerator below 2^256
 * and above 0, denominator below 2^176. The dollar of the priced pool has 6 decimals.
 */
export interface EpochPrice {
  readonly numerator: bigint
  readonly denominator: bigint
}

type PricingRules = Pick<MarketRules, 'epochBlocks'>

/** The entries that price an epoch: that of its first block, and that of the epoch before; of epoch 0 its own alone. */
function entriesOf(view: StateView, epoch: number): readonly PriceEntry[] | undefined {
  const entries = (epoch === 0 ? [0] : [epoch - 1, epoch]).map((each) => view.get(PRICE_ENTRIES, each))
  return entries.includes(undefined) ? undefined : (entries as PriceEntry[])
}

/**
 * The price in an epoch: the mean over the block ends of the epoch before; in epoch 0 the reserves of genesis. Undefined
 * where an entry is missing: the pool has not had a full epoch yet, the epoch has not begun, or it is long over.
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

/** Dollars in the priced pool, in millionths: the lower of what it held at the epoch's two entries. */
export function epochDepth(view: StateView, epoch: number): Amount | undefined {
  const entries = entriesOf(view, epoch)
  return entries?.map(({ reserveDollar }) => reserveDollar).reduce((low, each) => (each < low ? each : low))
}

/** How far the price of an epoch may lie outside what the pool said at its entries: a quarter of it. */
const [STRAY_PARTS, STRAY_WHOLE] = [3n, 4n]

/**
 * Whether the mean of an epoch lies more than a quarter below or above the ratios at both of its entries. Whoever lends a
 * pool its depth at the entries and leaves in between can move the mean at the cost of a shallow pool, but not those ratios.
 */
export function epochStrays(view: StateView, epoch: number, rules: PricingRules): boolean {
  const [entries, price] = [entriesOf(view, epoch), epochPrice(view, epoch, rules)]
  if (entries === undefined || price === undefined) return false
  // Both fractions over the product of their denominators.
  const sides = entries.map(({ reserveNative, reserveDollar }) => ({
    mean: price.numerator * reserveDollar,
    ratio: reserveNative * price.denominator,
  }))
  return (
    sides.every(({ mean, ratio }) => mean * STRAY_WHOLE < ratio * STRAY_PARTS) ||
    sides.every(({ mean, ratio }) => mean * STRAY_PARTS > ratio * STRAY_WHOLE)
  )
}

/** Base units that so many millionths of a dollar cost, rounded up; undefined where no supply can reach them. */
export function nativeOfMicros({ numerator, denominator }: EpochPrice, micros: bigint): Amount | undefined {
  // Compared before it is divided, since a product of the two may exceed 256 bits.
  if (micros * numerator > (SUPPLY_BOUND - 1n) * denominator) return undefined
  return amount(mulDivUp(micros, numerator, denominator))
}

/** Millionths of a dollar that so many base units are worth, rounded down. */
export function microsOfNativeDown({ numerator, denominator }: EpochPrice, native: bigint): bigint {
  return mulDivDown(native, denominator, numerator)
}

/** Millionths of a dollar that so many base units are worth, rounded up. */
export function microsOfNativeUp({ numerator, denominator }: EpochPrice, native: bigint): bigint {
  return mulDivUp(native, denominator, numerator)
}
