import { join } from 'node:path'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Fields } from '../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type {
  ChainOutcome,
  ChannelChain,
  ChannelMove,
  RefundOrder,
} from '../../marketplace/till/rails/dollar/channel/chain.ts'
import type {
  ChannelPayment,
  ChannelPaymentOf,
  ChannelState,
  ClaimRow,
} from '../../marketplace/till/rails/dollar/channel/channel.ts'
import { ChannelRail } from '../../marketplace/till/rails/dollar/channel/channel-rail.ts'
import { ChannelClaimer } from '../../marketplace/till/rails/dollar/channel/claimer.ts'
import { CountedChain } from '../../marketplace/till/rails/dollar/channel/counted-chain.ts'
import { channelIdOf } from '../../marketplace/till/rails/dollar/channel/digests.ts'
import { channelOffer } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import type { Asker } from '../../marketplace/till/rails/dollar/facilitators.ts'
import type { TabStore } from '../../marketplace/till/rails/tab/tab-store.ts'
import { DEFAULT_MARKET_SETTINGS } from '../../marketplace/till/settings.ts'
import { Workshop } from '../../marketplace/till/workshop.ts'
import { LevelTabStore } from '../../src/storage/level-tabs.ts'
import { CHANNEL_TERMS, type ChannelChange, channelJson, readChannel } from './channel.ts'
import { newPayer, type Payer, PRICE } from './dollar.ts'
import { AGAIN, type MarketParts, TestMarket } from './market.ts'
import { TEST_SIGNER } from './tabs.ts'

const REFUSED = fault('stable/refused', { reason: 'simulation_failed' })
const AWAY = fault('channel/chain-away', { detail: 'it is away' })
const NEW: ChannelState = { balance: 0n, totalClaimed: 0n, withdrawRequestedAt: 0, refundNonce: 0n }

/** How a transaction goes wrong: its end is not told though it is mined, or it is not mined; or it is said to be undone though it is mined. */
export type Mishap = 'untold' | 'lost' | 'denied'

/** The contract of channels as a model in memory, with switches for troubles. */
export class ModelChannels implements ChannelChain {
  readonly states = new Map<string, ChannelState>()
  /** Questions and transactions, in order. */
  readonly asked: string[] = []
  readonly paidOut: bigint[] = []
  /** For whom questions about states were asked. */
  readonly askers: Asker[] = []
  /** Rows of claims: all can read them. */
  readonly published: ClaimRow[] = []
  isAway = false
  mishap: Mishap | null = null
  readonly #salts = new Set<string>()
  #owed = 0n

  /** As facilitators do, it refuses a voucher above what the channel holds. */
  async state(
    { voucher: { channelId, maxClaimable } }: ChannelPayment,
    asker: Asker = {},
  ): Promise<Result<ChannelState>> {
    this.askers.push(asker)
    const known = await this.#tell('state', channelId)
    const isAbove = known.ok && known.value.balance > 0n && maxClaimable > known.value.balance
    return isAbove ? fail(fault('channel/balance', { channelId, maxClaimable: maxClaimable.toString() })) : known
  }

  async verify(payment: ChannelPayment): Promise<Result<ChannelState>> {
    const known = await this.#tell('verify', payment.voucher.channelId)
    const isUsed = payment.kind === 'deposit' && this.#salts.has(payment.deposit.salt)
    return known.ok && isUsed ? fail(REFUSED) : known
  }

  async deposit({ voucher, deposit }: ChannelPaymentOf<'deposit'>): Promise<ChainOutcome<ChannelMove>> {
    const { channelId } = voucher
    return this.#carryOut('deposit', () => {
      if (this.#salts.has(deposit.salt)) return null
      this.#salts.add(deposit.salt)
      const state = this.of(channelId)
      return { amount: deposit.amount, state: this.set(channelId, { balance: state.balance + deposit.amount }) }
    })
  }

  async claim(rows: readonly ClaimRow[]): Promise<ChainOutcome<object>> {
    this.published.push(...rows)
    return this.#carryOut(`claim ${rows.length}`, () => {
      const states = rows.map((row) => ({ row, id: channelIdOf(CHANNEL_TERMS.network.chainId, row.config) }))
      const isWrong = ({ row, id }: (typeof states)[number]): boolean =>
        row.totalClaimed > row.maxClaimable || row.totalClaimed > this.of(id).balance || this.spoilt.has(id)
      if (states.some(isWrong)) return null
      for (const { row, id } of states) this.#book(id, row.totalClaimed)
      return {}
    })
  }

  async settle(): Promise<ChainOutcome<{ readonly amount: bigint | null }>> {
    return this.#carryOut('settle', () => {
      const amount = this.#owed
      this.#owed = 0n
      if (amount > 0n) this.paidOut.push(amount)
      return { amount }
    })
  }

  async refund({ payment, amount, refundNonce, claims }: RefundOrder): Promise<ChainOutcome<ChannelMove>> {
    const { channelId } = payment.voucher
    return this.#carryOut('refund', () => {
      const state = this.of(channelId)
      if (refundNonce !== state.refundNonce) return null
      for (const { totalClaimed } of claims) this.#book(channelId, totalClaimed)
      const balance = state.balance - amount
      return { amount, state: this.set(channelId, { balance, refundNonce: refundNonce + 1n }) }
    })
  }

  /** Channels whose claims the contract refuses. */
  readonly spoilt = new Set<string>()

  of(channelId: string): ChannelState {
    return this.states.get(channelId) ?? NEW
  }

  set(channelId: string, change: Partial<ChannelState>): ChannelState {
    const state = { ...this.of(channelId), ...change }
    this.states.set(channelId, state)
    return state
  }

  #book(channelId: string, totalClaimed: bigint): void {
    const state = this.of(channelId)
    if (totalClaimed <= state.totalClaimed) return
    this.#owed += totalClaimed - state.totalClaimed
    this.set(channelId, { totalClaimed })
  }

  async #tell(what: string, channelId: string): Promise<Result<ChannelState>> {
    this.asked.push(what)
    return this.isAway ? fail(AWAY) : ok(this.of(channelId))
  }

  #carryOut<T extends object>(what: string, work: () => T | null): ChainOutcome<T> {
    this.asked.push(what)
    if (this.isAway) return { is: 'undone', cause: AWAY }
    const { mishap } = this
    this.mishap = null
    const result = mishap === 'lost' ? null : work()
    if (mishap === 'untold' || mishap === 'lost') return { is: 'unknown', detail: mishap, transaction: '0xaa' }
    if (mishap === 'denied' || result === null) return { is: 'undone', cause: REFUSED }
    return { is: 'done', transaction: '0xbb', ...result }
  }
}

