import type { Holder } from '../../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { ServiceId, TxId } from '../../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { requestHash } from '../../../../../consensus/tx/request-hash.ts'
import type { ServiceDefinition } from '../../../../services/service.ts'
import type { Caller } from '../../../failing-callers.ts'
import type { Ended, Gate, Held, Rail, Settled, Steps, Task, Verdict } from '../../../rail.ts'
import { Till, type TillDependencies } from '../../../till.ts'
import { answerOf, CallWork, takenCall, whyNotRunAgain } from '../../tab/call-work.ts'
import type { HeldVoucher } from '../../tab/tab-call.ts'
import { type ReceiptSigner, sealer } from '../../tab/tab-receipts.ts'
import type { AnsweredTabRow, TabCallRow, TabStore } from '../../tab/tab-store.ts'
import { type AcceptanceParts, type ChannelPrice, newChannelCall, pricedCall, whyNotTaken } from './acceptance.ts'
import {
  type BesideVoucher,
  CHANNEL_CALLS,
  ChannelDesk,
  type ChannelIdentity,
  type ChannelOrder,
  type ChannelPaidCall,
  channelCallId,
} from './call.ts'
import type { ChannelChain } from './chain.ts'
import type { ChannelPayment, ChannelPaymentOf, ChannelVoucher } from './channel.ts'
import { ChargedVouchers } from './charged-vouchers.ts'
import { checkChannel, isSignedOnChain } from './checks.ts'
import { busy, chargedOf, Funding, isInUse, type Refunded } from './funding.ts'
import { Sightings } from './sightings.ts'
import { type ChannelTerms, channelOffer } from './terms.ts'
import type { ChannelStanding } from './wire.ts'

/** What the rail of channels works with. */
export interface ChannelRailDependencies extends Omit<TillDependencies<TabCallRow>, 'store'> {
  readonly store: TabStore
  readonly channels: ChannelChain
  readonly terms: ChannelTerms
  readonly signer: ReceiptSigner
  /** The most that may be charged on one channel and not claimed, in units. */
  readonly unclaimedMax: bigint
  /** Why the chain of the token cannot be used now, or null. */
  readonly closedBecause: () => string | null
  /** Whether the operator takes no more calls from channels. What is open is still claimed and refunded. */
  readonly isEnding: boolean
}

/** How a channel stands with its seller, and a voucher for what was charged and is not claimed; null without any. */
export interface ChannelView {
  readonly standing: ChannelStanding
  readonly last: ChannelVoucher | null
}

/** What is known of a payment beside its bytes. */
interface Known {
  readonly price: ChannelPrice
  readonly deposit: BesideVoucher['deposit']
}

/**
 * Channels of EVM networks: many calls are paid from one deposit, one at a time. The work of a call and its store are those of tabs. Only
 * the chain side is another one: the state of a channel is asked for, and a deposit is in its channel before the work begins.
 */
export class ChannelRail implements Rail<ChannelPaidCall, TabCallRow, ChannelIdentity, AnsweredTabRow> {
  readonly kind = CHANNEL_CALLS
  readonly joinMs = null
  readonly beginsPatiently = true
  readonly till: Till<ChannelPaidCall, TabCallRow, ChannelIdentity, AnsweredTabRow>
  readonly sightings: Sightings
  readonly #deps: ChannelRailDependencies
  readonly #parts: AcceptanceParts
  readonly #desk: ChannelDesk
  readonly #work: CallWork
  readonly #funding: Funding
  readonly #charged: ChargedVouchers
  readonly #known = new WeakMap<ChannelPayment, Known>()
  /** Payments whose payer is shown to have signed. */
  readonly #signed = new WeakSet<ChannelPayment>()

