import type { Result } from '../../consensus/primitives/result.ts'
import { askNode, expectOk, type NodeAnswer } from './http.ts'
import { type KeysView, type KeyView, type NewKeyView, readKey, readKeys, readNewKey } from './key-views.ts'
import type { Reader } from './ledger-views.ts'
import { type BanView, type PeersView, readBan, readBans, readPeers } from './peer-views.ts'
import { sound } from './sound.ts'
import { readTrial, type TrialView } from './trial-view.ts'

const PEERS = '/api/v1/peers'
const BANS = `${PEERS}/bans`
const KEYS = '/api/v1/keys'
const KEYS_A_PAGE = 200

/** What a new API key is to be; what is absent has no limit of its own. */
export interface KeyWish {
  readonly label: string
  readonly rpm?: number
  readonly tpd?: number
  readonly expiresInDays?: number
}

/** What is to change of an API key; null takes a limit away. */
export interface KeyEdit {
  readonly label?: string
  readonly rpm?: number | null
  readonly tpd?: number | null
}

/** What the operator of a node asks of it. The token is sent with every request: give none that is another node's. */
export class OperatorClient {
  readonly baseUrl: string
  readonly #headers: Readonly<Record<string, string>>

  /** `token` is the content of the node's `operator.token`; null asks as anybody. */
  constructor(baseUrl: string, token: string | null) {
    this.baseUrl = baseUrl
    this.#headers = token === null ? {} : { authorization: `Bearer ${token}` }
  }

  /** Connected peers; their addresses only with the token. */
  peers(): Promise<Result<PeersView>> {
    return this.#ask(PEERS, {}, readPeers)
  }

  /** Who is kept away. */
  bans(): Promise<Result<readonly BanView[]>> {
    return this.#ask(BANS, {}, readBans)
  }

  /** Keeps a peer id or an IP address away, for a day unless `hours` are given. */
  ban(target: { readonly peer: string } | { readonly ip: string }, hours?: number): Promise<Result<BanView>> {
    const body = JSON.stringify(hours === undefined ? target : { ...target, hours })
    return this.#ask(BANS, { method: 'POST', body, headers: { 'content-type': 'application/json' } }, readBan)
  }

  /** Ends a ban of a peer id or an IP address. */
  unban(target: string): Promise<Result<BanView>> {
    return this.#ask(`${BANS}/${encodeURIComponent(target)}`, { method: 'DELETE' }, readBan)
  }

  /** Runs a service of the node without a payment, on its example where no request is given. */
  trial(serviceId: string, request?: string): Promise<Result<TrialView>> {
    const body = JSON.stringify(request === undefined ? {} : { request })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    return this.#ask(`/api/v1/services/${encodeURIComponent(serviceId)}/trial`, init, readTrial)
  }

  /** A page of the API keys of all owners, the newest first. */
  keys(cursor: string | null = null): Promise<Result<KeysView>> {
    const from = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    return this.#ask(`${KEYS}?limit=${KEYS_A_PAGE}${from}`, {}, readKeys)
  }

  /** Makes an API key. Its secret is in this answer and nowhere else. */
  createKey(wish: KeyWish): Promise<Result<NewKeyView>> {
    return this.#ask(KEYS, jsonOf(wish), readNewKey)
  }

  /** Renames an API key, or sets its limits. */
  changeKey(id: string, edit: KeyEdit): Promise<Result<KeyView>> {
    return this.#ask(`${KEYS}/${encodeURIComponent(id)}`, jsonOf(edit), readKey)
  }

  /** Ends an API key for good. */
  revokeKey(id: string): Promise<Result<KeyView>> {
    return this.#ask(`${KEYS}/${encodeURIComponent(id)}`, { method: 'DELETE' }, readKey)
  }

  /** The answer to `peers` as the node gave it. */
  async document(): Promise<Result<NodeAnswer['body']>> {
    return expectOk(await askNode(this.baseUrl, PEERS, { headers: this.#headers }))
  }

  async #ask<T>(path: string, init: RequestInit, reader: Reader<T>): Promise<Result<T>> {
    const headers = { ...this.#headers, ...(init.headers as Record<string, string> | undefined) }
    return sound(path, expectOk(await askNode(this.baseUrl, path, { ...init, headers })), reader)
  }
}

function jsonOf(body: object): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}
