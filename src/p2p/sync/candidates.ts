import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId, PeerInfo } from '../network.ts'
import type { Peer, Peers } from '../peers/peers.ts'
import { Denials } from './denials.ts'

/** Most entries of each table of `Candidates`. */
const PARKED_MAX = 1_024
const PARK_MS = 5_000
const PARK_MS_MAX = 600_000
/** Longest time that a blameless peer's branch is left alone. */
const SPARED_MS_MAX = 60_000
const TIMES_MAX = 16
/**
 * After so many fruitless looks by its own fault a peer loses its say, so its claim no longer holds up other peers. The pauses between
 * these looks take more than half a minute, so an honest peer may be busy that long.
 */
const CHANCES_MAX = 4
/** After so many fruitless looks that are its own fault, a peer's claim is no longer a sign that we are behind. */
const TRIES_MAX = 2
/** A peer whose pages took longer than this in all, and whose branch was then not proven to be of use, loses its say. */
export const HELD_UP_MS = 60_000
/** Peers are given at most this many times the usual time. They all seem slow if our own line is. */
const PATIENCE_MAX = 64
/** Shortest time between two looks at a peer that are only due to a header that it showed, see `Candidates.want`. */
const WANTED_EVERY_MS = 2_000

/** The two ways to follow a branch: import all its blocks, or take the state of a snapshot on it and import the blocks after that. */
export type Way = 'blocks' | 'snapshot'

interface Parked {
  readonly untilMs: number
  readonly times: number
  /**
   * Looks that put the peer behind others: fruitless ones, whether or not it was at fault, and good ones while others claimed more work.
   */
  readonly looks: number
  readonly wasSlow: boolean
  /** The way that last came to nothing on its branch, and whether a state ever did. */
  readonly failed: Way | null
  readonly failedState: boolean
  /** Time of the last fruitless look for which the peer is to blame; without one, of the last change here. */
  readonly atMs: number
  /** The most work that it claimed in connections that are over. */
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
/** How long a fruitless look counts. Honest peers cause one now and then. */
const FORGOTTEN_MS = 3_600_000

interface CandidatesDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
}

/**
 * Chooses the peer whose branch is followed. A look at a peer's branch is fruitless if it leads nowhere. A peer whose claim of more work
 * can hold up other peers has a say.
 */
export class Candidates {
  readonly #deps: CandidatesDependencies
  /**
   * By name. A chosen peer's name is its place: its address without the id, which is dearer to change than an id. Places have their own
   * table, so peers that change their ids cannot fill it.
   */
  readonly #parked = { ids: new LruMap<string, Parked>(PARKED_MAX), places: new LruMap<string, Parked>(PARKED_MAX) }
  readonly #places = new LruMap<PeerId, string>(PARKED_MAX)
  readonly denials = new Denials((id) => this.nameOf(id))
  readonly #wanted = new Set<PeerId>()
  /** Peers that owe an answer about their branch. */
  readonly #owing = new Set<PeerId>()
  /** Peers that disputed another branch and whose own was not looked at since. */
  readonly #denying = new Set<PeerId>()
  #patience = 1
  readonly #lookedAt = new LruMap<PeerId, { readonly atMs: number }>(PARKED_MAX)

  constructor(dependencies: CandidatesDependencies) {
    this.#deps = dependencies
    for (const peer of dependencies.peers.list()) this.came(peer)
  }

  came({ info }: Pick<Peer, 'info'>): void {
    if (isChosen({ info })) this.#places.set(info.id, placeOf(info))
  }

  /** The name of a peer: the place where we last dialled it, even after it is gone or comes back by itself; otherwise its id. */
  nameOf(id: PeerId): string {
    return this.#places.get(id) ?? id
  }

