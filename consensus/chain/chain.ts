import { type Block, bodySize } from '../block/block.ts'
import { checkBody, checkHeader, checkHeaderClock, checkProofOfWork } from '../block/check.ts'
import { anchorAfter, targetAfter } from '../block/difficulty.ts'
import type { SealedHeader } from '../block/header.ts'
import { historyRoot } from '../block/history.ts'
import { type PowHasher, workOfTarget } from '../block/pow.ts'
import type { SigningNetwork } from '../crypto/signing.ts'
import type { SignatureVerifier } from '../crypto/verifier.ts'
import { assert } from '../primitives/assert.ts'
import { type Fault, fault, faultRow } from '../primitives/fault.ts'
import type { BlockId } from '../primitives/ids.ts'
import { fail, ok, type Result } from '../primitives/result.ts'
import { updateTree } from '../state/tree.ts'
import type { Transaction } from '../tx/transaction.ts'
import { type ChainDatabase, UNDO_BLOCKS } from './database.ts'
import type { HeadListener } from './events.ts'
import { executeBlock } from './execution.ts'
import { pathBetween, SideBranches } from './fork-choice.ts'
import { KeyRegistry } from './key-registry.ts'
import type { BlockEntry } from './layout.ts'
import { type Clock, type Pacer, runPaced } from './ports.ts'
import type { RuleBook } from './rule-book.ts'
import { VerifiedWitnesses } from './verified-witnesses.ts'

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

/** A block at which a branch was refused. */
interface Refusal {
  readonly at: BlockId
  readonly fault: Fault
}

/** How often side blocks that are out of reach are looked for. */
const SIDE_PRUNE_BLOCKS = 100

/** Where an imported block ended up. */
export type ImportOutcome = 'connected' | 'side'

/**
 * The best chain: validates blocks, chooses the branch with the most work (first seen on a tie), moves the head one
 * durable block at a time, and tells its listeners. Imports run one after another; reads never wait.
 */
export class Chain {
  readonly #deps: ChainDependencies
  readonly keys: KeyRegistry
  readonly verified = new VerifiedWitnesses()
  readonly #listeners: HeadListener[] = []
  readonly #branches: SideBranches
  #queue: Promise<unknown> = Promise.resolve()
  #stopped = false
  #moving = false

