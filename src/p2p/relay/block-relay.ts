import type { Block } from '../../../consensus/block/block.ts'
import type { WorkVerifier } from '../../../consensus/block/pow.ts'
import type { Chain, ImportOutcome } from '../../../consensus/chain/chain.ts'
import type { HeaderTip } from '../../../consensus/chain/header-tip.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import type { BlockId, WtxId } from '../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../consensus/primitives/lru.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { Mempool } from '../../../mempool/mempool.ts'
import type { Network, NetworkLog, PeerId, Verdict } from '../network.ts'
import type { Peers } from '../peers/peers.ts'
import {
  type CompactBlock,
  makeCompactBlock,
  openPrefilled,
  readCompactBlock,
  type Slots,
} from '../wire/compact-block.ts'
import { Assembly } from './assembly.ts'
import { blockOf } from './body-fetch.ts'
import { EarlyBlocks } from './early-blocks.ts'
import type { ExtraPool } from './extra-pool.ts'
import { HeaderJudge } from './header-judge.ts'
import { type BlockFacts, noBlocks } from './relay-facts.ts'
import { pause } from './within.ts'

/** Where complete blocks go; it never rejects. Nobody answers for a block that was passed on before it was checked. */
export interface BlockSink {
  take(block: Block, from: PeerId | null): Promise<Result<ImportOutcome>>
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
  /** 64 random bits: salts. */
  readonly random: () => bigint
  /** Whether others are likely to have a transaction: it was published, or came from them. */
  readonly isSpread: (wtxId: WtxId) => boolean
  /** Whether this node is still catching up: it then has no news for anybody. */
  readonly behind: () => boolean
  /** A peer showed a header that leads nowhere here: its headers are worth a look. */
  readonly onUnknownParent: (peer: PeerId) => void
}

/** Blocks that are put together at once, each up to a mebibyte, and those of one sender. */
const ASSEMBLIES_MAX = 16
const ASSEMBLIES_MAX_EACH = 4
/** Ids that are remembered. */
const REMEMBERED = 4_096
/** How often a body is looked for; who asks for its headers gets it in the end. */
const TRIES_MAX = 5
/** Transactions that others may lack travel along up to so many bytes. */
const PREFILLED_BYTES_MAX = 131_072

/**
 * Blocks by gossip: judges headers and passes them on at once, puts the bodies together meanwhile, and announces what was
 * mined here or came otherwise.
 */
export class BlockRelay {
  readonly facts: BlockFacts = noBlocks()
  readonly #deps: BlockRelayDependencies
  readonly #headers: HeaderJudge
  readonly #early: EarlyBlocks
  readonly #assemblies = new Map<BlockId, Assembly>()
  /** Imports of blocks that were put together: a child waits for its parent. */
  readonly #imports = new Map<BlockId, Promise<unknown>>()
  /** What everybody heard of from here. */
  readonly #passedOn = new LruMap<BlockId, true>(REMEMBERED)
  /** How often a body was looked for in vain. */
  readonly #failures = new LruMap<BlockId, number>(REMEMBERED)
  #running = false

