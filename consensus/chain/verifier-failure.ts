/** The verifier failed by itself. Nothing is known of the block, and nothing of it was written. */
export class VerifierFailure extends Error {
  override name = 'VerifierFailure'

  constructor(cause: unknown) {
    super(`signatures could not be verified: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
