import type { Chain } from '../../../../consensus/chain/chain.ts'
import { formatAddress } from '../../../../consensus/crypto/address.ts'
import { ACCOUNTS } from '../../../../consensus/ledger/account.ts'
import { OUTCOME_OK, outcomeCode } from '../../../../consensus/ledger/outcome.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import type { PayloadOf, TxKind } from '../../../../consensus/tx/kinds.ts'
import { SETTLERS_MAX } from '../../../../consensus/tx/payloads.ts'
import type { Transaction } from '../../../../consensus/tx/transaction.ts'
import type { Agent, Service } from '../../../ledger/agents.ts'
import { capabilityNumber, capabilitySet } from '../../../ledger/capabilities.ts'
import type { AgentTabTerms } from '../../../ledger/tab-records.ts'
import type { Offer, Operator, Shop } from '../../shop.ts'
import { MinedCalls } from './payment.ts'
import type { Sender } from './sender.ts'
import type { Twin } from './twin.ts'

/** Least blocks between two changes of a price: an hour. */
const PRICE_HOLD_BLOCKS = 1_200

/** Blocks after which a registration that failed on chain is tried again. */
const RETRY_BLOCKS = 1_200

/** Services published at once. Mempools hold 64 transactions of one account, and receipts need room. */
export const PUBLISHED_AT_ONCE = 48

/** What the registrar works with. */
export interface RegistrarDependencies {
  readonly chain: Chain
  readonly shop: Shop
  readonly sender: Sender
  /** Set if other nodes hold the settler key too. If one of these nodes sells with it, nothing is registered. */
  readonly twin?: Twin | null
  /** Terms of tabs that are to stand on chain and do not; null if nothing is to change. Absent: the node takes no part in tabs. */
  readonly tabTerms?: () => AgentTabTerms | null
  /** Called with the reason why a part of the registration is not on chain. It is tried again later. */
  readonly onFault: (fault: Fault) => void
}

/**
 * Brings what this operator sells into the chain's registry, if the settler key is the owner's. Otherwise the owner must do it with the
 * owner's key.
 */
