import { amount } from '../../../../consensus/primitives/amount.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { isChatText } from '../../../../marketplace/services/text/chat-line.ts'
import type { NodeAnswer } from '../../http.ts'
import { FarthingError, PaymentRequiredError, SpendLimitError } from '../errors.ts'
import { checkCall, checkNoMore, checkOptions, KIND, TAB_CALL_KINDS } from '../options.ts'
import { errorOfAnswer, must, VOID } from '../refusals.ts'
import { interrupted } from '../settling.ts'
import type { CallResult, Payment } from '../shapes.ts'
import { isOver, pause } from '../waiting.ts'
import { RESULT_EXPIRED, TabAnswers } from './tab-answers.ts'
import { KEY_UNKNOWN, type TabBook } from './tab-book.ts'
import type { TabRecordView } from './tab-chain.ts'
import { TabCore } from './tab-core.ts'
import { TAB_BEHIND, TAB_STOPPED, TabStoppedError } from './tab-errors.ts'
import { TabGuards } from './tab-guards.ts'
import { OTHER_CLIENT, type TabFloor } from './tab-judge.ts'
import type { TabPurse } from './tab-purse.ts'
import { hasReceipt, isFinal, type TabCarrier, UNAVAILABLE } from './tab-seller.ts'
import type { ReceiptsOptions, Tab as TabShape } from './tab-shapes.ts'
import type {
  CallNote,
  CheckedTab,
  MoveNote,
  TabCallOptions,
  TabClosing,
  TabReceiptJson,
  TabStanding,
} from './tab-types.ts'
import { checkTabReceipts, givenReceipts, type VerifyPlace } from './tab-verify.ts'
import { readTabOffer, type TabOffer } from './tab-wire.ts'

/** How often a call gets a new voucher because the seller's price or numbers moved. */
const NEW_VOUCHERS_MAX = 3
/** Pause between two looks for the end of a tab. */
const LOOK_MS = 200
/** The chain has not taken the transaction, and will not. */
const NOT_MINED: ReadonlySet<string> = new Set(['payment_refused', 'payment_failed', VOID])

/** Statuses with which a seller refuses a call, besides 402. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 409, 422])

/** A deposit with one agent, for calls that are answered at once. Made by `openTab`, `tabs` and `recoverTabs` of a client. */
export class Tab implements TabShape {
  readonly tabId: string
  readonly agentId: string
  readonly #core: TabCore
  readonly #guards: TabGuards
  readonly #answers: TabAnswers
  #ready: Promise<void> | null = null
  #isVoid = false

  constructor(purse: TabPurse, book: TabBook) {
    this.#core = new TabCore(purse, book)
    this.#guards = new TabGuards(this.#core)
    this.#answers = new TabAnswers(this.#core, this.#guards)
    this.tabId = this.#core.tabId
    this.agentId = this.#core.agentId
  }

