import type { PeerId } from '../network.ts'
import { type Claim, type ClaimJudge, collectClaim } from './claim.ts'
import type { HeaderPage, HeaderWalk } from './header-walk.ts'

/** Branches whose claims are collected at once: a few slow ones must not keep the others from their turn. */
const COLLECTING_MAX = 3

/** Collects what branches claim that are too light to be hashed so far, beside everything else. */
export class Claims {
  readonly #chain: ClaimJudge
  readonly #collected: (peer: PeerId, enough: boolean) => void
  readonly #collecting = new Set<PeerId>()
  readonly #claims = new Map<PeerId, Claim>()
  #stopped = false

  /** `collected` hears when a claim is complete, and whether it suffices. */
  constructor({ chain }: { readonly chain: ClaimJudge }, collected: (peer: PeerId, enough: boolean) => void) {
    this.#chain = chain
    this.#collected = collected
  }

  stop(): void {
    this.#stopped = true
  }

  /** Peers whose claims are being collected: their branches are looked at when that is over. */
  has(peer: PeerId): boolean {
    return this.#collecting.has(peer)
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
    this.#collecting.delete(peer)
  }

  /** Begins to collect, or says that as many are collected already. */
  collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): boolean {
    if (this.#collecting.size >= COLLECTING_MAX || this.#collecting.has(peer)) return false
    this.#collecting.add(peer)
    void this.#collect(peer, walk, first)
    return true
  }

  async #collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): Promise<void> {
    const claim = await collectClaim(walk, first, this.#chain, () => this.#stopped)
    // Whoever left and came back meanwhile begins anew.
    if (!this.#collecting.delete(peer) || this.#stopped) return
    if (claim.ok) this.#claims.set(peer, claim.value)
    this.#collected(peer, claim.ok)
  }
}
