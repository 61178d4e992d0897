import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import { BAN_POINTS, DISCONNECT_POINTS, HALF_LIFE_MS, OF_THE_SLOW, OFFENCES, type Offence } from './offences.ts'

/** What follows from an offence. */
export type Consequence = 'none' | 'disconnect' | 'ban'

/** Peers whose points are remembered, those that left too. */
const PEERS_KEPT = 4_096

interface Points {
  readonly points: number
  readonly atMs: number
}

/** Points of peers for what they did wrong. They outlast a connection, or leaving would wash them off. */
export class Reputation {
  readonly #clock: Clock
  readonly #points = new LruMap<PeerId, Points>(PEERS_KEPT)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Points of a peer now. */
  pointsOf(peer: PeerId): number {
    const found = this.#points.get(peer)
    if (found === undefined) return 0
    return found.points * 2 ** (-Math.max(0, this.#clock.now() - found.atMs) / HALF_LIFE_MS)
  }

  /** Counts an offence and says what follows. */
  add(peer: PeerId, offence: Offence): Consequence {
    const before = this.pointsOf(peer)
    const most = OF_THE_SLOW.has(offence) ? Math.max(before, DISCONNECT_POINTS) : Number.POSITIVE_INFINITY
    const points = Math.min(most, before + OFFENCES[offence])
    this.#points.set(peer, { points, atMs: this.#clock.now() })
    if (points >= BAN_POINTS) return 'ban'
    return points >= DISCONNECT_POINTS ? 'disconnect' : 'none'
  }

  /** Forgets what a peer did: its ban was lifted. */
  forgive(peer: PeerId): void {
    this.#points.delete(peer)
  }
}
