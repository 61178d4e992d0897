import { fault } from '../../../consensus/primitives/fault.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type {
  ConnectionListener,
  GossipJudge,
  Network,
  PeerId,
  PeerInfo,
  RequestHandler,
  TopicName,
} from '../../../src/p2p/network.ts'
import { PROTOCOLS, type ProtocolName, TOPIC_BYTES_MAX } from '../../../src/p2p/wire/protocols.ts'
import type { EventLog } from './event-log.ts'
import type { VirtualTime } from './virtual-clock.ts'

/** Properties of all links. */
export interface Weather {
  /** Range of one-way latencies, ms. Each link has its own. */
  readonly latencyMs: readonly [number, number]
  /** Most extra delay of a message, ms. */
  readonly jitterMs: number
  /** Bytes that a link carries in a millisecond, each way. */
  readonly bytesPerMs: number
  /** Share of requests and of replies that never arrive. */
  readonly requestLoss: number
  /** Share of gossiped messages that never arrive, drawn for each link. */
  readonly gossipLoss: number
}

/** A connection. It is outbound for the dialer. */
export interface Link {
  readonly dialer: Endpoint
  readonly listener: Endpoint
  readonly latencyMs: number
  /** Whether gossip is passed along it. */
  mesh: boolean
  open: boolean
  /** When each direction is free again, by the sender's name. */
  readonly busyUntilMs: Map<string, number>
}

/** The network as an endpoint sees it. */
export interface Medium {
  readonly time: VirtualTime
  readonly log: EventLog
  readonly weather: Weather
  linkOf(endpoint: Endpoint, peer: string): Link | undefined
  /** Links along which a node passes gossip. */
  meshOf(endpoint: Endpoint): readonly Link[]
  /** Milliseconds until a message sent now arrives. Undefined if it never does. */
  transit(link: Link, from: Endpoint, bytes: number, loss: number): number | undefined
  gossipId(topic: TopicName, body: Uint8Array): string
  /** Ends a connection on behalf of a node. */
  part(by: Endpoint, from: string, reason: string, banned: boolean): void
}

/** How many gossiped messages a node remembers. */
const SEEN_MAX = 20_000

interface Waiting {
  readonly link: Link
  settle(result: Result<Uint8Array>): void
}

/** A node on the virtual network, from start to crash. */
export class Endpoint implements Network {
  readonly self: PeerId
  readonly outboundWanted: number
  closed = false
  readonly #network: Medium
  readonly #peers = new Map<PeerId, PeerInfo>()
  readonly #listeners: ConnectionListener[] = []
  readonly #handlers = new Map<ProtocolName, RequestHandler>()
  readonly #judges = new Map<TopicName, GossipJudge>()
  readonly #seen = new LruMap<string, 'seen' | 'passed'>(SEEN_MAX)
  readonly #waiting = new Set<Waiting>()

  constructor(name: string, network: Medium, outboundWanted: number) {
    this.self = name as PeerId
    this.#network = network
    this.outboundWanted = outboundWanted
  }

