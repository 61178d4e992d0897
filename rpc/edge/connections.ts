import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import type { HttpLimits } from '../server/limits.ts'
import { addressKey, holderOf } from './client-key.ts'
import type { IsProxy } from './proxies.ts'
import { refusalOf } from './unreadable.ts'

/** Time between checks of all connections. */
export const LOOK_MS = 1_000
/** Time for which the node reads on after it answered a request that had not come whole. */
export const LINGER_MS = 5_000
/** Bytes that it reads and drops meanwhile: more than the longest body of a route. */
export const LINGER_BYTES_MAX = 33_554_432
/** The same where it could read no request: these bytes are counted for no network. */
const UNREADABLE_BYTES_MAX = 1_048_576

interface Connection {
  readonly socket: Socket
  readonly holder: Holder
  /** Whether the other end is a trusted proxy, which speaks for many clients. */
  readonly isProxy: boolean
  /** Unfinished answers, in the order in which they go out. */
  readonly owed: Set<ServerResponse>
  /** Bytes that the client had not taken at the last check. */
  unsent: number
  /** Since when these bytes have not become fewer. */
  stuckSinceMs: number
  /** Whether it exceeded `unansweredMax`, or had its last answer. No more requests of it are served. */
  isOver: boolean
  /** The newest request, until the connection is idle. */
  request: IncomingMessage | null
}

/** Bounds of {@link Connections}. */
export type ConnectionLimits = Pick<
  HttpLimits,
  'connectionsMax' | 'idlePerAddressMax' | 'unansweredMax' | 'stuckMsMax' | 'streams'
>

/** Idle connections of an address. The longest idle is in front. */
type Idle = Set<Connection>

interface IdleNetwork {
  count: number
  readonly addresses: Map<string, Idle>
}

