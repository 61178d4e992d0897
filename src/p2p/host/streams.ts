import type { Connection, Stream } from '@libp2p/interface'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { NetworkLog, PeerId, RequestHandler } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import { CHANNELS, type ChannelName, protocolId } from '../wire/protocols.ts'
import type { Blame, Link, Links } from './links.ts'
import { MessageReader, type Reading } from './message-reader.ts'
import { varint } from './protobuf.ts'

/** Most requests of ours that may be under way at one peer. */
export const ASKED_MAX = 64
/** Most streams that a peer may have open in one protocol, for each of the `concurrentMax` requests that are answered at the same time. */
const STREAMS_PER_ANSWER = 4
/** Time in which a peer must have sent its request. Requests are small, so a slower peer holds a stream for nothing. */
const REQUEST_MS = 5_000
/** Bytes of framing and protocol names that come with an answer. */
const OVERHEAD_BYTES = 512

/** What requests work with. */
export interface RequestsDependencies {
  /** Hex. */
  readonly genesis: string
  readonly links: Links
  readonly blame: Blame
  readonly log: NetworkLog
}

/** The exchange of one stream. It ends by itself, at its deadline, or when the host stops. */
interface Exchange {
  readonly signal: AbortSignal
  end(): void
}

/** Requests and their answers, each pair on a stream of its own: see docs/spec/p2p.md, section 1. */
export class Requests {
  readonly #deps: RequestsDependencies
  readonly #exchanges = new Set<AbortController>()
  readonly #rooms = new Map<PeerId, ReplyRoom>()
  readonly #asked = new Map<PeerId, number>()
  #stopped = false

  constructor(dependencies: RequestsDependencies) {
    this.#deps = dependencies
  }

  static streamsMax(protocol: ChannelName): number {
    return CHANNELS[protocol].concurrentMax * STREAMS_PER_ANSWER
  }

