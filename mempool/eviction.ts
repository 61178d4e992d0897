import type { MempoolPolicy } from './policy.ts'
import type { Pool } from './pool.ts'
import type { Ranking, Standing } from './ranking.ts'

/** How far below its limits a full pool is emptied at once, so that eviction is not paid for by every arrival. */
const SLACK_DIVISOR = 20

/**
 * Who leaves a pool beyond its limits: the last transactions of accounts, those that no block can take first, then those
 * that a block takes last, until there is some slack. Taking an account's last one strands nothing.
 */
export function evict(pool: Pool, policy: MempoolPolicy, ranking: Ranking): readonly Standing[] {
  if (pool.count <= policy.countMax && pool.bytes <= policy.bytesMax) return []
  const countMax = policy.countMax - Math.floor(policy.countMax / SLACK_DIVISOR)
  const bytesMax = policy.bytesMax - Math.floor(policy.bytesMax / SLACK_DIVISOR)
  const evicted: Standing[] = []
  while (pool.count > countMax || pool.bytes > bytesMax) {
    const worst = ranking.worst()
    // What is left is the operator's own, and bounded by the limits of an account.
    if (worst === undefined) break
    pool.remove(worst.entry)
    evicted.push(worst)
  }
  return evicted
}
