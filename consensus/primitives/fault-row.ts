/**
 * One thing that can be refused. `api` is the stable machine code in HTTP answers, `status` its HTTP status. `blame` says
 * whether whoever sent the bytes must have known better (peers are scored by it), `retry` whether the same bytes may be
 * accepted later. `says` names the facts of the case in braces.
 */
export interface FaultRow {
  readonly api: string
  readonly status: number
  readonly blame: 'sender' | 'nobody'
  readonly retry: boolean
  readonly says: string
}

/** Refuses what whoever sent it must have known better. */
export function sender(api: string, status: number, says: string): FaultRow {
  return { api, status, blame: 'sender', retry: false, says }
}

/** Refuses what nobody could have known. */
export function nobody(api: string, status: number, says: string): FaultRow {
  return { api, status, blame: 'nobody', retry: false, says }
}

/** Refuses what may be accepted later as it is. */
export function later(api: string, status: number, says: string): FaultRow {
  return { api, status, blame: 'nobody', retry: true, says }
}
