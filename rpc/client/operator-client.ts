import type { Result } from '../../consensus/primitives/result.ts'
import { API_KEY, CHAT_KEY_ROUTES } from '../contract/chat-keys.ts'
import { BAN, PEER } from '../contract/peers.ts'
import type { BodyOf } from '../contract/route.ts'
import type { Decoded, Schema } from '../contract/schema.ts'
import * as Type from '../contract/schema.ts'
import { TRIAL } from '../contract/trials.ts'
import { askNode, expectOk, type NodeAnswer } from './http.ts'
import { decodedAnswer, pathWith } from './node-client.ts'

/** The address is null without the operator's token. */
export type PeerView = Decoded<typeof PEER>
/** A banned peer or address. */
export type BanView = Decoded<typeof BAN>
/** Facts about an API key, without its secret. */
export type KeyView = Decoded<typeof API_KEY>

const PEERS_ANSWER = Type.Object({ enabled: Type.Boolean(), peers: Type.Array(PEER) })
const BANS_ANSWER = Type.memberOf('bans', Type.Array(BAN))
const KEYS_ANSWER = CHAT_KEY_ROUTES.listKeys.answers[200].schema
const NEW_KEY_ANSWER = CHAT_KEY_ROUTES.createKey.answers[201].schema
/** A new key with its secret, which is shown only once. */
export type NewKeyView = Decoded<typeof NEW_KEY_ANSWER>

const TRIAL_ANSWER = Type.decodedBy(
  Type.Pick(TRIAL, ['ok', 'durationMs', 'result', 'error']),
  ({ ok, durationMs, result, error = { code: '', message: '' } }) => ({
    durationMs,
    outcome: ok ? { ok, result } : { ok, ...error },
  }),
)
/** The outcome of a trial: the result, or the error. */
export type TrialView = Decoded<typeof TRIAL_ANSWER>

const PEERS = '/api/v1/peers'
const BANS = `${PEERS}/bans`
const KEYS = '/api/v1/keys'
const KEYS_A_PAGE = 200

/** An absent limit is that of the owner. Without an expiry the key does not end. */
export type KeyWish = BodyOf<typeof CHAT_KEY_ROUTES.createKey>
/** Null removes a limit. */
export type KeyEdit = BodyOf<typeof CHAT_KEY_ROUTES.changeKey>

/** Every request carries the token, so never give the token of another node. */
export class OperatorClient {
  readonly baseUrl: string
  readonly #headers: Readonly<Record<string, string>>

  /** `token` is the content of the node's `operator.token`. Null sends none. */
  constructor(baseUrl: string, token: string | null) {
    this.baseUrl = baseUrl
    this.#headers = token === null ? {} : { authorization: `Bearer ${token}` }
  }

  peers(): Promise<Result<Decoded<typeof PEERS_ANSWER>>> {
    return this.#ask(PEERS, {}, PEERS_ANSWER)
  }

  bans(): Promise<Result<readonly BanView[]>> {
    return this.#ask(BANS, {}, BANS_ANSWER)
  }

  /** Default: a day. */
  ban(target: { readonly peer: string } | { readonly ip: string }, hours?: number): Promise<Result<BanView>> {
    return this.#ask(BANS, jsonOf(hours === undefined ? target : { ...target, hours }), BAN)
  }

  unban(target: string): Promise<Result<BanView>> {
    return this.#ask(`${BANS}/${encodeURIComponent(target)}`, { method: 'DELETE' }, BAN)
  }

  /** Runs a service of the node without a payment. Default request: its example. */
  trial(serviceId: string, request?: string): Promise<Result<TrialView>> {
    const path = pathWith('/api/v1/services/{serviceId}/trial', { serviceId })
    return this.#ask(path, jsonOf(request === undefined ? {} : { request }), TRIAL_ANSWER)
  }

  /** A page of the API keys of all owners, newest first. */
  keys(cursor: string | null = null): Promise<Result<Decoded<typeof KEYS_ANSWER>>> {
    const from = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    return this.#ask(`${KEYS}?limit=${KEYS_A_PAGE}${from}`, {}, KEYS_ANSWER)
  }

  /** Only this answer has the secret. */
  createKey(wish: KeyWish): Promise<Result<NewKeyView>> {
    return this.#ask(KEYS, jsonOf(wish), NEW_KEY_ANSWER)
  }

  changeKey(id: string, edit: KeyEdit): Promise<Result<KeyView>> {
    return this.#ask(`${KEYS}/${encodeURIComponent(id)}`, jsonOf(edit), API_KEY)
  }

  revokeKey(id: string): Promise<Result<KeyView>> {
    return this.#ask(`${KEYS}/${encodeURIComponent(id)}`, { method: 'DELETE' }, API_KEY)
  }

  async document(): Promise<Result<NodeAnswer['body']>> {
    return expectOk(await askNode(this.baseUrl, PEERS, { headers: this.#headers }))
  }

  async #ask<W, D>(path: string, init: RequestInit, schema: Schema<W, D>): Promise<Result<D>> {
    const headers = { ...this.#headers, ...(init.headers as Record<string, string> | undefined) }
    return decodedAnswer(path, await askNode(this.baseUrl, path, { ...init, headers }), schema)
  }
}

function jsonOf(body: object): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}
