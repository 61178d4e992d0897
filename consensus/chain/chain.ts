import { type Block, bodySize } from '../block/block.ts'
import { checkBody, checkHeader, checkHeaderClock, checkProofOfWork } from '../block/check.ts'
import type { SealedHeader } from '../block/header.ts'
import { type CheckedTip, childAnchor, childTarget } from '../block/header-tip.ts'
import { historyRoot } from '../block/history.ts'
import { type PowHasher, workOfTarget } from '../block/pow.ts'
import type { SignatureJob, SigningNetwork } from '../crypto/signing.ts'
import { type SignatureVerifier, VerifierFailure } from '../crypto/verifier.ts'
import { assert } from '../primitives/assert.ts'
import { type Fault, fault, faultRow } from '../primitives/fault.ts'
import type { BlockId, WtxId } from '../primitives/ids.ts'
import { LruSet } from '../primitives/lru.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { updateTree } from '../state/tree.ts'
import type { Transaction } from '../tx/transaction.ts'
import { keptWrite } from './adoption.ts'
import { provenPath } from './adoption-path.ts'
import { type ChainDatabase, UNDO_BLOCKS } from './database.ts'
import type { HeadChange, HeadFollower, HeadListener } from './events.ts'
import { executeBlock } from './execution.ts'
import { pathBetween, type RefusedBranch, refusedBranch, tooDeep } from './fork-choice.ts'
import { KeyRegistry, uncheckableFault } from './key-registry.ts'
import type { BlockEntry } from './layout.ts'
import { type Clock, type Pacer, runPaced } from './ports.ts'
import type { ChainFollower } from './reader.ts'
import type { RuleBook } from './rule-book.ts'
import { signaturesAhead } from './signatures-ahead.ts'

/** What a chain works with. */
export interface ChainDependencies {
  readonly ruleBook: RuleBook
  readonly database: ChainDatabase
  readonly network: SigningNetwork
  readonly verifier: SignatureVerifier
  readonly powHasher: PowHasher
  readonly clock: Clock
  readonly pacer: Pacer
  /** Deepest reorganisation taken without the operator. */
  readonly reorganisationDepthMax: number
}

/** How many blocks of a branch were connected, and why the next one was not: its fault, or a verifier failure. */
interface Progress {
  readonly done: number
  readonly refusal?: { readonly at: BlockEntry; readonly fault: Fault }
  readonly failure?: VerifierFailure
}

/**
 * A branch that is lighter than the best work known is still stored if it lacks at most the work of this many blocks.
 */
const SLACK_BLOCKS = 144n
const VERIFIED_REMEMBERED = 50_000
const PROVEN_REMEMBERED = 65_536
/** Once in this many heights, side blocks that no move can reach are dropped. */
const SIDE_PRUNE_BLOCKS = 100
/** Verdict on blocks that were on the best chain before: their signatures were verified then. */
const VERIFIED_BEFORE: SignatureCheck = () => Promise.resolve(null)

type SignatureCheck = (transactions: readonly Transaction[]) => Promise<Fault | null>

/** What is known of a block before its import. */
export interface Foreknown {
  /** Work of the branch that the block lies on, as far as its headers are proven. */
  readonly provenWork?: bigint
  /** The block's header, if it was already checked on its parent. */
  readonly tip?: CheckedTip
}

/** Where an imported block ended up. */
export type ImportOutcome = 'connected' | 'side'

/**
 * The best chain. It follows the branch with the most work that does not fork too deep; on a tie the head stays.
 * Imports run one after another; reads never wait. After an error that is not the verifier's, such as a full disk, the
 * state of the disk is unknown, so the chain stops itself.
 */
export class Chain implements ChainFollower {
  readonly #deps: ChainDependencies
  readonly keys: KeyRegistry
  /** Witnesses that verified. The key is the hash over the body (hence the sender and its keys) and all signatures. */
  readonly verified = new LruSet<WtxId>(VERIFIED_REMEMBERED)
  /** Headers whose proof of work was checked. */
  readonly proven = new LruSet<BlockId>(PROVEN_REMEMBERED)
  /** Work of the heaviest branch whose headers are proven but whose blocks are not all here. */
  awaitedWork: () => bigint = () => 0n
  readonly #listeners: HeadListener[] = []
  readonly #followers: HeadFollower[] = []
  readonly #refusalListeners: (() => void)[] = []
  #queue: Promise<unknown> = Promise.resolve()
  #stopped = false
  #moving = false
  #prunedIn = -1

  constructor(dependencies: ChainDependencies) {
    this.#deps = dependencies
    this.keys = new KeyRegistry(dependencies.database)
  }

  get database(): ChainDatabase {
    return this.#deps.database
  }

  get ruleBook(): RuleBook {
    return this.#deps.ruleBook
  }

