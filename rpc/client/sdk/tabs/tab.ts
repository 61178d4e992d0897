import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import { amount, parseAmount } from '../../../../consensus/primitives/amount.ts'
import { fromHex, toHex, ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { AgentId, Hash, ServiceId, TxId } from '../../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { requestCommitment, requestHash } from '../../../../consensus/tx/request-hash.ts'
import { voucherMessage } from '../../../../consensus/tx/tab-messages.ts'
import { encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { fieldsOf, type NodeAnswer } from '../../http.ts'
import { checkAllowed } from '../agreement.ts'
import {
  FarthingError,
  PaymentMismatchError,
  PaymentRequiredError,
  SpendLimitError,
  VerificationError,
} from '../errors.ts'
import { checkCall, checkGiven, checkNoMore, checkOptions, invalid, KIND, TAB_CALL_KINDS } from '../options.ts'
import { randomHex } from '../quotes.ts'
import { receiptOf } from '../receipts.ts'
import { errorOfAnswer, must } from '../refusals.ts'
import { interrupted } from '../settling.ts'
import type { CallResult, Payment, Quote, Receipt, VerifiedReceipt } from '../shapes.ts'
import { Lanes } from './lanes.ts'
import type { TabBook } from './tab-book.ts'
import type { TabRecordView } from './tab-chain.ts'
import { NotChargedError, TabStoppedError } from './tab-errors.ts'
import { type Disbelief, disbeliefOf, type TabFloor } from './tab-judge.ts'
import { randomSeed, type TabKey, tabKeyOf } from './tab-key.ts'
import type { TabPurse } from './tab-purse.ts'
import { isReceiptOf, readReceipt } from './tab-receipts.ts'
import { hasReceipt, signingNetworkOf, TabSeller, UNAVAILABLE } from './tab-seller.ts'
import type { Tab as TabShape } from './tab-shapes.ts'
import type {
  CallNote,
  CheckedTab,
  OpeningNote,
  TabCallOptions,
  TabClosing,
  TabEvidence,
  TabReceiptJson,
  TabStanding,
} from './tab-types.ts'
import { checkTabReceipts } from './tab-verify.ts'
import { nextPriceIn, readTabOffer, type SaidState, type TabOffer } from './tab-wire.ts'

/** How often a call gets a new voucher because the seller's price or numbers moved. */
const NEW_VOUCHERS_MAX = 3
const IN_FLIGHT_MAX = 8
/** Most receipts that are looked through for a lost one. */
const LOST_MAX = 10_000
/** A price above five quarters of the first one needs consent. */
const RISE = { numerator: 5n, denominator: 4n }
/** Blocks before its end in which a tab is not used any more: the seller needs them for its last claim. */
const END_MARGIN_BLOCKS = 60
/** So old a height may be: blocks take seconds, and the margin is three minutes. */
const HEIGHT_FRESH_MS = 30_000

/** A voucher's seed that no journal has: the wallet derives it. */
export async function seedOf(purse: TabPurse, opening: Pick<OpeningNote, 'seed' | 'nonce'>): Promise<Uint8Array> {
  if (opening.seed !== null) return fromHex(opening.seed)
  const { wallet, parts } = purse
  if (wallet.voucherSeed === undefined)
    throw new FarthingError('the voucher key of this tab is not known to this wallet', { code: 'key_unknown' })
  return wallet.voucherSeed(parts.facts.genesis, BigInt(opening.nonce))
}

/** A seed for the tab that the wallet opens with this nonce, and what the journal must keep of it. */
export async function newSeed(
  purse: TabPurse,
  nonce: bigint,
): Promise<{ readonly seed: Uint8Array; readonly kept: string | null }> {
  const { wallet, parts } = purse
  if (wallet.voucherSeed !== undefined)
    return { seed: await wallet.voucherSeed(parts.facts.genesis, nonce), kept: null }
  const seed = randomSeed()
  return { seed, kept: toHex(seed) }
}

/** A deposit with one agent, for calls that are answered at once. Made by `openTab`, `tabs` and `recoverTabs` of a client. */
export class Tab implements TabShape {
  readonly tabId: string
  readonly agentId: string
  readonly #purse: TabPurse
  readonly #seller: TabSeller
  readonly #book: TabBook
  readonly #opening: OpeningNote
  readonly #lanes = new Lanes(IN_FLIGHT_MAX)
  readonly #prices = new Map<string, { readonly amount: bigint; readonly usd: number | null }>()
  #record: TabRecordView | null = null
  /** The opening or top-up that the seller may not have seen yet. */
  #fresh: string | null = null
  /** Whether the seller was shown the newest receipt of an earlier process. */
  #isShown = false
  #height = { height: 0, atMs: 0 }
  #key: Promise<TabKey> | null = null
  #ready: Promise<void> | null = null

  constructor(purse: TabPurse, book: TabBook) {
    const { opening } = book
    if (opening === null) throw new FarthingError('the journal does not know this tab', { code: 'tab_unknown' })
    this.#purse = purse
    this.#seller = new TabSeller(purse.parts)
    this.#book = book
    this.#opening = opening
    this.tabId = opening.tabId
    this.agentId = opening.agentId
  }

  /** Whether calls can be made: it is not stopped and not over, as far as this client knows. */
  get isUsable(): boolean {
    return (
      this.#book.stopped === null && !this.#book.isOver && (this.#record === null || this.#record.status === 'open')
    )
  }

  /** Calls whose outcome is not known. `resume` finishes them. */
  get unanswered(): readonly Payment[] {
    return [...this.#book.unresolved.values()].map((call) => this.#payment(call))
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
    const most = options.maxPrice === undefined ? null : this.#units('maxPrice', options.maxPrice)
    await this.ready()
    return this.#lanes.run(() => this.#buy<R>(serviceId, request, most))
  }

  /** Asks again, with the same bytes, for every call without an answer, or for one. Nothing is charged twice. */
  async resume<R = unknown>(seq?: number): Promise<readonly CallResult<R>[]> {
    await this.ready()
    const calls = [...this.#book.unresolved.values()].filter((call) => seq === undefined || call.seq === seq)
    return Promise.all(calls.map((call) => this.#lanes.run(() => this.#again<R>(call))))
  }

  /** Adds coins, decimal text. They can be used once they are in a block, for which this waits. */
  async topUp(coins: string, ...more: readonly never[]): Promise<TabStanding> {
    checkNoMore('tab.topUp', more)
    const units = this.#units('coins', coins)
    await this.ready()
    this.#checkUsable()
    const { payout } = this.#record as TabRecordView
    const locked = this.#deposit - this.#book.charged + units
    const { tx, payment } = await this.#purse.send({
      ...{ kind: 'tab_fund', payload: { tabId: this.tabId as TxId, amount: amount(units) } },
      ...{ amount: units, locked, agentId: this.agentId, payTo: payout },
      note: (signed, validUntil) => this.#move('fund', signed, { units, validUntil }),
    })
    await this.#purse.mined(payment)
    this.#fresh = tx.txId
    return this.state()
  }

  /**
   * Ends the tab. The seller is asked first: it claims what it charged, and the rest is back with that block. If it does not
   * answer, or with `byChain`, the chain is asked: then the rest is back after the close delay.
   */
  async close(options: { readonly byChain?: boolean } = {}): Promise<TabClosing> {
    checkOptions('tab.close', options, { byChain: KIND.toggle })
    await this.ready()
    const record = this.#record as TabRecordView
    const asked = options.byChain === true || this.#book.stopped !== null ? undefined : await this.#askToClose()
    if (asked !== undefined) return { by: 'seller', txId: asked, endsAt: record.endsAt }
    const { tx, payment } = await this.#purse.send({
      ...{ kind: 'tab_close', payload: { tabId: this.tabId as TxId }, amount: 0n, locked: 0n },
      ...{ agentId: this.agentId, payTo: record.payout },
      note: (signed, validUntil) => this.#move('close', signed, { units: 0n, validUntil }),
    })
    await this.#purse.mined(payment)
    await this.#look()
    return { by: 'chain', txId: tx.txId, endsAt: this.#record?.endsAt ?? 0 }
  }

  /** How it stands, by the chain and by what this client knows. */
  async state(...more: readonly never[]): Promise<TabStanding> {
    checkNoMore('tab.state', more)
    await this.#reload()
    const height = await this.#purse.height()
    const status = await this.#look()
    const book = this.#book
    const available = this.#deposit - (book.bound > this.#claimed ? book.bound : this.#claimed)
    return {
      ...{ tabId: this.tabId, agentId: this.agentId, status, reason: book.stopped?.reason ?? null },
      ...{ deposit: this.#deposit, claimed: this.#claimed, charged: book.charged, unresolved: book.pending },
      available: this.#record === null || status === 'ended' || available < 0n ? 0n : available,
      ...{ receipts: book.receiptsKnown, unanswered: book.unresolved.size },
      ...{ endsAt: this.#record?.endsAt ?? 0, height },
    }
  }

  /** Receipts that this client has, in order. */
  async receipts(): Promise<readonly TabReceiptJson[]> {
    await this.#reload()
    return [...this.#book.receipts.values()].sort((a, b) => a.n - b.n)
  }

  /**
   * Checks all receipts against each other, against every claim on chain, and against the state record. If the seller did
   * not keep to them, the tab is stopped and `evidence` shows it.
   */
  async verifyReceipts(...more: readonly never[]): Promise<CheckedTab> {
    checkNoMore('tab.verifyReceipts', more)
    const own = await this.receipts()
    await this.#look()
    const place = { purse: this.#purse, seller: this.#seller, key: await this.key(), record: this.#record }
    const checked = await checkTabReceipts(own, this.#receiptKey, { ...place, opening: this.#opening })
    if (checked.evidence !== null && this.#book.stopped === null)
      await this.#stop({ reason: checked.evidence.kind, kind: checked.evidence.kind }, checked.evidence)
    return checked
  }

  /** The voucher key. */
  key(): Promise<TabKey> {
    this.#key ??= seedOf(this.#purse, this.#opening).then(tabKeyOf)
    return this.#key
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
    await this.#look()
    const key = await this.key()
    const said = await this.#seller.state(this.tabId, key)
    const claimed = { charged: this.#claimed, receipts: this.#record?.receipts ?? 0 }
    const at = said ?? { ...claimed, deposit: this.#deposit, nextSeq: 0, voucher: null, lastReceipt: null }
    const isBlank = !this.#book.isSettled
    const disbelief = said === null ? null : await this.#judge(said, this.#book.floor, isBlank)
    if (disbelief !== null) await this.#stop(disbelief, null, said)
    const unnoted = at.charged - this.#book.charged
    if (!isBlank || disbelief !== null || unnoted > maxUnnoted) return unnoted > 0n ? unnoted : 0n
    const ceiling = at.voucher === null ? at.charged : at.voucher.ceiling
    const sums = { charged: at.charged.toString(), receipts: at.receipts, ceiling: ceiling.toString() }
    await this.#purse.keep({ what: 'base', tabId: this.tabId, ...sums, nextSeq: at.nextSeq })
    await this.#reload()
    return unnoted
  }

  /** The deposit is mined. Tells the seller with the next call which transaction to wait for. */
  expect(transaction: string): void {
    this.#fresh = transaction
  }

  /** The most that a call of this service costs now. Null before the first one. */
  priceOf(serviceId: string): bigint | null {
    return this.#prices.get(serviceId)?.amount ?? null
  }

  /** What is left for calls. */
  get available(): bigint {
    const left = this.#deposit - this.#book.bound
    return left > 0n ? left : 0n
  }

  /** A voucher for a call that another client makes: see `nativeTabScheme`. */
  async voucherFor(offer: TabOffer, request: string): Promise<CallNote> {
    await this.ready()
    const { serviceId, usd } = offer
    this.#checkOffer(offer)
    // Official clients try again with their first offer, also after the seller told a higher price.
    const told = this.#prices.get(serviceId)?.amount ?? 0n
    const price = offer.amount > told ? offer.amount : told
    await this.#agree(serviceId, { amount: price, usd }, null)
    return this.#sign(serviceId, request, price)
  }

  /** What became of a call of another client. True if the client should ask for the price again. */
  async settled(call: CallNote, answer: NodeAnswer): Promise<boolean> {
    if (hasReceipt(answer)) {
      await this.#accept(call, answer, false)
      return false
    }
    if (answer.status !== 402) return false
    const price = await this.#refused(call, answer, this.#book.floor).catch((error: unknown) => {
      if (error instanceof TabStoppedError) throw error
      return null
    })
    return price !== null
  }

  get #deposit(): bigint {
    return this.#record?.deposit ?? BigInt(this.#opening.deposit)
  }

  get #claimed(): bigint {
    return this.#record?.claimed ?? 0n
  }

  /** The key that the chain froze at the opening; never one from an offer. */
  get #receiptKey(): string {
    return this.#record?.receiptKey ?? this.#opening.receiptKey
  }

  async #begin(): Promise<void> {
    await this.#reload()
    if (!this.#book.isSettled)
      throw new FarthingError('this tab was found on the chain: recoverTabs() tells how it stands', {
        code: 'tab_unconfirmed',
      })
    const status = await this.#look()
    if (status === 'ended') throw new FarthingError('this tab has ended', { code: 'tab_ended' })
    if (status === 'void') throw new FarthingError('this tab was never opened', { code: 'payment_void' })
    if (status !== 'opening') return
    await this.#purse.mined(this.#openingPayment())
    this.#fresh = this.tabId
    await this.#look()
    if (this.#record === null)
      throw new FarthingError('the node does not show the tab yet', { code: 'tab_unknown', retryable: true })
  }

  /** If a reorganisation takes the end back, the chain ends the tab again. */
  async #end(): Promise<void> {
    if (this.#book.isOver) return
    this.#book.isOver = true
    await this.#purse.keep({ what: 'end', tabId: this.tabId, atMs: Date.now() })
  }

  /** Reads the record of the chain. */
  async #look(): Promise<TabStanding['status']> {
    const record = must(await this.#purse.chain.tab(this.tabId))
    if (record !== undefined) {
      this.#checkRecord(record)
      this.#record = record
      if (record.status === 'ended') await this.#end()
      return this.#book.stopped !== null && record.status !== 'ended' ? 'stopped' : record.status
    }
    const { client, facts } = this.#purse.parts
    const { validUntil } = this.#opening
    const gone = { txId: this.tabId, validUntil, genesis: facts.genesis }
    return (await client.expiredAt(gone)) === null ? 'opening' : 'void'
  }

  /** The record is of this opening. Payout and receipt key are the chain's: no offer can change them. */
  #checkRecord({ voucherKey, agentId }: TabRecordView): void {
    if (voucherKey === this.#opening.voucherKey && agentId === this.agentId) return
    throw new PaymentMismatchError('the node shows another tab under this id', { code: 'other_tab' })
  }

  #openingPayment(): Payment {
    const { tx, validUntil, deposit } = this.#opening
    const rest = { secret: '', serviceId: '', request: '', quoteId: '' }
    return { txId: this.tabId, ...rest, amount: BigInt(deposit), tx, validUntil }
  }

  async #reload(): Promise<void> {
    this.#book.readAll(await this.#purse.notes.read(this.tabId))
  }

  #units(name: string, coins: string): bigint {
    checkGiven('tab', name, coins, KIND.text)
    const parsed = parseAmount(coins, this.#purse.parts.facts.decimals)
    if (!parsed.ok || parsed.value === 0n) throw invalid(`tab: ${name} must be coins as decimal text`)
    return parsed.value
  }

  #checkUsable(): void {
    const { stopped } = this.#book
    if (stopped !== null)
      throw new TabStoppedError(`this tab is stopped: ${stopped.reason}`, {
        ...{ code: 'tab_stopped', evidence: stopped.evidence },
      })
    if (this.#book.isOver || this.#record === null) throw new FarthingError('this tab has ended', { code: 'tab_ended' })
    if (this.#record.status !== 'open') throw new FarthingError('this tab is closing', { code: 'tab_closing' })
  }

  async #buy<R>(serviceId: string, request: string, most: bigint | null): Promise<CallResult<R>> {
    let price = this.#prices.get(serviceId) ?? (await this.#ask(serviceId, request))
    for (let left = NEW_VOUCHERS_MAX; ; left--) {
      await this.#agree(serviceId, price, most)
      const call = await this.#sign(serviceId, request, price.amount)
      const floor = this.#book.floor
      const answer = await this.#exchange(call)
      if (hasReceipt(answer)) return this.#accept<R>(call, answer)
      const next = await this.#refused(call, answer, floor)
      if (next === null || left === 0) throw errorOfAnswer(answer)
      price = next
    }
  }

  async #again<R>(call: CallNote): Promise<CallResult<R>> {
    const floor = this.#book.floor
    const answer = await this.#exchange(call)
    if (hasReceipt(answer)) return this.#accept<R>(call, answer)
    await this.#refused(call, answer, floor)
    throw errorOfAnswer(answer)
  }

  async #ask(serviceId: string, request: string): Promise<{ readonly amount: bigint; readonly usd: number | null }> {
    const offer = await this.#seller.offer(serviceId, request)
    this.#checkOffer(offer)
    this.#learn(offer)
    return { amount: offer.amount, usd: offer.usd }
  }

  #learn({ serviceId, amount: price, usd, inFlight }: TabOffer): void {
    this.#prices.set(serviceId, { amount: price, usd })
    this.#lanes.widen(Math.min(inFlight, IN_FLIGHT_MAX))
  }

  /** Receipt key and payout of an offer are not looked at: the chain froze them when the tab was opened. */
  #checkOffer({ agentId, genesis }: TabOffer): void {
    const { facts } = this.#purse.parts
    if (genesis !== null && genesis !== facts.genesis)
      throw new PaymentMismatchError(`the seller is on another network than ${facts.name}`, { code: 'other_network' })
    if (agentId !== this.agentId)
      throw new PaymentMismatchError(`this service is of ${agentId}, the tab is with ${this.agentId}`, {
        code: 'other_agent',
      })
  }

  /** The guards before a voucher is signed. */
  async #agree(
    serviceId: string,
    price: { readonly amount: bigint; readonly usd: number | null },
    most: bigint | null,
  ): Promise<void> {
    const { parts } = this.#purse
    const { allow, ceilings, onPay, facts, client } = parts
    parts.checkEnded()
    this.#checkUsable()
    const { payout } = this.#record as TabRecordView
    checkAllowed('agents', allow.agents, [this.agentId])
    checkAllowed('payTo', allow.payTo, [payout, this.agentId])
    checkAllowed('services', allow.services, [serviceId])
    const perUnit = await this.#purse.dollarsPerUnit()
    const prices = [price.usd, perUnit === null ? null : perUnit * Number(price.amount)].filter((usd) => usd !== null)
    const usd = prices.length === 0 ? null : Math.max(...prices)
    ceilings.checkCall({ units: price.amount, usd })
    this.#checkRise(serviceId, price.amount, most)
    const quote: Quote = {
      ...{
        quoteId: randomHex(16),
        serviceId,
        request: null,
        agentId: this.agentId,
        payTo: payout,
        usd,
        nativeUsd: null,
      },
      ...{
        amount: price.amount,
        coins: this.#purse.coins(price.amount).split(' ')[0] as string,
        term: 0,
        validUntil: 0,
      },
      ...{ confirmations: 0, genesis: facts.genesis, available: true, unavailableReason: null, requestError: null },
      ...{
        requestDetails: null,
        isCommitted: true,
        url: client.baseUrl,
        askedAtMs: Date.now(),
        offer: { tab: this.tabId },
      },
    }
    if (onPay !== null && (await onPay({ quote, usd })) !== true)
      throw new SpendLimitError('not paid: onPay did not say true', { code: 'declined' })
    if (parts.isDryRun)
      throw new PaymentRequiredError(`a dry run: ${quote.coins} coins were not paid`, { code: 'dry_run', quote })
  }

  #checkRise(serviceId: string, price: bigint, most: bigint | null): void {
    const told = this.#purse.coins(price)
    if (most !== null && price > most)
      throw new SpendLimitError(`not paid: it costs ${told}, above maxPrice`, { code: 'over_max_price' })
    const first = this.#book.firstPrices.get(serviceId)
    if (most !== null || first === undefined || price * RISE.denominator <= first * RISE.numerator) return
    const was = this.#purse.coins(first)
    const message = `not paid: ${serviceId} costs ${told} now, ${was} when this tab began; agree with maxPrice`
    throw new SpendLimitError(message, { code: 'price_rose' })
  }

  /** Takes a number, signs the voucher and notes it: from then on the call can be asked for again after any crash. */
  async #sign(serviceId: string, request: string, price: bigint): Promise<CallNote> {
    const key = await this.key()
    await this.#makeRoom(price)
    const placed = this.#book.place(price, this.#deposit)
    if (placed === null) throw this.#exhausted(price)
    const { seq, ceiling } = placed
    const newest = this.#isShown ? undefined : this.#book.receipts.get(this.#book.receiptsKnown)
    const secret = randomHex(32)
    const names = { agentId: this.agentId as AgentId, serviceId: serviceId as ServiceId, request }
    const context = requestCommitment(fromHex(secret), names)
    const draft: CallNote = {
      ...{
        what: 'call',
        tabId: this.tabId,
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
        transaction: this.#fresh,
      },
      ...(newest === undefined ? {} : { lastReceipt: newest }),
      atMs: Date.now(),
    }
    this.#isShown = true
    // The number is taken before anything else can run.
    this.#book.take(draft)
    try {
      const network = signingNetworkOf(this.#purse.parts.facts)
      const message = voucherMessage(network, this.tabId as TxId, { seq, ceiling: amount(ceiling), context })
      const call = { ...draft, signature: toHex(await key.sign(message)) }
      this.#book.take(call)
      await this.#purse.keep(call)
      return call
    } catch (error) {
      this.#book.drop(draft)
      throw error
    }
  }

  /** Reads the chain again before it says that the deposit is used up: another process may have added to it. */
  async #makeRoom(price: bigint): Promise<void> {
    if (this.#book.place(price, this.#deposit) === null) await this.#look()
    await this.#checkNotEnding()
  }

  async #checkNotEnding(): Promise<void> {
    if (Date.now() - this.#height.atMs > HEIGHT_FRESH_MS)
      this.#height = { height: must(await this.#purse.parts.client.status()).height, atMs: Date.now() }
    const { height } = this.#height
    if (this.#record !== null && height + END_MARGIN_BLOCKS < this.#record.endsAt) return
    const message = `this tab ends at height ${this.#record?.endsAt ?? 0}: open another`
    throw new FarthingError(message, { code: 'tab_ending' })
  }

  #exhausted(price: bigint): FarthingError {
    const left = this.#purse.coins(this.available)
    const message = `the call costs up to ${this.#purse.coins(price)}, the tab has ${left} left: top it up`
    return new SpendLimitError(message, { code: 'tab_exhausted' })
  }

  async #exchange(call: CallNote): Promise<NodeAnswer> {
    const answer = await this.#seller.call(call, this.#purse.parts.patience())
    const isFinal = answer.ok && (hasReceipt(answer.value) || !isUnclear(answer.value))
    if (!isFinal) throw interrupted(this.#payment(call), answer)
    return answer.value
  }

  #payment({ seq, secret, serviceId, request, amount: most }: CallNote): Payment {
    const names = { txId: this.tabId, secret, serviceId, request, quoteId: `${this.tabId}:${seq}` }
    return { ...names, amount: BigInt(most), tx: null, validUntil: 0 }
  }

  /** Checks and notes the receipt of a call. Errors: `NotChargedError`, and `VerificationError` with the tab stopped. */
  async #accept<R>(call: CallNote, { status, body, settled = {} }: NodeAnswer, isSeen = true): Promise<CallResult<R>> {
    const receipt = readReceipt(fieldsOf(body.receipt).tab)
    const answer = { result: body.result as R, receipt: receiptOf(body) }
    const network = signingNetworkOf(this.#purse.parts.facts)
    const isSigned = receipt !== undefined && (await isReceiptOf(network, this.#receiptKey, receipt))
    if (receipt === undefined || !isSigned) {
      const reason = 'an answer came without a receipt of the seller'
      await this.#stop({ reason, kind: null }, null)
      throw this.#unverified(call, answer, reason)
    }
    const wrong = misfitOf(call, receipt, isSeen ? { result: body.result } : null)
    if (wrong !== null) {
      const kind = 'a receipt that does not fit its call'
      await this.#stop({ reason: wrong, kind }, this.#evidence(kind, [receipt], { call: { ...call, secret: '' } }))
      throw this.#unverified(call, answer, wrong)
    }
    await this.#checkAgainstOthers(call, receipt, answer)
    const isNew = this.#book.receiptOf(receipt.seq) === undefined
    if (isNew) await this.#purse.keep({ what: 'receipt', tabId: this.tabId, receipt })
    this.#book.file(receipt)
    if (this.#fresh === call.transaction) this.#fresh = null
    const next = nextPriceIn(settled)
    if (next !== null) this.#prices.set(call.serviceId, { amount: next, usd: null })
    const payment = { ...this.#payment(call), amount: BigInt(receipt.charged) }
    if (receipt.outcome === 1) {
      const { message, code, details } = errorOfAnswer({ status, body })
      throw new NotChargedError(`${message.replace(/\.?$/, '.')} Nothing was charged.`, {
        ...{ code, details, status, payment, receipt },
      })
    }
    const facts = { tabId: this.tabId, seq: call.seq, charged: BigInt(receipt.charged), receipt }
    return { ...answer, payment, verified: VERIFIED, tab: facts }
  }

  /** A second look at the journal: another process with the same notes may have made calls. */
  async #checkAgainstOthers(
    call: CallNote,
    receipt: TabReceiptJson,
    answer: { readonly result: unknown; readonly receipt: Receipt },
  ): Promise<void> {
    if (this.#book.contradiction(receipt) === null) return
    await this.#reload()
    const found = this.#book.contradiction(receipt)
    if (found === null) return
    await this.#stop({ reason: found.kind, kind: found.kind }, this.#evidence(found.kind, found.with, null))
    throw this.#unverified(call, answer, found.kind)
  }

  #unverified(
    call: CallNote,
    answer: { readonly result: unknown; readonly receipt: Receipt },
    reason: string,
  ): VerificationError {
    const verified = { ok: false, failed: ['receiptMatches'], checks: { ...VERIFIED.checks, receiptMatches: false } }
    const payment = this.#payment(call)
    const message = `the answer does not verify: ${reason}; the tab is stopped, close it`
    return new VerificationError(message, { code: 'unverified', status: 200, ...answer, payment, verified })
  }

  /**
   * A refusal: the call was not served. The price at which to try again, or null if there is no use. Errors:
   * `TabStoppedError` if what the seller says of the tab cannot be believed.
   */
  async #refused(
    call: CallNote,
    { body }: NodeAnswer,
    floor: TabFloor,
  ): Promise<{ readonly amount: bigint; readonly usd: number | null } | null> {
    const code = typeof body.code === 'string' ? body.code : 'refused'
    if (code === 'result_expired') {
      await this.#fetchLost()
      return null
    }
    const offer = readTabOffer(body, this.#purse.parts.facts)
    const said = offer?.state ?? null
    if (said !== null) {
      // Another process with the same notes may have taken the number.
      await this.#reload()
      const disbelief = await this.#judge(said, floor, false)
      if (disbelief !== null) await this.#stopAndThrow(disbelief, said)
      this.#book.skipTo(said.nextSeq)
      if (await this.#wasServed(call, said)) return null
    }
    await this.#purse.keep({ what: 'refused', tabId: this.tabId, context: call.context, code })
    this.#book.refuse(call, code)
    if (offer === undefined || said === null || offer.serviceId !== call.serviceId) return null
    this.#checkOffer(offer)
    if (!offer.available) return null
    this.#learn(offer)
    return { amount: offer.amount, usd: offer.usd }
  }

  /**
   * Whether a refused call was served before, as where its answer was lost and its result is deleted by now. Then what the
   * seller says was charged is only explained by it, and the seller has its receipt.
   */
  async #wasServed(call: CallNote, said: SaidState): Promise<boolean> {
    if (said.charged <= this.#book.boundWithout(call) && said.lastReceipt?.context !== call.context) return false
    await this.#fetchLost()
    if (this.#book.receiptOf(call.seq)?.context === call.context) return true
    if (said.charged <= this.#book.boundWithout(call)) return false
    const kind = 'more charged than asked'
    return this.#stopAndThrow({ reason: `it charged ${said.charged}, and has no receipts for it`, kind }, said)
  }

  /** Asks the seller for receipts of calls without an answer. Numbers have holes where calls ran side by side. */
  async #fetchLost(): Promise<void> {
    const known = this.#book.receipts
    let from = this.#book.base.receipts + 1
    while (known.has(from)) from += 1
    const given = await this.#seller.receipts(this.tabId, await this.key(), from, LOST_MAX)
    for (const receipt of given) await this.#fileLost(receipt)
  }

  /** Notes the receipt of an own call whose answer was lost. */
  async #fileLost(receipt: TabReceiptJson): Promise<void> {
    const call = this.#book.unresolved.get(receipt.context)
    if (call === undefined || misfitOf(call, receipt, null) !== null) return
    const network = signingNetworkOf(this.#purse.parts.facts)
    if (!(await isReceiptOf(network, this.#receiptKey, receipt)) || this.#book.contradiction(receipt) !== null) return
    await this.#purse.keep({ what: 'receipt', tabId: this.tabId, receipt })
    this.#book.file(receipt)
  }

  #judge(said: SaidState, floor: TabFloor, anyCharge: boolean): Promise<Disbelief | null> {
    const { tabId } = this
    const network = signingNetworkOf(this.#purse.parts.facts)
    const basis = { network, tabId, voucherKey: this.#opening.voucherKey, receiptKey: this.#receiptKey }
    return disbeliefOf(said, this.#book, { basis, floor, anyCharge })
  }

  async #stopAndThrow(disbelief: Disbelief, said: SaidState): Promise<never> {
    await this.#stop(disbelief, null, said)
    const { stopped } = this.#book
    const message = `not believed: ${disbelief.reason}. Nothing more is signed for this tab; close it`
    throw new TabStoppedError(message, { code: 'tab_stopped', evidence: stopped?.evidence ?? null })
  }

  async #stop({ reason, kind }: Disbelief, evidence: TabEvidence | null, said: SaidState | null = null): Promise<void> {
    const newest = this.#book.receipts.get(this.#book.receiptsKnown)
    const shown = [said?.lastReceipt, newest].filter((each) => each !== undefined && each !== null)
    const told =
      said === null
        ? null
        : { charged: said.charged.toString(), receipts: said.receipts, lastReceipt: said.lastReceipt }
    const proof = evidence ?? (kind === null ? null : this.#evidence(kind, shown, told))
    const note = {
      what: 'stop',
      tabId: this.tabId,
      code: 'tab_stopped',
      reason,
      evidence: proof,
      atMs: Date.now(),
    } as const
    this.#book.stopped ??= note
    await this.#purse.keep(note)
  }

  #evidence(kind: TabEvidence['kind'], receipts: readonly TabReceiptJson[], said: TabEvidence['said']): TabEvidence {
    const { genesis, chainId } = this.#purse.parts.facts
    const { voucherKey } = this.#opening
    const names = { tabId: this.tabId, agentId: this.agentId, receiptKey: this.#receiptKey, voucherKey }
    return { kind, genesis, chainId, ...names, receipts, said }
  }

  async #askToClose(): Promise<string | null | undefined> {
    const [called] = this.#book.firstPrices.keys()
    const serviceId = called ?? must(await this.#purse.chain.agent(this.agentId)).services[0]
    if (serviceId === undefined) return undefined
    return this.#seller.refund(this.tabId, serviceId, await this.key()).catch(() => undefined)
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

/** Checks of a receipt on a tab that all hold. Proof of its block comes with a claim. */
const VERIFIED: VerifiedReceipt = {
  ok: true,
  failed: [],
  checks: {
    ...{ paymentInBlock: null, headerWork: null, resultHash: true, receiptMatches: true, requestHash: true },
    secondNode: null,
  },
}

/** Whether an answer leaves open what became of the call. */
function isUnclear({ status, body }: NodeAnswer): boolean {
  if (status === 429 || status === 503) return body.code !== UNAVAILABLE
  if (status === 402) return body.code === 'payment_unconfirmed' || body.code === 'payment_not_found'
  return status < 400 || (status >= 500 && typeof body.code !== 'string')
}

/** Why a receipt is not of a call and its answer. Null if it is. An answer that was not seen is null, and is not compared. */
function misfitOf(call: CallNote, receipt: TabReceiptJson, answer: { readonly result: unknown } | null): string | null {
  const { tabId, seq, serviceId, context, charged, outcome, resultHash } = receipt
  if (tabId !== call.tabId || seq !== call.seq) return 'the receipt is of another call'
  if (serviceId !== call.serviceId || context !== (call.context as Hash)) return 'the receipt is of another request'
  if (BigInt(charged) > BigInt(call.amount)) return 'the receipt charges more than the call was offered for'
  if (outcome === 1) return charged === '0' && resultHash === ZERO_HEX_32 ? null : 'the receipt charges a failed call'
  if (answer === null) return null
  const { result } = answer
  const isItsResult = result !== undefined && taggedHashHex('result', encodeText(JSON.stringify(result))) === resultHash
  return isItsResult ? null : 'the receipt is of another result'
}
