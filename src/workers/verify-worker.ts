import { verifyWorkJob } from '../../consensus/block/pow.ts'
import { verifyJob } from '../../consensus/crypto/verifier.ts'
import { NATIVE_BACKEND } from '../crypto/native-backend.ts'
import { nativePowHasher } from '../crypto/native-pow.ts'
import { unpackJobs } from './verify-packing.ts'
import { unpackWork } from './work-packing.ts'

/** Thread entry: one verdict (0 or 1) per packed job. */
export function verifyPacked(packed: Uint8Array): Uint8Array {
  return Uint8Array.from(unpackJobs(packed), (job) => (verifyJob(NATIVE_BACKEND, job) ? 1 : 0))
}

/** Thread entry: one verdict (0 or 1) per packed header. */
export function verifyWorkPacked(packed: Uint8Array): Uint8Array {
  return Uint8Array.from(unpackWork(packed), (job) => (verifyWorkJob(nativePowHasher, job) ? 1 : 0))
}
