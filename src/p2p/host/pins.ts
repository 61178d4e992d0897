import type { Clock } from '../../../consensus/chain/ports.ts'
import type { PeerId } from '../network.ts'
import { Backoff } from './backoff.ts'
import type { NodeAddress } from './node-address.ts'

const FIRST_RETRY_MS = 1_000
const RETRY_MS_MAX = 60_000
/** Longest delay while connections are missing: with its jitter and the dial, a seed that comes late is met within 15 s. */
const NEEDY_RETRY_MS_MAX = 10_000
/** A connection that lasted so long was a good one: the next attempt after it is immediate. */
const GOOD_MS = 20_000

/** An address that the operator or the release names: it is never given up. */
export class Pin {
  readonly address: NodeAddress
  /** `configured` ones are always to be connected, seeds only as far as connections are missing. */
  readonly kind: 'configured' | 'seed'
  readonly #backoff: Backoff
  readonly #clock: Clock
  #peer: PeerId | null
  #dialing = false
  #neverTried = true

  constructor(address: NodeAddress, kind: Pin['kind'], { clock, random }: { clock: Clock; random: () => number }) {
    this.address = address
    this.kind = kind
    this.#peer = address.peer
    this.#clock = clock
    this.#backoff = new Backoff(FIRST_RETRY_MS, random)
  }

  /** Who is there: as the address says, or as the last dial showed. */
  get peer(): PeerId | null {
    return this.#peer
  }

  /** Whether no dial has ended yet. */
  get neverTried(): boolean {
    return this.#neverTried
  }

  isDue(needy: boolean): boolean {
    return !this.#dialing && this.#backoff.isDue(this.#clock.now(), needy ? NEEDY_RETRY_MS_MAX : RETRY_MS_MAX)
  }

  dialing(): void {
    this.#dialing = true
  }

  /** How a dial went: the peer, or null. Success counts only when the connection lasts. */
  dialed(peer: PeerId | null): void {
    this.#dialing = false
    this.#neverTried = false
    if (peer === null) this.#backoff.failed(this.#clock.now())
    else this.#peer = peer
  }

  /** The connection ended after a while. */
  lost(livedMs: number): void {
    if (livedMs >= GOOD_MS) this.#backoff.succeeded()
    else this.#backoff.failed(this.#clock.now())
  }
}
