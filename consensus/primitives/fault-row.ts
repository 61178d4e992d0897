/**
 * One thing that can be refused. `api` is the stable machine code in HTTP answers, `status` its HTTP status. `blame` says
 * whether the sender of the bytes must have known better (peers are scored by it), `retry` whether the same bytes may be
 * accepted later. `says` names the facts of the case in braces.
 */
export interface FaultRow {
  readonly api: string
  readonly status: number
  readonly blame: 'sender' | 'none'
  readonly retry: boolean
  readonly says: string
}

/** Refuses what its sender must have known better. */
export function sender(api: string, status: number, says: string): FaultRow {
  return { api, status, blame: 'sender', retry: false, says }
}

/** Refuses what its sender could not have known. */
export function unblamed(api: string, status: number, says: string): FaultRow {
  return { api, status, blame: 'none', retry: false, says }
}

/** Refuses what may be accepted later as it is. */
export function later(api: string, status: number, says: string): FaultRow {
  return { api, status, blame: 'none', retry: true, says }
}
