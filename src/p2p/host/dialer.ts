import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'

/** One connection as the transport has it; a peer may have several for a moment. */
export interface Connection {
  /** Unique among the connections of this run. */
  readonly id: string
  readonly peer: PeerId
  readonly direction: 'inbound' | 'outbound'
  /** Multiaddr text of the other end, with or without its id. */
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
  /** Our own id. */
  readonly self: PeerId
  /** Open connections; one that is hung up may be among them until it closed. */
  connections(): readonly Connection[]
  /**
   * Dials a multiaddr and gives the id of who answered, encrypted. It never rejects and has a deadline of its own. Faults:
   * `p2p/unreachable`, `p2p/timeout`.
   */
  dial(address: string): Promise<Result<PeerId>>
  /** Ends one connection; unknown ids are ignored. */
  hangUp(connectionId: string, reason: string): void
  watch(watcher: ConnectionWatcher): void
}

/** Who may connect. The transport asks before it spends anything on a connection; answers are immediate. */
export interface Gate {
  /** Whether a connection that comes from this multiaddr is taken, before anything is known of who it is. */
  mayAccept(address: string): boolean
  /** Whether we dialled the machine at this multiaddr with success, or the operator named it. */
  isKnown(address: string): boolean
  /** Whether a peer that proved its id may stay. For one that came by itself this can end the connection of another. */
  mayKeep(peer: PeerId, address: string, direction: 'inbound' | 'outbound'): boolean
  /** Whether an address may be dialled; `peer` is null where it is not known who is there. */
  mayDial(peer: PeerId | null, address: string): boolean
}
