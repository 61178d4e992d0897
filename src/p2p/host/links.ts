import type { Socket } from 'node:net'
import type { Connection as LibConnection, MessageStream, Stream } from '@libp2p/interface'
import type { Clock } from '../../../consensus/chain/ports.ts'
import type { Allowance } from '../../../consensus/primitives/bucket.ts'
import type { ConnectionListener, NetworkLog, PeerId, PeerInfo } from '../network.ts'
import { ClockedBucket } from '../peers/budget.ts'
import type { Offence } from '../peers/offences.ts'
import type { Connection, ConnectionWatcher } from './dialer.ts'
import { INBOUND_WORK, InboundWork, type WorkAccount } from './inbound-work.ts'
import {
  type Answering,
  boundAnswers,
  boundBytes,
  type Dispatching,
  STREAM_WRITES_MAX,
  UPGRADE_WRITES_MAX,
} from './lib-bounds.ts'

const MIB = 1_048_576

/**
 * Bytes that one connection may send unasked in any protocol, framing included. The burst is less than that of `ALLOWANCES.bytesIn`,
 * because these bytes count before anything is looked at. Gossip that was passed on is given back. The refill is what an honest neighbour
 * may repeat at 300 transactions a second. A higher refill would let a steady flood go on.
 */
const UNASKED_BYTES: Allowance = { burst: 8 * MIB, perSecond: MIB }
/**
 * Bytes of gossip judged `ignore` that are given back too, because an honest sender passes on what this node may not need. Beyond this they
 * count as unasked.
 */
const IGNORED_BYTES: Allowance = { burst: 8 * MIB, perSecond: MIB / 4 }
/** Frames and fields of gossip, see `MessageScanner.units`. */
const GOSSIP_UNITS: Allowance = { burst: 50_000, perSecond: 10_000 }
/** Pings of the muxer, which answers each one. An honest peer pings twice a minute. */
const PINGS: Allowance = { burst: 100, perSecond: 2 }
/**
 * Streams that a peer may open. A stream that brings a request does not count, because requests have their own limits; a question to the
 * node table does count. Each stream costs timers and a negotiation, 0.3 ms. An honest peer has some dozens under way.
 */
export const STREAMS_OPENED: Allowance = { burst: 256, perSecond: 2 }
/** Extra bytes that each frame of the muxer is charged. */
const FRAME_COST_BYTES = 64
/** Most bytes queued for a connection whose other end does not read. Streams have their own limits; this is the last one. */
const WRITE_QUEUE_MAX = 2 * MIB
/** Two nodes that dial each other at the same time have two connections. A third is not needed. */
const LINKS_PER_PEER_MAX = 2

/** One open connection with its meters. */
export interface Link extends Connection {
  readonly connection: LibConnection
  readonly unaskedBytes: ClockedBucket
  readonly ignoredBytes: ClockedBucket
  readonly gossipUnits: ClockedBucket
  readonly streamsOpened: ClockedBucket
  readonly work: WorkAccount
  readonly bytes: { in: number; out: number }
}

/** Hears of offences that the transport sees. It must not throw. */
export type Blame = (peer: PeerId, offence: Offence, about: string) => void

/** What the links work with. */
export interface LinksDependencies {
  readonly clock: Clock
  readonly log: NetworkLog
  readonly blame: Blame
  readonly ended: (link: Link) => void
}

/** Open connections by peer, metered. A peer counts as connected from its first connection to the end of its last. */
export class Links {
  readonly total = { in: 0, out: 0 }
  readonly #deps: LinksDependencies
  readonly #work: InboundWork
  readonly #links = new Map<PeerId, Link[]>()
  /** Sockets that became connections. Any other socket belongs to a stranger. */
  readonly #upgraded = new WeakSet<object>()
  readonly #listeners: ConnectionListener[] = []
  readonly #watchers: ConnectionWatcher[] = []

  constructor(dependencies: LinksDependencies) {
    this.#deps = dependencies
    this.#work = new InboundWork(dependencies.clock)
  }

  onConnection(listener: ConnectionListener): void {
    this.#listeners.push(listener)
  }

  watch(watcher: ConnectionWatcher): void {
    this.#watchers.push(watcher)
  }

