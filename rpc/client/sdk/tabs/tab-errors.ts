import { type ErrorFacts, FarthingError } from '../errors.ts'
import type { TabEvidence, TabReceiptJson } from './tab-types.ts'

/** The service failed. The seller signed that it charged nothing. */
export class NotChargedError extends FarthingError {
  override readonly name = 'NotChargedError'
  readonly receipt: TabReceiptJson

  constructor(message: string, facts: ErrorFacts & { readonly receipt: TabReceiptJson }) {
    super(message, facts)
    this.receipt = facts.receipt
  }
}

/**
 * The client signs nothing more for this tab. What was not charged comes back: `tab.close()` asks for it. `evidence`, if
 * there is any, shows what the seller did.
 */
export class TabStoppedError extends FarthingError {
  override readonly name = 'TabStoppedError'
  readonly evidence: TabEvidence | null

  constructor(message: string, facts: ErrorFacts & { readonly evidence: TabEvidence | null }) {
    super(message, facts)
    this.evidence = facts.evidence
  }
}
