import type { FastifyInstance } from 'fastify'
import { ChannelCounter } from '../../rpc/market/channel-counter.ts'
import type { MarketApi, NodeApi } from '../../rpc/node/node-api.ts'
import { DEFAULT_HTTP_LIMITS } from '../../rpc/server/limits.ts'
import { createServer } from '../../rpc/server/server.ts'
import { type CallView, post, type Reply } from './api.ts'
import { ChannelSeller, type ChannelSellerParts, closeChannelSellers, type ModelPayer } from './channel-seller.ts'
import { shownRail } from './discovery-node.ts'
import { AGAIN, closeMarkets } from './market.ts'
import { base64, nodeOf } from './tab-door.ts'

const opened: ChannelDoor[] = []

/** A server on a real socket over a seller that takes channels, with its LevelDB. */
export class ChannelDoor {
  readonly url: string
  seller: ChannelSeller
  readonly #node: NodeApi
  readonly #app: FastifyInstance
  readonly #errors: unknown[]

  private constructor(seller: ChannelSeller, node: NodeApi, { app, url, errors }: Served) {
    this.seller = seller
    this.url = url
    this.#node = node
    this.#app = app
    this.#errors = errors
    opened.push(this)
  }

  static async open(parts: ChannelSellerParts = {}): Promise<ChannelDoor> {
    const seller = await ChannelSeller.open(parts)
    const node = nodeOf(seller.market, { tabs: null, stable: shownRail(), channels: new ChannelCounter(seller) })
    const errors: unknown[] = []
    const app = await createServer(node, {
      limits: { ...DEFAULT_HTTP_LIMITS, delayMsMax: 100_000 },
      trustProxy: false,
      onError: (error) => void errors.push(error),
      onAnswer: () => {},
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return new ChannelDoor(seller, node, { app, url, errors })
  }

  /** Calls {@link AGAIN} over HTTP, with the next payment of a payer or the one that is given. */
  call(request: string, payment: object): Promise<Reply<CallView>> {
    const headers = { 'payment-signature': base64(payment) }
    return post(this.url, `/api/x402/${AGAIN}?rail=channel`, { request }, headers)
  }

  /** Makes a call over HTTP that must be served, and notes what it cost. */
  async served(payer: ModelPayer, kind: 'deposit' | 'voucher' = 'voucher', request = 'ok'): Promise<Reply<CallView>> {
    const reply = await this.call(request, payer.json(kind))
    if (reply.status !== 200) throw new Error(reply.text)
    payer.charged += BigInt((reply.body.receipt as unknown as { amountBaseUnits: string }).amountBaseUnits)
    return reply
  }

  /** Kills the seller and starts it on what is on disk, behind the same address. */
  async restart(): Promise<void> {
    this.seller = await this.seller.restart()
    Object.assign(this.#node.market as MarketApi, { channels: new ChannelCounter(this.seller) })
  }

  async close(): Promise<readonly unknown[]> {
    await this.#app.close()
    return this.#errors
  }
}

interface Served {
  readonly app: FastifyInstance
  readonly url: string
  readonly errors: unknown[]
}

/** Closes every door that a test has opened, and what is behind it. */
export async function closeChannelDoors(): Promise<void> {
  const errors: unknown[] = []
  for (const door of opened.splice(0)) errors.push(...(await door.close()))
  await closeChannelSellers()
  await closeMarkets()
  if (errors.length > 0) throw errors[0]
}
