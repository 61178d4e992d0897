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

/** Code of a stop: the seller said or signed what cannot be. */
export const TAB_STOPPED = 'tab_stopped'
/** Code of a stop: what the seller says of the tab is older than what it signed. It may have lost data, or an old answer came. */
export const TAB_BEHIND = 'tab_behind'

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
