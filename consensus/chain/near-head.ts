import { workOfTarget } from '../block/pow.ts'
import type { BlockEntry } from './layout.ts'

/** Blocks of the head's work by which a branch may fall short and still be stored block by block. */
const SLACK_BLOCKS = 144n

/**
 * Whether a branch of this work is not far below the head's, nor below one that is `awaited`: whose headers are proven, and whose blocks
 * are fetched. Meanwhile the head stands still or far below, and any peer could lead it down a branch of easy blocks that is too deep
 * to come back from.
 */
export function isNear(totalWork: bigint, head: Pick<BlockEntry, 'header' | 'totalWork'>, awaited: bigint): boolean {
  const best = awaited > head.totalWork ? awaited : head.totalWork
  return totalWork + workOfTarget(head.header.target) * SLACK_BLOCKS >= best
}