  constructor(dependencies: ChannelRailDependencies) {
    this.#deps = dependencies
    const { chain, store, signer } = dependencies
    this.sightings = new Sightings(dependencies)
    this.#charged = new ChargedVouchers(store)
    this.#funding = new Funding({ ...dependencies, sightings: this.sightings })
    this.#parts = { ...dependencies, funding: this.#funding }
    this.#desk = new ChannelDesk(store, this.sightings, (channelId) => this.#funding.isBusy(channelId))
    const isAbandoned = (): boolean => this.till.isAbandoned
    this.#work = new CallWork({ ...dependencies, seal: sealer(signer, chain.network), isAbandoned })
    this.till = new Till({ ...dependencies, store: this.#desk }, this)
  }

  get terms(): ChannelTerms {
    return this.#deps.terms
  }

  get closedBecause(): string | null {
    return this.isEnding ? 'this node takes no more channels' : this.#deps.closedBecause()
  }

  get isEnding(): boolean {
    return this.#deps.isEnding
  }

  identify({ payment, serviceId, request }: ChannelPaidCall): ChannelIdentity {
    const channelId = payment.voucher.channelId as TxId
    const context = requestHash(serviceId as ServiceId, request)
    const voucher = { ceiling: payment.voucher.maxClaimable, context } as HeldVoucher
    return { id: channelCallId({ tabId: channelId, voucher }), channelId, context }
  }

  /**
   * Looks at the channel and moves the deposit, before the call is judged. A deposit is moved only for a call that would be taken then. If
   * the work fails, the money is in the channel, and the payer can use it or have it back.
   */
  async named(order: ChannelOrder): Promise<Result<Settled<AnsweredTabRow>> | null> {
    const { call, identity } = order
    const { payment, from } = call
    if (this.#known.has(payment)) return null
    const unsigned = checkChannel(payment, this.terms) ?? this.sightings.whyNotSigned(payment, from)
    if (unsigned !== null) return fail(unsigned)
    if (!isSignedOnChain(payment)) this.#signed.add(payment)
    // The answer of a call that was taken costs no question.
    if (this.till.isRunning(identity.id) || (await this.#desk.get(identity.id)) !== undefined) return null
    if (this.isEnding) {
      const { scheme: got } = channelOffer(this.terms, 0n)
      return fail(fault('pay/no-offer', { field: 'accepted.scheme', got, expected: 'exact' }))
    }
    const price = pricedCall(this.#parts, order)
    if (!price.ok) return price
    if (this.#isInUse(identity)) return fail(busy(identity.channelId))
    const looked = await this.#lookedAt(payment, price.value.amount, from)
    if (!looked.ok) return looked
    this.#signed.add(payment)
    const hasDeposit = payment.kind === 'deposit' && looked.value.kind === 'deposit'
    const deposited = hasDeposit ? await this.#deposit(order, price.value) : ok(null)
    if (!deposited.ok) return deposited
    const { transaction, amount } = deposited.value ?? {}
    const deposit = transaction === undefined ? undefined : { transaction, amount: String(amount) }
    this.#known.set(payment, { price: price.value, deposit })
    return null
  }

  judge(order: ChannelOrder, known: TabCallRow | undefined): Verdict<TabCallRow, AnsweredTabRow> {
    const { call, identity } = order
    if (known !== undefined) return this.#taken(known, order)
    if (this.till.isRunning(identity.id)) return { is: 'moved' }
    const ready = this.#known.get(call.payment)
    const state = this.sightings.state(identity.channelId)
    if (ready === undefined || state === undefined) return { is: 'moved' }
    const { price, deposit } = ready
    const wrong = whyNotTaken(this.#parts, order, { price, state, hasDeposit: false })
    this.sightings.judged(call.payment, wrong === null, call.from)
    if (wrong !== null) return { is: 'told', outcome: fail(wrong) }
    const row = this.#deps.store.peek(identity.channelId)
    const facts = { row, price, deposit, nowMs: this.#deps.clock.now() }
    return { is: 'take', claim: newChannelCall(order, facts) }
  }

  /** The name of a call has all but the signature. Some keys sign differently each time; only the chain knows that of a contract. */
  mayJoin(
    { claim }: Pick<Held<TabCallRow, ChannelIdentity>, 'claim'>,
    { call: { payment }, identity }: ChannelOrder,
  ): Fault | null {
    const isOther = isSignedOnChain(payment) && claim.voucher.signature !== payment.voucher.signature
    return isOther ? busy(identity.channelId) : null
  }

  underWay({ identity }: ChannelOrder): Fault {
    return busy(identity.channelId)
  }

  goesOn({ tabId }: TabCallRow): Fault {
    return busy(tabId)
  }

  answer(_: ChannelOrder, ended: Result<TabCallRow>, replayed: boolean): Result<Settled<AnsweredTabRow>> {
    return ended.ok ? answerOf(ended.value as AnsweredTabRow, replayed) : ended
  }

  mayBegin(call: TabCallRow, { definition }: Task): Gate<TabCallRow> {
    const { serviceId } = definition
    if (this.till.isStopped) return { is: 'later', ms: null }
    const reason = this.#deps.shop.closedBecause
    if (reason !== null) return { is: 'refused', cause: fault('service/unavailable', { serviceId, reason }) }
    return { is: 'open', begun: this.#work.begun(call, definition) }
  }

  worked({ definition }: Task, caller: Caller, outcome: Result<string>): void {
    this.#deps.workshop.ended(definition, caller, outcome)
  }

  carry(call: TabCallRow, steps: Steps<TabCallRow>): Promise<Ended<TabCallRow>> {
    return this.#work.carry(steps, this.goesOn(call))
  }

  end(call: TabCallRow, outcome: Result<string>): Promise<Ended<TabCallRow>> {
    return this.#work.end(call, outcome)
  }

  takeUp(_: TabCallRow, isInHand: boolean): boolean {
    return !isInHand
  }

  whyNotResumed(call: TabCallRow, definition: ServiceDefinition): Fault | null {
    return whyNotRunAgain(call, definition)
  }

  forget(): void {}
  async stop(): Promise<void> {}
  async handedOver(): Promise<void> {}

  /** Whether the payment's payer is shown to have signed it. Only such a payer is told how the channel stands. */
  isOfPayer(payment: ChannelPayment): boolean {
    return this.#signed.has(payment)
  }

  /** How the channel of a payment stands. */
  async viewOf(payment: ChannelPayment, from?: Holder): Promise<Result<ChannelView>> {
    const channelId = payment.voucher.channelId as TxId
    const known = this.sightings.state(channelId)
    const state = known === undefined ? await this.sightings.look(asVoucher(payment), 0n, from) : ok(known)
    if (!state.ok) return state
    const row = await this.#deps.store.tab(channelId)
    const charged = chargedOf(row, state.value)
    // A client believes the chain about what is claimed. A store that lost rows has an older voucher, which the client would take for a lie.
    const isClaimed = row === undefined || charged <= state.value.totalClaimed
    const voucher = isClaimed ? null : await this.#charged.newest(row)
    const last = voucher && { channelId, maxClaimable: voucher.ceiling, signature: voucher.signature }
    return ok({ standing: { channelId, state: state.value, charged }, last })
  }

  /** Gives back what the payer asks for of what is not charged. */
  async refund(payment: ChannelPaymentOf<'refund'>, from?: Holder): Promise<Result<Refunded>> {
    const unsigned = checkChannel(payment, this.terms) ?? this.sightings.whyNotSigned(payment, from)
    if (unsigned !== null) return fail(unsigned)
    if (isSignedOnChain(payment)) {
      const judged = await this.sightings.look(payment, 0n, from)
      if (!judged.ok) return judged
    }
    this.#signed.add(payment)
    const refunded = await this.#funding.refund(payment, from)
    this.sightings.judged(payment, refunded.ok, from)
    return refunded
  }

  #isInUse({ channelId }: ChannelIdentity): boolean {
    return this.#funding.isBusy(channelId) || isInUse(this.#deps.store.peek(channelId))
  }

  /** A deposit that is refused may have been moved by an earlier attempt, whose answer was lost: then its voucher pays. */
  async #lookedAt(
    payment: ChannelPayment,
    amount: bigint,
    from: Holder | undefined,
  ): Promise<Result<Pick<ChannelPayment, 'kind'>>> {
    const looked = await this.sightings.look(payment, amount, from)
    if (looked.ok || payment.kind !== 'deposit') return looked.ok ? ok(payment) : looked
    const voucher = asVoucher(payment)
    const there = await this.sightings.look(voucher, amount, from)
    return there.ok && there.value.balance >= payment.voucher.maxClaimable ? ok(voucher) : looked
  }

  async #deposit(order: ChannelOrder, price: ChannelPrice) {
    const { call, identity } = order
    const payment = call.payment as ChannelPaymentOf<'deposit'>
    const state = this.sightings.state(identity.channelId)
    if (state === undefined) return fail(fault('channel/unverified', { channelId: identity.channelId }))
    const wrong = whyNotTaken(this.#parts, order, { price, state, hasDeposit: true })
    if (wrong === null) return this.#funding.deposit(payment, price.amount, call.from)
    this.sightings.judged(payment, false, call.from)
    return fail(wrong)
  }

  #taken(known: TabCallRow, order: ChannelOrder): Verdict<TabCallRow, AnsweredTabRow> {
    const refusal = this.mayJoin({ claim: known }, order)
    if (refusal !== null) return { is: 'told', outcome: fail(refusal) }
    return takenCall(known, { waitMs: this.#deps.settings.settleWaitMs, why: () => this.underWay(order) })
  }
}

function asVoucher({ config, voucher, accepted }: ChannelPayment): ChannelPaymentOf<'voucher'> {
  return { kind: 'voucher', config, voucher, accepted }
}
