import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { AgentId, BlockId, Hash, ServiceId } from '../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../consensus/tx/kinds.ts'
import { lockOf, openerOf } from '../../consensus/tx/redeem-lock.ts'
import { requestCommitment } from '../../consensus/tx/request-hash.ts'
import { signTransaction } from '../../consensus/tx/sign.ts'
import type { Transaction, TxBody } from '../../consensus/tx/transaction.ts'
import { NodeClient } from '../../rpc/client/node-client.ts'
import { prepareTransaction } from '../../rpc/client/transactions.ts'
import type { WalletKey } from '../../src/crypto/wallet-key.ts'
import { ask, type CallView, post, type Reply, type RequestView } from './api.ts'
import { wallet } from './chain.ts'
import { until } from './processes.ts'

/** What a test pays for. What is left out gets a value that works. */
export interface Order {
  readonly serviceId: string
  readonly request: string
  readonly amount?: bigint
  readonly agentId?: string
  readonly term?: number
  /**
   * `lock`, as the SDK pays: a request commitment and a redeem lock. `commitment`: the commitment alone. `none` (default): neither.
   */
  readonly lock?: 'lock' | 'commitment' | 'none'
}

/** A payment with everything that redeems it. */
export interface Payment {
  readonly tx: Transaction
  readonly txId: string
  readonly secret: string | null
  readonly serviceId: string
  readonly request: string
  readonly amount: bigint
}

/** Parts of a transaction that a test may choose; `ahead` is added to the nonce. */
export interface Envelope {
  readonly ahead: bigint
  readonly tip: bigint
  readonly maxFeeRate: bigint
  readonly validUntil: number
}

/** A transaction as `/api/v1/tx/{txId}` shows it. */
export interface TxView {
  readonly status: string
  readonly height: number
  readonly blockId: string
  readonly confirmations: number
  readonly receipt: { readonly success: boolean; readonly outcome: string; readonly fee: string }
}

/** A term in blocks. Even at a hundred blocks a second it lasts 96 seconds. */
const LONG_TERM = 9_600

/** A devnet account that sends transactions and buys calls. It makes paid calls by hand, without the SDK. */
export class Caller {
  readonly key: WalletKey
  readonly address: string
  url: string
  #queue: Promise<unknown> = Promise.resolve()

  constructor(url: string, key: WalletKey | number) {
    this.url = url
    this.key = typeof key === 'number' ? wallet(key) : key
    this.address = formatAddress(DEVNET.addressPrefix, this.key.address)
  }

  /** Balance at the head. */
  async balance(): Promise<bigint> {
    const { body } = await ask<{ readonly balance: string }>(this.url, `/api/v1/accounts/${this.address}`)
    return BigInt(body.balance)
  }

  /** Signs a transaction with the next nonce and does not send it. `change` replaces parts of its body. */
  async sign<K extends TxKind>(kind: K, payload: PayloadOf<K>, change: Partial<Envelope> = {}): Promise<Transaction> {
    const client = new NodeClient(this.url)
    const signed = await prepareTransaction(client, DEVNET, this.key, { kind, payload })
    if (!signed.ok) throw new Error(`cannot sign: ${JSON.stringify(signed.fault)}`)
    const status = await client.status()
    if (Object.keys(change).length === 0 || !status.ok) return signed.value
    const { ahead = 0n, ...rest } = change
    const body = { ...signed.value.body, ...rest, nonce: signed.value.body.nonce + ahead } as TxBody
    return signTransaction(body, this.key, { chainId: 1, genesis: status.value.genesis as BlockId })
  }

