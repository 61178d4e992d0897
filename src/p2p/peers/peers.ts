import { type Clock, type Pacer, type Timers, UNPACED } from '../../../consensus/chain/ports.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { Network, NetworkLog, PeerId, PeerInfo } from '../network.ts'
import type { Status } from '../wire/messages.ts'
import { WIRE_VERSION } from '../wire/protocols.ts'
import { Budget } from './budget.ts'
import { type Conduct, Exchange } from './exchange.ts'
import { BAN_POINTS, DISCONNECT_POINTS, HALF_LIFE_MS, OF_THE_SLOW, OFFENCES, type Offence } from './offences.ts'
import { Serving, type Turn, type Work } from './serving.ts'

/** The newest block that a peer is known to have. */
export interface PeerHead {
  readonly id: BlockId
  readonly height: number
  readonly totalWork: bigint
}

/** A peer that has shaken hands. */
export interface Peer {
  readonly info: PeerInfo
  readonly connectedAtMs: number
  /** Its last status, whose head may be older than `head`. */
  readonly status: Status
  /** The heaviest head that it told of or sent. */
  readonly head: PeerHead
  /**
   * The most work that its statuses or header pages claimed, proven or not. Blocks that it passed on do not count, so
   * `head` may have more.
   */
  readonly claimedWork: bigint
  /** Milliseconds of the last status exchange that we began; null before the first. */
  readonly latencyMs: number | null
}

/** Hears of peers that have shaken hands, of their news, and of those that leave. */
export interface PeerListener {
  ready?(peer: Peer): void
  news?(peer: Peer): void
  /** `last` is what was known of it. */
  gone?(id: PeerId, last: Peer): void
  useful?(id: PeerId, what: News): void
}

/** What a peer can be the first to tell of. */
export type News = 'block' | 'transaction'

/** What the peers work with. */
export interface PeersDependencies {
  readonly network: Network
  readonly ruleBook: RuleBook
  readonly clock: Clock
  readonly timers: Timers
  readonly log: NetworkLog
  readonly ownStatus: () => Status
  /** Makes a pacer for each answer. */
  readonly pacer?: () => Pacer
  /** A finer clock for the cost of answers. Without it, as on virtual time, answering takes no time. */
  readonly stopwatch?: () => number
}

/** How often a peer is asked for its status. Gossip may have been lost, and a silent peer may be dead. */
export const STATUS_EVERY_MS = 20_000

interface Member {
  readonly info: PeerInfo
  readonly budget: Budget
  readonly connectedAtMs: number
  peer: Peer | undefined
  cancel: () => void
}

/** Connected peers. Shakes hands, keeps their points and budgets, and disconnects peers that are of another network or misbehave. */
export class Peers implements Conduct {
  readonly exchange: Exchange
  readonly reputation: Reputation
  readonly #deps: PeersDependencies
  readonly #serving: Serving
  readonly #members = new Map<PeerId, Member>()
  readonly #listeners: PeerListener[] = []
  readonly #offenceListeners: ((peer: PeerId, offence: Offence) => void)[] = []

