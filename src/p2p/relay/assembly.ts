import { type MatchedBlock, matchBody } from '../../../consensus/block/check.ts'
import type { CheckedTip } from '../../../consensus/block/header-tip.ts'
import type { Transaction } from '../../../consensus/tx/transaction.ts'
import type { PeerId } from '../network.ts'
import { type CompactBlock, type ShortIdHasher, type Slots, shortIdKey, shortIdsOf } from './compact-block.ts'
import { type FetchDependencies, fetchBody, fetchMissing, type Givers } from './givers.ts'
import type { BlockFacts } from './relay-facts.ts'
import { pause, within } from './within.ts'

/** What an assembly works with. */
export interface AssemblyDependencies extends FetchDependencies {
  readonly facts: BlockFacts
  readonly givers: Givers
  /** The mempool, where the transactions of a block most likely are, and the extra pool, where others may be. */
  readonly waiting: () => readonly Transaction[]
  readonly extra: () => readonly Transaction[]
}

/** A header whose body is looked for. */
export interface Wanted {
  readonly tip: CheckedTip
  /** The peer that sent the first message about the block. */
  readonly from: PeerId
  /** Milliseconds until the clock allows the header. The body is given out no earlier. */
  readonly waitMs: number
}

/** A block and the peer whose message or answer led to its body. */
export interface Assembled {
  readonly block: MatchedBlock
  readonly giver: PeerId
}

/**
 * Of the senders that came to us, most that count. Chosen peers, which are those that we dialled, always count, so a crowd cannot displace
 * them.
 */
const INBOUND_SENDERS_MAX = 16
/** Most bytes of whole transactions in a message that is kept. An honest message brings half of that at most. */
const KEPT_BYTES_MAX = 262_144
/** How long one question runs before the next peer is asked as well. A whole body may fill our line, so it gets longer. */
const STAGGER_MS = { missing: 200, whole: 2_000 } as const
/** How long a slow peer takes up one of the `QUESTIONS_AT_ONCE`. A later answer still counts: the line may be slow. */
const PATIENCE_MS = { missing: 2_000, whole: 4_000 } as const
const QUESTIONS_AT_ONCE = 4
/** Most peers that came to us and are asked at the same time while a chosen peer could be asked for the whole body. */
const STRANGERS_AT_ONCE = 2
/**
 * How many rounds of questions for the whole body there are. A peer may have to put the block together itself before it has a body to give.
 */
const BODY_ROUNDS = 3
const BODY_PAUSE_MS = 1_000
const ASKED_PER_ROUND = 8
/**
 * A chosen peer ranks like a fresh stranger after so many vain questions. A sender that does not give the body of one block is asked in
 * vain about four times. Peer ids are free, so strangers get no lead.
 */
const CHOSEN_LEAD = 8

type Kind = keyof typeof STAGGER_MS

/**
 * Puts the body of one block together: from what is here, from what senders of its header give, and last from a whole body. A header does
 * not vouch for the short ids beside it, so each message speaks for its sender alone.
 */
export class Assembly {
  readonly tip: CheckedTip
  readonly from: PeerId
  /** Undefined if no peer gave the body. */
  readonly assembled: Promise<Assembled | undefined>
  readonly #deps: AssemblyDependencies
  /** Senders in the order of their messages. The slots are those that the sender can be asked to fill; null if it cannot be asked. */
  readonly #senders = new Map<PeerId, Slots | null>()
  readonly #askedWhole = new Set<PeerId>()
  /** Peers that have not answered yet, slow ones included. */
  readonly #underWay = new Set<PeerId>()
  readonly #cancelWait: () => void
  #due: Record<Kind, Promise<void>> = { missing: Promise.resolve(), whole: Promise.resolve() }
  #resolve: (assembled: Assembled | undefined) => void = () => {}
  #wake: () => void = () => {}
  #assembled: Assembled | undefined
  /** Rank of the peer that was asked last. A peer with a better rank need not wait for it. */
  #lastRank = 0
  #finished = false
  #isWholeCounted = false
  #isEarly: boolean

  constructor(dependencies: AssemblyDependencies, { tip, from, waitMs }: Wanted) {
    this.#deps = dependencies
    this.tip = tip
    this.from = from
    this.#isEarly = waitMs > 0
    this.assembled = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#cancelWait = this.#isEarly ? dependencies.timers.after(waitMs, () => this.#comeDue()) : () => {}
  }

