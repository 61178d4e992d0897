import { argon2id } from '@noble/hashes/argon2.js'
import { taggedHash } from '../crypto/hash.ts'
import { compare, concat, readUintBE } from '../primitives/bytes.ts'
import { encodeText } from '../primitives/text.ts'
import { HEADER_BYTES, NONCE_BYTES } from './header.ts'
import type { PowRules } from './rules.ts'

/** Argon2id (RFC 9106) with a 32-byte output over message and salt at the given cost. */
export type PowHasher = (message: Uint8Array, salt: Uint8Array, cost: PowRules) => Uint8Array

/** Salt of every proof-of-work hash. */
export const POW_SALT = encodeText('farthing/pow/v1.')

/** The reference hasher, in plain JavaScript. */
export const referencePowHasher: PowHasher = (message, salt, { memoryKiB, passes, lanes }) =>
  argon2id(message, salt, { m: memoryKiB, t: passes, p: lanes, dkLen: 32 })

/** Hash of the header without its nonce. */
export function powInput(headerBytes: Uint8Array): Uint8Array {
  return taggedHash('powInput', headerBytes.subarray(0, HEADER_BYTES - NONCE_BYTES))
}

/** Argon2id over (input hash || nonce). */
export function powHash(hasher: PowHasher, headerBytes: Uint8Array, cost: PowRules): Uint8Array {
  return hasher(concat(powInput(headerBytes), headerBytes.subarray(HEADER_BYTES - NONCE_BYTES)), POW_SALT, cost)
}

/** `cost` is that in force at the height of the header. */
export interface WorkJob {
  readonly bytes: Uint8Array
  readonly target: bigint
  readonly cost: PowRules
}

/** Gives one verdict per job, in order. */
export interface WorkVerifier {
  verifyWork(jobs: readonly WorkJob[]): Promise<readonly boolean[]>
}

/** Whether the hash of a job meets its target. */
export function verifyWorkJob(hasher: PowHasher, { bytes, target, cost }: WorkJob): boolean {
  return meetsTarget(powHash(hasher, bytes, cost), target)
}

/** A work verifier that runs on the calling thread: for tests. */
export function createInlineWorkVerifier(hasher: PowHasher): WorkVerifier {
  return { verifyWork: (jobs) => Promise.resolve(jobs.map((job) => verifyWorkJob(hasher, job))) }
}

/** Whether the hash, read as a big-endian number, is at or below the target. */
export function meetsTarget(hash: Uint8Array, target: bigint): boolean {
  return readUintBE(hash) <= target
}

/** Expected number of hashes to meet a target: floor(2^256 / (target + 1)). */
export function workOfTarget(target: bigint): bigint {
  return (1n << 256n) / (target + 1n)
}

/** The easiest target that takes at least this much work. */
export function targetOfWork(work: bigint): bigint {
  return (1n << 256n) / work - 1n
}

/** A search for a nonce. Threads share a job: each begins at its own `start` and steps by `stride`. */
export interface SearchJob {
  /** Hash of the header without its nonce. */
  readonly input: Uint8Array
  readonly target: Uint8Array
  readonly cost: PowRules
  readonly start: bigint
  readonly stride: bigint
}

/** Undefined if `stopped` ends the search. Calls `onHash` for each nonce. */
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
