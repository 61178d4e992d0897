import { SUPPLY_BOUND } from '../primitives/amount.ts'
import { type Fault, fault } from '../primitives/fault.ts'

/** The fault of an amount that is below `least`, or that no supply can reach. */
export function checkAmount(field: string, value: bigint, least: bigint): Fault | null {
  if (value >= least && value < SUPPLY_BOUND) return null
  return fault('tx/amount', { field, value: value.toString(), least: least.toString() })
}
