import type { Block } from '../../../consensus/block/block.ts'
import { earlyMs } from '../../../consensus/block/check.ts'
import type { SealedHeader } from '../../../consensus/block/header.ts'
import { type CheckedTip, extendTip, type HeaderTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain, Foreknown, ImportOutcome } from '../../../consensus/chain/chain.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId, WtxId } from '../../../consensus/primitives/ids.ts'
import { LruMap, LruSet } from '../../../consensus/primitives/lru.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import { type JudgingTime, type Network, type NetworkLog, type PeerId, UNMEASURED, type Verdict } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import { Assembly } from './assembly.ts'
import { type CompactBlock, makeCompactBlock, openPrefilled, readCompactBlock, type Slots } from './compact-block.ts'
import type { ExtraPool } from './extra-pool.ts'
import { Givers } from './givers.ts'
import { type BlockFacts, noBlocks } from './relay-facts.ts'
import { pause } from './within.ts'

/** Where complete blocks go. `take` never rejects. `from` is null for a block that its sender may have passed on unchecked. */
export interface BlockSink {
  take(block: Block, from: PeerId | null, known: Foreknown): Promise<Result<ImportOutcome>>
}

/** What the relay of blocks works with. */
export interface BlockRelayDependencies {
  readonly network: Network
  readonly peers: Peers
  readonly chain: Chain
  readonly mempool: Mempool
  readonly extra: ExtraPool
  readonly intake: BlockSink
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly timers: Timers
  readonly log: NetworkLog
  readonly random: () => bigint
  /** Whether peers most likely have a transaction: it was published, or it came from them. */
  readonly isSpread: (wtxId: WtxId) => boolean
  /** Whether this node is still catching up. Until then it has no news for its peers. */
  readonly behind: () => boolean
  /** Whether gossiped blocks may move the head. If not, the branch of a block is looked at first. */
  readonly mayExtend?: () => boolean
  /** A peer showed a header whose branch this node should ask it for. */
  readonly onUnknownParent: (peer: PeerId) => void
}

/** Most blocks that are put together at the same time, each up to a mebibyte: of all senders, and of one. */
const ASSEMBLIES_MAX = 16
const ASSEMBLIES_MAX_EACH = 4
const REMEMBERED = 4_096
/** How often the body of a block is looked for. After that its sender is asked for headers. */
const TRIES_MAX = 5
/** Most bytes of transactions that travel whole in a message of ours because peers may lack them. */
const PREFILLED_BYTES_MAX = 131_072
/** Milliseconds of one core for one proof of work. */
export const WORK_MS = 0.25
/** A header that is early by up to this is held until its time. An earlier one is dropped. */
export const EARLY_MS_MAX = 120_000
const BAD_REMEMBERED = 4_096

const NOT_TAKEN = { kind: 'not-taken' } as const
const BAD = { kind: 'bad' } as const
const UNPROVEN = { kind: 'unproven' } as const

/**
 * Blocks by gossip: judges headers, puts bodies together, and passes on a message that gave its body at once. Any other block is announced
 * in our own message once its body is here, since a header does not vouch for the short ids beside it.
 */
export class BlockRelay {
  readonly facts: BlockFacts = noBlocks()
  readonly #deps: BlockRelayDependencies
  readonly #headers: HeaderJudge
  readonly #givers: Givers
  readonly #assemblies = new Map<BlockId, Assembly>()
  /** Imports of blocks that were put together. A child waits for its parent. */
  readonly #imports = new Map<BlockId, Promise<unknown>>()
  /** Blocks that this node passed on or announced. */
  readonly #passedOn = new LruSet<BlockId>(REMEMBERED)
  readonly #failures = new LruMap<BlockId, number>(REMEMBERED)
  /** Sender and block of each message whose transactions are being decoded. */
  readonly #opening = new Set<string>()
  #running = false

