import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { BanFacts, NetworkApi, PeerFacts } from '../../../rpc/node/network.ts'
import type { PeerId } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { STORAGE_MODES } from '../wire/messages.ts'
import type { Bans } from './bans.ts'
import { isPeerId } from './node-address.ts'
import type { PeerManager } from './peer-manager.ts'

/** What the API sees the network through. */
export interface NetworkViewDependencies {
  readonly peers: Peers
  readonly bans: Bans
  readonly manager: PeerManager
  /** Bytes over the connections of a peer; null where they are not counted. */
  readonly bytesOf: (peer: PeerId) => { readonly in: number; readonly out: number } | null
}

const HOUR_MS = 3_600_000
const OPERATORS_REASON = 'the operator'

/** The network as the API shows it, and the operator's hand on it. */
export class NetworkView implements NetworkApi {
  readonly #deps: NetworkViewDependencies
  readonly #offences = new Map<PeerId, Record<string, number>>()

  constructor(dependencies: NetworkViewDependencies) {
    this.#deps = dependencies
    dependencies.peers.onOffence((peer, offence) => this.#count(peer, offence))
    dependencies.peers.onPeer({ gone: (id) => void this.#offences.delete(id) })
  }

  peers(): readonly PeerFacts[] {
    return this.#deps.peers.list().map((peer) => this.#factsOf(peer))
  }

  bans(): readonly BanFacts[] {
    return this.#deps.bans.list()
  }

  ban(target: string, hours: number): Result<BanFacts> {
    const ban = this.#deps.bans.ban(target, hours * HOUR_MS, OPERATORS_REASON)
    if (ban.ok) this.#deps.manager.hangUpBanned()
    return ban
  }

  unban(target: string): Result<BanFacts> {
    const ban = this.#deps.bans.lift(target)
    if (!ban.ok) return ban
    // Its points would have it banned again for the next trifle.
    if (isPeerId(target)) this.#deps.peers.reputation.forgive(target)
    return ok(ban.value)
  }

  #factsOf({ info, status, head, latencyMs, connectedAtMs }: Peer): PeerFacts {
    const bytes = this.#deps.bytesOf(info.id)
    return {
      id: info.id,
      address: info.address,
      direction: info.direction,
      agent: status.agent,
      height: head.height,
      totalWork: head.totalWork,
      mode: STORAGE_MODES[status.mode] ?? 'pruned',
      latencyMs,
      connectedAtMs,
      bytesIn: bytes?.in ?? null,
      bytesOut: bytes?.out ?? null,
      points: this.#deps.peers.reputation.pointsOf(info.id),
      offences: this.#offences.get(info.id) ?? {},
      protected: this.#deps.manager.isProtected(info.id),
    }
  }

  /** Counted for peers that are here and have shaken hands: nobody can grow this by coming and going. */
  #count(peer: PeerId, offence: Offence): void {
    if (!this.#deps.peers.isReady(peer)) return
    const counts = this.#offences.get(peer) ?? {}
    counts[offence] = (counts[offence] ?? 0) + 1
    this.#offences.set(peer, counts)
  }
}