  constructor(dependencies: ChainDependencies) {
    this.#deps = dependencies
    this.keys = new KeyRegistry(dependencies.database)
    this.#branches = new SideBranches(dependencies.database)
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

  /** Whether a reorganisation is under way: the head shown is then a passing one. */
  get moving(): boolean {
    return this.#moving
  }

  /** Hears of every change of head from now on. */
  onHeadChange(listener: HeadListener): void {
    this.#listeners.push(listener)
  }

  /** Takes up a stored heavier branch that a crash interrupted; call once before anything else. */
  resume(): Promise<Result<ImportOutcome>> {
    return this.#serialised(async () => {
      const { id } = this.head
      await this.#followHeaviest()
      return ok(this.head.id === id ? 'side' : 'connected')
    })
  }

  /** Validates a block and adds it to the chain, or says why not. */
  import(block: Block): Promise<Result<ImportOutcome>> {
    return this.#serialised(() => this.#import(block))
  }

  /** Lets the running import finish and refuses further ones. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#queue.catch(() => {})
  }

  /** Target, history root and anchor that a child of the entry gets. */
  childOf(parent: BlockEntry): { readonly target: bigint; readonly historyRoot: string } {
    const rules = this.#deps.ruleBook.at(parent.header.height + 1).block
    return {
      target: targetAfter(parent.anchor, parent.header, rules),
      historyRoot: historyRoot(this.database.peaksThrough(parent), parent.header.height + 1),
    }
  }

  /** Checks a header on a known parent, cheapest first, the proof of work last. */
  checkHeader(header: SealedHeader, parent: BlockEntry): Fault | null {
    const rules = this.#deps.ruleBook.at(header.header.height).block
    return (
      checkHeader(header, { parent: parent.header, ...this.childOf(parent) }, rules) ??
      checkHeaderClock(header, this.#deps.clock.now(), rules) ??
      checkProofOfWork(header, this.#deps.powHasher, rules)
    )
  }

  #serialised<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
    const run = this.#queue.then(() => (this.#stopped ? fail(fault('chain/stopped')) : work()))
    this.#queue = run.catch(() => {})
    return run
  }

  async #import(block: Block): Promise<Result<ImportOutcome>> {
    const known = this.database.entry(block.id)
    if (known !== undefined)
      return fail(fault(known.invalid ? 'chain/invalid-ancestor' : 'chain/known-block', { id: block.id }))
    const parent = this.database.entry(block.header.parent)
    if (parent === undefined) return fail(fault('chain/unknown-parent', { parent: block.header.parent }))
    if (parent.invalid) return fail(fault('chain/invalid-ancestor', { id: parent.id }))
    const badHeader = this.checkHeader(block, parent)
    if (badHeader !== null) return fail(badHeader)
    const entry = this.#entryOf(block, parent)
    const badBody = checkBody(block, this.#deps.ruleBook.at(block.header.height))
    if (badBody !== null) return this.#condemn(entry, badBody)
    if (parent.id === this.head.id) return this.#extend(block, entry)
    await this.database.storeSide(block, entry)
    if (entry.totalWork <= this.head.totalWork) return ok('side')
    return this.#outcomeOf(entry, await this.#followHeaviest())
  }

  async #extend(block: Block, entry: BlockEntry): Promise<Result<ImportOutcome>> {
    const connected = await this.#connect(block, entry)
    if (connected !== null) return this.#condemn(entry, connected)
    if (entry.header.height % SIDE_PRUNE_BLOCKS === 0) await this.#pruneSide()
    this.#announce([], [entry])
    return ok('connected')
  }

  /**
   * Executes a block on the head and commits it, or says why not. Signatures are checked by the verifier meanwhile: the
   * state tree is worked out before their verdict is there, and thrown away where it is bad.
   */
  async #connect(block: Block, entry: BlockEntry): Promise<Fault | null> {
    const { ruleBook, database, pacer } = this.#deps
    const signatures = this.#checkSignatures(block.transactions)
    // It is awaited below; until then a failing verifier must not count as unhandled.
    signatures.catch(() => {})
    const executed = await runPaced(executeBlock(ruleBook, database, block), pacer)
    // What the state refuses is refused whoever knows the keys: only a sound block can stall on missing ones.
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
    if (!jobs.ok) return jobs.fault
    if (jobs.value.length === 0) return null
    const verdicts = await this.#deps.verifier.verify(jobs.value.map(({ job }) => job))
    const bad = jobs.value.find((_, i) => verdicts[i] !== true)
    if (bad !== undefined) return fault('block/transaction', { index: bad.index, reason: 'tx/bad-signature' })
    for (const { index } of jobs.value) this.verified.add((transactions[index] as Transaction).wtxId)
    return null
  }

  /** A block that is invalid for ever is remembered with what builds on it; a local stall or a mismatched body is not. */
  async #condemn(entry: BlockEntry, cause: Fault): Promise<Result<never>> {
    const bodyMismatch = cause.code === 'block/transactions-root' || cause.code === 'block/witness-root'
    if (faultRow(cause.code).blame === 'sender' && !bodyMismatch) {
      await this.database.markInvalid([entry, ...this.#branches.descendantsOf(entry)])
    }
    return fail(cause)
  }

  /** What became of a block after the branches were looked at. */
  #outcomeOf({ id, header }: BlockEntry, faults: ReadonlyMap<BlockId, Fault>): Result<ImportOutcome> {
    const entry = this.database.entry(id) as BlockEntry
    const own = faults.get(id)
    if (own !== undefined) return fail(own)
    if (entry.invalid) return fail(fault('chain/invalid-ancestor', { id: header.parent }))
    return ok(this.database.isCanonical(entry) ? 'connected' : 'side')
  }

  /**
   * Moves to the heaviest stored branch that is sound and near enough, if it is heavier than the head's. A branch that
   * is not stands in nobody's way. The answer has a fault for every block that refused a branch.
   */
  async #followHeaviest(): Promise<ReadonlyMap<BlockId, Fault>> {
    const faults = new Map<BlockId, Fault>()
    for (;;) {
      const best = this.#branches.heaviest((entry) => faults.has(entry.id))
      if (best === undefined || best.totalWork <= this.head.totalWork) return faults
      const refusal = this.#tooDeep(best) ?? (await this.#reorganise(best))
      if (refusal === null) return faults
      faults.set(refusal.at, refusal.fault)
      faults.set(best.id, faults.get(best.id) ?? refusal.fault)
    }
  }

  #tooDeep(target: BlockEntry): Refusal | null {
    const depth = this.head.header.height - this.#branches.forkHeight(target)
    const depthMax = Math.min(this.#deps.reorganisationDepthMax, UNDO_BLOCKS)
    return depth <= depthMax
      ? null
      : { at: target.id, fault: fault('chain/reorganisation-too-deep', { depth, depthMax }) }
  }

  /** Unwinds to the fork and connects the branch; if a block of it is invalid, the old branch is restored. */
  async #reorganise(target: BlockEntry): Promise<Refusal | null> {
    const { disconnect, connect } = pathBetween(this.database, this.head, target)
    this.#moving = true
    try {
      for (let i = 0; i < disconnect.length; i++) await this.#disconnectHead()
      for (const [done, entry] of connect.entries()) {
        const cause = await this.#connect(this.#mustBlock(entry.id), entry)
        if (cause === null) continue
        await this.#condemn(entry, cause)
        await this.#restore(done, disconnect)
        return { at: entry.id, fault: cause }
      }
      this.#announce(disconnect, connect)
      return null
    } finally {
      this.#moving = false
    }
  }

  async #restore(count: number, branch: readonly BlockEntry[]): Promise<void> {
    for (let i = 0; i < count; i++) await this.#disconnectHead()
    for (const entry of branch.toReversed()) {
      const cause = await this.#connect(this.#mustBlock(entry.id), entry)
      assert(cause === null, 'a block that was on the best chain does not connect again')
    }
  }

  /** Stored blocks that no move could reach any more are dropped. */
  async #pruneSide(): Promise<void> {
    const stale = this.#branches.below(this.head.header.height - UNDO_BLOCKS)
    if (stale.length > 0) await this.database.dropSide(stale)
  }

  async #disconnectHead(): Promise<void> {
    const changes = this.database.undoOf(this.head)
    assert(changes !== undefined, 'the undo record of the head is missing')
    const tree = await runPaced(updateTree(this.database, changes, true), this.#deps.pacer)
    const parent = this.database.entry(this.head.header.parent)
    assert(tree.root === parent?.header.stateRoot, "unwinding does not give the parent's state root")
    await this.database.disconnect(changes, tree)
  }

  #entryOf(block: Block, parent: BlockEntry): BlockEntry {
    const rules = this.#deps.ruleBook.at(block.header.height).block
    return {
      header: block.header,
      bytes: block.bytes,
      id: block.id,
      totalWork: parent.totalWork + workOfTarget(block.header.target),
      totalTransactions: parent.totalTransactions + block.transactions.length,
      bodyBytes: bodySize(block.transactions),
      anchor: anchorAfter(parent.anchor, parent.header, block.header, rules),
      invalid: false,
    }
  }

  #mustBlock(id: BlockId): Block {
    const block = this.database.block(id)
    assert(block !== undefined, `block ${id} is missing from the store`)
    return block
  }

  #announce(disconnected: readonly BlockEntry[], connected: readonly BlockEntry[]): void {
    this.#moving = false
    if (disconnected.length > 0) this.#branches.forget()
    for (const listener of this.#listeners) listener({ head: this.head, disconnected, connected })
  }
}
