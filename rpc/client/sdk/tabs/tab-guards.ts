import { amount } from '../../../../consensus/primitives/amount.ts'
import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import type { AgentId, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import { requestCommitment, requestHash } from '../../../../consensus/tx/request-hash.ts'
import { voucherMessage } from '../../../../consensus/tx/tab-messages.ts'
import { checkAllowed } from '../agreement.ts'
import { FarthingError, PaymentMismatchError, PaymentRequiredError, SpendLimitError } from '../errors.ts'
import { randomHex } from '../quotes.ts'
import { must } from '../refusals.ts'
import type { Quote } from '../shapes.ts'
import { Lanes } from './lanes.ts'
import { KEY_UNKNOWN } from './tab-book.ts'
import type { TabRecordView } from './tab-chain.ts'
import type { TabCore } from './tab-core.ts'
import { TAB_BEHIND, TAB_STOPPED, TabStoppedError } from './tab-errors.ts'
import type { CallNote } from './tab-types.ts'
import type { TabOffer } from './tab-wire.ts'

const IN_FLIGHT_MAX = 8
/** A price above five quarters of the first one needs consent. */
const RISE = { numerator: 5n, denominator: 4n }
/** Blocks before its end in which a tab is not used any more. Sellers take no calls in the last 240, which are for their claim, and those of the work. */
const END_MARGIN_BLOCKS = 300
/** So old a height may be: blocks take seconds, and the margin is a quarter of an hour. */
const HEIGHT_FRESH_MS = 30_000
/** Blocks of that time. */
const PRICE_MARGIN_BLOCKS = 10

/** Whether a price rose so far that it needs consent. */
export function isRise(price: bigint, first: bigint): boolean {
  return price * RISE.denominator > first * RISE.numerator
}

/** The most that a call costs, and in dollars if the seller named them. */
export interface CallPrice {
  readonly amount: bigint
  readonly usd: number | null
  /** Last height at which the seller honours it. */
  readonly validUntil: number
}

/** What stands between a call and its voucher: prices, limits, consent, and room on the deposit. */
export class TabGuards {
  readonly lanes = new Lanes(IN_FLIGHT_MAX)
  /** Whether it is too near its end for further calls. */
  isEnding = false
  readonly #core: TabCore
  /** Services that the client's own node sells for the agent. */
  readonly soldHere = new Set<string>()
  readonly #prices = new Map<string, CallPrice>()
  /** Whether the seller was shown the newest receipt of an earlier process. */
  #isShown = false
  #height = { height: 0, atMs: 0 }

  constructor(core: TabCore) {
    this.#core = core
  }

  /** Errors: `TabStoppedError`, `tab_ended`, `tab_closing`. */
  checkUsable(): void {
    const { stopped } = this.#core.book
    if (stopped?.code === KEY_UNKNOWN) throw new FarthingError(stopped.reason, { code: KEY_UNKNOWN })
    if (stopped !== null)
      throw new TabStoppedError(`this tab is stopped: ${stopped.reason}`, {
        code: stopped.code === TAB_BEHIND ? TAB_BEHIND : TAB_STOPPED,
        evidence: stopped.evidence,
      })
    if (this.#core.book.isOver || this.#core.record === null)
      throw new FarthingError('this tab has ended', { code: 'tab_ended' })
    if (this.#core.record.status !== 'open') throw new FarthingError('this tab is closing', { code: 'tab_closing' })
  }

  /** Asks the seller for its price. Signs nothing. */
  async ask(serviceId: string, request: string): Promise<CallPrice> {
    const offer = await this.#core.seller.offer(serviceId, request)
    this.checkOffer(offer)
    this.soldHere.add(serviceId)
    this.learn(offer)
    return offer
  }

  /** Takes note of an offer. */
  learn({ serviceId, amount: price, usd, validUntil, inFlight }: TabOffer): void {
    this.#prices.set(serviceId, { amount: price, usd, validUntil })
    this.lanes.widen(Math.min(inFlight, IN_FLIGHT_MAX))
  }

  /** The most that a call of a service costs now. Undefined before the first one. */
  priceOf(serviceId: string): CallPrice | undefined {
    return this.#prices.get(serviceId)
  }

  /** Takes note of a price that came with an answer. */
  priced(serviceId: string, price: CallPrice): void {
    this.#prices.set(serviceId, price)
  }

  /** Receipt key and payout of an offer are not looked at: the chain froze them when the tab was opened. */
  checkOffer({ agentId, genesis }: TabOffer): void {
    const { facts } = this.#core.purse.parts
    if (genesis !== null && genesis !== facts.genesis)
      throw new PaymentMismatchError(`the seller is on another network than ${facts.name}`, { code: 'other_network' })
    if (agentId !== this.#core.agentId)
      throw new PaymentMismatchError(`this service is of ${agentId}, the tab is with ${this.#core.agentId}`, {
        code: 'other_agent',
      })
  }

  /**
   * The price of a call, agreed to. One that is remembered and too high is asked for again: it may have come down. So is one
   * whose time is over: where vouchers have room, a seller takes the price of the day.
   */
  async price(serviceId: string, request: string, most: bigint | null): Promise<CallPrice> {
    const known = this.#prices.get(serviceId)
    if (known !== undefined && (await this.#now()) + PRICE_MARGIN_BLOCKS < known.validUntil) {
      try {
        await this.agree(serviceId, known, most)
        return known
      } catch (error) {
        if (!(error instanceof SpendLimitError) || error.code === 'declined') throw error
      }
    }
    const asked = await this.ask(serviceId, request)
    await this.agree(serviceId, asked, most)
    return asked
  }

  /** The guards before a voucher is signed. */
  async agree(serviceId: string, price: Omit<CallPrice, 'validUntil'>, most: bigint | null): Promise<void> {
    const { parts } = this.#core.purse
    const { allow, ceilings, onPay, facts, client } = parts
    parts.checkEnded()
    this.checkUsable()
    const { payout } = this.#core.record as TabRecordView
    checkAllowed('agents', allow.agents, [this.#core.agentId])
    checkAllowed('payTo', allow.payTo, [payout, this.#core.agentId])
    checkAllowed('services', allow.services, [serviceId])
    const perUnit = await this.#core.purse.dollarsPerUnit()
    // The seller's word for what a coin is worth counts only beside that of a node, or a limit in coins.
    const told = perUnit === null ? null : perUnit * Number(price.amount)
    const named = told === null && !ceilings.pinsCoins ? null : price.usd
    const usd = told === null || named === null ? (told ?? named) : Math.max(told, named)
    ceilings.checkCall({ units: price.amount, usd })
    await this.#checkRise(serviceId, price.amount, most)
    const quote: Quote = {
      ...{
        quoteId: randomHex(16),
        serviceId,
        request: null,
        agentId: this.#core.agentId,
        payTo: payout,
        usd,
        nativeUsd: null,
      },
      ...{
        amount: price.amount,
        coins: this.#core.purse.coins(price.amount).split(' ')[0] as string,
        term: 0,
        validUntil: 0,
      },
      ...{ confirmations: 0, genesis: facts.genesis, available: true, unavailableReason: null, requestError: null },
      ...{
        requestDetails: null,
        isCommitted: true,
        url: client.baseUrl,
        askedAtMs: Date.now(),
        offer: { tab: this.#core.tabId },
      },
    }
    if (onPay !== null && (await onPay({ quote, usd })) !== true)
      throw new SpendLimitError('not paid: onPay did not say true', { code: 'declined' })
    if (parts.isDryRun)
      throw new PaymentRequiredError(`a dry run: ${quote.coins} coins were not paid`, { code: 'dry_run', quote })
  }

  /** Takes a number, signs the voucher and notes it: from then on the call can be asked for again after any crash. */
  async sign(serviceId: string, request: string, price: bigint): Promise<CallNote> {
    const key = await this.#core.key()
    await this.#makeRoom(price)
    const placed = this.#core.book.place(price, this.#core.deposit)
    if (placed === null) throw this.#exhausted(price)
    const { seq, ceiling } = placed
    const newest = this.#isShown ? undefined : this.#core.book.receipts.get(this.#core.book.receiptsKnown)
    const secret = randomHex(32)
    const names = { agentId: this.#core.agentId as AgentId, serviceId: serviceId as ServiceId, request }
    const context = requestCommitment(fromHex(secret), names)
    const draft: CallNote = {
      ...{
        what: 'call',
        tabId: this.#core.tabId,
        seq,
        ceiling: ceiling.toString(),
        amount: price.toString(),
        serviceId,
        request,
      },
      ...{
        requestHash: requestHash(names.serviceId, request),
        secret,
        context,
        signature: '',
        transaction: this.#core.fresh,
      },
      ...(newest === undefined ? {} : { lastReceipt: newest }),
      atMs: Date.now(),
    }
    this.#isShown = true
    // The number is taken before anything else can run.
    this.#core.book.take(draft)
    try {
      const message = voucherMessage(this.#core.network, this.#core.tabId as TxId, {
        seq,
        ceiling: amount(ceiling),
        context,
      })
      const call = { ...draft, signature: toHex(await key.sign(message)) }
      await this.#core.purse.keep(call)
      this.#core.book.take(call)
      return call
    } catch (error) {
      this.#core.book.drop(draft)
      throw error
    }
  }

  async #checkRise(serviceId: string, price: bigint, most: bigint | null): Promise<void> {
    const told = this.#core.purse.coins(price)
    if (most !== null && price > most)
      throw new SpendLimitError(`not paid: it costs ${told}, above maxPrice`, { code: 'over_max_price' })
    if (most !== null) return
    const first = await this.#firstPrice(serviceId)
    if (first === null || !isRise(price, first)) return
    const was = this.#core.purse.coins(first)
    const message = `not paid: ${serviceId} costs ${told} now, ${was} when this tab began; agree with maxPrice`
    throw new SpendLimitError(message, { code: 'price_rose' })
  }

  /**
   * The price when the tab began, by the chain: a seller's first word can be anything. A service that the chain does not have
   * is worth nothing without consent. Where no node says what a coin is worth, the first price that was paid. Null: unknown.
   */
  async #firstPrice(serviceId: string): Promise<bigint | null> {
    const { book, purse, tabId, agentId } = this.#core
    if (!book.prices.has(serviceId)) {
      const price = await purse.priceOf(agentId, serviceId)
      if (price === null) return book.firstPrices.get(serviceId) ?? null
      if (price === 0n) return price
      await purse.keep({ what: 'prices', tabId, prices: { [serviceId]: price.toString() } })
      await this.#core.reload()
    }
    return book.prices.get(serviceId) ?? null
  }

  /** Reads the chain again before it says that the deposit is used up: another process may have added to it. */
  async #makeRoom(price: bigint): Promise<void> {
    if (this.#core.book.place(price, this.#core.deposit) === null) await this.#core.look()
    await this.#checkNotEnding()
  }

  /** A height that is at most half a minute old, also where the clock was set back. */
  async #now(): Promise<number> {
    if (Math.abs(Date.now() - this.#height.atMs) > HEIGHT_FRESH_MS)
      this.#height = { height: must(await this.#core.purse.parts.client.status()).height, atMs: Date.now() }
    return this.#height.height
  }

  async #checkNotEnding(): Promise<void> {
    const height = await this.#now()
    if (this.#core.record !== null && height + END_MARGIN_BLOCKS < this.#core.record.endsAt) return
    this.isEnding = true
    const message = `this tab ends at height ${this.#core.record?.endsAt ?? 0}: open another`
    throw new FarthingError(message, { code: 'tab_ending' })
  }

  #exhausted(price: bigint): FarthingError {
    const left = this.#core.purse.coins(this.#core.available)
    const message = `the call costs up to ${this.#core.purse.coins(price)}, the tab has ${left} left: top it up`
    return new SpendLimitError(message, { code: 'tab_exhausted' })
  }
}
