import { unknownName } from '../../../consensus/primitives/likeness.ts'
import { FarthingError } from './errors.ts'
import type { AllowList, CeilingOptions, EventOptions, PaidFetchOptions } from './shapes.ts'

/** Every name of an options object; the type holds it complete. */
export type Names<Options> = Readonly<Record<keyof Options, 0>>

/** The ceilings by name. */
export const CEILING_NAMES: Names<Required<CeilingOptions>> = {
  ...{ maxPerCallUsd: 0, maxPerDayUsd: 0, maxPerCallCoins: 0, maxPerDayCoins: 0, maxFee: 0 },
}
/** What `wrapFetch` takes. */
export const PAID_FETCH_NAMES: Names<Required<PaidFetchOptions>> = { carrier: 0, payment: 0 }
/** What `events` takes. */
export const EVENT_NAMES: Names<Required<EventOptions>> = { lastEventId: 0, types: 0, signal: 0, attemptsMax: 0 }
/** What `services` takes. */
export const FILTER_NAMES = { capability: 0, q: 0 } as const
const ALLOW_NAMES: Names<Required<AllowList>> = { payTo: 0, agents: 0, services: 0 }

/**
 * Refuses an option that there is not: a bound with a misspelt name would bound nothing. `of` says whose options they are.
 * Errors: `invalid_option`.
 */
export function checkNames(of: string, options: object, names: Readonly<Record<string, 0>>): void {
  const stranger = Object.keys(options).find((name) => !Object.hasOwn(names, name))
  if (stranger !== undefined) throw invalid(`${of}: ${unknownName('option', stranger, Object.keys(names))}`)
}

/** Refuses an allow-list that would not bound what it seems to. Errors: `invalid_option`. */
export function checkAllow(allow: AllowList): void {
  checkNames('allow', allow, ALLOW_NAMES)
  for (const [name, list] of Object.entries(allow))
    if (list !== undefined && !Array.isArray(list)) throw invalid(`allow: ${name} must be a list`)
}

function invalid(message: string): FarthingError {
  return new FarthingError(message, { code: 'invalid_option' })
}
