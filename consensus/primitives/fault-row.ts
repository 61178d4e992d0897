/**
 * One thing that can be refused. `blame` says whether the sender of the bytes must have known better (peers are scored by it),
 * `retry` whether the same bytes may be accepted later. `says` names the facts of the case in braces.
 */
export interface FaultRow {
  readonly blame: 'sender' | 'none'
  readonly retry: boolean
  readonly says: string
}

/** Refuses what its sender must have known better. */
export function sender(says: string): FaultRow {
  return { blame: 'sender', retry: false, says }
}

/** Refuses what its sender could not have known. */
export function unblamed(says: string): FaultRow {
  return { blame: 'none', retry: false, says }
}

/** Refuses what may be accepted later as it is. */
export function later(says: string): FaultRow {
  return { blame: 'none', retry: true, says }
}