/** A payer with a channel, as an official client keeps it. */
export class ModelPayer {
  readonly key: Payer = newPayer()
  charged = 0n

  /** A payment as the node reads it. */
  pay<K extends ChannelPayment['kind']>(kind: K, change: ChannelChange = {}) {
    return readChannel(this.json(kind, change), kind)
  }

  /** A payment as it is on the wire. A ceiling that is not given follows from what was charged. */
  json(kind: ChannelPayment['kind'], change: ChannelChange = {}): Fields {
    const maxClaimable = this.charged + (kind === 'refund' ? 0n : PRICE)
    const json = channelJson(this.key, kind, { maxClaimable, ...change })
    return { ...json, accepted: channelOffer(CHANNEL_TERMS, PRICE) }
  }

  get channelId(): string {
    return this.pay('voucher').voucher.channelId
  }
}

type ClosableTabs = TabStore & { close(): Promise<void> }

/** What a channel seller is made with. */
export interface ChannelSellerParts extends MarketParts {
  readonly unclaimedMax?: bigint
}

const opened: ChannelSeller[] = []

/** A seller that takes channels: a market in this process with a LevelDB of its own. */
export class ChannelSeller {
  readonly market: TestMarket
  readonly channels: ModelChannels
  readonly rail: ChannelRail
  readonly claimer: ChannelClaimer
  readonly counted: CountedChain
  readonly faults: Fault[] = []
  readonly store: ClosableTabs
  readonly #parts: ChannelSellerParts
  #isClosed = false

  private constructor(
    { market, channels, store }: Pick<ChannelSeller, 'market' | 'channels' | 'store'>,
    parts: ChannelSellerParts,
  ) {
    this.market = market
    this.channels = channels
    this.store = store
    this.#parts = parts
    const { chain } = market.test
    this.counted = new CountedChain(channels)
    const shared = { channels: this.counted, store, terms: CHANNEL_TERMS, clock: market.time }
    const unclaimedMax = parts.unclaimedMax ?? 10n * PRICE
    this.rail = new ChannelRail({
      ...{ ...shared, unclaimedMax, chain, shop: market.shop, timers: market.time, signer: TEST_SIGNER },
      settings: { ...DEFAULT_MARKET_SETTINGS, ...parts.settings },
      workshop: new Workshop(chain, market.time),
      closedBecause: () => null,
      isEnding: false,
      onError: (error) => {
        throw error
      },
    })
    this.claimer = new ChannelClaimer({
      ...{ ...shared, unclaimedMax, sightings: this.rail.sightings },
      onFault: (cause) => this.faults.push(cause),
      isHeld: () => false,
    })
    opened.push(this)
  }

  static async open(parts: ChannelSellerParts = {}): Promise<ChannelSeller> {
    const market = await TestMarket.open(parts)
    const store = await LevelTabStore.open(join(market.folder, 'tabs'))
    return new ChannelSeller({ market, channels: new ModelChannels(), store }, parts)
  }

  /** Another replica of the seller, over a store that it shares. */
  static over(parts: Pick<ChannelSeller, 'market' | 'channels' | 'store'>): ChannelSeller {
    return new ChannelSeller(parts, {})
  }

  /** Kills the seller and starts it on what is on disk. The chain stays. */
  async restart(): Promise<ChannelSeller> {
    await this.close()
    const store = await LevelTabStore.open(join(this.market.folder, 'tabs'))
    const next = new ChannelSeller({ market: this.market, channels: this.channels, store }, this.#parts)
    await next.rail.till.resume()
    return next
  }

  call(payment: ChannelPayment, request = 'ok', network = '203.0.113.1') {
    const from = { address: network, network }
    return this.rail.till.settle({ serviceId: AGAIN, request, payment, from })
  }

  /** Makes a call that must be served, and notes what it cost. */
  async served(payer: ModelPayer, kind: 'deposit' | 'voucher' = 'voucher', request = 'ok') {
    const answer = await this.call(payer.pay(kind), request)
    if (!answer.ok || answer.value.claim.state !== 'delivered') throw new Error(JSON.stringify(answer))
    payer.charged += answer.value.claim.receipt.receipt.charged
    return answer.value
  }

  /** Lets the claimer look once, to the end. */
  async claims(): Promise<void> {
    this.claimer.check()
    await this.claimer.idle
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.claimer.stop()
    await this.store.close()
  }
}

/** Closes what the tests of a file opened. */
export async function closeChannelSellers(): Promise<void> {
  for (const seller of opened.splice(0)) await seller.close()
}

/** Waits for looks at the chain whose pauses pass in the time of the test. */
export async function passing<T>(seller: ChannelSeller, work: Promise<T>): Promise<T> {
  let isOver = false
  const ended = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await seller.market.quiet()
    await seller.market.pass(2_000)
  }
  return ended
}