  /** Whether calls can be made: it is not stopped and not over, as far as this client knows. */
  get isUsable(): boolean {
    return (
      !this.#isVoid &&
      this.#core.book.stopped === null &&
      !this.#guards.isEnding &&
      !this.#core.book.isOver &&
      (this.#core.record === null || this.#core.record.status === 'open')
    )
  }

  /** Whether this client stopped using it because of what its seller did. */
  get isStopped(): boolean {
    const { stopped } = this.#core.book
    return (stopped?.code === TAB_STOPPED && stopped.reason !== OTHER_CLIENT) || stopped?.code === TAB_BEHIND
  }

  /** Calls whose outcome is not known. `resume` finishes them. */
  get unanswered(): readonly Payment[] {
    return [...this.#core.book.unresolved.values()].map((call) => this.#core.payment(call))
  }

  /**
   * Makes a call. At most eight run at the same time, further ones wait. Errors: `NotChargedError` if the service failed;
   * `SpendLimitError`; `tab_exhausted`; `TabStoppedError`; `InterruptedPaymentError` if no answer came: `resume` asks again.
   */
  async call<R = unknown>(
    serviceId: string,
    request = '',
    options: TabCallOptions = {},
    ...more: readonly never[]
  ): Promise<CallResult<R>> {
    checkCall('tab.call', serviceId, request, more)
    checkOptions('tab.call', options, TAB_CALL_KINDS)
    const most = options.maxPrice === undefined ? null : this.#core.units('maxPrice', options.maxPrice)
    await this.ready()
    return this.#guards.lanes.run(() => this.#buy<R>(serviceId, request, most))
  }

  /** Makes a call that a carrier takes to the seller. Errors: those of {@link call}. */
  async carried(serviceId: string, request: string, carrier: TabCarrier): Promise<void> {
    await this.ready()
    await this.#guards.lanes.run(() => this.#buy(serviceId, request, null, carrier))
  }

  /**
   * Asks again, with the same bytes, for every call without an answer, or for one. Nothing is charged twice. Gives all
   * answers that came; if none did, it throws the error of the first call.
   */
  async resume<R = unknown>(seq?: number): Promise<readonly CallResult<R>[]> {
    await this.ready()
    const calls = [...this.#core.book.unresolved.values()].filter((call) => seq === undefined || call.seq === seq)
    const ends = await Promise.allSettled(calls.map((call) => this.#guards.lanes.run(() => this.#again<R>(call))))
    const answers = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    const [first] = ends
    if (answers.length === 0 && first?.status === 'rejected') throw first.reason
    return answers
  }

  /** Adds coins, decimal text. They can be used once they are in a block, for which this waits. */
  async topUp(coins: string, ...more: readonly never[]): Promise<TabStanding> {
    checkNoMore('tab.topUp', more)
    const units = this.#core.units('coins', coins)
    await this.ready()
    // What was noted and never sent does not count for the limits.
    await this.isFunding()
    this.#guards.checkUsable()
    const { payout } = this.#core.record as TabRecordView
    const { tx, payment } = await this.#core.purse
      .send({
        ...{ kind: 'tab_fund', payload: { tabId: this.tabId as TxId, amount: amount(units) } },
        ...{ amount: units, locked: () => this.locked + units, agentId: this.agentId, payTo: payout },
        note: (signed, validUntil) => this.#move('fund', signed, { units, validUntil }),
        noted: () => this.#core.reload(),
      })
      .catch((error: unknown) => this.#notFunded(error))
    await this.#core.purse.mined(payment).catch((error: unknown) => this.#notFunded(error))
    this.#core.fresh = tx.txId
    return this.state()
  }

  /** What it holds that was not charged, also where top-ups have no block yet. A node may show less than was sent. */
  get locked(): bigint {
    const { book, deposit } = this.#core
    return (deposit > book.deposited ? deposit : book.deposited) - book.charged
  }

  /** Whether a top-up was sent that the chain does not show yet. */
  async isFunding(): Promise<boolean> {
    await this.#core.look()
    const { book, purse } = this.#core
    if (this.#core.deposit >= book.deposited) return false
    const { client, facts } = purse.parts
    for (const fund of [...book.funds.values()])
      if ((await client.expiredAt({ ...fund, genesis: facts.genesis, sentBy: purse.sentBy(fund) })) !== null)
        await this.#unfund(fund.txId, VOID)
    return this.#core.deposit < book.deposited
  }

  /**
   * Ends the tab. The seller is asked first: it claims what it charged, and the rest is back with that block. If it does not
   * answer, or does not do it in the time for an answer, or with `byChain`, the chain is asked: then the rest is back after
   * the close delay.
   */
  async close(options: { readonly byChain?: boolean } = {}): Promise<TabClosing> {
    checkOptions('tab.close', options, { byChain: KIND.toggle })
    await this.ready()
    const record = this.#core.record as TabRecordView
    if (record.status === 'closing') return this.#closing(null)
    const { closing } = this.#core.book
    if (closing !== null && (await this.#isMined(closing))) return this.#closing(closing.txId)
    const isAsked = options.byChain !== true && this.#core.book.stopped === null
    const asked = isAsked ? await this.#askToClose() : undefined
    if (asked !== undefined && (await this.#hasEnded())) return { by: 'seller', txId: asked, endsAt: record.endsAt }
    const { tx, payment } = await this.#core.purse.send({
      ...{ kind: 'tab_close', payload: { tabId: this.tabId as TxId }, amount: 0n, locked: () => 0n },
      ...{ agentId: this.agentId, payTo: record.payout },
      note: (signed, validUntil) => this.#move('close', signed, { units: 0n, validUntil }),
    })
    await this.#core.purse.mined(payment)
    await this.#core.look()
    return this.#closing(tx.txId)
  }

  /** How it stands, by the chain and by what this client knows. */
  async state(...more: readonly never[]): Promise<TabStanding> {
    checkNoMore('tab.state', more)
    await this.#core.reload()
    const height = await this.#core.purse.height()
    const status = await this.#core.look()
    this.#isVoid = status === 'void'
    const book = this.#core.book
    const available = this.#core.deposit - (book.bound > this.#core.claimed ? book.bound : this.#core.claimed)
    return {
      ...{ tabId: this.tabId, agentId: this.agentId, status, reason: book.stopped?.reason ?? null },
      ...{ deposit: this.#core.deposit, claimed: this.#core.claimed, charged: book.charged, unresolved: book.pending },
      available: this.#core.record === null || status === 'ended' || available < 0n ? 0n : available,
      ...{ receipts: book.receiptsKnown, unanswered: book.unresolved.size },
      ...{ endsAt: this.#core.record?.endsAt ?? 0, height },
    }
  }

  /** Receipts that this client has, in order; with `fromSeller` also those that only the seller has, if it signed them. */
  async receipts(options: ReceiptsOptions = {}): Promise<readonly TabReceiptJson[]> {
    checkOptions('tab.receipts', options, { fromSeller: KIND.toggle })
    await this.#core.reload()
    const own = [...this.#core.book.receipts.values()]
    const given = options.fromSeller === true ? await this.#given(own) : []
    return [...own, ...given].sort((a, b) => a.n - b.n)
  }

  /**
   * Checks all receipts against each other, against every claim on chain, and against the state record. If the seller did
   * not keep to them, the tab is stopped and `evidence` shows it.
   */
  async verifyReceipts(...more: readonly never[]): Promise<CheckedTab> {
    checkNoMore('tab.verifyReceipts', more)
    const own = await this.receipts()
    await this.#core.look()
    const checked = await checkTabReceipts(own, this.#core.receiptKey, await this.#place())
    if (checked.evidence !== null && this.#core.book.stopped === null)
      await this.#core.stop({ reason: checked.evidence.kind, proof: checked.evidence })
    const evidence = checked.evidence ?? this.#core.book.stopped?.evidence ?? null
    if (evidence === null || checked.evidence !== null) return checked
    return { ...checked, ok: false, failed: [...checked.failed, 'stopped'], evidence }
  }

  /** Waits until the opening is in a block. Errors: those of the opening, `tab_ended`, `tab_unconfirmed`. */
  ready(): Promise<void> {
    this.#ready ??= this.#begin().catch((error: unknown) => {
      this.#ready = null
      throw error
    })
    return this.#ready
  }

  /** Compares what the seller says with these notes, and goes on from there. For a wallet without notes. */
  async catchUp(maxUnnoted: bigint): Promise<bigint> {
    await this.#core.look()
    const key = await this.#core.key()
    const { floor } = this.#core.book
    const said = await this.#core.seller.state(this.tabId, key)
    // Another process with the same notes may have made calls meanwhile.
    await this.#core.reload()
    // A seller that does not say how the tab stands may still hold vouchers.
    if (said === null) return 0n
    const isBlank = !this.#core.book.isSettled
    const { at, disbelief } = await this.#answers.judge(said, floor, isBlank)
    if (disbelief !== null) await this.#core.stop(disbelief)
    const unnoted = at.charged - this.#core.book.charged
    if (!isBlank || disbelief !== null || unnoted > maxUnnoted) return unnoted > 0n ? unnoted : 0n
    const ceiling = at.voucher === null ? at.charged : at.voucher.ceiling
    const sums = { charged: at.charged.toString(), receipts: at.receipts, ceiling: ceiling.toString() }
    const nextSeq = this.#answers.believed(at, Math.max(at.voucher?.seq ?? 0, this.#core.record?.receipts ?? 0))
    await this.#core.purse.keep({ what: 'base', tabId: this.tabId, ...sums, nextSeq })
    await this.#core.reload()
    return unnoted
  }

  /** The deposit is mined. Tells the seller with the next call which transaction to wait for. */
  expect(transaction: string): void {
    this.#core.fresh = transaction
  }

  /** The most that a call of this service costs now. Null before the first one. */
  priceOf(serviceId: string): bigint | null {
    return this.#guards.priceOf(serviceId)?.amount ?? null
  }

  /** What is left for calls. */
  get available(): bigint {
    return this.#core.available
  }

  /** A voucher for a call that another client makes: see `nativeTabScheme`. */
  async voucherFor(offer: TabOffer, request: string, most: bigint | null): Promise<CallNote> {
    await this.ready()
    const { serviceId, usd } = offer
    this.#guards.checkOffer(offer)
    // Official clients try again with their first offer, also after the seller told a higher price.
    const isChat = isChatText(request)
    const told = isChat ? 0n : (this.#guards.priceOf(serviceId)?.amount ?? 0n)
    const price = offer.amount > told ? offer.amount : told
    if (most !== null && price > most)
      throw new SpendLimitError('not paid: the price is above the limit of the other client', {
        code: 'over_call_limit',
      })
    // The price of one chat is no rise of another's.
    await this.#guards.agree(serviceId, { amount: price, usd }, isChat ? price : null)
    return this.#guards.sign(serviceId, request, price)
  }

  /** What the seller must know when a question is sent now. */
  get floor(): TabFloor {
    return this.#core.book.floor
  }

  /** A call of another client as the payment by which it is resumed. */
  paymentOf(call: CallNote): Payment {
    return this.#core.payment(call)
  }

  /** Lets a carrier ask for a call of another client until there is a final answer. Errors: `InterruptedPaymentError`. */
  async asked(call: CallNote, carrier: TabCarrier): Promise<void> {
    const patience = this.#core.purse.parts.patience(carrier.signal)
    const answer = await this.#core.seller.call(call, patience, carrier)
    if (!answer.ok || !isFinal(answer.value)) throw interrupted(this.#core.payment(call), answer)
  }

  /** What became of a call of another client that was sent at `floor`. True if the client should ask for the price again. */
  async settled(call: CallNote, answer: NodeAnswer, floor: TabFloor): Promise<boolean> {
    if (hasReceipt(answer)) {
      await this.#answers.accept(call, answer, !('result' in answer.body))
      return false
    }
    // The other client may have asked another server: only the state of the tab refuses.
    if (answer.status !== 402 || !readTabOffer(answer.body, this.#core.purse.parts.facts)?.state) return false
    const price = await this.#answers.refused(call, answer, { floor, isHearsay: true }).catch((error: unknown) => {
      if (error instanceof TabStoppedError) throw error
      return null
    })
    return price !== null
  }

  async #given(own: readonly TabReceiptJson[]): Promise<readonly TabReceiptJson[]> {
    await this.#core.look()
    return givenReceipts(own, this.#core.receiptKey, await this.#place())
  }

  async #place(): Promise<VerifyPlace> {
    const { purse, seller, record, opening, book } = this.#core
    return { purse, seller, key: await this.#core.key(), record, opening, book }
  }

  async #begin(): Promise<void> {
    await this.#core.reload()
    if (!this.#core.book.isSettled && this.#core.book.stopped?.code !== KEY_UNKNOWN)
      throw new FarthingError('this tab was found on the chain: recoverTabs() tells how it stands', {
        code: 'tab_unconfirmed',
      })
    const status = await this.#core.look()
    if (status === 'ended') throw new FarthingError('this tab has ended', { code: 'tab_ended' })
    if (status === 'void') throw new FarthingError('this tab was never opened', { code: 'payment_void' })
    if (status !== 'opening') return
    const { isDryRun } = this.#core.purse.parts
    if (isDryRun)
      throw new PaymentRequiredError('a dry run: the opening of the tab was not sent again', { code: 'dry_run' })
    await this.#core.purse.mined(this.#openingPayment())
    this.#core.fresh = this.tabId
    await this.#core.look()
    if (this.#core.record === null)
      throw new FarthingError('the node does not show the tab yet', { code: 'tab_unknown', retryable: true })
  }

  #openingPayment(): Payment {
    const { tx, validUntil, deposit } = this.#core.opening
    const rest = { secret: '', serviceId: '', request: '', quoteId: '' }
    return { txId: this.tabId, ...rest, amount: BigInt(deposit), tx, validUntil }
  }

  async #buy<R>(
    serviceId: string,
    request: string,
    most: bigint | null,
    carrier: TabCarrier | null = null,
  ): Promise<CallResult<R>> {
    carrier?.signal?.throwIfAborted()
    let price = await this.#guards.price(serviceId, request, most)
    let refused: CallNote | null = null
    for (let left = NEW_VOUCHERS_MAX; ; left--) {
      const call: CallNote = await this.#guards
        .sign(serviceId, request, price.amount)
        .catch((error: unknown) => this.#afterVoucher(error, refused))
      const floor = this.#core.book.floor
      const answer = await this.#exchange(call, carrier)
      if (hasReceipt(answer)) return this.#answers.accept<R>(call, answer)
      const next = await this.#answers.refused(call, answer, { floor })
      if (next === null || left === 0) throw errorOfAnswer(answer, this.#core.payment(call))
      refused = call
      price = next
      await this.#guards.agree(serviceId, price, most).catch((error: unknown) => this.#afterVoucher(error, call))
    }
  }

  /** The seller has a voucher for this call: no other payment must be made for it. The error names that voucher. */
  #afterVoucher(error: unknown, call: CallNote | null): never {
    if (call === null || !(error instanceof FarthingError)) throw error
    throw Object.assign(error, { payment: this.#core.payment(call) })
  }

  async #again<R>(call: CallNote): Promise<CallResult<R>> {
    await this.#checkSeller(call)
    const floor = this.#core.book.floor
    const answer = await this.#exchange(call)
    if (hasReceipt(answer)) return this.#answers.accept<R>(call, answer)
    await this.#answers.refused(call, answer, { floor })
    throw errorOfAnswer(answer)
  }

  /** A call of another client may have gone to a server that is not this node. Its voucher is for the seller alone. */
  async #checkSeller(call: CallNote): Promise<void> {
    const { soldHere } = this.#guards
    if (soldHere.has(call.serviceId)) return
    if ((await this.#core.seller.agentOf(call)) !== this.agentId) throw interrupted(this.#core.payment(call))
    soldHere.add(call.serviceId)
  }

  async #exchange(call: CallNote, carrier: TabCarrier | null = null): Promise<NodeAnswer> {
    const patience = this.#core.purse.parts.patience(carrier?.signal)
    const answer = await this.#core.seller.call(call, patience, carrier)
    const isFinal = answer.ok && (hasReceipt(answer.value) || !this.#isUnclear(answer.value, carrier))
    if (!isFinal) throw interrupted(this.#core.payment(call), answer)
    return answer.value
  }

  /** What a carrier brings may be the word of another server, which kept the answer: only the state of the tab refuses. */
  #isUnclear(answer: NodeAnswer, carrier: TabCarrier | null): boolean {
    if (carrier === null || isUnclear(answer)) return isUnclear(answer)
    return !readTabOffer(answer.body, this.#core.purse.parts.facts)?.state
  }

  async #unfund(txId: string, code: string): Promise<void> {
    await this.#core.purse.keep({ what: 'refused', tabId: this.tabId, context: txId, code })
    await this.#core.reload()
  }

  /** Whether the chain ends the tab while there is time for an answer. */
  async #hasEnded(): Promise<boolean> {
    const patience = this.#core.purse.parts.patience()
    for (;;) {
      if ((await this.#core.look()) === 'ended') return true
      if (isOver(patience)) return false
      await pause(LOOK_MS, patience.signal)
    }
  }

  async #notFunded(error: unknown): Promise<never> {
    if (!(error instanceof FarthingError) || error.payment === null || !NOT_MINED.has(error.code)) throw error
    await this.#unfund(error.payment.txId, error.code)
    throw error
  }

  async #askToClose(): Promise<string | null | undefined> {
    const [called] = this.#core.book.firstPrices.keys()
    const serviceId = called ?? [...must(await this.#core.purse.chain.agent(this.agentId)).prices.keys()][0]
    if (serviceId === undefined) return undefined
    return this.#core.seller.refund(this.tabId, serviceId, await this.#core.key()).catch(() => undefined)
  }

  #closing(txId: string | null): TabClosing {
    return { by: 'chain', txId, endsAt: this.#core.record?.endsAt ?? 0 }
  }

  /** Waits for a close that an earlier process noted, and sends it if that one did not. False if it is too late for it. */
  async #isMined({ txId, tx, validUntil }: MoveNote): Promise<boolean> {
    const names = { txId, secret: '', serviceId: '', request: '', quoteId: '' }
    try {
      await this.#core.purse.mined({ ...names, amount: 0n, tx, validUntil })
    } catch (error) {
      if (error instanceof FarthingError && NOT_MINED.has(error.code)) return false
      throw error
    }
    await this.#core.look()
    return this.#core.record?.status !== 'open'
  }

  #move(
    what: 'fund' | 'close',
    tx: Transaction,
    { units, validUntil }: { readonly units: bigint; readonly validUntil: number },
  ) {
    const sent = { txId: tx.txId, tx: toHex(encodeTransaction(tx)), validUntil }
    return { what, tabId: this.tabId, amount: units.toString(), ...sent, atMs: Date.now() } as const
  }
}

/**
 * Whether an answer leaves open what became of the call. A seller refuses with 402, or with some statuses under an id of the
 * request; whatever else comes may be from a server on the way, or from a node that failed after its work.
 */
function isUnclear({ status, body }: NodeAnswer): boolean {
  if (body.code === RESULT_EXPIRED) return false
  if (status === 429 || status === 503) return body.code !== UNAVAILABLE
  if (status === 402) return body.code === 'payment_unconfirmed' || body.code === 'payment_not_found'
  return !REFUSALS.has(status) || typeof body.requestId !== 'string'
}
