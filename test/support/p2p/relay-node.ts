import type { Block } from '../../../consensus/block/block.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain, Foreknown, ImportOutcome } from '../../../consensus/chain/chain.ts'
import type { Timers } from '../../../consensus/chain/ports.ts'
import { createInlineVerifier, type SignatureVerifier } from '../../../consensus/crypto/verifier.ts'
import { toHex } from '../../../consensus/primitives/bytes.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { Mempool } from '../../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../../mempool/policy.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import type { NetworkLog, PeerId } from '../../../src/p2p/network.ts'
import type { Offence } from '../../../src/p2p/peers/offences.ts'
import { Peers } from '../../../src/p2p/peers/peers.ts'
import { BlockRelay } from '../../../src/p2p/relay/block-relay.ts'
import { ExtraPool } from '../../../src/p2p/relay/extra-pool.ts'
import { type TransactionMode, TransactionRelay } from '../../../src/p2p/relay/transaction-relay.ts'
import { pause } from '../../../src/p2p/relay/within.ts'
import { servePool } from '../../../src/p2p/serve/pool.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import { TestChain } from '../chain.ts'
import type { MemoryNetwork, MemoryPeer } from './memory-network.ts'

/** A log that discards its lines. */
export const SILENT_LOG: NetworkLog = { debug: () => {}, info: () => {}, warn: () => {} }

/** The status that a node on this chain sends. */
export function statusOf({ head, ruleBook }: Pick<Chain, 'head' | 'ruleBook'>): Status {
  const { height } = head.header
  return {
    version: 1,
    genesis: ruleBook.genesis.block.id,
    rules: ruleBook.fingerprintAt(height),
    agent: 'test',
    head: head.id,
    height,
    totalWork: head.totalWork,
    mode: 0,
    bodiesFrom: 0,
    witnessesFrom: 0,
    snapshots: [],
  }
}

/** A peer that does the handshake of a node on this chain. The test decides the rest. */
export function strangerOn(hub: MemoryNetwork, name: string, { chain }: TestChain): MemoryPeer {
  const network = hub.join(name)
  const clock = { now: () => hub.time.nowMs }
  const { ruleBook } = chain
  new Peers({ network, ruleBook, clock, timers: hub.time, log: SILENT_LOG, ownStatus: () => statusOf(chain) })
  return network
}

/** A verifier that counts signatures. It waits before each batch. */
export class CountingVerifier implements SignatureVerifier {
  checked = 0
  readonly #inner = createInlineVerifier(NATIVE_BACKEND)
  readonly #wait: () => Promise<void>

  constructor(wait: () => Promise<void>) {
    this.#wait = wait
  }

  async verify(jobs: Parameters<SignatureVerifier['verify']>[0]): Promise<readonly boolean[]> {
    this.checked += jobs.length
    await this.#wait()
    return this.#inner.verify(jobs)
  }
}

/** Options of a {@link RelayNode}. */
export interface RelayNodeOptions {
  readonly mode?: TransactionMode
  /** A chain whose blocks the node has at its start. */
  readonly like?: TestChain
  /** How many signatures may wait in its mempool. */
  readonly verifyingMax?: number
  /** How long a check of signatures takes. */
  readonly verifyMs?: number
}

/**
 * A node that relays over a network in memory. Chain, mempool, peers and relays are real; a proof of work counts as true unless `falseWork`
 * has its header.
 */
export class RelayNode {
  readonly network: MemoryPeer
  readonly test: TestChain
  readonly mempool: Mempool
  readonly peers: Peers
  readonly blocks: BlockRelay
  readonly transactions: TransactionRelay
  readonly verifier: CountingVerifier
  readonly offences: { readonly peer: PeerId; readonly offence: Offence }[] = []
  /** Peers whose branch this node should ask for, mostly because they sent a header whose parent this node lacks. */
  readonly wanted: PeerId[] = []
  /** Blocks that were given to the chain. */
  readonly taken: Block[] = []
  /** How many proofs of work were checked. */
  hashes = 0
  /** Headers whose work counts as false, in hex. */
  readonly falseWork = new Set<string>()
  behind = false

