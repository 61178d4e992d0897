import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'

/** One connection of the transport. A peer may have several for a moment. */
export interface Connection {
  /** Unique among the connections of this run. */
  readonly id: string
  readonly peer: PeerId
  readonly direction: 'inbound' | 'outbound'
  /** Multiaddr of the other end, with or without its id. */
  readonly address: string
  readonly openedAtMs: number
}

/** Hears of connections that open and close. */
export interface ConnectionWatcher {
  opened(connection: Connection): void
  closed(connection: Connection): void
}

/** What the peer manager needs of the transport. */
export interface Dialer {
  readonly self: PeerId
  /** Open connections. One that was hung up may be among them until it has closed. */
  connections(): readonly Connection[]
  /**
   * Dials, and gives the id that the node proved in the encrypted handshake. It has a deadline. Faults: `p2p/address`, `p2p/unreachable`,
   * `p2p/timeout`.
   */
  dial(address: string): Promise<Result<PeerId>>
  /** Unknown ids are ignored. */
  hangUp(connectionId: string, reason: string): void
  watch(watcher: ConnectionWatcher): void
}

/** Decides who may connect. The transport asks at each step, before it spends more on a connection. */
export interface Gate {
  /** Whether to take a connection from this multiaddr. The id of the peer is not known yet. */
  mayAccept(address: string): boolean
  /** Whether we dialled the machine at this multiaddr with success, or the operator or the release named it. */
  isKnown(address: string): boolean
  /** Whether a peer that proved its id may stay. For an inbound peer this can end the connection of another. */
  mayKeep(peer: PeerId, address: string, direction: 'inbound' | 'outbound'): boolean
  /** Whether an address may be dialled. `peer` is null if the id of the node there is unknown. */
  mayDial(peer: PeerId | null, address: string): boolean
}
