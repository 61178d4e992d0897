import { appendFileSync } from 'node:fs'
import { DEVNET } from '../../../config/networks/devnet.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { signTransaction } from '../../../consensus/tx/sign.ts'
import type { TxBody } from '../../../consensus/tx/transaction.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { ask, type CallView, type Reply, verdict } from '../../support/api.ts'
import { Caller, type Payment, runsIn } from '../../support/caller.ts'
import { wallet } from '../../support/chain.ts'
import { Cluster, type ClusterNode } from '../../support/cluster.ts'
import type { Workshop } from '../../support/daemon.ts'
import { mineBlocks, mineOne } from '../../support/mine-by-hand.ts'
import { until } from '../../support/processes.ts'

/** Number of the wallet that calls pay. It does nothing else, so its balance is what was earned. */
const PAYOUT = 10
/** Numbers of the buyers' wallets. */
const BUYERS = [5, 6, 7, 8] as const
/** A mempool holds 64 transactions of one account. */
const AT_ONCE = 60
/** How long a call is repeated, and at what interval. */
const SETTLED_MS = 100_000
const AGAIN_MS = 500
/** Most blocks that a batch of payments may take. */
const BLOCKS_MAX = 60

const ADDRESSES = { owner: addressOf(2), other: addressOf(4), payout: addressOf(PAYOUT) }

export interface ReplicaOptions {
  readonly claimsUrl: string
  readonly leaseSeconds: number
  readonly more?: Readonly<Record<string, string>>
}

/** An operator with two replicas on one store. The first has the owner's key, and names the second one's key as a settler. */
export class TwoReplicas {
  readonly cluster: Cluster
  readonly #runsFiles: readonly string[]

  private constructor(cluster: Cluster, runsFiles: readonly string[]) {
    this.cluster = cluster
    this.#runsFiles = runsFiles
  }

  /** Starts both replicas and publishes their services. `more` adds settings to both replicas. */
  static async start(workshop: Workshop, { claimsUrl, leaseSeconds, more = {} }: ReplicaOptions): Promise<TwoReplicas> {
    const runsFiles = [workshop.path('runs'), workshop.path('runs')]
    for (const file of runsFiles) appendFileSync(file, '')
    const env = {
      FARTHING_MARKET_OWNER: ADDRESSES.owner,
      FARTHING_MARKET_PAYOUT: ADDRESSES.payout,
      FARTHING_MARKET_CLAIMS_URL: claimsUrl,
      FARTHING_MARKET_CLAIMS_LEASE_SECONDS: String(leaseSeconds),
      FARTHING_MARKET_SETTLE_WAIT_MS: '5000',
      ...more,
    }
    const cluster = await Cluster.start(workshop, {
      nodes: runsFiles.map((file, i) => ({
        sells: true,
        env: { TEST_RUNS_FILE: file, ...(i === 0 && { FARTHING_MARKET_SETTLERS: ADDRESSES.other }) },
      })),
      links: [[1, 0]],
      direct: true,
      env,
    })
    const replicas = new TwoReplicas(cluster, runsFiles)
    await replicas.mineUntil('both replicas sell', async () => {
      const open = replicas.nodes.map(({ url }) => isOpen(url))
      return (await Promise.all(open)).every(Boolean)
    })
    return replicas
  }

  get nodes(): readonly [ClusterNode, ClusterNode] {
    return this.cluster.nodes as unknown as readonly [ClusterNode, ClusterNode]
  }

  /** How often each work began in each replica, by "service request". */
  get runs(): readonly ReadonlyMap<string, number>[] {
    return this.#runsFiles.map(runsIn)
  }

  /** How often the work of a payment began, in both replicas together. */
  runsOf({ serviceId, request }: Pick<Payment, 'serviceId' | 'request'>): number {
    return this.runs.reduce((sum, runs) => sum + (runs.get(`${serviceId} ${request}`) ?? 0), 0)
  }

  /** Mines on the first replica until `look` returns true. */
  async mineUntil(what: string, look: () => Promise<boolean>): Promise<void> {
    await until(
      what,
      async () => {
        if (await look()) return true
        await mineOne(this.nodes[0].url)
        return false
      },
      { ms: 120_000, everyMs: 200 },
    )
  }

  /** Pays for calls, shared among the buyers, and mines until the payments are deep enough. */
  async pay(serviceId: string, requests: readonly string[]): Promise<readonly Payment[]> {
    const [{ url }] = this.nodes
    const payments: Payment[] = []
    for (let start = 0; start < requests.length; start += AT_ONCE * BUYERS.length) {
      const batch = requests.slice(start, start + AT_ONCE * BUYERS.length)
      const shares = BUYERS.map((_, i) => batch.filter((_, j) => j % BUYERS.length === i))
      payments.push(...(await Promise.all(BUYERS.map((key, i) => paid(url, key, serviceId, shares[i] ?? [])))).flat())
      await this.#mineWaiting()
    }
    await mineBlocks(url, 12)
    await this.cluster.converged()
    return payments
  }

