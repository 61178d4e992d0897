import {
  type Amount,
  amount,
  formatAmount,
  mulDivDown,
  mulDivUp,
  parseAmount,
} from '../../consensus/primitives/amount.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../consensus/primitives/result.ts'
import type { CommandContext } from './command.ts'

/** Percentages are counted in millionths: four decimals of a percent. */
const WHOLE = 1_000_000n
/** Decimals of a percentage that is counted in parts per million. */
export const PERCENT_DECIMALS = 4

/** The flag that sets how much worse than expected an outcome may be. */
export const SLIPPAGE_FLAG = {
  slippage: 'By how many percent the outcome may be worse than quoted; default 0.5',
  'accept-slippage': 'Take a --slippage above 15 percent',
}
const SLIPPAGE_DEFAULT = '0.5'
/** A greater tolerance needs `--accept-slippage`: it is more likely a mistake about the unit, and the miner can take all of it. */
const SLIPPAGE_UNASKED_MAX = (15n * WHOLE) / 100n

/** A percentage as parts per million: `0.5` is 5,000. At most four decimals, and at most 100. */
export function parsePercent(flag: string, text: string): Result<bigint> {
  const parts = parseAmount(text.replace(/%$/, ''), PERCENT_DECIMALS)
  if (parts.ok && parts.value <= WHOLE) return parts
  return fail(fault('cli/usage', { reason: `--${flag} is a percentage of 0 to 100 with at most 4 decimals` }))
}

/** The tolerance of a command, in parts per million. A tolerance of 100 % would not protect at all, and is refused. */
export function slippageFlag({ flags }: Pick<CommandContext, 'flags'>): Result<bigint> {
  const parts = parsePercent('slippage', flags.slippage ?? SLIPPAGE_DEFAULT)
  if (!parts.ok) return parts
  if (parts.value >= WHOLE)
    return fail(fault('cli/usage', { reason: '--slippage is below 100: at 100 anything would do' }))
  if (parts.value <= SLIPPAGE_UNASKED_MAX || flags['accept-slippage'] !== undefined) return parts
  const percent = formatAmount(amount(parts.value), PERCENT_DECIMALS)
  const reason = `--slippage is in percent: ${percent} lets the miner of the block keep up to ${percent} % of what you would get; say at most 15, or add --accept-slippage`
  return fail(fault('cli/usage', { reason }))
}

/** ceil(expected x (1 - slippage)): the least to accept. Rounding never adds tolerance. */
export function atLeast(expected: bigint, slippage: bigint): Amount {
  return amount(mulDivUp(expected, WHOLE - slippage, WHOLE))
}

/** floor(expected x (1 + slippage)): the most to pay. Rounding never adds tolerance. */
export function atMost(expected: bigint, slippage: bigint): Amount {
  return amount(mulDivDown(expected, WHOLE + slippage, WHOLE))
}

/** floor(whole x part), `part` in parts per million. */
export function partOf(whole: bigint, part: bigint): Amount {
  return amount(mulDivDown(whole, part, WHOLE))
}

/** Parts per million as a percentage: 5,000 is `0.5 %`. */
export function percentText(parts: bigint): string {
  return `${formatAmount(parts, PERCENT_DECIMALS)} %`
}

/** Basis points as a percentage: 30 is `0.3 %`. */
export function bpsText(bps: number | bigint): string {
  return percentText(BigInt(bps) * 100n)
}
