import { unknownName } from '../../../consensus/primitives/likeness.ts'
import { fieldsOf } from '../http.ts'
import { FarthingError } from './errors.ts'
import type { AllowList, CeilingOptions, EventOptions, PaidFetchOptions, PaidToolsOptions } from './shapes.ts'
import type { AutomaticTabs, TabCallOptions, TabOptions } from './tabs/tab-types.ts'

interface Kind {
  readonly what: string
  readonly is: (value: unknown) => boolean
}

/** The kind of every option. The type keeps the list complete. */
export type Kinds<Options> = Readonly<Record<keyof Options, Kind>>

const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  names.every((name) => typeof fieldsOf(value)[name] === 'function')

const isText = (value: unknown): boolean => typeof value === 'string'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Kinds of values that callers pass. */
export const KIND = {
  text: { what: 'a text', is: isText },
  toggle: { what: 'true or false', is: (value) => typeof value === 'boolean' },
  work: { what: 'a function', is: (value) => typeof value === 'function' },
  url: { what: 'an address', is: (value) => isText(value) && URL.canParse(value as string) },
  count: { what: 'a number from 0 on', is: (value) => typeof value === 'number' && value >= 0 },
  fields: { what: 'an object', is: isObject },
  network: { what: 'a network by its name or facts', is: (value) => isText(value) || isObject(value) },
  signal: { what: 'an AbortSignal', is: (value) => value instanceof AbortSignal },
  signer: {
    what: 'a Signer: keys and sign',
    is: (value) => isObject(fieldsOf(value).keys) && hasFunctions(value, ['sign']),
  },
  journal: {
    what: 'a journal: put, get and since, as of fileJournal(folder)',
    is: (value) => hasFunctions(value, ['put', 'get', 'since']),
  },
  storage: {
    what: 'a storage, as localStorage',
    is: (value) => hasFunctions(value, ['key', 'getItem', 'setItem', 'removeItem']),
  },
  tools: { what: 'an MCP client: callTool', is: (value) => hasFunctions(value, ['callTool']) },
  payment: { what: 'an object with txId', is: (value) => isText(fieldsOf(value).txId) },
  quote: { what: 'a quote of this client', is: (value) => isText(fieldsOf(value).quoteId) },
} satisfies Readonly<Record<string, Kind>>

const LIST: Kind = { what: 'a list', is: Array.isArray }
const DOLLARS: Kind = { ...KIND.count, what: 'dollars as a number' }
const COINS: Kind = { ...KIND.text, what: 'coins as decimal text' }
const CARRIER: Kind = { what: 'header or body', is: (value) => value === 'header' || value === 'body' }

/** Options of the ceilings. */
export const CEILING_KINDS: Kinds<Required<CeilingOptions>> = {
  ...{ maxPerCallUsd: DOLLARS, maxPerDayUsd: DOLLARS, maxPerTabUsd: DOLLARS },
  ...{ maxPerCallCoins: COINS, maxPerDayCoins: COINS, maxPerTabCoins: COINS, maxFee: COINS },
}
/** Options of `openTab`. */
export const TAB_KINDS: Kinds<Required<TabOptions>> = { deposit: COINS, term: KIND.count, closeDelay: KIND.count }
/** Options of a call on a tab. */
export const TAB_CALL_KINDS: Kinds<Required<TabCallOptions>> = { maxPrice: COINS }
/** Options of automatic tabs. */
export const AUTOMATIC_KINDS: Kinds<Required<AutomaticTabs>> = { maxDeposit: COINS, callsAhead: KIND.count }
/** Options of `wrapFetch`. */
export const PAID_FETCH_KINDS: Kinds<Required<PaidFetchOptions>> = { carrier: CARRIER, payment: KIND.payment }
/** Options of `mcp`. */
export const PAID_TOOLS_KINDS: Kinds<Required<PaidToolsOptions>> = { url: KIND.url }
/** Options of `events`. */
export const EVENT_KINDS: Kinds<Required<EventOptions>> = {
  ...{ lastEventId: KIND.text, types: LIST, signal: KIND.signal, attemptsMax: KIND.count },
}
/** Options of `services`. */
export const FILTER_KINDS = { capability: KIND.text, q: KIND.text } as const
/** Options of `allow`. Each must be a list: a text would allow every part of itself, too. */
export const ALLOW_KINDS: Kinds<Required<AllowList>> = { payTo: LIST, agents: LIST, services: LIST }

/**
 * Refuses options that are no object, unknown options (a misspelt limit would have no effect), and values of the wrong kind.
 * `of` names the function for the message. Errors: `invalid_option`.
 */
export function checkOptions(of: string, options: unknown, kinds: Readonly<Record<string, Kind>>): void {
  checkGiven(of, 'what it is given', options, { ...KIND.fields, what: 'an object of options' })
  const fields = fieldsOf(options)
  const stranger = Object.keys(fields).find((name) => !Object.hasOwn(kinds, name))
  if (stranger !== undefined) throw invalid(`${of}: ${unknownName('option', stranger, Object.keys(kinds))}`)
  checkKinds(of, fields, kinds)
}

/** Refuses option values of the wrong kind. */
export function checkKinds(of: string, options: object, kinds: Readonly<Record<string, Kind>>): void {
  for (const [name, kind] of Object.entries(kinds)) {
    const value = fieldsOf(options)[name]
    if (value !== undefined) checkGiven(of, name, value, kind)
  }
}

/** Refuses an argument that is missing or of the wrong kind. */
export function checkGiven(of: string, name: string, value: unknown, { what, is }: Kind): void {
  if (!is(value)) throw invalid(`${of}: ${name} must be ${what}`)
}

/** Refuses surplus arguments, since a limit among them would have no effect. */
export function checkNoMore(of: string, more: readonly unknown[]): void {
  if (more.length > 0) throw invalid(`${of}: it takes no options; ceilings are set with createClient`)
}

/** Checks the arguments of a call. */
export function checkCall(of: string, serviceId: unknown, request: unknown, more: readonly unknown[]): void {
  checkGiven(of, 'serviceId', serviceId, KIND.text)
  checkGiven(of, 'request', request, KIND.text)
  checkNoMore(of, more)
}

/** The error for a wrong argument. */
export function invalid(message: string): FarthingError {
  return new FarthingError(message, { code: 'invalid_option' })
}