/**
 * The connections of a server. Too many idle ones of an address cost its longest idle one, too many of all cost one of the
 * network with most. A connection with too many unanswered requests, or that does not take its answers, is closed.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #isProxy: IsProxy
  readonly #all = new Map<Socket, Connection>()
  readonly #idle = new Map<string, IdleNetwork>()
  readonly #timer: NodeJS.Timeout
  #idleCount = 0

  constructor(limits: ConnectionLimits, isProxy: IsProxy) {
    this.#limits = limits
    this.#isProxy = isProxy
    this.#timer = setInterval(() => this.#look(performance.now()), LOOK_MS).unref()
  }

  get count(): number {
    return this.#all.size
  }

  /**
   * Counts a new connection, or ends it if there are too many. Node's `maxConnections` is not enough: it counts
   * the connections of one listener only.
   */
  opened(socket: Socket): void {
    if (this.#all.size >= this.#limits.connectionsMax) {
      socket.destroy()
      return
    }
    const holder = holderOf(addressKey(socket.remoteAddress ?? ''))
    const isProxy = this.#isProxy(socket.remoteAddress)
    const state = { owed: new Set<ServerResponse>(), unsent: 0, stuckSinceMs: 0, isOver: false, request: null }
    const connection: Connection = { socket, holder, isProxy, ...state }
    this.#all.set(socket, connection)
    const { destroySoon } = socket
    // Node and `refuseOn` call it after the last answer.
    socket.destroySoon = () => {
      const { owed, request, isOver } = connection
      // A request that is given up has no answer that is ended. Its connection goes at once, and with it what came of its body.
      const isAnswered = [...owed].every(({ writableEnded }) => writableEnded)
      if (isOver || !isAnswered || request?.complete === true || !socket.writable) destroySoon.call(socket)
      else this.#linger(connection)
    }
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#busy(connection)
    })
    this.#rest(connection)
  }

  /** Whether a request may be served. One request too many on a connection is refused here, and ends the connection. */
  admits(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request
    const connection = this.#all.get(socket)
    if (connection === undefined || connection.isOver) return false
    // The connection was reset before it was accepted: there is no client, and no address to count it for.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return false
    }
    const { owed } = connection
    const isOver = owed.size >= this.#limits.unansweredMax
    if (owed.size === 0) this.#busy(connection)
    owed.add(response)
    connection.request = request
    response.once('close', () => {
      owed.delete(response)
      if (owed.size > 0 || socket.destroyed) return
      connection.request = null
      this.#rest(connection)
    })
    if (isOver) this.#refuse(connection, response)
    return !isOver
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #refuse(connection: Connection, response: ServerResponse): void {
    connection.isOver = true
    const { socket } = connection
    const { status, headers, body } = refusalOf(fault('rpc/too-many-at-once', { seconds: 1 }))
    response.writeHead(status, headers).end(body)
    // Node parses what it has read already, and resumes reading after each answer.
    socket.pause()
    socket.on('resume', () => socket.pause())
  }

  /**
   * Ends a connection whose client may still be sending, in the steps of RFC 9112, section 9.6. If it were closed while
   * bytes are unread, the system would reset it, and the client could lose the answer. So the node drops what still comes,
   * up to a bound. The connection has no request under way, so it counts as idle, and gives way to others.
   */
  #linger(connection: Connection): void {
    const { socket, request } = connection
    connection.isOver = true
    let left = request === null ? UNREADABLE_BYTES_MAX : LINGER_BYTES_MAX
    // Node's parser gets no more.
    socket.removeAllListeners('data').on('data', ({ length }) => {
      left -= length
      if (left < 0) socket.destroy()
    })
    socket.resume()
    // The time begins when the answer is out. Before, the client has the time that each client has to take an answer.
    socket.end(() => {
      const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
      socket.once('close', () => clearTimeout(timer))
    })
  }

  #rest(connection: Connection): void {
    const { network, address } = connection.holder
    const idle = this.#idle.get(network) ?? { count: 0, addresses: new Map<string, Idle>() }
    const own: Idle = idle.addresses.get(address) ?? new Set()
    this.#idle.set(network, idle)
    idle.addresses.set(address, own)
    own.add(connection)
    idle.count += 1
    this.#idleCount += 1
    // A proxy speaks for many clients. Limits for these clients are counted by request.
    if (!connection.isProxy && own.size > this.#limits.idlePerAddressMax) this.#endLongest(own)
    // Half of all connections is kept for those with a request under way.
    if (this.#idleCount > this.#limits.connectionsMax / 2) this.#endLongest(this.#largest())
  }

  #busy(connection: Connection): void {
    const { network, address } = connection.holder
    const idle = this.#idle.get(network)
    const own = idle?.addresses.get(address)
    if (idle === undefined || own?.delete(connection) !== true) return
    idle.count -= 1
    this.#idleCount -= 1
    if (own.size === 0) idle.addresses.delete(address)
    if (idle.count === 0) this.#idle.delete(network)
  }

  #endLongest([longest]: Iterable<Connection>): void {
    if (longest === undefined) return
    this.#busy(longest)
    longest.socket.destroy()
  }

  /** The idle connections of the address with most, in the network with most. */
  #largest(): Idle {
    let network: IdleNetwork = { count: 0, addresses: new Map() }
    for (const one of this.#idle.values()) if (one.count > network.count) network = one
    let largest: Idle = new Set()
    for (const own of network.addresses.values()) if (own.size > largest.size) largest = own
    return largest
  }

  #look(nowMs: number): void {
    const { stuckMsMax, streams } = this.#limits
    for (const connection of this.#all.values()) {
      const { socket, owed } = connection
      const unsent = unsentOf(socket)
      const isStuck = unsent > 0 && unsent >= connection.unsent && connection.unsent > 0
      connection.unsent = unsent
      if (!isStuck) connection.stuckSinceMs = nowMs
      const [first] = owed
      // An answer that is written while it is made has the limit of streams.
      const msMax = first === undefined || first.writableEnded ? stuckMsMax : streams.behindMsMax
      if (isStuck && nowMs - connection.stuckSinceMs >= msMax) socket.destroy()
    }
  }
}

/** Bytes written and not yet taken. Only the handle knows what is left of a long piece in flight. */
function unsentOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}