  constructor(dependencies: BlockRelayDependencies) {
    this.#deps = dependencies
    const { chain, peers, workVerifier, clock, timers, network } = dependencies
    const tipOf = (id: BlockId): HeaderTip | undefined => this.#assemblies.get(id)?.tip
    this.#headers = new HeaderJudge({ chain, peers, workVerifier, clock, facts: this.facts, tipOf })
    this.#early = new EarlyBlocks(timers)
    network.subscribe('blocks', (from, bytes) =>
      this.#judge(from, bytes).catch((error: unknown): Verdict => {
        this.#deps.log.warn({ peer: from, reason: String(error) }, 'a block of gossip could not be judged')
        return 'ignore'
      }),
    )
    chain.onHeadChange(({ head }) => this.#tellOfHead(head.id))
  }

  start(): void {
    this.#running = true
  }

  /** Drops what is under way and waits for imports that have begun. */
  async stop(): Promise<void> {
    this.#running = false
    this.#early.clear()
    for (const assembly of this.#assemblies.values()) assembly.cancel()
    await Promise.all(this.#imports.values())
  }

  /** The body of a block that is being put together, when it is complete; undefined if it is not or does not become so. */
  bodyUnderway(id: BlockId): Promise<readonly Transaction[] | undefined> {
    return this.#assemblies.get(id)?.body ?? Promise.resolve(undefined)
  }

  /** Tells everybody of a block that was found good here, once, whoever calls. */
  announce(block: Block): void {
    if (!this.#running || this.#passedOn.has(block.id)) return
    this.#passedOn.set(block.id, true)
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

  async #judge(from: PeerId, bytes: Uint8Array): Promise<Verdict> {
    const { peers } = this.#deps
    if (!this.#running) return 'ignore'
    if (peers.get(from) === undefined) return 'unjudged'
    this.facts.heard++
    this.facts.bytes += bytes.length
    if (peers.budgetOf(from)?.take('bytesIn', bytes.length) !== true) {
      peers.report(from, 'flood', 'blocks')
      return 'unjudged'
    }
    const compact = readCompactBlock(bytes)
    if (!compact.ok) return this.#malformed(from, String(compact.fault.detail.reason))
    if (this.#isStored(from, compact.value)) return 'ignore'
    const judgement = await this.#headers.judge(from, compact.value)
    if (judgement.kind === 'bad') return 'reject'
    if (judgement.kind === 'unproven') return 'unjudged'
    if (judgement.kind === 'unknown-parent') this.#unknownParent(from)
    if (judgement.kind !== 'good' || !this.#running) return 'ignore'
    const prefilled = openPrefilled(compact.value)
    if (!prefilled.ok) return this.#malformed(from, String(prefilled.fault.detail.reason))
    return this.#pass(from, { compact: compact.value, prefilled: prefilled.value, ...judgement })
  }

  /** What becomes of a message that is good as far as can be seen before the body is here. */
  #pass(from: PeerId, heard: Heard): Verdict {
    const { id, header } = heard.compact
    if (heard.waitMs > 0) {
      this.facts.early++
      this.#early.hold(from, id, { ms: heard.waitMs, release: () => this.#assemble(from, heard) })
      return 'ignore'
    }
    const first = !this.#passedOn.has(id)
    this.#assemble(from, heard)
    if (!first) {
      this.facts.duplicate++
      return 'ignore'
    }
    this.#passedOn.set(id, true)
    this.facts.firstSeen++
    this.#deps.peers.noteUseful(from, 'block')
    this.facts.delayMs += Math.max(0, this.#deps.clock.now() - header.timeMs)
    return 'accept'
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

  /** Whether the block is stored here already. */
  #isStored(from: PeerId, { id, header }: CompactBlock): boolean {
    const entry = this.#deps.chain.database.entry(id)
    if (entry === undefined) return false
    this.facts.duplicate++
    if (!entry.invalid) this.#deps.peers.noteHead(from, { id, height: header.height, totalWork: entry.totalWork })
    return true
  }

  /** Takes a body in hand unless somebody does already, or too many are. */
  #assemble(from: PeerId, { compact, prefilled, tip }: Heard): void {
    const { chain, peers, timers, mempool, extra } = this.#deps
    const { id, header } = compact
    if (!this.#running || chain.database.entry(id) !== undefined) return
    peers.noteHead(from, { id, height: header.height, totalWork: tip.totalWork })
    const underway = this.#assemblies.get(id)
    if (underway !== undefined) {
      underway.hasToo(from)
      underway.offer(compact, prefilled)
      return
    }
    const tries = this.#failures.get(id) ?? 0
    if (tries >= TRIES_MAX || !this.#hasRoom(from)) return void this.#deps.onUnknownParent(from)
    const candidates = (): readonly Transaction[] => [...mempool.transactions(), ...extra.transactions()]
    const assembly = new Assembly({ peers, timers, facts: this.facts, candidates }, from, tip)
    this.#assemblies.set(id, assembly)
    const imported = this.#complete(assembly, compact, prefilled).catch((error: unknown) =>
      this.#deps.log.warn({ block: id, reason: String(error) }, 'a block could not be put together'),
    )
    this.#imports.set(id, imported)
    void imported.finally(() => {
      this.#assemblies.delete(id)
      this.#imports.delete(id)
    })
  }

  #hasRoom(from: PeerId): boolean {
    if (this.#assemblies.size >= ASSEMBLIES_MAX) return false
    return [...this.#assemblies.values()].filter((one) => one.from === from).length < ASSEMBLIES_MAX_EACH
  }

  async #complete(assembly: Assembly, compact: CompactBlock, prefilled: Slots): Promise<void> {
    const { id, header } = compact
    // Whoever passes the message on must not wait until it is worked through.
    await pause(this.#deps.timers, 0)
    void assembly.run(compact, prefilled)
    const body = await assembly.body
    await this.#imports.get(header.parent)
    if (!this.#running) return
    const outcome = body && (await this.#deps.intake.take(blockOf(compact, body), null))
    // Whoever synchronises may have been quicker.
    if (outcome?.ok || outcome?.fault.code === 'chain/known-block') return
    this.facts.lost++
    this.#failures.set(id, (this.#failures.get(id) ?? 0) + 1)
    this.#deps.log.debug({ block: id, fault: outcome?.fault ?? null }, 'a block of gossip was not taken')
    if (outcome === undefined || outcome.fault.code === 'chain/unknown-parent')
      this.#deps.onUnknownParent(assembly.from)
  }
}

interface Heard {
  readonly compact: CompactBlock
  readonly prefilled: Slots
  readonly tip: HeaderTip
  readonly waitMs: number
}
