import type { GossipSubComponents } from '@libp2p/gossipsub'
import type { Connection, PeerId as LibPeerId, Stream, StreamHandler, Topology } from '@libp2p/interface'
import type { PeerId } from '../network.ts'
import { facade } from './facade.ts'
import { INBOUND_WORK } from './inbound-work.ts'
import type { Links } from './links.ts'
import { MessageScanner } from './message-scanner.ts'

type Registrar = GossipSubComponents['registrar']

/** Time limit for opening a gossip stream, which takes a round trip or two. */
const OPEN_MS = 5_000

/** What the meter works with. */
export interface MeterDependencies {
  readonly links: Links
  readonly frameMax: number
  readonly protocol: string
}

/**
 * The registrar as gossipsub sees it. Incoming gossip is metered, and a peer that sends junk or too much is cut off. Streams to peers are
 * opened before gossipsub asks for them, because gossipsub opens them one after another, and a peer that does not answer would hold up all
 * others. gossipsub would go on without a stream that died. So if its connection is still open, the peer is disconnected, and otherwise the
 * stream is opened again over another connection.
 */
export class GossipMeter {
  readonly #deps: MeterDependencies
  /** Peers to which a stream is open or being opened. */
  readonly #attached = new Set<PeerId>()

  constructor(dependencies: MeterDependencies) {
    this.#deps = dependencies
  }

  components(inner: GossipSubComponents): GossipSubComponents {
    const { privateKey, peerId, peerStore, connectionManager, logger } = inner
    return { privateKey, peerId, peerStore, connectionManager, logger, registrar: this.#registrar(inner.registrar) }
  }

  /** Streams that end from here on have no consequences. */
  stop(): void {
    this.#stopped = true
  }

  #stopped = false

  #registrar(registrar: Registrar): Registrar {
    return facade(registrar, {
      handle: (protocol: string, handler: StreamHandler, options?: object) =>
        registrar.handle(protocol, (stream, connection) => this.#incoming(handler, stream, connection), options),
      register: (protocol: string, topology: Topology) =>
        registrar.register(protocol, {
          ...topology,
          onConnect: (peer: LibPeerId, connection: Connection) => void this.#attach(topology, peer, connection),
        }),
    })
  }

  #incoming(handler: StreamHandler, stream: Stream, connection: Connection): void | Promise<void> {
    const link = this.#deps.links.all().find(({ id }) => id === connection.id)
    if (link === undefined) {
      stream.abort(new Error('the connection is not ours'))
      return
    }
    const scanner = new MessageScanner(this.#deps.frameMax)
    let counted = 0
    let cut = false
    stream.addEventListener('message', ({ data }) => {
      if (cut) return
      for (const chunk of data instanceof Uint8Array ? [data] : data) {
        const malformed = scanner.scan(chunk)
        const units = scanner.units - counted
        counted = scanner.units
        link.work.spend(units * INBOUND_WORK.gossipUnitMs)
        const offence = malformed ?? (link.gossipUnits.spend(units) ? null : 'flood')
        if (offence === null) continue
        cut = true
        this.#deps.links.expel(link.peer, offence, 'gossip')
        return
      }
    })
    // `#attach` opens the stream that gossipsub would ask for here, without holding up other peers.
    return handler(
      stream,
      facade(connection, { newStream: () => Promise.reject(new Error('the stream is opened elsewhere')) }),
    )
  }

  /** It never rejects. */
  async #attach(topology: Topology, peer: LibPeerId, connection: Connection): Promise<void> {
    const id = peer.toString() as PeerId
    if (this.#attached.has(id)) return
    this.#attached.add(id)
    try {
      const stream = await connection.newStream([this.#deps.protocol], { signal: AbortSignal.timeout(OPEN_MS) })
      stream.addEventListener('close', () => this.#reattach(topology, peer, connection))
      await topology.onConnect?.(peer, facade(connection, { newStream: () => Promise.resolve(stream) }))
    } catch {
      this.#reattach(topology, peer, connection)
    }
  }

  #reattach(topology: Topology, peer: LibPeerId, dead: Connection): void {
    const id = peer.toString() as PeerId
    this.#attached.delete(id)
    if (this.#stopped) return
    // This is done later, because a closing connection closes its streams before its status changes.
    queueMicrotask(() => {
      if (dead.status === 'open') this.#deps.links.drop(id, 'its gossip stream ended')
      const other = this.#deps.links.of(id)
      if (other !== undefined && other.connection !== dead) void this.#attach(topology, peer, other.connection)
    })
  }
}
