import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** A value, and the block whose state it was read from. */
export interface Reading<T> {
  readonly head: BlockEntry
  readonly value: T
}

/** Maximum tries of a reading, and the pause per try in which a reorganisation may finish. */
const TRIES_MAX = 20
const PAUSE_MS = 20

/** Number of head moves of a chain, including those that a reorganisation reversed. */
const MOVES = new WeakMap<ChainReader, { count: number }>()

function movesOf(chain: ChainReader): { readonly count: number } {
  const known = MOVES.get(chain)
  if (known !== undefined) return known
  const moves = { count: 0 }
  MOVES.set(chain, moves)
  chain.onHeadChange(() => {
    moves.count += 1
  })
  return moves
}

/**
 * Reads several values at one head. If the head moves meanwhile, the reading restarts. After twenty tries, which
 * include pauses during a reorganisation, the fault is `chain/head-moving`.
 */
export async function atOneHead<T>(
  chain: ChainReader,
  work: (head: BlockEntry) => Promise<T> | T,
): Promise<Result<Reading<T>>> {
  const moves = movesOf(chain)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    if (chain.moving) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      continue
    }
    const { head } = chain
    const { count } = moves
    const value = await work(head)
    if (!chain.moving && chain.head.id === head.id && moves.count === count) return ok({ head, value })
  }
  return fail(fault('chain/head-moving', { tries: TRIES_MAX }))
}
