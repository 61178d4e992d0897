import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import { ACCOUNTS } from '../../consensus/ledger/account.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Address, AgentId, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { AccountSigner } from '../../consensus/tx/sign.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { AGENTS, type Agent, SERVICES, type Service } from '../ledger/agents.ts'
import { capabilityNumber } from '../ledger/capabilities.ts'
import type { ServiceContext, Shelf } from '../services/context.ts'
import type { RequestText, ServiceDefinition } from '../services/service.ts'
import { FEE_ROOM } from './settings.ts'

/** What the market needs of a mempool. */
export interface TransactionSink {
  submit(tx: Transaction): Promise<Result<Transaction>>
  get(txId: TxId): Transaction | undefined
  ofAccount(address: Address): readonly Transaction[]
  nextNonce(address: Address): bigint
}

/** The seller: the agent and the keys of its operator. */
export interface Operator {
  readonly agentId: AgentId
  readonly name: string
  /** As registered; empty without one. */
  readonly endpoint: string
  /** URL at which callers reach the node. Null if it has no public URL and listens on every address. */
  readonly url: string | null
  readonly owner: Address
  readonly payout: Address
  /** Signs receipts, and also registrations if its address is the owner's. */
  readonly settler: AccountSigner & { readonly address: Address }
  /** Settlers of other replicas; the owner's node lists them on chain beside its own. */
  readonly otherSettlers?: readonly Address[]
}

/** A service as this operator sells it. */
export interface Offer {
  readonly definition: ServiceDefinition
  /** Price that the operator wants on chain. */
  readonly priceUsdMicros: bigint
}

/** Whether an offer can be sold now. */
export type Availability =
  | { readonly available: true; readonly agent: Agent; readonly service: Service; readonly engine: string }
  | {
      readonly available: false
      readonly reason: string
      /** Settings that would make it available; empty if none would. */
      readonly requires: readonly string[]
      readonly service: Service | undefined
      readonly agent: Agent | undefined
    }

/** Weight of a receipt with one entry, rounded up, if the settler has one key of scheme 1 that the chain knows already. */
const RECEIPT_WEIGHT = 5_000n
/** Receipts that the settler must be able to pay for. */
const RECEIPTS_AHEAD = 200n

/** Judges whether offers can be sold. What cannot be delivered must not be quoted. */
export class Shop {
  readonly operator: Operator
  readonly #chain: Chain
  readonly #context: ServiceContext
  readonly #offers: ReadonlyMap<ServiceId, Offer>
  #ended = false
  readonly #closings: (() => string | null)[] = []

  constructor(operator: Operator, offers: readonly Offer[], context: ServiceContext) {
    this.operator = operator
    this.#chain = context.chain
    this.#context = { ...context, shelf: this.#shelf() }
    this.#offers = new Map(offers.map((offer) => [offer.definition.serviceId, offer]))
  }

  get context(): ServiceContext {
    return this.#context
  }

  #shelf(): Shelf {
    const isAvailable = (serviceId: ServiceId): boolean | undefined => {
      const offer = this.#offers.get(serviceId)
      return offer && this.availability(offer).available
    }
    const wordsOf = (serviceId: ServiceId): string => this.#offers.get(serviceId)?.definition.words ?? ''
    return { agentId: this.operator.agentId, url: this.operator.url, isAvailable, wordsOf }
  }

  /** All that this operator could sell, in the given order. */
  get offers(): readonly Offer[] {
    return [...this.#offers.values()]
  }

  /** Sells nothing while `reason` returns a text. A payment that is offered meanwhile is neither taken nor lost. */
  closeWhile(reason: () => string | null): void {
    this.#closings.push(reason)
  }

  /** Closes the shop until the process ends. */
  close(reason: string): void {
    this.#ended = true
    this.#closings.unshift(() => reason)
  }

  get hasEnded(): boolean {
    return this.#ended
  }

  /** Why nothing is sold now, or null. */
  get closedBecause(): string | null {
    for (const reasonOf of this.#closings) {
      const reason = reasonOf()
      if (reason !== null) return reason
    }
    return null
  }

  offer(serviceId: string): Offer | undefined {
    return this.#offers.get(serviceId as ServiceId)
  }

  /** Undefined if the registration is not mined. */
  get agent(): Agent | undefined {
    return this.#chain.database.get(AGENTS, this.operator.agentId)
  }

  /** Undefined if the service was never published. */
  record(serviceId: ServiceId): Service | undefined {
    return this.#chain.database.get(SERVICES, { agentId: this.operator.agentId, serviceId })
  }

  /** Whether the chain takes receipts of this node's settler. */
  get maySettle(): boolean {
    const { agent } = this
    const { address } = this.operator.settler
    return agent !== undefined && (agent.owner === address || agent.settlers.includes(address))
  }

  /** Whether the offer can be sold for coins, or the first reason why not. */
  availability(offer: Offer): Availability {
    const ready = this.readiness(offer)
    if (!ready.available) return ready
    const { service, agent } = ready
    const reason = this.#fundsReason()
    return reason === null ? ready : { available: false, reason, requires: [], service, agent }
  }

  /** Whether the offer could be delivered now, however it is paid, or the first reason why not. */
  readiness({ definition }: Offer): Availability {
    const { agent } = this
    const service = this.record(definition.serviceId)
    const reason = this.closedBecause ?? this.#agentReason(agent) ?? serviceReason(service, definition)
    if (reason !== null) return { available: false, reason, requires: [], service, agent }
    const readiness = definition.ready(this.#context)
    if (!readiness.available) return { ...readiness, service, agent }
    return { available: true, agent: agent as Agent, service: service as Service, engine: readiness.engine }
  }

  /**
   * Why a call that is paid in coins is not served now, or null. The code `service/unavailable` means that the request is right: then
   * a good payment is taken and given back, unless the shop is closed.
   */
  whyNotServed(offer: Offer, asked: RequestText): Fault | null {
    const availability = this.availability(offer)
    const unfit = asked.faultNow(this.#context)
    if (availability.available || (unfit !== null && unfit.code !== 'service/unavailable')) return unfit
    return fault('service/unavailable', { serviceId: offer.definition.serviceId, reason: availability.reason })
  }

  #agentReason(agent: Agent | undefined): string | null {
    const { owner, payout, settler, agentId } = this.operator
    if (agent === undefined) return 'not published yet'
    if (agent.owner !== owner)
      return `the agent id ${agentId} belongs to another owner; choose one with market.agent-id`
    if (agent.payout !== payout || !agent.settlers.includes(settler.address)) return 'not published yet'
    return null
  }

  /** Without receipts the market would take payments that it cannot earn. */
  #fundsReason(): string | null {
    const { head, ruleBook, database } = this.#chain
    const baseFee = baseFeeAfter(head.header, ruleBook.at(head.header.height + 1).block)
    const balance = database.get(ACCOUNTS, this.operator.settler.address)?.balance ?? 0n
    return balance >= RECEIPT_WEIGHT * RECEIPTS_AHEAD * baseFee * FEE_ROOM
      ? null
      : 'the settler account cannot pay for receipts'
  }
}

function serviceReason(service: Service | undefined, definition: ServiceDefinition): string | null {
  if (service === undefined || service.retired) return 'not published yet'
  return service.capability === capabilityNumber(definition.capability) ? null : 'not published yet'
}
