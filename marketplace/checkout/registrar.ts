import type { Chain } from '../../consensus/chain/chain.ts'
import type { Fault } from '../../consensus/primitives/fault.ts'
import { SETTLERS_MAX } from '../../consensus/tx/payloads.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import type { Agent, Service } from '../ledger/agents.ts'
import { capabilityNumber, capabilitySet } from '../ledger/capabilities.ts'
import type { Offer, Operator, Shop } from './operator.ts'
import type { Sender } from './sender.ts'

/** Least blocks between two changes of a price: an hour. */
const PRICE_HOLD_BLOCKS = 1_200

/** What the registrar works with. */
export interface RegistrarDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly sender: Sender
  /** Hears of a registration that could not be sent; it is tried again. */
  readonly onFault: (fault: Fault) => void
}

/**
 * Keeps the chain's registry equal to what this operator sells: registers the agent, publishes what is missing or
 * changed. It can only do so where the settler key is the owner's; elsewhere the owner does it with a cold key.
 */
export class Registrar {
  readonly #deps: RegistrarDependencies
  #work: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(dependencies: RegistrarDependencies) {
    this.#deps = dependencies
    dependencies.chain.onHeadChange(() => this.check())
  }

  /** Looks for what is missing and sends it. */
  check(): void {
    this.#work = this.#work.then(() => this.#publish())
  }

  /** Stops sending and waits for work under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  async #publish(): Promise<void> {
    const { shop, sender, chain } = this.#deps
    const { owner, settler } = shop.operator
    if (this.#stopped || chain.moving || owner !== settler.address) return
    // What was sent is waited for: its expiry, not impatience, decides when it is sent again.
    if (sender.waiting.some(isRegistration)) return
    const { agent } = shop
    if (agent === undefined) await this.#register(shop.operator, shop.offers)
    else if (agent.owner !== owner) return
    else if (!matches(agent, shop.operator, shop.offers)) await this.#update(shop.operator, shop.offers, agent)
    await this.#publishServices()
  }

  async #publishServices(): Promise<void> {
    const { shop, sender, onFault } = this.#deps
    for (const offer of shop.offers) {
      const known = shop.record(offer.definition.serviceId)
      const held = known !== undefined && this.#mustHoldPrice(known, offer)
      const wanted = publication(held ? { ...offer, priceUsdMicros: known.priceUsdMicros } : offer)
      if (this.#stopped || isPublished(known, wanted)) continue
      const sent = await sender.send('service_publish', { agentId: shop.operator.agentId, ...wanted })
      if (!sent.ok) return onFault(sent.fault)
    }
  }

  /**
   * The chain remembers one price before the current one. A second change is held back until calls paid at the one before
   * are over, or they would no longer be honoured.
   */
  #mustHoldPrice(known: Service, { priceUsdMicros }: Offer): boolean {
    if (known.priceUsdMicros === priceUsdMicros) return false
    if (known.previousPriceUsdMicros === known.priceUsdMicros) return false
    const { head, ruleBook } = this.#deps.chain
    const { market } = ruleBook.at(head.header.height)
    const changedAt = (known.previousPriceLastEpoch + 1) * market.epochBlocks
    return head.header.height < changedAt + PRICE_HOLD_BLOCKS
  }

  async #register(operator: Operator, offers: readonly Offer[]): Promise<void> {
    const sent = await this.#deps.sender.send('agent_register', {
      agentId: operator.agentId,
      ...registration(operator, offers),
    })
    if (!sent.ok) this.#deps.onFault(sent.fault)
  }

  async #update(operator: Operator, offers: readonly Offer[], { settlers: known }: Agent): Promise<void> {
    const { agentId, owner, settler } = operator
    // Other settlers serve other replicas; only where the list is full does the oldest make room.
    const others = known.filter((address) => address !== settler.address).slice(1 - SETTLERS_MAX)
    const settlers = [...others, settler.address]
    const record = { ...registration(operator, offers), agentId, owner, settlers }
    const sent = await this.#deps.sender.send('agent_update', record)
    if (!sent.ok) this.#deps.onFault(sent.fault)
  }
}

function isRegistration({ body: { kind } }: Transaction): boolean {
  return kind === 'agent_register' || kind === 'agent_update' || kind === 'service_publish'
}

function registration({ name, endpoint, payout, settler }: Operator, offers: readonly Offer[]) {
  const capabilities = capabilitySet(offers.map(({ definition }) => definition.capability))
  return { name, endpoint, capabilities, payout, settlers: [settler.address] }
}

function matches(agent: Agent, operator: Operator, offers: readonly Offer[]): boolean {
  return (
    agent.capabilities === registration(operator, offers).capabilities &&
    agent.payout === operator.payout &&
    agent.settlers.includes(operator.settler.address) &&
    agent.name === operator.name &&
    agent.endpoint === operator.endpoint
  )
}

function publication({ definition, priceUsdMicros }: Offer) {
  const { serviceId, name, requestFormat, description, capability } = definition
  return { serviceId, capability: capabilityNumber(capability), priceUsdMicros, name, requestFormat, description }
}

function isPublished(service: Service | undefined, wanted: ReturnType<typeof publication>): boolean {
  if (service === undefined || service.retired) return false
  return (
    service.capability === wanted.capability &&
    service.priceUsdMicros === wanted.priceUsdMicros &&
    service.name === wanted.name &&
    service.requestFormat === wanted.requestFormat &&
    service.description === wanted.description
  )
}
