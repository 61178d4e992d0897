import { randomBytes } from 'node:crypto'
import type { Identify } from '@libp2p/identify'
import type { Libp2p, PeerInfo as Libp2pPeerInfo, TypedEventTarget } from '@libp2p/interface'
import type { KadDHT } from '@libp2p/kad-dht'
import { peerIdFromString } from '@libp2p/peer-id'
import type { PeerId } from '../network.ts'
import type { Finder, FoundBy } from './discovery.ts'

/** A service of libp2p that tells of peers that it came upon. */
type Finding = TypedEventTarget<{ readonly peer: CustomEvent<Libp2pPeerInfo> }>

/** The services of libp2p that find nodes; null where one is off. */
export interface FindingServices {
  readonly node: Pick<Libp2p, 'addEventListener' | 'getConnections'>
  /** libp2p asks each new connection by itself, once. */
  readonly identify: Identify
  readonly dht: KadDHT | null
  /** The mDNS service itself: libp2p tells only of peers that it never heard of, and a restarted one has a new port. */
  readonly mdns: Finding | null
}

const WALK_MS_MAX = 30_000
/** Answers of one walk that are looked at. */
const ANSWERS_MAX = 256
const KEY_BYTES = 32

/** Finds nodes by libp2p: Kademlia, mDNS and what peers say of themselves when they connect. */
export class Libp2pFinder implements Finder {
  readonly #services: FindingServices
  readonly #listeners: ((peer: PeerId, addresses: readonly string[], by: FoundBy) => void)[] = []

  constructor(services: FindingServices) {
    this.#services = services
    const { node, mdns, dht } = services
    node.addEventListener('peer:identify', ({ detail: { peerId, listenAddrs } }) =>
      this.#tell({ id: peerId, multiaddrs: listenAddrs }, 'identify'),
    )
    mdns?.addEventListener('peer', ({ detail }) => this.#tell(detail, 'mdns'))
    if (dht !== null) (dht as unknown as Finding).addEventListener('peer', ({ detail }) => this.#tell(detail, 'kad'))
  }

  onFound(listener: (peer: PeerId, addresses: readonly string[], by: FoundBy) => void): void {
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
    const { dht } = this.#services
    if (dht === null) return
    let answers = 0
    try {
      const signal = AbortSignal.timeout(WALK_MS_MAX)
      for await (const event of dht.getClosestPeers(randomBytes(KEY_BYTES), { signal })) {
        if (event.name === 'FINAL_PEER') this.#tell(event.peer, 'kad')
        answers += 1
        if (answers >= ANSWERS_MAX) return
      }
    } catch {
      // Nobody there to ask, or nobody answered: the next walk may do better.
    }
  }

  #tell({ id, multiaddrs }: Pick<Libp2pPeerInfo, 'id' | 'multiaddrs'>, by: FoundBy): void {
    const addresses = multiaddrs.map(String)
    for (const listener of this.#listeners) listener(id.toString() as PeerId, addresses, by)
  }
}
