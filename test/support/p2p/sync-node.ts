import type { WorkJob, WorkVerifier } from '../../../consensus/block/pow.ts'
import { UNPACED } from '../../../consensus/chain/ports.ts'
import type { RuleBook } from '../../../consensus/chain/rule-book.ts'
import type { SignatureJob } from '../../../consensus/crypto/signing.ts'
import { createInlineVerifier, type SignatureVerifier } from '../../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../../../src/crypto/native-backend.ts'
import type { NetworkLog, PeerId } from '../../../src/p2p/network.ts'
import type { Offence } from '../../../src/p2p/peers/offences.ts'
import { Peers } from '../../../src/p2p/peers/peers.ts'
import { serveChain, serveKeys } from '../../../src/p2p/serve/chain.ts'
import { BlockIntake } from '../../../src/p2p/sync/intake.ts'
import type { HeldRange, SnapshotDoor, SnapshotSetting } from '../../../src/p2p/sync/snapshot-door.ts'
import { Synchroniser } from '../../../src/p2p/sync/synchroniser.ts'
import type { Status } from '../../../src/p2p/wire/messages.ts'
import { TestChain } from '../chain.ts'
import type { MemoryNetwork, MemoryPeer } from './memory-network.ts'
import { statusOf } from './relay-node.ts'

const ARCHIVE: HeldRange = { mode: 'archive', bodiesFrom: 0, witnessesFrom: 0, snapshots: [] }

/** A verifier that counts signatures, and throws when told to. */
export class FallibleVerifier implements SignatureVerifier {
  checked = 0
  failing = false
  readonly #inner = createInlineVerifier(NATIVE_BACKEND)

  async verify(jobs: readonly SignatureJob[]): Promise<readonly boolean[]> {
    if (this.failing) throw new Error('the threads are gone')
    this.checked += jobs.length
    return this.#inner.verify(jobs)
  }
}

/** Parts of a node that a test may replace. */
export interface SyncNodeOptions {
  readonly test?: TestChain
  readonly ruleBook?: RuleBook
  /** Changes the status that the node sends. */
  readonly says?: (status: Status) => Status
  /** Rules that it claims to follow. */
  readonly rules?: RuleBook
  readonly expectsPeers?: boolean
  readonly door?: SnapshotDoor
  readonly snapshotSetting?: SnapshotSetting
  /** The verifier of the chain in `test`. */
  readonly verifier?: FallibleVerifier
}

/**
 * A node that synchronises and serves over a network in memory. Chain and peers are real; a proof of work counts as true unless `isFalse`
 * says otherwise.
 */
export class SyncNode {
  readonly network: MemoryPeer
  readonly test: TestChain
  readonly peers: Peers
  readonly intake: BlockIntake
  readonly synchroniser: Synchroniser
  readonly verifier: FallibleVerifier
  readonly offences: { readonly peer: PeerId; readonly offence: Offence }[] = []
  /** How many proofs of work were checked. */
  hashes = 0
  /** Sizes of the batches in which proofs of work were checked. */
  readonly batches: number[] = []
  /** Whether the work of a header counts as false. */
  isFalse: (job: WorkJob) => boolean = () => false
  readonly fatal: unknown[] = []
  /** Log lines at level info and above. */
  readonly log: { readonly facts: object; readonly message: string }[] = []

  private constructor(
    hub: MemoryNetwork,
    name: string,
    test: TestChain,
    options: SyncNodeOptions & { readonly verifier: FallibleVerifier },
  ) {
    const { says = (status: Status) => status, expectsPeers = true, verifier } = options
    const clock = { now: () => hub.time.nowMs }
    const timers = hub.time
    const { chain } = test
    const ruleBook = options.rules ?? test.ruleBook
    this.network = hub.join(name)
    this.test = test
    this.verifier = verifier
    const shared = { network: this.network, ruleBook, chain, clock, timers, log: this.#keepLog(), pacer: UNPACED }
    const ownStatus = (): Status => says(statusOf({ head: chain.head, ruleBook }))
    this.peers = new Peers({ ...shared, ownStatus, pacer: () => UNPACED })
    this.peers.onOffence((peer, offence) => this.offences.push({ peer, offence }))
    const workVerifier: WorkVerifier = {
      verifyWork: (jobs) => {
        this.hashes += jobs.length
        this.batches.push(jobs.length)
        return Promise.resolve(jobs.map((job) => !this.isFalse(job)))
      },
    }
    const common = { ...shared, peers: this.peers, workVerifier, onFatal: (error: unknown) => this.fatal.push(error) }
    this.intake = new BlockIntake(common)
    serveChain(this.peers.exchange, { chain, held: () => ARCHIVE })
    serveKeys(this.peers.exchange, chain.database)
    const { door = null, snapshotSetting = 'auto' } = options
    const snapshots = { snapshots: door, snapshotSetting }
    this.synchroniser = new Synchroniser({ ...common, ...snapshots, intake: this.intake, expectsPeers })
  }

  static async open(hub: MemoryNetwork, name: string, options: SyncNodeOptions = {}): Promise<SyncNode> {
    const verifier = options.verifier ?? new FallibleVerifier()
    const test = options.test ?? (await TestChain.open(options.ruleBook, undefined, { verifier }))
    test.nowMs = hub.time.nowMs
    return new SyncNode(hub, name, test, { ...options, verifier })
  }

  get height(): number {
    return this.test.height
  }

  #keepLog(): NetworkLog {
    const keep = (facts: object, message: string): void => void this.log.push({ facts, message })
    return { debug: () => {}, info: keep, warn: keep }
  }

  /** Offences of one peer, in order. */
  offencesOf(name: string): readonly Offence[] {
    return this.offences.filter(({ peer }) => peer === name).map(({ offence }) => offence)
  }

  async stop(): Promise<void> {
    this.peers.stop()
    this.intake.stop()
    await this.synchroniser.stop()
  }
}
