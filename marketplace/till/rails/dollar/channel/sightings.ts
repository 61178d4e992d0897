import type { Clock } from '../../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../../consensus/primitives/ids.ts'
import { LruMap } from '../../../../../consensus/primitives/lru.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { NO_CLIENT } from '../../../failing-callers.ts'
import { WorkSlots } from '../../../workshop.ts'
import { BadVouchers } from '../../tab/bad-vouchers.ts'
import type { TabStore } from '../../tab/tab-store.ts'
import { type Asker, RANKS } from '../facilitators.ts'
import { askerOf } from '../verification.ts'
import type { ChannelChain, RefundOrder } from './chain.ts'
import type { ChannelPayment, ChannelState, ChannelVoucher } from './channel.ts'
import { checkVoucherSignature, isSignedOnChain } from './checks.ts'
import type { ChannelTerms } from './terms.ts'

/** What {@link Sightings} work with. */
export interface SightingsParts {
  readonly channels: ChannelChain
  readonly terms: ChannelTerms
  readonly store: Pick<TabStore, 'peek' | 'shared'>
  readonly clock: Clock
}

/** What a signed refund takes, and the nonce that it uses up. */
type Grant = Pick<RefundOrder, 'amount' | 'refundNonce'>

/** A channel as its chain had it. */
interface Sighting {
  readonly state: ChannelState
  readonly atMs: number
}

const CHANNELS_MAX = 10_000
/** A state is good for a third of the withdraw delay, within these bounds: calls of that time are claimed before a withdrawal. */
const AGE_MS = { least: 30_000, most: 300_000 }
/** How far behind a node may be. What contradicts an older sighting is a reorganisation. */
const BEHIND_MS = 60_000
/** Questions about channels that run at once, and those that may wait. Places are shared fairly among clients. */
export const CHANNEL_QUESTIONS = { atOnce: 16, waitingMax: 64 } as const
const CROWDED = fault('channel/chain-away', { detail: 'too many channels are to be looked at' })

/**
 * What is known of channels on their chain. The chain is asked only about payments that the channel's key has signed, or that only the chain
 * can judge, and a client whose payments are wrong is soon not heard for a while.
 */
export class Sightings {
  readonly #parts: SightingsParts
  readonly #known = new LruMap<string, Sighting>(CHANNELS_MAX)
  readonly #granted = new LruMap<string, Grant>(CHANNELS_MAX)
  readonly #bad: BadVouchers
  readonly #slots = new WorkSlots({ atOnce: CHANNEL_QUESTIONS.atOnce })
  /** Payments that the chain was asked about, until it is known whether they pay. */
  readonly #asked = new WeakSet<ChannelVoucher>()

  constructor(parts: SightingsParts) {
    this.#parts = parts
    this.#bad = new BadVouchers(parts.clock)
  }

  /** The channel as it was seen last, less what a refund takes that may still be carried out. */
  state(channelId: string): ChannelState | undefined {
    const state = this.#known.get(channelId)?.state
    const grant = this.#granted.get(channelId)
    if (state === undefined || grant === undefined || state.refundNonce > grant.refundNonce) return state
    return { ...state, balance: grant.amount < state.balance ? state.balance - grant.amount : 0n }
  }

  /** Notes a signed refund that was not seen to end. Its signature is good until another refund has used up the nonce. */
  grant(channelId: string, { amount, refundNonce }: Grant): void {
    const before = this.#granted.get(channelId)
    const isMore = before?.refundNonce === refundNonce && before.amount > amount
    this.#granted.set(channelId, { amount: isMore ? before.amount : amount, refundNonce })
  }

  /** Milliseconds since the channel was seen; infinite if it was not. */
  ageMs(channelId: string): number {
    const known = this.#known.get(channelId)
    return known === undefined ? Number.POSITIVE_INFINITY : this.#parts.clock.now() - known.atMs
  }

  /** Answers come in any order, and a node can be some blocks behind: an older state must not bring back money that was refunded. */
  see(channelId: string, state: ChannelState): void {
    const known = this.#known.get(channelId)?.state
    if (known !== undefined && this.ageMs(channelId) < BEHIND_MS && isOlder(state, known)) return
    this.#known.set(channelId, { state, atMs: this.#parts.clock.now() })
  }

