import { effectiveRate, type MempoolEntry } from './entry.ts'
import type { MempoolPolicy } from './policy.ts'
import type { Pool } from './pool.ts'

/** How far below its limits a full pool is emptied at once, so that eviction is not paid for by every arrival. */
const SLACK_DIVISOR = 20

/**
 * Who leaves a pool beyond its limits: the cheapest last transactions of accounts, until there is some slack. Taking an
 * account's last one strands nothing.
 */
export function evict(pool: Pool, policy: MempoolPolicy, baseFee: bigint): readonly MempoolEntry[] {
  if (pool.count <= policy.countMax && pool.bytes <= policy.bytesMax) return []
  const countMax = policy.countMax - Math.floor(policy.countMax / SLACK_DIVISOR)
  const bytesMax = policy.bytesMax - Math.floor(policy.bytesMax / SLACK_DIVISOR)
  const evicted: MempoolEntry[] = []
  while (pool.count > countMax || pool.bytes > bytesMax) {
    const tails = cheapestFirst(pool, baseFee)
    for (const entry of tails.slice(0, Math.max(1, tails.length >> 2))) {
      if (pool.count <= countMax && pool.bytes <= bytesMax) break
      pool.remove(entry)
      evicted.push(entry)
    }
  }
  return evicted
}

function cheapestFirst(pool: Pool, baseFee: bigint): readonly MempoolEntry[] {
  const tails = [...pool.accounts()].flatMap(([, queue]) => queue.last() ?? [])
  return tails.sort((a, b) => {
    const difference = effectiveRate(a, baseFee) - effectiveRate(b, baseFee)
    return difference === 0n ? b.sequence - a.sequence : difference < 0n ? -1 : 1
  })
}