  /** Faults: `p2p/unreachable`, `p2p/timeout`, `p2p/too-large`. */
  async ask(peer: PeerId, protocol: ChannelName, body: Uint8Array): Promise<Result<Uint8Array>> {
    const { requestMax, deadlineMs } = CHANNELS[protocol]
    if (body.length > requestMax) return fail(fault('p2p/too-large', { protocol, bytesMax: requestMax }))
    const link = this.#deps.links.of(peer)
    if (link === undefined || this.#stopped) return unreachable('it is not connected')
    const asked = this.#asked.get(peer) ?? 0
    if (asked >= ASKED_MAX) return unreachable('too many requests are under way')
    this.#asked.set(peer, asked + 1)
    const exchange = this.#begin(deadlineMs)
    try {
      return await this.#askOver(link, protocol, body, exchange.signal)
    } finally {
      exchange.end()
      const left = (this.#asked.get(peer) as number) - 1
      if (left > 0) this.#asked.set(peer, left)
      else this.#asked.delete(peer)
    }
  }

  /** It never rejects. */
  async answer(
    ...[protocol, handler, stream, connection]: [ChannelName, RequestHandler, Stream, Connection]
  ): Promise<void> {
    const exchange = this.#begin(CHANNELS[protocol].deadlineMs)
    const reset = (): void => stream.abort(new Error('the deadline passed'))
    exchange.signal.addEventListener('abort', reset, { once: true })
    try {
      if (this.#stopped) reset()
      else await this.#answerOver(protocol, handler, stream, connection, exchange.signal)
    } catch (error) {
      this.#deps.log.warn({ protocol, reason: reasonOf(error) }, 'a request could not be answered')
      stream.abort(new Error('no answer'))
    } finally {
      exchange.signal.removeEventListener('abort', reset)
      exchange.end()
    }
  }

  stop(): void {
    this.#stopped = true
    for (const controller of this.#exchanges) controller.abort()
  }

  async #askOver(
    ...[link, protocol, body, signal]: [Link, ChannelName, Uint8Array, AbortSignal]
  ): Promise<Result<Uint8Array>> {
    const { replyMax, deadlineMs } = CHANNELS[protocol]
    let stream: Stream | undefined
    try {
      stream = await link.connection.newStream([protocolId(this.#deps.genesis, protocol)], {
        signal,
        maxOutboundStreams: ASKED_MAX,
      })
      const reading = await unlessAborted(this.#converse(stream, link, protocol, body), signal)
      if (reading.kind === 'message') return ok(reading.bytes)
      if (reading.kind === 'oversize') return fail(fault('p2p/too-large', { protocol, bytesMax: replyMax }))
      return unreachable('it ended the stream')
    } catch (error) {
      return signal.aborted && !this.#stopped
        ? fail(fault('p2p/timeout', { protocol, ms: deadlineMs }))
        : unreachable(reasonOf(error))
    } finally {
      if (stream?.status === 'open') stream.abort(new Error('the exchange is over'))
    }
  }

  async #converse(...[stream, link, protocol, body]: [Stream, Link, ChannelName, Uint8Array]): Promise<Reading> {
    const { replyMax } = CHANNELS[protocol]
    let wanted = replyMax
    link.unaskedBytes.giveBack(OVERHEAD_BYTES)
    const reader = new MessageReader(stream, {
      bytesMax: replyMax,
      onBytes: (bytes) => {
        link.unaskedBytes.giveBack(Math.min(bytes, wanted))
        wanted = Math.max(0, wanted - bytes)
      },
      onJunk: () => this.#deps.links.expel(link.peer, 'malformed', `${protocol}: bytes behind the reply`),
    })
    // Not awaited: a peer that refuses may answer before it has read the whole request.
    void writeMessage(stream, body)
    return await reader.done
  }

  async #answerOver(
    ...[protocol, handler, stream, connection, signal]: [ChannelName, RequestHandler, Stream, Connection, AbortSignal]
  ): Promise<void> {
    const peer = connection.remotePeer.toString() as PeerId
    const body = await this.#readRequest(protocol, peer, stream)
    if (body === undefined) return
    // Requests of the other protocols have limits of their own, so their streams are not counted as opened.
    if (protocol !== 'kad') this.#deps.links.requested(connection)
    const room = this.#rooms.get(peer) ?? new ReplyRoom()
    this.#rooms.set(peer, room)
    let held: number = CHANNELS[protocol].replyMax
    if (!(await room.take(held, signal))) return
    try {
      const reply = await handler(peer, body)
      room.free(held - Math.min(held, reply.length))
      held = Math.min(held, reply.length)
      await this.#reply(protocol, peer, stream, reply)
    } finally {
      room.free(held)
      if (room.empty) this.#rooms.delete(peer)
    }
  }

  async #readRequest(protocol: ChannelName, peer: PeerId, stream: Stream): Promise<Uint8Array | undefined> {
    const expel = (offence: Offence, about: string): void =>
      this.#deps.links.expel(peer, offence, `${protocol}: ${about}`)
    const timer = setTimeout(() => {
      this.#deps.blame(peer, 'timeout', `${protocol}: its request takes too long`)
      stream.abort(new Error('the request takes too long'))
    }, REQUEST_MS)
    const reader = new MessageReader(stream, {
      bytesMax: CHANNELS[protocol].requestMax,
      onBytes: () => {},
      onJunk: () => expel('malformed', 'bytes behind the request'),
    })
    const reading = await reader.done
    clearTimeout(timer)
    if (reading.kind === 'message') return reading.bytes
    if (reading.kind === 'oversize') expel('oversize', 'a request longer than allowed')
    if (reading.kind === 'partial') expel('malformed', 'a request that ends in the middle')
    stream.abort(new Error('no request'))
    return undefined
  }

  async #reply(protocol: ChannelName, peer: PeerId, stream: Stream, reply: Uint8Array): Promise<void> {
    if (reply.length > CHANNELS[protocol].replyMax) throw new Error(`a reply of ${reply.length} bytes`)
    const written: Written = await writeMessage(stream, reply)
    if (written === 'stalled') this.#deps.links.expel(peer, 'timeout', `${protocol}: it does not read`)
  }

  #begin(deadlineMs: number): Exchange {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(), deadlineMs)
    this.#exchanges.add(controller)
    const end = (): void => {
      clearTimeout(timer)
      this.#exchanges.delete(controller)
    }
    return { signal: controller.signal, end }
  }
}

