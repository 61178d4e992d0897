import type { Clock } from '../../../consensus/chain/ports.ts'
import type { PeerId } from '../network.ts'
import { type Claim, type ClaimJudge, collectClaim } from './claim.ts'
import type { HeaderPage, HeaderWalk } from './header-walk.ts'

/** Claims that are collected at the same time. A few slow ones must not hold up the others. */
const COLLECTING_MAX = 3

/** `enough`: the claim suffices. `too-little`: its branch ended before. `unknown`: not collected to its end; any blame was reported. */
export type ClaimOutcome = 'enough' | 'too-little' | 'unknown'

/** `onFatal` hears of errors after which the process must not go on. */
export interface ClaimsDependencies {
  readonly chain: ClaimJudge
  readonly onFatal: (error: unknown) => void
  readonly clock: Clock
}

/** How long the work of a proven branch stays known after its peer left. The peer may come back, and others may have the branch. */
const LEFT_MS = 600_000

/** Collects the claims of branches that are too light to be hashed yet, while everything else goes on. */
export class Claims {
  readonly #deps: ClaimsDependencies
  readonly #collected: (peer: PeerId, outcome: ClaimOutcome) => void
  /** The walk that collects each claim. A peer that left and came back has a new walk. */
  readonly #collecting = new Map<PeerId, HeaderWalk>()
  readonly #waiting = new Set<PeerId>()
  readonly #claims = new Map<PeerId, Claim>()
  #left: { readonly peer: PeerId; readonly work: bigint; readonly atMs: number } | null = null
  #stopped = false

  constructor(dependencies: ClaimsDependencies, collected: (peer: PeerId, outcome: ClaimOutcome) => void) {
    this.#deps = dependencies
    this.#collected = collected
  }

  stop(): void {
    this.#stopped = true
  }

  /** Whether a peer's claim is being collected or waits to be. */
  has(peer: PeerId): boolean {
    return this.#collecting.has(peer) || this.#waiting.has(peer)
  }

  /** Work of the heaviest proven claim that waits to be followed, even if its peer left less than ten minutes ago. */
  get provenWork(): bigint {
    return this.provenBeside(null)
  }

  /** `provenWork` without the claim of one peer. */
  provenBeside(peer: PeerId | null): bigint {
    const works = [...this.#claims].map(([owner, { proven }]) => (owner === peer ? 0n : (proven?.tip.totalWork ?? 0n)))
    const left = this.#left?.peer === peer ? 0n : this.#leftWork
    return works.reduce((most, work) => (work > most ? work : most), left)
  }

  get #leftWork(): bigint {
    const { work, atMs } = this.#left ?? { work: 0n, atMs: 0 }
    return this.#deps.clock.now() - atMs < LEFT_MS ? work : 0n
  }

  put(peer: PeerId, claim: Claim): void {
    this.#claims.set(peer, claim)
  }

  of(peer: PeerId): Claim | undefined {
    return this.#claims.get(peer)
  }

  drop(peer: PeerId): void {
    this.#claims.delete(peer)
  }

  /** Forgets a peer that is gone. If no other peer that left has more proven work, its work stays known for a while. */
  forget(peer: PeerId): void {
    const work = this.#claims.get(peer)?.proven?.tip.totalWork ?? 0n
    if (work > 0n && work >= this.#leftWork) this.#left = { peer, work, atMs: this.#deps.clock.now() }
    this.#claims.delete(peer)
    this.#waiting.delete(peer)
    if (this.#collecting.delete(peer)) this.#waiting.clear()
  }

  /** Begins to collect a claim. If enough are being collected, the peer waits until one of them is over or too slow. */
  collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): void {
    if (this.#collecting.size >= COLLECTING_MAX) return void this.#waiting.add(peer)
    this.#collecting.set(peer, walk)
    this.#collect(peer, walk, first).catch((error: unknown) => {
      // After a stop the chain's store may be closed, which is no error.
      if (!this.#stopped) this.#deps.onFatal(error)
    })
  }

  async #collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): Promise<void> {
    const isOver = (): boolean => this.#stopped || this.#collecting.get(peer) !== walk
    const around = { stopped: isOver, others: () => this.#waiting.size > 0 || this.provenWork > 0n }
    const claim = await collectClaim(walk, first, this.#deps.chain, around)
    if (this.#collecting.get(peer) !== walk || this.#stopped) return
    this.#collecting.delete(peer)
    this.#waiting.clear()
    if (claim.ok) this.#claims.set(peer, claim.value)
    const hasEnded = !claim.ok && claim.fault.code === 'p2p/claim' && !walk.early
    this.#collected(peer, claim.ok ? 'enough' : hasEnded ? 'too-little' : 'unknown')
  }
}