  /** The channel is looked at again before its next call. */
  doubt(channelId: string): void {
    const known = this.#known.get(channelId)
    if (known !== undefined) this.#known.set(channelId, { ...known, atMs: Number.NEGATIVE_INFINITY })
  }

  /** Why the payer is not shown to have signed the voucher; null if it is, or if the chain has to tell. */
  whyNotSigned(payment: ChannelPayment, from: Holder = NO_CLIENT): Fault | null {
    const channelId = payment.voucher.channelId as TxId
    const waitMs = this.#bad.waitMs(channelId, from)
    if (waitMs > 0) return tooMany(waitMs)
    if (isSignedOnChain(payment)) return null
    const wrong = checkVoucherSignature(payment, this.#parts.terms)
    if (wrong !== null) this.#bad.bad(channelId, from)
    return wrong
  }

  /** The state of the channel of a payment, asked anew where the chain must judge the payment or the known state is old. */
  async look(payment: ChannelPayment, amount: bigint, from: Holder = NO_CLIENT): Promise<Result<ChannelState>> {
    const { channels } = this.#parts
    const channelId = payment.voucher.channelId as TxId
    const known = this.#known.get(channelId)
    const isJudged = payment.kind === 'deposit' || isSignedOnChain(payment)
    if (!isJudged && known !== undefined && this.ageMs(channelId) < this.#ageMaxMs) return ok(known.state)
    const waitMs = this.#bad.waitMs(channelId, from)
    if (waitMs > 0) return fail(tooMany(waitMs))
    const asker = this.asker(channelId, from)
    const ask = (): Promise<Result<ChannelState>> =>
      isJudged ? channels.verify(payment, amount, asker) : channels.state(payment, asker)
    const said = (await this.#slots.runUnlessFull(ask, from.address, CHANNEL_QUESTIONS.waitingMax)) ?? fail(CROWDED)
    if (said.ok) this.see(channelId, said.value)
    // Keys cost nothing: a stranger can sign for any number of channels that hold nothing.
    const isVain = said.ok ? payment.kind !== 'deposit' && said.value.balance === 0n : isOfPayment(said.fault)
    if (isVain) this.#bad.bad(channelId, from)
    else this.#asked.add(payment.voucher)
    return said
  }

  /** Notes whether a payment was good for a call. If not, the question about it was in vain, though it was signed well. */
  judged({ voucher }: ChannelPayment, isGood: boolean, from: Holder = NO_CLIENT): void {
    if (!this.#asked.delete(voucher)) return
    if (isGood) this.#bad.good(voucher.channelId as TxId, from)
    else this.#bad.bad(voucher.channelId as TxId, from)
  }

  /** The state of a channel now. */
  async now(last: ChannelPayment): Promise<Result<ChannelState>> {
    const said = await this.#parts.channels.state(last)
    if (said.ok) this.see(last.voucher.channelId, said.value)
    return said
  }

  /** How facilitators are to treat a question about a channel. */
  asker(channelId: TxId, from: Holder): Asker {
    const isKnown = this.#parts.store.peek(channelId) !== undefined
    return { ...askerOf(from), rank: isKnown ? RANKS.payer : RANKS.newcomer }
  }

  /** Where replicas share a store, another one may have refunded the channel since. */
  get #ageMaxMs(): number {
    const { store, terms } = this.#parts
    if (store.shared !== undefined) return 0
    return Math.min(AGE_MS.most, Math.max(AGE_MS.least, (terms.withdrawDelay * 1_000) / 3))
  }
}

function tooMany(waitMs: number): Fault {
  return fault('tabcall/failing', { seconds: Math.ceil(waitMs / 1_000) })
}

function isOlder(state: ChannelState, known: ChannelState): boolean {
  return state.refundNonce < known.refundNonce || state.totalClaimed < known.totalClaimed
}

/** Whether a refusal blames the payment, and not the way to the chain. */
function isOfPayment({ code }: Fault): boolean {
  return code !== 'channel/chain-away' && code !== 'stable/facilitator'
}
