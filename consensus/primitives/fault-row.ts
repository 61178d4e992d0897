/**
 * One kind of refusal. `blame`: whether the sender could have known better; peers are scored by it. `retry`: whether
 * the same bytes may be accepted later. `says` is the message, with the details of the fault in braces.
 */
export interface FaultRow {
  readonly blame: 'sender' | 'none'
  readonly retry: boolean
  readonly says: string
}

/** A row for a fault that the sender should have known of. */
export function sender(says: string): FaultRow {
  return { blame: 'sender', retry: false, says }
}

/** A row for a fault that the sender could not have known of. */
export function unblamed(says: string): FaultRow {
  return { blame: 'none', retry: false, says }
}

/** A row for a fault without blame, after which the same bytes may be accepted later. */
export function later(says: string): FaultRow {
  return { blame: 'none', retry: true, says }
}
