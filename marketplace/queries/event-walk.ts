import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import { LruMap } from '../../consensus/primitives/lru.ts'
import { type ChainEvent, eventsOf } from './chain-events.ts'
import { blockGap } from './known-past.ts'

/** A reader's position: it has read everything up to and including this event. */
export interface EventPosition {
  readonly blockId: BlockId
  /** Number of the event in its block, 0 for the block's own; {@link WHOLE_BLOCK} if their number is unknown. */
  readonly index: number
}

/** An index after the last event of any block. */
const WHOLE_BLOCK = 0xffff_ffff

/** Why events cannot continue from a position. */
export type ResetReason = 'unknown' | 'too-old' | 'pruned'

/** The next step of a reader, and its position afterwards. */
export type EventStep =
  /** Events of one block; `first` is the number of the first one. */
  | {
      readonly is: 'events'
      readonly entry: BlockEntry
      readonly first: number
      readonly events: readonly ChainEvent[]
      readonly position: EventPosition
    }
  /** Blocks that the reader had read left the best chain; `left` lists them, newest first. */
  | {
      readonly is: 'reorganisation'
      readonly from: BlockEntry
      readonly to: BlockEntry
      readonly commonAncestor: BlockEntry
      readonly left: readonly BlockId[]
      readonly position: EventPosition
    }
  /** The reader missed events and continues after the head. */
  | {
      readonly is: 'reset'
      readonly reason: ResetReason
      readonly head: BlockEntry
      readonly position: EventPosition
    }

/** Maximum blocks that are replayed to a returning reader, and maximum blocks that it can have read beyond a fork. */
export const REPLAY_BLOCKS_MAX = 1_000
/** Maximum blocks whose events are cached. All readers that keep up ask for the newest blocks. */
const KEPT_BLOCKS = 32

/**
 * Keeps no state per reader: a position names a block, and what follows depends on the chain alone, also after a
 * restart.
 */
export class EventWalk {
  readonly #chain: ChainReader
  readonly #events = new LruMap<BlockId, readonly ChainEvent[]>(KEPT_BLOCKS)

  constructor(chain: ChainReader) {
    this.#chain = chain
  }

  /** The position after all events; null while the head is temporary (during a reorganisation). */
  end(): EventPosition | null {
    const { moving, head } = this.#chain
    return moving ? null : this.#endOf(head)
  }

  /** The step after a position; null if there is none yet, or while the head is temporary. */
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

  /** The step from a block that left the best chain back to the fork. */
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

  /** From number `first` on; null if there are none. A reset if this node does not have the block's data. */
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

  /** Null if this node does not have the block's data. */
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
