import type { WorkVerifier } from '../../consensus/block/pow.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { Clock, Pacer, Timers } from '../../consensus/chain/ports.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import type { Network, NetworkLog } from './network.ts'
import { Peers, type PeersDependencies } from './peers/peers.ts'
import { BlockRelay } from './relay/block-relay.ts'
import { ExtraPool } from './relay/extra-pool.ts'
import { type TransactionMode, TransactionRelay } from './relay/transaction-relay.ts'
import { serveChain, serveKeys } from './serve/chain.ts'
import { servePool } from './serve/pool.ts'
import { BlockIntake } from './sync/intake.ts'
import { fetchKeys } from './sync/key-fetch.ts'
import type { HeldRange, SnapshotDoor, SnapshotSetting } from './sync/snapshot-door.ts'
import { Synchroniser } from './sync/synchroniser.ts'
import { STORAGE_MODES, type Status } from './wire/messages.ts'
import { WIRE_VERSION } from './wire/protocols.ts'

/** What `PeerNode` works with. */
export interface PeerNodeDependencies {
  readonly network: Network
  readonly chain: Chain
  readonly mempool: Mempool
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly timers: Timers
  readonly pacer: () => Pacer
  readonly log: NetworkLog
  /** A finer clock for the cost of answers, see {@link PeersDependencies}. */
  readonly stopwatch?: () => number
  /** 64 random bits. */
  readonly random: () => bigint
  /** Program and release, for people. */
  readonly agent: string
  readonly held: () => HeldRange
  readonly transactionMode: TransactionMode
  /** Null if this node takes no snapshots. */
  readonly snapshots: ((peers: Peers) => SnapshotDoor) | null
  readonly snapshotSetting: SnapshotSetting
  /** Whether peers or seeds are configured. */
  readonly expectsPeers: boolean
  /** Hears of errors after which the process must not go on: bugs in consensus, a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** A node among others: handshakes, sync, relay and answers over one network. */
export class PeerNode {
  readonly peers: Peers
  readonly synchroniser: Synchroniser
  readonly blocks: BlockRelay
  readonly transactions: TransactionRelay
  readonly intake: BlockIntake
  readonly #chain: Chain
  readonly #timers: Timers

  constructor(dependencies: PeerNodeDependencies) {
    const { chain, mempool, pacer, held } = dependencies
    this.#chain = chain
    this.#timers = dependencies.timers
    const ownStatus = (): Status => statusOf(dependencies)
    this.peers = new Peers({ ...dependencies, ruleBook: chain.ruleBook, ownStatus })
    const { peers } = this
    const common = { ...dependencies, peers, pacer: pacer() }
    this.intake = new BlockIntake(common)
    const extra = new ExtraPool(mempool)
    const behind = (): boolean => this.synchroniser.progress().behind
    this.transactions = new TransactionRelay({ ...common, extra, mode: dependencies.transactionMode, behind })
    this.blocks = new BlockRelay({
      ...common,
      extra,
      intake: this.intake,
      behind,
      mayExtend: () => this.synchroniser.mayExtend,
      isSpread: (wtxId) => this.transactions.isSpread(wtxId),
      onUnknownParent: (peer) => this.synchroniser.wanted(peer),
    })
    const snapshots = dependencies.snapshots?.(peers) ?? null
    this.synchroniser = new Synchroniser({ ...common, intake: this.intake, snapshots })
    serveChain(peers.exchange, { chain, held })
    serveKeys(peers.exchange, chain.database)
    servePool(peers.exchange, { ...common, blocks: this.blocks, transactions: this.transactions })
  }

  /** Asks peers for the keys of an address and stores them. False if no peer gave any. Rejects only if the disk fails. */
  async fetchKeys(address: Address): Promise<boolean> {
    const found = await fetchKeys({ peers: this.peers, timers: this.#timers }, [address], null)
    if (found.length > 0) await this.#chain.database.storeKeys(found)
    return found.length > 0
  }

  start(): void {
    this.blocks.start()
    this.transactions.start()
    this.synchroniser.start()
  }

  /** Finishes a block that is being imported. The caller ends the network. */
  async stop(): Promise<void> {
    this.intake.stop()
    await Promise.all([this.blocks.stop(), this.transactions.stop(), this.synchroniser.stop()])
    this.peers.stop()
  }
}

function statusOf({ chain, agent, held }: PeerNodeDependencies): Status {
  const { id, header, totalWork } = chain.head
  const { mode, bodiesFrom, witnessesFrom, snapshots } = held()
  return {
    version: WIRE_VERSION,
    genesis: chain.ruleBook.genesis.block.id,
    rules: chain.ruleBook.fingerprintAt(header.height),
    agent,
    head: id,
    height: header.height,
    totalWork,
    mode: STORAGE_MODES.indexOf(mode),
    bodiesFrom,
    witnessesFrom,
    snapshots,
  }
}