  get network(): SigningNetwork {
    return this.#deps.network
  }

  get head(): BlockEntry {
    return this.#deps.database.head
  }

  get moving(): boolean {
    return this.#moving
  }

  onHeadChange(listener: HeadListener): void {
    this.#listeners.push(listener)
  }

  onMove(follower: HeadFollower): void {
    this.#followers.push(follower)
  }

  /** Calls the listener when a block arrives on a heavier branch that only the operator may take. */
  onBranchRefused(listener: () => void): void {
    this.#refusalListeners.push(listener)
  }

  /**
   * The heaviest stored branch, if it is heavier than the head's but forks too deep to be taken. Null during a move.
   */
  get refusedBranch(): RefusedBranch | null {
    return this.#moving ? null : refusedBranch(this.database, this.#depthMax)
  }

  /** Follows a stored heavier branch that a crash, a verifier failure or missing keys held up. */
  resume(): Promise<Result<ImportOutcome>> {
    return this.#serialised(async () => {
      const { id } = this.head
      await this.#followHeaviest()
      return ok(this.head.id === id ? 'side' : 'connected')
    })
  }

  /**
   * A block whose branch has less work than {@link leastWork} is refused, so that a flood of old easy blocks cannot
   * fill the disk.
   */
  import(block: Block, known: Foreknown = {}): Promise<Result<ImportOutcome>> {
    return this.#serialised(async () => {
      const outcome = await this.#import(block, known)
      await this.#pruneSide()
      return outcome
    })
  }

  /** Makes the block of a snapshot the head. For faults see {@link provenPath}. */
  adopt(height: number): Promise<Result<void>> {
    return this.#serialised(async () => {
      const path = provenPath(this.database, height)
      if (!path.ok) return path
      this.#moving = true
      await this.database.dropSide([...this.database.side.ids()], path.value.between.map(keptWrite))
      for (const _ of path.value.left) await this.#disconnectHead()
      await this.database.adopt(height)
      return ok(await this.#announceMove(path.value.left, [this.head]))
    })
  }

  /** Lets the running import finish and refuses all later ones. */
  stop(): Promise<unknown> {
    this.#stopped = true
    return this.#queue
  }

  childOf(parent: BlockEntry): { readonly target: bigint; readonly historyRoot: string } {
    return {
      target: childTarget(this.#deps.ruleBook, parent),
      historyRoot: historyRoot(this.database.peaksThrough(parent), parent.header.height + 1),
    }
  }

  get leastWork(): bigint {
    return leastWork(this.head, this.awaitedWork())
  }

  #serialised<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    const run = this.#queue.then(() => (this.#stopped ? fail(fault('chain/stopped')) : work()))
    this.#queue = run.catch((error: unknown) => {
      if (!(error instanceof VerifierFailure)) this.#stopped = true
    })
    return run
  }

  async #import(block: Block, { provenWork = 0n, tip }: Foreknown): Promise<Result<ImportOutcome>> {
    const stored = this.database.entry(block.id)
    if (stored !== undefined)
      return fail(fault(stored.invalid ? 'chain/invalid-ancestor' : 'chain/known-block', { id: block.id }))
    const parent = this.database.entry(block.header.parent)
    if (parent === undefined) return fail(fault('chain/unknown-parent', { parent: block.header.parent }))
    if (parent.invalid) return fail(fault('chain/invalid-ancestor', { id: parent.id }))
    const depth = this.database.forkDepth(parent)
    if (depth > UNDO_BLOCKS) return fail(fault('chain/fork-too-deep', { depth, depthMax: UNDO_BLOCKS }))
    const entry = entryOf(block, parent, this.#deps.ruleBook)
    const claimed = entry.totalWork > provenWork ? entry.totalWork : provenWork
    if (claimed < this.leastWork) return fail(fault('chain/branch-too-light'))
    const badHeader = this.#checkHeader(block, parent, tip)
    if (badHeader !== null) return fail(badHeader)
    const badBody = checkBody(block, this.#deps.ruleBook.at(block.header.height))
    if (badBody !== null) return this.#condemn(entry, badBody)
    if (parent.id === this.head.id) return this.#extend(block, entry)
    await this.database.storeSide(block, entry)
    if (entry.totalWork <= this.head.totalWork) return ok('side')
    return this.#outcomeOf(entry, await this.#followHeaviest())
  }

  /** The proof of work, the most expensive check, comes last. */
  #checkHeader(sealed: SealedHeader, parent: BlockEntry, tip: CheckedTip | undefined): Fault | null {
    const { ruleBook, clock, powHasher } = this.#deps
    const rules = ruleBook.at(sealed.header.height).block
    // The id commits to the header and all its ancestors, so an earlier verdict still holds.
    const misfit =
      tip?.id === sealed.id ? null : checkHeader(sealed, { parent: parent.header, ...this.childOf(parent) }, rules)
    const cheap = misfit ?? checkHeaderClock(sealed, clock.now(), rules)
    return cheap !== null || this.proven.has(sealed.id) ? cheap : checkProofOfWork(sealed, powHasher, rules)
  }

  async #extend(block: Block, entry: BlockEntry): Promise<Result<ImportOutcome>> {
    const cause = await this.#connect(block, entry, (transactions) => this.#checkSignatures(transactions))
    if (cause !== null) return this.#condemn(entry, cause)
    this.#announce({ head: this.head, disconnected: [], connected: [entry] })
    return ok('connected')
  }

  /**
   * The verifier checks signatures while the block is executed. If one is bad, the finished state tree is dropped. Those inside payloads
   * are checked before, since execution asks for their verdicts.
   */
  async #connect(block: Block, entry: BlockEntry, check: SignatureCheck): Promise<Fault | null> {
    const { ruleBook, database, verifier, pacer } = this.#deps
    const inside = await runPaced(signaturesAhead(ruleBook, database, block.transactions), pacer)
    const checked = ruleBook.tabVerdicts.checkAhead(inside, verifier)
    const signatures = check(block.transactions)
    // The promise may be awaited late or not at all. If the verifier fails, that must not be an unhandled rejection.
    signatures.catch(() => {})
    await checked
    const executed = await runPaced(executeBlock(ruleBook, database, block), pacer)
    // Returned before the signatures are known: what the state refuses is invalid even on a node that lacks keys.
    if (!executed.ok) return executed.fault
    const tree = await runPaced(updateTree(database, executed.value.changes), pacer)
    if (tree.root !== block.header.stateRoot) return fault('block/state-root')
    const badSignature = await signatures
    if (badSignature !== null) return badSignature
    await database.connect({ block, entry, executed: executed.value, tree })
    return null
  }

  async #checkSignatures(transactions: readonly Transaction[]): Promise<Fault | null> {
    const jobs = this.keys.jobsFor(transactions, this.#deps.network, (wtxId) => this.verified.has(wtxId))
    if (!jobs.ok) return uncheckableFault(jobs)
    if (jobs.value.length === 0) return null
    const verdicts = await this.#verdictsOn(jobs.value.map(({ job }) => job))
    const bad = jobs.value.find((_, i) => verdicts[i] !== true)
    if (bad !== undefined) return fault('block/transaction', { index: bad.index, reason: 'tx/bad-signature' })
    for (const { index } of jobs.value) this.verified.add((transactions[index] as Transaction).wtxId)
    return null
  }

  async #verdictsOn(jobs: readonly SignatureJob[]): Promise<readonly boolean[]> {
    try {
      return await this.#deps.verifier.verify(jobs)
    } catch (error) {
      throw new VerifierFailure(error)
    }
  }

  /**
   * A local failure does not make a block invalid, and neither does a body that does not match the header: another body
   * may match.
   */
  async #condemn(entry: BlockEntry, cause: Fault): Promise<Result<never>> {
    const bodyMismatch = cause.code === 'block/transactions-root' || cause.code === 'block/witness-root'
    if (faultRow(cause.code).blame === 'sender' && !bodyMismatch) {
      const descendants = this.database.side.descendantsOf(entry.id).map((id) => this.#mustEntry(id))
      await this.database.markInvalid([entry, ...descendants])
    }
    return fail(cause)
  }

  /** If a sound block is heavier than the head after the search, its branch forks too deep. */
  #outcomeOf(entry: BlockEntry, faults: ReadonlyMap<BlockId, Fault>): Result<ImportOutcome> {
    const own = faults.get(entry.id)
    if (own !== undefined) return fail(own)
    if (entry.totalWork <= this.head.totalWork) return ok(this.database.isCanonical(entry) ? 'connected' : 'side')
    for (const listener of this.#refusalListeners) listener()
    return fail(tooDeep(this.database, entry, this.#depthMax))
  }

  /**
   * Moves to the heaviest stored branch that is sound and does not fork too deep, if it is heavier than the head's. The
   * result has a fault for each block that failed and for its descendants.
   */
  async #followHeaviest(): Promise<ReadonlyMap<BlockId, Fault>> {
    const { side } = this.database
    const refused = new Map<BlockId, Fault>()
    for (;;) {
      const { header, totalWork } = this.head
      const best = side.heaviest({ totalWork, forkHeightMin: header.height - this.#depthMax, refused })
      if (best === undefined) return refused
      const refusal = await this.#reorganise(this.#mustEntry(best))
      if (refusal === undefined) return refused
      for (const id of [refusal.at.id, ...side.descendantsOf(refusal.at.id)]) refused.set(id, refusal.fault)
    }
  }

  get #depthMax(): number {
    return Math.min(this.#deps.reorganisationDepthMax, UNDO_BLOCKS)
  }

  /**
   * Unwinds to the fork and connects the branch. If one of its blocks fails, the blocks before it stay if they are
   * heavier than the old branch; otherwise the old branch is restored. Listeners hear of the move either way.
   */
  async #reorganise(target: BlockEntry): Promise<Progress['refusal']> {
    const before = this.head
    const { disconnect, connect } = pathBetween(this.database, before, target)
    // After a move to a shorter branch, fewer blocks can be unwound than usual.
    if (!this.database.canUnwindTo(before.header.height - disconnect.length))
      return { at: connect[0] as BlockEntry, fault: tooDeep(this.database, target, this.#depthMax) }
    this.#moving = true
    for (let i = 0; i < disconnect.length; i++) await this.#disconnectHead()
    const { done, refusal, failure } = await this.#connectAll(connect)
    if (this.head.totalWork > before.totalWork) await this.#announceMove(disconnect, connect.slice(0, done))
    else {
      await this.#restore(done, disconnect)
      await this.#announceMove(disconnect, disconnect.toReversed())
    }
    if (failure !== undefined) throw failure
    return refusal
  }

  async #connectAll(branch: readonly BlockEntry[]): Promise<Progress> {
    for (const [done, entry] of branch.entries()) {
      const block = this.#mustBlock(entry.id)
      try {
        const cause = await this.#connect(block, entry, (transactions) => this.#checkSignatures(transactions))
        if (cause === null) continue
        await this.#condemn(entry, cause)
        return { done, refusal: { at: entry, fault: cause } }
      } catch (error) {
        if (!(error instanceof VerifierFailure)) throw error
        return { done, failure: error }
      }
    }
    return { done: branch.length }
  }

  async #restore(count: number, branch: readonly BlockEntry[]): Promise<void> {
    for (let i = 0; i < count; i++) await this.#disconnectHead()
    for (const entry of branch.toReversed()) {
      const cause = await this.#connect(this.#mustBlock(entry.id), entry, VERIFIED_BEFORE)
      assert(cause === null, 'a block that was on the best chain does not connect again')
    }
  }

  async #pruneSide(): Promise<void> {
    const { height } = this.head.header
    const stretch = Math.floor(height / SIDE_PRUNE_BLOCKS)
    if (stretch === this.#prunedIn) return
    this.#prunedIn = stretch
    await this.database.dropSide(this.database.side.forkingBelow(height - UNDO_BLOCKS))
  }

  async #disconnectHead(): Promise<void> {
    const changes = this.database.undoOf(this.head)
    assert(changes !== undefined, 'the undo record of the head is missing')
    const tree = await runPaced(updateTree(this.database, changes, true), this.#deps.pacer)
    const parent = this.database.entry(this.head.header.parent)
    assert(tree.root === parent?.header.stateRoot, "unwinding does not give the parent's state root")
    await this.database.disconnect(changes, tree)
  }

  #mustEntry(id: BlockId): BlockEntry {
    const entry = this.database.entry(id)
    assert(entry !== undefined, `block ${id} is missing from the store`)
    return entry
  }

  #mustBlock(id: BlockId): Block {
    const block = this.database.block(id)
    assert(block !== undefined, `block ${id} is missing from the store`)
    return block
  }

  /** Until all followers are ready, the head counts as temporary. */
  async #announceMove(disconnected: readonly BlockEntry[], connected: readonly BlockEntry[]): Promise<void> {
    const change = { head: this.head, disconnected, connected }
    for (const follower of this.#followers) await follower(change, this.#deps.pacer)
    this.#announce(change)
  }

  #announce(change: HeadChange): void {
    this.#moving = false
    for (const listener of this.#listeners) listener(change)
  }
}

/**
 * Least total work of a branch that is worth storing. `awaited` is the work of a branch whose headers are proven and
 * whose blocks are being fetched. If only the head counted, a peer could meanwhile lead it down a branch of easy
 * blocks, too deep to come back from.
 */
export function leastWork(head: Pick<BlockEntry, 'header' | 'totalWork'>, awaited: bigint): bigint {
  const best = awaited > head.totalWork ? awaited : head.totalWork
  return best - workOfTarget(head.header.target) * SLACK_BLOCKS
}

function entryOf(block: Block, parent: BlockEntry, ruleBook: RuleBook): BlockEntry {
  return {
    header: block.header,
    bytes: block.bytes,
    id: block.id,
    totalWork: parent.totalWork + workOfTarget(block.header.target),
    totalTransactions: parent.totalTransactions + block.transactions.length,
    bodyBytes: bodySize(block.transactions),
    anchor: childAnchor(ruleBook, parent, block.header),
    invalid: false,
  }
}
