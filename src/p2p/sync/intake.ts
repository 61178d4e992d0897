import type { Block } from '../../../consensus/block/block.ts'
import { earlyMs } from '../../../consensus/block/check.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain, Foreknown, ImportOutcome } from '../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { VerifierFailure } from '../../../consensus/crypto/verifier.ts'
import { type Fault, fault, faultRow } from '../../../consensus/primitives/fault.ts'
import type { Address, BlockId } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { NetworkLog, PeerId } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { EARLY_MS_MAX } from '../relay/block-relay.ts'
import { KEY_ADDRESSES_MAX } from '../wire/messages.ts'
import { fetchKeys } from './key-fetch.ts'

/** What the intake works with. */
export interface IntakeDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly timers: Timers
  readonly log: NetworkLog
  /** Hears of errors after which the process must not go on: bugs in consensus, a failing disk. */
  readonly onFatal: (error: unknown) => void
}

/** Most rounds of fetching missing keys for one block. A round that brings no key is the last. */
const KEY_ROUNDS = 8
/** Wait after a failure of the verifier until a stored branch is tried again. It doubles each time. */
const RESUME_MS = 1_000
const RESUME_MS_MAX = 60_000
/** Most blocks that are held until the clock allows them, each up to a mebibyte: of all senders, and of one. */
const HELD_MAX = 16
const HELD_MAX_EACH = 4

/** Where blocks of other nodes enter the chain: fetches missing keys, holds early blocks, and says which peer is to blame. */
export class BlockIntake {
  readonly #deps: IntakeDependencies
  readonly #held: HeldBlocks
  #stopped = false
  #cancelResume: (() => void) | null = null

  constructor(dependencies: IntakeDependencies) {
    this.#deps = dependencies
    this.#held = new HeldBlocks(dependencies, (block, from) => this.take(block, from))
  }

  /** Ends all timers and drops held blocks. Calls under way end by themselves. */
  stop(): void {
    this.#stopped = true
    this.#held.clear()
    this.#cancelResume?.()
  }

  /**
   * Imports a block. `from` is the peer that answers for it, because it lies on that peer's best chain. Null for gossip, which is passed on
   * unchecked, so no peer is to blame. A mismatch of roots counts as a false body. Faults are the chain's. It never rejects.
   */
  async take(block: Block, from: PeerId | null, known: Foreknown = {}): Promise<Result<ImportOutcome>> {
    let outcome = await this.#import(() => this.#deps.chain.import(block, known))
    if (this.#isWaiting(block, outcome)) outcome = await this.#again(block, known)
    for (let round = 0; round < KEY_ROUNDS && !outcome.ok && outcome.fault.code === 'chain/keys-missing'; round++) {
      if (!(await this.#fetchKeys(block, from))) break
      outcome = await this.#again(block, known)
    }
    if (!outcome.ok) this.#blame(block, from, outcome.fault)
    return outcome
  }

  /** Whether the block ends a stored branch that is heavier than the head: something held it up. */
  #isWaiting({ id }: Block, outcome: Result<ImportOutcome>): boolean {
    if (outcome.ok || outcome.fault.code !== 'chain/known-block') return false
    const { database, head } = this.#deps.chain
    return (database.entry(id)?.totalWork ?? 0n) > head.totalWork
  }

  /** Tries a block again. A block of a side branch was stored before its keys were missed, so its branch is taken up instead. */
  async #again(block: Block, known: Foreknown): Promise<Result<ImportOutcome>> {
    const { chain } = this.#deps
    const stored = chain.database.entry(block.id)
    if (stored === undefined) return this.#import(() => chain.import(block, known))
    const resumed = await this.#import(() => chain.resume())
    if (!resumed.ok) return resumed
    if (chain.database.isCanonical(stored)) return ok('connected')
    const lacking = missingKeys(chain, block)
    return lacking.length === 0 ? ok('side') : fail(fault('chain/keys-missing', { address: lacking[0] as string }))
  }

  async #import(work: () => Promise<Result<ImportOutcome>>): Promise<Result<ImportOutcome>> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof VerifierFailure) {
        this.#deps.log.warn({ reason: error.message }, 'signatures of a block could not be checked; it is tried again')
        this.#resumeIn(RESUME_MS)
        return fail(fault('chain/unverified', { reason: error.message }))
      }
      this.#deps.onFatal(error)
      return fail(fault('chain/stopped'))
    }
  }

  /** Takes up a stored heavier branch later. Otherwise it would wait until the next block comes. */
  #resumeIn(ms: number): void {
    if (this.#stopped || this.#cancelResume !== null) return
    this.#cancelResume = this.#deps.timers.after(ms, () => void this.#resume(ms))
  }

  async #resume(waitedMs: number): Promise<void> {
    try {
      await this.#deps.chain.resume()
      this.#cancelResume = null
    } catch (error) {
      this.#cancelResume = null
      if (error instanceof VerifierFailure) this.#resumeIn(Math.min(RESUME_MS_MAX, 2 * waitedMs))
      else this.#deps.onFatal(error)
    }
  }

  /** True if any came. */
  async #fetchKeys(block: Block, from: PeerId | null): Promise<boolean> {
    const { chain, log } = this.#deps
    const addresses = missingKeys(chain, block)
    const found = await fetchKeys(this.#deps, addresses, from)
    log.info({ block: block.id, missing: addresses.length, found: found.length }, 'fetched the keys of a block')
    if (found.length === 0) return false
    try {
      await chain.database.storeKeys(found)
    } catch (error) {
      this.#deps.onFatal(error)
      return false
    }
    return true
  }

  #blame(block: Block, from: PeerId | null, { code, detail }: Fault): void {
    if (code === 'block/time-too-new') return void this.#held.hold(block, from)
    if (from === null || faultRow(code).blame !== 'sender') return
    const mismatch = code === 'block/transactions-root' || code === 'block/witness-root'
    const offence = mismatch ? 'bad-body' : code === 'block/proof-of-work' ? 'bad-work' : 'bad-block'
    this.#deps.peers.report(from, offence, `${block.id}: ${code} ${JSON.stringify(detail)}`)
  }
}

