import type { Clock } from '../../../consensus/chain/ports.ts'
import type { PeerId } from '../network.ts'
import { type Claim, type ClaimJudge, collectClaim } from './claim.ts'
import type { HeaderPage, HeaderWalk } from './header-walk.ts'

/** Branches whose claims are collected at once: a few slow ones must not keep the others from their turn. */
const COLLECTING_MAX = 3

/**
 * What became of a claim: it suffices; its branch ended and it does not; it could not be collected to its end, for which its owner
 * was reported by then if it is to blame.
 */
export type ClaimOutcome = 'enough' | 'too-little' | 'unknown'

/** What claims are judged with, and who hears of errors after which the process must not go on. */
export interface ClaimsDependencies {
  readonly chain: ClaimJudge
  readonly onFatal: (error: unknown) => void
  readonly clock: Clock
}

/** So long the work of a branch is known that was proven, and whose peer left: it may come again, and others may have it. */
const LEFT_MS = 600_000

/** Collects what branches claim that are too light to be hashed so far, beside everything else. */
export class Claims {
  readonly #deps: ClaimsDependencies
  readonly #collected: (peer: PeerId, outcome: ClaimOutcome) => void
  /** By the walk that collects: a peer that left and came back is collected by another. */
  readonly #collecting = new Map<PeerId, HeaderWalk>()
  /** Peers that came while as many claims as may be were collected. */
  readonly #waiting = new Set<PeerId>()
  readonly #claims = new Map<PeerId, Claim>()
  /** The peer that left with the most proven work, and when. */
  #left: { readonly peer: PeerId; readonly work: bigint; readonly atMs: number } | null = null
  #stopped = false

  /** `collected` hears what became of a claim. */
  constructor(dependencies: ClaimsDependencies, collected: (peer: PeerId, outcome: ClaimOutcome) => void) {
    this.#deps = dependencies
    this.#collected = collected
  }

  stop(): void {
    this.#stopped = true
  }

  /** Peers whose claims are being collected, or wait for that: their branches are looked at when there is something new of them. */
  has(peer: PeerId): boolean {
    return this.#collecting.has(peer) || this.#waiting.has(peer)
  }

  /** Work of the heaviest claim that is proven and waits to be followed, also if its peer left a while ago. */
  get provenWork(): bigint {
    return this.provenBeside(null)
  }

  /** The same, without that of one peer. */
  provenBeside(peer: PeerId | null): bigint {
    const works = [...this.#claims].map(([owner, { proven }]) => (owner === peer ? 0n : (proven?.tip.totalWork ?? 0n)))
    const left = this.#left?.peer === peer ? 0n : this.#leftWork
    return works.reduce((most, work) => (work > most ? work : most), left)
  }

  get #leftWork(): bigint {
    const { work, atMs } = this.#left ?? { work: 0n, atMs: 0 }
    return this.#deps.clock.now() - atMs < LEFT_MS ? work : 0n
  }

  /** Keeps a claim until the peer's branch was looked at again. */
  put(peer: PeerId, claim: Claim): void {
    this.#claims.set(peer, claim)
  }

  /** What a peer claimed. */
  of(peer: PeerId): Claim | undefined {
    return this.#claims.get(peer)
  }

  /** Lets go of a claim. */
  drop(peer: PeerId): void {
    this.#claims.delete(peer)
  }

  /** A peer is gone. */
  forget(peer: PeerId): void {
    const work = this.#claims.get(peer)?.proven?.tip.totalWork ?? 0n
    if (work > 0n && work >= this.#leftWork) this.#left = { peer, work, atMs: this.#deps.clock.now() }
    this.#claims.delete(peer)
    this.#waiting.delete(peer)
    if (this.#collecting.delete(peer)) this.#waiting.clear()
  }

  /** Begins to collect; where as many are collected already the peer waits until one of them is over, or too slow. */
  collect(peer: PeerId, walk: HeaderWalk, first: HeaderPage): void {
    if (this.#collecting.size >= COLLECTING_MAX) return void this.#waiting.add(peer)
    this.#collecting.set(peer, walk)
    this.#collect(peer, walk, first).catch((error: unknown) => {
      // What a claim is checked with may be closed by then.
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
