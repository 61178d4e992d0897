import { resultHash } from '../../../consensus/ledger/receipt.ts'
import type { Hash, TxId } from '../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../consensus/primitives/text.ts'
import type { AccountSigner } from '../../../consensus/tx/sign.ts'
import { encodeTransaction } from '../../../consensus/tx/transaction.ts'
import { askNode, fieldsOf, postBytes, postJson } from '../../../rpc/client/http.ts'
import { type EndedCall, type SellingNetwork, signReceipt, signSettlement } from '../../../rpc/client/selling.ts'
import type { Claim } from './claims.ts'

/** Fields of an answer. */
export type Fields = Readonly<Record<string, unknown>>

/** What a seller needs of a node. Any node of the network will do; it need not be the seller's own. */
export class Node {
  readonly #url: string
  readonly #agentId: string
  readonly #serviceId: string

  constructor(url: string, agentId: string, serviceId: string) {
    this.#url = url
    this.#agentId = agentId
    this.#serviceId = serviceId
  }

  /** The current offer, for both x402 versions. */
  offer(resource: string): Promise<Fields> {
    const query = new URLSearchParams({ resource, maxTimeoutSeconds: '60' })
    return this.#get(`/facilitator/offers/${this.#agentId}/${this.#serviceId}?${query}`)
  }

  async network(): Promise<SellingNetwork['network']> {
    const { kinds } = await this.#get('/facilitator/supported')
    const { chainId, genesis } = fieldsOf((kinds as readonly { readonly extra: unknown }[])[0]?.extra)
    return { chainId, genesis } as SellingNetwork['network']
  }

  /** Base units that a transaction puts in escrow; null while the node does not know the transaction. */
  async amountOf(txId: string): Promise<string | null> {
    const { transaction } = await this.#get(`/api/v1/tx/${txId}`)
    const { amount } = fieldsOf(fieldsOf(transaction).payload)
    return typeof amount === 'string' ? amount : null
  }

  /** Whether a payment may be taken. `amount` is the amount of the payment: the node checks that it was the price when it was mined. */
  verify(claim: Claim): Promise<Fields> {
    return this.#post('/facilitator/verify', this.#body(claim))
  }

  /** Records the end of a call; the answer has the receipt to sign. */
  async settle(claim: Claim, signer: AccountSigner, network: SellingNetwork): Promise<Fields> {
    const settlement = await signSettlement(endOf(claim), signer, network)
    return this.#post('/facilitator/settle', this.#body(claim, { settlement }))
  }

  /** Checks that a receipt is ours, signs it and posts it; returns the node's message if it is refused. */
  async post(unsigned: unknown, claim: Claim, signer: AccountSigner, network: SellingNetwork): Promise<string | null> {
    const tx = await signReceipt(unsigned, { call: endOf(claim), signer }, network)
    if (!tx.ok) return JSON.stringify(tx.fault)
    const posted = await postBytes(this.#url, '/api/v1/tx', encodeTransaction(tx.value))
    if (!posted.ok) return posted.fault.code
    return posted.value.status < 300 ? null : String(posted.value.body.code)
  }

  #body({ txId, secret, request, amount }: Claim, more: object = {}): object {
    const rail = { scheme: 'native-x402', network: 'mainnet' }
    const payload = { txId, ...(secret === null ? {} : { secret }) }
    const extra = { serviceId: this.#serviceId, request, ...more }
    return {
      x402Version: 1,
      paymentPayload: { x402Version: 1, ...rail, payload },
      paymentRequirements: { ...rail, payTo: this.#agentId, maxAmountRequired: amount, maxTimeoutSeconds: 60, extra },
    }
  }

  async #get(path: string): Promise<Fields> {
    return answerOf(await askNode(this.#url, path))
  }

  async #post(path: string, body: object): Promise<Fields> {
    return answerOf(await postJson(this.#url, path, body))
  }
}

function answerOf(answer: Awaited<ReturnType<typeof askNode>>): Fields {
  if (!answer.ok) throw new Error(`no answer of the node: ${answer.fault.code}`)
  if (answer.value.status >= 300) throw new Error(`the node refused: ${String(answer.value.body.error)}`)
  return answer.value.body
}

function endOf({ txId, requestHash, ending }: Claim): EndedCall {
  if (ending === undefined) throw new Error('the call is not over')
  const { outcome, resultHash: hash, durationMs } = ending
  return { txId: txId as TxId, requestHash: requestHash as Hash, outcome, resultHash: hash as Hash, durationMs }
}

/** Hash of a result as the chain keeps it. */
export function hashOfResult(json: string): string {
  return resultHash(encodeText(json))
}