function unreachable(reason: string): Result<never> {
  return fail(fault('p2p/unreachable', { reason }))
}

/** Reason of a libp2p failure, which is an error or a stream event. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : 'the stream closed'
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('aborted'))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

const MIB = 1_048_576

/**
 * Most bytes of replies to one peer that are made or written at the same time. Four of the longest fit. Further replies wait, so a peer
 * that does not read costs no more memory than this.
 */
const REPLY_BYTES_MAX = 4.5 * MIB

interface Waiter {
  readonly bytes: number
  readonly admit: (admitted: boolean) => void
}

class ReplyRoom {
  #taken = 0
  readonly #waiters = new Set<Waiter>()

  get empty(): boolean {
    return this.#taken === 0 && this.#waiters.size === 0
  }

  /** Waits for room; false if the signal ends the wait. Small replies overtake large ones. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#taken + bytes <= REPLY_BYTES_MAX) {
      this.#taken += bytes
      return true
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiter = { bytes, admit: resolve }
    const giveUp = (): void => {
      if (this.#waiters.delete(waiter)) resolve(false)
    }
    this.#waiters.add(waiter)
    signal.addEventListener('abort', giveUp, { once: true })
    const admitted = await promise
    signal.removeEventListener('abort', giveUp)
    return admitted
  }

  free(bytes: number): void {
    this.#taken -= bytes
    for (const waiter of this.#waiters) {
      if (this.#taken + waiter.bytes > REPLY_BYTES_MAX) continue
      this.#taken += waiter.bytes
      this.#waiters.delete(waiter)
      waiter.admit(true)
    }
  }
}

/** How writing ended. `stalled`: the other end took nothing for too long. */
export type Written = 'written' | 'stalled' | 'closed'

/** Bytes handed to the muxer in one call. That much of every stream may wait in the queue of a full connection. */
const CHUNK_BYTES = 32 * 1_024
/** A peer that takes not even one chunk in this time does not read. */
const STALL_MS = 8_000

/**
 * Writes the length of one message as an unsigned varint, then the message, and closes our end. The stream never holds more than a chunk,
 * because `send` queues without limit. `stream.onDrain` is not used: it keeps its first promise for ever.
 */
export async function writeMessage(stream: Stream, bytes: Uint8Array): Promise<Written> {
  const prefix = varint(bytes.length)
  const first = new Uint8Array(prefix.length + Math.min(bytes.length, CHUNK_BYTES))
  first.set(prefix)
  first.set(bytes.subarray(0, CHUNK_BYTES), prefix.length)
  let written = await writeChunk(stream, first)
  for (let at = CHUNK_BYTES; at < bytes.length && written === 'written'; at += CHUNK_BYTES) {
    written = await writeChunk(stream, bytes.subarray(at, at + CHUNK_BYTES))
  }
  return written === 'written' ? await closeWrite(stream) : written
}

async function writeChunk(stream: Stream, chunk: Uint8Array): Promise<Written> {
  try {
    stream.send(chunk)
  } catch {
    return 'closed'
  }
  while (isFull(stream)) {
    const woken = await nextDrain(stream)
    if (woken !== 'written') return woken
  }
  return stream.status === 'open' ? 'written' : 'closed'
}

async function closeWrite(stream: Stream): Promise<Written> {
  try {
    await stream.close({ signal: AbortSignal.timeout(STALL_MS) })
    return 'written'
  } catch {
    return 'closed'
  }
}

function isFull(stream: Stream): boolean {
  return stream.status === 'open' && (stream.writeBufferLength > 0 || stream.writableNeedsDrain)
}

function nextDrain(stream: Stream): Promise<Written> {
  return new Promise((resolve) => {
    const settle = (outcome: Written): void => {
      clearTimeout(timer)
      stream.removeEventListener('drain', onDrain)
      stream.removeEventListener('idle', onDrain)
      stream.removeEventListener('close', onClose)
      resolve(outcome)
    }
    const onDrain = (): void => settle('written')
    const onClose = (): void => settle('closed')
    const timer = setTimeout(() => settle('stalled'), STALL_MS)
    stream.addEventListener('drain', onDrain)
    stream.addEventListener('idle', onDrain)
    stream.addEventListener('close', onClose)
  })
}
