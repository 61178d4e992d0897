import { ask, type CallView, post, type Reply, verdict } from '../../support/api.ts'
import { type Change, newPayer, type Payer, PRICE, paymentOf, TERMS } from '../../support/dollar.ts'
import { TestFacilitator } from '../../support/dollar-facilitator.ts'
import { until } from '../../support/processes.ts'
import { TestToken } from '../../support/stable-token.ts'
import type { TwoReplicas } from './operator.ts'

/** A call paid in dollars. The same header again is the same payment. */
export interface DollarCall {
  readonly serviceId: string
  readonly request: string
  readonly payer: Payer
  readonly nonce: string
  readonly header: string
  /** Idempotency key, null without. */
  readonly key: string | null
}

/** The parts of a call; absent ones are chosen. */
export interface DollarOrder {
  readonly serviceId: string
  readonly request: string
  readonly key?: string | null
  readonly payer?: Payer
  readonly change?: Change
}

/** A call that has no end by then hangs. How long calls take is measured by the bench. */
const SETTLED_MS = 100_000
const AGAIN_MS = 300

/** A token, its chain's JSON-RPC and the facilitator of all replicas, over real sockets. */
export class Dollars {
  readonly token = new TestToken(TERMS)
  readonly facilitator = new TestFacilitator(this.token)
  #rpcUrl = ''

  static async open(): Promise<Dollars> {
    const dollars = new Dollars()
    await dollars.facilitator.open()
    dollars.#rpcUrl = await dollars.token.listen()
    return dollars
  }

  /** Settings of replicas that sell for this token. */
  get settings(): Readonly<Record<string, string>> {
    return {
      FARTHING_STABLE_ENABLED: 'true',
      FARTHING_STABLE_NETWORK: 'base-sepolia',
      FARTHING_STABLE_PAY_TO: TERMS.payTo,
      FARTHING_STABLE_FACILITATORS: this.facilitator.url,
      FARTHING_STABLE_RPC_URL: this.#rpcUrl,
    }
  }

  /** A signed call, by default of a new payer with one dollar. */
  call({ serviceId, request, key = null, payer = this.payer(), change = {} }: DollarOrder): DollarCall {
    const { payload, authorization } = paymentOf(payer, change)
    const header = Buffer.from(JSON.stringify(payload)).toString('base64')
    return { serviceId, request, payer, nonce: authorization.nonce, header, key }
  }

  /** A payer with a new key and one dollar. */
  payer(): Payer {
    const payer = newPayer()
    this.token.mint(payer.address, 1_000_000n)
    return payer
  }

  /** How often the authorization of a call moved money. */
  settlementsOf({ payer, nonce }: DollarCall): number {
    return this.token.uses.filter((use) => use.from === payer.address && use.nonce === nonce).length
  }

  spentBy({ address }: Payer): bigint {
    return 1_000_000n - this.token.balance(address)
  }

  /** Units earned since `earned` was `before`. */
  earnedSince(before: bigint): bigint {
    return this.token.balance(TERMS.payTo) - before
  }

  /** Units earned so far. */
  get earned(): bigint {
    return this.token.balance(TERMS.payTo)
  }

  async close(): Promise<void> {
    await this.facilitator.close()
    await this.token.close()
  }
}

/** Units that this number of calls earns. */
export function priceOf(calls: number): bigint {
  return BigInt(calls) * PRICE
}

/** Sends a call to a node once. */
export function offerDollars(url: string, { serviceId, request, header, key }: DollarCall): Promise<Reply<CallView>> {
  const headers = { 'payment-signature': header, ...(key !== null && { 'idempotency-key': key }) }
  return post<CallView>(url, `/api/x402/${serviceId}`, { request }, headers)
}

/** Repeats a call, at the first replica given and then in turn, until its answer is final. */
export function settleDollars(replicas: TwoReplicas, call: DollarCall, first: number): Promise<Reply<CallView>> {
  let turn = first
  let last: unknown = 'nothing'
  const look = async (): Promise<Reply<CallView> | undefined> => {
    const node = replicas.nodes[turn++ % replicas.nodes.length]
    if (node?.runs !== true) return undefined
    try {
      const reply = await offerDollars(node.url, call)
      last = `${verdict(reply)} ${reply.body.error}`
      return reply.status === 503 || reply.status === 429 ? undefined : reply
    } catch (error) {
      // The replica may be killed during the request.
      last = error
      return undefined
    }
  }
  return until(`an answer for ${call.request}`, look, { ms: SETTLED_MS, everyMs: AGAIN_MS }).catch((error) => {
    throw new Error(`${error.message}; the last answer: ${last}`)
  })
}

/** Waits until a replica takes dollars. */
export function takesDollars(url: string, serviceId: string): Promise<unknown> {
  return until('the replica takes dollars', async () => {
    const { body } = await ask<CallView>(url, `/api/x402/${serviceId}?rail=stable`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request: 'ok' }),
    })
    return body.available
  })
}
