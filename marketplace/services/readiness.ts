import type { Readiness } from '../ports/readiness.ts'
import { executedHead, knownFromHour, knowsDay } from '../queries/known-past.ts'
import { DAY_HOURS, hourNow } from '../queries/trading.ts'
import type { ServiceContext } from './context.ts'

/** Of services that need nothing but the state. */
const READY: Readiness = { available: true, engine: 'chain' }

/** Of services over the newest blocks: right after a snapshot there is none that was executed here. */
export function readyWithBlocks({ chain }: ServiceContext): Readiness {
  return executedHead(chain)
    ? READY
    : unready('no block has been executed here since the snapshot that the node began from')
}

/** Of services that tell figures of the last day: not before a day of trades is known. */
export function readyWithDay({ chain }: ServiceContext): Readiness {
  if (knowsDay(chain)) return READY
  const hours = hourNow(chain) + 1 - knownFromHour(chain)
  return unready(`trades are known here for the last ${Math.max(0, hours)} of ${DAY_HOURS} hours alone`)
}

/** Of services that tell what happened in whole hours: not before there is one of which all is known. */
export function readyWithHour({ chain }: ServiceContext): Readiness {
  return hourNow(chain) >= knownFromHour(chain) ? READY : unready('trades of this hour are not all known here')
}

function unready(reason: string): Readiness {
  return { available: false, reason, requires: ['sync.snapshot'] }
}
