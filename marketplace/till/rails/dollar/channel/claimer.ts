import type { Clock } from '../../../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../../consensus/primitives/ids.ts'
import { ClaimsAway } from '../../../claim-store.ts'
import { type ClaimCandidate, type ClaimMoment, claimsDue } from '../../tab/claim-policy.ts'
import { isTab, type TabRow, type TabStore } from '../../tab/tab-store.ts'
import { dollarAmount } from '../terms.ts'
import { besideOf } from './call.ts'
import type { ChainOutcome, ChannelChain } from './chain.ts'
import type { ChannelPaymentOf, ChannelState, ClaimRow } from './channel.ts'
import { chargedOf } from './funding.ts'
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
/** A channel whose claim the chain refused is left alone for so long. */
const RETRY_MS = 30 * 60_000
/** A refund of another replica that has not ended by then did not survive. */
const REFUND_MS = 10 * 60_000

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
  #work: Promise<void> = Promise.resolve()
  #isQueued = false
  #stopped = false
  #isFirst = true
  /** Something was claimed that is perhaps not paid out. */
  #isOwed = false

  constructor(parts: ChannelClaimerParts) {
    this.#parts = parts
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
  isUrgent(state: ChannelState, charged: bigint): boolean {
    const unclaimed = charged - state.totalClaimed
    const isNear = unclaimed * 4n >= this.#parts.unclaimedMax * 3n
    return unclaimed > 0n && (state.withdrawRequestedAt !== 0 || isNear)
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
    for (const known of [this.#seen, this.#refusedAtMs])
      for (const tabId of known.keys()) if (!open.has(tabId)) known.delete(tabId)
    const candidates: ClaimCandidate[] = []
    for (const row of ours) {
      const candidate = await this.#candidate(row)
      if (candidate !== null) candidates.push(candidate)
    }
    // A crash may have come between a claim and its payment.
    if (this.#isFirst && ours.length > 0) this.#isOwed = true
    this.#isFirst = false
    const due = new Set(claimsDue(candidates, this.#moment()).map(({ tabId }) => tabId))
    const orders = ours.filter(({ tabId }) => due.has(tabId))
    for (let i = 0; i < orders.length && !this.#stopped; i += CLAIM_ROWS_MAX)
      await this.#claimAll(orders.slice(i, i + CLAIM_ROWS_MAX))
    if (this.#isOwed && !this.#stopped) await this.#settle()
  }

  #isOurs({ voucher }: TabRow): boolean {
    const { terms } = this.#parts
    return voucher !== null && besideOf(voucher).config.receiverAuthorizer === terms.receiverAuthorizer.toLowerCase()
  }

  #moment(): ClaimMoment {
    const { terms, clock, unclaimedMax } = this.#parts
    const fee = (count: number): bigint =>
      dollarAmount(terms.asset, COST_MICROS.claim + BigInt(count) * COST_MICROS.row)
    return { height: seconds(clock), nowMs: clock.now(), fee, riskLimit: unclaimedMax as never }
  }

  /** Null if nothing can be claimed of the channel now. */
  async #candidate(row: TabRow): Promise<ClaimCandidate | null> {
    const { store, clock, terms } = this.#parts
    const { tabId, receipts, finalReceipts } = row
    if (row.refundAskedAtMs !== null && clock.now() - row.refundAskedAtMs > REFUND_MS)
      await store.mark(tabId, { refundAskedAtMs: null })
    const state = await this.#stateOf(row)
    if (state === null || receipts <= finalReceipts) return null
    if (chargedOf(row, state) <= state.totalClaimed) {
      await this.#isFinal(row)
      return null
    }
    if (clock.now() - (this.#refusedAtMs.get(tabId) ?? Number.NEGATIVE_INFINITY) < RETRY_MS) return null
    const [first] = await store.receiptsFrom(tabId, finalReceipts + 1, 1)
    const { withdrawRequestedAt } = state
    // Claims are possible until the payer takes its money, which it may do late.
    const closesAt =
      withdrawRequestedAt === 0 ? 0 : Math.max(withdrawRequestedAt + terms.withdrawDelay, seconds(clock) + 2)
    return {
      ...{ tabId, receipts: receipts - finalReceipts, refundAsked: false, isBusy: false },
      tab: { closesAt, expiresAt: Number.MAX_SAFE_INTEGER, closeDelay: terms.withdrawDelay },
      unclaimed: claimable(row, state) - state.totalClaimed,
      oldestAtMs: first?.receipt.timeMs ?? 0,
    }
  }

  /** The known state, unless it is so old that a withdrawal could go unseen. */
  async #stateOf(row: TabRow): Promise<ChannelState | null> {
    const { sightings, terms, onFault } = this.#parts
    const ageMaxMs = Math.max(SURE_MS / 2, (terms.withdrawDelay * 1_000) / LOOKS_PER_DELAY)
    const wantsProof = this.#seen.has(row.tabId)
    const known = sightings.state(row.tabId)
    if (known !== undefined && sightings.ageMs(row.tabId) < (wantsProof ? SURE_MS / 2 : ageMaxMs)) return known
    const said = await sightings.now(lastOf(row))
    if (said.ok) return said.value
    onFault(said.fault)
    return null
  }

  async #isFinal({ tabId, receipts }: TabRow): Promise<void> {
    const { store, clock } = this.#parts
    const seen = this.#seen.get(tabId)
    if (seen === undefined || seen.receipts !== receipts) this.#seen.set(tabId, { receipts, atMs: clock.now() })
    else if (clock.now() - seen.atMs >= SURE_MS) {
      this.#seen.delete(tabId)
      await store.mark(tabId, { finalReceipts: receipts })
    }
  }

  /** One wrong row would fail them all, so each channel is looked at first. */
  async #claimAll(rows: readonly TabRow[]): Promise<void> {
    const { channels, sightings, onFault } = this.#parts
    const claims = new Map<TxId, ClaimRow>()
    for (const row of rows) {
      const state = await sightings.now(lastOf(row))
      if (!state.ok) onFault(state.fault)
      else if (claimable(row, state.value) > state.value.totalClaimed) claims.set(row.tabId, claimOf(row, state.value))
    }
    if (claims.size === 0) return
    const outcome = await channels.claim([...claims.values()])
    if (outcome.is !== 'undone') {
      this.#isOwed = true
      if (outcome.is === 'unknown') onFault(fault('channel/chain-away', { detail: outcome.detail }))
      for (const tabId of claims.keys()) sightings.doubt(tabId)
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
  return code === 'channel/chain-away' || code === 'stable/facilitator'
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1_000)
}

/** The total that a claim can name: what was charged, within the highest voucher and what the channel holds. */
function claimable(row: TabRow, state: ChannelState): bigint {
  const charged = chargedOf(row, state)
  const ceiling = row.voucher?.ceiling ?? 0n
  const signed = charged < ceiling ? charged : ceiling
  return signed < state.balance ? signed : state.balance
}

function claimOf(row: TabRow, state: ChannelState): ClaimRow {
  const { config, voucher } = lastOf(row)
  const { maxClaimable, signature } = voucher
  return { config, maxClaimable, signature, totalClaimed: claimable(row, state) }
}

/** The payment with the highest voucher of a channel. */
function lastOf({ tabId, voucher }: TabRow): ChannelPaymentOf<'voucher'> {
  const held = voucher as NonNullable<TabRow['voucher']>
  const { ceiling, signature } = held
  return {
    kind: 'voucher',
    config: besideOf(held).config,
    voucher: { channelId: tabId, maxClaimable: ceiling, signature },
    accepted: {},
  }
}