  /** Peers, each with its oldest connection. */
  peers(): readonly PeerInfo[] {
    return [...this.#links.values()].map((links) => infoOf(links[0] as Link))
  }

  all(): readonly Link[] {
    return [...this.#links.values()].flat()
  }

  /** The connection over which a peer is talked to; undefined if none is open. */
  of(peer: PeerId): Link | undefined {
    return this.#links.get(peer)?.find(({ connection }) => connection.status === 'open')
  }

  bytesOf(peer: PeerId): { readonly in: number; readonly out: number } | undefined {
    const links = this.#links.get(peer)
    return links?.reduce((sum, { bytes }) => ({ in: sum.in + bytes.in, out: sum.out + bytes.out }), { in: 0, out: 0 })
  }

  /** Limits how often we answer a stranger on a socket until it has become a connection. */
  accepted(socket: MessageStream): void {
    boundAnswers(socket, UPGRADE_WRITES_MAX, () => this.#upgraded.has(socket))
  }

  add(connection: LibConnection): void {
    this.#upgraded.add(socketOf(connection))
    const link = this.#linkOf(connection)
    const others = this.#links.get(link.peer) ?? []
    if (others.length >= LINKS_PER_PEER_MAX) {
      // The connection is aborted later, because the code that announces it still uses it.
      queueMicrotask(() => connection.abort(new Error('more connections than a peer needs')))
      return
    }
    this.#meter(link)
    this.#links.set(link.peer, [...others, link])
    for (const watcher of this.#watchers) watcher.opened(link)
    if (others.length === 0) for (const listener of this.#listeners) listener.connected(infoOf(link))
  }

  /** Gives back a stream that brought a request, since requests have their own limits. */
  requested(connection: LibConnection): void {
    this.#linkOver(connection)?.streamsOpened.giveBack(1)
  }

  remove(connection: LibConnection): void {
    const link = this.#linkOver(connection)
    if (link === undefined) return
    const { peer } = link
    this.#deps.ended(link)
    const left = (this.#links.get(peer) ?? []).filter((other) => other !== link)
    if (left.length > 0) this.#links.set(peer, left)
    else this.#links.delete(peer)
    for (const watcher of this.#watchers) watcher.closed(link)
    if (left.length === 0) for (const listener of this.#listeners) listener.disconnected(peer)
  }

  /** Whatever is under way on the connections is lost. */
  drop(peer: PeerId, reason: string): void {
    for (const { connection } of this.#links.get(peer) ?? []) connection.abort(new Error(reason))
  }

  /** Blames a peer and ends its connections, however few points it has. */
  expel(peer: PeerId, offence: Offence, about: string): void {
    // Bytes that are still in our buffers when a connection is cut must not count again.
    if (this.of(peer) === undefined) return
    this.#deps.log.debug({ peer, offence, about }, 'a connection is cut')
    this.#deps.blame(peer, offence, about)
    this.drop(peer, about)
  }

  #linkOver(connection: LibConnection): Link | undefined {
    return this.#links.get(connection.remotePeer.toString() as PeerId)?.find(({ id }) => id === connection.id)
  }

  #linkOf(connection: LibConnection): Link {
    const { socket } = layersOf(connection)
    return {
      connection,
      id: connection.id,
      peer: connection.remotePeer.toString() as PeerId,
      direction: connection.direction,
      address: connection.remoteAddr.toString(),
      openedAtMs: this.#deps.clock.now(),
      unaskedBytes: new ClockedBucket(UNASKED_BYTES, this.#deps.clock),
      ignoredBytes: new ClockedBucket(IGNORED_BYTES, this.#deps.clock),
      gossipUnits: new ClockedBucket(GOSSIP_UNITS, this.#deps.clock),
      streamsOpened: new ClockedBucket(STREAMS_OPENED, this.#deps.clock),
      work: this.#work.of({
        direction: connection.direction,
        isOpen: () => socket.status === 'open',
        pause: () => socket.pause(),
        resume: () => socket.resume(),
      }),
      bytes: { in: 0, out: 0 },
    }
  }

  #meter(link: Link): void {
    const { socket, encrypted, muxer } = layersOf(link.connection)
    // Without a limit a peer that does not read fills our memory with answers to its pings and resets of its streams.
    for (const layer of [socket, encrypted]) layer.maxWriteBufferLength = WRITE_QUEUE_MAX
    updateWindowsRarely(muxer)
    this.#boundStreams(link, muxer)
    const together = writeTogether(socket.socket)
    const send = socket.send.bind(socket)
    socket.send = (data) => {
      together()
      link.bytes.out += data.byteLength
      this.total.out += data.byteLength
      return send(data)
    }
    socket.addEventListener('message', ({ data }) => {
      link.bytes.in += data.byteLength
      this.total.in += data.byteLength
      if (!link.unaskedBytes.spend(data.byteLength))
        this.expel(link.peer, 'flood', 'bytes that this node did not ask for')
    })
    this.#meterFrames(link, muxer)
  }

  #boundStreams(link: Link, muxer: Muxer): void {
    const bound = (stream: MuxedStream): void => {
      boundBytes(stream, (offence, protocol) => this.expel(link.peer, offence, protocol))
      if (stream.direction === 'inbound') boundAnswers(stream, STREAM_WRITES_MAX, () => stream.protocol !== '')
    }
    // Streams that came with the end of the handshake already wait here.
    muxer.streams.forEach(bound)
    const make = muxer._newStream.bind(muxer)
    muxer._newStream = (...init) => {
      const stream = make(...init)
      bound(stream)
      return stream
    }
  }

  #meterFrames(link: Link, muxer: Muxer): void {
    const take = muxer.handleFrame.bind(muxer)
    muxer.handleFrame = (frame) => {
      const isNew = opensStream(frame)
      link.work.spend(isNew ? INBOUND_WORK.streamMs : INBOUND_WORK.frameMs)
      if (!link.unaskedBytes.spend(FRAME_COST_BYTES)) this.expel(link.peer, 'flood', 'frames')
      else if (isNew && !link.streamsOpened.spend(1)) this.expel(link.peer, 'flood', 'streams')
      else take(frame)
    }
    const pings = new ClockedBucket(PINGS, this.#deps.clock)
    const answer = muxer.handlePing.bind(muxer)
    muxer.handlePing = (header) => {
      if (pings.spend(1)) answer(header)
      else this.expel(link.peer, 'flood', 'pings')
    }
  }
}

function infoOf({ peer, direction, address }: Link): PeerInfo {
  return { id: peer, direction, address }
}

type MuxedStream = WindowedStream & Answering & Dispatching & Pick<Stream, 'direction'>

interface Muxer extends StreamMaker<MuxedStream> {
  readonly maConn: MessageStream
  readonly streams: readonly MuxedStream[]
  handlePing(header: object): void
  handleFrame(frame: Frame): void
}

type SocketStream = MessageStream & { readonly socket: Socket }

/** The socket below a connection. */
export function socketOf(connection: LibConnection): object {
  return layersOf(connection).socket
}

/** The layers below a connection, which its public type does not show. */
function layersOf(connection: LibConnection) {
  const { maConn, muxer } = connection as unknown as { maConn: SocketStream; muxer: Muxer }
  return { socket: maConn, encrypted: muxer.maConn, muxer }
}

/** A stream of the muxer with its receive window. */
export interface WindowedStream {
  readonly state: number
  /** Bytes of a whole window, and how many of them the other end may still send. */
  readonly recvWindow: number
  readonly recvWindowCapacity: number
  sendWindowUpdate(): void
}

/** Makes the streams of a connection. */
export interface StreamMaker<S extends WindowedStream = WindowedStream> {
  _newStream(...init: readonly unknown[]): S
}

/** A frame of yamux as it arrives. */
export interface Frame {
  readonly header: { readonly flag: number; readonly streamID: number }
}

/** yamux: flag on the first frame of a stream. */
const SYN = 1

/** yamux: state of a stream that both ends know and that is not paused. */
const ESTABLISHED = 3
/**
 * Share of a window that is used up before it is reported. It is small, because from these reports the muxer learns how large a window may
 * be.
 */
const USED_SHARE = 1 / 8
/** Once this many bytes are queued, they are sent before the turn ends. */
const TOGETHER_BYTES = 16_384

/** Whether a frame opens a stream. */
export function opensStream({ header }: Frame): boolean {
  return header.streamID !== 0 && (header.flag & SYN) === SYN
}

/**
 * Hands the small frames of one turn to the system in one call. Otherwise each piece, even the length of a frame, would be a system call
 * here, a packet on the line and an event at the other end. Call the returned function before every write.
 */
export function writeTogether(socket: Pick<Socket, 'cork' | 'uncork' | 'writableLength'>): () => void {
  let corked = false
  const flush = (): void => {
    if (!corked) return
    corked = false
    socket.uncork()
  }
  return () => {
    if (socket.writableLength >= TOGETHER_BYTES) flush()
    if (corked) return
    corked = true
    socket.cork()
    process.nextTick(flush)
  }
}

/**
 * Lets streams report their window only once an eighth of it is used up. Otherwise the muxer would answer every small message with a frame.
 * No sender waits for this, because the rest of the window lasts until the report arrives.
 */
export function updateWindowsRarely(muxer: StreamMaker): void {
  const make = muxer._newStream.bind(muxer)
  muxer._newStream = (...init) => {
    const stream = make(...init)
    const update = stream.sendWindowUpdate.bind(stream)
    stream.sendWindowUpdate = () => {
      const used = stream.recvWindow - stream.recvWindowCapacity
      if (stream.state === ESTABLISHED && used < stream.recvWindow * USED_SHARE) return
      update()
    }
    return stream
  }
}
