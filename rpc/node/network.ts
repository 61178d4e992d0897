import type { Result } from '../../consensus/primitives/result.ts'

/** A connected peer that has shaken hands. */
export interface PeerFacts {
  readonly id: string
  /** Multiaddr of the other end. */
  readonly address: string
  readonly direction: 'inbound' | 'outbound'
  readonly agent: string
  /** The heaviest head that it is known to have. */
  readonly height: number
  readonly totalWork: bigint
  readonly mode: 'archive' | 'full' | 'pruned'
  /** Null before its first answer. */
  readonly latencyMs: number | null
  readonly connectedAtMs: number
  /** Bytes over its connections, null where they are not counted. */
  readonly bytesIn: number | null
  readonly bytesOut: number | null
  /** Points for what it did wrong, fading; see docs/spec/p2p.md, section 8. */
  readonly points: number
  /** What it did wrong since it connected, by name. */
  readonly offences: Readonly<Record<string, number>>
  /** Whether it stays when others want in. */
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

/** Where the node stands on its way to the head of the network. */
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

/** The node's part of the peer-to-peer network, as the API sees it. */
export interface NetworkApi {
  /** Peers that have shaken hands, the longest connected first. */
  peers(): readonly PeerFacts[]
  /** Bans that hold, the newest first. */
  bans(): readonly BanFacts[]
  /** Keeps a peer id or an IP address away for some hours and ends its connections. Fault: `p2p/address`. */
  ban(target: string, hours: number): Result<BanFacts>
  /** Ends a ban and forgets what the peer did. Fault: `p2p/not-banned`. */
  unban(target: string): Result<BanFacts>
  /** Where the node stands; absent where nothing synchronises. */
  readonly sync?: () => SyncFacts
}