interface Held {
  readonly from: PeerId | null
  readonly cancel: () => void
}

/** Blocks that our clock does not allow yet. Clocks differ, so no peer is to blame. Their work is checked before they take memory. */
class HeldBlocks {
  readonly #deps: IntakeDependencies
  readonly #again: (block: Block, from: PeerId | null) => Promise<unknown>
  readonly #held = new Map<BlockId, Held>()
  #closed = false

  /** `again` must not reject. */
  constructor(dependencies: IntakeDependencies, again: (block: Block, from: PeerId | null) => Promise<unknown>) {
    this.#deps = dependencies
    this.#again = again
  }

  get size(): number {
    return this.#held.size
  }

  /**
   * Holds a block if there is room, its work is true, and it is early by at most `EARLY_MS_MAX`. It has passed every cheap check but the
   * clock's.
   */
  async hold(block: Block, from: PeerId | null): Promise<void> {
    if (this.#room(block.id, from) && (await this.#proven(block)) && this.#room(block.id, from)) this.#keep(block, from)
  }

  clear(): void {
    this.#closed = true
    for (const { cancel } of this.#held.values()) cancel()
    this.#held.clear()
  }

  #room(id: BlockId, from: PeerId | null): boolean {
    if (this.#closed || this.#held.has(id) || this.#held.size >= HELD_MAX) return false
    return [...this.#held.values()].filter((held) => held.from === from).length < HELD_MAX_EACH
  }

  async #proven({ id, bytes, header }: Block): Promise<boolean> {
    const { chain, workVerifier } = this.#deps
    if (chain.proven.has(id)) return true
    const cost = chain.ruleBook.at(header.height).block.pow
    const [good] = await workVerifier.verifyWork([{ bytes, target: header.target, cost }]).catch(() => [false])
    if (good === true) chain.proven.add(id)
    return good === true
  }

  #keep(block: Block, from: PeerId | null): void {
    const { chain, clock, timers } = this.#deps
    const waitMs = earlyMs(block, clock.now(), chain.ruleBook.at(block.header.height).block)
    if (waitMs > EARLY_MS_MAX) return
    const cancel = timers.after(Math.max(1, waitMs), () => {
      this.#held.delete(block.id)
      void this.#again(block, from)
    })
    this.#held.set(block.id, { from, cancel })
  }
}

/** Most blocks that are searched for missing keys, from the end of the branch down. */
const BLOCKS_MAX = 256

/**
 * Addresses whose keys a block and the stored side blocks below it need and the registry lacks, at most as many as one request names.
 * Asking for a whole branch at once saves a round for each block.
 */
function missingKeys({ keys, database }: Chain, block: Block): readonly Address[] {
  const missing = new Set<Address>()
  let at: Block | undefined = block
  for (let count = 0; at !== undefined && count < BLOCKS_MAX && missing.size < KEY_ADDRESSES_MAX; count++) {
    for (const { body } of at.transactions) {
      if (body.nonce !== 0n && keys.keysOf(body.sender) === undefined) missing.add(body.sender)
    }
    const parent: BlockId = at.header.parent
    at = database.side.has(parent) ? database.block(parent) : undefined
  }
  return [...missing].slice(0, KEY_ADDRESSES_MAX)
}
