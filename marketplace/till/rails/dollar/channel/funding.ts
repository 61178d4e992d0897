import type { Clock, Timers } from '../../../../../consensus/chain/ports.ts'
import type { Holder } from '../../../../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../../consensus/primitives/result.ts'
import { ClientCounts, RecentCounts } from '../../../client-counts.ts'
import { NO_CLIENT } from '../../../failing-callers.ts'
import type { TabRow, TabStore } from '../../tab/tab-store.ts'
import { dollarAmount } from '../terms.ts'
import type { Moved } from './answers.ts'
import type { ChainOutcome, ChannelChain, ChannelMove } from './chain.ts'
import type { ChannelPayment, ChannelPaymentOf, ChannelState, ClaimRow } from './channel.ts'
import { checkCeiling, refundable } from './checks.ts'
import type { Sightings } from './sightings.ts'
import type { ChannelTerms } from './terms.ts'

/** What {@link Funding} works with. */
export interface FundingParts {
  readonly channels: ChannelChain
  readonly sightings: Sightings
  readonly store: TabStore
  readonly terms: Pick<ChannelTerms, 'asset'>
  readonly clock: Clock
  readonly timers: Timers
}

/** What a refund left. */
export interface Refunded extends Moved {
  readonly charged: bigint
  readonly state: ChannelState
}

/** Deposits and refunds that one client may cause within an hour: each costs the seller, or its facilitator, gas. */
export const CHANNEL_MOVES = { most: 30, withinMs: 3_600_000, namesMax: 10_000 }
/**
 * Deposits of all clients together; refunds likewise. Channels that have paid for a transaction by now have as many places of their own: what
 * is free takes no place of what is paid.
 */
export const CHANNEL_MOVES_OF_ALL = { atOnce: 8, most: 60, withinMs: 60_000 }
/** What a transaction is taken to cost, in millionths of a dollar. */
const MOVE_MICROS = 2_000n
/**
 * A channel with a refund under way is marked, and takes no calls. The replica that sends the refund renews the mark; it may have to wait for
 * other transactions. Once it has not for so long, the refund has been mined, or did not survive its replica.
 */
export const REFUND_MARK = { renewedMs: 60_000, keptMs: 10 * 60_000 } as const
/** Looks at a channel whose transaction ended unknown, and the pause before each. */
const LOOKS = 6
const LOOK_MS = 2_000

/** Moves deposits into channels and gives back what is left of them. One thing at a time is done with a channel. */
export class Funding {
  readonly #parts: FundingParts
  /** Channels with a deposit or a refund under way, by what counts together. */
  readonly #busy = new Map<string, string>()
  readonly #moves: ClientCounts
  readonly #ofAll: RecentCounts

  constructor(parts: FundingParts) {
    this.#parts = parts
    this.#moves = new ClientCounts(parts.clock, CHANNEL_MOVES)
    this.#ofAll = new RecentCounts(parts.clock, { ...CHANNEL_MOVES_OF_ALL, namesMax: 4 })
  }

  /** Whether a deposit or a refund of the channel is under way here. */
  isBusy(channelId: string): boolean {
    return this.#busy.has(channelId)
  }

