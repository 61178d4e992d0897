import type { HeaderTip } from '../../../consensus/chain/header-tip.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { PeerId } from '../network.ts'
import { type CompactBlock, reconstruct, type Slots } from '../wire/compact-block.ts'
import { bodyOf, type FetchDependencies, fetchBody, fetchMissing } from './body-fetch.ts'
import type { BlockFacts } from './relay-facts.ts'
import { pause } from './within.ts'

/** What assembling works with. */
export interface AssemblyDependencies extends FetchDependencies {
  readonly facts: BlockFacts
  /** What the transactions of a block may be among. */
  readonly candidates: () => readonly Transaction[]
}

/** Peers remembered that sent the header, and messages of it that are tried. */
const SOURCES_MAX = 8
const MESSAGES_MAX = 4
/** Peers that are asked for the same thing. */
const ASKED_MAX = 3
/** Whoever sent a message may have to put the block together himself before it has a body to give. */
const BODY_ROUNDS = 3
const BODY_PAUSE_MS = 1_000

/**
 * Puts the body of one block together: from what is here, from what the sender and then others give, at last from a whole
 * body. Ends by itself, and with the first way that leads to the roots of the header.
 */
export class Assembly {
  readonly tip: HeaderTip
  /** Who sent the first message. */
  readonly from: PeerId
  /** The body, undefined if nobody gave it. */
  readonly body: Promise<readonly Transaction[] | undefined>
  readonly #deps: AssemblyDependencies
  readonly #sources: PeerId[] = []
  #finish: (body: readonly Transaction[] | undefined) => void = () => {}
  #finished = false
  #messages = 1

  constructor(dependencies: AssemblyDependencies, from: PeerId, tip: HeaderTip) {
    this.#deps = dependencies
    this.tip = tip
    this.from = from
    this.#sources.push(from)
    this.body = new Promise((resolve) => {
      this.#finish = (body) => {
        this.#finished = true
        resolve(body)
      }
    })
  }

  /** Notes one more peer that has the block. */
  hasToo(peer: PeerId): void {
    if (this.#sources.length < SOURCES_MAX && !this.#sources.includes(peer)) this.#sources.push(peer)
  }

  /** Tries another message of the same header: the first one may name false ids. */
  offer(compact: CompactBlock, prefilled: Slots): void {
    if (this.#finished || this.#messages >= MESSAGES_MAX) return
    this.#messages++
    const body = bodyOf(compact, reconstruct(compact, prefilled, this.#deps.candidates()))
    if (body !== undefined) this.#finish(body)
  }

  /** Gives up. */
  cancel(): void {
    this.#finish(undefined)
  }

  /** Does the work; call once. It never rejects. */
  async run(compact: CompactBlock, prefilled: Slots): Promise<void> {
    const { facts } = this.#deps
    const slots = reconstruct(compact, prefilled, this.#deps.candidates())
    const missing = slots.filter((tx) => tx === undefined).length
    if (missing === 0) {
      const whole = bodyOf(compact, slots)
      if (whole !== undefined) {
        facts.fromPool++
        return this.#finish(whole)
      }
    } else {
      facts.missingTransactions += missing
      const completed = await this.#complete(compact, slots)
      if (completed !== undefined) {
        facts.completed++
        return this.#finish(completed)
      }
    }
    if (!this.#finished) this.#finish(await this.#fetchWhole(compact))
  }

  async #complete(compact: CompactBlock, slots: Slots): Promise<readonly Transaction[] | undefined> {
    const asked = new Set<PeerId>()
    for (let source = this.#next(asked); source !== undefined && !this.#finished; source = this.#next(asked)) {
      asked.add(source)
      const filled = await fetchMissing(this.#deps, source, compact, slots)
      const body = filled && bodyOf(compact, filled)
      if (body !== undefined) return body
      // Filled and yet wrong: then what we put there is wrong, and another peer would say the same.
      if (filled !== undefined) return undefined
    }
    return undefined
  }

  async #fetchWhole(compact: CompactBlock): Promise<readonly Transaction[] | undefined> {
    this.#deps.facts.wholeBodies++
    for (let round = 0; round < BODY_ROUNDS; round++) {
      if (round > 0) await pause(this.#deps.timers, BODY_PAUSE_MS)
      const asked = new Set<PeerId>()
      for (let source = this.#next(asked); source !== undefined && !this.#finished; source = this.#next(asked)) {
        asked.add(source)
        const body = await fetchBody(this.#deps, source, compact)
        if (body !== undefined) return body
      }
      if (this.#finished) return undefined
    }
    return undefined
  }

  /** Who is asked next: those that sent the header, then those whose head has as much work. */
  #next(asked: ReadonlySet<PeerId>): PeerId | undefined {
    if (asked.size >= ASKED_MAX) return undefined
    const { peers } = this.#deps
    const sender = this.#sources.find((id) => !asked.has(id) && peers.isReady(id))
    if (sender !== undefined) return sender
    const heavy = peers.list().filter(({ head }) => head.totalWork >= this.tip.totalWork)
    return heavy.find(({ info }) => !asked.has(info.id))?.info.id
  }
}
