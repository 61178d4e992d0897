import { encode } from '../primitives/codec.ts'
import type { ChainDatabase } from './database.ts'
import type { Write } from './key-value.ts'
import { type BlockEntry, HELD_MARK, type HeldBodies, KEYS } from './layout.ts'

/** A new range of held bodies, and the writes that go with it. */
export interface HeldChange {
  readonly held: HeldBodies
  readonly writes: readonly Write[]
  /** Block entries to write again, with what the bodies told of them. */
  readonly entries?: readonly BlockEntry[]
}

const QUEUES = new WeakMap<ChainDatabase, Promise<unknown>>()

/**
 * Changes run one after another, since each begins with the result of the one before. `change` gives undefined if there
 * is nothing to do; the result is then false.
 */
export function changeHeld(
  database: ChainDatabase,
  change: (held: HeldBodies) => HeldChange | undefined,
): Promise<boolean> {
  const run = (QUEUES.get(database) ?? Promise.resolve()).then(async () => {
    const found = change(database.held)
    if (found === undefined) return false
    const mark = { key: KEYS.meta('held'), value: encode(HELD_MARK, found.held) }
    await database.restate(found.entries ?? [], [...found.writes, mark])
    return true
  })
  QUEUES.set(
    database,
    run.catch(() => {}),
  )
  return run
}
