import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId, PeerInfo } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { Denials } from './denials.ts'

/** Peers that are remembered for having led nowhere. */
const PARKED_MAX = 1_024
const PARK_MS = 5_000
const PARK_MS_MAX = 600_000
/** A peer that is not to blame is left alone for so long at most. */
const SPARED_MS_MAX = 60_000
/** Times that are counted. */
const TIMES_MAX = 16
/** Looks at a peer that led nowhere until its claim holds nothing up any more: half a minute and more of an honest one that is busy. */
const CHANCES_MAX = 4
/** A peer that led nowhere so often is no sign any more that we are behind. */
const TRIES_MAX = 2
/** A peer that is waited for longer while all others wait, and shows no more than they did, has no say any more. */
export const HELD_UP_MS = 60_000
/** By how much longer than usual peers are waited for at most. */
const PATIENCE_MAX = 64
/** Headers of one peer are not looked at more often than this only because it showed one without a parent. */
const WANTED_EVERY_MS = 2_000

/** The two ways to follow a branch: to import all its blocks, or to take the state of a snapshot on it first. */
export type Way = 'blocks' | 'snapshot'

interface Parked {
  readonly untilMs: number
  readonly times: number
  /** Looks at it that came to nothing, by whatever fault. */
  readonly looks: number
  /** Whether others were looked at because it was slow. */
  readonly wasSlow: boolean
  /** The way that came to nothing last on its branch, and whether a state ever did. */
  readonly failed: Way | null
  readonly failedState: boolean
  /** When it led nowhere last. */
  readonly atMs: number
  /** The most work that it has said it has, in connections that are over. */
  readonly claimedWork: bigint
}

const NOT_PARKED: Parked = {
  untilMs: 0,
  times: 0,
  looks: 0,
  wasSlow: false,
  failed: null,
  failedState: false,
  atMs: 0,
  claimedWork: 0n,
}
/** An hour after a peer led nowhere last, that is forgotten: honest peers lead nowhere now and then too. */
const FORGOTTEN_MS = 3_600_000

interface CandidatesDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
}

/** Chooses whose branch is followed. */
export class Candidates {
  readonly #deps: CandidatesDependencies
  /** By name. A chosen peer has its place as name, which is dearer to change than an id. Places have a table of their own, which no number of ids fills. */
  readonly #parked = { ids: new LruMap<string, Parked>(PARKED_MAX), places: new LruMap<string, Parked>(PARKED_MAX) }
  /** Places of peers that were chosen. */
  readonly #places = new LruMap<PeerId, string>(PARKED_MAX)
  /** What peers said of blocks of others. */
  readonly denials = new Denials((id) => this.nameOf(id))
  readonly #wanted = new Set<PeerId>()
  /** Peers that owe an answer about their branch. */
  readonly #owing = new Set<PeerId>()
  /** Peers that disputed another's branch, whose own was not looked at since. */
  readonly #denying = new Set<PeerId>()
  /** How patiently headers and blocks are waited for: where the line of this node is slow, all peers are, and none is to blame. */
  #patience = 1
  readonly #lookedAt = new LruMap<PeerId, { readonly atMs: number }>(PARKED_MAX)

  constructor(dependencies: CandidatesDependencies) {
    this.#deps = dependencies
    for (const peer of dependencies.peers.list()) this.came(peer)
  }

  /** A peer is there. */
  came({ info }: Pick<Peer, 'info'>): void {
    if (isChosen({ info })) this.#places.set(info.id, placeOf(info))
  }

  /** The name of a peer: the place where we dialled it last, also after it is gone or when it comes back by itself; else its id. */
  nameOf(id: PeerId): string {
    return this.#places.get(id) ?? id
  }