  counts(from: PeerId): boolean {
    if (this.#finished || this.#senders.has(from)) return false
    if (this.#isChosen(from)) return true
    return [...this.#senders.keys()].filter((id) => !this.#isChosen(id)).length < INBOUND_SENDERS_MAX
  }

  /** Tries a message. Only the first of each sender counts. True if the body is complete with it. */
  offer(from: PeerId, compact: CompactBlock, prefilled: Slots): boolean {
    if (!this.counts(from)) return false
    const slots = this.#known(compact, prefilled)
    const block = this.#blockOf(slots)
    if (block !== undefined) {
      this.#deps.facts.fromPool++
      this.#finish({ block, giver: from })
      return true
    }
    // If nothing is missing and the roots are still wrong, only the whole body helps.
    const isKept = slots.includes(undefined) && prefilledBytes(compact) <= KEPT_BYTES_MAX
    this.#senders.set(from, isKept ? slots : null)
    this.#wake()
    return false
  }

  cancel(): void {
    this.#cancelWait()
    this.#finished = true
    this.#wake()
    this.#resolve(undefined)
  }

  /** Asks until the body is here or no peer has it. Call it once, after the first message. It never rejects. */
  async run(): Promise<void> {
    const running = new Set<Promise<void>>()
    for (let round = 0; (round < BODY_ROUNDS || this.#underWay.size > 0) && !this.#finished; ) {
      const next = running.size < QUESTIONS_AT_ONCE ? this.#next() : undefined
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      if (next !== undefined) {
        const isBetter = next.kind === 'missing' && this.#rankOf(next.peer) < this.#lastRank
        const due = this.#due[next.isRescue ? 'missing' : next.kind]
        const isDue = isBetter || (await Promise.race([due.then(() => true), woken.then(() => false)]))
        if (isDue && !this.#finished) this.#begin(next, running)
      } else if (running.size > 0) {
        await Promise.race([...running, woken])
      } else {
        const isOver = await Promise.race([
          pause(this.#deps.timers, BODY_PAUSE_MS).then(() => true),
          woken.then(() => false),
        ])
        if (!isOver) continue
        round++
        if (round < BODY_ROUNDS) this.#askedWhole.clear()
      }
    }
    this.#finish(undefined)
  }

  #blockOf(slots: Slots): MatchedBlock | undefined {
    const transactions = slots.filter((tx) => tx !== undefined)
    if (transactions.length < slots.length) return undefined
    const matched = matchBody(this.tip, transactions)
    return matched.ok ? matched.value : undefined
  }

  /** A message is passed on only after this work, so the extra pool is hashed only if something is missing. */
  #known(compact: CompactBlock, prefilled: Slots): Slots {
    const slots = reconstruct(compact, prefilled, this.#deps.waiting())
    if (!slots.includes(undefined)) return slots
    const others = reconstruct(compact, prefilled, this.#deps.extra())
    return slots.map((tx, index) => tx ?? others[index])
  }

  #isChosen(peer: PeerId): boolean {
    return this.#deps.peers.get(peer)?.info.direction === 'outbound'
  }

  #begin(question: Question, running: Set<Promise<void>>): void {
    const { peer, kind } = question
    const asking = this.#ask(question).finally(() => running.delete(asking))
    running.add(asking)
    const { timers } = this.#deps
    this.#lastRank = this.#rankOf(peer)
    this.#due = {
      missing: Promise.race([asking, pause(timers, STAGGER_MS.missing)]),
      whole: Promise.race([asking, pause(timers, STAGGER_MS.whole)]),
    }
    if (kind === 'missing') this.#senders.set(peer, null)
    else this.#askedWhole.add(peer)
  }

  /** Resolves when the peer has answered or `PATIENCE_MS` have passed. */
  async #ask({ peer, kind, slots }: Question): Promise<void> {
    const { facts, givers, timers } = this.#deps
    const isSender = this.#senders.has(peer)
    let isLate = false
    this.#underWay.add(peer)
    const fetched = slots === null ? this.#fetchWhole(peer) : this.#fetchMissing(peer, slots)
    const answered = fetched.then((block) => {
      this.#underWay.delete(peer)
      if (block === undefined) {
        if (isSender && !isLate) givers.gaveNothing(peer, this.tip)
        return this.#wake()
      }
      givers.gave(peer)
      if (slots !== null && !this.#finished) facts.completed++
      this.#finish({ block, giver: peer })
    })
    isLate =
      (await within(
        timers,
        PATIENCE_MS[kind],
        answered.then(() => true),
      )) === undefined
    if (isLate) givers.gaveLate(peer)
  }

  async #fetchMissing(peer: PeerId, slots: Slots): Promise<MatchedBlock | undefined> {
    this.#deps.facts.missingTransactions += slots.filter((tx) => tx === undefined).length
    const filled = await fetchMissing(this.#deps, peer, this.tip, slots)
    return filled && this.#blockOf(filled)
  }

  #fetchWhole(peer: PeerId): Promise<MatchedBlock | undefined> {
    if (!this.#isWholeCounted) this.#deps.facts.wholeBodies++
    this.#isWholeCounted = true
    return fetchBody(this.#deps, peer, this.tip)
  }

  /**
   * What is asked next. The sender of a message comes first, for what its message lacks. Then come whole bodies, of chosen peers too, since
   * gossip brings a message from its first sender alone, and that one may lie. Once `STRANGERS_AT_ONCE` strangers keep us waiting, chosen
   * peers go before all strangers.
   */
  #next(): Question | undefined {
    const { peers } = this.#deps
    const isFree = (peer: PeerId): boolean => peers.isReady(peer) && !this.#underWay.has(peer)
    const senders = [...this.#senders].filter(([peer]) => isFree(peer))
    const [lacking] = this.#ranked(senders.flatMap(([peer, slots]) => (slots === null ? [] : [peer])))
    const others = peers
      .list()
      .filter(({ head, info }) => head.totalWork >= this.tip.totalWork || this.#isChosen(info.id))
    const havers = new Set([...senders.map(([peer]) => peer), ...others.map(({ info }) => info.id)])
    const [whole] = this.#ranked([...havers].filter((id) => isFree(id) && !this.#askedWhole.has(id)))
    const mayAskWhole = whole !== undefined && this.#askedWhole.size < ASKED_PER_ROUND
    const isRescue = mayAskWhole && this.#isChosen(whole) && this.#areStrangersAwaited
    if (lacking !== undefined && (this.#isChosen(lacking) || !isRescue))
      return { peer: lacking, kind: 'missing', slots: this.#senders.get(lacking) ?? null, isRescue: false }
    return mayAskWhole ? { peer: whole, kind: 'whole', slots: null, isRescue } : undefined
  }

  get #areStrangersAwaited(): boolean {
    return [...this.#underWay].filter((peer) => !this.#isChosen(peer)).length >= STRANGERS_AT_ONCE
  }

  #ranked(ids: readonly PeerId[]): readonly PeerId[] {
    return ids.toSorted((a, b) => this.#rankOf(a) - this.#rankOf(b))
  }

  /** The lower, the earlier a peer is asked. */
  #rankOf(peer: PeerId): number {
    return this.#deps.givers.inVain(peer) - (this.#isChosen(peer) ? CHOSEN_LEAD : 0)
  }

  #comeDue(): void {
    this.#isEarly = false
    if (this.#finished) this.#resolve(this.#assembled)
  }

  #finish(assembled: Assembled | undefined): void {
    if (this.#finished) return
    this.#finished = true
    this.#assembled = assembled
    this.#wake()
    if (assembled === undefined || !this.#isEarly) this.#resolve(assembled)
  }
}

interface Question {
  readonly peer: PeerId
  readonly kind: Kind
  readonly slots: Slots | null
  /** Whether a chosen peer is asked because strangers keep us waiting. */
  readonly isRescue: boolean
}

function prefilledBytes({ prefilled }: CompactBlock): number {
  return prefilled.reduce((sum, { transaction }) => sum + transaction.length, 0)
}

/**
 * The prefilled slots, filled with the candidates that the short ids name. A slot stays empty where two transactions have its short id, or
 * where two slots have the same one: only the roots could tell which belongs there.
 */
export function reconstruct(
  compact: CompactBlock,
  prefilled: Slots,
  candidates: readonly Transaction[],
  hasher: ShortIdHasher = shortIdsOf,
): Slots {
  const slots = [...prefilled]
  const indexOf = placesOf(compact, prefilled)
  const ids = hasher(
    shortIdKey(compact.id, compact.salt),
    candidates.map(({ wtxId }) => wtxId),
  )
  const ambiguous = new Set<number>()
  for (const [i, id] of ids.entries()) {
    const index = indexOf.get(id)
    if (index === undefined || index === null) continue
    const tx = candidates[i] as Transaction
    if (slots[index] !== undefined && slots[index].wtxId !== tx.wtxId) ambiguous.add(index)
    slots[index] = tx
  }
  for (const index of ambiguous) slots[index] = undefined
  return slots
}

/** Slot of each short id; null where two slots have it. */
function placesOf({ shortIds }: CompactBlock, prefilled: Slots): ReadonlyMap<number, number | null> {
  const places = new Map<number, number | null>()
  let next = 0
  for (const [index, slot] of prefilled.entries()) {
    if (slot !== undefined) continue
    const id = shortIds[next++] as number
    places.set(id, places.has(id) ? null : index)
  }
  return places
}
