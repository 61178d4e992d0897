import { type SignatureBackend, verifyHybrid } from './hybrid.ts'
import { type SignatureJob, signingContext } from './signing.ts'
import type { TabSignature } from './tab-signing.ts'

/** Gives one verdict per job, in order. */
export interface SignatureVerifier {
  verify(jobs: readonly SignatureJob[]): Promise<readonly boolean[]>
  /** The same for signatures of keys of tabs. Absent: there are no threads, so nothing is won by checking them ahead. */
  readonly verifyTabs?: (jobs: readonly TabSignature[]) => Promise<readonly boolean[]>
}

/** The verifier itself failed, so the block may be valid. */
export class VerifierFailure extends Error {
  override name = 'VerifierFailure'

  constructor(cause: unknown) {
    super(`signatures could not be verified: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Whether every part verifies. */
export function verifyJob(backend: SignatureBackend, job: SignatureJob): boolean {
  const context = signingContext(job.domain)
  return (
    job.parts.length > 0 &&
    job.parts.every(({ key, signature }) => verifyHybrid(backend, key, { message: job.message, signature, context }))
  )
}

/** A verifier that runs on the calling thread: for tests and benchmarks. */
export function createInlineVerifier(backend: SignatureBackend): SignatureVerifier {
  return { verify: (jobs) => Promise.resolve(jobs.map((job) => verifyJob(backend, job))) }
}
