import type { PeerId } from '../network.ts'
import type { Connection } from './dialer.ts'

/** A second connection is left alone for so long: its other end may not have it yet. */
const SETTLE_MS = 2_000
/** Of two that the other end dialled, it chooses; we do only if it does not. */
const OTHERS_CHOICE_MS = 10_000

/**
 * Connections to hang up because their peer has a better one. Both ends keep the same: the one that the lesser id dialled, and
 * of several dialled by one end the first, as that end sees it.
 */
export function surplusOf(connections: readonly Connection[], self: PeerId, nowMs: number): readonly Connection[] {
  const byPeer = Map.groupBy(connections, ({ peer }) => peer)
  return [...byPeer].flatMap(([peer, all]) => {
    if (all.length === 1) return []
    const wanted = self < peer ? 'outbound' : 'inbound'
    const [kept, ...others] = all.toSorted(
      (a, b) =>
        Number(b.direction === wanted) - Number(a.direction === wanted) ||
        a.openedAtMs - b.openedAtMs ||
        (a.id < b.id ? -1 : 1),
    ) as [Connection, ...Connection[]]
    return others.filter(({ direction, openedAtMs }) => {
      const patience = direction === 'inbound' && kept.direction === 'inbound' ? OTHERS_CHOICE_MS : SETTLE_MS
      return nowMs - Math.max(openedAtMs, kept.openedAtMs) >= patience
    })
  })
}