  async #mineWaiting(): Promise<void> {
    const [{ url }] = this.nodes
    for (let i = 0; i < BLOCKS_MAX; i++) {
      await mineOne(url, { transactionsMin: 1 })
      const { body } = await ask<{ readonly mempool: { readonly count: number } }>(url, '/api/v1/status')
      if (body.mempool.count === 0) return
    }
    throw new Error('the payments do not find into blocks')
  }

  /** Repeats a call, at the first replica given and then in turn, until its answer is final. */
  settle(payment: Payment, first: number): Promise<Reply<CallView>> {
    let turn = first
    return this.#settled(payment, () => turn++)
  }

  /** Repeats a call at one replica until its answer is final. */
  settleAt(payment: Payment, at: number): Promise<Reply<CallView>> {
    return this.#settled(payment, () => at)
  }

  async #settled(payment: Payment, next: () => number): Promise<Reply<CallView>> {
    let last: unknown = 'nothing'
    const look = async (): Promise<Reply<CallView> | undefined> => {
      const node = this.nodes[next() % this.nodes.length] as ClusterNode
      if (!node.runs) return undefined
      try {
        const reply = await new Caller(node.url, 1).offer(payment)
        last = `${verdict(reply)} ${reply.body.error}`
        return isPassing(reply) ? undefined : reply
      } catch (error) {
        // The replica may be killed or paused during the request.
        last = error
        return undefined
      }
    }
    return until(`an answer for ${payment.request}`, look, { ms: SETTLED_MS, everyMs: AGAIN_MS }).catch((error) => {
      throw new Error(`${error.message}; the last answer: ${last}`)
    })
  }

  /** Mines until every payment is closed with a final receipt in a replica's registry. Returns the outcomes by payment. */
  async closed(payments: readonly Payment[], at = 0): Promise<readonly string[]> {
    const { url } = this.nodes[at] as ClusterNode
    const caller = new Caller(url, 1)
    const outcomes = new Map<string, string>()
    await this.mineUntil('every payment is closed', async () => {
      for (const { txId } of payments) {
        if (outcomes.has(txId)) continue
        const { receiptTxId, status } = await caller.request(txId)
        if (typeof receiptTxId !== 'string') return false
        outcomes.set(txId, status)
      }
      return true
    })
    return payments.map(({ txId }) => outcomes.get(txId) as string)
  }

  /** Base units that calls have earned so far. */
  earned(): Promise<bigint> {
    return new Caller(this.nodes[0].url, PAYOUT).balance()
  }
}

/** Payout of a delivered call: its amount less the burned part, 1 % rounded up. */
export function shareOf({ amount }: Payment): bigint {
  return amount - (amount + 99n) / 100n
}

/** Whether a replica sells. */
export async function isOpen(url: string): Promise<boolean> {
  interface Registry {
    readonly services: readonly { readonly serviceId: string; readonly unavailableReason?: string }[]
  }
  const { body } = await ask<Registry>(url, '/services.json')
  const service = body.services.find(({ serviceId }) => serviceId === 'node-test-once')
  return service !== undefined && service.unavailableReason === undefined
}

/** Whether an answer asks for a repeat. */
function isPassing(reply: Reply<CallView>): boolean {
  return reply.status === 503 || reply.status === 429 || verdict(reply) === '402 payment_unconfirmed'
}

/** Signs and submits the payments of one buyer: the first as every caller does, the rest with the following nonces. */
async function paid(url: string, key: number, serviceId: string, requests: readonly string[]): Promise<Payment[]> {
  const caller = new Caller(url, key)
  const client = new NodeClient(url)
  const [first] = requests
  if (first === undefined) return []
  const payload = await caller.invoke({ serviceId, request: first }, new Uint8Array(32))
  const { body } = await caller.sign('agent_invoke', payload)
  const status = await client.status()
  if (!status.ok) throw new Error(status.fault.code)
  const network = { chainId: 1, genesis: status.value.genesis as BlockId }
  const payments: Payment[] = []
  for (const [i, request] of requests.entries()) {
    const tx = await signTransaction({ ...body, nonce: body.nonce + BigInt(i) } as TxBody, caller.key, network)
    const submitted = await client.submit(tx)
    if (!submitted.ok) throw new Error(`not accepted: ${JSON.stringify(submitted.fault)}`)
    payments.push({ tx, txId: tx.txId, secret: null, serviceId, request, amount: payload.amount })
  }
  return payments
}

function addressOf(key: number): string {
  return formatAddress(DEVNET.addressPrefix, wallet(key).address)
}
