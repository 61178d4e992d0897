import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import type { WtxId } from '../../../consensus/primitives/ids.ts'
import { LruSet } from '../../../consensus/primitives/lru.ts'
import { encodeTransaction, type Transaction } from '../../../consensus/tx/transaction.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import { type Measure, type Network, type NetworkLog, type PeerId, UNMEASURED, type Verdict } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { Announcer } from './announcer.ts'
import type { ExtraPool } from './extra-pool.ts'
import { PoolSync } from './pool-sync.ts'
import { Puller } from './puller.ts'
import { noTransactions, type TransactionFacts } from './relay-facts.ts'
import { TransactionJudge } from './transaction-judge.ts'

/** How a node tells of transactions: whole by gossip, or by their ids. Every node understands both ways. */
export type TransactionMode = 'gossip' | 'announce'

/** What the relay of transactions works with. */
export interface TransactionRelayDependencies {
  readonly network: Network
  readonly peers: Peers
  readonly mempool: Mempool
  readonly extra: ExtraPool
  readonly chain: Chain
  readonly timers: Timers
  readonly log: NetworkLog
  readonly mode: TransactionMode
  readonly behind: () => boolean
}

const SPREAD_REMEMBERED = 65_536
/**
 * Transactions told of in one batch, the wait until the next batch, and how many transactions may wait: a deep reorganisation gives back
 * many.
 */
const OUTBOX_BATCH = 64
const OUTBOX_MS = 20
const OUTBOX_MAX = 8_192

/** Sends and receives transactions. */
export class TransactionRelay {
  readonly facts: TransactionFacts = noTransactions()
  readonly #deps: TransactionRelayDependencies
  readonly #judge: TransactionJudge
  readonly #puller: Puller
  readonly #announcer: Announcer
  readonly #poolSync: PoolSync
  readonly #spread = new LruSet<WtxId>(SPREAD_REMEMBERED)
  /** Transactions under judgement, which gossip itself passes on once they are admitted. */
  readonly #byGossip = new Set<WtxId>()
  readonly #outbox = new Map<WtxId, { readonly tx: Transaction; readonly givenBack: boolean }>()
  #cancelOutbox: (() => void) | null = null
  #running = false

