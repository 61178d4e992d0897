import type { Socket } from 'node:net'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Clock } from '../../../consensus/chain/ports.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import { ClockedBucket } from '../peers/budget.ts'
import { hostOf, isExempt, netOf } from './address-groups.ts'
import { ipOf } from './node-address.ts'

/** Most inbound sockets that are no connections yet: in all, from one address (IPv6: a /64), from a /24 (IPv6: a /48). */
export const PENDING = { all: 128, perHost: 2, perNet: 8 } as const
/** Inbound sockets that one address (IPv6: a /64) may open in a second. `private` is for networks that allow private addresses. */
export const SOCKETS_PER_SECOND = { public: 5, private: 30 } as const
/** How long an inbound socket may stay silent before its first bytes. */
export const SILENT_MS = 4_000
/**
 * The time of the main thread that inbound handshakes may take. If none is left, a handshake waits. The small network (`Net`) that used
 * least in about the last minute goes first. After `waitMs` the socket is closed.
 */
export const HANDSHAKES = {
  /** Charge for one handshake. 6.4 ms were measured with an honest peer, 10.6 ms with the two identify exchanges that follow. */
  ms: 10,
  /**
   * Shares of the main thread. `allShare` is for all handshakes. `knownShare` is for known machines (`isKnown`) besides. One /24 (IPv6: a
   * /48) may use `netShare` at most.
   */
  allShare: 0.2,
  knownShare: 0.05,
  netShare: 0.1,
  waitMs: 2_000,
} as const

const SECOND_MS = 1_000
/** Decay time of what a net has used. */
const USE_MS = 60_000
const LOOK_MS = 20
/** Machines and nets that are remembered. Leaving and coming back must not reset their limits. */
const REMEMBERED = 4_096

/** An inbound socket of the transport. */
export type InboundSocket = MultiaddrConnection & { readonly socket: Socket }

/** What `Entrance` works with. */
export interface EntranceDependencies {
  readonly clock: Clock
  readonly allowPrivate: boolean
  /** See `Gate.isKnown`. */
  readonly isKnown: (address: string) => boolean
}

/** A small network: /24 of IPv4, /48 of IPv6. */
interface Net {
  readonly time: ClockedBucket
  usedMs: number
  usedAtMs: number
}

interface Stranger {
  readonly socket: InboundSocket
  readonly host: string
  readonly net: string
  readonly isExempt: boolean
  readonly isKnown: boolean
  readonly settle: (admitted: boolean) => void
  cancel: () => void
}

/** Where inbound sockets wait until there is time for their handshake, few of each network. Our own dials do not pass here. */
export class Entrance {
  readonly #deps: EntranceDependencies
  /** Sockets that are no connections yet, the oldest first. */
  readonly #pending = new Map<object, Stranger>()
  readonly #waiting = new Set<Stranger>()
  readonly #opened = new LruMap<string, ClockedBucket>(REMEMBERED)
  readonly #nets = new LruMap<string, Net>(REMEMBERED)
  readonly #all: ClockedBucket
  readonly #known: ClockedBucket
  #looking = false

  constructor(dependencies: EntranceDependencies) {
    this.#deps = dependencies
    this.#all = shareOf(HANDSHAKES.allShare, dependencies.clock)
    this.#known = shareOf(HANDSHAKES.knownShare, dependencies.clock)
  }

  /** Resolves to true when a socket may begin its handshake, to false when it must not. It never rejects. */
  admit(socket: InboundSocket): Promise<boolean> {
    const { allowPrivate, isKnown } = this.#deps
    const address = socket.remoteAddr.toString()
    const ip = ipOf(address)
    if (ip === undefined || !this.#mayOpen(hostOf(ip))) return Promise.resolve(false)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const stranger: Stranger = {
      ...{ socket, host: hostOf(ip), net: netOf(ip) },
      isExempt: isExempt(ip, allowPrivate),
      isKnown: isKnown(address),
      settle: resolve,
      cancel: () => {},
    }
    if (!this.#makeRoomFor(stranger)) return Promise.resolve(false)
    this.#pending.set(socket, stranger)
    this.#refuseAfter(stranger, SILENT_MS)
    socket.addEventListener('close', () => this.leave(socket))
    // A silent socket costs no handshake, so it gets no turn.
    socket.socket.once('data', () => this.#wait(stranger))
    return promise
  }

  /** Forgets a socket that became a connection, was closed, or waited too long. If it still waits, it is refused. */
  leave(socket: object): void {
    const stranger = this.#pending.get(socket)
    if (stranger === undefined) return
    this.#pending.delete(socket)
    this.#settle(stranger, false)
  }

  /** Charges the net of an ended connection for the main-thread time that it owed. A fresh peer id must not clear the debt. */
  charge(address: string, ms: number): void {
    const ip = ipOf(address)
    if (ip !== undefined && ms > 0) this.#use(this.#netOf(netOf(ip)), ms)
  }

  #mayOpen(host: string): boolean {
    const { clock, allowPrivate } = this.#deps
    const most = allowPrivate ? SOCKETS_PER_SECOND.private : SOCKETS_PER_SECOND.public
    const bucket = this.#opened.get(host) ?? new ClockedBucket({ burst: most, perSecond: most }, clock)
    this.#opened.set(host, bucket)
    return bucket.take(1)
  }

  /**
   * Makes room where a limit is reached: ends the oldest socket of the same machine, of the most crowded machine in the same net, or of the
   * most crowded net. Known machines keep their places against unknown ones. False if only known machines could make room for an unknown
   * one.
   */
  #makeRoomFor({ host, net, isExempt, isKnown }: Stranger): boolean {
    const end = (crowd: readonly Stranger[], groupBy: 'host' | 'net'): boolean => {
      const strangers = crowd.filter((other) => !other.isKnown)
      if (strangers.length === 0 && !isKnown) return false
      const ending = strangers.length === 0 ? crowd : strangers
      this.#end(largest(Map.groupBy(ending, (other) => other[groupBy])))
      return true
    }
    if (!isExempt) {
      const ofHost = this.#others((other) => other.host === host)
      if (ofHost.length >= PENDING.perHost && !end(ofHost, 'host')) return false
      const ofNet = this.#others((other) => other.net === net)
      if (ofNet.length >= PENDING.perNet && !end(ofNet, 'host')) return false
    }
    return this.#pending.size < PENDING.all || end(this.#others(), 'net')
  }