  /** A peer showed a header whose parent is not here. */
  want(id: PeerId): void {
    if (this.#deps.peers.isReady(id)) this.#wanted.add(id)
  }

  /** A peer's branch is about to be looked at. */
  looking(id: PeerId): void {
    this.#wanted.delete(id)
    this.#owing.delete(id)
    this.#denying.delete(id)
    this.#lookedAt.set(id, { atMs: this.#deps.clock.now() })
  }

  /** A peer is asked whether it shares a branch, or for its own: it owes an answer. */
  asking(id: PeerId): void {
    this.#owing.add(id)
  }

  /** A peer disputes another's branch: its own is looked at next. */
  denies(id: PeerId): void {
    this.#denying.add(id)
    this.free(id)
  }

  /** A peer has shown that it shares a branch. */
  shares(id: PeerId): void {
    this.#owing.delete(id)
  }

  /** A peer is gone. Where it owed an answer it has led nowhere, and the most that it claimed stays known. */
  forget({ info: { id }, claimedWork }: Peer): void {
    this.#wanted.delete(id)
    this.#denying.delete(id)
    if (this.#owing.delete(id)) this.park(id)
    const parked = this.#standing(id)
    if (claimedWork > this.#deps.chain.head.totalWork && claimedWork > parked.claimedWork)
      this.#note(id, { ...parked, claimedWork, atMs: this.#sinceMs(parked) })
  }

  /** Leaves a peer's branch alone for a while, longer each time. */
  park(id: PeerId): void {
    const atMs = this.#deps.clock.now()
    const parked = this.#standing(id)
    const untilMs = atMs + Math.min(PARK_MS_MAX, PARK_MS * 2 ** parked.times)
    this.#note(id, { ...parked, untilMs, times: Math.min(parked.times + 1, TIMES_MAX), looks: parked.looks + 1, atMs })
  }

  /** Leaves a peer's branch alone until others were looked at, by no fault of it; `isInVain` where its branch was not followed. */
  rest(id: PeerId, isInVain: boolean): void {
    const parked = this.#standing(id)
    this.#rest(id, { ...parked, looks: parked.looks + (isInVain ? 1 : 0) }, PARK_MS)
  }

  /** Leaves a peer's branch alone for a while, longer each time, by no fault of the peer: others did not give what they said they have of it. */
  spare(id: PeerId): void {
    const parked = this.#standing(id)
    const forMs = Math.min(SPARED_MS_MAX, PARK_MS * 2 ** Math.min(TIMES_MAX, parked.looks))
    this.#rest(id, { ...parked, looks: parked.looks + 1 }, forMs)
  }

  /** The way that came to nothing last on a peer's branch: the other one is tried next, or one liar who offers it would keep us from both. */
  failedOf(id: PeerId): Way | null {
    return this.#standing(id).failed
  }

  /** Whether a state on a peer's branch came to nothing in the last hour. */
  hasFailedState(id: PeerId): boolean {
    return this.#standing(id).failedState
  }

  /** A way came to nothing on a peer's branch. */
  failed(id: PeerId, way: Way): void {
    const parked = this.#standing(id)
    const failedState = parked.failedState || way === 'snapshot'
    this.#note(id, { ...parked, failed: way, failedState, atMs: this.#sinceMs(parked) })
  }

  /** A peer has shown that it has less than it claims: its claim counts no more. */
  refute(id: PeerId): void {
    const atMs = this.#deps.clock.now()
    this.#note(id, { ...this.#standing(id), untilMs: atMs + PARK_MS_MAX, times: TIMES_MAX, atMs })
  }

  /** A peer claims more work and shows nothing of it: that holds nothing up any more. */
  discount(id: PeerId): void {
    const parked = this.#standing(id)
    this.#note(id, { ...parked, times: Math.max(parked.times, CHANCES_MAX), atMs: this.#deps.clock.now() })
  }

  /** By how much longer than usual a peer is waited for. */
  patienceFor(id: PeerId): number {
    return this.isHeard(id) ? this.#patience : 1
  }

  /** No peer with a say claims more than we have: from now on peers are waited for as usual. */
  calm(): void {
    this.#patience = 1
  }

  /** Whether a peer may be slow at no cost, for it may be our own line. It may once, or a few peers would have us wait ever longer. */
  mayBeSlow(id: PeerId): boolean {
    return this.isHeard(id) && !this.#standing(id).wasSlow
  }

  /** A peer gave way because it was slow, and had shown something. Where that led us further it is not left alone for long, but may lose its say. */
  slow(id: PeerId, isFurther: boolean): void {
    if (this.mayBeSlow(id)) {
      this.#patience = Math.min(2 * this.#patience, PATIENCE_MAX)
      this.#note(id, { ...this.#standing(id), wasSlow: true, atMs: this.#deps.clock.now() })
      this.rest(id, true)
    } else this.park(id)
    if (isFurther) this.#rest(id, this.#standing(id), PARK_MS)
  }

  /** A peer was waited for while all others waited, and showed nothing. */
  heldUp(id: PeerId, waitedMs: number): void {
    if (waitedMs > HELD_UP_MS) this.discount(id)
  }

  /** A peer's branch may be looked at again at once; how often it led nowhere stays known. */
  free(id: PeerId): void {
    const parked = this.#parkedOf(id).get(this.nameOf(id))
    if (parked !== undefined) this.#note(id, { ...parked, untilMs: 0 })
  }

  /**
   * A peer's branch was good: how often it led nowhere is forgotten once it has shown all that it ever claimed. Where others claim more, it
   * was looked at all the same, and comes behind them: a chain can be shown a block at a time.
   */
  unpark(id: PeerId): void {
    const parked = this.#standing(id)
    const { totalWork } = this.#deps.chain.head
    const isLeft = this.rivals(totalWork).some(({ info }) => info.id !== id)
    const good = { ...parked, untilMs: 0, failed: null, failedState: false, looks: parked.looks + (isLeft ? 1 : 0) }
    if (parked.claimedWork > totalWork) this.#note(id, good)
    else if (isLeft) this.#rest(id, { ...NOT_PARKED, looks: good.looks }, 0)
    else this.#parkedOf(id).delete(this.nameOf(id))
  }

  /**
   * The peer whose branch is to be followed next, undefined if nobody claims more work than our head has. Peers that we
   * chose come before those that chose us: whoever wants to waste our time can make many of the latter. Those without a say, which led
   * nowhere too often, come behind their like, whatever they claim. Of the others those that dispute a branch come first, and then those
   * that were looked at in vain less often: a few that claim most must not take turns. Behind those are peers that only showed a header
   * without a parent, which costs nothing; they take turns.
   */
  best(isBusy: (id: PeerId) => boolean): Peer | undefined {
    const free = this.#deps.peers.list().filter(({ info }) => !isBusy(info.id))
    return free.filter(this.#isCandidate).sort(this.#byPromise)[0]
  }

  /**
   * Whether another peer's branch could be followed in place of a peer's. A peer that we chose, and that has a say, gives way to others
   * that we chose. Strangers count only where it was waited for long: they can be any number, and claim whatever they like.
   */
  mayReplace(id: PeerId, isLong: boolean, isBusy: (id: PeerId) => boolean): boolean {
    const isEqual = isLong || !this.isHeard(id) || !this.#hasSay(id)
    return this.best((other) => other === id || isBusy(other) || !(isEqual || this.isHeard(other))) !== undefined
  }

  /** Peers whose claims hold others up: where we chose peers, those that came to us, which can be any number, have no say. */
  heard(): readonly Peer[] {
    const peers = this.#deps.peers.list()
    return peers.some(isChosen) ? peers.filter(isChosen) : peers
  }

  /** Whether a peer is one of them. */
  isHeard(id: PeerId): boolean {
    return this.heard().some(({ info }) => info.id === id)
  }

  /** Those of them that claim more work than this, and have not led nowhere too often. */
  rivals(totalWork: bigint): readonly Peer[] {
    return this.heard().filter(({ info, head }) => head.totalWork > totalWork && this.#hasSay(info.id))
  }

  /** Whether a peer claims more work than our head has, leaving out those that were tried in vain more than once. */
  isAnyAhead(): boolean {
    return this.#promising().length > 0
  }

  /** Height of the heaviest head that is claimed by a peer that was not tried in vain; 0 without any. */
  targetHeight(): number {
    return Math.max(0, ...this.#promising().map(({ head }) => head.height))
  }

  #promising(): readonly Peer[] {
    const { chain, peers } = this.#deps
    return peers.list().filter(({ info, head }) => {
      return head.totalWork > chain.head.totalWork && this.#standing(info.id).times < TRIES_MAX
    })
  }

  /** Leaves a branch alone for so long, by no fault of its peer. */
  #rest(id: PeerId, parked: Parked, ms: number): void {
    this.#note(id, { ...parked, untilMs: this.#deps.clock.now() + ms, atMs: this.#sinceMs(parked) })
  }

  /** When a standing began to count that is noted anew: what led nowhere is not remembered for longer by what came later. */
  #sinceMs({ times, atMs }: Parked): number {
    return times > 0 ? atMs : this.#deps.clock.now()
  }

  #note(id: PeerId, parked: Parked): void {
    this.#parkedOf(id).set(this.nameOf(id), parked)
  }

  #parkedOf(id: PeerId): LruMap<string, Parked> {
    return this.#places.get(id) === undefined ? this.#parked.ids : this.#parked.places
  }

  #standing(id: PeerId): Parked {
    const parked = this.#parkedOf(id).get(this.nameOf(id))
    return parked !== undefined && this.#deps.clock.now() - parked.atMs < FORGOTTEN_MS ? parked : NOT_PARKED
  }

