import type { BlockEntry } from '../../consensus/chain/layout.ts'
import type { ChainReader } from '../../consensus/chain/reader.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** What was read, and the block whose state it shows. */
export interface Reading<T> {
  readonly head: BlockEntry
  readonly value: T
}

/** How often a reading begins anew, and how long it lets a reorganisation come to its end in between. */
const TRIES_MAX = 20
const PAUSE_MS = 20

/** How often the head of a chain has moved, moves that were taken back included. */
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
 * Reads several things of one and the same head: a reading during which the head moves is thrown away and begun anew. After
 * twenty of those, or where a reorganisation takes longer than as many pauses, the fault is `chain/head-moving`.
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
