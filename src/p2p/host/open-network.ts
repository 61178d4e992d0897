import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../config/settings.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { NetworkParams } from '../../../consensus/chain/params.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import type { NetworkApi } from '../../../rpc/node/network.ts'
import { eventLoopPacer, systemClock, systemTimers } from '../../daemon/runtime.ts'
import { VERSION } from '../../daemon/version.ts'
import { folderPaths, storageFault } from '../../storage/folder.ts'
import { LevelPeers } from '../../storage/level-peers.ts'
import type { LevelStore } from '../../storage/level-store.ts'
import { lackOf, wantedFrom } from '../../storage/pruning.ts'
import { StateSnapshots } from '../../storage/state-snapshots.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { PeerNode } from '../node.ts'
import type { Peers } from '../peers/peers.ts'
import type { TransactionMode } from '../relay/transaction-relay.ts'
import { serveState } from '../serve/state.ts'
import { Backfill } from '../snapshot/backfill.ts'
import { SnapshotSync } from '../snapshot/snapshot-sync.ts'
import type { HeldRange } from '../sync/snapshot-door.ts'
import { heldRange } from '../sync/snapshot-door.ts'
import { type Host, openHost } from './host.ts'
import { loadIdentity } from './identity.ts'
import { Peering } from './peering.ts'

/** What the network part of a daemon works with. */
export interface PeerNetworkDependencies {
  readonly config: Config
  readonly params: NetworkParams
  readonly chain: Chain
  readonly store: LevelStore
  readonly mempool: Mempool
  readonly workVerifier: WorkVerifier
  readonly transactionMode: TransactionMode
  readonly logger: Logger
  readonly onFatal: (error: unknown) => void
}

/** A node's part of the peer-to-peer network. */
export interface PeerNetwork {
  readonly node: PeerNode
  readonly api: NetworkApi
  /** Multiaddrs at which peers reach us. Before the start there is at most the one to announce. */
  readonly addresses: () => readonly string[]
  readonly meshSize: () => number
  readonly bytes: () => { readonly in: number; readonly out: number }
  /** Listens, then dials. Faults: `p2p/port-taken`, `p2p/address-unusable`. */
  readonly start: () => Promise<Result<void>>
  /** Ends everything within a few seconds, whatever peers do. */
  readonly stop: () => Promise<void>
}

const DEVNET_HOST = '127.0.0.1'
const EVERYWHERE = '0.0.0.0'

/** Talks to no peer before its start. */
export async function openPeerNetwork(options: PeerNetworkDependencies): Promise<Result<PeerNetwork>> {
  const { config, logger } = options
  const paths = folderPaths(config.dataDir)
  try {
    // Older releases kept libp2p's notes of peers there.
    await rm(join(paths.peers, 'store'), { recursive: true, force: true })
    const identity = await loadIdentity(config.dataDir)
    if (!identity.ok) return identity
    const records = await LevelPeers.open(join(paths.peers, 'records'), (reason) =>
      logger.warn({ reason }, 'what was known of peers is damaged; it was moved aside'),
    )
    const host = await openHost(hostOptions(options, identity.value.key))
    if (!host.ok) {
      await records.close()
      return host
    }
    return ok(await assemble(options, { host: host.value, records }))
  } catch (error) {
    return fail(storageFault(config.dataDir, error))
  }
}

interface Parts {
  readonly host: Host
  readonly records: LevelPeers
}

function hostOptions(
  { config, params, chain, logger }: PeerNetworkDependencies,
  key: Parameters<typeof openHost>[0]['key'],
) {
  const { p2p } = config
  const isDevnet = params.name === 'devnet'
  return {
    key,
    genesis: chain.ruleBook.genesis.block.id,
    agent: agentText(),
    listen: { host: p2p.host ?? (isDevnet ? DEVNET_HOST : EVERYWHERE), port: p2p.port },
    announce: p2p.announce,
    inboundMax: p2p.inboundMax,
    outboundMax: p2p.outbound,
    dht: p2p.dht,
    mdns: p2p.mdns === 'auto' ? isDevnet : p2p.mdns === 'true',
    upnp: p2p.upnp,
    autonat: p2p.autonat,
    allowPrivate: isDevnet,
    clock: systemClock,
    log: logger,
  }
}

