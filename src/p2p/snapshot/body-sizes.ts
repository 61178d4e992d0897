import { encodedBodySize } from '../../../consensus/block/block.ts'
import type { ChainDatabase } from '../../../consensus/chain/database.ts'
import { BASE_MARK, type BlockEntry, KEYS } from '../../../consensus/chain/layout.ts'
import { decodeOwn, encode } from '../../../consensus/primitives/codec.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'

/** Blocks looked at in one step, and those of them that are read: a step must be short. */
const ENTRIES_PER_STEP = 256
const READ_PER_STEP = 4

/** A stored block's entry with the size that its body turned out to have. */
export function sizedEntry(database: ChainDatabase, id: BlockId, bodyBytes: number): readonly BlockEntry[] {
  const entry = database.entry(id)
  return entry === undefined ? [] : [{ ...entry, bodyBytes }]
}

/**
 * Gives blocks behind a snapshot the sizes that older releases left out, some at a call, newest first; whether there are more.
 * What is done is marked, so that it is done once.
 */
export async function sizeBodies(database: ChainDatabase): Promise<boolean> {
  const { base, held } = database
  const bottom = Math.max(1, held.bodiesFrom, held.witnessesFrom)
  const top = sizedFrom(database) - 1
  const entries: BlockEntry[] = []
  let height = top
  for (; height >= bottom && entries.length < READ_PER_STEP && top - height < ENTRIES_PER_STEP; height--) {
    const entry = database.entry(database.idAt(height) as BlockId)
    if (entry !== undefined && entry.bodyBytes === 0) entries.push(...measured(database, entry))
  }
  const done = height < bottom
  if (base === 0 || top < 1) return false
  const mark = { key: KEYS.meta('sized'), value: encode(BASE_MARK, { height: done ? 0 : height + 1 }) }
  await database.restate(entries, [mark])
  return !done
}

function sizedFrom({ base, store }: ChainDatabase): number {
  const mark = store.get(KEYS.meta('sized'))
  return mark === undefined ? base + 1 : decodeOwn(BASE_MARK, mark).height
}

function measured(database: ChainDatabase, { id }: BlockEntry): readonly BlockEntry[] {
  const encodings = database.encodedTransactions(id)
  return encodings === undefined ? [] : sizedEntry(database, id, encodedBodySize(encodings))
}
