import { argon2Sync } from 'node:crypto'
import { littleEndian, readLittleEndian, tagged, utf8 } from './bytes.ts'
import type { ReferenceRules } from './params.ts'

/** The proof-of-work hash of message and salt: blocks.md, section 2. */
export type ReferencePow = (message: Uint8Array, salt: Uint8Array, cost: ReferenceRules['block']['pow']) => Uint8Array

const SALT = utf8('farthing/pow/v1.')

/** Argon2id as the specification says. */
export const argon2Pow: ReferencePow = (message, salt, { memoryKiB, passes, lanes }) =>
  argon2Sync('argon2id', { message, nonce: salt, memory: memoryKiB, passes, parallelism: lanes, tagLength: 32 })

/** Whether these header bytes meet the target. The last 8 are the nonce. */
export function meetsTarget(
  header: Uint8Array,
  target: bigint,
  pow: ReferencePow,
  cost: ReferenceRules['block']['pow'],
): boolean {
  const end = header.length - 8
  const message = Buffer.concat([tagged('pow-input', header.subarray(0, end)), header.subarray(end)])
  return readLittleEndian(Uint8Array.from(pow(message, SALT, cost)).reverse()) <= target
}

/** The wire bytes of a block with the lowest nonce that meets its target. The given block must have nonce 0. */
export function findNonce(
  wire: Uint8Array,
  target: bigint,
  pow: ReferencePow,
  cost: ReferenceRules['block']['pow'],
): Uint8Array {
  const found = wire.slice()
  const header = found.subarray(0, 324)
  for (let nonce = 0n; !meetsTarget(header, target, pow, cost); nonce++) header.set(littleEndian(nonce + 1n, 8), 316)
  return found
}
