import type { Clock } from '../../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../../consensus/primitives/ids.ts'
import { ClaimsAway } from '../../../claim-store.ts'
import { type ClaimCandidate, type ClaimMoment, claimsDue } from '../../tab/claim-policy.ts'
import type { HeldVoucher } from '../../tab/tab-call.ts'
import { isTab, type TabRow, type TabStore } from '../../tab/tab-store.ts'
import { dollarAmount } from '../terms.ts'
import { besideOf } from './call.ts'
import type { ChainOutcome, ChannelChain } from './chain.ts'
import type { ChannelPayment, ChannelPaymentOf, ChannelState, ClaimRow } from './channel.ts'
import { ChargedVouchers } from './charged-vouchers.ts'
import { unclaimedMost } from './checks.ts'
import { chargedOf, REFUND_MARK } from './funding.ts'
import type { Sightings } from './sightings.ts'
import type { ChannelTerms } from './terms.ts'

/** What the claimer works with. */
export interface ChannelClaimerParts {
  readonly channels: ChannelChain
  readonly sightings: Sightings
  readonly store: TabStore
  readonly terms: ChannelTerms
  readonly clock: Clock
  readonly unclaimedMax: bigint
  /** Called with the reason why something cannot be claimed now. It is tried again. */
  readonly onFault: (fault: Fault) => void
  /** Whether other replicas may have taken over what is owed here; then nothing is sent. */
  readonly isHeld: () => boolean
}

/** Channels with calls that are not known to be claimed for good, in units, as the claimer saw them last. */
export interface UnclaimedFigures {
  readonly channels: number
  readonly unclaimed: bigint
  /** What these channels hold beyond what is claimed. */
  readonly locked: bigint
}

/** Channels of one claim: facilitators take at least so many. */
export const CLAIM_ROWS_MAX = 25
/**
 * What a claim is taken to cost, in millionths of a dollar: its transaction and that of the payment to the seller, and each channel. Gas is
 * paid in another coin, whose price is not known here.
 */
const COST_MICROS = { claim: 2_000n, row: 200n }
/** A claim counts as final when it is seen again after so long. */
const SURE_MS = 60_000
/** A channel with unclaimed calls is looked at so often in the time that a withdrawal takes. */
const LOOKS_PER_DELAY = 8
/** Channels that are looked at at once. */
const LOOKS_AT_ONCE = 8
/** A channel whose claim the chain refused is left alone for so long at most. */
const RETRY_MS = 30 * 60_000

/** A voucher as a payment. */
type Promised = ChannelPaymentOf<'voucher'>

/** A ceiling of these receipts that the channel does not hold. */
interface TooHigh {
  readonly receipts: number
  readonly ceiling: bigint
}

/** When a claim of these receipts was first seen on the chain. */
interface Seen {
  readonly receipts: number
  readonly atMs: number
}

/**
 * Claims what is charged on channels, and has it paid out. When a claim is due is decided as for tabs. A claim names totals, so it needs no
 * record: after a crash the chain shows what was claimed. Unlike a claim of tabs, it is asked for from a facilitator or sent by a key of
 * another chain, and one wrong row fails all.
 */
export class ChannelClaimer {
  readonly #parts: ChannelClaimerParts
  readonly #seen = new Map<TxId, Seen>()
  readonly #refusedAtMs = new Map<TxId, number>()
  readonly #tooHigh = new Map<TxId, TooHigh>()
  /** Channels whose claim had no known end. One of them may be the cause, so each is claimed alone once. */
  readonly #untold = new Set<TxId>()
  readonly #charged: ChargedVouchers
  #work: Promise<void> = Promise.resolve()
  #isQueued = false
  #stopped = false
  #isFirst = true
  /** Something was claimed that is perhaps not paid out. */
  #isOwed = false
  #figures: UnclaimedFigures = { channels: 0, unclaimed: 0n, locked: 0n }

  constructor(parts: ChannelClaimerParts) {
    this.#parts = parts
    this.#charged = new ChargedVouchers(parts.store)
  }

