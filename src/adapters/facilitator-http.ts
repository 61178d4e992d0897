import { setTimeout } from 'node:timers/promises'
import { type Fields, objectOf } from '../../consensus/primitives/fields.ts'
import {
  type EvmScheme,
  type Facilitator,
  type FacilitatorRequest,
  type FacilitatorVerdict,
  reasonInShort,
  type SupportVerdict,
} from '../../marketplace/till/rails/dollar/facilitator.ts'
import type { DollarNetwork } from '../../marketplace/till/rails/dollar/terms.ts'
import { boundedFetch, type Fetched, objectIn, type Unanswered } from './bounded-fetch.ts'

/** Headers that a facilitator requires, by path without the slash, or `*` for all paths. */
export type FacilitatorAuth = Readonly<Record<string, Readonly<Record<string, string>>>>

const BYTES_MAX = 262_144
/** Reason codes, like insufficient_funds. */
const REASON = /^[a-z0-9_.:-]{1,100}$/i
/**
 * Words for an authorization that was used (USED_WORDS), and for anything that was used or sent before (REPEAT_WORDS).
 */
const USED_WORDS = /authorization[ _]?(is|was|has been)?[ _]?(already)?[ _]?used|used or cancell?ed/i
const REPEAT_WORDS = /nonce|already|(^|[^a-z])used|duplicate/i
const WORDS_CHARS_MAX = 300
/** Pause before a pending settlement is asked for once more. */
const PENDING_MS = 1_500
const TOO_MANY = 429
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/

/**
 * A facilitator over HTTP. Apart from 429, the JSON of an answer decides before the status does: a refusal may come
 * with any status, and so may HTML pages.
 */
export class HttpFacilitator implements Facilitator {
  readonly url: string
  readonly #auth: FacilitatorAuth
  readonly #scheme: EvmScheme
  #words: string | null = null

  constructor(url: string, auth: FacilitatorAuth = {}, scheme: EvmScheme = 'exact') {
    this.url = url.replace(/\/+$/, '')
    this.#auth = auth
    this.#scheme = scheme
  }

  get words(): string | null {
    return this.#words
  }