async function assemble(options: PeerNetworkDependencies, { host, records }: Parts): Promise<PeerNetwork> {
  const { config, params, logger } = options
  const { p2p } = config
  const past = new Past(options)
  const node = joinNetwork(options, host, past)
  past.serve(node)
  host.onViolation((peer, offence, about) => node.peers.report(peer, offence, about))
  const peering = await Peering.open({
    host,
    peers: node.peers,
    records,
    settings: {
      outbound: p2p.outbound,
      inboundMax: p2p.inboundMax,
      allowPrivate: params.name === 'devnet',
      configured: p2p.peers,
      seeds: params.seeds,
    },
    clock: systemClock,
    timers: systemTimers,
    random: Math.random,
    log: logger,
    bytesOf: (peer) => host.bytesOf(peer),
  })
  return {
    node,
    api: Object.assign(peering.network, { sync: () => node.synchroniser.progress() }),
    addresses: () => host.addresses(),
    meshSize: () => host.meshOf('blocks').length,
    bytes: () => host.totalBytes,
    start: async () => {
      const started = await host.start()
      if (!started.ok) return started
      node.start()
      peering.start()
      past.start()
      logger.info({ addresses: host.addresses() }, 'listening for peers')
      return started
    },
    stop: async () => {
      // A snapshot that is being taken ends with the node, requests under way with the connections. So no part waits for a peer.
      await Promise.all([node.stop(), past.stop(), peering.stop(), host.stop()])
      await records.close()
    },
  }
}

function joinNetwork(options: PeerNetworkDependencies, network: Host, past: Past): PeerNode {
  const { config, params, logger } = options
  return new PeerNode({
    ...options,
    network,
    clock: systemClock,
    timers: systemTimers,
    pacer: eventLoopPacer,
    stopwatch: () => performance.now(),
    log: logger,
    random: () => randomBytes(8).readBigUInt64LE(),
    agent: agentText(),
    held: () => past.held(),
    snapshots: (peers) => past.takes(peers),
    snapshotSetting: config.sync.snapshot,
    expectsPeers: params.seeds.length + config.p2p.peers.length > 0,
  })
}

/** The past as this node takes, keeps and serves it: states at snapshots, and older blocks that it fetches. */
class Past {
  readonly #options: PeerNetworkDependencies
  readonly #states: StateSnapshots
  #backfill: Backfill | undefined
  #taking: SnapshotSync | undefined

  constructor(options: PeerNetworkDependencies) {
    this.#options = options
    const { chain, store, config } = options
    this.#states = new StateSnapshots({
      chain,
      pin: () => store.pin(),
      clock: systemClock,
      timers: systemTimers,
      blocks: config.storage.snapshotBlocks,
    })
  }

  held(): HeldRange {
    const { chain, config } = this.#options
    return heldRange(chain.database, config.storage.mode, this.#states.refs())
  }

  takes(peers: Peers): SnapshotSync {
    const { chain, logger } = this.#options
    this.#taking = new SnapshotSync({
      ...{ chain, peers, clock: systemClock, timers: systemTimers },
      ...{ pacer: eventLoopPacer(), log: logger },
    })
    return this.#taking
  }

  serve({ peers, synchroniser }: PeerNode): void {
    const { chain, config, logger, onFatal } = this.#options
    serveState(peers.exchange, { states: this.#states, ruleBook: chain.ruleBook, log: logger })
    this.#backfill = new Backfill({
      chain,
      peers,
      clock: systemClock,
      timers: systemTimers,
      log: logger,
      wanted: (height) => wantedFrom(config.storage, height),
      allowed: () => !synchroniser.progress().behind,
      onFatal,
    })
  }

  start(): void {
    this.#sayWhatIsLacking()
    this.#states.start()
    this.#backfill?.start()
    this.#taking?.clearResidue().catch(this.#options.onFatal)
  }

  #sayWhatIsLacking(): void {
    const { chain, config, logger } = this.#options
    const lack = lackOf(config.storage, chain.database.held, chain.head.header.height)
    if (lack !== null) logger.info(lack, 'older blocks are missing here; they are fetched from peers that have them')
  }

  async stop(): Promise<void> {
    await this.#taking?.stop()
    await this.#backfill?.stop()
    await this.#states.stop()
  }
}

function agentText(): string {
  return `farthing/${VERSION}`
}
