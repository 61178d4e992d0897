import { type Fault, fault } from '../primitives/fault.ts'
import type { HeldBodies } from './layout.ts'

/** The fault for a block of the best chain whose body was pruned or never fetched. */
export function prunedFault({ held }: { readonly held: HeldBodies }, height: number): Fault {
  return fault('storage/pruned', { height, ...held })
}
