import { hash } from 'node:crypto'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type {
  ConnectionListener,
  GossipJudge,
  JudgingTime,
  Network,
  PeerId,
  PeerInfo,
  RequestHandler,
  TopicName,
  Verdict,
} from '../../../src/p2p/network.ts'
import { PROTOCOLS, type ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import type { VirtualTime } from '../sim/virtual-clock.ts'

/** Latency of every message, in milliseconds. */
export const LINK_MS = 1

/** A node of a {@link MemoryNetwork}. Messages take virtual time. Accepted gossip goes on to all other neighbours. */
export class MemoryPeer implements Network {
  readonly self: PeerId
  /** The verdict on every gossiped message that this node judged, in order. */
  readonly verdicts: { readonly from: PeerId; readonly topic: TopicName; readonly verdict: Verdict }[] = []
  /** Connections that this node ended. */
  readonly ended: { readonly peer: PeerId; readonly reason: string; readonly banned: boolean }[] = []
  /** Requests that reached this node. */
  readonly requests: { readonly from: PeerId; readonly protocol: ProtocolName }[] = []
  /** Measures how long this node judges messages. Undefined: judging takes no time. */
  judging: JudgingTime | undefined
  readonly #hub: MemoryNetwork
  readonly #links = new Map<PeerId, PeerInfo>()
  readonly #listeners: ConnectionListener[] = []
  readonly #handlers = new Map<ProtocolName, RequestHandler>()
  readonly #judges = new Map<TopicName, GossipJudge>()
  readonly #seen = new Set<string>()

  constructor(hub: MemoryNetwork, name: string) {
    this.#hub = hub
    this.self = name as PeerId
  }

  peers(): readonly PeerInfo[] {
    return [...this.#links.values()]
  }

  onConnection(listener: ConnectionListener): void {
    this.#listeners.push(listener)
  }

  serve(protocol: ProtocolName, handler: RequestHandler): void {
    this.#handlers.set(protocol, handler)
  }

  subscribe(topic: TopicName, judge: GossipJudge): void {
    this.#judges.set(topic, judge)
  }

  request(peer: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Result<Uint8Array>> {
    const { deadlineMs } = PROTOCOLS[protocol]
    return new Promise((resolve) => {
      this.#hub.time.after(deadlineMs, () => resolve(fail(fault('p2p/timeout', { protocol, ms: deadlineMs }))))
      if (!this.#links.has(peer)) resolve(fail(fault('p2p/unreachable', { reason: 'not connected' })))
      else
        void this.#hub
          .peer(peer)
          .#answer(this.self, protocol, body)
          .then((reply) => resolve(ok(reply)))
    })
  }

  publish(topic: TopicName, body: Uint8Array): void {
    const id = hash('sha256', body)
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    for (const neighbour of this.#links.keys()) this.send(neighbour, topic, body)
  }

  /** Sends gossip to one neighbour, even if it was sent before. */
  send(neighbour: PeerId, topic: TopicName, body: Uint8Array): void {
    this.#hub.time.after(LINK_MS, () => void this.#hub.peer(neighbour).#hear(this.self, topic, body))
  }

  disconnect(peer: PeerId, reason: string, banned = false): void {
    if (!this.#links.has(peer)) return
    this.ended.push({ peer, reason, banned })
    this.#hub.part(this.self, peer)
  }

  /** For the network. */
  joined(info: PeerInfo): void {
    this.#links.set(info.id, info)
    for (const listener of this.#listeners) listener.connected(info)
  }

  /** For the network. */
  left(id: PeerId): void {
    this.#links.delete(id)
    for (const listener of this.#listeners) listener.disconnected(id)
  }

  #answer(from: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve) => {
      this.#hub.time.after(LINK_MS, () => {
        this.requests.push({ from, protocol })
        void this.#handlers
          .get(protocol)?.(from, body)
          .then((reply) => this.#hub.time.after(LINK_MS, () => resolve(reply)))
      })
    })
  }

  /** A message that was passed on is not judged again. One that was not may be good from another peer, and is judged again. */
  async #hear(from: PeerId, topic: TopicName, body: Uint8Array): Promise<void> {
    const id = hash('sha256', body)
    const judge = this.#judges.get(topic)
    if (judge === undefined || !this.#links.has(from) || this.#seen.has(id)) return
    const verdict = await judge(from, body, this.judging)
    this.verdicts.push({ from, topic, verdict })
    if (verdict !== 'accept' || this.#seen.has(id)) return
    this.#seen.add(id)
    for (const neighbour of this.#links.keys()) if (neighbour !== from) this.send(neighbour, topic, body)
  }
}

/** Nodes in one process that talk over virtual time. */
export class MemoryNetwork {
  readonly time: VirtualTime
  readonly #peers = new Map<PeerId, MemoryPeer>()

  constructor(time: VirtualTime) {
    this.time = time
  }

  join(name: string): MemoryPeer {
    const peer = new MemoryPeer(this, name)
    this.#peers.set(peer.self, peer)
    return peer
  }

  peer(id: PeerId): MemoryPeer {
    return this.#peers.get(id) as MemoryPeer
  }

  connect(dialer: MemoryPeer, listener: MemoryPeer): void {
    dialer.joined({ id: listener.self, direction: 'outbound', address: `/memory/${listener.self}` })
    listener.joined({ id: dialer.self, direction: 'inbound', address: `/memory/${dialer.self}` })
  }

  part(one: PeerId, other: PeerId): void {
    this.peer(one).left(other)
    this.peer(other).left(one)
  }
}