export class Registrar {
  readonly #deps: RegistrarDependencies
  readonly #mined: MinedCalls
  /** What was sent last for the agent and for each service. */
  readonly #attempts = new Map<string, { readonly txId: TxId; readonly height: number }>()
  #work: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(dependencies: RegistrarDependencies) {
    this.#deps = dependencies
    this.#mined = new MinedCalls(dependencies.chain)
    dependencies.chain.onHeadChange(() => this.check())
  }

  check(): void {
    this.#work = this.#work.then(() => this.#publish())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  async #publish(): Promise<void> {
    const { shop, sender, chain, twin } = this.#deps
    const { owner, settler } = shop.operator
    if (this.#stopped || chain.moving || owner !== settler.address) return
    if (twin?.sells) return this.#deps.onFault(fault('market/shared-keys'))
    // A registration that was sent is sent again only after its expiry.
    if (sender.waiting.some(isRegistration)) return
    const { payout } = shop.operator
    if (chain.database.get(ACCOUNTS, payout) === undefined) {
      const address = formatAddress(chain.ruleBook.params.addressPrefix, payout)
      return this.#deps.onFault(fault('market/payout-unfunded', { address }))
    }
    if (!(await this.#registered(shop))) return
    await this.#publishServices()
    await this.#postTerms()
  }

  /** Whether the agent is on chain as it should be, or a transaction for that was sent. */
  async #registered({ agent, operator, offers }: Shop): Promise<boolean> {
    if (agent === undefined) {
      const record = { agentId: operator.agentId, ...registration(operator, offers) }
      return this.#send('agent', 'agent_register', record, this.#deps.twin?.mark)
    }
    if (agent.owner !== operator.owner) return false
    return matches(agent, operator, offers) || this.#send('agent', 'agent_update', updated(agent, operator, offers))
  }

  /** A part whose transaction was mined and failed would fail again, so no further fee is paid for it within {@link RETRY_BLOCKS}. */
  async #send<K extends TxKind>(part: string, kind: K, payload: PayloadOf<K>, memo?: Uint8Array): Promise<boolean> {
    const { chain, sender, onFault } = this.#deps
    const { height } = chain.head.header
    const last = this.#attempts.get(part)
    const outcome = last === undefined ? undefined : this.#mined.find(last.txId)?.outcome
    if (last !== undefined && outcome !== undefined && outcome !== OUTCOME_OK && height < last.height + RETRY_BLOCKS) {
      onFault(fault('market/registration-failed', { part, outcome: outcomeCode(outcome) ?? `code ${outcome}` }))
      return false
    }
    const sent = await sender.send(kind, payload, memo)
    if (sent.ok) this.#attempts.set(part, { txId: sent.value.txId, height })
    else onFault(sent.fault)
    return sent.ok
  }

  async #postTerms(): Promise<void> {
    const { shop, tabTerms } = this.#deps
    const terms = this.#stopped ? null : (tabTerms?.() ?? null)
    if (terms !== null) await this.#send('tabs', 'tab_terms', { agentId: shop.operator.agentId, ...terms })
  }

  async #publishServices(): Promise<void> {
    const { shop } = this.#deps
    let room = PUBLISHED_AT_ONCE
    for (const offer of shop.offers) {
      if (room === 0) return
      const known = shop.record(offer.definition.serviceId)
      const held = known !== undefined && this.#mustHoldPrice(known, offer)
      const wanted = publication(held ? { ...offer, priceUsdMicros: known.priceUsdMicros } : offer)
      if (this.#stopped || isPublished(known, wanted)) continue
      const sent = await this.#send(wanted.serviceId, 'service_publish', { agentId: shop.operator.agentId, ...wanted })
      if (sent) room -= 1
    }
  }

  /**
   * The chain keeps one price before the current one. A second change is held back until calls at the older price are over, since
   * that price would not be honoured after it.
   */
  #mustHoldPrice(known: Service, { priceUsdMicros }: Offer): boolean {
    if (known.priceUsdMicros === priceUsdMicros) return false
    if (known.previousPriceUsdMicros === known.priceUsdMicros) return false
    const { head, ruleBook } = this.#deps.chain
    const { market } = ruleBook.at(head.header.height)
    const changedAt = (known.previousPriceLastEpoch + 1) * market.epochBlocks
    return head.header.height < changedAt + PRICE_HOLD_BLOCKS
  }
}

function updated({ settlers: known }: Agent, operator: Operator, offers: readonly Offer[]) {
  const { agentId, owner } = operator
  const wanted = settlersOf(operator)
  // Other settlers serve other replicas. The oldest make room only if the list is full.
  const others = known.filter((address) => !wanted.includes(address))
  const room = SETTLERS_MAX - wanted.length
  const settlers = [...others.slice(Math.max(0, others.length - room)), ...wanted]
  return { ...registration(operator, offers), agentId, owner, settlers }
}

function isRegistration({ body: { kind } }: Transaction): boolean {
  return kind === 'agent_register' || kind === 'agent_update' || kind === 'service_publish' || kind === 'tab_terms'
}

function registration(operator: Operator, offers: readonly Offer[]) {
  const { name, endpoint, payout } = operator
  const capabilities = capabilitySet(offers.map(({ definition }) => definition.capability))
  return { name, endpoint, capabilities, payout, settlers: settlersOf(operator) }
}

/** This node's settler comes last, so that it never makes room. */
function settlersOf({ settler, otherSettlers = [] }: Operator): readonly Address[] {
  return [...new Set([...otherSettlers, settler.address])]
}

function matches(agent: Agent, operator: Operator, offers: readonly Offer[]): boolean {
  return (
    agent.capabilities === registration(operator, offers).capabilities &&
    agent.payout === operator.payout &&
    settlersOf(operator).every((address) => agent.settlers.includes(address)) &&
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
