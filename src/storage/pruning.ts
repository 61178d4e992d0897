import type { Chain } from '../../consensus/chain/chain.ts'
import { type ChainDatabase, UNDO_BLOCKS } from '../../consensus/chain/database.ts'
import { changeHeld } from '../../consensus/chain/held-bodies.ts'
import { type HeldBodies, KEYS } from '../../consensus/chain/layout.ts'
import type { Timers } from '../../consensus/chain/ports.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import type { StorageMode } from '../p2p/wire/messages.ts'

/** What is kept of the past. */
export interface Retention {
  readonly mode: StorageMode
  /** Days for which a full node keeps witnesses. */
  readonly witnessDays: number
}

/** What prunes a chain. */
export interface PruningDependencies {
  readonly chain: Chain
  readonly retention: Retention
  readonly timers: Timers
  /** Called with what the disk says when it fails. */
  readonly onFatal: (error: unknown) => void
}

/** Blocks of a day. */
const BLOCKS_PER_DAY = 28_800
/** Blocks kept in every mode: all that can be unwound, and some for peers that are a little behind. */
export const KEPT_BLOCKS = UNDO_BLOCKS + 1_200
/** Blocks whose parts are deleted in one batch. */
const BLOCKS_PER_BATCH = 100
const EVERY_MS = 10_000
/** Between two batches, so that blocks that arrive find the disk free. */
const PAUSE_MS = 50

/** Heights from which on bodies and witnesses are to be kept when the head is at a height. */
export function wantedFrom({ mode, witnessDays }: Retention, height: number): HeldBodies {
  const recent = Math.max(0, height - KEPT_BLOCKS)
  if (mode === 'archive') return { bodiesFrom: 0, witnessesFrom: 0 }
  if (mode === 'pruned') return { bodiesFrom: recent, witnessesFrom: recent }
  return { bodiesFrom: 0, witnessesFrom: Math.max(0, Math.min(recent, height - witnessDays * BLOCKS_PER_DAY)) }
}

/** What a folder lacks of what its setting asks for, as a line of the log; null where it lacks nothing. */
export function lackOf({ mode, ...rest }: Retention, held: HeldBodies, height: number): object | null {
  const wanted = wantedFrom({ mode, ...rest }, height)
  const bodies = held.bodiesFrom > wanted.bodiesFrom ? { bodiesMissingBelow: held.bodiesFrom } : null
  const witnesses = held.witnessesFrom > wanted.witnessesFrom ? { witnessesMissingBelow: held.witnessesFrom } : null
  return bodies === null && witnesses === null ? null : { mode, ...bodies, ...witnesses, wanted }
}

/**
 * Deletes, in the background and a few blocks at a time, what is not to be kept. Each batch says in the store how far it came, so a
 * crash neither loses nor repeats anything.
 */
export class Pruning {
  readonly #deps: PruningDependencies
  #cancel: () => void = () => {}
  #running: Promise<unknown> = Promise.resolve()
  #stopped = true

  constructor(dependencies: PruningDependencies) {
    this.#deps = dependencies
  }

  start(): void {
    this.#stopped = false
    this.#later(EVERY_MS)
  }

  /** Waits for the batch under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#running
  }

  /** Deletes the parts of the next blocks that are not to be kept; whether there are more. */
  step(): Promise<boolean> {
    const { database, head } = this.#deps.chain
    const wanted = wantedFrom(this.#deps.retention, head.header.height)
    return changeHeld(database, (held) => {
      const bodiesFrom = next(held.bodiesFrom, wanted.bodiesFrom)
      const witnessesFrom = next(held.witnessesFrom, Math.max(wanted.witnessesFrom, bodiesFrom))
      if (bodiesFrom === held.bodiesFrom && witnessesFrom === held.witnessesFrom) return undefined
      const writes = [
        ...idsBetween(database, held.witnessesFrom, witnessesFrom).map((id) => ({ key: KEYS.witnesses(id) })),
        ...idsBetween(database, held.bodiesFrom, bodiesFrom).flatMap((id) => [
          { key: KEYS.bodies(id) },
          { key: KEYS.receipts(id) },
        ]),
      ]
      return { held: { bodiesFrom, witnessesFrom }, writes }
    })
  }

  #later(ms: number): void {
    if (this.#stopped) return
    this.#cancel = this.#deps.timers.after(ms, () => {
      const run = this.step().then((more) => this.#later(more ? PAUSE_MS : EVERY_MS))
      this.#running = run.catch((error: unknown) => this.#deps.onFatal(error))
    })
  }
}

/** How far one batch goes towards what is wanted; what is missing already is not brought back by deleting. */
function next(held: number, wanted: number): number {
  return Math.max(held, Math.min(wanted, held + BLOCKS_PER_BATCH))
}

/** Blocks of the best chain from a height up to, not with, another; genesis stays. */
function idsBetween(database: ChainDatabase, from: number, to: number): readonly BlockId[] {
  const first = Math.max(1, from)
  return Array.from({ length: Math.max(0, to - first) }, (_, i) => database.idAt(first + i) as BlockId)
}
