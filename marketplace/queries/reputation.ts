import { isqrt } from '../../amm/math.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { AgentId } from '../../consensus/primitives/ids.ts'
import type { ServiceName } from '../ledger/agents.ts'
import {
  decodeOutcomes,
  durationPercentile,
  OUTCOMES,
  type Outcomes,
  operatorOutcomesKey,
  outcomesKey,
} from '../ledger/outcomes.ts'

/**
 * How paid calls ended, from chain data alone, without calls by the agent's own owner, payout and settlers. To fake
 * these figures an operator must pay for calls; `burned` shows what that cost.
 */
export interface CallRecord {
  readonly delivered: number
  /** The operator reported a failure, or the deadline passed. Either way the caller got the payment back. */
  readonly failed: number
  readonly expired: number
  /** Share of ended calls that were delivered, in millionths, rounded down; null if none has ended. */
  readonly successPpm: bigint | null
  /**
   * Lower end of that share's 95 % interval, in millionths (Wilson score, E. B. Wilson 1927): ten of ten calls prove
   * less than a thousand of a thousand. 0 if none has ended.
   */
  readonly successAtLeastPpm: bigint
  /** Number of callers with a delivered call. */
  readonly payers: number
  /**
   * Effective number of payers in millionths, the inverse Herfindahl index: squared volume / sum of the squares of what
   * each caller paid. One big caller beside many small ones counts little more than one.
   */
  readonly effectivePayersPpm: bigint
  /** Share of the delivered volume that the largest payer paid, in millionths, rounded down; null without volume. */
  readonly topPayerPpm: bigint | null
  /**
   * Time within which 50 % and 95 % of deliveries finished, as the operator claims, rounded up to a power of 2; null
   * without deliveries.
   */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /**
   * Base units that payments to the operator burned: the base fees of all, and the burned share of delivered ones,
   * rounded down in total.
   */
  readonly burned: bigint
  /** Calls on tabs are counted apart, since they are cheaper to fake: weigh them by what was burned for them. */
  readonly byTab: TabRecord
}

/** What claims on tabs proved, without tabs of the agent's own owner, payout and settlers. */
export interface TabRecord {
  readonly provenCalls: number
  /** Payers with a proven call on a tab. One that also paid for single calls counts there too. */
  readonly payers: number
  /** The operator's word. Null for a service: claims do not say which service failed. */
  readonly failed: number | null
  readonly volume: bigint
  readonly burned: bigint
}

const PPM = 1_000_000n
/** Square of the 97.5 % quantile of the normal distribution (1.959964), in millionths. */
const Z_SQUARED_PPM = 3_841_459n

/** The record of one service. */
export function serviceRecord(chain: ChainReader, name: ServiceName): CallRecord {
  const record = recordOf(chain, decodeOutcomes(chain.database.indexed(OUTCOMES, outcomesKey(name))))
  return { ...record, byTab: { ...record.byTab, failed: null } }
}

/** The record of all services of an operator together; a caller of several of them counts once. */
export function operatorRecord(chain: ChainReader, agentId: AgentId): CallRecord {
  return recordOf(chain, decodeOutcomes(chain.database.indexed(OUTCOMES, operatorOutcomesKey(agentId))))
}

function recordOf(chain: ChainReader, outcomes: Outcomes): CallRecord {
  const { delivered, failed, expired, volume, topPayerVolume, squares, payers, feesBurned } = outcomes
  const ended = BigInt(delivered + failed + expired)
  const { deliveredBurnDivisor } = chain.ruleBook.at(chain.head.header.height).market
  return {
    delivered,
    failed,
    expired,
    successPpm: ended === 0n ? null : (BigInt(delivered) * PPM) / ended,
    successAtLeastPpm: wilsonLowPpm(BigInt(delivered), ended),
    payers,
    effectivePayersPpm: squares === 0n ? 0n : (volume * volume * PPM) / squares,
    topPayerPpm: volume === 0n ? null : (topPayerVolume * PPM) / volume,
    p50Ms: durationPercentile(outcomes, 50),
    p95Ms: durationPercentile(outcomes, 95),
    burned: feesBurned + volume / deliveredBurnDivisor,
    byTab: {
      provenCalls: outcomes.provenCallsByTab,
      failed: outcomes.failedByTab,
      payers: outcomes.payersByTab,
      volume: outcomes.volumeByTab,
      burned: outcomes.burnedByTab,
    },
  }
}

/** In millionths, rounded down. Integers only, so that every node gets the same result. */
export function wilsonLowPpm(good: bigint, all: bigint): bigint {
  if (all === 0n) return 0n
  const z = Z_SQUARED_PPM
  // (2g + z - sqrt(z (z + 4 g (n - g) / n))) / (2 (n + z)), where z is the squared quantile.
  const root = isqrt(z * (z + (4n * good * (all - good) * PPM) / all)) + 1n
  const low = 2n * good * PPM + z - root
  return low <= 0n ? 0n : (low * PPM) / (2n * (all * PPM + z))
}
