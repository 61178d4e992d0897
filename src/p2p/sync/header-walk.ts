import { checkHeaderClock } from '../../../consensus/block/check.ts'
import { decodeHeader, type SealedHeader } from '../../../consensus/block/header.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { UNDO_BLOCKS } from '../../../consensus/chain/database.ts'
import { extendTip, type HeaderTip, headerTipOf } from '../../../consensus/chain/header-tip.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import type { Clock, Pacer } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import type { Peers } from '../peers/peers.ts'
import { HEADERS_MAX } from '../wire/messages.ts'
import { locatorBehind, locatorOf } from './locator.ts'

/** What headers are checked with. */
export interface WalkDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly pacer: Pacer
}

/** Headers of a peer's branch, oldest first, each checked on the one before by everything but its hash. */
export interface HeaderPage {
  readonly headers: readonly HeaderTip[]
  /** Whether the peer may have more of this branch. */
  readonly more: boolean
}

/** Where a walk begins. */
export interface WalkStart {
  /** Headers that were proven before and are not blocks of the chain yet: the walk goes on behind them. */
  readonly tip: HeaderTip | undefined
  /** Sizes of the pages, if the same ones are asked for again. */
  readonly sizes?: readonly number[]
}

/**
 * Walks along the branch of one peer, page by page, and reports the peer for what contradicts. The next page is asked for
 * while the last one is worked on; never more.
 */
export class HeaderWalk {
  readonly #deps: WalkDependencies
  readonly #peer: PeerId
  readonly #sizes: readonly number[] | undefined
  readonly #locator: readonly BlockId[]
  #page = 0
  #ahead: Promise<Result<readonly Uint8Array[]>>
  #tip: HeaderTip | undefined
  #base: HeaderTip | undefined
  /** Below the first new header all are stored, above it none: looking up each would take as long as checking it. */
  #fresh: boolean
  #early = false

  constructor(dependencies: WalkDependencies, peer: PeerId, { tip, sizes }: WalkStart) {
    this.#deps = dependencies
    this.#peer = peer
    this.#sizes = sizes
    this.#tip = tip
    this.#base = tip
    this.#fresh = tip !== undefined
    this.#locator = locatorOf(dependencies.chain)
    this.#ahead = this.#ask(tip?.id)
  }

  /** End of what was walked; undefined before the first page. A block of the chain where the peer has nothing new. */
  get tip(): HeaderTip | undefined {
    return this.#tip
  }

  /** Whether the walk ended at a header from the future: nobody is to blame for what is not shown then. */
  get early(): boolean {
    return this.#early
  }

  /** What the first new header stands on. */
  get base(): HeaderTip | undefined {
    return this.#base
  }

  /** The next page. After a fault, or a page without more, the walk is over; whoever is to blame was reported. */
  async next(): Promise<Result<HeaderPage>> {
    const limit = this.#limit
    const raw = await this.#ahead
    if (!raw.ok) return raw
    if (raw.value.length > limit) return this.#refuse('unasked', fault('p2p/malformed', REASON_TOO_MANY))
    this.#page += 1
    const full = raw.value.length === limit
    if (full) {
      const last = decodeHeader(raw.value.at(-1) as Uint8Array)
      if (last.ok) this.#ahead = this.#ask(last.value.id)
    }
    const headers = await this.#checked(raw.value)
    this.#noteShown()
    return headers.ok ? ok({ headers: headers.value.headers, more: full && headers.value.whole }) : headers
  }

  /** What it shows it has, which may be newer by far than what it said last of itself: its blocks are asked of it too. */
  #noteShown(): void {
    if (this.#tip === undefined) return
    const { id, header, totalWork } = this.#tip
    this.#deps.peers.noteHead(this.#peer, { id, height: header.height, totalWork })
  }

  get #limit(): number {
    return this.#sizes?.[this.#page] ?? HEADERS_MAX
  }

  #ask(behind: BlockId | undefined): Promise<Result<readonly Uint8Array[]>> {
    const locator = behind === undefined ? this.#locator : locatorBehind(behind, this.#locator)
    return this.#deps.peers.exchange.ask(this.#peer, 'headers', { locator, limit: this.#limit })
  }

  /** The headers up to one from the future, which ends the walk and is nobody's fault. */
  async #checked(raw: readonly Uint8Array[]): Promise<Result<{ headers: readonly HeaderTip[]; whole: boolean }>> {
    const { pacer, clock, chain } = this.#deps
    const headers: HeaderTip[] = []
    for (const bytes of raw) {
      const next = decodeHeader(bytes)
      if (!next.ok) return this.#refuse('malformed', next.fault)
      const known = this.#skipKnown(next.value)
      if (!known.ok) return known
      if (!known.value) {
        const tip = this.#extended(next.value)
        if (!tip.ok) return tip
        const rules = chain.ruleBook.at(next.value.header.height).block
        if (checkHeaderClock(next.value, clock.now(), rules) !== null) {
          this.#early = true
          return ok({ headers, whole: false })
        }
        this.#tip = tip.value
        headers.push(tip.value)
      }
      if (pacer.due()) await pacer.pause()
    }
    return ok({ headers, whole: true })
  }

  #extended(next: SealedHeader): Result<HeaderTip> {
    const tip = this.#tip
    // A peer that changed its branch between two pages begins elsewhere; whatever it is, it is not this branch.
    if (tip === undefined || next.header.parent !== tip.id) {
      const cause = fault('chain/unknown-parent', { parent: next.header.parent })
      return this.#isOnLocator(next) ? fail(cause) : this.#refuse('unasked', cause)
    }
    const extended = extendTip(this.#deps.chain.ruleBook, tip, next)
    return extended.ok ? extended : this.#refuse('bad-header', extended.fault)
  }

  #isOnLocator({ header }: SealedHeader): boolean {
    return this.#locator.includes(header.parent)
  }

  /** Whether the header is that of a stored block, which becomes the tip. Before the first new one the fork is looked up. */
  #skipKnown({ id, header }: SealedHeader): Result<boolean> {
    if (this.#fresh) return ok(false)
    const { database } = this.#deps.chain
    const entry = database.entry(id)
    if (entry?.invalid) return this.#refuse('bad-block', fault('chain/invalid-ancestor', { id }))
    if (entry !== undefined) return this.#begin(entry, true)
    this.#fresh = true
    if (this.#tip !== undefined) return ok(false)
    const parent = database.entry(header.parent)
    if (parent === undefined) return this.#refuse('unasked', fault('chain/unknown-parent', { parent: header.parent }))
    if (parent.invalid) return this.#refuse('bad-block', fault('chain/invalid-ancestor', { id: parent.id }))
    return this.#begin(parent, false)
  }

  #begin(entry: BlockEntry, known: boolean): Result<boolean> {
    const { database } = this.#deps.chain
    const { side, head } = database
    const forkHeight = side.has(entry.id) ? side.forkHeight(entry.id) : entry.header.height
    const depth = head.header.height - forkHeight
    if (!known && depth > UNDO_BLOCKS) return fail(fault('chain/fork-too-deep', { depth, depthMax: UNDO_BLOCKS }))
    this.#tip = headerTipOf(database, entry)
    this.#base = this.#tip
    return ok(known)
  }

  #refuse(offence: Offence, cause: Fault): Result<never> {
    this.#deps.peers.report(this.#peer, offence, `headers: ${cause.code} ${JSON.stringify(cause.detail)}`)
    return fail(cause)
  }
}

const REASON_TOO_MANY = { protocol: 'headers', reason: 'more headers than asked for' }
