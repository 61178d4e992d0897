import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { askNode, expectOk, type NodeAnswer, postBytes, postJson } from './http.ts'

/** Account as the API shows it, as far as clients use it. */
export interface AccountView {
  readonly exists: boolean
  readonly balance: string
  readonly nonce: string
  readonly height: number
  readonly pending: { readonly nextNonce: string }
}

/** What the API says about its network. */
export interface StatusView {
  readonly networkName: string
  readonly genesis: string
  readonly chainId: number
  readonly height: number
}

/** What the API says about fees. */
export interface FeesView {
  readonly suggested: { readonly maxFeeRate: string; readonly tip: string }
}

/** What the API says about a transaction. */
export interface TransactionView {
  readonly status: 'mempool' | 'mined' | 'unknown'
  readonly confirmations: number
}

/** Typed access to one node. Every method gives the node's answer or a fault, never an exception. */
export class NodeClient {
  readonly baseUrl: string

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl
  }

  status(): Promise<Result<StatusView>> {
    return this.#get('/api/v1/status', ['networkName', 'genesis', 'height'])
  }

  fees(): Promise<Result<FeesView>> {
    return this.#get('/api/v1/fees', ['suggested'])
  }

  account(address: string): Promise<Result<AccountView>> {
    return this.#get(`/api/v1/accounts/${encodeURIComponent(address)}`, ['balance', 'nonce', 'pending'])
  }

  transaction(txId: string): Promise<Result<TransactionView>> {
    return this.#get(`/api/v1/tx/${encodeURIComponent(txId)}`, ['status'])
  }

  /** Any document of the node. */
  async document(path: string): Promise<Result<NodeAnswer['body']>> {
    return expectOk(await askNode(this.baseUrl, path))
  }

  /** Submits a transaction; one that waits already is a success. */
  async submit(tx: Transaction): Promise<Result<void>> {
    const answer = expectOk(await postBytes(this.baseUrl, '/api/v1/tx', encodeTransaction(tx)))
    return answer.ok ? ok(undefined) : answer
  }

  /** Calls a service, paid or not; every HTTP answer is a value. */
  call(serviceId: string, body: object): Promise<Result<NodeAnswer>> {
    return postJson(this.baseUrl, `/api/x402/${encodeURIComponent(serviceId)}`, body)
  }

  async #get<T>(path: string, fields: readonly string[]): Promise<Result<T>> {
    const answer = await this.document(path)
    if (!answer.ok) return answer
    const missing = fields.find((field) => answer.value[field] === undefined)
    return missing === undefined
      ? ok(answer.value as T)
      : fail(fault('cli/refused', { message: `the answer has no ${missing}` }))
  }
}