  /**
   * Moves a deposit that was verified. `null`: another attempt had brought the money already, so its transaction is not known. The channel's
   * new state is seen then.
   */
  deposit(
    payment: ChannelPaymentOf<'deposit'>,
    amount: bigint,
    from: Holder = NO_CLIENT,
  ): Promise<Result<Moved | null>> {
    const { channels, sightings } = this.#parts
    const { channelId, maxClaimable } = payment.voucher
    return this.#alone(payment, from, async () => {
      const before = sightings.state(channelId)
      const outcome = await channels.deposit(payment, amount, sightings.asker(channelId as TxId, from))
      if (outcome.is === 'done') return ok(this.#seen(channelId, outcome))
      const isThere = ({ balance }: ChannelState): boolean =>
        outcome.is === 'undone' ? balance >= maxClaimable : balance >= (before?.balance ?? 0n) + payment.deposit.amount
      const now = await this.#until(payment, isThere, outcome.is === 'undone' ? 1 : LOOKS)
      if (now === null) return fail(outcome.is === 'undone' ? outcome.cause : unverified(channelId))
      const { transaction } = outcome.is === 'unknown' ? outcome : { transaction: null }
      return ok(transaction === null ? null : { transaction, amount: payment.deposit.amount })
    })
  }

  /** Gives back what is asked for, and claims what was charged with it. Faults of {@link checkCeiling} and {@link refundable}. */
  refund(payment: ChannelPaymentOf<'refund'>, from: Holder = NO_CLIENT): Promise<Result<Refunded>> {
    const { sightings, store } = this.#parts
    const channelId = payment.voucher.channelId as TxId
    return this.#alone(payment, from, async () => {
      const row = await store.tab(channelId)
      if (isInUse(row) || isInUse(store.peek(channelId))) return fail(busy(channelId))
      const state = await sightings.now(payment)
      if (!state.ok) return state
      const charged = chargedOf(row, state.value)
      const wrong = checkCeiling(payment, { charged, amount: 0n, state: state.value })
      if (wrong !== null) return fail(wrong)
      const left = refundable(payment, { charged, state: state.value })
      if (!left.ok) return left
      // From here on no replica takes a call of the channel. One may have taken a call just before.
      await store.mark(channelId, { refundAskedAtMs: this.#parts.clock.now() })
      const marked = await store.tab(channelId)
      if (marked !== undefined && (marked.reserved > 0n || chargedOf(marked, state.value) !== charged)) {
        await store.mark(channelId, { refundAskedAtMs: null })
        return fail(busy(channelId))
      }
      const { receipts = 0 } = marked ?? {}
      return this.#refund(payment, { amount: left.value, charged, state: state.value, receipts })
    })
  }

  async #refund(
    payment: ChannelPaymentOf<'refund'>,
    { amount, charged, state, receipts }: Leave,
  ): Promise<Result<Refunded>> {
    const { channels, store, sightings } = this.#parts
    const channelId = payment.voucher.channelId as TxId
    const claims = charged > state.totalClaimed ? [rowOf(payment, charged)] : []
    const order = { payment, amount, refundNonce: state.refundNonce, claims }
    const outcome = await this.#marked(channelId, () => channels.refund(order))
    const moved = outcome.is === 'done' ? this.#seen(channelId, outcome) : null
    const isDone = ({ refundNonce }: ChannelState): boolean => refundNonce > state.refundNonce
    // A refund that was undone may have been sent by another party, who took its signature out of a transaction.
    const looks = outcome.is === 'undone' ? 1 : LOOKS
    const now = outcome.is === 'done' ? outcome.state : await this.#until(payment, isDone, looks)
    if (now === null && outcome.is === 'undone') {
      sightings.doubt(channelId)
      await store.mark(channelId, { refundAskedAtMs: null })
      return fail(outcome.cause)
    }
    if (now === null) {
      // The mark stays: until it is known whether the money left, calls would be worked on in vain.
      sightings.grant(channelId, { amount, refundNonce: state.refundNonce })
      return fail(unverified(channelId))
    }
    // The refund alone may be on the chain: its signature can be taken out of the transaction that claims, too.
    const isClaimed = now.totalClaimed >= charged
    await store.mark(channelId, { refundAskedAtMs: null, ...(isClaimed && { finalReceipts: receipts }) })
    const { transaction = null } = outcome as { readonly transaction: string | null }
    const gone = moved ?? { transaction: transaction ?? '', amount: state.balance - now.balance }
    return ok({ ...gone, charged, state: now })
  }

  /** Keeps the mark of a refund young while it is sent. */
  async #marked<T>(channelId: TxId, work: () => Promise<T>): Promise<T> {
    const { store, clock, timers } = this.#parts
    let renewal: Promise<unknown> = Promise.resolve()
    let cancel = (): void => {}
    const renewLater = (): void => {
      cancel = timers.after(REFUND_MARK.renewedMs, () => {
        // A store that is away is tried again; one that is broken says so at the next write.
        renewal = store.mark(channelId, { refundAskedAtMs: clock.now() }).catch(() => {})
        renewLater()
      })
    }
    renewLater()
    try {
      return await work()
    } finally {
      cancel()
      await renewal
    }
  }

  #seen(channelId: string, { transaction, amount, state }: Extract<ChainOutcome<ChannelMove>, { is: 'done' }>): Moved {
    this.#parts.sightings.see(channelId, state)
    return { transaction, amount }
  }

  async #alone<T>(
    { kind, voucher: { channelId } }: ChannelPayment,
    from: Holder,
    work: () => Promise<Result<T>>,
  ): Promise<Result<T>> {
    const { store, terms } = this.#parts
    const row = store.peek(channelId as TxId) ?? (await store.tab(channelId as TxId))
    const group = `${kind} ${row !== undefined && row.charged >= dollarAmount(terms.asset, MOVE_MICROS)}`
    if (this.#busy.has(channelId)) return fail(busy(channelId))
    const waitMs = this.#moves.waitMs(from, CHANNEL_MOVES.most)
    if (waitMs > 0) return fail(fault('tabcall/failing', { seconds: Math.ceil(waitMs / 1_000) }))
    const atOnce = [...this.#busy.values()].filter((one) => one === group).length
    if (atOnce >= CHANNEL_MOVES_OF_ALL.atOnce || this.#ofAll.waitMs(group) > 0)
      return fail(fault('channel/chain-away', { detail: `too many ${kind}s are under way` }))
    this.#moves.add(from)
    this.#ofAll.add(group)
    this.#busy.set(channelId, group)
    try {
      return await work()
    } finally {
      this.#busy.delete(channelId)
    }
  }

  /** The channel's state once it is as expected; null if it is not after so many looks. */
  async #until(
    payment: ChannelPayment,
    isExpected: (state: ChannelState) => boolean,
    looks: number,
  ): Promise<ChannelState | null> {
    const { sightings, timers } = this.#parts
    for (let left = looks; left > 0; left--) {
      const state = await sightings.now(payment)
      if (state.ok && isExpected(state.value)) return state.value
      if (left > 1) await new Promise<void>((resolve) => timers.after(LOOK_MS, resolve))
    }
    return null
  }
}

interface Leave {
  readonly amount: bigint
  readonly charged: bigint
  readonly state: ChannelState
  readonly receipts: number
}

/** What was charged on a channel. A seller without a record of it goes on from what was claimed. */
export function chargedOf(row: Pick<TabRow, 'charged'> | undefined, { totalClaimed }: ChannelState): bigint {
  return row !== undefined && row.charged > totalClaimed ? row.charged : totalClaimed
}

/** The fault of a payment on a channel that does something else. */
export function busy(channelId: string): Fault {
  return fault('channel/busy', { channelId })
}

/** Whether a call or a refund of a channel is under way at any replica. */
export function isInUse(row: TabRow | undefined): boolean {
  return row !== undefined && (row.reserved > 0n || row.refundAskedAtMs !== null)
}

function unverified(channelId: string): Fault {
  return fault('channel/unverified', { channelId })
}

function rowOf({ config, voucher }: ChannelPayment, totalClaimed: bigint): ClaimRow {
  return { config, maxClaimable: voucher.maxClaimable, signature: voucher.signature, totalClaimed }
}
