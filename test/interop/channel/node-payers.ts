import { writeFileSync } from 'node:fs'
import { x402Client } from '@x402/core/client'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { JsonBody } from '../../support/api.ts'
import type { Workshop } from '../../support/daemon.ts'
import { CHAIN_ID } from '../evm/network.ts'
import { LocalSettlement } from '../evm/settlement.ts'
import { decode, encode } from '../x402/payments.ts'
import { PURSE, Shop } from '../x402/shop.ts'

/** What a node answers to a call that is paid from a channel. */
export interface ChannelAnswer {
  readonly status: number
  readonly body: JsonBody & { readonly result?: { readonly echo: string } }
  /** The decoded `PAYMENT-RESPONSE`; null without one. */
  readonly settled: ChannelSettled | null
}

/** A `PAYMENT-RESPONSE` of a channel. */
export interface ChannelSettled {
  readonly success: boolean
  readonly transaction: string
  readonly amount: string
  readonly extra: {
    readonly chargedAmount?: string
    readonly channelState: {
      readonly channelId: string
      readonly balance: string
      readonly chargedCumulativeAmount: string
    }
  }
}

/** Least deposit of a channel, in units. */
export const LEAST = 50_000n
/** From three quarters of this on a channel is claimed at once: with its fourth call. */
const UNCLAIMED_MAX = '0.01'

/** A real daemon that takes channels on a real chain, and settles them by its own key or through its facilitator. */
export async function channelNode(workshop: Workshop, { hasOwnKey }: { readonly hasOwnKey: boolean }) {
  const key = generatePrivateKey()
  const file = workshop.path('gas-key')
  writeFileSync(file, key)
  const env = {
    FARTHING_STABLE_CHANNEL_UNCLAIMED_MAX: UNCLAIMED_MAX,
    FARTHING_STABLE_CHANNEL_WITHDRAW_DELAY: '900',
    ...(hasOwnKey && { FARTHING_STABLE_CHANNEL_GAS_KEY_FILE: file }),
  }
  const shop = await Shop.open(workshop, { env, takesChannels: true })
  const settlement = await LocalSettlement.on(shop.chain)
  await shop.chain.sender(privateKeyToAccount(key))
  return { shop, settlement }
}

interface Carried {
  readonly payload: { readonly channelConfig: object; readonly voucher: { readonly signature: string } }
}

/** An unmodified official client with an account of its own, pointed at the door of a real node. */
export class ChannelPayer {
  readonly account: PrivateKeyAccount
  readonly scheme: BatchSettlementEvmScheme
  /** Requests and answers as they went over the wire. */
  readonly said: (readonly [method: string, status: number, error: string | undefined])[] = []
  readonly #shop: Shop
  readonly #fetch: typeof fetch
  #header: string | null = null

  private constructor(shop: Shop, account: PrivateKeyAccount, options: object) {
    this.#shop = shop
    this.account = account
    const signer = { ...account, readContract: (call: never) => shop.chain.reader.readContract(call) }
    this.scheme = new BatchSettlementEvmScheme(signer as never, options)
    const client = new x402Client().register(`eip155:${CHAIN_ID}`, this.scheme)
    this.#fetch = wrapFetchWithPayment(this.fetch, client) as typeof fetch
  }

  static async of(shop: Shop, account?: PrivateKeyAccount, options: object = {}): Promise<ChannelPayer> {
    return new ChannelPayer(shop, account ?? (await shop.chain.payer(PURSE)), options)
  }

  /** The same account in a client that remembers nothing. */
  forgetful(): Promise<ChannelPayer> {
    return ChannelPayer.of(this.#shop, this.account)
  }

  get url(): string {
    return `${this.#shop.url}/api/x402/node-test-again?rail=channel`
  }

  /** The newest payment, as the header that carried it. */
  paid(change: (payment: Carried) => object = ({ payload }) => payload): Readonly<Record<string, string>> {
    const payment = decode(this.#header) as Carried
    return { 'payment-signature': encode({ ...payment, payload: change(payment) }) }
  }

  /** What the channel of the newest payment is made of. */
  channel(): { readonly config: object } {
    return { config: (decode(this.#header) as Carried).payload.channelConfig }
  }

  /** `fetch` that listens. */
  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { method } = request
    this.#header = request.headers.get('payment-signature') ?? this.#header
    const response = await fetch(request)
    const required = response.headers.get('payment-required')
    const { error } = (required === null ? {} : decode(required)) as { readonly error?: string }
    this.said.push([method, response.status, error])
    return response
  }

  async call(request = this.#shop.newRequest()): Promise<ChannelAnswer> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ request }) }
    const response = await this.#fetch(this.url, init)
    const settled = response.headers.get('payment-response')
    return {
      status: response.status,
      body: (await response.json()) as ChannelAnswer['body'],
      settled: settled === null ? null : (decode(settled) as ChannelSettled),
    }
  }

  refund(amount?: string) {
    return this.scheme.refund(this.url, { fetch: this.fetch, ...(amount === undefined ? {} : { amount }) })
  }

  /** Units that left the account. */
  spent(): Promise<bigint> {
    return this.#shop.spent(this.account)
  }
}
