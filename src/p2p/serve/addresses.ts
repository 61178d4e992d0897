import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { retryDelay } from '../host/backoff.ts'
import type { PeerId } from '../network.ts'
import type { Exchange } from '../peers/exchange.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { NODE_ADDRESSES_MAX, NOTHING } from '../wire/messages.ts'

/** The longest time between two questions for addresses to a peer. */
export const ASK_EVERY_MS = 3_600_000
/** Least wait for the second question while connections are missing. It doubles for each further question, up to the maximum. */
const AGAIN_MS = 2_000
const AGAIN_MS_MAX = 600_000
/** How often a peer is given addresses. A peer that could ask all the time would learn the whole book. */
const ANSWER_EVERY_MS = 60_000
/** How often a peer gets an empty answer, which gives nothing away. A peer that came before all others may ask again soon. */
const EMPTY_ANSWER_EVERY_MS = 1_000
/** Longer than a peer of this release waits between two answers with addresses. */
const PATIENT_MS = ANSWER_EVERY_MS + 5_000

/** What answering works with. */
export interface AddressShelf {
  /** Addresses where nodes were in the last day, without those of one node. */
  readonly good: (limit: number, except: PeerId) => readonly string[]
  readonly now: () => number
}

/** Answers `addresses` with at most 256 addresses where nodes other than the asker were in the last day. */
export function serveAddresses(
  exchange: Exchange,
  { good, now }: AddressShelf,
): { readonly forget: (peer: PeerId) => void } {
  const nextMs = new Map<PeerId, number>()
  exchange.answer('addresses', (from) => {
    if (now() < (nextMs.get(from) ?? Number.NEGATIVE_INFINITY)) return { refusal: 'busy' }
    const told = good(NODE_ADDRESSES_MAX, from)
    nextMs.set(from, now() + (told.length === 0 ? EMPTY_ANSWER_EVERY_MS : ANSWER_EVERY_MS))
    return { reply: told as string[] }
  })
  return { forget: (peer) => void nextMs.delete(peer) }
}

/** What asking for addresses works with. */
export interface AddressAskerDependencies {
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  readonly isNeedy: () => boolean
  /** Takes what a peer told; false if any of it is not an address of a node. */
  readonly hear: (peer: Peer, addresses: readonly string[]) => boolean
}

interface Course {
  turns: number
  askedMs: number
  cancel: () => void
}

/**
 * Asks each peer that we dialled for addresses, after the handshake and then hourly. While connections are missing it asks more often: of
 * two nodes that come to a third at the same time, neither may have been known there when the other asked.
 */
export class AddressAsker {
  readonly #deps: AddressAskerDependencies
  readonly #courses = new Map<PeerId, Course>()
  #running = false

  constructor(dependencies: AddressAskerDependencies) {
    this.#deps = dependencies
    dependencies.peers.onPeer({
      ready: (peer) => this.#begin(peer),
      gone: (id) => this.#end(id),
    })
  }

  start(): void {
    this.#running = true
    for (const peer of this.#deps.peers.list()) this.#begin(peer)
  }

  stop(): void {
    this.#running = false
    for (const id of [...this.#courses.keys()]) this.#end(id)
  }

  /** Peers that came to us are not asked. By being many they could choose what we hear. */
  #begin({ info }: Peer): void {
    if (!this.#running || info.direction !== 'outbound') return
    this.#end(info.id)
    const course: Course = { turns: 0, askedMs: 0, cancel: () => {} }
    this.#courses.set(info.id, course)
    void this.#ask(info.id, course)
  }

  #end(id: PeerId): void {
    this.#courses.get(id)?.cancel()
    this.#courses.delete(id)
  }

  async #ask(id: PeerId, course: Course): Promise<void> {
    const { peers, clock, hear } = this.#deps
    course.turns += 1
    course.askedMs = clock.now()
    const reply = await peers.exchange.ask(id, 'addresses', NOTHING)
    const peer = peers.get(id)
    if (this.#courses.get(id) !== course || peer === undefined) return
    this.#askLater(id, course, waitAfter(reply, course.turns))
    if (reply.ok && !hear(peer, reply.value)) peers.report(id, 'malformed', 'addresses: not the address of a node')
  }

  #askLater(id: PeerId, course: Course, ms: number): void {
    const { clock, timers, isNeedy } = this.#deps
    course.cancel = timers.after(ms, () => {
      const restMs = course.askedMs + ASK_EVERY_MS - clock.now()
      if (restMs <= 0 || isNeedy()) void this.#ask(id, course)
      else this.#askLater(id, course, Math.min(restMs, AGAIN_MS_MAX))
    })
  }
}

/** A peer that gave addresses refuses for a minute. A peer that did not answer in time is not helped by more questions. */
function waitAfter(reply: Result<readonly string[]>, turns: number): number {
  const isPatient = reply.ok ? reply.value.length > 0 : reply.fault.code === 'p2p/timeout'
  return Math.max(isPatient ? PATIENT_MS : 0, retryDelay(AGAIN_MS, turns, AGAIN_MS_MAX))
}