  async verify(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict> {
    const answer = await this.#post('verify', request, deadlineMs)
    if ('arrived' in answer) return unanswered(answer)
    if (answer.status === TOO_MANY) return busy(answer)
    const fields = objectIn(answer.text)
    if (fields?.isValid === true)
      return { is: 'good', payer: textOf(fields.payer), transaction: null, ...besideOf(fields) }
    if (fields?.isValid === false) return { is: 'refused', reason: this.#reasonIn(fields, 'invalid') }
    return unreadable(answer)
  }

  async settle(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict> {
    const untilMs = Date.now() + deadlineMs
    const first = await this.#settleOnce(request, deadlineMs)
    const leftMs = untilMs - Date.now() - PENDING_MS
    if (first.is !== 'unknown' || first.transaction === null || leftMs <= 0) return first
    await setTimeout(PENDING_MS, undefined, { ref: false })
    const second = await this.#settleOnce(request, leftMs)
    return second.is === 'good' ? second : first
  }

  async supports(network: Pick<DollarNetwork, 'word' | 'caip2'>, deadlineMs: number): Promise<SupportVerdict> {
    const headers = this.#headers('supported')
    const request = { method: 'GET', headers, deadlineMs, bytesMax: BYTES_MAX, isQuestion: true } as const
    const answer = await boundedFetch(`${this.url}/supported`, request)
    if ('arrived' in answer) return { ok: false, answered: false, detail: answer.detail }
    const refused = { ok: false, answered: false }
    if (answer.status === TOO_MANY) return { ...refused, isBusy: true, detail: '/supported answered 429' }
    const kinds = objectIn(answer.text)?.kinds
    if (answer.status !== 200 || !Array.isArray(kinds))
      return { ...refused, detail: `/supported answered ${answer.status} without a list of kinds` }
    const versions = versionsOf(kinds, this.#scheme, network)
    const what = `${this.#scheme} on ${network.caip2}`
    return versions.length === 0
      ? { ok: false, answered: true, detail: `it does not take ${what}` }
      : { ok: true, answered: true, detail: `takes ${what} (x402 version ${versions.join(' and ')})` }
  }

  async #settleOnce(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict> {
    const answer = await this.#post('settle', request, deadlineMs)
    if ('arrived' in answer) return unanswered(answer)
    if (answer.status === TOO_MANY) return busy(answer)
    const fields = objectIn(answer.text)
    const named = textOf(fields?.transaction)
    const transaction = named !== null && TRANSACTION.test(named) ? named.toLowerCase() : null
    if (fields?.success === true && transaction !== null) {
      this.#words = null
      return { is: 'good', payer: textOf(fields.payer), transaction, ...besideOf(fields) }
    }
    if (fields?.success === true) return { is: 'unknown', detail: 'it settled and named no transaction', transaction }
    if (fields?.success !== false) return unreadable(answer)
    const said = saidIn(fields, 'unexpected_settle_error')
    const reason = this.#reasonIn(fields, 'unexpected_settle_error')
    // A pending transaction, or an internal error of the facilitator, says nothing about the outcome.
    return transaction !== null || /pending|unexpected|timeout|timed_out/i.test(said)
      ? { is: 'unknown', detail: reason, transaction }
      : { is: 'refused', reason }
  }

  /** The reason of a refusal. A text that is no x402 code is kept for the operator. */
  #reasonIn(fields: Fields, otherwise: string): string {
    const said = saidIn(fields, otherwise)
    if (reasonInShort(said) !== said) this.#words = said.slice(0, WORDS_CHARS_MAX)
    return asCode(said)
  }

  #post(path: 'verify' | 'settle', request: FacilitatorRequest, deadlineMs: number): Promise<Fetched | Unanswered> {
    const body = JSON.stringify(request)
    const headers = this.#headers(path)
    // A broken-off settlement is not sent again, because it may have arrived. The caller of `settle` asks again.
    const bounds = { deadlineMs, bytesMax: BYTES_MAX, isQuestion: path === 'verify' }
    return boundedFetch(`${this.url}/${path}`, { method: 'POST', headers, body, ...bounds })
  }

  #headers(path: string): Readonly<Record<string, string>> {
    return { ...this.#auth['*'], ...this.#auth[path] }
  }
}

/** The x402 versions in which a facilitator supports a scheme on a network. */
function versionsOf(
  kinds: readonly unknown[],
  taken: EvmScheme,
  { word, caip2 }: Pick<DollarNetwork, 'word' | 'caip2'>,
): readonly unknown[] {
  const found = kinds.filter((kind) => {
    const { scheme, network, x402Version } = (kind ?? {}) as Fields
    return scheme === taken && ((x402Version === 1 && network === word) || (x402Version === 2 && network === caip2))
  })
  return [...new Set(found.map((kind) => (kind as Fields).x402Version))].sort()
}

/** What a good answer says beside payer and transaction, as far as it has the right type. */
function besideOf({ amount, extra }: Fields): { readonly amount?: string; readonly extra?: Fields } {
  const more = objectOf(extra)
  return { ...(typeof amount === 'string' && { amount }), ...(more !== null && { extra: more }) }
}

function unanswered({ arrived, detail }: Unanswered): FacilitatorVerdict {
  return arrived ? { is: 'unknown', detail, transaction: null } : { is: 'unreachable', detail }
}

function busy({ status, retryAfterMs: waitMs }: Fetched): FacilitatorVerdict {
  return { is: 'busy', detail: `it answered ${status}: it is asked too often`, waitMs }
}

/** With 401, 403 or 404 the request was not processed at all. */
function unreadable({ status }: Fetched): FacilitatorVerdict {
  const detail = `it answered ${status} without a verdict`
  return status === 401 || status === 403 || status === 404
    ? { is: 'unreachable', detail, status }
    : { is: 'unknown', detail, transaction: null, status }
}

function saidIn({ invalidReason, errorReason }: Fields, otherwise: string): string {
  return textOf(invalidReason) ?? textOf(errorReason) ?? otherwise
}

/**
 * Free text may be about the operator's account at the facilitator, so it is reduced to one fact: whether the money may
 * already have moved.
 */
function asCode(said: string): string {
  if (USED_WORDS.test(said)) return 'authorization_used_or_canceled'
  if (REASON.test(said)) return said.toLowerCase()
  return REPEAT_WORDS.test(said) ? 'duplicate_nonce' : 'refused'
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