  #others(among: (other: Stranger) => boolean = () => true): readonly Stranger[] {
    return [...this.#pending.values()].filter(among)
  }

  #end([oldest]: readonly Stranger[]): void {
    if (oldest === undefined) return
    this.leave(oldest.socket)
    oldest.socket.abort(new Error('made room for another'))
  }

  /** The other end spoke. Its handshake waits for its turn, and no more is read until then. */
  #wait(stranger: Stranger): void {
    if (this.#pending.get(stranger.socket) !== stranger || stranger.socket.status !== 'open') return
    stranger.socket.pause()
    this.#waiting.add(stranger)
    this.#refuseAfter(stranger, HANDSHAKES.waitMs)
    this.#look()
  }

  #look(): void {
    const uses = new Map([...this.#waiting].map(({ net }) => [net, this.#usedBy(this.#netOf(net))]))
    const useOf = ({ net }: Stranger): number => uses.get(net) as number
    for (const stranger of [...this.#waiting].sort((a, b) => useOf(a) - useOf(b)))
      if (this.#mayEnter(stranger)) this.#settle(stranger, true)
    if (this.#looking || this.#waiting.size === 0) return
    this.#looking = true
    setTimeout(() => {
      this.#looking = false
      this.#look()
    }, LOOK_MS)
  }

  #mayEnter({ net: name, isExempt, isKnown }: Stranger): boolean {
    const net = this.#netOf(name)
    if (!isExempt && net.time.left < HANDSHAKES.ms) return false
    if (!(isKnown && this.#known.take(HANDSHAKES.ms)) && !this.#all.take(HANDSHAKES.ms)) return false
    this.#use(net, HANDSHAKES.ms)
    return true
  }

  #use(net: Net, ms: number): void {
    net.time.spend(ms)
    net.usedMs = this.#usedBy(net) + ms
    net.usedAtMs = this.#deps.clock.now()
  }

  /** Ends the wait of a socket. If it is let in, what it sent meanwhile is read. */
  #settle(stranger: Stranger, admitted: boolean): void {
    stranger.cancel()
    this.#waiting.delete(stranger)
    if (admitted && stranger.socket.status === 'open') stranger.socket.resume()
    stranger.settle(admitted)
  }

  #refuseAfter(stranger: Stranger, ms: number): void {
    stranger.cancel()
    const timer = setTimeout(() => this.leave(stranger.socket), ms)
    stranger.cancel = () => clearTimeout(timer)
  }

  #netOf(name: string): Net {
    const { clock } = this.#deps
    const net = this.#nets.get(name) ?? { time: shareOf(HANDSHAKES.netShare, clock), usedMs: 0, usedAtMs: 0 }
    this.#nets.set(name, net)
    return net
  }

  #usedBy({ usedMs, usedAtMs }: Net): number {
    return usedMs * Math.exp(-Math.max(0, this.#deps.clock.now() - usedAtMs) / USE_MS)
  }
}

/** A bucket in milliseconds of the main thread. It holds the share of one second. */
function shareOf(share: number, clock: Clock): ClockedBucket {
  return new ClockedBucket({ burst: share * SECOND_MS, perSecond: share * SECOND_MS }, clock)
}

/** The largest crowd. Of equal crowds it is the one with the oldest socket. */
function largest(crowds: ReadonlyMap<string, readonly Stranger[]>): readonly Stranger[] {
  return [...crowds.values()].reduce((most, crowd) => (crowd.length > most.length ? crowd : most), [])
}