  constructor(dependencies: TransactionRelayDependencies) {
    this.#deps = dependencies
    const { peers, chain, mempool, extra, timers, behind, network } = dependencies
    const onPostponed = (from: PeerId): void => this.#poolSync.postponed(from)
    this.#judge = new TransactionJudge({ peers, chain, mempool, extra, facts: this.facts, onPostponed })
    this.#puller = new Puller({
      peers,
      timers,
      isSettled: (id) => this.#judge.isSettled(id),
      wasSeen: (id) => chain.verified.has(id),
      read: (from, bytes) => this.#judge.read(from, bytes),
      take: (from, tx, measure) => this.#takePulled(from, tx, measure),
    })
    this.#announcer = new Announcer(peers, timers, (ids) => {
      this.facts.idsSent += ids
    })
    this.#poolSync = new PoolSync({ peers, timers, behind, onIds: (from, ids) => this.heardOf(from, ids) })
    network.subscribe('transactions', (from, bytes, { measure } = UNMEASURED) => this.#hear(from, bytes, measure))
    mempool.onReady((tx) => this.#ready(tx))
    peers.onPeer({
      ready: ({ info }) => {
        if (this.#running) this.#poolSync.joined(info.id, info.direction)
      },
      gone: (id) => this.#forget(id),
    })
  }

  start(): void {
    this.#running = true
    for (const { info } of this.#deps.peers.list()) this.#poolSync.joined(info.id, info.direction)
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#cancelOutbox?.()
    this.#outbox.clear()
    this.#poolSync.stop()
    this.#puller.stop()
    this.#announcer.stop()
  }

  isSpread(wtxId: WtxId): boolean {
    return this.#spread.has(wtxId)
  }

  /** Notes ids that a peer has and asks for those that we lack; false if there was no room for all of them. */
  heardOf(from: PeerId, ids: readonly WtxId[]): boolean {
    // A page of its pool may come after the peer is gone.
    if (!this.#running || !this.#deps.peers.isReady(from)) return true
    this.facts.idsHeard += ids.length
    this.#announcer.knows(from, ids)
    // While this node is behind, its old state cannot judge what waits elsewhere.
    if (this.#deps.behind() || this.#puller.want(from, ids)) return true
    this.#poolSync.postponed(from)
    return false
  }

  #forget(peer: PeerId): void {
    this.#puller.gone(peer)
    this.#announcer.gone(peer)
    this.#poolSync.gone(peer)
  }

  async #hear(from: PeerId, bytes: Uint8Array, measure: Measure): Promise<Verdict> {
    const { peers, behind } = this.#deps
    if (!this.#running) return 'ignore'
    if (peers.get(from) === undefined) return 'unjudged'
    this.facts.heard++
    this.facts.bytes += bytes.length
    if (peers.budgetOf(from)?.take('bytesIn', bytes.length) !== true) {
      // The peer only passes on what it got. Too much of that is left for later and is not its fault.
      this.facts.postponed++
      this.#poolSync.postponed(from)
      return 'unjudged'
    }
    if (behind()) return 'ignore'
    const tx = measure(() => this.#judge.read(from, bytes))
    if (tx === undefined) return 'reject'
    this.#announcer.knows(from, [tx.wtxId])
    this.#byGossip.add(tx.wtxId)
    try {
      const verdict = await this.#judge.judge(from, tx, measure)
      if (verdict === 'accept') peers.budgetOf(from)?.giveBack('bytesIn', bytes.length)
      return verdict
    } finally {
      this.#byGossip.delete(tx.wtxId)
    }
  }

  /** True if the transaction is in the pool afterwards, or was mined meanwhile. */
  async #takePulled(from: PeerId, tx: Transaction, measure: Measure): Promise<boolean> {
    this.facts.pulled++
    this.facts.bytes += tx.size
    await this.#judge.judge(from, tx, measure)
    const { mempool, extra } = this.#deps
    return mempool.byWitness(tx.wtxId) !== undefined || extra.hasLeft(tx.wtxId)
  }

  /**
   * Tells of a transaction once it could be mined, and once more if a reorganisation gives it back: peers may not have had it. One that
   * waits for a missing nonce may never pay a fee, so it stays here until the nonce has come.
   */
  #ready(tx: Transaction): void {
    const givenBack = this.#deps.chain.moving
    if (this.#spread.has(tx.wtxId) && !givenBack) return
    this.#spread.add(tx.wtxId)
    if (!this.#running || this.#outbox.size >= OUTBOX_MAX) return
    if (this.#deps.mode === 'gossip' && this.#byGossip.has(tx.wtxId)) return
    this.#outbox.set(tx.wtxId, { tx, givenBack })
    if (this.#outbox.size === 1 && this.#cancelOutbox === null) this.#flushIn(0)
  }

  #flushIn(ms: number): void {
    this.#cancelOutbox = this.#deps.timers.after(ms, () => {
      this.#cancelOutbox = null
      this.#flush()
    })
  }

  #flush(): void {
    for (const [wtxId, { tx, givenBack }] of [...this.#outbox].slice(0, OUTBOX_BATCH)) {
      this.#outbox.delete(wtxId)
      this.#tell(tx, givenBack)
    }
    if (this.#outbox.size > 0) this.#flushIn(OUTBOX_MS)
  }

  /** Gossip drops repeats for minutes, so a transaction that was told of before it was mined goes by its id. */
  #tell(tx: Transaction, givenBack: boolean): void {
    if (givenBack || this.#deps.mode === 'announce') {
      this.#announcer.tell(tx.wtxId)
      return
    }
    this.facts.published++
    this.#deps.network.publish('transactions', encodeTransaction(tx))
  }
}