  readonly #byPromise = (a: Peer, b: Peer): number => {
    const isMore = ({ head }: Peer): boolean => head.totalWork > this.#deps.chain.head.totalWork
    const order = (peer: Peer): number =>
      (isChosen(peer) ? 0 : 3) + (isMore(peer) ? (this.#hasSay(peer.info.id) ? 0 : 1) : 2)
    const looks = ({ info }: Peer): number => (this.#denying.has(info.id) ? -1 : this.#standing(info.id).looks)
    const lookedMs = ({ info }: Peer): number => this.#lookedAt.get(info.id)?.atMs ?? 0
    const turn = isMore(a) ? looks(a) - looks(b) : lookedMs(a) - lookedMs(b)
    return order(a) - order(b) || turn || byWork(a, b)
  }

  #hasSay(id: PeerId): boolean {
    return this.#standing(id).times < CHANCES_MAX
  }

  readonly #isCandidate = ({ info, head }: Peer): boolean => {
    const now = this.#deps.clock.now()
    const parked = this.#parkedOf(info.id).get(this.nameOf(info.id))
    if (parked !== undefined && now < parked.untilMs) return false
    if (head.totalWork > this.#deps.chain.head.totalWork) return true
    const looked = this.#lookedAt.get(info.id)
    return this.#wanted.has(info.id) && (looked === undefined || now - looked.atMs >= WANTED_EVERY_MS)
  }
}

/** Whether we chose a peer; any number of those that came to us may be one. */
export function isChosen({ info }: Pick<Peer, 'info'>): boolean {
  return info.direction === 'outbound'
}

/** Where a peer listens, without its id. */
function placeOf({ address }: PeerInfo): string {
  return address.split('/p2p/', 1)[0] as string
}

function byWork(a: Peer, b: Peer): number {
  if (a.head.totalWork === b.head.totalWork) return a.connectedAtMs - b.connectedAtMs
  return a.head.totalWork > b.head.totalWork ? -1 : 1
}
