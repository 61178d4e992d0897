import { Counter, Gauge, type Registry } from 'prom-client'
import type { PeerNode } from '../p2p/node.ts'
import { OFFENCES, type Offence } from '../p2p/peers/offences.ts'
import type { BlockFacts, TransactionFacts } from '../p2p/relay/relay-facts.ts'
import { PROTOCOL_NAMES } from '../p2p/wire/protocols.ts'

/** Sources of the network metrics. */
export interface WatchedNetwork {
  readonly node: PeerNode
  readonly meshSize: () => number
  readonly bytes: () => { readonly in: number; readonly out: number }
}

/** Counts of the block relay that become metrics. The name of each is its label. */
const BLOCK_EVENTS: readonly (keyof BlockFacts)[] = [
  'announced',
  'heard',
  'firstSeen',
  'duplicate',
  'unknownParent',
  'tooLight',
  'early',
  'bad',
  'hashes',
  'fromPool',
  'completed',
  'missingTransactions',
  'wholeBodies',
  'lost',
]
const TRANSACTION_EVENTS: readonly (keyof TransactionFacts)[] = [
  'heard',
  'accepted',
  'ignored',
  'rejected',
  'postponed',
  'published',
  'idsSent',
  'idsHeard',
  'pulled',
]

/** Adds the network's metrics to a registry. */
export function watchNetwork(registry: Registry, { node, meshSize, bytes }: WatchedNetwork): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  peersByDirection(registry, node)
  gauge('farthing_peer_bytes_in_total', 'Bytes that came over connections to peers', () => bytes().in)
  gauge('farthing_peer_bytes_out_total', 'Bytes that went over connections to peers', () => bytes().out)
  gauge('farthing_gossip_mesh_peers', 'Peers in the gossip mesh of blocks', meshSize)
  gauge('farthing_peer_points_max', 'Most points for misbehaviour of a connected peer', () =>
    Math.max(0, ...node.peers.list().map(({ info }) => node.peers.reputation.pointsOf(info.id))),
  )
  gauge('farthing_sync_behind', '1 at the start and while peers are known to be ahead', () =>
    node.synchroniser.progress().behind ? 1 : 0,
  )
  gauge(
    'farthing_sync_target_height',
    'Greatest height that is known from peers or held here',
    () => node.synchroniser.progress().targetHeight,
  )
  gauge(
    'farthing_block_propagation_seconds_sum',
    'Time from header to first sight here, summed',
    () => node.blocks.facts.delayMs / 1_000,
  )
  gauge('farthing_gossip_block_bytes_total', 'Bytes of compact blocks heard', () => node.blocks.facts.bytes)
  gauge('farthing_gossip_transaction_bytes_total', 'Bytes of transactions heard', () => node.transactions.facts.bytes)
  events(registry, 'farthing_relay_blocks_total', 'Events of the block relay, by kind', BLOCK_EVENTS, node.blocks.facts)
  const about = 'Events of the transaction relay, by kind'
  events(registry, 'farthing_relay_transactions_total', about, TRANSACTION_EVENTS, node.transactions.facts)
  countOffences(registry, node)
  countRequests(registry, node)
}

function peersByDirection(registry: Registry, node: PeerNode): void {
  new Gauge({
    name: 'farthing_peers_by_direction',
    help: 'Peers that have shaken hands',
    labelNames: ['direction'],
    registers: [registry],
    collect() {
      for (const direction of ['inbound', 'outbound'] as const)
        this.labels(direction).set(node.peers.list().filter(({ info }) => info.direction === direction).length)
    },
  })
}

function events<Facts>(
  registry: Registry,
  name: string,
  help: string,
  ...[labels, facts]: [readonly (keyof Facts & string)[], Facts]
): void {
  new Gauge({
    name,
    help,
    labelNames: ['event'],
    registers: [registry],
    collect() {
      for (const label of labels) this.labels(label).set(Number(facts[label]))
    },
  })
}

function countOffences(registry: Registry, node: PeerNode): void {
  const counter = new Counter({
    name: 'farthing_peer_offences_total',
    help: 'What peers did wrong',
    labelNames: ['offence'],
    registers: [registry],
  })
  for (const offence of Object.keys(OFFENCES)) counter.labels(offence).inc(0)
  node.peers.onOffence((_, offence: Offence) => counter.labels(offence).inc())
}

function countRequests(registry: Registry, node: PeerNode): void {
  const requests = new Counter({
    name: 'farthing_peer_requests_total',
    help: 'Requests between nodes, by protocol, side and outcome',
    labelNames: ['protocol', 'side', 'outcome'],
    registers: [registry],
  })
  const bytes = new Counter({
    name: 'farthing_peer_reply_bytes_total',
    help: 'Bytes of replies between nodes',
    labelNames: ['protocol', 'side'],
    registers: [registry],
  })
  for (const protocol of PROTOCOL_NAMES) for (const side of ['asked', 'answered']) bytes.labels(protocol, side).inc(0)
  node.peers.exchange.onExchange({
    asked: (protocol, outcome, _, count) => {
      requests.labels(protocol, 'asked', outcome).inc()
      bytes.labels(protocol, 'asked').inc(count)
    },
    answered: (protocol, outcome, count) => {
      requests.labels(protocol, 'answered', outcome).inc()
      bytes.labels(protocol, 'answered').inc(count)
    },
  })
}
