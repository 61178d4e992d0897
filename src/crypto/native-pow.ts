import { argon2Sync } from 'node:crypto'
import type { PowHasher } from '../../consensus/block/pow.ts'

/** Argon2id by the runtime. */
export const nativePowHasher: PowHasher = (message, salt, { memoryKiB, passes, lanes }) =>
  argon2Sync('argon2id', { message, nonce: salt, parallelism: lanes, tagLength: 32, memory: memoryKiB, passes })
