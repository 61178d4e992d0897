import { type Fault, fault } from '../primitives/fault.ts'
import type { HeldBodies } from './layout.ts'

/** Says that a block of the best chain is known here, but not what was in it: it was pruned, or never fetched. */
export function prunedFault({ held }: { readonly held: HeldBodies }, height: number): Fault {
  return fault('storage/pruned', { height, ...held })
}
