import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { type ChainEvent, eventsOf } from './chain-events.ts'
import { blockGap } from './known-past.ts'

/** How far somebody has read: everything up to and with an event of a block. */
export interface EventPosition {
  readonly blockId: BlockId
  /** Number of the event in its block; the block's own is 0. {@link WHOLE_BLOCK} where nobody here knows how many there are. */
  readonly index: number
}

/** Number of the last event of any block. */
const WHOLE_BLOCK = 0xffff_ffff

/** Why events cannot be told from where somebody stopped. */
export type ResetReason = 'unknown' | 'too-old' | 'pruned'

/** What comes next, and where its reader is then. */
export type EventStep =
  /** Events of one block; the first of them has the number `first`. */
  | {
      readonly is: 'events'
      readonly entry: BlockEntry
      readonly first: number
      readonly events: readonly ChainEvent[]
      readonly position: EventPosition
    }
  /** Blocks that were read, `left` and newest first, are on the best chain no longer. */
  | {
      readonly is: 'reorganisation'
      readonly from: BlockEntry
      readonly to: BlockEntry
      readonly commonAncestor: BlockEntry
      readonly left: readonly BlockId[]
      readonly position: EventPosition
    }
  /** The reader missed something, and goes on behind the head. */
  | {
      readonly is: 'reset'
      readonly reason: ResetReason
      readonly head: BlockEntry
      readonly position: EventPosition
    }

/** Blocks behind the head that are told to who comes back. */
export const REPLAY_BLOCKS_MAX = 1_000
/** Blocks whose events are kept: readers that keep up all ask for the same. */
const KEPT_BLOCKS = 32

/**
 * Walks the events of a chain from any position. Nothing is kept of who reads: a position names a block, and what comes after
 * it follows from the chain alone, before and after a restart.
 */
export class EventWalk {
  readonly #chain: ChainReader
  readonly #events = new LruMap<BlockId, readonly ChainEvent[]>(KEPT_BLOCKS)

  constructor(chain: ChainReader) {
    this.#chain = chain
  }

  /** Behind everything that there is; null while the head is a passing one. */
  end(): EventPosition | null {
    const { moving, head } = this.#chain
    return moving ? null : this.#endOf(head)
  }

  /** What comes after a position; null where nothing does yet, or while the head is a passing one. */
  after(position: EventPosition): EventStep | null {
    const { moving, database, head } = this.#chain
    if (moving) return null
    const entry = database.entry(position.blockId)
    if (entry === undefined) return this.#reset('unknown')
    if (!database.isCanonical(entry)) return this.#back(entry)
    if (head.header.height - entry.header.height > REPLAY_BLOCKS_MAX) return this.#reset('too-old')
    const rest = position.index === WHOLE_BLOCK ? null : this.#rest(entry, position.index + 1)
    return rest ?? this.#next(entry)
  }

  /** From a block that left the best chain to where it forks. */
  #back(from: BlockEntry): EventStep {
    const { database, head } = this.#chain
    const left: BlockId[] = []
    let entry: BlockEntry | undefined = from
    while (entry !== undefined && !database.isCanonical(entry)) {
      if (left.length >= REPLAY_BLOCKS_MAX) return this.#reset('too-old')
      left.push(entry.id)
      entry = database.entry(entry.header.parent)
    }
    if (entry === undefined) return this.#reset('unknown')
    return { is: 'reorganisation', from, to: head, commonAncestor: entry, left, position: this.#endOf(entry) }
  }

  #next({ header }: BlockEntry): EventStep | null {
    const { database } = this.#chain
    const id = database.idAt(header.height + 1)
    const entry = id === undefined ? undefined : database.entry(id)
    return entry === undefined ? null : this.#rest(entry, 0)
  }

  /** Events of a block from one of them on; null where there are none. */
  #rest(entry: BlockEntry, first: number): EventStep | null {
    const all = this.#eventsOf(entry)
    if (all === null) return this.#reset('pruned')
    if (first >= all.length) return null
    const position = { blockId: entry.id, index: all.length - 1 }
    return { is: 'events', entry, first, events: all.slice(first), position }
  }

  #reset(reason: ResetReason): EventStep {
    const { head } = this.#chain
    return { is: 'reset', reason, head, position: this.#endOf(head) }
  }

  #endOf(entry: BlockEntry): EventPosition {
    const events = this.#eventsOf(entry)
    return { blockId: entry.id, index: events === null ? WHOLE_BLOCK : events.length - 1 }
  }

  /** Null where this node cannot say what happened in the block. */
  #eventsOf(entry: BlockEntry): readonly ChainEvent[] | null {
    const known = this.#events.get(entry.id)
    if (known !== undefined) return known
    const { height } = entry.header
    if (height > 0 && blockGap(this.#chain, height) !== null) return null
    const events = eventsOf(this.#chain.database, entry)
    this.#events.set(entry.id, events)
    return events
  }
}