  /** Looks for what is to be claimed. */
  check(): void {
    if (this.#stopped || this.#isQueued) return
    this.#isQueued = true
    this.#work = this.#work
      .then(() => {
        this.#isQueued = false
        return this.#claim()
      })
      .catch((error: unknown) => {
        if (!(error instanceof ClaimsAway)) throw error
        this.#parts.onFault(error.fault)
      })
  }

  /** Whether a channel is to be claimed at once: it nears the bound of what may be unclaimed, or its payer asked to withdraw. */
  isUrgent(state: ChannelState, charged: bigint, payment: Pick<ChannelPayment, 'config'>): boolean {
    const unclaimed = charged - state.totalClaimed
    const { terms, unclaimedMax } = this.#parts
    const isNear = unclaimed * 4n >= unclaimedMost(payment, terms, unclaimedMax) * 3n
    return unclaimed > 0n && (state.withdrawRequestedAt !== 0 || isNear)
  }

  /** Where replicas share a store, only the one that claims has any. */
  get figures(): UnclaimedFigures {
    return this.#figures
  }

  /** Notes that something was claimed that is to be paid out. */
  owe(): void {
    this.#isOwed = true
    this.check()
  }

  /** Resolves when all that was asked for so far is done. */
  get idle(): Promise<void> {
    return this.#work
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  async #claim(): Promise<void> {
    if (this.#stopped || this.#parts.isHeld()) return
    const rows = (await this.#parts.store.unclaimed()).filter((row) => !isTab(row))
    const ours = rows.filter((row) => this.#isOurs(row))
    const open = new Set(rows.map(({ tabId }) => tabId))
    for (const known of [this.#seen, this.#refusedAtMs, this.#tooHigh, this.#untold])
      for (const tabId of known.keys()) if (!open.has(tabId)) known.delete(tabId)
    for (const row of rows) await this.#liftRefund(row)
    const candidates: ClaimCandidate[] = []
    for (let i = 0; i < ours.length; i += LOOKS_AT_ONCE) {
      const some = await Promise.all(ours.slice(i, i + LOOKS_AT_ONCE).map((row) => this.#candidate(row)))
      candidates.push(...some.filter((candidate) => candidate !== null))
    }
    this.#figures = this.#figuresOf(ours)
    // A crash may have come between a claim and its payment.
    if (this.#isFirst && ours.length > 0) this.#isOwed = true
    this.#isFirst = false
    const due = new Set(claimsDue(candidates, this.#moment()).map(({ tabId }) => tabId))
    const all = ours.filter(({ tabId }) => due.has(tabId))
    const alone = all.filter(({ tabId }) => this.#untold.delete(tabId))
    const orders = all.filter((row) => !alone.includes(row))
    for (const row of alone) if (!this.#stopped) await this.#claimAll([row])
    for (let i = 0; i < orders.length && !this.#stopped; i += CLAIM_ROWS_MAX)
      await this.#claimAll(orders.slice(i, i + CLAIM_ROWS_MAX))
    if (this.#isOwed && !this.#stopped) await this.#settle()
  }

  #figuresOf(rows: readonly TabRow[]): UnclaimedFigures {
    let [channels, unclaimed, locked] = [0, 0n, 0n]
    for (const row of rows) {
      const state = this.#parts.sightings.state(row.tabId)
      const claimed = state?.totalClaimed ?? 0n
      if (row.charged <= claimed) continue
      channels += 1
      unclaimed += row.charged - claimed
      locked += (state?.balance ?? 0n) - claimed
    }
    return { channels, unclaimed, locked }
  }

  /** A refund that no replica sends any more: the next call asks the chain what became of it. */
  async #liftRefund({ tabId, refundAskedAtMs }: TabRow): Promise<void> {
    const { store, clock, sightings } = this.#parts
    if (refundAskedAtMs === null || clock.now() - refundAskedAtMs <= REFUND_MARK.keptMs) return
    sightings.doubt(tabId)
    await store.mark(tabId, { refundAskedAtMs: null })
  }

  #isOurs({ voucher }: TabRow): boolean {
    const { terms } = this.#parts
    return voucher !== null && besideOf(voucher).config.receiverAuthorizer === terms.receiverAuthorizer.toLowerCase()
  }

  #moment(): ClaimMoment {
    const { clock } = this.#parts
    const fee = (count: number): bigint => this.#costOf(count)
    return { height: seconds(clock), nowMs: clock.now(), fee, riskLimit: null }
  }

  #costOf(rows: number): bigint {
    return dollarAmount(this.#parts.terms.asset, COST_MICROS.claim + BigInt(rows) * COST_MICROS.row)
  }

  /** Whether the chain refused what was asked about the channel a short time ago. There is time for some tries before a withdrawal. */
  #isLeftAlone(tabId: TxId): boolean {
    const { clock, terms } = this.#parts
    const pauseMs = Math.min(RETRY_MS, (terms.withdrawDelay * 1_000) / LOOKS_PER_DELAY)
    return clock.now() - (this.#refusedAtMs.get(tabId) ?? Number.NEGATIVE_INFINITY) < pauseMs
  }

  /** Whether less is unclaimed than a claim costs: what is not claimed needs no watch. */
  #isDust(row: TabRow): boolean {
    const state = this.#parts.sightings.state(row.tabId)
    if (state === undefined) return false
    const unclaimed = chargedOf(row, state) - state.totalClaimed
    return unclaimed > 0n && unclaimed < this.#costOf(1)
  }

  /**
   * The payment with the voucher of the newest call that was charged. If that is above what the channel holds, a facilitator does not answer:
   * then an older one is tried at the next look.
   */
  async #promiseOf(row: TabRow): Promise<Promised> {
    const { tabId, receipts } = row
    const tooHigh = this.#tooHigh.get(tabId)
    const lower = tooHigh?.receipts === receipts ? await this.#charged.below(row, tooHigh.ceiling) : null
    const held = lower ?? (await this.#charged.newest(row)) ?? (row.voucher as HeldVoucher)
    return paymentOf(tabId, held)
  }

  /** Null if nothing can be claimed of the channel now. */
  async #candidate(row: TabRow): Promise<ClaimCandidate | null> {
    const { store, clock, terms } = this.#parts
    const { tabId, receipts, finalReceipts } = row
    if (this.#isLeftAlone(tabId) || this.#isDust(row)) return null
    const state = await this.#stateOf(row)
    if (state === null || receipts <= finalReceipts) return null
    if (chargedOf(row, state) <= state.totalClaimed) {
      await this.#isFinal(row)
      return null
    }
    const [first] = await store.receiptsFrom(tabId, finalReceipts + 1, 1)
    const payment = await this.#promiseOf(row)
    const { withdrawRequestedAt } = state
    const isUrgent = this.isUrgent(state, chargedOf(row, state), payment)
    // Claims are possible until the payer takes its money, which it may do late.
    const closesAt = isUrgent ? Math.max(withdrawRequestedAt + terms.withdrawDelay, seconds(clock) + 2) : 0
    return {
      ...{ tabId, receipts: receipts - finalReceipts, refundAsked: false, openedFee: 0n, isBusy: false },
      tab: { closesAt, expiresAt: Number.MAX_SAFE_INTEGER, closeDelay: terms.withdrawDelay },
      unclaimed: claimable(row, payment, state) - state.totalClaimed,
      oldestAtMs: first?.receipt.timeMs ?? 0,
    }
  }

  /** The known state, unless it is so old that a withdrawal could go unseen. */
  async #stateOf(row: TabRow): Promise<ChannelState | null> {
    const { sightings, terms } = this.#parts
    const ageMaxMs = Math.max(SURE_MS / 2, (terms.withdrawDelay * 1_000) / LOOKS_PER_DELAY)
    const wantsProof = this.#seen.has(row.tabId)
    const known = sightings.state(row.tabId)
    if (known !== undefined && sightings.ageMs(row.tabId) < (wantsProof ? SURE_MS / 2 : ageMaxMs)) return known
    return this.#look(row, await this.#promiseOf(row))
  }

  async #look({ tabId, receipts }: TabRow, payment: Promised): Promise<ChannelState | null> {
    const { sightings, onFault, clock } = this.#parts
    const said = await sightings.now(payment)
    if (said.ok) return said.value
    onFault(said.fault)
    if (said.fault.code === 'channel/balance')
      this.#tooHigh.set(tabId, { receipts, ceiling: payment.voucher.maxClaimable })
    if (!isAway(said.fault)) this.#refusedAtMs.set(tabId, clock.now())
    return null
  }

  async #isFinal({ tabId, receipts }: TabRow): Promise<void> {
    const { store, clock } = this.#parts
    const seen = this.#seen.get(tabId)
    if (seen === undefined || seen.receipts !== receipts) this.#seen.set(tabId, { receipts, atMs: clock.now() })
    else if (clock.now() - seen.atMs >= SURE_MS && !this.#isOwed) {
      this.#seen.delete(tabId)
      await store.mark(tabId, { finalReceipts: receipts })
    }
  }

  /** One wrong row would fail them all, so each channel is looked at first. */
  async #claimAll(rows: readonly TabRow[]): Promise<void> {
    const { channels, sightings, onFault } = this.#parts
    const claims = new Map<TxId, ClaimRow>()
    for (const row of rows) {
      const payment = await this.#promiseOf(row)
      const state = await this.#look(row, payment)
      if (state !== null && claimable(row, payment, state) > state.totalClaimed)
        claims.set(row.tabId, claimOf(row, payment, state))
    }
    if (claims.size === 0) return
    const outcome = await channels.claim([...claims.values()])
    if (outcome.is !== 'undone') {
      this.#isOwed = true
      if (outcome.is === 'unknown') onFault(fault('channel/chain-away', { detail: outcome.detail }))
      const isUntold = outcome.is === 'unknown' && outcome.transaction === null && claims.size > 1
      for (const tabId of claims.keys()) {
        sightings.doubt(tabId)
        if (isUntold) this.#untold.add(tabId)
      }
      return
    }
    onFault(outcome.cause)
    if (isAway(outcome.cause)) return
    if (claims.size > 1) for (const row of rows) await this.#claimAll([row])
    else for (const tabId of claims.keys()) this.#refusedAtMs.set(tabId, this.#parts.clock.now())
  }

  async #settle(): Promise<void> {
    const outcome: ChainOutcome<object> = await this.#parts.channels.settle()
    const isNothing = outcome.is === 'undone' && outcome.cause.code === 'channel/nothing-claimed'
    if (outcome.is === 'done' || isNothing) this.#isOwed = false
    else if (outcome.is === 'undone') this.#parts.onFault(outcome.cause)
  }
}

function isAway({ code }: Fault): boolean {
  return code === 'channel/chain-away' || code === 'channel/unverified' || code === 'stable/facilitator'
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1_000)
}

/** The total that a claim can name: what was charged, within the voucher and what the channel holds. */
function claimable(row: TabRow, { voucher }: Promised, state: ChannelState): bigint {
  const charged = chargedOf(row, state)
  const signed = charged < voucher.maxClaimable ? charged : voucher.maxClaimable
  return signed < state.balance ? signed : state.balance
}

function claimOf(row: TabRow, payment: Promised, state: ChannelState): ClaimRow {
  const { maxClaimable, signature } = payment.voucher
  return { config: payment.config, maxClaimable, signature, totalClaimed: claimable(row, payment, state) }
}

function paymentOf(channelId: TxId, held: HeldVoucher): Promised {
  const { ceiling: maxClaimable, signature } = held
  return {
    kind: 'voucher',
    config: besideOf(held).config,
    voucher: { channelId, maxClaimable, signature },
    accepted: {},
  }
}
