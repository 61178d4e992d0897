import { verifyWorkJob } from '../../consensus/block/pow.ts'
import { verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { verifyJob } from '../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../crypto/native-backend.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import { unpackJobs, unpackTabJobs } from './verify-packing.ts'
import { unpackWork } from './work-packing.ts'

/** Thread entry: one verdict (0 or 1) per packed job. */
export function verifyPacked(packed: Uint8Array): Uint8Array {
  return Uint8Array.from(unpackJobs(packed), (job) => (verifyJob(NATIVE_BACKEND, job) ? 1 : 0))
}

/** Thread entry: one verdict (0 or 1) per packed signature of a tab's key. */
export function verifyTabsPacked(packed: Uint8Array): Uint8Array {
  return Uint8Array.from(unpackTabJobs(packed), (job) => (verifyTabSignature(NATIVE_BACKEND, job) ? 1 : 0))
}

/** Thread entry: one verdict (0 or 1) per packed header. */
export function verifyWorkPacked(packed: Uint8Array): Uint8Array {
  return Uint8Array.from(unpackWork(packed), (job) => (verifyWorkJob(nativePowHasher, job) ? 1 : 0))
}
