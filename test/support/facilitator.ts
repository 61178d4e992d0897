import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DEVNET } from '../../config/networks/devnet.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { createInlineVerifier } from '../../consensus/crypto/verifier.ts'
import { epochOf } from '../../consensus/ledger/epoch.ts'
import { toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { AgentId, Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { lockOf, openerOf } from '../../consensus/tx/redeem-lock.ts'
import { requestCommitment, requestHash } from '../../consensus/tx/request-hash.ts'
import { type AccountSigner, signText } from '../../consensus/tx/sign.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { Facilitator } from '../../marketplace/facilitator/facilitator.ts'
import { settlementText } from '../../marketplace/facilitator/settlement-text.ts'
import { SERVICES, type Service } from '../../marketplace/ledger/agents.ts'
import { type Closure, closureOf } from '../../marketplace/ledger/closures.ts'
import { chainPrice, priceIn } from '../../marketplace/till/rails/native/price.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { Mempool } from '../../mempool/mempool.ts'
import { DEFAULT_MEMPOOL_POLICY } from '../../mempool/policy.ts'
import { getFacilitatorOffer, settlePayment, verifyPayment } from '../../rpc/handlers/facilitator.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import type { HandlerOf } from '../../rpc/server/answer.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import { LevelSettlements } from '../../src/storage/level-settlements.ts'
import { TestChain, wallet } from './chain.ts'
import { removeFolder, temporaryFolder } from './processes.ts'
import { units } from './unsigned.ts'

/** Two agents with different settlers. `acme` has two services, `other` has none. */
export const ACME = 'acme' as AgentId
export const OTHER = 'other' as AgentId
export const ECHO = 'acme-echo' as ServiceId
export const SECOND = 'acme-second' as ServiceId
/** Numbers of the development wallets of the buyer and of the agents' owner, payout and settlers. The stranger has no role. */
export const WHO = { buyer: 1, owner: 2, payout: 3, settler: 4, stranger: 5, otherSettler: 6 } as const

/** What a test pays for. What is left out gets a value that works. */
export interface Order {
  readonly agentId?: AgentId
  readonly serviceId?: ServiceId
  readonly amount?: bigint
  readonly term?: number
  readonly lock?: 'lock' | 'commitment' | 'none'
  readonly request?: string
}

/** A signed payment, with its secret and the facts of its call that a seller sends to the facilitator. */
export interface Paid {
  readonly tx: Transaction
  readonly txId: TxId
  readonly secret: string
  readonly request: string
  readonly amount: bigint
  readonly serviceId: ServiceId
}

/** The facilitator's answer to verify or settle. */
export interface Said {
  readonly isValid?: boolean
  readonly invalidReason?: string
  readonly success?: boolean
  readonly errorReason?: string
  readonly payer?: string
  readonly transaction?: string
  readonly network?: string
  readonly amount?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

/** A request body that a test may change. */
export type Body = { x402Version: number; paymentPayload: Loose; paymentRequirements: Loose }
type Loose = Record<string, unknown>

/** A facilitator in this process with real chain, mempool and LevelDB records. The test mines the blocks. */
export class FacilitatorStand {
  readonly test: TestChain
  readonly mempool: Mempool
  readonly folder: string
  records: LevelSettlements
  node: NodeApi

  private constructor(test: TestChain, folder: string, records: LevelSettlements) {
    this.test = test
    this.folder = folder
    this.records = records
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    this.mempool = new Mempool({ chain: test.chain, verifier, policy: DEFAULT_MEMPOOL_POLICY })
    this.node = this.#node()
  }

  static async open(): Promise<FacilitatorStand> {
    const folder = temporaryFolder()
    const records = await LevelSettlements.open(join(folder, 'facilitator'))
    const stand = new FacilitatorStand(await TestChain.open(), folder, records)
    await stand.register(ACME, WHO.settler)
    await stand.register(OTHER, WHO.otherSettler)
    await stand.publish(ECHO, 2_000n)
    await stand.publish(SECOND, 900_000n)
    return stand
  }

  /** Opens the settlement records again and makes a new node on them. The chain and the mempool stay. */
  async restart(countMax?: number): Promise<void> {
    await this.records.close()
    this.records = await LevelSettlements.open(join(this.folder, 'facilitator'), countMax)
    this.node = this.#node()
  }

  async close(): Promise<void> {
    await this.records.close()
    removeFolder(this.folder)
  }

  #node(): NodeApi {
    const { test, mempool, records } = this
    const { chain } = test
    const [price, settings] = [chainPrice(chain), DEFAULT_MARKET_SETTINGS]
    const verifier = createInlineVerifier(NATIVE_BACKEND)
    const clock = { now: () => test.nowMs }
    const desk = new Facilitator({ chain, sink: mempool, price, settings, verifier, records, clock })
    return { chain, mempool, facilitator: { desk, price, settings } } as unknown as NodeApi
  }

  async register(agentId: AgentId, settler: number): Promise<void> {
    const facts = { agentId, name: agentId, endpoint: '', capabilities: 1, payout: wallet(WHO.payout).address }
    const settlers = [wallet(settler).address]
    await this.mine([await this.test.tx(wallet(WHO.owner), 'agent_register', { ...facts, settlers })])
  }

  async publish(serviceId: ServiceId, priceUsdMicros: bigint): Promise<void> {
    const texts = { name: serviceId, requestFormat: '', description: 'Echoes.' }
    const payload = { agentId: ACME, serviceId, capability: 1, ...texts, priceUsdMicros }
    await this.mine([await this.test.tx(wallet(WHO.owner), 'service_publish', payload as never)])
  }

  async mine(transactions: readonly Transaction[] = []): Promise<void> {
    await this.test.mine(transactions)
  }

  async mineEmpty(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.mine()
  }

  /** The present price of a service of `acme`, in base units. */
  priceOf(serviceId: ServiceId): bigint {
    const { chain, height } = this.test
    const service = chain.database.get(SERVICES, { agentId: ACME, serviceId }) as Service
    return priceIn(chainPrice(chain), service, epochOf(height, chain.ruleBook.at(height).market)) as bigint
  }

  /** Signs a payment and does not send it. */
  async order(order: Order = {}): Promise<Paid> {
    const { agentId = ACME, serviceId = ECHO, term = 400, lock = 'lock', request = 'hello' } = order
    const secret = new Uint8Array(randomBytes(32))
    const amount = order.amount ?? this.priceOf(serviceId)
    const payload = {
      ...{ agentId, serviceId, amount: units(amount), units: 1, term },
      requestCommitment:
        lock === 'none' ? (ZERO_HEX_32 as Hash) : requestCommitment(secret, { agentId, serviceId, request }),
      redeemLock: lock === 'lock' ? lockOf(openerOf(secret)) : (ZERO_HEX_32 as Hash),
    }
    const tx = await this.test.tx(wallet(WHO.buyer), 'agent_invoke', payload)
    return { tx, txId: tx.txId, secret: toHex(secret), request, amount, serviceId }
  }

  /** Signs a payment and mines it. */
  async pay(order: Order = {}): Promise<Paid> {
    const paid = await this.order(order)
    await this.mine([paid.tx])
    return paid
  }

  /** The body that a seller sends, in a version of x402. */
  body({ txId, secret, request, amount, serviceId }: Paid, x402Version = 2): Body {
    const common = { scheme: 'native-x402', network: x402Version === 1 ? 'mainnet' : 'farthing:1' }
    const asked = { ...common, payTo: ACME, asset: DEVNET.ticker, maxTimeoutSeconds: 60 }
    const extra = { serviceId, request }
    const requirements =
      x402Version === 1
        ? { ...asked, maxAmountRequired: amount.toString(), resource: '', description: '', extra }
        : { ...asked, amount: amount.toString(), extra }
    const { extra: _, ...accepted } = requirements
    const said = x402Version === 1 ? common : { accepted }
    return {
      x402Version,
      paymentPayload: { x402Version, ...said, payload: { txId, secret } },
      paymentRequirements: requirements,
    }
  }

  /** A seller's signed statement on how a call ended. */
  async settlement(
    { txId, request, serviceId }: Paid,
    change: Loose & { by?: AccountSigner; requestHash?: string; keyless?: boolean } = {},
  ): Promise<Loose> {
    const { by = wallet(WHO.settler), keyless = false, ...rest } = change
    const hash = (rest.requestHash ?? requestHash(serviceId, request)) as Hash
    const { network } = this.test.chain
    const text = settlementText(txId, hash)
    const signed = await signText(text, by, { network, prefix: DEVNET.addressPrefix })
    return {
      ...{ settler: signed.address, outcome: 'delivered', requestHash: hash, resultHash: 'cd'.repeat(32) },
      ...{ durationMs: 12, signature: signed.signature, ...(keyless ? {} : { keys: signed.keys }), ...rest },
    }
  }

  verify(body: unknown): Promise<Said> {
    return this.#ask(verifyPayment, body)
  }

  settle(body: unknown): Promise<Said> {
    return this.#ask(settlePayment, body)
  }

  offer(agentId: string, serviceId: string): Promise<unknown> {
    return this.#ask(getFacilitatorOffer, undefined, { agentId, serviceId })
  }

  /** How the escrow of a payment ended. */
  closure(txId: TxId): Closure | undefined {
    return closureOf(this.test.chain.database, txId)
  }

  async #ask(handler: HandlerOf<never, never, never>, body: unknown, params = {}): Promise<Said> {
    const answered = await handler(this.node, { body, params, query: {} } as never)
    return ('json' in answered ? answered.json : answered) as Said
  }
}

/** The address of a wallet as text. */
export function addressOf(number: number): string {
  return formatAddress(DEVNET.addressPrefix, wallet(number).address)
}