  /** Signs and sends. Transactions go one after another, so that no two have the same nonce. */
  send<K extends TxKind>(kind: K, payload: PayloadOf<K>, change: Partial<Envelope> = {}): Promise<Transaction> {
    const sent = this.#queue.then(async () => {
      const tx = await this.sign(kind, payload, change)
      const submitted = await new NodeClient(this.url).submit(tx)
      if (!submitted.ok) throw new Error(`not accepted: ${JSON.stringify(submitted.fault)}`)
      return tx
    })
    this.#queue = sent.catch(() => {})
    return sent
  }

  /** Makes the payload of an order. Asks the node for a quote and fills in what the order leaves out. */
  async invoke(order: Order, secret: Uint8Array): Promise<PayloadOf<'agent_invoke'>> {
    const { serviceId, request, lock = 'none', term = LONG_TERM } = order
    const { accepts = [], offers = [] } = (await this.quote(serviceId, request)).body
    // A closed service shows its option among the offers. This caller pays it all the same.
    const [offer] = [...accepts, ...offers]
    const agentId = (order.agentId ?? offer?.extra.agentId) as AgentId
    const commitment = requestCommitment(secret, { agentId, serviceId: serviceId as ServiceId, request })
    return {
      agentId,
      serviceId: serviceId as ServiceId,
      amount: (order.amount ?? BigInt(offer?.maxAmountRequired ?? 0)) as never,
      units: 1,
      term,
      requestCommitment: lock === 'none' ? (ZERO_HEX_32 as Hash) : commitment,
      redeemLock: lock === 'lock' ? lockOf(openerOf(secret)) : (ZERO_HEX_32 as Hash),
    }
  }

  /** Pays, without waiting for the block. */
  async pay(order: Order): Promise<Payment> {
    const secret = new Uint8Array(randomBytes(32))
    const payload = await this.invoke(order, secret)
    const tx = await this.send('agent_invoke', payload)
    const { serviceId, request, lock = 'none' } = order
    return {
      tx,
      txId: tx.txId,
      secret: lock === 'none' ? null : toHex(secret),
      serviceId,
      request,
      amount: payload.amount,
    }
  }

  /** Pays and waits for the block. */
  async payMined(order: Order): Promise<Payment> {
    const payment = await this.pay(order)
    await this.mined(payment.txId)
    return payment
  }

  /** Asks for the price of a call. */
  quote(serviceId: string, request: string): Promise<Reply<CallView>> {
    return post(this.url, `/api/x402/${serviceId}`, { request })
  }

  /** Repeats the call with its payment, once. `change` replaces parts of the payment. */
  offer(payment: Payment, change: { readonly [name: string]: unknown } = {}): Promise<Reply<CallView>> {
    const { serviceId, request, txId, secret } = { ...payment, ...change }
    const paid = { txId, ...(secret === null ? {} : { secret }) }
    return post(this.url, `/api/x402/${serviceId}`, { request, payment: paid })
  }

  /** Repeats the call until its payment is deep enough. */
  settle(payment: Payment, change: { readonly [name: string]: unknown } = {}): Promise<Reply<CallView>> {
    return until('the payment is deep enough', async () => {
      const reply = await this.offer(payment, change)
      return reply.body.code !== 'payment_unconfirmed' && reply
    })
  }

  /** What the node knows of a transaction. */
  async transaction(txId: string): Promise<TxView> {
    return (await ask<TxView>(this.url, `/api/v1/tx/${txId}`)).body
  }

  /** Waits until a transaction is mined. */
  mined(txId: string): Promise<TxView> {
    return until(`${txId} is mined`, async () => {
      const view = await this.transaction(txId)
      return view.status === 'mined' && view
    })
  }

  /** What the market knows of a paid call. */
  async request(txId: string): Promise<RequestView> {
    return (await ask<RequestView>(this.url, `/api/x402/requests/${txId}`)).body
  }

  /** Waits until a receipt on chain has closed a paid call. */
  closed(txId: string): Promise<RequestView & { readonly receiptTxId: string }> {
    return until(`${txId} has its receipt`, async () => {
      const view = await this.request(txId)
      return typeof view.receiptTxId === 'string' && { ...view, receiptTxId: view.receiptTxId }
    })
  }

  /** Waits until a paid call is in a state. */
  requestIn(txId: string, status: string): Promise<RequestView> {
    return until(`${txId} is ${status}`, async () => {
      const view = await this.request(txId)
      return view.status === status && view
    })
  }
}

/** Waits until no service of a node is `not published yet`. Services that are closed for another reason do not count. */
export function marketOpen(url: string): Promise<true> {
  interface Registry {
    readonly services: readonly { readonly unavailableReason?: string }[]
  }
  return until('the market is open', async () => {
    const { body } = await ask<Registry>(url, '/services.json')
    return body.services.every(({ unavailableReason }) => unavailableReason !== 'not published yet') && true
  })
}

/** Waits until the services of a node can be paid from tabs: its terms follow its registration. */
export function tabsOpen(url: string): Promise<true> {
  interface Registry {
    readonly services: readonly { readonly available: boolean; readonly takesTabs: boolean }[]
  }
  return until('tabs are taken', async () => {
    const { body } = await ask<Registry>(url, '/services.json')
    return body.services.every(({ available, takesTabs }) => takesTabs || !available) && true
  })
}

/** How often test services began each work. A key is "service request", the line that a service appends to `file` (TEST_RUNS_FILE). */
export function runsIn(file: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of readLines(file)) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
