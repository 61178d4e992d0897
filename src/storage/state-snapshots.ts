import type { HeadChange } from '../../consensus/chain/events.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import type { PastState, ServedStates } from '../p2p/serve/state.ts'
import { SNAPSHOTS_MAX, type SnapshotRef } from '../p2p/wire/messages.ts'

/** A state of the store that stays readable until it is released. */
export interface PinnedState extends PastState {
  release(): Promise<void>
}

/** What snapshots need. */
export interface SnapshotDependencies {
  readonly chain: ChainReader
  readonly pin: () => PinnedState
  readonly clock: Clock
  readonly timers: Timers
  /** A snapshot is taken at heights that are multiples of this. */
  readonly blocks: number
}

interface Held extends SnapshotRef {
  readonly state: PinnedState
  readonly takenMs: number
  /** Null before the first read. */
  usedMs: number | null
  readers: number
}

/** How many of the newest snapshots are kept even if no peer reads them. */
const KEPT = 2
/** Maximum age of an older snapshot that is still being read. */
const AGE_MS_MAX = 7_200_000
/** A reader that is silent for this long counts as gone. */
const IDLE_MS = 120_000
/** A node without a snapshot this long after its start takes one at any height: else it might have none for long. */
const FIRST_AFTER_MS = 60_000
const TIDY_EVERY_MS = 30_000

/** While a snapshot is held, the disk also keeps everything that was overwritten since. So only a few are held. */
export class StateSnapshots implements ServedStates {
  readonly #deps: SnapshotDependencies
  #held: Held[] = []
  #cancel: () => void = () => {}
  #stopped = true
  #startedMs = 0

  constructor(dependencies: SnapshotDependencies) {
    this.#deps = dependencies
    dependencies.chain.onHeadChange((change) => this.#follow(change))
  }

  start(): void {
    this.#stopped = false
    this.#startedMs = this.#deps.clock.now()
    this.#tidyLater()
  }

  /** A snapshot that is being read is released when that read ends. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    const held = this.#held
    this.#held = []
    await Promise.all(held.filter(({ readers }) => readers === 0).map(({ state }) => state.release()))
  }

  /** Newest first. */
  refs(): readonly SnapshotRef[] {
    return this.#held.map(({ height, id }) => ({ height, id }))
  }

  use<T>(block: BlockId, work: (state: PastState) => Promise<T>): Promise<T | undefined> {
    return this.#use(
      this.#held.find(({ id }) => id === block),
      work,
    )
  }

  useNewest<T>(work: (state: PastState) => Promise<T>): Promise<T | undefined> {
    return this.#use(this.#held[0], work)
  }

  async #use<T>(held: Held | undefined, work: (state: PastState) => Promise<T>): Promise<T | undefined> {
    if (held === undefined) return undefined
    held.readers += 1
    held.usedMs = this.#deps.clock.now()
    try {
      return await work(held.state)
    } finally {
      held.readers -= 1
      if (!this.#held.includes(held) && held.readers === 0) await held.state.release()
    }
  }

  #follow({ head, disconnected }: HeadChange): void {
    if (this.#stopped) return
    const { database } = this.#deps.chain
    if (disconnected.length > 0) this.#keep(({ height, id }) => database.idAt(height) === id)
    if (head.header.height % this.#deps.blocks === 0) this.#take()
  }

  #take(): void {
    const { chain, clock, pin } = this.#deps
    const { header, id } = chain.head
    if (this.#stopped || chain.moving || this.#held[0]?.id === id) return
    const now = clock.now()
    this.#held.unshift({ height: header.height, id, state: pin(), takenMs: now, usedMs: null, readers: 0 })
    this.#tidy()
  }

  #tidyLater(): void {
    this.#cancel = this.#deps.timers.after(TIDY_EVERY_MS, () => {
      if (this.#held.length === 0 && this.#deps.clock.now() - this.#startedMs >= FIRST_AFTER_MS) this.#take()
      this.#tidy()
      this.#tidyLater()
    })
  }

  /** Releases older snapshots that are no longer being read, and all beyond {@link SNAPSHOTS_MAX}. */
  #tidy(): void {
    const now = this.#deps.clock.now()
    const [fresh, others] = [new Set(this.#held.slice(0, KEPT)), new Set(this.#held.slice(0, SNAPSHOTS_MAX))]
    const isRead = ({ usedMs, takenMs }: Held): boolean =>
      usedMs !== null && now - usedMs < IDLE_MS && now - takenMs < AGE_MS_MAX
    this.#keep((held) => fresh.has(held) || (others.has(held) && isRead(held)))
  }

  #keep(isKept: (held: Held) => boolean): void {
    const left = this.#held.filter((held) => !isKept(held))
    this.#held = this.#held.filter(isKept)
    // A running reader releases it at its end.
    for (const { readers, state } of left) if (readers === 0) state.release().catch(() => {})
  }
}
