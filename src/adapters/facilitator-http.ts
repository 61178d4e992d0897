import { setTimeout } from 'node:timers/promises'
import {
  type Facilitator,
  type FacilitatorRequest,
  type FacilitatorVerdict,
  reasonInShort,
  type SupportVerdict,
} from '../../marketplace/till/rails/dollar/facilitator.ts'
import type { StableNetwork } from '../../marketplace/till/rails/dollar/terms.ts'
import { boundedFetch, type Fetched, objectIn, type Unanswered } from './bounded-fetch.ts'

/** Headers that a facilitator wants at its paths, by path without the slash, or `*` for all. */
export type FacilitatorAuth = Readonly<Record<string, Readonly<Record<string, string>>>>

type Fields = Readonly<Record<string, unknown>>

const BYTES_MAX = 262_144
/** Reasons are codes: insufficient_funds. */
const REASON = /^[a-z0-9_.:-]{1,100}$/i
/** Words of a token, or about it, by which an authorization was used; and of anything that was used or sent before. */
const USED_WORDS = /authorization[ _]?(is|was|has been)?[ _]?(already)?[ _]?used|used or cancell?ed/i
const REPEAT_WORDS = /nonce|already|(^|[^a-z])used|duplicate/i
const WORDS_CHARS_MAX = 300
/** A settlement that is said to be on its way is asked for once more, after this. */
const PENDING_MS = 1_500
const TOO_MANY = 429
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/

/** A facilitator behind HTTP. JSON is read first and the status second: a no may come with any status, and pages of HTML too. */
export class HttpFacilitator implements Facilitator {
  readonly url: string
  readonly #auth: FacilitatorAuth
  #words: string | null = null

  constructor(url: string, auth: FacilitatorAuth = {}) {
    this.url = url.replace(/\/+$/, '')
    this.#auth = auth
  }

  get words(): string | null {
    return this.#words
  }

  async verify(request: FacilitatorRequest, deadlineMs: number): Promise<FacilitatorVerdict> {
    const answer = await this.#post('verify', request, deadlineMs)
    if ('arrived' in answer) return unanswered(answer)
    if (answer.status === TOO_MANY) return busy(answer)
    const fields = objectIn(answer.text)
    if (fields?.isValid === true) return { is: 'good', payer: textOf(fields.payer), transaction: null }
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

  async supports(network: Pick<StableNetwork, 'word' | 'caip2'>, deadlineMs: number): Promise<SupportVerdict> {
    const headers = this.#headers('supported')
    const request = { method: 'GET', headers, deadlineMs, bytesMax: BYTES_MAX, isQuestion: true } as const
    const answer = await boundedFetch(`${this.url}/supported`, request)
    if ('arrived' in answer) return { ok: false, answered: false, detail: answer.detail }
    const refused = { ok: false, answered: false }
    if (answer.status === TOO_MANY) return { ...refused, isBusy: true, detail: '/supported answered 429' }
    const kinds = objectIn(answer.text)?.kinds
    if (answer.status !== 200 || !Array.isArray(kinds))
      return { ...refused, detail: `/supported answered ${answer.status} without a list of kinds` }
    const versions = versionsOf(kinds, network)
    return versions.length === 0
      ? { ok: false, answered: true, detail: `it does not take exact on ${network.caip2}` }
      : { ok: true, answered: true, detail: `takes exact on ${network.caip2} (x402 version ${versions.join(' and ')})` }
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
      return { is: 'good', payer: textOf(fields.payer), transaction }
    }
    if (fields?.success === true) return { is: 'unknown', detail: 'it settled and named no transaction', transaction }
    if (fields?.success !== false) return unreadable(answer)
    const said = saidIn(fields, 'unexpected_settle_error')
    const reason = this.#reasonIn(fields, 'unexpected_settle_error')
    // A transaction that is under way, or an error of its own, says nothing of the outcome.
    return transaction !== null || /pending|unexpected|timeout|timed_out/i.test(said)
      ? { is: 'unknown', detail: reason, transaction }
      : { is: 'refused', reason }
  }

  /** Reason of a refusal; one that is not of x402 is kept for the operator. */
  #reasonIn(fields: Fields, otherwise: string): string {
    const said = saidIn(fields, otherwise)
    if (reasonInShort(said) !== said) this.#words = said.slice(0, WORDS_CHARS_MAX)
    return asCode(said)
  }

  #post(path: 'verify' | 'settle', request: FacilitatorRequest, deadlineMs: number): Promise<Fetched | Unanswered> {
    const body = JSON.stringify(request)
    const headers = this.#headers(path)
    // A settlement is for who claimed it to ask about again.
    const bounds = { deadlineMs, bytesMax: BYTES_MAX, isQuestion: path === 'verify' }
    return boundedFetch(`${this.url}/${path}`, { method: 'POST', headers, body, ...bounds })
  }

  #headers(path: string): Readonly<Record<string, string>> {
    return { ...this.#auth['*'], ...this.#auth[path] }
  }
}

/** Generations in which a facilitator takes the scheme on a network. */
function versionsOf(
  kinds: readonly unknown[],
  { word, caip2 }: Pick<StableNetwork, 'word' | 'caip2'>,
): readonly unknown[] {
  const found = kinds.filter((kind) => {
    const { scheme, network, x402Version } = (kind ?? {}) as Fields
    return scheme === 'exact' && ((x402Version === 1 && network === word) || (x402Version === 2 && network === caip2))
  })
  return [...new Set(found.map((kind) => (kind as Fields).x402Version))].sort()
}

function unanswered({ arrived, detail }: Unanswered): FacilitatorVerdict {
  return arrived ? { is: 'unknown', detail, transaction: null } : { is: 'unreachable', detail }
}

/** It did nothing, and wants to be asked later. */
function busy({ status, retryAfterMs: waitMs }: Fetched): FacilitatorVerdict {
  return { is: 'busy', detail: `it answered ${status}: it is asked too often`, waitMs }
}

/** An answer that says neither yes nor no; who is not let in at all was not heard. */
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
 * A reason by which others can judge. Words may be about the account that the operator has there; of them it is kept alone whether the
 * money may have moved already.
 */
function asCode(said: string): string {
  if (USED_WORDS.test(said)) return 'authorization_used_or_canceled'
  if (REASON.test(said)) return said.toLowerCase()
  return REPEAT_WORDS.test(said) ? 'duplicate_nonce' : 'refused'
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
