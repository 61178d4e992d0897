import { fieldsOf, textOf } from './http.ts'
import type { Reader } from './ledger-views.ts'

/** A peer of a node, as far as a table shows it. */
export interface PeerView {
  readonly id: string
  /** Null where the operator's token was not sent. */
  readonly address: string | null
  readonly direction: string
  readonly agent: string
  readonly height: number
  readonly latencyMs: number | null
  readonly connectedSince: string
  readonly mode: string
  readonly points: number
  readonly protected: boolean
}

/** Whom a node keeps away. */
export interface BanView {
  /** Id of a peer, or an IP address. */
  readonly target: string
  readonly reason: string
  readonly since: string
  readonly until: string
}

/** Peers of a node; `enabled` is false where it talks to no others. */
export interface PeersView {
  readonly enabled: boolean
  readonly peers: readonly PeerView[]
}

/** Reads the peers of a node. */
export const readPeers: Reader<PeersView> = ({ enabled, peers }) => {
  if (typeof enabled !== 'boolean' || !Array.isArray(peers)) return undefined
  const views = peers.map(readPeer).filter((peer) => peer !== undefined)
  return views.length === peers.length ? { enabled, peers: views } : undefined
}

/** Reads the bans of a node. */
export const readBans: Reader<readonly BanView[]> = ({ bans }) => {
  if (!Array.isArray(bans)) return undefined
  const views = bans.map((ban) => readBan(fieldsOf(ban))).filter((ban) => ban !== undefined)
  return views.length === bans.length ? views : undefined
}

/** Reads one ban. */
export const readBan: Reader<BanView> = ({ target, reason, since, until }) =>
  typeof target === 'string' && typeof until === 'string'
    ? { target, reason: textOf(reason, ''), since: textOf(since, ''), until }
    : undefined

function readPeer(value: unknown): PeerView | undefined {
  const { id, address, direction, agent, height, latencyMs, connectedSince, mode, points, ...rest } = fieldsOf(value)
  if (typeof id !== 'string' || typeof direction !== 'string' || typeof height !== 'number') return undefined
  return {
    id,
    address: typeof address === 'string' ? address : null,
    direction,
    agent: textOf(agent, ''),
    height,
    latencyMs: typeof latencyMs === 'number' ? latencyMs : null,
    connectedSince: textOf(connectedSince, ''),
    mode: textOf(mode, ''),
    points: typeof points === 'number' ? points : 0,
    protected: rest.protected === true,
  }
}
