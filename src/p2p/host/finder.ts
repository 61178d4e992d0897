import type { Identify } from '@libp2p/identify'
import type { Libp2p, PeerInfo as Libp2pPeerInfo, TypedEventTarget } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { PeerId } from '../network.ts'
import { type Finder, type FoundListener, OWN_ADDRESSES_MAX } from './discovery.ts'
import type { NodeTable } from './node-table.ts'

/** A service of libp2p that tells of peers that it came upon. */
type Finding = TypedEventTarget<{ readonly peer: CustomEvent<Libp2pPeerInfo> }>

/** The services of libp2p that find nodes; null where one is off. */
export interface FindingServices {
  readonly node: Pick<Libp2p, 'addEventListener' | 'getConnections'>
  /** libp2p asks each new connection by itself, once. */
  readonly identify: Identify
  readonly table: NodeTable | null
  /** The mDNS service itself: libp2p tells only of peers that it never heard of, and a restarted one has a new port. */
  readonly mdns: Finding | null
}

/** Finds nodes by libp2p: the table of nodes, mDNS and what peers say of themselves when they connect. */
export class Libp2pFinder implements Finder {
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
