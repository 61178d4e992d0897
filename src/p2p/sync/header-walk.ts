import { checkHeaderClock } from '../../../consensus/block/check.ts'
import { decodeHeader, HEADER_BYTES, type SealedHeader } from '../../../consensus/block/header.ts'
import { extendTip, type HeaderTip, headerTipOf } from '../../../consensus/block/header-tip.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import { UNDO_BLOCKS } from '../../../consensus/chain/database.ts'
import type { BlockEntry } from '../../../consensus/chain/layout.ts'
import type { Clock, Pacer, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import type { Offence } from '../peers/offences.ts'
import { askPatiently, Owed } from '../peers/patience.ts'
import type { Peers } from '../peers/peers.ts'
import { within } from '../relay/within.ts'
import { HEADERS_MAX, LOCATOR_MAX } from '../wire/messages.ts'
import type { Denials } from './denials.ts'

/** What a header walk works with. */
export interface WalkDependencies {
  readonly chain: Chain
  readonly peers: Peers
  readonly clock: Clock
  readonly timers: Timers
  readonly pacer: Pacer
  readonly denials: Denials
}

const BUSY_TIMES = 10

/** Waiting that a full page makes up for. A line of about one Mbit/s owes nothing. */
export const PAGE_WORTH_MS = 5_000
/**
 * If more waiting than this is not made up for, the branch gives way. A limit for each page would not do, because each could come just in
 * time.
 */
export const HEADERS_OWED_MS_MAX = 30_000
/**
 * Waiting that a full page makes up for over the whole branch. With `PAGE_WORTH_MS` here too, a branch whose pages all come just in time
 * would take hours.
 */
export const PAGE_PACE_MS = 3_000
/** If more waiting than this is not made up for over the whole branch, the branch gives way to strangers too. */
export const HEADERS_HELD_MS_MAX = 120_000
const LOOK_AGAIN_MS = 1_000

/** Headers of a peer's branch, oldest first. They were checked against their parents. Their proof of work was not checked. */
export interface HeaderPage {
  readonly headers: readonly HeaderTip[]
  /** Whether the peer may have more of this branch. */
  readonly more: boolean
}

/** Whether another branch could be followed instead. `isLong`: the wait was so long that strangers count too. */
export type Others = (isLong: boolean) => boolean

interface PageWish {
  readonly claimed: boolean
  readonly others?: Others
}

/** What a walk, or a run along it, must know of its surroundings. */
export interface RunSurroundings {
  readonly stopped: () => boolean
  readonly others: Others
}

/** Where a walk begins. */
export interface WalkStart {
  /** The stored block or kept header after which the walk begins; undefined if it begins at the newest block that both sides have. */
  readonly tip: HeaderTip | undefined
  /** Sizes of the pages, if the same ones are asked for again. */
  readonly sizes?: readonly number[]
  /** Whether the walk also follows a branch that forks below what can be unwound. */
  readonly deep?: boolean
  /** Factor by which it may be waited for longer than usual while others wait. */
  readonly patience?: number
}

/** Walks the branch of one peer page by page and reports contradictions. One page is asked for while another is worked on, no more. */
export class HeaderWalk {
  readonly #deps: WalkDependencies
  readonly #peer: PeerId
  readonly #sizes: readonly number[] | undefined
  readonly #locator: readonly BlockId[]
  readonly #isDeep: boolean
  #page = 0
  #ahead: Promise<Result<readonly Uint8Array[]>>
  #tip: HeaderTip | undefined
  #base: HeaderTip | undefined
  #depth = 0
  /** False while headers may be stored. Above the first new header none is, and looking up each would take as long as checking it. */
  #fresh: boolean
  #early = false
  readonly #owed = new Owed(HEADERS_OWED_MS_MAX)
  readonly #held = new Owed(HEADERS_OWED_MS_MAX)
  readonly #patience: number
  #slow = false
  #waitedMs = 0

  constructor(dependencies: WalkDependencies, peer: PeerId, { tip, sizes, deep = false, patience = 1 }: WalkStart) {
    this.#deps = dependencies
    this.#peer = peer
    this.#sizes = sizes
    this.#isDeep = deep
    this.#patience = patience
    this.#tip = tip
    this.#base = tip
    this.#fresh = tip !== undefined
    this.#locator = locatorOf(dependencies.chain)
    this.#ahead = this.#ask(tip?.id)
  }

  /**
   * The last header of the walk. Before the first page it is the header that the walk was given, or undefined. A page without new headers
   * can only move it to a stored block.
   */
  get tip(): HeaderTip | undefined {
    return this.#tip
  }

  /** Whether the walk ended at a header from the future. No peer is to blame for what it does not show then. */
  get early(): boolean {
    return this.#early
  }

  /** Whether the walk gave way to others because pages came too slowly, which is no offence. */
  get slow(): boolean {
    return this.#slow
  }

  /** Milliseconds waited for pages. Work on the pages does not count. If this machine sleeps, at most one second of that counts. */
  get waitedMs(): number {
    return this.#waitedMs
  }

  /** The block that the first new header stands on. */
  get base(): HeaderTip | undefined {
    return this.#base
  }

  /**
   * The next page. The walk is over after a fault or a page whose `more` is false; a peer that is to blame was reported. `claimed`: the
   * pages before showed no work, so checking this one is charged to the peer's share of the main thread and waits for it. A slow peer is
   * waited for until `others` wait to take its place; `p2p/timeout` then.
   */
  async next({ claimed, others = () => false }: PageWish): Promise<Result<HeaderPage>> {
    const limit = this.#limit
    const raw = await this.#arrival(others)
    if (!raw.ok) return raw
    if (raw.value.length > limit) return this.#refuse('unasked', fault('p2p/malformed', REASON_TOO_MANY))
    this.#page += 1
    const full = raw.value.length > 0 && raw.value.length === limit
    if (full) {
      const last = decodeHeader(raw.value.at(-1) as Uint8Array)
      if (last.ok) this.#ahead = this.#ask(last.value.id)
    }
    const headers = claimed
      ? await this.#deps.peers.workFor(this.#peer, 'claimedHeaders', raw.value.length * HEADER_BYTES, (turn) =>
          this.#checked(raw.value, turn),
        )
      : await this.#checked(raw.value, this.#deps.pacer)
    if (headers === null) return fail(fault('p2p/unreachable', { reason: 'the node stops' }))
    if (!headers.ok) return headers
    const { headers: shown } = headers.value
    if (this.#deps.denials.takeBack(this.#peer, (block) => shown.some(({ id }) => id === block.id)))
      return fail(fault('p2p/unreachable', { reason: 'it shows a block that it said it lacks' }))
    const pages = headers.value.headers.length / HEADERS_MAX
    this.#owed.note(0, pages * PAGE_WORTH_MS)
    this.#held.note(0, pages * PAGE_PACE_MS)
    this.#noteShown()
    return ok({ headers: headers.value.headers, more: full && headers.value.whole })
  }

  async #arrival(others: Others): Promise<Result<readonly Uint8Array[]>> {
    const { clock, timers } = this.#deps
    const beganMs = clock.now()
    for (;;) {
      const lookedMs = clock.now()
      const raw = await within(timers, LOOK_AGAIN_MS, this.#ahead)
      // If this machine slept, at most one look's time counts as a wait for the peer.
      const waitedMs = Math.min(clock.now() - lookedMs, LOOK_AGAIN_MS)
      this.#owed.note(waitedMs, 0)
      this.#held.note(waitedMs, 0)
      this.#waitedMs += waitedMs
      if (raw !== undefined) return raw
      const isLong = this.#held.ms > HEADERS_HELD_MS_MAX * this.#patience
      if (!isLong && this.#owed.ms <= HEADERS_OWED_MS_MAX * this.#patience) continue
      if (!others(isLong)) continue
      this.#slow = true
      return fail(fault('p2p/timeout', { protocol: 'headers', ms: clock.now() - beganMs }))
    }
  }

  /** Notes the head that the peer shows, which may be newer than its last status. */
  #noteShown(): void {
    if (this.#tip === undefined) return
    const { id, header, totalWork } = this.#tip
    this.#deps.peers.noteClaim(this.#peer, { id, height: header.height, totalWork })
  }

  get #limit(): number {
    return this.#sizes?.[this.#page] ?? HEADERS_MAX
  }

  #ask(behind: BlockId | undefined): Promise<Result<readonly Uint8Array[]>> {
    const locator = behind === undefined ? this.#locator : locatorBehind(behind, this.#locator)
    const patience = { ...this.#deps, times: BUSY_TIMES }
    return askPatiently(patience, this.#peer, 'headers', { locator, limit: this.#limit })
  }

  /** Checks headers up to one from the future, which ends the walk and is no peer's fault. */
  async #checked(
    raw: readonly Uint8Array[],
    pacer: Pacer,
  ): Promise<Result<{ headers: readonly HeaderTip[]; whole: boolean }>> {
    const { clock, chain } = this.#deps
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
    // This header does not follow the last one. If its parent is on our locator, the peer may have changed its branch between two
    // pages, which is no offence. Otherwise nothing that we sent asks for it.
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

  /** Whether the header is stored, and then makes it the tip. At the first new header the fork is looked up. */
  #skipKnown({ id, header }: SealedHeader): Result<boolean> {
    if (this.#fresh) return ok(false)
    const { database } = this.#deps.chain
    const entry = database.entry(id)
    if (entry?.invalid) return this.#refuse('bad-block', fault('chain/invalid-ancestor', { id }))
    if (entry !== undefined) {
      this.#begin(entry)
      return ok(true)
    }
    this.#fresh = true
    if (this.#tip === undefined) {
      const parent = database.entry(header.parent)
      if (parent === undefined) return this.#refuse('unasked', fault('chain/unknown-parent', { parent: header.parent }))
      if (parent.invalid) return this.#refuse('bad-block', fault('chain/invalid-ancestor', { id: parent.id }))
      this.#begin(parent)
    }
    const depth = this.#depth
    return depth > UNDO_BLOCKS && !this.#isDeep
      ? fail(fault('chain/fork-too-deep', { depth, depthMax: UNDO_BLOCKS }))
      : ok(false)
  }

  #begin(entry: BlockEntry): void {
    const { database } = this.#deps.chain
    const { side, head } = database
    this.#depth = head.header.height - (side.has(entry.id) ? side.forkHeight(entry.id) : entry.header.height)
    this.#tip = headerTipOf(database, entry)
    this.#base = this.#tip
  }

  #refuse(offence: Offence, cause: Fault): Result<never> {
    this.#deps.peers.report(this.#peer, offence, `headers: ${cause.code} ${JSON.stringify(cause.detail)}`)
    return fail(cause)
  }
}

const REASON_TOO_MANY = { protocol: 'headers', reason: 'more headers than asked for' }

/** Ids of the best chain from the head down, ever farther apart, genesis last. A peer that shares a block with us finds one. */
export function locatorOf({ database, ruleBook }: Pick<Chain, 'database' | 'ruleBook'>): readonly BlockId[] {
  const ids: BlockId[] = []
  for (let height = database.head.header.height, step = 1; height > 0 && ids.length < LOCATOR_MAX - 2; height -= step) {
    const id = database.idAt(height)
    if (id !== undefined) ids.push(id)
    if (ids.length > 4) step *= 2
  }
  return [...ids, ruleBook.genesis.block.id]
}

/** The locator for the next page after the end of a branch, or for the branch that its owner changed to. */
export function locatorBehind(tip: BlockId, locator: readonly BlockId[]): readonly BlockId[] {
  return [tip, ...locator.filter((id) => id !== tip)].slice(0, LOCATOR_MAX)
}
