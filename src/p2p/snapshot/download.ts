import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { equal } from '../../../consensus/primitives/bytes.ts'
import { encode } from '../../../consensus/primitives/codec.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { type ReplyOf, type RequestOf, requestCodec } from '../wire/messages.ts'
import type { ProtocolName } from '../wire/protocols.ts'
import type { Course } from './course.ts'
import { Waits } from './waits.ts'

const REST_MS = 2_000
/** Failures in a row, of all peers together, after which a download gives up. */
const FAILURES_MAX = 30
/** Wait while there is no peer to ask. */
const NOBODY_MS = 1_000
/** Waits for a peer in a row after which a download gives up. */
const NOBODY_MAX = 30

/** What a download works with. */
export interface Source {
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  /** Peers that have the snapshot. */
  readonly candidates: () => readonly PeerId[]
  readonly stopped: () => boolean
  /** Height of the snapshot, for the fault if no peer has it. */
  readonly height: number
}

interface Asked<P extends ProtocolName> {
  readonly peer: PeerId
  readonly request: RequestOf<P>
  readonly reply: Promise<Result<ReplyOf<P>>>
}

/**
 * Follows courses to their ends, with one request ahead of the reply that is worked through. If a peer fails, lies, gives too little or has
 * no more, other peers go on.
 */
export class Download {
  readonly #source: Source
  readonly #useless = new Set<PeerId>()
  readonly #restUntil = new Map<PeerId, number>()
  readonly #waits: Waits
  #failures = 0

  constructor(source: Source) {
    this.#source = source
    this.#waits = new Waits(source)
  }

  get slowMs(): number {
    return this.#waits.slowMs
  }

  /** Faults: `p2p/snapshot-unserved`, `chain/stopped`. */
  async follow<P extends ProtocolName>(course: Course<P>): Promise<Result<void>> {
    let ahead: Asked<P> | undefined
    for (;;) {
      if (this.#source.stopped()) return fail(fault('chain/stopped'))
      const asked = ahead ?? (await this.#ask(course, course.request()))
      ahead = undefined
      if (asked === undefined || this.#waits.areOver) return fail(this.#unserved())
      const reply = await asked.reply
      if (!reply.ok) {
        if (!this.#excuse(asked.peer, reply.fault)) return fail(this.#unserved())
        continue
      }
      const following = course.following(reply.value)
      if (following !== undefined) ahead = await this.#ask(course, following, true)
      const bytesBefore = course.bytes
      const taken = await course.take(reply.value, asked.peer)
      this.#waits.note(asked.peer, 0, course.bytes - bytesBefore)
      if (taken === 'done') return ok(undefined)
      if (taken === 'stuck') return fail(this.#unserved())
      if (taken === 'more') this.#failures = 0
      else {
        this.blame(asked.peer)
        this.#source.peers.report(asked.peer, taken, course.protocol)
        ahead = undefined
      }
      // The question that was asked ahead came from an unchecked reply. If the course wants something else now, an honest answer would look
      // false and be blamed.
      if (ahead !== undefined && !isNext(course, ahead)) ahead = undefined
    }
  }

  blame(peer: PeerId): void {
    this.#useless.add(peer)
  }

  /** Undefined if there is no peer to ask. With `atOnce` it does not wait for one. */
  async #ask<P extends ProtocolName>(
    { protocol, sole }: Course<P>,
    request: RequestOf<P>,
    atOnce = false,
  ): Promise<Asked<P> | undefined> {
    const { clock, peers, candidates, stopped } = this.#source
    for (let waits = 0; waits < NOBODY_MAX && !stopped(); waits++) {
      const now = clock.now()
      const able = candidates().filter((id) => this.#isAble(id, now))
      const chosen = able.filter((id) => peers.get(id)?.info.direction === 'outbound')
      const peer = able.find((id) => id === sole) ?? this.#waits.quickestOf(chosen.length > 0 ? chosen : able)
      if (peer !== undefined) return { peer, request, reply: this.#waits.ask(peer, protocol, request) }
      if (atOnce) return undefined
      await this.#wait(NOBODY_MS)
    }
    return undefined
  }

  #isAble(id: PeerId, now: number): boolean {
    return !this.#useless.has(id) && (this.#restUntil.get(id) ?? 0) <= now && !this.#waits.areTooLong(id)
  }

  /** True if going on is worth it. */
  #excuse(peer: PeerId, { code, detail }: Fault): boolean {
    const lost = code === 'p2p/refused' && detail.reason !== 'busy' && detail.reason !== 'not-ready'
    if (lost || code === 'p2p/malformed' || code === 'p2p/too-large') this.#useless.add(peer)
    this.#restUntil.set(peer, this.#source.clock.now() + REST_MS)
    this.#failures += 1
    return this.#failures < FAILURES_MAX
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#source.timers.after(ms, resolve)
    })
  }

  #unserved(): Fault {
    return this.#source.stopped()
      ? fault('chain/stopped')
      : fault('p2p/snapshot-unserved', { height: this.#source.height })
  }
}

function isNext<P extends ProtocolName>(course: Course<P>, { request }: Asked<P>): boolean {
  const codec = requestCodec(course.protocol)
  return equal(encode(codec, request), encode(codec, course.request()))
}