  /** Marks a peer for a look, because it showed a header whose block cannot be had by gossip. */
  want(id: PeerId): void {
    if (this.#deps.peers.isReady(id)) this.#wanted.add(id)
  }

  looking(id: PeerId): void {
    this.#wanted.delete(id)
    this.#owing.delete(id)
    this.#denying.delete(id)
    this.#lookedAt.set(id, { atMs: this.#deps.clock.now() })
  }

  /** Notes that a peer is asked about a branch, and so owes an answer. */
  asking(id: PeerId): void {
    this.#owing.add(id)
  }

  /** Notes that a peer disputes another branch. Its own branch is looked at next. */
  denies(id: PeerId): void {
    this.#denying.add(id)
    this.free(id)
  }

  shares(id: PeerId): void {
    this.#owing.delete(id)
  }

  /** Notes that a peer is gone. If it owed an answer, that counts as a fruitless look. The most that it claimed stays known. */
  forget({ info: { id }, claimedWork }: Peer): void {
    this.#wanted.delete(id)
    this.#denying.delete(id)
    if (this.#owing.delete(id)) this.park(id)
    const parked = this.#standing(id)
    if (claimedWork > this.#deps.chain.head.totalWork && claimedWork > parked.claimedWork)
      this.#note(id, { ...parked, claimedWork, atMs: this.#sinceMs(parked) })
  }

  /** Leaves a peer's branch alone after a fruitless look, longer each time. */
  park(id: PeerId): void {
    const atMs = this.#deps.clock.now()
    const parked = this.#standing(id)
    const untilMs = atMs + Math.min(PARK_MS_MAX, PARK_MS * 2 ** parked.times)
    this.#note(id, { ...parked, untilMs, times: Math.min(parked.times + 1, TIMES_MAX), looks: parked.looks + 1, atMs })
  }

  /** Leaves a blameless peer's branch alone for a few seconds, so that others are looked at. `isInVain`: its branch was not followed. */
  rest(id: PeerId, isInVain: boolean): void {
    const parked = this.#standing(id)
    this.#rest(id, { ...parked, looks: parked.looks + (isInVain ? 1 : 0) }, PARK_MS)
  }

  /** Leaves a blameless peer's branch alone, longer each time, because its blocks or a state on it did not come from any peer. */
  spare(id: PeerId): void {
    const parked = this.#standing(id)
    const forMs = Math.min(SPARED_MS_MAX, PARK_MS * 2 ** Math.min(TIMES_MAX, parked.looks))
    this.#rest(id, { ...parked, looks: parked.looks + 1 }, forMs)
  }

  /**
   * The way that last came to nothing on a peer's branch. The other way is tried next, so that a liar who offers one cannot keep us from
   * both.
   */
  failedOf(id: PeerId): Way | null {
    return this.#standing(id).failed
  }

  hasFailedState(id: PeerId): boolean {
    return this.#standing(id).failedState
  }

  failed(id: PeerId, way: Way): void {
    const parked = this.#standing(id)
    const failedState = parked.failedState || way === 'snapshot'
    this.#note(id, { ...parked, failed: way, failedState, atMs: this.#sinceMs(parked) })
  }

  /** Notes that a peer has shown less than it claims. Its claim stops counting. */
  refute(id: PeerId): void {
    const atMs = this.#deps.clock.now()
    this.#note(id, { ...this.#standing(id), untilMs: atMs + PARK_MS_MAX, times: TIMES_MAX, atMs })
  }

  /** Takes away the say of a peer, because it claims more work and shows none of it. */
  discount(id: PeerId): void {
    const parked = this.#standing(id)
    this.#note(id, { ...parked, times: Math.max(parked.times, CHANCES_MAX), atMs: this.#deps.clock.now() })
  }

  patienceFor(id: PeerId): number {
    return this.isHeard(id) ? this.#patience : 1
  }

  /** Waits for peers as usual again. Call it when no peer with a say claims more work than our head has. */
  calm(): void {
    this.#patience = 1
  }

  /**
   * Whether a peer may be slow at no cost, since our own line may be the cause. It may be so only once. Otherwise a few peers could make us
   * wait ever longer.
   */
  mayBeSlow(id: PeerId): boolean {
    return this.isHeard(id) && !this.#standing(id).wasSlow
  }

  /** Notes that a peer gave way as too slow. If it led us further, its branch is not left alone for long, but it may lose its say. */
  slow(id: PeerId, isFurther: boolean): void {
    if (this.mayBeSlow(id)) {
      this.#patience = Math.min(2 * this.#patience, PATIENCE_MAX)
      this.#note(id, { ...this.#standing(id), wasSlow: true, atMs: this.#deps.clock.now() })
      this.rest(id, true)
    } else this.park(id)
    if (isFurther) this.#rest(id, this.#standing(id), PARK_MS)
  }

  /** Notes how long this node waited for the pages of a peer whose branch was not proven to be of use. */
  heldUp(id: PeerId, waitedMs: number): void {
    if (waitedMs > HELD_UP_MS) this.discount(id)
  }

  /** Lets a peer's branch be looked at again at once. Its fruitless looks stay known. */
  free(id: PeerId): void {
    const parked = this.#parkedOf(id).get(this.nameOf(id))
    if (parked !== undefined) this.#note(id, { ...parked, untilMs: 0 })
  }

  /**
   * A peer's branch was good. Its fruitless looks are forgotten once it has shown all that it ever claimed. If others claim more, the look
   * still counts and they go before it: a chain can be shown one block at a time.
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
   * The peer whose branch is followed next; undefined if none leads on. Chosen peers go before those that came to us, of which an attacker
   * can make many. The order in both groups: peers with a say that claim more work than our head; such peers without a say; peers that only
   * showed a header (see `want`). Among peers that claim more work, those that dispute a branch come first, then those with fewer fruitless
   * looks. Otherwise the few that claim most would get all looks.
   */
  best(isBusy: (id: PeerId) => boolean): Peer | undefined {
    const free = this.#deps.peers.list().filter(({ info }) => !isBusy(info.id))
    return free.filter(this.#isCandidate).sort(this.#byPromise)[0]
  }

  /**
   * Whether another branch could be followed instead of a peer's. A chosen peer with a say gives way only to other chosen ones. Strangers
   * can be any number and claim anything, so they count only after a long wait.
   */
  mayReplace(id: PeerId, isLong: boolean, isBusy: (id: PeerId) => boolean): boolean {
    const isEqual = isLong || !this.isHeard(id) || !this.#hasSay(id)
    return this.best((other) => other === id || isBusy(other) || !(isEqual || this.isHeard(other))) !== undefined
  }

  /**
   * Peers whose claims hold others up: all peers, or only the chosen ones if there are any, because peers that came to us can be any
   * number.
   */
  heard(): readonly Peer[] {
    const peers = this.#deps.peers.list()
    return peers.some(isChosen) ? peers.filter(isChosen) : peers
  }

  isHeard(id: PeerId): boolean {
    return this.heard().some(({ info }) => info.id === id)
  }

  /** Those of `heard` that claim more work than this and still have a say. */
  rivals(totalWork: bigint): readonly Peer[] {
    return this.heard().filter(({ info, head }) => head.totalWork > totalWork && this.#hasSay(info.id))
  }

  /** Whether a peer with fewer than `TRIES_MAX` fruitless looks that are its own fault claims more work than our head has. */
  isAnyAhead(): boolean {
    return this.#promising().length > 0
  }

  /** Greatest height that the peers counted by `isAnyAhead` claim; 0 if there are none. */
  targetHeight(): number {
    return Math.max(0, ...this.#promising().map(({ head }) => head.height))
  }

  #promising(): readonly Peer[] {
    const { chain, peers } = this.#deps
    return peers.list().filter(({ info, head }) => {
      return head.totalWork > chain.head.totalWork && this.#standing(info.id).times < TRIES_MAX
    })
  }

  #rest(id: PeerId, parked: Parked, ms: number): void {
    this.#note(id, { ...parked, untilMs: this.#deps.clock.now() + ms, atMs: this.#sinceMs(parked) })
  }

  /** Start time for a changed record. Later events must not make us remember a fruitless look for longer. */
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

/** Whether we chose a peer. An attacker can make any number of peers that come to us. */
export function isChosen({ info }: Pick<Peer, 'info'>): boolean {
  return info.direction === 'outbound'
}

function placeOf({ address }: PeerInfo): string {
  return address.split('/p2p/', 1)[0] as string
}

function byWork(a: Peer, b: Peer): number {
  if (a.head.totalWork === b.head.totalWork) return a.connectedAtMs - b.connectedAtMs
  return a.head.totalWork > b.head.totalWork ? -1 : 1
}
