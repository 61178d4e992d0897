import { runPaced, UNPACED } from '../../consensus/chain/ports.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { ProtocolName } from './wire/protocols.ts'

/** Name of a peer: the text form of its libp2p id, or any unique name in a simulation. */
export type PeerId = string & { readonly __peerId: unique symbol }

/** A connected peer as the transport sees it. */
export interface PeerInfo {
  readonly id: PeerId
  readonly direction: 'inbound' | 'outbound'
  /** Multiaddr text of the other end. */
  readonly address: string
}

/** What is spread by gossip: every node passes it on once it found it good. */
export type TopicName = 'blocks' | 'transactions'

/**
 * What a node thinks of a gossiped message: pass it on; drop it, nobody is to blame; drop it, its sender is to blame; it was not
 * looked at because of who sent it, and the same from somebody else must be.
 */
export type Verdict = 'accept' | 'ignore' | 'reject' | 'unjudged'

/** Hears of peers that come and go. */
export interface ConnectionListener {
  connected(peer: PeerInfo): void
  disconnected(id: PeerId): void
}

/** Answers a request with the bytes of the reply. It never rejects. */
export type RequestHandler = (from: PeerId, body: Uint8Array) => Promise<Uint8Array>

/** Does a piece of work, up to where it first waits, and measures what that takes of the main thread. */
export type Measure = <T>(work: () => T) => T

/** What judging one message takes of the main thread: it is measured, and charged to the connection that the message came by. */
export interface JudgingTime {
  readonly measure: Measure
  /** Does what may take long, in slices. */
  run<T>(steps: Generator<void, T>): Promise<T>
}

/** Where judging takes no time, as on virtual time. */
export const UNMEASURED: JudgingTime = {
  measure: (work) => work(),
  run: (steps) => runPaced(steps, UNPACED),
}

/** Judges a gossiped message. It never rejects; a message is passed on only after `accept`. */
export type GossipJudge = (from: PeerId, body: Uint8Array, time?: JudgingTime) => Promise<Verdict>

/**
 * What carries messages between nodes: libp2p in the daemon, virtual links in the simulator. Sizes and deadlines of the
 * protocol table are enforced here, in both directions.
 */
export interface Network {
  /** Our own name. */
  readonly self: PeerId
  peers(): readonly PeerInfo[]
  onConnection(listener: ConnectionListener): void
  /**
   * Sends one request and waits for its one reply, for as long as the protocol's deadline at most. Faults: `p2p/unreachable`,
   * `p2p/timeout`, `p2p/too-large`.
   */
  request(peer: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Result<Uint8Array>>
  /** Sets who answers a protocol; once for each. */
  serve(protocol: ProtocolName, handler: RequestHandler): void
  /** Gives a message of our own, or one that was found good late, to the mesh. */
  publish(topic: TopicName, body: Uint8Array): void
  /** Sets who judges a topic; once for each. */
  subscribe(topic: TopicName, judge: GossipJudge): void
  /** Ends the connection; `banned` also keeps the peer away. */
  disconnect(peer: PeerId, reason: string, banned?: boolean): void
}

/** Where the network code says what happens. Facts are plain values. */
export interface NetworkLog {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}
