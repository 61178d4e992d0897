import { createInlineWorkVerifier } from '../../../consensus/block/pow.ts'
import { Chain } from '../../../consensus/chain/chain.ts'
import { ChainDatabase } from '../../../consensus/chain/database.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import { readUintBE } from '../../../consensus/primitives/bytes.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import { Mempool } from '../../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { Miner } from '../../../miner/miner.ts'
import type { Network, NetworkLog } from '../../../src/p2p/network.ts'
import { PeerNode } from '../../../src/p2p/node.ts'
import { cheapPow, cheapRuleBook, SHARED_VERIFIER } from './cheap-network.ts'
import type { Dice } from './dice.ts'
import type { Endpoint } from './endpoint.ts'
import { OrderedStore } from './ordered-store.ts'
import { NodeTime, type Skew } from './virtual-clock.ts'
import { VirtualDisk } from './virtual-disk.ts'
import { VirtualMine } from './virtual-mine.ts'
import type { VirtualNetwork } from './virtual-network.ts'

const SILENT: NetworkLog = { debug: () => {}, info: () => {}, warn: () => {} }
/** Every node is an archive. */
const ARCHIVE = { mode: 'archive', bodiesFrom: 0, witnessesFrom: 0, snapshots: [] } as const

export interface NodeTraits {
  readonly name: string
  readonly skew: Skew
  /** Hashes a second; 0 for a node that does not mine. */
  readonly hashesPerSecond: number
  readonly rewardTo: Address
  readonly outboundWanted: number
  /** Absent: {@link cheapRuleBook}. */
  readonly ruleBook?: RuleBook
  /** Wraps the node's access to the network. Liars use it. */
  readonly tamper?: (endpoint: Endpoint, dice: Dice) => Network
}

/** The world around a node. */
export interface Surroundings {
  readonly network: VirtualNetwork
  readonly dice: Dice
  /** Gets the failures that no node may have, such as a fatal error or an own block refused. */
  readonly complain: (what: string) => void
}

/** The parts of a running node, from start to crash. */
interface Life {
  readonly time: NodeTime
  readonly endpoint: Endpoint
  readonly chain: Chain
  readonly mempool: Mempool
  readonly miner: Miner
  readonly mine: VirtualMine
  readonly peers: PeerNode
}

/** A whole node: the daemon's own parts on a virtual clock and network. Its store survives crashes. */
export class SimNode {
  readonly traits: NodeTraits
  readonly store = new OrderedStore()
  /** How many blocks it found. */
  mined = 0
  readonly #around: Surroundings
  readonly #listeners: ((node: SimNode) => void)[] = []
  #life: Life | undefined

  constructor(traits: NodeTraits, around: Surroundings) {
    this.traits = traits
    this.#around = around
  }

  get name(): string {
    return this.traits.name
  }

  get up(): boolean {
    return this.#life !== undefined
  }

  /** Parts of the running node. Throws while it is down. */
  get life(): Life {
    if (this.#life === undefined) throw new Error(`${this.name} is down`)
    return this.#life
  }

  /** Calls the listener after every start, so that it can listen to the new chain object. */
  onStart(listener: (node: SimNode) => void): void {
    this.#listeners.push(listener)
  }

  /** Starts on what the store holds, with these transactions in its mempool. */
  async start(waiting: readonly Transaction[] = []): Promise<void> {
    const { network, dice } = this.#around
    const { name, outboundWanted, tamper } = this.traits
    const time = new NodeTime(network.time, this.traits.skew, network.time.nowMs)
    const chain = await this.#openChain(time)
    const mempool = new Mempool({ chain, verifier: SHARED_VERIFIER, policy: DEFAULT_MEMPOOL_POLICY })
    const endpoint = network.join(name, outboundWanted)
    const mine = new VirtualMine(time, this.traits.hashesPerSecond, dice.fork())
    const peers = this.#peerNode({ chain, mempool, time }, tamper?.(endpoint, dice.fork()) ?? endpoint)
    const miner = this.#miner({ chain, mempool, time, mine })
    this.#life = { time, endpoint, chain, mempool, miner, mine, peers }
    chain.onHeadChange(({ head }) => {
      network.log.note(`${network.time.nowMs.toFixed(3)} head ${name} ${head.header.height} ${head.id}`)
    })
    for (const listener of this.#listeners) listener(this)
    await chain.resume()
    for (const tx of waiting) await mempool.submit(tx)
    peers.start()
    if (this.traits.hashesPerSecond > 0) miner.start()
  }

  /** Crashes. Its open requests never get an answer; its store stays. Returns the transactions of its mempool. */
  crash(): readonly Transaction[] {
    const { time, endpoint, mine, mempool } = this.life
    const waiting = mempool.transactions()
    time.end()
    mine.assign(null)
    this.#around.network.leave(endpoint)
    this.#around.network.log.note(`${this.#around.network.time.nowMs.toFixed(3)} crash ${this.name}`)
    this.#life = undefined
    return waiting
  }

  async #openChain(clock: NodeTime): Promise<Chain> {
    const ruleBook = this.traits.ruleBook ?? cheapRuleBook()
    const disk = new VirtualDisk(this.store, clock, this.#around.dice.fork())
    const database = await ChainDatabase.open(disk, ruleBook, ruleBook.genesis, this.name)
    if ('code' in database) throw new Error(`${this.name}: ${database.code}`)
    return new Chain({
      ...{ ruleBook, database, clock, verifier: SHARED_VERIFIER, powHasher: cheapPow, pacer: UNPACED },
      network: { chainId: 1, genesis: ruleBook.genesis.block.id },
      reorganisationDepthMax: 1_200,
    })
  }

  #peerNode({ chain, mempool, time }: Pick<Life, 'chain' | 'mempool' | 'time'>, network: Network): PeerNode {
    const salts = this.#around.dice.fork()
    return new PeerNode({
      ...{ network, chain, mempool, clock: time, timers: time, pacer: () => UNPACED, log: SILENT },
      ...{ workVerifier: createInlineWorkVerifier(cheapPow), agent: 'simulated', held: () => ARCHIVE },
      random: () => readUintBE(salts.bytes(8)),
      ...{ transactionMode: 'gossip', snapshots: null, snapshotSetting: 'never', expectsPeers: true },
      onFatal: (error) => this.#fatal(error),
    })
  }

  #miner({ chain, mempool, time, mine }: Pick<Life, 'chain' | 'mempool' | 'time' | 'mine'>): Miner {
    const alive = (): boolean => this.#life?.time === time
    return new Miner(
      {
        ...{ chain, mempool, searcher: mine, clock: time, timers: time, pacer: UNPACED },
        extra: this.#around.dice.bytes(32),
        onMined: () => {
          this.mined++
        },
        onRefused: (block, { code }) => {
          // A better head may have arrived at the same moment.
          if (code === 'chain/branch-too-light' || block.header.parent !== chain.head.id) return
          this.#around.complain(`${this.name}: own block ${block.id} refused: ${code}`)
        },
        onFatal: (error) => {
          if (alive()) this.#fatal(error)
        },
      },
      this.traits.rewardTo,
    )
  }

  #fatal(error: unknown): void {
    this.#around.complain(`${this.name}: fatal: ${error instanceof Error ? error.stack : String(error)}`)
  }
}
