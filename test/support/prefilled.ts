import type { Result } from '../../consensus/primitives/result.ts'
import { type CompactBlock, openPrefilled, type Slots } from '../../src/p2p/relay/compact-block.ts'

/** Decodes at once what came along with a compact block. */
export function openedAtOnce(compact: CompactBlock): Result<Slots> {
  const steps = openPrefilled(compact)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
