import type { Readiness } from '../ports/readiness.ts'
import { executedHead, knownFromHour, knowsDay } from '../queries/known-past.ts'
import { DAY_HOURS, hourNow } from '../queries/trading.ts'
import type { ServiceContext } from './context.ts'

const READY: Readiness = { available: true, engine: 'chain' }

/** For services about the newest blocks: unavailable after a snapshot until this node has executed a block. */
export function readyWithBlocks({ chain }: ServiceContext): Readiness {
  return executedHead(chain)
    ? READY
    : unready('no block has been executed here since the snapshot that the node began from')
}

/** For services about the last day: unavailable until this node knows a full day of trades. */
export function readyWithDay({ chain }: ServiceContext): Readiness {
  if (knowsDay(chain)) return READY
  const hours = hourNow(chain) + 1 - knownFromHour(chain)
  return unready(`trades are known here for the last ${Math.max(0, hours)} of ${DAY_HOURS} hours alone`)
}

/** For services about whole hours: unavailable until this node knows all trades of the current hour. */
export function readyWithHour({ chain }: ServiceContext): Readiness {
  return hourNow(chain) >= knownFromHour(chain) ? READY : unready('trades of this hour are not all known here')
}

function unready(reason: string): Readiness {
  return { available: false, reason, requires: ['sync.snapshot'] }
}
