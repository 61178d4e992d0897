import type { Block } from '../../consensus/block/block.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { encode } from '../../consensus/primitives/codec.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { PeerNode } from '../../src/p2p/node.ts'
import { serveAddresses } from '../../src/p2p/serve/addresses.ts'
import { serveState } from '../../src/p2p/serve/state.ts'
import { type ReplyOf, replyCodec, STATUS, type Status } from '../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../src/p2p/wire/protocols.ts'
import { TestChain } from '../support/chain.ts'
import { MemoryNetwork, type MemoryPeer } from '../support/p2p/memory-network.ts'
import { SILENT_LOG, statusOf } from '../support/p2p/relay-node.ts'
import { VirtualTime } from '../support/sim/virtual-clock.ts'
import { copiedPin } from '../support/snapshot-nodes.ts'
import { fixture } from './fixture.ts'
import { joined } from './mutate.ts'

/** A stranger's answers by protocol. Besides these protocols it serves only `status`. */
export type Answers = { readonly [P in ProtocolName]?: () => Uint8Array }

const DAY_MS = 86_400_000
/** Longer than any deadline of the node. */
const PATIENCE_MS = 60_000
/** Requests that one stranger makes before another takes its place. */
const REQUESTS_EACH = 20
const STEP_MS = 500

/** A whole node on a network in memory, with strangers that completed the handshake. Every claim of work is valid. */
export class World {
  readonly hub: MemoryNetwork
  readonly network: MemoryPeer
  readonly test: TestChain
  readonly mempool: Mempool
  readonly node: PeerNode
  /** Errors that would have ended the process. */
  readonly fatal: unknown[] = []
  #strangers = 0
  #regular: { readonly peer: MemoryPeer; uses: number } | undefined

  private constructor(hub: MemoryNetwork, test: TestChain, pin: ReturnType<typeof copiedPin>) {
    this.hub = hub
    this.test = test
    this.network = hub.join('node')
    const { chain } = test
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    this.mempool = new Mempool({ chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
    let drawn = 0n
    this.node = new PeerNode({
      network: this.network,
      chain,
      mempool: this.mempool,
      workVerifier: { verifyWork: (jobs) => Promise.resolve(jobs.map(() => true)) },
      clock: { now: () => hub.time.nowMs },
      timers: hub.time,
      pacer: () => UNPACED,
      log: SILENT_LOG,
      random: () => ++drawn,
      agent: 'fuzz',
      held: () => ({ mode: 'archive', bodiesFrom: 0, witnessesFrom: 0, snapshots: [] }),
      transactionMode: 'announce',
      snapshots: null,
      snapshotSetting: 'auto',
      expectsPeers: false,
      onFatal: (error) => this.fatal.push(error),
    })
    const { exchange } = this.node.peers
    const states = { use: <T>(_: unknown, work: (state: typeof pin) => Promise<T>) => work(pin) }
    const useNewest = <T>(work: (state: typeof pin) => Promise<T>) => work(pin)
    serveState(exchange, { states: { ...states, useNewest }, ruleBook: test.ruleBook, log: SILENT_LOG })
    serveAddresses(exchange, { good: () => ['/ip4/8.8.8.8/tcp/8421'], now: () => hub.time.nowMs })
  }

  /** Opens a node with the fixture's blocks and waiting transactions. */
  static async open(): Promise<World> {
    const { blocks, waiting, store } = await fixture()
    const test = await TestChain.open()
    test.nowMs = (blocks.at(-1) as Block).header.timeMs + DAY_MS
    const hub = new MemoryNetwork(new VirtualTime(test.nowMs))
    const world = new World(hub, test, copiedPin(store, 7))
    for (const block of blocks) await mustTake(test, block)
    for (const tx of waiting) await world.mempool.submit(tx)
    world.node.start()
    await hub.time.pass(STEP_MS)
    return world
  }

  get height(): number {
    return this.test.height
  }

  /** Connects a new peer, with the handshake done. */
  async stranger(answers: Answers = {}, claims: Partial<Status> = {}): Promise<MemoryPeer> {
    const peer = this.hub.join(`stranger ${this.#strangers++}`)
    const status = { ...statusOf(this.test.chain), ...claims }
    peer.serve('status', () => Promise.resolve(answered('status', status)))
    for (const [protocol, answer] of Object.entries(answers))
      peer.serve(protocol as ProtocolName, () => Promise.resolve(answer()))
    this.hub.connect(peer, this.network)
    void peer.request(this.network.self, 'status', encode(STATUS, status))
    await this.hub.time.pass(STEP_MS)
    return peer
  }

  /** A stranger that makes many requests and answers none. It is replaced if it was disconnected or has made its share. */
  async regular(): Promise<MemoryPeer> {
    const known = this.#regular
    if (known === undefined || known.peer.peers().length === 0 || known.uses >= REQUESTS_EACH) {
      known?.peer.disconnect(this.network.self, 'enough')
      this.#regular = { peer: await this.stranger(), uses: 0 }
    }
    const regular = this.#regular as { readonly peer: MemoryPeer; uses: number }
    regular.uses += 1
    return regular.peer
  }

  /** Lets time pass until a promise is settled. Throws if that takes too long, which is a finding. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let outcome: { readonly value: T } | undefined
    const watched = promise.then((value) => {
      outcome = { value }
    })
    for (let waitedMs = 0; outcome === undefined && waitedMs < PATIENCE_MS; waitedMs += STEP_MS) {
      await Promise.race([watched, this.hub.time.pass(STEP_MS)])
    }
    await Promise.race([watched, Promise.resolve()])
    if (outcome === undefined) throw new Error('it never came to an end')
    return outcome.value
  }

  /** Ends a connection and checks that the node is unharmed. */
  async part(peer: MemoryPeer, ms = STEP_MS): Promise<void> {
    await this.hub.time.pass(ms)
    peer.disconnect(this.network.self, 'done')
    if (this.fatal.length > 0) throw this.fatal[0]
  }

  async close(): Promise<void> {
    const stopped = this.node.stop()
    await this.settled(stopped)
    if (this.fatal.length > 0) throw this.fatal[0]
  }
}

/** Bytes of a reply as on the wire. */
export function answered<P extends ProtocolName>(protocol: P, reply: ReplyOf<P>): Uint8Array {
  return joined(Uint8Array.of(0), encode(replyCodec(protocol), reply))
}

/** A refusal as on the wire. */
export const NOT_HELD = joined(Uint8Array.of(1), Buffer.from('not-held'))

async function mustTake({ chain }: TestChain, block: Block): Promise<void> {
  const taken = await chain.import(block)
  if (!taken.ok) throw new Error(taken.fault.code)
}

/** Ids by which transactions are announced. */
export function wtxIdsOf(transactions: readonly Transaction[]): readonly Transaction['wtxId'][] {
  return transactions.map(({ wtxId }) => wtxId)
}
