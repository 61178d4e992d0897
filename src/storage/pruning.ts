import type { Chain } from '../../consensus/chain/chain.ts'
import { type ChainDatabase, UNDO_BLOCKS } from '../../consensus/chain/database.ts'
import { changeHeld } from '../../consensus/chain/held-bodies.ts'
import { type HeldBodies, KEYS } from '../../consensus/chain/layout.ts'
import type { Timers } from '../../consensus/chain/ports.ts'
import type { BlockId } from '../../consensus/primitives/ids.ts'
import type { StorageMode } from '../p2p/wire/messages.ts'

/** What is kept of old blocks. */
export interface Retention {
  readonly mode: StorageMode
  /** Days for which a full node keeps witnesses. */
  readonly witnessDays: number
}

/** What pruning needs. */
export interface PruningDependencies {
  readonly chain: Chain
  readonly retention: Retention
  readonly timers: Timers
  readonly onFatal: (error: unknown) => void
}

/** Blocks per day at the target spacing. */
const BLOCKS_PER_DAY = 28_800
/** Blocks that every mode keeps: all that can be unwound, and some for peers that are slightly behind. */
export const KEPT_BLOCKS = UNDO_BLOCKS + 1_200
const BLOCKS_PER_BATCH = 100
const EVERY_MS = 10_000
/** Pause between batches, so that new blocks find the disk free. */
const PAUSE_MS = 50

/** Heights from which on bodies and witnesses must be kept, for a head at `height`. */
export function wantedFrom({ mode, witnessDays }: Retention, height: number): HeldBodies {
  const recent = Math.max(0, height - KEPT_BLOCKS)
  if (mode === 'archive') return { bodiesFrom: 0, witnessesFrom: 0 }
  if (mode === 'pruned') return { bodiesFrom: recent, witnessesFrom: recent }
  return { bodiesFrom: 0, witnessesFrom: Math.max(0, Math.min(recent, height - witnessDays * BLOCKS_PER_DAY)) }
}

/** What a folder lacks compared with its setting, as fields of a log line; null if nothing. */
export function lackOf({ mode, ...rest }: Retention, held: HeldBodies, height: number): object | null {
  const wanted = wantedFrom({ mode, ...rest }, height)
  const bodies = held.bodiesFrom > wanted.bodiesFrom ? { bodiesMissingBelow: held.bodiesFrom } : null
  const witnesses = held.witnessesFrom > wanted.witnessesFrom ? { witnessesMissingBelow: held.witnessesFrom } : null
  return bodies === null && witnesses === null ? null : { mode, ...bodies, ...witnesses, wanted }
}

/** Deletes old parts of blocks. Each batch stores its progress, so a crash neither loses nor repeats work. */
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

  /** Waits for the running batch. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel()
    await this.#running
  }

  /** Prunes the next blocks; false if there were none to prune. */
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

/** Never below `held`, since deleted parts do not return. */
function next(held: number, wanted: number): number {
  return Math.max(held, Math.min(wanted, held + BLOCKS_PER_BATCH))
}

/** `to` is not included; genesis is always kept. */
function idsBetween(database: ChainDatabase, from: number, to: number): readonly BlockId[] {
  const first = Math.max(1, from)
  return Array.from({ length: Math.max(0, to - first) }, (_, i) => database.idAt(first + i) as BlockId)
}
