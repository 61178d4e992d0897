import { runPaced, UNPACED } from '../../consensus/chain/ports.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ProtocolName } from './wire/protocols.ts'

/** Name of a peer: the text of its libp2p id, or any unique name in a simulation. */
export type PeerId = string & { readonly __peerId: unique symbol }

/** A connected peer as the transport sees it. */
export interface PeerInfo {
  readonly id: PeerId
  readonly direction: 'inbound' | 'outbound'
  readonly address: string
}

/** Gossip topics. */
export type TopicName = 'blocks' | 'transactions'

/**
 * What a node does with a gossiped message. `accept`: pass it on. `ignore`: drop it without blame. `reject`: drop it and blame its sender.
 * `unjudged`: it was not looked at because of its sender, so the same message is still judged if another peer brings it.
 */
export type Verdict = 'accept' | 'ignore' | 'reject' | 'unjudged'

/** Hears of peers that come and go. */
export interface ConnectionListener {
  connected(peer: PeerInfo): void
  disconnected(id: PeerId): void
}

/** Answers a request. It never rejects. */
export type RequestHandler = (from: PeerId, body: Uint8Array) => Promise<Uint8Array>

/** Runs a piece of work and measures its main-thread time up to its first wait. */
export type Measure = <T>(work: () => T) => T

/** Measures the main-thread time of judging one message. The connection that brought it may be charged, see `INBOUND_WORK`. */
export interface JudgingTime {
  readonly measure: Measure
  /** Runs long work in slices. */
  run<T>(steps: Generator<void, T>): Promise<T>
}

/** For judging that takes no time, as on virtual time. */
export const UNMEASURED: JudgingTime = {
  measure: (work) => work(),
  run: (steps) => runPaced(steps, UNPACED),
}

/** Judges a gossiped message. It never rejects. */
export type GossipJudge = (from: PeerId, body: Uint8Array, time?: JudgingTime) => Promise<Verdict>

/** Carries messages between nodes, within the sizes and deadlines of the protocol table: libp2p in the daemon, virtual links in tests. */
export interface Network {
  readonly self: PeerId
  peers(): readonly PeerInfo[]
  onConnection(listener: ConnectionListener): void
  /** Sends one request and waits for its reply until the protocol's deadline. Faults: `p2p/unreachable`, `p2p/timeout`, `p2p/too-large`. */
  request(peer: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Result<Uint8Array>>
  /** Call it once for each protocol. */
  serve(protocol: ProtocolName, handler: RequestHandler): void
  /** Gives the gossip mesh a message of this node, or a peer's message that turned out good only later. */
  publish(topic: TopicName, body: Uint8Array): void
  /** Call it once for each topic. */
  subscribe(topic: TopicName, judge: GossipJudge): void
  disconnect(peer: PeerId, reason: string, banned?: boolean): void
}

/** Log of the network code. */
export interface NetworkLog {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}