  constructor(dependencies: BlockRelayDependencies) {
    this.#deps = dependencies
    const { chain, peers, workVerifier, clock, timers, network } = dependencies
    const tipOf = (id: BlockId): HeaderTip | undefined => this.#assemblies.get(id)?.tip
    this.#headers = new HeaderJudge({ chain, peers, workVerifier, clock, facts: this.facts, tipOf })
    this.#givers = new Givers({ peers, timers, isGood: (id) => chain.database.entry(id)?.invalid === false })
    network.subscribe('blocks', (from, bytes, time = UNMEASURED) =>
      this.#judge(from, bytes, time).catch((error: unknown): Verdict => {
        this.#deps.log.warn({ peer: from, reason: String(error) }, 'a block of gossip could not be judged')
        return 'ignore'
      }),
    )
    chain.onHeadChange(({ head }) => this.#tellOfHead(head.id))
  }

  start(): void {
    this.#running = true
  }

  /** Drops blocks that are being put together and waits for imports that have begun. */
  async stop(): Promise<void> {
    this.#running = false
    this.#givers.stop()
    for (const assembly of this.#assemblies.values()) assembly.cancel()
    await Promise.all(this.#imports.values())
  }

  /** Undefined if the block is not being put together, or its body never comes. */
  bodyUnderway(id: BlockId): Promise<readonly Transaction[] | undefined> {
    return this.#assemblies.get(id)?.assembled.then((found) => found?.block.transactions) ?? Promise.resolve(undefined)
  }

  /** Tells peers of a block whose body matches its header. Only the first call for a block does something. */
  announce(block: Block): void {
    if (!this.#running || this.#passedOn.has(block.id)) return
    this.#passedOn.add(block.id)
    this.facts.announced++
    let room = PREFILLED_BYTES_MAX
    const message = makeCompactBlock(block, this.#deps.random(), ({ wtxId, size }) => {
      if (this.#deps.isSpread(wtxId) || size > room) return false
      room -= size
      return true
    })
    this.#deps.network.publish('blocks', message)
  }

  #tellOfHead(id: BlockId): void {
    if (!this.#running || this.#passedOn.has(id) || this.#deps.behind()) return
    const block = this.#deps.chain.database.block(id)
    if (block !== undefined) this.announce(block)
  }

  async #judge(from: PeerId, bytes: Uint8Array, time: JudgingTime): Promise<Verdict> {
    const { peers } = this.#deps
    if (!this.#running) return 'ignore'
    if (peers.get(from) === undefined) return 'unjudged'
    this.facts.heard++
    this.facts.bytes += bytes.length
    // The sender only passes on what it got. Too much of that is not its fault, and the same message comes from other peers.
    if (peers.budgetOf(from)?.take('bytesIn', bytes.length) !== true) return 'unjudged'
    const compact = time.measure(() => readCompactBlock(bytes))
    if (!compact.ok) return this.#malformed(from, String(compact.fault.detail.reason))
    if (this.#isStored(from, compact.value)) return 'ignore'
    const judgement = await time.measure(() => this.#headers.judge(from, compact.value))
    if (judgement.kind === 'bad') return 'reject'
    if (judgement.kind === 'unproven') return 'unjudged'
    if (judgement.kind === 'unknown-parent') this.#unknownParent(from)
    if (judgement.kind !== 'good' || !this.#running) return 'ignore'
    const verdict = await this.#judgeBody(from, { compact: compact.value, ...judgement }, time)
    if (verdict === 'accept') peers.budgetOf(from)?.giveBack('bytesIn', bytes.length)
    return verdict
  }

  /** Judges a message whose header is good. Decoding is dear, so it is done only for a message that would be tried. */
  async #judgeBody(from: PeerId, heard: Heard, time: JudgingTime): Promise<Verdict> {
    const { id, header } = heard.compact
    if (heard.waitMs > 0) this.facts.early++
    if (this.#assemblies.has(id) || this.#passedOn.has(id)) this.facts.duplicate++
    this.#deps.peers.noteHead(from, { id, height: header.height, totalWork: heard.tip.totalWork })
    const opening = `${from} ${id}`
    if (this.#opening.has(opening) || !this.#isTried(from, id)) return 'ignore'
    this.#opening.add(opening)
    const prefilled = await time.run(openPrefilled(heard.compact)).finally(() => this.#opening.delete(opening))
    if (!prefilled.ok) return this.#malformed(from, String(prefilled.fault.detail.reason))
    // Hashing the mempool for short ids is not charged to the sender. Otherwise an honest sender could lack the budget for the transactions
    // that it is asked for next.
    return this.#pass(from, heard, prefilled.value)
  }

  /** Passes on a message only if it gave the body at once, and no second message of the same header. */
  #pass(from: PeerId, heard: Heard, prefilled: Slots): Verdict {
    const { id, header } = heard.compact
    const isWhole = this.#assemble(from, heard, prefilled) && heard.waitMs === 0
    if (!isWhole || this.#passedOn.has(id) || !this.#isTold(header.parent)) return 'ignore'
    this.#passedOn.add(id)
    return 'accept'
  }

  /** Whether peers can have a block, so that a child of it means something to them. */
  #isTold(id: BlockId): boolean {
    return this.#passedOn.has(id) || this.#deps.chain.database.entry(id) !== undefined
  }

  #malformed(from: PeerId, about: string): Verdict {
    this.facts.bad++
    this.#deps.peers.report(from, 'malformed', `blocks: ${about}`)
    return 'reject'
  }

  #unknownParent(from: PeerId): void {
    this.facts.unknownParent++
    this.#deps.onUnknownParent(from)
  }

  #isStored(from: PeerId, { id, header }: CompactBlock): boolean {
    const entry = this.#deps.chain.database.entry(id)
    if (entry === undefined) return false
    this.facts.duplicate++
    if (!entry.invalid) this.#deps.peers.noteHead(from, { id, height: header.height, totalWork: entry.totalWork })
    return true
  }

  /** Whether a message of a block would be tried. With no tries or room left, the branch of its sender is asked for instead. */
  #isTried(from: PeerId, id: BlockId): boolean {
    if (!this.#running || this.#deps.chain.database.entry(id) !== undefined) return false
    const underway = this.#assemblies.get(id)
    if (underway !== undefined) return underway.counts(from)
    if (this.#deps.mayExtend?.() !== false && (this.#failures.get(id) ?? 0) < TRIES_MAX && this.#hasRoom(from))
      return true
    this.#deps.onUnknownParent(from)
    return false
  }

  /** True if this message gave the body at once. */
  #assemble(from: PeerId, { compact, tip, waitMs }: Heard, prefilled: Slots): boolean {
    const { peers, timers, mempool, extra } = this.#deps
    const { id } = compact
    if (!this.#isTried(from, id)) return false
    const underway = this.#assemblies.get(id)
    if (underway !== undefined) return underway.offer(from, compact, prefilled)
    const pools = { waiting: () => mempool.transactions(), extra: () => extra.transactions() }
    const dependencies = { ...pools, peers, timers, facts: this.facts, givers: this.#givers }
    const assembly = new Assembly(dependencies, { tip, from, waitMs })
    this.#assemblies.set(id, assembly)
    const isWhole = assembly.offer(from, compact, prefilled)
    void assembly.run()
    const imported = this.#complete(assembly).catch((error: unknown) =>
      this.#deps.log.warn({ block: id, reason: String(error) }, 'a block could not be put together'),
    )
    this.#imports.set(id, imported)
    void imported.finally(() => {
      this.#assemblies.delete(id)
      this.#imports.delete(id)
    })
    return isWhole
  }

  #hasRoom(from: PeerId): boolean {
    if (this.#assemblies.size >= ASSEMBLIES_MAX) return false
    return [...this.#assemblies.values()].filter((one) => one.from === from).length < ASSEMBLIES_MAX_EACH
  }

  async #complete(assembly: Assembly): Promise<void> {
    const { tip } = assembly
    const { id, header } = tip
    const found = await assembly.assembled
    if (!this.#running) return
    const block = found?.block
    if (found !== undefined) {
      this.facts.firstSeen++
      this.facts.delayMs += Math.max(0, this.#deps.clock.now() - header.timeMs)
      this.#deps.peers.noteUseful(found.giver, 'block')
    }
    this.#announceChild(block)
    // The announcement must be on its way before the import keeps this thread busy.
    await pause(this.#deps.timers, 0)
    await this.#imports.get(header.parent)
    if (!this.#running) return
    this.#announceChild(block)
    const outcome = block && (await this.#deps.intake.take(block, null, { tip }))
    // The synchroniser may have been quicker.
    if (outcome?.ok || outcome?.fault.code === 'chain/known-block') return
    this.facts.lost++
    this.#failures.set(id, (this.#failures.get(id) ?? 0) + 1)
    this.#deps.log.debug({ block: id, fault: outcome?.fault ?? null }, 'a block of gossip was not taken')
    if (outcome === undefined || outcome.fault.code === 'chain/unknown-parent')
      this.#deps.onUnknownParent(assembly.from)
  }

  #announceChild(block: Block | undefined): void {
    if (block !== undefined && this.#isTold(block.header.parent)) this.announce(block)
  }
}

interface Heard {
  readonly compact: CompactBlock
  readonly tip: CheckedTip
  readonly waitMs: number
}

interface HeaderJudgeDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly workVerifier: WorkVerifier
  readonly clock: Clock
  readonly facts: BlockFacts
  readonly tipOf: (id: BlockId) => HeaderTip | undefined
}

/**
 * What is known of a header. `good`: with the time until the clock allows it. `bad`: for ever, and its sender was reported. `unproven`: its
 * proof of work could not be checked, mostly because its sender has used up the core time that it may cost. Any other is not taken, and no
 * peer is to blame.
 */
type HeaderJudgement =
  | { readonly kind: 'good'; readonly tip: CheckedTip; readonly waitMs: number }
  | { readonly kind: 'bad' | 'unknown-parent' | 'not-taken' | 'unproven' }

/** Judges headers whose parent is known. Cheap checks come first, and a header with a known result is not hashed again. */
class HeaderJudge {
  readonly #deps: HeaderJudgeDependencies
  readonly #bad = new LruMap<BlockId, 'bad-header' | 'bad-work'>(BAD_REMEMBERED)
  readonly #hashing = new Map<BlockId, Promise<boolean | undefined>>()

  constructor(dependencies: HeaderJudgeDependencies) {
    this.#deps = dependencies
  }

  async judge(from: PeerId, header: SealedHeader): Promise<HeaderJudgement> {
    const offence = this.#bad.get(header.id)
    if (offence !== undefined) return this.#condemn(from, header, offence, 'again')
    const parent = this.#parentOf(header)
    if (parent === 'invalid') return NOT_TAKEN
    if (parent === undefined) return { kind: 'unknown-parent' }
    const tip = extendTip(this.#deps.chain.ruleBook, parent, header)
    if (!tip.ok) return this.#condemn(from, header, 'bad-header', tip.fault.code)
    if (tip.value.totalWork < this.#deps.chain.leastWork) {
      this.#deps.facts.tooLight++
      return NOT_TAKEN
    }
    const { chain, clock } = this.#deps
    const waitMs = earlyMs(header, clock.now(), chain.ruleBook.at(header.header.height).block)
    if (waitMs > EARLY_MS_MAX) return NOT_TAKEN
    const proven = await this.#prove(from, header)
    if (proven === undefined) return UNPROVEN
    return proven ? { kind: 'good', tip: tip.value, waitMs } : this.#condemn(from, header, 'bad-work', 'false')
  }

  #condemn(...[from, { id }, offence, about]: [PeerId, SealedHeader, 'bad-header' | 'bad-work', string]): typeof BAD {
    this.#bad.set(id, offence)
    this.#deps.facts.bad++
    this.#deps.peers.report(from, offence, `${id}: ${about}`)
    return BAD
  }

  #parentOf({ header }: SealedHeader): HeaderTip | 'invalid' | undefined {
    const { chain, tipOf } = this.#deps
    const entry = chain.database.entry(header.parent)
    if (entry === undefined) return tipOf(header.parent)
    // A sender that passes blocks on unchecked cannot know that one is invalid.
    return entry.invalid ? 'invalid' : headerTipOf(chain.database, entry)
  }

  /** Undefined where the proof of work was not checked. */
  #prove(from: PeerId, header: SealedHeader): Promise<boolean | undefined> {
    if (this.#deps.chain.proven.has(header.id)) return Promise.resolve(true)
    const running = this.#hashing.get(header.id)
    if (running !== undefined) return running
    if (!this.#deps.peers.chargeVerification(from, WORK_MS)) return Promise.resolve(undefined)
    const hashing = this.#hash(from, header).finally(() => this.#hashing.delete(header.id))
    this.#hashing.set(header.id, hashing)
    return hashing
  }

  async #hash(from: PeerId, { id, bytes, header }: SealedHeader): Promise<boolean | undefined> {
    const { chain, peers, workVerifier, facts } = this.#deps
    facts.hashes++
    const cost = chain.ruleBook.at(header.height).block.pow
    try {
      const [good] = await workVerifier.verifyWork([{ bytes, target: header.target, cost }])
      if (good !== true) return false
    } catch {
      // The verifier failed. The header may be good.
      return undefined
    }
    peers.creditVerification(from, WORK_MS)
    chain.proven.add(id)
    return true
  }
}
