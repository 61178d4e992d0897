import type { PeerId as LibPeerId, Libp2p, MultiaddrConnection, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type {
  ConnectionListener,
  GossipJudge,
  Network,
  NetworkLog,
  PeerId,
  PeerInfo,
  RequestHandler,
  TopicName,
} from '../network.ts'
import { type ChannelName, type ProtocolName, protocolId } from '../wire/protocols.ts'
import type { Connection, ConnectionWatcher, Dialer, Gate } from './dialer.ts'
import type { Finder } from './discovery.ts'
import { Entrance, type InboundSocket } from './entrance.ts'
import { Gossip } from './gossip.ts'
import { identityOf } from './identity.ts'
import { buildNode, type NodeSettings } from './lib-node.ts'
import { type Blame, type Link, Links, socketOf } from './links.ts'
import { NodeTable } from './node-table.ts'
import { ASKED_MAX, Requests, reasonOf } from './streams.ts'

/** What the host is opened with. */
export interface HostOptions extends NodeSettings {
  readonly log: NetworkLog
}

const DIAL_MS = 10_000
const STOP_MS = 2_000
/** Inbound connections that are let in above `inboundMax`, until the peer manager has decided which one ends. */
const INBOUND_SPARE = 8

/** Called for each connected peer that `disconnect` is told to ban, before its connections end. */
export type BanListener = (peer: PeerInfo, reason: string) => void

/** libp2p behind our own interfaces. It carries messages, dials, and finds nodes. */
export class Host implements Network, Dialer {
  readonly self: PeerId
  readonly #options: HostOptions
  readonly #links: Links
  readonly #entrance: Entrance
  readonly #requests: Requests
  readonly #gossip: Gossip
  readonly #served = new Map<ChannelName, RequestHandler>()
  readonly #banListeners: BanListener[] = []
  #node: Libp2p | undefined
  #finder: Finder | undefined
  #gate: Gate | undefined
  #blame: Blame = () => {}
  #started = false
  #stopping: Promise<void> | undefined

  constructor(options: HostOptions) {
    this.#options = options
    this.self = identityOf(options.key).peer
    const { genesis, log, clock, allowPrivate } = options
    const blame: Blame = (peer, offence, about) => this.#blame(peer, offence, about)
    const isKnown = (address: string): boolean => this.#gate?.isKnown(address) ?? false
    this.#entrance = new Entrance({ clock, allowPrivate, isKnown })
    const ended = ({ direction, address, work }: Link): void => {
      if (direction === 'inbound') work.end((ms) => this.#entrance.charge(address, ms))
    }
    this.#links = new Links({ clock, log, blame, ended })
    this.#requests = new Requests({ genesis, links: this.#links, blame, log })
    this.#gossip = new Gossip({ genesis, links: this.#links, blame, log })
  }

  /** Rejects if libp2p refuses the settings. */
  async build(): Promise<void> {
    const gater = {
      denyDialPeer: (peer: LibPeerId) => !this.#mayDial(peer.toString() as PeerId, ''),
      denyDialMultiaddr: (address: Multiaddr) => !this.#mayDial(null, address.toString()),
      denyInboundConnection: async (socket: MultiaddrConnection) => {
        this.#links.accepted(socket)
        if (!this.#mayAccept(socket.remoteAddr.toString())) return true
        return !(await this.#entrance.admit(socket as InboundSocket))
      },
      denyInboundEncryptedConnection: (peer: LibPeerId, { remoteAddr }: MultiaddrConnection) =>
        !this.#mayKeep(peer, remoteAddr, 'inbound'),
      denyOutboundEncryptedConnection: (peer: LibPeerId, { remoteAddr }: MultiaddrConnection) =>
        !this.#mayKeep(peer, remoteAddr, 'outbound'),
    }
    const table = this.#options.dht ? this.#openTable() : null
    const { node, finder } = await buildNode(this.#options, { gater, gossip: this.#gossip, table })
    node.addEventListener('connection:open', ({ detail }) => {
      this.#entrance.leave(socketOf(detail))
      this.#links.add(detail)
    })
    node.addEventListener('connection:close', ({ detail }) => this.#links.remove(detail))
    this.#node = node
    this.#finder = finder
  }

  get finder(): Finder {
    if (this.#finder === undefined) throw new Error('the host is not built')
    return this.#finder
  }

  /** Listens and takes connections. Faults: `p2p/port-taken`, or `p2p/address-unusable` if listening fails otherwise. */
  async start(): Promise<Result<void>> {
    try {
      // Done here and not in `serve`, because libp2p also writes each protocol to its peer store, which may fail.
      for (const [protocol, handler] of this.#served) await this.#answer(protocol, handler)
      if (this.#options.dht)
        await this.#lib().handle(PING_PROTOCOL, answerPing, { maxInboundStreams: PING_STREAMS_MAX })
      this.#started = true
      await this.#lib().start()
      this.#gossip.start()
      return ok(undefined)
    } catch (error) {
      await this.stop()
      const { host, port } = this.#options.listen
      const text = String((error as Error).message)
      if (text.includes('EADDRINUSE')) return fail(fault('p2p/port-taken', { host, port }))
      return fail(
        fault('p2p/address-unusable', { host, port, reason: /listen (E[^\n]*)/.exec(text)?.[1] ?? reasonOf(error) }),
      )
    }
  }

  /** Resolves within two seconds, even if libp2p has not stopped by then. It never rejects. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** Sets the listener for offences that only the transport sees. */
  onViolation(blame: Blame): void {
    this.#blame = blame
  }

  onBan(listener: BanListener): void {
    this.#banListeners.push(listener)
  }

  /** Without a gate, only `Entrance` and the bounds of inbound connections and of connections to one peer end any. */
  setGate(gate: Gate): void {
    this.#gate = gate
  }

  /** Multiaddrs at which this node is reached, with its id. Before the start there is at most the one to announce. */
  addresses(): readonly string[] {
    return this.#node?.getMultiaddrs().map(String) ?? []
  }

  peers(): readonly PeerInfo[] {
    return this.#links.peers()
  }

  onConnection(listener: ConnectionListener): void {
    this.#links.onConnection(listener)
  }

  connections(): readonly Connection[] {
    return this.#links.all()
  }

  watch(watcher: ConnectionWatcher): void {
    this.#links.watch(watcher)
  }

  async dial(address: string): Promise<Result<PeerId>> {
    const target = readAddress(address)
    if (target === undefined)
      return fail(fault('p2p/address', { text: address.slice(0, 100), reason: 'it is not a multiaddr' }))
    const signal = AbortSignal.timeout(DIAL_MS)
    try {
      const { remotePeer } = await this.#lib().dial(target, { signal })
      return ok(remotePeer.toString() as PeerId)
    } catch (error) {
      if (signal.aborted) return fail(fault('p2p/timeout', { protocol: 'dial', ms: DIAL_MS }))
      return fail(fault('p2p/unreachable', { reason: reasonOf(error) }))
    }
  }

  hangUp(connectionId: string, reason: string): void {
    const link = this.#links.all().find(({ id }) => id === connectionId)
    link?.connection.abort(new Error(reason))
  }

  disconnect(peer: PeerId, reason: string, banned = false): void {
    const info = this.#links.peers().find(({ id }) => id === peer)
    if (banned && info !== undefined) for (const listener of this.#banListeners) listener(info, reason)
    this.#links.drop(peer, reason)
  }

  request(peer: PeerId, protocol: ProtocolName, body: Uint8Array): Promise<Result<Uint8Array>> {
    return this.#requests.ask(peer, protocol, body)
  }

  serve(protocol: ProtocolName, handler: RequestHandler): void {
    if (this.#served.has(protocol)) throw new Error(`${protocol} is served already`)
    this.#served.set(protocol, handler)
    if (!this.#started) return
    this.#answer(protocol, handler).catch((error: unknown) =>
      this.#options.log.warn({ protocol, reason: reasonOf(error) }, 'a protocol is not served'),
    )
  }

  subscribe(topic: TopicName, judge: GossipJudge): void {
    this.#gossip.setJudge(topic, judge)
  }

  publish(topic: TopicName, body: Uint8Array): void {
    this.#gossip.publish(topic, body)
  }

  bytesOf(peer: PeerId): { readonly in: number; readonly out: number } | null {
    return this.#links.bytesOf(peer) ?? null
  }

  get totalBytes(): { readonly in: number; readonly out: number } {
    return this.#links.total
  }

  meshOf(topic: TopicName): readonly PeerId[] {
    return this.#gossip.meshOf(topic)
  }

  scoreOf(peer: PeerId): number {
    return this.#gossip.scoreOf(peer)
  }

  #openTable(): NodeTable {
    const { clock, allowPrivate } = this.#options
    const table = new NodeTable({
      ...{ links: this.#links, clock, allowPrivate },
      ask: (peer, protocol, body) => this.#requests.ask(peer, protocol, body),
    })
    this.#served.set('kad', async (from, body) => table.answer(from, body))
    return table
  }

  #answer(protocol: ChannelName, handler: RequestHandler): Promise<void> {
    const id = protocolId(this.#options.genesis, protocol)
    const limits = { maxInboundStreams: Requests.streamsMax(protocol), maxOutboundStreams: ASKED_MAX }
    return this.#lib().handle(
      id,
      (stream, connection) => this.#requests.answer(protocol, handler, stream, connection),
      limits,
    )
  }

  async #stop(): Promise<void> {
    this.#gossip.stop()
    this.#requests.stop()
    // Connections are aborted, because an orderly close waits for peers that may not answer.
    for (const { connection } of this.#links.all()) connection.abort(new Error('the node stops'))
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#options.log.warn({ ms: STOP_MS }, 'the network did not stop in time')
      late.resolve()
    }, STOP_MS)
    await Promise.race([this.#stopNode(), late.promise])
    clearTimeout(timer)
  }

  async #stopNode(): Promise<void> {
    try {
      await this.#node?.stop()
    } catch (error) {
      this.#options.log.warn({ reason: reasonOf(error) }, 'the network did not stop in good order')
    }
  }

  #mayAccept(address: string): boolean {
    const inbound = this.#links.all().filter(({ direction }) => direction === 'inbound').length
    if (inbound >= this.#options.inboundMax + INBOUND_SPARE) return false
    return this.#gate?.mayAccept(address) ?? true
  }

  #mayKeep(peer: LibPeerId, address: Multiaddr, direction: 'inbound' | 'outbound'): boolean {
    return this.#gate?.mayKeep(peer.toString() as PeerId, address.toString(), direction) ?? true
  }

  #mayDial(peer: PeerId | null, address: string): boolean {
    return this.#gate?.mayDial(peer, address) ?? true
  }

  #lib(): Libp2p {
    if (this.#node === undefined) throw new Error('the host is not built')
    return this.#node
  }
}

/**
 * Opens the host. It listens and dials only after `start`. Set handlers and judges before that. Fault: `p2p/address-unusable` if libp2p
 * refuses the settings, which it does for a bad address.
 */
export async function openHost(options: HostOptions): Promise<Result<Host>> {
  const host = new Host(options)
  try {
    await host.build()
    return ok(host)
  } catch (error) {
    return fail(fault('p2p/address-unusable', { ...options.listen, reason: reasonOf(error) }))
  }
}

function readAddress(text: string): Multiaddr | undefined {
  try {
    const address = multiaddr(text)
    const id = address.getComponents().find(({ name }) => name === 'p2p')?.value
    if (id !== undefined) peerIdFromString(id)
    return address
  } catch {
    return undefined
  }
}

/** Older releases keep a node in their table only while it answers these pings. */
export const PING_PROTOCOL = '/ipfs/ping/1.0.0'
/** Most ping streams of one peer that may be open. One may end while the next begins. */
const PING_STREAMS_MAX = 2
const PING_BYTES = 32
const PING_MS = 5_000

function answerPing(stream: Stream): void {
  const timer = setTimeout(() => stream.abort(new Error('no whole ping in time')), PING_MS)
  const chunks: Uint8Array[] = []
  let bytes = 0
  stream.addEventListener('close', () => clearTimeout(timer))
  stream.addEventListener('message', ({ data }) => {
    if (bytes === PING_BYTES) return
    chunks.push(data.subarray())
    bytes += data.byteLength
    if (bytes > PING_BYTES) stream.abort(new Error('more than one ping'))
    if (bytes === PING_BYTES) void giveBack(stream, Buffer.concat(chunks))
  })
}

async function giveBack(stream: Stream, ping: Uint8Array): Promise<void> {
  try {
    stream.send(ping)
    await stream.close({ signal: AbortSignal.timeout(PING_MS) })
  } catch (error) {
    stream.abort(error instanceof Error ? error : new Error('not written'))
  }
}
