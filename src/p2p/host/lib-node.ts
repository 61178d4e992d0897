import { noise } from '@chainsafe/libp2p-noise'
import { type Identify, identify, identifyPush } from '@libp2p/identify'
import {
  type ConnectionGater,
  type PeerId as LibPeerId,
  type Libp2p,
  type PeerInfo as Libp2pPeerInfo,
  NotFoundError,
  type PeerDiscovery,
  type PeerStore,
  type PrivateKey,
  type TypedEventTarget,
} from '@libp2p/interface'
import { mdns } from '@libp2p/mdns'
import { peerIdFromString } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import type { Clock } from '../../../consensus/chain/ports.ts'
import { copy } from '../../../consensus/primitives/bytes.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { PeerId } from '../network.ts'
import { type Finder, type FoundListener, OWN_ADDRESSES_MAX } from './discovery.ts'
import { HANDSHAKES } from './entrance.ts'
import type { Gossip } from './gossip.ts'
import { identityOf } from './identity.ts'
import { answeringSeldom } from './lib-bounds.ts'
import type { NodeTable } from './node-table.ts'

/** How a node takes part in the network. */
export interface NodeSettings {
  readonly key: PrivateKey
  /** Id of the genesis block, hex. */
  readonly genesis: string
  readonly agent: string
  readonly listen: { readonly host: string; readonly port: number }
  /** Address that peers are told; null for the addresses listened on. */
  readonly announce: string | null
  readonly inboundMax: number
  readonly outboundMax: number
  readonly dht: boolean
  readonly mdns: boolean
  readonly upnp: boolean
  readonly autonat: boolean
  /** Whether addresses of private networks and of this machine are used, as on devnets and in tests. */
  readonly allowPrivate: boolean
  readonly clock: Clock
}

/** Parts that a node is built of beside its settings. */
export interface NodeDependencies {
  readonly gater: ConnectionGater
  readonly table: NodeTable | null
  readonly gossip: Gossip
}

const MIB = 1_048_576
/** A paused stream must be able to hold a whole window, or it is reset. */
const WINDOW_BYTES = MIB
const READ_BUFFER_BYTES = WINDOW_BYTES + 65_536
/** Streams that the other end of a connection may have open, in all protocols together. */
const STREAMS_MAX = 128
/** Time for a handshake once it is its turn. */
const UPGRADE_MS = 4_000
const NEGOTIATION_MS = 5_000
const CLOSE_MS = 500
const DIGITS = 16
/** Connections beyond the two limits: those that are short-lived or about to be closed. */
const SPARE_CONNECTIONS = 32

/** A node, and its finder of other nodes. */
export interface BuiltNode {
  readonly node: Libp2p
  readonly finder: Libp2pFinder
}

/** The node listens only once it is started. */
export async function buildNode(settings: NodeSettings, parts: NodeDependencies): Promise<BuiltNode> {
  const { key, inboundMax, outboundMax } = settings
  const self: string = identityOf(key).peer
  let found: PeerDiscovery | null = null
  const node = await createLibp2p({
    privateKey: key,
    start: false,
    nodeInfo: { userAgent: settings.agent },
    datastore: new PeerMemory(),
    addresses: addressesOf(settings),
    transports: [tcp({ inboundSocketInactivityTimeout: 120_000, outboundSocketInactivityTimeout: 120_000 })],
    connectionEncrypters: [noise()],
    streamMuxers: [
      yamux({
        maxInboundStreams: STREAMS_MAX,
        streamOptions: { maxStreamWindowSize: WINDOW_BYTES, maxReadBufferLength: READ_BUFFER_BYTES },
      }),
    ],
    // libp2p keeps no addresses of other peers: no dial uses them, and libp2p would read them again for each stream.
    connectionGater: { ...parts.gater, filterMultiaddrForPeer: async (peer: LibPeerId) => peer.toString() === self },
    connectionManager: {
      maxConnections: inboundMax + outboundMax + SPARE_CONNECTIONS,
      // `Entrance` bounds waiting sockets and sockets per second by address and IPv6 prefix. libp2p would count waiting ones
      // only in total, where one attacker could take every place, and would take each IPv6 address for another machine.
      maxIncomingPendingConnections: Number.POSITIVE_INFINITY,
      inboundConnectionThreshold: Number.POSITIVE_INFINITY,
      inboundUpgradeTimeout: UPGRADE_MS + HANDSHAKES.waitMs,
      inboundStreamProtocolNegotiationTimeout: NEGOTIATION_MS,
      outboundStreamProtocolNegotiationTimeout: NEGOTIATION_MS,
      connectionCloseTimeout: CLOSE_MS,
      // The peer manager decides which peers are dialled, and when again.
      reconnectRetries: 0,
    },
    // libp2p would ping peers and close connections that do not answer in time. The status requests to peers tell as much.
    connectionMonitor: { enabled: false },
    peerDiscovery: settings.mdns ? [localNetwork(settings, (discovery) => (found = discovery))] : [],
    services: await servicesOf(settings, parts),
  } as unknown as Libp2pOptions)
  boundPatches(node.peerStore, node.peerId)
  const { identify: asker } = node.services as { identify: Identify }
  return { node, finder: new Libp2pFinder({ node, identify: asker, table: parts.table, mdns: found }) }
}

function addressesOf({ listen, announce }: NodeSettings): { listen: string[]; announce: string[] } {
  const kind = listen.host.includes(':') ? 'ip6' : 'ip4'
  return { listen: [`/${kind}/${listen.host}/tcp/${listen.port}`], announce: announce === null ? [] : [announce] }
}

