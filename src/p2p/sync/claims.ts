import type { PeerId } from '../network.ts'
import { type Claim, type ClaimJudge, collectClaim } from './claim.ts'
import type { HeaderPage, HeaderWalk } from './header-walk.ts'

/** Branches whose claims are collected at once: a few slow ones must not keep the others from their turn. */
const COLLECTING_MAX = 3

/** What became of a claim: it suffices; it does not, or its owner broke off; it gave way to others because it came too slowly. */
export type ClaimOutcome = 'enough' | 'too-little' | 'slow'

/** Collects what branches claim that are too light to be hashed so far, beside everything else. */
export class Claims {
  readonly #chain: ClaimJudge
  readonly #collected: (peer: PeerId, outcome: ClaimOutcome) => void
  readonly #collecting = new Set<PeerId>()
  /** Peers that came while as many claims as may be were collected. */
  readonly #waiting = new Set<PeerId>()
  readonly #claims = new Map<PeerId, Claim>()
  #stopped = false

  /** `collected` hears what became of a claim. */
  constructor({ chain }: { readonly chain: ClaimJudge }, collected: (peer: PeerId, outcome: ClaimOutcome) => void) {
    this.#chain = chain
    this.#collected = collected
  }

  stop(): void {
    this.#stopped = true
  }

  /** Peers whose claims are being collected, or wait for that: their branches are looked at when there is something new of them. */
  has(peer: PeerId): boolean {
    return this.#collecting.has(peer) || this.#waiting.has(peer)
  }

  /** A claim to be proven now; it is given once. */
  take(peer: PeerId): Claim | undefined {
    const claim = this.#claims.get(peer)
    this.#claims.delete(peer)
    return claim
  }

  /** A peer is gone. */
  forget(peer: PeerId): void {
    this.#claims.delete(peer)
    this.#waiting.delete(peer)
    if (this.#collecting.delete(peer)) this.#waiting.clear()
  }

  /** Begins to collect; where as many are collected already the peer waits until one of them is over, or too slow. */
  collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): void {
    if (this.#collecting.size >= COLLECTING_MAX) return void this.#waiting.add(peer)
    this.#collecting.add(peer)
    void this.#collect(peer, walk, first)
  }

  async #collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): Promise<void> {
    const around = { stopped: () => this.#stopped, others: () => this.#waiting.size > 0 }
    const claim = await collectClaim(walk, first, this.#chain, around)
    // Whoever left and came back meanwhile begins anew.
    if (!this.#collecting.delete(peer) || this.#stopped) return
    this.#waiting.clear()
    if (claim.ok) this.#claims.set(peer, claim.value)
    this.#collected(peer, claim.ok ? 'enough' : walk.slow ? 'slow' : 'too-little')
  }
}
