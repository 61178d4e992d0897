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
  /** What others see of this program. */
  readonly agent: string
  readonly listen: { readonly host: string; readonly port: number }
  /** Address that others are told; null for those listened on. */
  readonly announce: string | null
  readonly inboundMax: number
  readonly outboundMax: number
  readonly dht: boolean
  readonly mdns: boolean
  readonly upnp: boolean
  readonly autonat: boolean
  /** Whether addresses of private networks and of this machine are used: devnets, tests. */
  readonly allowPrivate: boolean
  readonly clock: Clock
}

/** What a node is built of beside its settings. */
export interface NodeDependencies {
  readonly gater: ConnectionGater
  /** Null where no table of nodes is kept. */
  readonly table: NodeTable | null
  readonly gossip: Gossip
}

const MIB = 1_048_576
/** A paused stream must hold a whole window, or it is reset. */
const WINDOW_BYTES = MIB
const READ_BUFFER_BYTES = WINDOW_BYTES + 65_536
/** Streams that a peer may have open in all protocols together. */
const STREAMS_MAX = 128
/** Time for a handshake, beside the wait for its turn. */
const UPGRADE_MS = 4_000
const NEGOTIATION_MS = 5_000
const CLOSE_MS = 500
const DIGITS = 16
/** Connections that pass for a moment: dialled to look, or in the way out. */
const SPARE_CONNECTIONS = 32

/** A node, and what finds others for it. */
export interface BuiltNode {
  readonly node: Libp2p
  readonly finder: Libp2pFinder
}

/** Builds the node; it listens only once it is started. */
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
    // Nothing is dialled by what is noted, and a note is read anew for each stream.
    connectionGater: { ...parts.gater, filterMultiaddrForPeer: async (peer: LibPeerId) => peer.toString() === self },
    connectionManager: {
      maxConnections: inboundMax + outboundMax + SPARE_CONNECTIONS,
      // The entrance bounds both, by network; libp2p would count in all and by whole addresses of IPv6.
      maxIncomingPendingConnections: Number.POSITIVE_INFINITY,
      inboundConnectionThreshold: Number.POSITIVE_INFINITY,
      inboundUpgradeTimeout: UPGRADE_MS + HANDSHAKES.waitMs,
      inboundStreamProtocolNegotiationTimeout: NEGOTIATION_MS,
      outboundStreamProtocolNegotiationTimeout: NEGOTIATION_MS,
      connectionCloseTimeout: CLOSE_MS,
      // Who is dialled, and when again, is for the peer manager.
      reconnectRetries: 0,
    },
    // It closes connections that do not answer in time; peers are asked how they stand, which tells as much.
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

/** How a node behind a router is reached. Few nodes ask for it, so only those load it. */
async function reachability({ upnp, clock }: NodeSettings): Promise<Record<string, unknown>> {
  const { autoNAT } = await import('@libp2p/autonat')
  const autonat = answeringSeldom(autoNAT(), clock)
  if (!upnp) return { autonat }
  const { uPnPNAT } = await import('@libp2p/upnp-nat')
  return { autonat, upnp: uPnPNAT() }
}

/** A service of libp2p that tells of peers that it came upon. */
type Finding = TypedEventTarget<{ readonly peer: CustomEvent<Libp2pPeerInfo> }>

/** The services of libp2p that find nodes; null where one is off. */
interface FindingServices {
  readonly node: Pick<Libp2p, 'addEventListener' | 'getConnections'>
  /** libp2p asks each new connection by itself, once. */
  readonly identify: Identify
  readonly table: NodeTable | null
  /** The mDNS service itself: libp2p tells only of peers that it never heard of, and a restarted one has a new port. */
  readonly mdns: Finding | null
}

/** Finds nodes by libp2p: the table of nodes, mDNS and what peers say of themselves when they connect. */
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
      // It tells by the event that the first answer would have come by, and has a deadline of its own.
      await identify.identify(connection)
    } catch {
      // It may be as busy as it was at first: discovery asks again.
    }
  }

  async walk(): Promise<void> {
    await this.#services.table?.walk(({ peer, addresses }, from) => this.#tell(peer, addresses, 'kad', from))
  }

  #tell(...found: Parameters<FoundListener>): void {
    for (const listener of this.#listeners) listener(...found)
  }
}

/** Id and addresses as texts, no more addresses than are looked at: each is work. */
function textsOf({ id, multiaddrs }: Pick<Libp2pPeerInfo, 'id' | 'multiaddrs'>): [PeerId, readonly string[]] {
  return [id.toString() as PeerId, multiaddrs.slice(0, OWN_ADDRESSES_MAX).map(String)]
}

/** Peers that are remembered; those that are connected are far fewer, and are looked up again and again. */
export const PEER_NOTES_MAX = 2_048
/** Longest note of one peer: some pages of what an honest one says. What would outgrow it is not noted. */
export const PEER_NOTE_BYTES_MAX = 32_768

/** Protocols that are noted of a peer, those it says itself to speak: ours are some fifteen. */
export const PEER_PROTOCOLS_MAX = 64

/** A name that libp2p keeps something under. */
interface Key {
  toString(): string
}

/**
 * Notes of libp2p about peers, in memory and bounded: it writes one for every connection and for every stream, and strangers
 * who come under a new name each time would fill a disk with them. What a restart needs is in the address book.
 */
export class PeerMemory {
  readonly #notes = new LruMap<string, Uint8Array>(PEER_NOTES_MAX)

  get(key: Key): Uint8Array {
    const note = this.#notes.get(key.toString())
    if (note === undefined) throw new NotFoundError(`nothing is known of ${key.toString()}`)
    return note
  }

  put(key: Key, value: Uint8Array): Key {
    // libp2p gives a view of a slab of 64 KiB, which a note that is kept would keep whole.
    if (value.length <= PEER_NOTE_BYTES_MAX) this.#notes.set(key.toString(), copy(value))
    return key
  }

  delete(key: Key): void {
    this.#notes.delete(key.toString())
  }

  /** libp2p asks for notes of an earlier run when it starts: there are none. */
  async *query(): AsyncGenerator<never> {}
}

/** Shortens what peers say of themselves before it is noted: libp2p sorts it anew for each of their streams. */
function boundPatches(store: PeerStore, self: LibPeerId): void {
  const patch = store.patch.bind(store)
  store.patch = (peer, data, options) => {
    if (peer.equals(self) || data.protocols === undefined) return patch(peer, data, options)
    return patch(peer, { ...data, protocols: data.protocols.slice(0, PEER_PROTOCOLS_MAX) }, options)
  }
}