function localNetwork({ genesis }: NodeSettings, keep: (discovery: PeerDiscovery) => void) {
  const build = mdns({ serviceTag: `_farthing-${genesis.slice(0, DIGITS)}._udp.local` })
  return (components: Parameters<typeof build>[0]): PeerDiscovery => {
    const discovery = build(components)
    keep(discovery)
    return discovery
  }
}

async function servicesOf(settings: NodeSettings, { gossip }: NodeDependencies): Promise<Record<string, unknown>> {
  return {
    identify: answeringSeldom(identify(), settings.clock),
    identifyPush: answeringSeldom(identifyPush(), settings.clock),
    gossip: gossip.service(),
    ...(settings.autonat || settings.upnp ? await reachability(settings) : {}),
  }
}

/** Services that tell a node behind a router how it is reached. Few nodes use them, so only those nodes load them. */
async function reachability({ upnp, clock }: NodeSettings): Promise<Record<string, unknown>> {
  const { autoNAT } = await import('@libp2p/autonat')
  const autonat = answeringSeldom(autoNAT(), clock)
  if (!upnp) return { autonat }
  const { uPnPNAT } = await import('@libp2p/upnp-nat')
  return { autonat, upnp: uPnPNAT() }
}

type Finding = TypedEventTarget<{ readonly peer: CustomEvent<Libp2pPeerInfo> }>

interface FindingServices {
  readonly node: Pick<Libp2p, 'addEventListener' | 'getConnections'>
  /** libp2p asks each new connection once by itself. */
  readonly identify: Identify
  readonly table: NodeTable | null
  /** The mDNS service itself. libp2p reports only peers that are new to it, and a restarted peer has a new port. */
  readonly mdns: Finding | null
}

class Libp2pFinder implements Finder {
  readonly #services: FindingServices
  readonly #listeners: FoundListener[] = []

  constructor(services: FindingServices) {
    this.#services = services
    const { node, mdns, table } = services
    node.addEventListener('peer:identify', ({ detail: { peerId, listenAddrs } }) => {
      const [peer, addresses] = textsOf({ id: peerId, multiaddrs: listenAddrs })
      table?.heard(peer, addresses)
      this.#tell(peer, addresses, 'identify')
    })
    mdns?.addEventListener('peer', ({ detail }) => this.#tell(...textsOf(detail), 'mdns'))
  }

  onFound(listener: FoundListener): void {
    this.#listeners.push(listener)
  }

  async identify(peer: PeerId): Promise<void> {
    const { node, identify } = this.#services
    const connection = node.getConnections(peerIdFromString(peer)).find(({ status }) => status === 'open')
    if (connection === undefined) return
    try {
      // The answer comes by the event `peer:identify`, to which the constructor listens. The call has its own deadline.
      await identify.identify(connection)
    } catch {
      // The peer may be busy. Discovery asks again.
    }
  }

  async walk(): Promise<void> {
    await this.#services.table?.walk(({ peer, addresses }, from) => this.#tell(peer, addresses, 'kad', from))
  }

  #tell(...found: Parameters<FoundListener>): void {
    for (const listener of this.#listeners) listener(...found)
  }
}

/** Id and addresses as texts. Each address costs work, so only the first few are read. */
function textsOf({ id, multiaddrs }: Pick<Libp2pPeerInfo, 'id' | 'multiaddrs'>): [PeerId, readonly string[]] {
  return [id.toString() as PeerId, multiaddrs.slice(0, OWN_ADDRESSES_MAX).map(String)]
}

/** Most peers of which notes are kept. Far fewer are connected, and libp2p looks those up all the time, so theirs are not pushed out. */
export const PEER_NOTES_MAX = 2_048
/** Longest note of one peer that is kept. What an honest peer says is far shorter. */
export const PEER_NOTE_BYTES_MAX = 32_768

/** Most protocols noted of those that a peer says it speaks. This node speaks some fifteen. */
export const PEER_PROTOCOLS_MAX = 64

interface Key {
  toString(): string
}

/**
 * libp2p's notes about peers, in memory and bounded. libp2p writes one for every connection and stream, and strangers with fresh ids would
 * fill a disk with them. The address book keeps what a restart needs.
 */
export class PeerMemory {
  readonly #notes = new LruMap<string, Uint8Array>(PEER_NOTES_MAX)

  get(key: Key): Uint8Array {
    const note = this.#notes.get(key.toString())
    if (note === undefined) throw new NotFoundError(`nothing is known of ${key.toString()}`)
    return note
  }

  put(key: Key, value: Uint8Array): Key {
    // libp2p gives a view of a 64 KiB slab. Keeping the view would keep the whole slab.
    if (value.length <= PEER_NOTE_BYTES_MAX) this.#notes.set(key.toString(), copy(value))
    return key
  }

  delete(key: Key): void {
    this.#notes.delete(key.toString())
  }

  /** libp2p asks at its start for notes of an earlier run. There are none. */
  async *query(): AsyncGenerator<never> {}
}

/**
 * Shortens the list of protocols that a peer says it speaks before it is noted. libp2p sorts the list again for each stream of the peer.
 */
function boundPatches(store: PeerStore, self: LibPeerId): void {
  const patch = store.patch.bind(store)
  store.patch = (peer, data, options) => {
    if (peer.equals(self) || data.protocols === undefined) return patch(peer, data, options)
    return patch(peer, { ...data, protocols: data.protocols.slice(0, PEER_PROTOCOLS_MAX) }, options)
  }
}
