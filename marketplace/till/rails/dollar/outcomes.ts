import type { Fault } from '../../../../consensus/primitives/fault.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import type { StableSettled } from './rail.ts'

/** Counts what calls came to. */
export class Outcomes {
  readonly counts = new Map<string, number>()

  /** Counts a call. */
  add(outcome: Result<StableSettled>): void {
    const name = outcome.ok ? (outcome.value.replayed ? 'replayed' : 'settled') : nameOf(outcome.fault)
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}

function nameOf({ code }: Fault): string {
  if (code === 'stable/unsettled' || code === 'stable/under-way') return 'unsettled'
  if (code === 'stable/facilitator' || code === 'service/unavailable' || code === 'market/claims-away')
    return 'unavailable'
  return code.startsWith('service/') ? 'failed' : 'refused'
}
