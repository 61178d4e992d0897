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
 * How paid calls ended, from chain data alone; calls of the agent's own owner, payout and settlers are left out. No figure of
 * it can be had by words: to fake it, somebody must pay, and what that burned is told beside it.
 */
export interface CallRecord {
  readonly delivered: number
  /** Failed by the operator's own word, and expired at the deadline: both went back to their callers. */
  readonly failed: number
  readonly expired: number
  /** Share of ended calls that were delivered, in millionths, rounded down; null where none has ended. */
  readonly successPpm: bigint | null
  /**
   * Lower end of the 95 % interval of that share, in millionths (Wilson score, E. B. Wilson 1927): ten calls out of ten say less
   * than a thousand out of a thousand. 0 where none has ended.
   */
  readonly successAtLeastPpm: bigint
  /** Callers whose calls were delivered. */
  readonly payers: number
  /**
   * How many callers of equal weight would be as concentrated, in millionths: the square of the volume over the sum of the squares
   * of what each paid (inverse Herfindahl index). One caller with many small ones beside it counts little more than one.
   */
  readonly effectivePayersPpm: bigint
  /** Share of the delivered volume that came from the one caller who paid most; null without volume. */
  readonly topPayerPpm: bigint | null
  /** Time that half and 95 % of deliveries took at most, by the operator's own claim; null without any. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** Base units that these payments destroyed for good: base fees, and the burnt share of what was delivered. */
  readonly burned: bigint
}

const PPM = 1_000_000n
/** Square of the 97.5 % quantile of the normal distribution, 1.959964, in millionths. */
const Z_SQUARED_PPM = 3_841_459n

/** The record of one service. */
export function serviceRecord(chain: ChainReader, name: ServiceName): CallRecord {
  return recordOf(chain, decodeOutcomes(chain.database.indexed(OUTCOMES, outcomesKey(name))))
}

/** The record of all services of an operator together; a caller of two of them is one. */
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
  }
}

/** Lower end of the Wilson interval of `good` of `all`, in millionths, rounded down, in integers: every node says the same. */
export function wilsonLowPpm(good: bigint, all: bigint): bigint {
  if (all === 0n) return 0n
  const z = Z_SQUARED_PPM
  // (2g + z - sqrt(z (z + 4 g (n - g) / n))) / (2 (n + z)), z being the square of the quantile.
  const root = isqrt(z * (z + (4n * good * (all - good) * PPM) / all)) + 1n
  const low = 2n * good * PPM + z - root
  return low <= 0n ? 0n : (low * PPM) / (2n * (all * PPM + z))
}
