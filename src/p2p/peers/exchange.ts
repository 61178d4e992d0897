import type { Clock } from '../../../consensus/chain/ports.ts'
import { decode, encode } from '../../../consensus/primitives/codec.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, type Result } from '../../../consensus/primitives/result.ts'
import { decodeText, encodeText } from '../../../consensus/primitives/text.ts'
import type { Network, PeerId } from '../network.ts'
import { breachOf, type ReplyOf, type RequestOf, replyCodec, requestCodec } from '../wire/messages.ts'
import { PROTOCOLS, type ProtocolName } from '../wire/protocols.ts'
import type { Budget } from './budget.ts'
import type { Offence } from './offences.ts'
import type { Serving, Turn } from './serving.ts'

/** Reasons for a refusal, as they stand in the reply after its first byte. */
export const REFUSALS = ['busy', 'not-held', 'unknown', 'not-ready', 'other-network'] as const
/** A reason for a refusal. */
export type Refusal = (typeof REFUSALS)[number]

/** The answer to a request. */
export type Answer<P extends ProtocolName> = { readonly reply: ReplyOf<P> } | { readonly refusal: Refusal }

/** Answers the requests of one protocol. `turn` measures and paces the work. The answer never rejects. */
export type Answerer<P extends ProtocolName> = (
  from: PeerId,
  request: RequestOf<P>,
  turn: Turn,
) => Promise<Answer<P>> | Answer<P>

/** The peers as the exchange sees them. */
export interface Conduct {
  /** Undefined for peers that are gone. */
  budgetOf(peer: PeerId): Budget | undefined
  report(peer: PeerId, offence: Offence, about: string): void
  isReady(peer: PeerId): boolean
}

const ANSWERED = 0
const REFUSED = 1
/** A deadline that we notice this late was missed because our own thread stood still. */
const LATE_MS = 1_000
/** Requests that a refusal as `busy` takes off a peer's allowance. Refusing costs us too, so a peer should not keep asking. */
export const REFUSED_REQUESTS = 20

/** Hears latencies and counts of requests, for metrics. */
export interface ExchangeListener {
  asked(protocol: ProtocolName, outcome: 'answered' | 'refused' | 'failed', ms: number, bytes: number): void
  answered(protocol: ProtocolName, outcome: 'answered' | 'refused', bytes: number): void
}

/** Typed requests and replies over a network, with budgets and blame for broken rules. The caller judges whether a reply is true. */
export class Exchange {
  readonly #network: Network
  readonly #conduct: Conduct
  readonly #clock: Clock
  readonly #listeners: ExchangeListener[] = []
  readonly #serving: Serving
  readonly #running = new Map<string, number>()

  constructor(network: Network, conduct: Conduct, clock: Clock, serving: Serving) {
    this.#network = network
    this.#conduct = conduct
    this.#clock = clock
    this.#serving = serving
  }

  onExchange(listener: ExchangeListener): void {
    this.#listeners.push(listener)
  }

  /**
   * Asks a peer. Faults: `p2p/unreachable`; `p2p/refused` with the reason; `p2p/timeout`, `p2p/too-large` and `p2p/malformed`, for which
   * the peer is reported here, except for a timeout that is our own fault.
   */
  async ask<P extends ProtocolName>(peer: PeerId, protocol: P, request: RequestOf<P>): Promise<Result<ReplyOf<P>>> {
    const startedMs = this.#clock.now()
    const body = encode(requestCodec(protocol), request)
    const raw = await this.#network.request(peer, protocol, body)
    const result = raw.ok ? this.#read(peer, protocol, raw.value) : this.#failed(peer, protocol, raw.fault, startedMs)
    const outcome = result.ok ? 'answered' : result.fault.code === 'p2p/refused' ? 'refused' : 'failed'
    const ms = this.#clock.now() - startedMs
    for (const listener of this.#listeners) listener.asked(protocol, outcome, ms, raw.ok ? raw.value.length : 0)
    return result
  }

  answer<P extends ProtocolName>(protocol: P, answerer: Answerer<P>): void {
    this.#network.serve(protocol, async (from, body) => {
      const bytes = await this.#answerOne(protocol, answerer, from, body)
      const outcome = bytes[0] === REFUSED ? 'refused' : 'answered'
      for (const listener of this.#listeners) listener.answered(protocol, outcome, bytes.length)
      return this.#conduct.budgetOf(from)?.take('bytesOut', bytes.length) === false ? refusalBytes('busy') : bytes
    })
  }