  constructor(dependencies: PeersDependencies) {
    this.#deps = dependencies
    this.reputation = new Reputation(dependencies.clock)
    const { clock, timers, pacer = () => UNPACED, stopwatch = null } = dependencies
    this.#serving = new Serving({ clock, timers, stopwatch, pacer })
    this.exchange = new Exchange(dependencies.network, this, clock, this.#serving)
    this.exchange.answer('status', (from, status) => {
      if (!this.#take(from, status, null)) return { refusal: 'other-network' }
      return { reply: this.#deps.ownStatus() }
    })
    dependencies.network.onConnection({
      connected: (info) => this.#join(info),
      disconnected: (id) => this.#leave(id),
    })
    for (const info of dependencies.network.peers()) this.#join(info)
  }

  /** Peers that have shaken hands, longest connected first. */
  list(): readonly Peer[] {
    return [...this.#members.values()].flatMap(({ peer }) => (peer === undefined ? [] : [peer]))
  }

  get(id: PeerId): Peer | undefined {
    return this.#members.get(id)?.peer
  }

  onPeer(listener: PeerListener): void {
    this.#listeners.push(listener)
  }

  onOffence(listener: (peer: PeerId, offence: Offence) => void): void {
    this.#offenceListeners.push(listener)
  }

  isReady(id: PeerId): boolean {
    return this.#members.get(id)?.peer !== undefined
  }

  budgetOf(id: PeerId): Budget | undefined {
    return this.#members.get(id)?.budget
  }

  /** Charges core time for checking what a peer sent. False if the peer is gone, or has used up its allowance, which is an offence. */
  chargeVerification(id: PeerId, ms: number): boolean {
    const budget = this.#members.get(id)?.budget
    if (budget === undefined) return false
    if (budget.take('verificationMs', ms)) return true
    this.report(id, 'flood', 'verification')
    return false
  }

  creditVerification(id: PeerId, ms: number): void {
    this.#members.get(id)?.budget.giveBack('verificationMs', ms)
  }

  /** Does work that a peer causes beside requests, once its share of the main thread allows it. Null if `stop` is called before that. */
  workFor<T>(...[id, kind, bytes, work]: [PeerId, Work, number, (turn: Turn) => Promise<T>]): Promise<T | null> {
    return this.#serving.work(id, kind, bytes, work)
  }

  report(id: PeerId, offence: Offence, about: string): void {
    const consequence = this.reputation.add(id, offence)
    this.#deps.log.debug({ peer: id, offence, about, consequence }, 'a peer misbehaved')
    for (const listener of this.#offenceListeners) listener(id, offence)
    if (consequence !== 'none') this.#deps.network.disconnect(id, offence, consequence === 'ban')
  }

  /** Notes the end of the branch that a peer shows, proven or not. */
  noteClaim(id: PeerId, head: PeerHead): void {
    const member = this.#members.get(id)
    if (member?.peer === undefined) return
    const { claimedWork } = member.peer
    if (head.totalWork > claimedWork) member.peer = { ...member.peer, claimedWork: head.totalWork }
    this.noteHead(id, head)
  }

  noteHead(id: PeerId, head: PeerHead): void {
    const member = this.#members.get(id)
    if (member?.peer === undefined || head.totalWork <= member.peer.head.totalWork) return
    member.peer = { ...member.peer, head }
    for (const listener of this.#listeners) listener.news?.(member.peer)
  }

  noteUseful(id: PeerId, what: News): void {
    for (const listener of this.#listeners) listener.useful?.(id, what)
  }

  /** Ends all timers and all waiting for a turn. The network ends the connections. */
  stop(): void {
    this.#serving.stop()
    for (const member of this.#members.values()) member.cancel()
  }

  #join(info: PeerInfo): void {
    if (this.#members.has(info.id)) return
    const { clock } = this.#deps
    const member: Member = {
      info,
      budget: new Budget(clock),
      connectedAtMs: clock.now(),
      peer: undefined,
      cancel: () => {},
    }
    this.#members.set(info.id, member)
    if (info.direction === 'outbound') void this.#greet(member)
    else member.cancel = this.#deps.timers.after(STATUS_EVERY_MS, () => void this.#greet(member))
  }

  #leave(id: PeerId): void {
    const member = this.#members.get(id)
    if (member === undefined) return
    member.cancel()
    this.#members.delete(id)
    if (member.peer !== undefined) for (const listener of this.#listeners) listener.gone?.(id, member.peer)
  }

  async #greet(member: Member): Promise<void> {
    const { id } = member.info
    const startedMs = this.#deps.clock.now()
    const status = await this.exchange.ask(id, 'status', this.#deps.ownStatus())
    if (this.#members.get(id) !== member) return
    if (status.ok) this.#take(id, status.value, this.#deps.clock.now() - startedMs)
    else if (member.peer === undefined) this.#deps.network.disconnect(id, status.fault.code)
    if (this.#members.get(id) === member) {
      member.cancel = this.#deps.timers.after(STATUS_EVERY_MS, () => void this.#greet(member))
    }
  }

  /** Takes a peer's status. False if the peer is gone, or if its network, version or rules do not fit ours, which ends the connection. */
  #take(id: PeerId, status: Status, latencyMs: number | null): boolean {
    const member = this.#members.get(id)
    if (member === undefined) return false
    const misfit = this.#misfitOf(status)
    if (misfit !== null) {
      this.#deps.log.info({ peer: id, agent: status.agent, height: status.height }, misfit)
      this.#deps.network.disconnect(id, misfit)
      return false
    }
    const first = member.peer === undefined
    const told = { id: status.head, height: status.height, totalWork: status.totalWork }
    const known = member.peer?.head
    const head = known !== undefined && known.totalWork >= told.totalWork ? known : told
    const latency = latencyMs ?? member.peer?.latencyMs ?? null
    const claimedBefore = member.peer?.claimedWork ?? 0n
    const claimedWork = status.totalWork > claimedBefore ? status.totalWork : claimedBefore
    const { info, connectedAtMs } = member
    member.peer = { info, connectedAtMs, status, head, claimedWork, latencyMs: latency }
    for (const listener of this.#listeners) {
      if (first) listener.ready?.(member.peer)
      else if (head !== known) listener.news?.(member.peer)
    }
    return true
  }

  #misfitOf({ version, genesis, rules, height }: Status): string | null {
    const { ruleBook } = this.#deps
    if (version !== WIRE_VERSION) return 'the peer speaks another version of the protocol'
    if (genesis !== ruleBook.genesis.block.id) return 'the peer is of another network'
    // Rules that begin above its head do not count: an upgrade must not part the network before its height.
    if (rules !== ruleBook.fingerprintAt(height)) return 'the peer follows other rules than this release'
    return null
  }
}

/** What follows from an offence. */
export type Consequence = 'none' | 'disconnect' | 'ban'

/** Most peers whose points are remembered, even after they left. */
const PEERS_KEPT = 4_096

interface Points {
  readonly points: number
  readonly atMs: number
}

/** Points of peers for offences. They outlast a connection, so that a peer cannot clear them by leaving. */
export class Reputation {
  readonly #clock: Clock
  readonly #points = new LruMap<PeerId, Points>(PEERS_KEPT)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  pointsOf(peer: PeerId): number {
    const found = this.#points.get(peer)
    if (found === undefined) return 0
    return found.points * 2 ** (-Math.max(0, this.#clock.now() - found.atMs) / HALF_LIFE_MS)
  }

  add(peer: PeerId, offence: Offence): Consequence {
    const before = this.pointsOf(peer)
    const most = OF_THE_SLOW.has(offence) ? Math.max(before, DISCONNECT_POINTS) : Number.POSITIVE_INFINITY
    const points = Math.min(most, before + OFFENCES[offence])
    this.#points.set(peer, { points, atMs: this.#clock.now() })
    if (points >= BAN_POINTS) return 'ban'
    return points >= DISCONNECT_POINTS ? 'disconnect' : 'none'
  }

  forgive(peer: PeerId): void {
    this.#points.delete(peer)
  }
}