  peers(): readonly PeerInfo[] {
    return [...this.#peers.values()]
  }

  onConnection(listener: ConnectionListener): void {
    this.#listeners.push(listener)
  }

  serve(protocol: ProtocolName, handler: RequestHandler): void {
    if (this.#handlers.has(protocol)) throw new Error(`${protocol} is served already`)
    this.#handlers.set(protocol, handler)
  }

  subscribe(topic: TopicName, judge: GossipJudge): void {
    if (this.#judges.has(topic)) throw new Error(`${topic} is judged already`)
    this.#judges.set(topic, judge)
  }

  disconnect(peer: PeerId, reason: string, banned = false): void {
    if (!this.closed) this.#network.part(this, peer, reason, banned)
  }

  request(peer: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Result<Uint8Array>> {
    const link = this.closed ? undefined : this.#network.linkOf(this, peer)
    const { requestMax, deadlineMs } = PROTOCOLS[protocol]
    if (link === undefined) return Promise.resolve(fail(fault('p2p/unreachable', { reason: 'not connected' })))
    if (body.length > requestMax)
      return Promise.resolve(fail(fault('p2p/too-large', { protocol, bytesMax: requestMax })))
    return new Promise((resolve) => {
      const waiting: Waiting = {
        link,
        settle: (result) => {
          if (!this.#waiting.delete(waiting)) return
          cancel()
          resolve(result)
        },
      }
      this.#waiting.add(waiting)
      const cancel = this.#network.time.after(deadlineMs, () => {
        this.#note(`timeout ${this.self} ${peer} ${protocol}`)
        waiting.settle(fail(fault('p2p/timeout', { protocol, ms: deadlineMs })))
      })
      this.#send(waiting, protocol, body)
    })
  }

  publish(topic: TopicName, body: Uint8Array): void {
    if (this.closed) return
    if (body.length > TOPIC_BYTES_MAX[topic]) throw new Error(`gossip of ${body.length} bytes on ${topic}`)
    this.#pass(topic, body)
  }

  /** For the network: a connection has begun. */
  joined(id: PeerId, direction: PeerInfo['direction']): void {
    if (this.closed) return
    const info: PeerInfo = { id, direction, address: `/virtual/${id}` }
    this.#peers.set(id, info)
    for (const listener of this.#listeners) listener.connected(info)
  }

  /** For the network: a connection has ended. */
  left(link: Link, id: PeerId): void {
    for (const waiting of [...this.#waiting]) {
      if (waiting.link === link) waiting.settle(fail(fault('p2p/unreachable', { reason: 'disconnected' })))
    }
    // The two nodes may be connected again already.
    if (this.#network.linkOf(this, id) !== undefined || !this.#peers.delete(id)) return
    for (const listener of this.#listeners) listener.disconnected(id)
  }

  /** For the network: the node is gone. Its open requests never get an answer. */
  close(): void {
    this.closed = true
    this.#waiting.clear()
  }

  #send(waiting: Waiting, protocol: ProtocolName, body: Uint8Array): void {
    const { link } = waiting
    const remote = link.dialer === this ? link.listener : link.dialer
    this.#carry(link, this, { bytes: body.length, loss: this.#network.weather.requestLoss }, () => {
      this.#note(`request ${this.self} ${remote.self} ${protocol} ${body.length}`)
      void remote.#answer(this.self, protocol, body).then((reply) => {
        if (reply === undefined || remote.closed || !link.open) return
        this.#carry(link, remote, { bytes: reply.length, loss: this.#network.weather.requestLoss }, () => {
          this.#note(`reply ${remote.self} ${this.self} ${protocol} ${reply.length}`)
          const { replyMax } = PROTOCOLS[protocol]
          if (reply.length <= replyMax) waiting.settle(ok(reply))
          else waiting.settle(fail(fault('p2p/too-large', { protocol, bytesMax: replyMax })))
        })
      })
    })
  }

  async #answer(from: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#handlers.get(protocol)?.(from, body)
  }

  /** Runs `arrived` when a message has arrived, unless the link is gone by then. */
  #carry(link: Link, from: Endpoint, message: { bytes: number; loss: number }, arrived: () => void): void {
    const ms = this.#network.transit(link, from, message.bytes, message.loss)
    if (ms === undefined) return
    this.#network.time.after(ms, () => {
      if (link.open) arrived()
    })
  }

  /** Sends a message along the mesh, once. */
  #pass(topic: TopicName, body: Uint8Array, source?: PeerId): void {
    const id = this.#network.gossipId(topic, body)
    if (this.#seen.get(id) === 'passed') return
    this.#seen.set(id, 'passed')
    for (const link of this.#network.meshOf(this)) {
      const remote = link.dialer === this ? link.listener : link.dialer
      if (remote.self === source) continue
      this.#carry(link, this, { bytes: body.length, loss: this.#network.weather.gossipLoss }, () => {
        void remote.#hear(this.self, topic, body)
      })
    }
  }

  async #hear(from: PeerId, topic: TopicName, body: Uint8Array): Promise<void> {
    const id = this.#network.gossipId(topic, body)
    const judge = this.#judges.get(topic)
    if (this.closed || judge === undefined || this.#seen.has(id)) return
    this.#seen.set(id, 'seen')
    const verdict = await judge(from, body)
    this.#note(`gossip ${from} ${this.self} ${id} ${verdict}`)
    if (verdict === 'unjudged') this.#seen.delete(id)
    if (verdict === 'accept' && !this.closed) this.#pass(topic, body, from)
  }

  #note(line: string): void {
    this.#network.log.note(`${this.#network.time.nowMs.toFixed(3)} ${line}`)
  }
}
