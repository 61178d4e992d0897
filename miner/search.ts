import { POW_SALT, type PowHasher } from '../consensus/block/pow.ts'
import type { PowRules } from '../consensus/block/rules.ts'
import { compare } from '../consensus/primitives/bytes.ts'

/** A search for a nonce. Threads share a job: each begins at its own `start` and steps by `stride`. */
export interface SearchJob {
  /** Hash of the header without its nonce. */
  readonly input: Uint8Array
  readonly target: Uint8Array
  readonly cost: PowRules
  readonly start: bigint
  readonly stride: bigint
}

/** Tries nonces until one meets the target or `stopped` is true; calls `onHash` for each. */
export function searchNonce(
  job: SearchJob,
  hasher: PowHasher,
  { stopped, onHash }: { readonly stopped: () => boolean; readonly onHash: () => void },
): bigint | undefined {
  const message = new Uint8Array(job.input.length + 8)
  message.set(job.input)
  const view = new DataView(message.buffer)
  for (let nonce = job.start; !stopped(); nonce += job.stride) {
    view.setBigUint64(job.input.length, nonce, true)
    onHash()
    if (compare(hasher(message, POW_SALT, job.cost), job.target) <= 0) return nonce
  }
  return undefined
}