  private constructor(
    hub: MemoryNetwork,
    name: string,
    parts: { test: TestChain; verifier: CountingVerifier; options: RelayNodeOptions },
  ) {
    const { test, verifier, options } = parts
    const clock = { now: () => hub.time.nowMs }
    const timers: Timers = hub.time
    this.network = hub.join(name)
    this.test = test
    this.verifier = verifier
    const policy = { ...DEFAULT_MEMPOOL_POLICY, verifyingMax: options.verifyingMax ?? 4_096 }
    this.mempool = new Mempool({ chain: test.chain, verifier, policy })
    const { ruleBook, chain } = test
    const log = SILENT_LOG
    const { network, mempool } = this
    this.peers = new Peers({ network, ruleBook, clock, timers, log, ownStatus: () => statusOf(chain) })
    this.peers.onOffence((peer, offence) => this.offences.push({ peer, offence }))
    const extra = new ExtraPool(mempool)
    const behind = (): boolean => this.behind
    const shared = { network, peers: this.peers, chain, mempool, extra, timers, log, behind }
    this.transactions = new TransactionRelay({ ...shared, mode: options.mode ?? 'gossip' })
    this.blocks = new BlockRelay({
      ...shared,
      clock,
      intake: { take: (block, _, known) => this.#take(block, known) },
      workVerifier: this.#workVerifier(),
      random: () => BigInt(this.blocks.facts.announced) + 7n,
      isSpread: (id) => this.transactions.isSpread(id),
      onUnknownParent: (peer) => this.wanted.push(peer),
    })
    servePool(this.peers.exchange, { chain, mempool, blocks: this.blocks, transactions: this.transactions, timers })
    this.peers.exchange.answer('bodies', (_, ids) => {
      const bodies = ids.map((id) => chain.database.block(id)?.transactions)
      if (bodies[0] === undefined) return { refusal: 'not-held' }
      return { reply: bodies.flatMap((body) => (body === undefined ? [] : [body.map(encodeTransaction)])) }
    })
  }

  static async open(hub: MemoryNetwork, name: string, options: RelayNodeOptions = {}): Promise<RelayNode> {
    let waitMs = 0
    const verifier = new CountingVerifier(() => (waitMs === 0 ? Promise.resolve() : pause(hub.time, waitMs)))
    const test = await TestChain.open(options.like?.ruleBook, undefined, { verifier })
    if (options.like !== undefined) {
      const { database } = options.like.chain
      for (let height = 1; height <= options.like.height; height++) {
        const block = database.block(database.idAt(height) as never) as Block
        test.nowMs = Math.max(test.nowMs, block.header.timeMs)
        await test.import(block)
      }
    }
    // The relay uses the network's clock. The chain's clock is moved ahead, so that no block is in its future.
    test.nowMs += 3_600_000
    verifier.checked = 0
    waitMs = options.verifyMs ?? 0
    const node = new RelayNode(hub, name, { test, verifier, options })
    node.blocks.start()
    node.transactions.start()
    return node
  }

  get id(): PeerId {
    return this.network.self
  }

  offencesOf(peer: PeerId): readonly Offence[] {
    return this.offences.filter((one) => one.peer === peer).map(({ offence }) => offence)
  }

  async stop(): Promise<void> {
    await this.blocks.stop()
    await this.transactions.stop()
    this.peers.stop()
  }

  #take(block: Block, known: Foreknown): Promise<Result<ImportOutcome>> {
    this.taken.push(block)
    return this.test.chain.import(block, known)
  }

  #workVerifier(): WorkVerifier {
    return {
      verifyWork: async (jobs) => {
        this.hashes += jobs.length
        return jobs.map(({ bytes }) => !this.falseWork.has(toHex(bytes)))
      },
    }
  }
}
