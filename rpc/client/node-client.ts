import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { AMOUNT_TEXT } from '../contract/amounts.ts'
import { ADDRESS_TEXT, COUNT, HEX_32, type JsonOf, type ParamsOf } from '../contract/route.ts'
import type { Decoded, Schema } from '../contract/schema.ts'
import * as Type from '../contract/schema.ts'
import type { OperationId, ROUTES } from '../contract/table.ts'
import { askNode, expectOk, fieldsOf, type NodeAnswer, postBytes, postJson, type Transport } from './http.ts'

type GetRoute = Extract<(typeof ROUTES)[OperationId], { readonly method: 'GET' }>
/** Paths of the routes with the method GET, parameters in braces. */
export type GetPath = GetRoute['path']
type RouteAt<P extends GetPath> = Extract<GetRoute, { readonly path: P }>
type AnswerAt<P extends GetPath> = JsonOf<RouteAt<P>>

/** An unsigned integer of at most 19 digits: decimal text in JSON, `bigint` for clients. */
const UINT_64 = Type.decodedBy(Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$' }), BigInt)
const KNOWN_HEIGHT = Type.decodedBy(COUNT, (height) => (isHeight(height) ? height : undefined))

// Only what clients rely on: a node may answer more, and an older one less.
const STATUS_ANSWER = Type.Object({
  ...{ networkName: Type.String(), genesis: HEX_32, chainId: Type.Integer(), height: KNOWN_HEIGHT },
})
const FEES_ANSWER = Type.memberOf('suggested', Type.Object({ maxFeeRate: UINT_64, tip: UINT_64 }))
const ACCOUNT_ANSWER = Type.Object({
  ...{ exists: Type.Boolean(), balance: AMOUNT_TEXT, nonce: UINT_64, height: KNOWN_HEIGHT },
  pending: Type.Object({ nextNonce: UINT_64 }),
})
const TX_ANSWER = Type.Object({
  status: Type.Union([Type.Literal('mempool'), Type.Literal('mined'), Type.Literal('unknown')]),
  ...{ height: Type.Optional(KNOWN_HEIGHT), confirmations: Type.Optional(COUNT) },
  receipt: Type.Optional(Type.Unknown()),
  ...{ executedFrom: Type.Optional(KNOWN_HEIGHT), executedTo: Type.Optional(KNOWN_HEIGHT) },
})
const PAYOUT_ANSWER = Type.memberOf('agent', Type.memberOf('payout', ADDRESS_TEXT))
/** Blocks after the last valid one before a transaction counts as expired: the newest may still be replaced. */
export const BURIED_BLOCKS = 6
/**
 * Most blocks in which a transaction of these clients can be mined: some ten minutes. It must not be mined long after its sender
 * forgot it.
 */
export const VALID_BLOCKS = 200

/** Pages of the history of an address in which a transaction is looked for. */
const HISTORY_PAGES_MAX = 20
const HISTORY_PAGE = 50

/** What the API says about its network. */
export type StatusView = Decoded<typeof STATUS_ANSWER>
/** What the API says about a transaction. */
export type TransactionView = Decoded<typeof TX_ANSWER>

/** Sender and nonce of a transaction. */
export interface SentBy {
  readonly sender: string
  readonly nonce: bigint
}

/** A transaction that may have expired, with the genesis block id of its network. */
export interface Sought {
  readonly txId: string
  /** Last height at which it can be mined; 0 if unknown. */
  readonly validUntil: number
  readonly genesis: string
  /** If known, another transaction with this nonce shows it too. */
  readonly sentBy?: SentBy | undefined
}

/** Every method gives the node's answer or a fault, never an exception. */
export class NodeClient {
  readonly baseUrl: string
  protected readonly transport: Transport

  constructor(baseUrl: string, transport: Transport = {}) {
    this.baseUrl = baseUrl
    this.transport = transport
  }

  status(): Promise<Result<StatusView>> {
    return this.read('/api/v1/status', {}, STATUS_ANSWER)
  }

  fees(): Promise<Result<Decoded<typeof FEES_ANSWER>>> {
    return this.read('/api/v1/fees', {}, FEES_ANSWER)
  }

  account(address: string): Promise<Result<Decoded<typeof ACCOUNT_ANSWER>>> {
    return this.read('/api/v1/accounts/{address}', { address }, ACCOUNT_ANSWER)
  }

  transaction(txId: string): Promise<Result<TransactionView>> {
    return this.read('/api/v1/tx/{txId}', { txId }, TX_ANSWER)
  }

  /**
   * Whether a transaction was never mined and cannot be any more: it is too late for it, or its nonce is used. If so, the height up to
   * which the node looked. Else null: also if `validUntil` is not known (0), and if the node does not answer, is on another network, or has looked at too few blocks.
   */
  async expiredAt({ txId, validUntil, genesis, sentBy }: Sought): Promise<number | null> {
    const status = await this.status()
    if (!status.ok || status.value.genesis !== genesis) return null
    if (sentBy !== undefined && (await this.#isReplaced(txId, sentBy))) return status.value.height
    // A journal of the caller's own may hold anything as `validUntil`.
    if (!isHeight(validUntil) || validUntil === 0) return null
    if (status.value.height < validUntil + BURIED_BLOCKS) return null
    // Asked after the height, because a block may have taken the transaction before.
    const known = await this.transaction(txId)
    if (!known.ok || known.value.status !== 'unknown') return null
    // A node that began from a snapshot does not know what was mined before. Behind a balancer, each answer may come from another node.
    const { executedFrom = 0, executedTo = status.value.height } = known.value
    const hasLooked = executedFrom <= Math.max(0, validUntil - VALID_BLOCKS) && executedTo >= validUntil + BURIED_BLOCKS
    return hasLooked ? executedTo : null
  }

  /**
   * Whether another transaction with its nonce is so deep in the chain that it stays. A node that is behind does not have that
   * one, and one that began from a snapshot may not know it: then the answer is no.
   */
  async #isReplaced(txId: string, sentBy: SentBy): Promise<boolean> {
    const account = await this.account(sentBy.sender)
    if (!account.ok) return false
    // Nonces have no gaps, and the history begins with the newest transaction.
    let ahead = account.value.nonce - sentBy.nonce
    let [cursor, pages] = [ahead > 0n ? '' : null, 0]
    for (; cursor !== null && pages < HISTORY_PAGES_MAX; pages++) {
      const query = new URLSearchParams({ limit: String(HISTORY_PAGE), ...(cursor !== '' && { cursor }) })
      const page = await this.document(`/api/v1/accounts/${encodeURIComponent(sentBy.sender)}/history?${query}`)
      const { events, nextCursor } = page.ok ? page.value : {}
      for (const { event, roles, txId: sent } of Array.isArray(events) ? events.map(fieldsOf) : []) {
        if (event !== 'transaction' || !Array.isArray(roles) || !roles.includes('sender')) continue
        ahead -= 1n
        if (ahead === 0n) return sent !== txId && this.#isBuried(String(sent), sentBy)
      }
      cursor = typeof nextCursor === 'string' ? nextCursor : null
    }
    return false
  }

  async #isBuried(txId: string, { sender, nonce }: SentBy): Promise<boolean> {
    const known = await this.document(`/api/v1/tx/${encodeURIComponent(txId)}`)
    const { status, confirmations, transaction } = known.ok ? known.value : {}
    const sent = fieldsOf(transaction)
    const isIts = sent.sender === sender && sent.nonce === nonce.toString()
    return isIts && status === 'mined' && Number(confirmations) >= BURIED_BLOCKS
  }

  payout(agentId: string): Promise<Result<string>> {
    return this.read('/api/v1/agents/{id}', { id: agentId }, PAYOUT_ANSWER)
  }

  /** The JSON at any path of the node, unchecked. */
  async document(path: string): Promise<Result<NodeAnswer['body']>> {
    return expectOk(await askNode(this.baseUrl, path, {}, this.transport))
  }

  /**
   * Submits a transaction. One that waits in the mempool already, or is mined, is a success. A 5xx answer of a proxy, or of a node with
   * an internal error, counts as no answer: the transaction may have been taken.
   */
  async submit(tx: Transaction): Promise<Result<void>> {
    const answer = await postBytes(this.baseUrl, '/api/v1/tx', encodeTransaction(tx), this.transport)
    // Gateways have codes of their own, but no request id.
    const isOfNode = answer.ok && isOwnWord(answer.value) && typeof answer.value.body.requestId === 'string'
    if (answer.ok && answer.value.status >= 500 && !isOfNode)
      return fail(fault('cli/node-unreachable', { url: this.baseUrl, advice: '' }))
    // A proxy that sends a POST twice gets this answer to the second one.
    if (answer.ok && answer.value.body.code === 'transaction_mined') return ok(undefined)
    const taken = expectOk(answer)
    return taken.ok ? ok(undefined) : taken
  }

  /** Calls a service, with or without a payment. Every HTTP answer is a value. */
  call(serviceId: string, body: object): Promise<Result<NodeAnswer>> {
    return postJson(this.baseUrl, `/api/x402/${encodeURIComponent(serviceId)}`, body, this.transport)
  }

  /** Fault: `cli/refused` if the answer does not fit. */
  protected async read<P extends GetPath, W, D>(
    path: P,
    params: ParamsOf<RouteAt<P>>,
    part: AnswerAt<P> extends W ? Schema<W, D> : never,
    query: Readonly<Record<string, string>> = {},
  ): Promise<Result<D>> {
    const filled = pathWith(path, params)
    const words = Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query)}`
    return decodedAnswer(filled, await askNode(this.baseUrl, `${filled}${words}`, {}, this.transport), part)
  }
}

/** A path with its parameters filled in. */
export function pathWith(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] as string))
}

/** Fault: `cli/refused` if the answer does not fit the schema. */
export function decodedAnswer<W, D>(path: string, answer: Result<NodeAnswer>, schema: Schema<W, D>): Result<D> {
  const body = expectOk(answer)
  if (!body.ok) return body
  const value = Type.decode(schema, body.value)
  if (value !== undefined) return ok(value)
  return fail(fault('cli/refused', { message: `its answer at ${path} is not what this client understands` }))
}

/** The chain stays below this height for two hundred years. */
const HEIGHT_BOUND = 2 ** 31

/** Whether a value is a possible height. */
export function isHeight(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < HEIGHT_BOUND
}

/** API code of `rpc/internal`. Copied, since the fault table would be a third of the client bundle. */
export const INTERNAL_ERROR = 'internal_error'

/** Whether an answer comes from a working node. Otherwise it comes from a proxy, or from a node with an internal error. */
export function isOwnWord({ body: { code } }: NodeAnswer): boolean {
  return typeof code === 'string' && code !== INTERNAL_ERROR
}
