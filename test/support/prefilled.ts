import type { Result } from '../../consensus/primitives/result.ts'
import { type CompactBlock, openPrefilled, type Slots } from '../../src/p2p/relay/compact-block.ts'

/** Decodes the transactions that came with a compact block, without pauses. */
export function openedAtOnce(compact: CompactBlock): Result<Slots> {
  const steps = openPrefilled(compact)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
