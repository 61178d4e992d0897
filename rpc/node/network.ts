import type { Result } from '../../consensus/primitives/result.ts'

/** A connected peer that has completed the handshake. */
export interface PeerFacts {
  readonly id: string
  /** Multiaddr of the other end. */
  readonly address: string
  readonly direction: 'inbound' | 'outbound'
  readonly agent: string
  /** Height of its heaviest known head. */
  readonly height: number
  readonly totalWork: bigint
  readonly mode: 'archive' | 'full' | 'pruned'
  /** Null before its first answer. */
  readonly latencyMs: number | null
  readonly connectedAtMs: number
  /** Bytes over its connections; null if they are not counted. */
  readonly bytesIn: number | null
  readonly bytesOut: number | null
  /** Points for its offences, which fade; see docs/spec/p2p.md, section 8. */
  readonly points: number
  /** Its offences since it connected, by name. */
  readonly offences: Readonly<Record<string, number>>
  /** Whether it keeps its connection when new peers need room. */
  readonly protected: boolean
}

/** A banned peer or address. */
export interface BanFacts {
  /** Id of a peer or an IP address. */
  readonly target: string
  readonly reason: string
  readonly sinceMs: number
  readonly untilMs: number
}

/** Progress of the node towards the head of the network. */
export interface SyncFacts {
  readonly state: 'starting' | 'headers' | 'snapshot' | 'bodies' | 'synced'
  readonly height: number
  readonly headersHeight: number
  readonly targetHeight: number
  readonly peers: number
  readonly blocksPerSecond: number
  readonly secondsLeft: number | null
  readonly behind: boolean
}

/** The peer-to-peer network, as the API sees it. */
export interface NetworkApi {
  /** Longest connected first. */
  peers(): readonly PeerFacts[]
  /** Bans in force, newest first. */
  bans(): readonly BanFacts[]
  /** Bans a peer id or an IP address for some hours and ends its connections. Fault: `p2p/address`. */
  ban(target: string, hours: number): Result<BanFacts>
  /** Ends a ban, and clears the peer's points for offences. Fault: `p2p/not-banned`. */
  unban(target: string): Result<BanFacts>
  /** Absent if nothing synchronises. */
  readonly sync?: () => SyncFacts
}
