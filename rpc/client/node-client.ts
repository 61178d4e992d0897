import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { type AgentView, type HoldingsView, readAgent, readHoldings } from './account-views.ts'
import { askNode, expectOk, type NodeAnswer, postBytes, postJson, type Transport } from './http.ts'
import {
  amountOf,
  type PoolView,
  type QuoteView,
  type Reader,
  readPool,
  readQuote,
  readStables,
  readToken,
  type StableView,
  type TokenView,
} from './ledger-views.ts'
import { readSimulation, type SimulationView } from './simulation-view.ts'
import { sound } from './sound.ts'

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
  /** Heights from which on the node executed blocks, and its histories, trades and candles are complete; 0 is all of the chain. */
  readonly executedFrom: number
  readonly indexedFrom: number
  /** Heights from which on it holds transactions, and their witnesses. */
  readonly held: { readonly bodiesFrom: number; readonly witnessesFrom: number }
  /** Where it stands on its way to the head; null where it is alone. */
  readonly sync: SyncView | null
}

/** A node on its way to the head of the network. */
interface SyncView {
  readonly state: 'starting' | 'headers' | 'snapshot' | 'bodies' | 'synced'
  readonly height: number
  readonly headersHeight: number
  readonly targetHeight: number
  readonly peers: number
  readonly blocksPerSecond: number
  /** Estimate, null until measured. */
  readonly secondsLeft: number | null
  readonly behind: boolean
}

/** What the API says about fees. */
export interface FeesView {
  readonly suggested: { readonly maxFeeRate: string; readonly tip: string }
}

/** What the API says about a transaction. */
export interface TransactionView {
  readonly status: 'mempool' | 'mined' | 'unknown'
  readonly confirmations: number
  readonly height?: number
  /** As the node tells it; see `readReceipt`. */
  readonly receipt?: unknown
}

/** Typed access to one node. Every method gives the node's answer or a fault, never an exception. */
export class NodeClient {
  readonly baseUrl: string
  readonly #transport: Transport

  constructor(baseUrl: string, transport: Transport = {}) {
    this.baseUrl = baseUrl
    this.#transport = transport
  }

  async status(): Promise<Result<StatusView>> {
    const status = await this.#get<StatusView>('/api/v1/status', ['networkName', 'genesis', 'height'])
    if (!status.ok || isHeight(status.value.height)) return status
    return fail(fault('cli/refused', { message: 'the answer has no usable height' }))
  }

  fees(): Promise<Result<FeesView>> {
    return this.#get('/api/v1/fees', ['suggested'])
  }

  async account(address: string): Promise<Result<AccountView>> {
    const path = `/api/v1/accounts/${encodeURIComponent(address)}`
    const account = await this.#get<AccountView>(path, ['balance', 'nonce', 'pending'])
    if (!account.ok || amountOf(account.value.balance) !== undefined) return account
    return fail(fault('cli/refused', { message: 'the answer has no usable balance' }))
  }

  transaction(txId: string): Promise<Result<TransactionView>> {
    return this.#get(`/api/v1/tx/${encodeURIComponent(txId)}`, ['status'])
  }

  /** A token, or the native coin. */
  token(symbol: string): Promise<Result<TokenView>> {
    return this.#read(`/api/v1/tokens/${encodeURIComponent(symbol)}`, readToken)
  }

  /** Every stable token with what backs it. */
  stables(): Promise<Result<readonly StableView[]>> {
    return this.#read('/api/v1/stables', readStables)
  }

  /** A pool by its id or by a name as `FAR-FUSD-30`. */
  pool(name: string): Promise<Result<PoolView>> {
    return this.#read(`/api/v1/pools/${encodeURIComponent(name)}`, readPool)
  }

  /** What a swap of `amount` would give, or of how much it takes for `amountOut`; amounts in decimal units. */
  quote(swap: Readonly<Record<string, string>>): Promise<Result<QuoteView>> {
    return this.#read(`/api/v1/quote?${new URLSearchParams(swap)}`, readQuote)
  }

  /** Coins, tokens, pool shares and stakes of an address. */
  holdings(address: string): Promise<Result<HoldingsView>> {
    return this.#read(`/api/v1/accounts/${encodeURIComponent(address)}/holdings`, readHoldings)
  }

  /** An agent of the registry with its services. */
  agent(agentId: string): Promise<Result<AgentView>> {
    return this.#read(`/api/v1/agents/${encodeURIComponent(agentId)}`, readAgent)
  }

  /** What a transaction would do in the next block. Its signatures are not looked at: give none that could be used. */
  async simulate(tx: Transaction): Promise<Result<SimulationView>> {
    const path = '/api/v1/tx/simulate'
    return sound(
      path,
      expectOk(await postBytes(this.baseUrl, path, encodeTransaction(tx), this.#transport)),
      readSimulation,
    )
  }

  /** Any document of the node. */
  async document(path: string): Promise<Result<NodeAnswer['body']>> {
    return expectOk(await askNode(this.baseUrl, path, {}, this.#transport))
  }

  /**
   * Submits a transaction; one that waits already is a success. Only a node's own word is a refusal: an answer of whatever
   * stands before it, and that of a node that broke, say no more of what became of the transaction than none at all.
   */
  async submit(tx: Transaction): Promise<Result<void>> {
    const answer = await postBytes(this.baseUrl, '/api/v1/tx', encodeTransaction(tx), this.#transport)
    if (answer.ok && answer.value.status >= 500 && !isOwnWord(answer.value))
      return fail(fault('cli/node-unreachable', { url: this.baseUrl, advice: '' }))
    const taken = expectOk(answer)
    return taken.ok ? ok(undefined) : taken
  }

  /** Calls a service, paid or not; every HTTP answer is a value. */
  call(serviceId: string, body: object): Promise<Result<NodeAnswer>> {
    return postJson(this.baseUrl, `/api/x402/${encodeURIComponent(serviceId)}`, body, this.#transport)
  }

  async #read<T>(path: string, reader: Reader<T>): Promise<Result<T>> {
    return sound(path, await this.document(path), reader)
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

/** No chain of these blocks gets so high within two hundred years. */
const HEIGHT_BOUND = 2 ** 31

/** Whether a node can be at this height. */
export function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < HEIGHT_BOUND
}

/** API code of `rpc/internal`. Spelled out: the table of faults is a third of what a bundled client weighs. */
export const INTERNAL_ERROR = 'internal_error'

/** Whether an answer is the word of a node that works, and not of whatever stands before it. */
export function isOwnWord({ body: { code } }: NodeAnswer): boolean {
  return typeof code === 'string' && code !== INTERNAL_ERROR
}