  async #answerOne<P extends ProtocolName>(
    ...[protocol, answerer, from, body]: [P, Answerer<P>, PeerId, Uint8Array]
  ): Promise<Uint8Array> {
    const turn = this.#serving.begin()
    const request = this.#readRequest(protocol, from, body)
    const slot = `${from} ${protocol}`
    const running = this.#running.get(slot) ?? 0
    if (typeof request === 'string' || running >= PROTOCOLS[protocol].concurrentMax)
      return this.#refuse(from, turn, typeof request === 'string' ? request : 'busy')
    this.#running.set(slot, running + 1)
    try {
      // A peer that gets no status from us ends the connection. Its status requests are few.
      const must = protocol === 'status'
      turn.stop()
      const isIn = await this.#serving.enter(from, protocol, turn, must)
      // Only now, after the wait. Otherwise each of many requests that are admitted together would count the work of those before it.
      turn.start()
      if (!isIn) return this.#refuse(from, turn, 'busy')
      const answer = await answerer(from, request, turn)
      const bytes = 'refusal' in answer ? refusalBytes(answer.refusal) : replyBytes(protocol, answer.reply)
      this.#serving.settle(from, protocol, turn, bytes.length)
      return bytes
    } finally {
      const left = (this.#running.get(slot) as number) - 1
      if (left === 0) this.#running.delete(slot)
      else this.#running.set(slot, left)
    }
  }

  #refuse(from: PeerId, turn: Turn, refusal: Refusal): Uint8Array {
    this.#serving.refused(from, turn)
    if (refusal === 'busy') this.#conduct.budgetOf(from)?.take('requests', REFUSED_REQUESTS)
    return refusalBytes(refusal)
  }

  /** The decoded request, or the reason to refuse it. The peer is charged for the request and its bytes. */
  #readRequest<P extends ProtocolName>(protocol: P, from: PeerId, body: Uint8Array): RequestOf<P> | Refusal {
    const budget = this.#conduct.budgetOf(from)
    if (budget === undefined) return 'not-ready'
    const allowed = budget.take('requests', 1) && (protocol !== 'status' || budget.take('statuses', 1))
    if (!(allowed && budget.take('bytesIn', body.length))) {
      this.#conduct.report(from, 'flood', protocol)
      return 'busy'
    }
    if (protocol !== 'status' && !this.#conduct.isReady(from)) return 'not-ready'
    const request = decode(requestCodec(protocol), body)
    const wrong = request.ok ? breachOf(protocol, request.value) : String(request.fault.detail.reason)
    if (request.ok && wrong === null) return request.value
    this.#conduct.report(from, 'malformed', `${protocol}: ${wrong}`)
    return 'unknown'
  }

  #read<P extends ProtocolName>(peer: PeerId, protocol: P, bytes: Uint8Array): Result<ReplyOf<P>> {
    const rest = bytes.subarray(1)
    if (bytes[0] === REFUSED) {
      const reason = decodeText(rest)
      if (REFUSALS.includes(reason as Refusal))
        return fail(fault('p2p/refused', { protocol, reason: reason as string }))
    }
    if (bytes[0] !== ANSWERED) return this.#malformed(peer, protocol, 'neither reply nor refusal')
    const reply = decode(replyCodec(protocol), rest)
    return reply.ok ? reply : this.#malformed(peer, protocol, String(reply.fault.detail.reason))
  }

  #malformed(peer: PeerId, protocol: ProtocolName, reason: string): Result<never> {
    this.#conduct.report(peer, 'malformed', `${protocol}: ${reason}`)
    return fail(fault('p2p/malformed', { protocol, reason }))
  }

  #failed(...[peer, protocol, cause, startedMs]: [PeerId, ProtocolName, Fault, number]): Result<never> {
    const isLate = this.#clock.now() - startedMs > PROTOCOLS[protocol].deadlineMs + LATE_MS
    if (cause.code === 'p2p/timeout' && !isLate) this.#conduct.report(peer, 'timeout', protocol)
    if (cause.code === 'p2p/too-large') this.#conduct.report(peer, 'oversize', protocol)
    return fail(cause)
  }
}

function replyBytes<P extends ProtocolName>(protocol: P, reply: ReplyOf<P>): Uint8Array {
  const encoded = encode(replyCodec(protocol), reply)
  const bytes = new Uint8Array(1 + encoded.length)
  bytes[0] = ANSWERED
  bytes.set(encoded, 1)
  return bytes
}

function refusalBytes(refusal: Refusal): Uint8Array {
  return Uint8Array.of(REFUSED, ...encodeText(refusal))
}
