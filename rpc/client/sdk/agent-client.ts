import { formatAddress } from '../../../consensus/crypto/address.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import { type AccountSigner, addressOfSigner } from '../../../consensus/tx/sign.ts'
import { askNode, fieldsOf, postJson, type Transport } from '../http.ts'
import { NodeClient } from '../node-client.ts'
import { baseOf } from './agreement.ts'
import { Ceilings } from './ceilings.ts'
import { CoinPrice } from './dollars.ts'
import { FarthingError, InterruptedPaymentError, PaymentRequiredError, VerificationError } from './errors.ts'
import { followEvents } from './event-feed.ts'
import { memoryJournal, withFaults } from './journal.ts'
import { payingTools } from './mcp.ts'
import { factsOf } from './networks.ts'
import {
  ALLOW_KINDS,
  AUTOMATIC_KINDS,
  CEILING_KINDS,
  checkCall,
  checkGiven,
  checkNoMore,
  checkOptions,
  EVENT_KINDS,
  FILTER_KINDS,
  KIND,
  type Kinds,
  PAID_FETCH_KINDS,
  PAID_TOOLS_KINDS,
} from './options.ts'
import { type PaidFetchParts, payingFetch } from './paid-fetch.ts'
import { committedText, Payer, type PayerParts } from './payer.ts'
import { readQuote } from './quotes.ts'
import { checkReceipt, receiptOf } from './receipts.ts'
import { errorOfAnswer, errorOfFault } from './refusals.ts'
import { awaitMined, interrupted, isEnd, requestOf, type SettlePlace, settlePayment, stateAfter } from './settling.ts'
import type {
  AllowList,
  CallResult,
  CeilingOptions,
  EventOptions,
  Intention,
  NetworkFacts,
  NetworkName,
  NodeEvent,
  PaidCallStatus,
  PaidFetchOptions,
  PaidToolsOptions,
  Payment,
  PaymentJournal,
  PaymentRecord,
  PaymentState,
  Quote,
  Receipt,
  ServiceEntry,
  Signer,
  ToolCaller,
  VerifiedReceipt,
} from './shapes.ts'
import { TAB_URL } from './tabs/tab-purse.ts'
import type { TabCarrier } from './tabs/tab-seller.ts'
import type { RecoverOptions, Tab } from './tabs/tab-shapes.ts'
import type { AutomaticTabs, CallNote, RecoveredTab, TabOptions } from './tabs/tab-types.ts'
import { readTabOffer, voucherPayload } from './tabs/tab-wire.ts'
import { isFallback, Tabs } from './tabs/tabs.ts'
import type { Patience } from './waiting.ts'

/** Options of a client. Only `baseUrl` is required. Without a wallet, a client can quote and read. */
export interface ClientOptions extends CeilingOptions {
  /** The node that gets the calls and the payment transactions. */
  readonly baseUrl: string
  readonly wallet?: Signer
  /** Default `mainnet`. A node of another network is never paid. */
  readonly network?: NetworkName | NetworkFacts
  /** Sellers that may be paid. Default: all. */
  readonly allow?: AllowList
  /** Address of a second node. Its coin price counts too, and it must have the block of a receipt. */
  readonly secondNode?: string
  /** Where payments are recorded before they are sent. Default: memory, which ends with the process. */
  readonly journal?: PaymentJournal
  readonly fetch?: typeof globalThis.fetch
  /** Ends all requests and waits. */
  readonly signal?: AbortSignal
  /** Runs the guards on a quote but signs and pays nothing: a call ends with `PaymentRequiredError`, code `dry_run`. */
  readonly dryRun?: boolean
  /** Called before anything is signed. The client pays only if it returns `true` or a promise of `true`. */
  readonly onPay?: (intention: Intention) => boolean | Promise<boolean>
  /** Milliseconds in which a paid call is repeated before it counts as interrupted. Default 300,000. */
  readonly settleMs?: number
  /** Whether paid answers are verified. Default true. */
  readonly verify?: boolean
  /** Opens a tab after the third call to one agent, and uses it from then on. Default: no tab is opened by itself. */
  readonly tabs?: AutomaticTabs
}

/** An answer of a seller. */
interface SellerAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** What the header PAYMENT-RESPONSE says. */
  readonly settled?: Readonly<Record<string, unknown>>
  /** When the seller wants to be asked again. */
  readonly retryAfterMs?: number
}

/** Another client, by which a call is sent. */
interface OtherClient {
  /** The address that it sends the call to. */
  readonly url: string
  /** Ends the waiting. */
  readonly signal: AbortSignal
  /** Sends the call with this payment once. Null if no answer came. */
  readonly send: (payment: Readonly<Record<string, unknown>>) => Promise<SellerAnswer | null>
}

/** A payment from a tab for a call that another client makes. */
export interface TabProof {
  /** The member `payload` of the payment. */
  readonly payload: Readonly<Record<string, unknown>>
  /** The call, for {@link AgentClient.resume}. */
  readonly payment: Payment
  /** Has the call sent, always with the same payment, until there is a final answer. Errors: `InterruptedPaymentError`. */
  readonly ask: (by: OtherClient) => Promise<void>
  /** Takes the answer; `body.result`, if it is there, is compared with the receipt. True if the call should be asked for anew. */
  readonly settled: (answer: SellerAnswer) => Promise<boolean>
}

/** A payment to resume. Its id is enough if the journal has it. */
export type Resumable = Pick<Payment, 'txId'> & Partial<Payment>

const SETTLE_MS = 300_000
/** How the payment of a call on a tab is named. */
const TAB_CALL_ID = /^([0-9a-f]{64}):([0-9]{1,10})$/
const OPTION_KINDS: Kinds<Required<ClientOptions>> = {
  ...{ baseUrl: KIND.text, wallet: KIND.signer, network: KIND.network, allow: KIND.fields },
  ...{
    secondNode: KIND.text,
    journal: KIND.journal,
    fetch: KIND.work,
    signal: KIND.signal,
    dryRun: KIND.toggle,
    onPay: KIND.work,
  },
  ...{ settleMs: KIND.count, verify: KIND.toggle, tabs: KIND.fields, ...CEILING_KINDS },
}

/** Makes a client. Errors: `invalid_option`. */
export function createClient(options: ClientOptions): AgentClient {
  return new AgentClient(options)
}

function checkAutomatic(tabs: AutomaticTabs): void {
  checkOptions('tabs', tabs, AUTOMATIC_KINDS)
  checkGiven('tabs', 'maxDeposit', tabs.maxDeposit, AUTOMATIC_KINDS.maxDeposit)
}

function carrierBy({ url, signal, send }: OtherClient): TabCarrier {
  const nothing = fail(fault('cli/node-unreachable', { url, advice: '' }))
  return {
    ...{ url, signal },
    carry: async (payment) => {
      const answer = await send(payment)
      return answer === null ? nothing : ok(answer)
    },
  }
}

/**
 * A buyer of services. Failures are thrown as {@link FarthingError}. Methods that quote or pay refuse surplus arguments (`invalid_option`),
 * since a limit among them would have no effect.
 */
export class AgentClient {
  readonly #baseUrl: string
  readonly #options: ClientOptions
  readonly #facts: NetworkFacts
  readonly #transport: Transport
  readonly #client: NodeClient
  readonly #journal: PaymentJournal
  readonly #payer: Payer
  readonly #tabs: Tabs
  /** Quotes that this client fetched from its own node. No field of a quote could prove that. */
  readonly #own = new WeakSet<Quote>()

  constructor(options: ClientOptions) {
    checkOptions('createClient', options, OPTION_KINDS)
    checkOptions('allow', options.allow ?? {}, ALLOW_KINDS)
    if (options.tabs !== undefined) checkAutomatic(options.tabs)
    checkGiven('createClient', 'baseUrl', options.baseUrl, KIND.text)
    this.#options = options
    this.#baseUrl = baseOf(options.baseUrl)
    this.#facts = factsOf(options.network ?? 'mainnet')
    const { fetch, signal } = options
    this.#transport = { ...(fetch && { fetch }), ...(signal && { signal }) }
    this.#client = new NodeClient(this.#baseUrl, this.#transport)
    this.#journal = withFaults(options.journal ?? memoryJournal())
    const parts: PayerParts = {
      facts: this.#facts,
      client: this.#client,
      wallet: options.wallet ?? null,
      ceilings: new Ceilings(options, this.#facts),
      allow: options.allow ?? {},
      journal: this.#journal,
      price: new CoinPrice(this.#transport),
      second: this.#secondNode === null ? null : new NodeClient(this.#secondNode, this.#transport),
      isDryRun: options.dryRun ?? false,
      onPay: options.onPay ?? null,
      isOwn: (quote) => this.#own.has(quote),
      // The URL may come from a hostile seller. That is safe: the new quote can only cause a refusal.
      requote: (quote) =>
        quote.url === this.#callUrl(quote.serviceId)
          ? this.quote(quote.serviceId, quote.request ?? '')
          : Promise.resolve(quote),
      checkEnded: () => this.#checkEnded(),
    }
    this.#payer = new Payer(parts)
    const inTurn: Payer['inTurn'] = (work) => this.#payer.inTurn(work)
    const more = { transport: this.#transport, inTurn, patience: (ofCall?: AbortSignal) => this.#patience(ofCall) }
    this.#tabs = new Tabs({ ...parts, ...more }, options.tabs ?? null, parts.ceilings.perCall)
  }

  get network(): NetworkFacts {
    return this.#facts
  }

  /** The paying address. Null without a wallet. */
  get address(): string | null {
    const { wallet } = this.#options
    return wallet === undefined
      ? null
      : formatAddress(this.#facts.addressPrefix, addressOfSigner(wallet as AccountSigner))
  }

  /** Services of the node. An unavailable one has its reason. */
  async services(filter: { readonly capability?: string; readonly q?: string } = {}): Promise<readonly ServiceEntry[]> {
    checkOptions('services', filter, FILTER_KINDS)
    const given = Object.entries(filter).filter(([, value]) => value !== undefined) as [string, string][]
    const { services } = await this.#document(`/services.json?${new URLSearchParams(given)}`)
    if (!Array.isArray(services)) throw new FarthingError('the node lists no services', { code: 'node_refused' })
    return services as readonly ServiceEntry[]
  }

  /** Asks for the price of a call. An unavailable service may have a quote, too, which `pay` refuses. */
  async quote(serviceId: string, request = '', ...more: readonly never[]): Promise<Quote> {
    checkCall('quote', serviceId, request, more)
    const path = `/api/x402/${encodeURIComponent(serviceId)}`
    const answer = await postJson(this.#baseUrl, path, { request }, this.#transport)
    if (!answer.ok) throw errorOfFault(answer.fault)
    if (answer.value.status !== 402) throw errorOfAnswer(answer.value)
    const basis = {
      ...{ request, url: this.#callUrl(serviceId) },
      ...{ nowMs: Date.now(), facts: this.#facts },
    }
    const quote = readQuote(answer.value.body, serviceId, basis)
    this.#own.add(quote)
    return quote
  }

  /**
   * Pays a quote once, within the ceilings and the allow-list. The payment commits to the request, is locked to a fresh secret, and is in
   * the journal before it is sent. Errors: `SpendLimitError`, `PaymentRequiredError`, `PaymentMismatchError`, with nothing sent;
   * `payment_refused` if the node refuses it; `InterruptedPaymentError` if it was sent and no answer came.
   */
  async pay(quote: Quote, ...more: readonly never[]): Promise<Payment> {
    checkGiven('pay', 'quote', quote, KIND.quote)
    checkNoMore('pay', more)
    const { record, arrived } = await this.#payer.pay(quote)
    if (!arrived) throw interrupted(record)
    return record
  }

  /** Waits for the payment's block and for the paid answer. Errors: `RefundedError`, `InterruptedPaymentError` and more. */
  async settle<R = unknown>(quote: Quote, payment: Payment, ...more: readonly never[]): Promise<CallResult<R>> {
    checkGiven('settle', 'quote', quote, KIND.quote)
    checkGiven('settle', 'payment', payment, KIND.payment)
    checkNoMore('settle', more)
    if (payment.serviceId !== quote.serviceId || payment.request !== quote.request)
      throw new FarthingError('this payment is not for this quote', { code: 'invalid_option', payment })
    return this.#settle(payment)
  }

  /** Quotes, pays and settles. If no answer comes after the payment, pass the error's `payment` to {@link resume}. */
  async call<R = unknown>(serviceId: string, request = '', ...more: readonly never[]): Promise<CallResult<R>> {
    checkCall('call', serviceId, request, more)
    const onTab = await this.#callOnTab<R>(serviceId, request)
    if (onTab !== null) return onTab
    const quote = await this.quote(serviceId, request)
    const { record } = await this.#payer.pay(quote)
    const answer = await this.#settle<R>(record)
    this.#tabs.counted(quote.agentId, serviceId)
    return answer
  }

  /**
   * Locks a deposit with an agent for many calls that are answered at once, and waits for its block. The deposit counts for the
   * limits. Errors: `no_tab_terms`, `deposit_low`, `over_tab_limit`, and those of a payment.
   */
  openTab(agentId: string, options: TabOptions, ...more: readonly never[]): Promise<Tab> {
    checkGiven('openTab', 'agentId', agentId, KIND.text)
    return this.#tabs.open(agentId, options, ...more)
  }

  /** The tabs that the journal knows, those that have ended too. */
  tabs(...more: readonly never[]): Promise<readonly Tab[]> {
    checkNoMore('tabs', more)
    return this.#tabs.list()
  }

  /** One of the tabs that the journal knows. Errors: `tab_unknown`. */
  async tab(tabId: string, ...more: readonly never[]): Promise<Tab> {
    checkGiven('tab', 'tabId', tabId, KIND.text)
    checkNoMore('tab', more)
    const tab = await this.#tabs.find(tabId)
    if (tab !== undefined) return tab
    throw new FarthingError('the journal does not know this tab: see recoverTabs', { code: 'tab_unknown' })
  }

  /** An open tab with an agent. Null if there is none. */
  async tabWith(agentId: string, ...more: readonly never[]): Promise<Tab | null> {
    checkGiven('tabWith', 'agentId', agentId, KIND.text)
    checkNoMore('tabWith', more)
    return (await this.#tabs.usable(agentId)) ?? null
  }

  /**
   * Finds the tabs of this wallet on the chain, also without a journal, and asks their sellers how they stand. A wallet of
   * several keys and a remote signer find only what their journal knows.
   */
  recoverTabs(options: RecoverOptions = {}, ...more: readonly never[]): Promise<readonly RecoveredTab[]> {
    return this.#tabs.recover(options, ...more)
  }

  /**
   * Pays an offer of a tab for a call that another client makes: see `nativeTabScheme`. `maxUnits`: the most, in base units.
   * Errors: `no_tab`, `over_call_limit`, those of a call.
   */
  async tabProof(
    offer: Readonly<Record<string, unknown>>,
    request: string,
    maxUnits: bigint | null = null,
  ): Promise<TabProof> {
    const read = readTabOffer({ accepts: [offer] }, this.#facts)
    if (read === undefined)
      throw new PaymentRequiredError('this is no offer of tabs that this client understands', { code: 'no_tab_offer' })
    const tab = await this.#tabs.forOffer(read, request)
    const call: CallNote = await tab.voucherFor(read, request, maxUnits)
    const { floor } = tab
    return {
      payload: voucherPayload(call),
      payment: tab.paymentOf(call),
      ask: (by) => tab.asked(call, carrierBy(by)),
      settled: (answer) => tab.settled(call, answer, floor),
    }
  }

  /**
   * Finishes a call that this or another process paid. Pays nothing. Of a deposit in a tab it waits for the block, and its `result` is null. Errors: `payment_unknown` if the journal lacks it;
   * `request_unknown` if it commits to no request and none is given: `resume({ ...payment, request })`.
   */
  async resume<R = unknown>(payment: Resumable, ...more: readonly never[]): Promise<CallResult<R>> {
    checkGiven('resume', 'payment', payment, KIND.payment)
    checkNoMore('resume', more)
    const onTab = await this.#resumedOnTab<R>(payment)
    if (onTab !== null) return onTab
    const deposit = await this.#resumedDeposit<R>(payment)
    if (deposit !== null) return deposit
    const kept = await this.#kept(payment, ![payment.secret, payment.serviceId, payment.request].includes(undefined))
    const { secret, serviceId, request } = { ...kept, ...payment }
    if (secret === undefined || serviceId === undefined || request === undefined) {
      const message = 'the journal does not know this payment; give secret, serviceId and request with it'
      throw new FarthingError(message, { code: 'payment_unknown' })
    }
    const rest = { quoteId: '', amount: 0n, tx: null, validUntil: 0, ...payment, ...kept }
    return this.#settle({ ...rest, secret, serviceId, request })
  }

  /**
   * Payments of the last `hours` (default 24) that have no final answer yet and can be resumed. A payment without a known
   * request is redeemed by another client, so the node is asked whether its call has ended.
   */
  async unfinished(hours = 24): Promise<readonly Payment[]> {
    checkGiven('unfinished', 'hours', hours, KIND.count)
    const records = await this.#journal.since(Date.now() - hours * 3_600_000)
    const open = records.filter(({ state }) => state === 'signed' || state === 'submitted')
    const ends = await Promise.all(open.map((record) => record.request === null && this.#isEnded(record)))
    return open.filter((_, i) => !ends[i])
  }

  /** State of a paid call with its refund, by the word of the node. */
  async receipt(txId: string): Promise<PaidCallStatus> {
    checkGiven('receipt', 'txId', txId, KIND.text)
    return (await this.#document(`/api/x402/requests/${encodeURIComponent(txId)}`)) as PaidCallStatus
  }

  /**
   * Checks a receipt and its result without trusting any node. They are compared with the given payment, or else with the one in the
   * journal. Errors: `payment_unknown`.
   */
  async verifyReceipt(receipt: Receipt, result: unknown, payment?: Payment): Promise<VerifiedReceipt> {
    checkGiven('verifyReceipt', 'receipt', receipt, KIND.fields)
    const kept = await this.#kept({ txId: String(receipt.txId) }, payment !== undefined && this.address !== null)
    const paid = payment ?? kept
    const caller = kept?.sender ?? this.address
    if (paid === undefined || caller === null)
      throw new FarthingError('the journal does not know this payment: give it', { code: 'payment_unknown' })
    return this.#verified({ result, receipt }, paid, caller)
  }

  /** Events of the node until the signal ends them. A lost connection is resumed after the last event. */
  events(options: EventOptions = {}): AsyncGenerator<NodeEvent, void, undefined> {
    checkOptions('events', options, EVENT_KINDS)
    return followEvents(this.#baseUrl, this.#transport, options)
  }

  /** A `fetch` that pays native x402 offers of any server within the ceilings. */
  wrapFetch(
    fetch: typeof globalThis.fetch = globalThis.fetch,
    options: PaidFetchOptions = {},
  ): typeof globalThis.fetch {
    checkGiven('wrapFetch', 'fetch', fetch, KIND.work)
    checkOptions('wrapFetch', options, PAID_FETCH_KINDS)
    return payingFetch(fetch, this.#paidParts(), options)
  }

  /**
   * `callTool` of an official MCP client (either release line) that pays native offers within the ceilings. Calls are paid
   * from tabs only where `url` says that the client speaks with this client's own node.
   */
  mcp<C extends ToolCaller>(
    client: C,
    options: PaidToolsOptions = {},
    ...more: readonly never[]
  ): { readonly callTool: C['callTool'] } {
    checkGiven('mcp', 'client', client, KIND.tools)
    checkOptions('mcp', options, PAID_TOOLS_KINDS)
    checkNoMore('mcp', more)
    return { callTool: payingTools(client, this.#paidParts(), options) }
  }

  /**
   * Pays a quote of any seller and waits for the confirmations that the seller wants. For schemes of other clients. Errors: those of
   * {@link pay}, `payment_failed`, `payment_void`, and `InterruptedPaymentError` when time is up.
   */
  async payAndWait(quote: Quote, ...more: readonly never[]): Promise<Payment> {
    checkGiven('payAndWait', 'quote', quote, KIND.quote)
    checkNoMore('payAndWait', more)
    const { record } = await this.#payer.pay(quote)
    const parts = this.#paidParts()
    await awaitMined(parts, record, { ...parts.patience(), confirmations: quote.confirmations })
    return record
  }

  get #secondNode(): string | null {
    return this.#options.secondNode === undefined ? null : baseOf(this.#options.secondNode)
  }

  #callUrl(serviceId: string): string {
    return `${this.#baseUrl}/api/x402/${serviceId}`
  }

  get #place(): SettlePlace {
    return { client: this.#client, transport: this.#transport, genesis: this.#facts.genesis }
  }

  #paidParts(): PaidFetchParts {
    return {
      ...this.#place,
      payer: this.#payer,
      tabs: this.#tabs,
      patience: (signal) => this.#patience(signal),
      note: (payment, state) => this.#note(payment, state),
    }
  }

  #patience(ofCall?: AbortSignal): Patience {
    const { signal, settleMs = SETTLE_MS } = this.#options
    const signals = [signal, ofCall].filter((each) => each !== undefined)
    return { untilMs: Date.now() + settleMs, signal: AbortSignal.any(signals) }
  }

  async #isEnded({ txId }: Payment): Promise<boolean> {
    const told = await this.receipt(txId).catch(() => undefined)
    return isEnd(told?.status)
  }

  async #settle<R>(payment: Payment): Promise<CallResult<R>> {
    const request = requestOf(payment)
    try {
      const body = await settlePayment(this.#place, { ...payment, request }, this.#patience())
      await this.#note(payment, 'settled')
      return await this.#checked<R>(payment, body)
    } catch (error) {
      if (error instanceof FarthingError && !(error instanceof InterruptedPaymentError))
        await this.#note(payment, stateAfter(error))
      throw error
    }
  }

  async #checked<R>(payment: Payment, body: Readonly<Record<string, unknown>>): Promise<CallResult<R>> {
    const receipt = receiptOf(body)
    const answer = { result: body.result as R, receipt, payment }
    if (this.#options.verify === false) return { ...answer, verified: null }
    const kept = await this.#kept(payment)
    // A payment that was resumed by its secret alone has no known caller or amount to compare with.
    const caller = kept?.sender ?? this.address ?? String(receipt.caller)
    const amount = payment.amount === 0n ? receipt.amountBaseUnits : payment.amount
    const verified = await this.#verified({ result: body.result, receipt }, { ...payment, amount }, caller)
    if (verified.ok) return { ...answer, verified }
    const second =
      verified.checks.secondNode === false ? `; ${this.#secondNode} does not show this block, or gave no answer` : ''
    const message = `the answer does not verify: ${verified.failed.join(', ')}${second}`
    throw new VerificationError(message, { code: 'unverified', status: 200, ...answer, verified })
  }

  #verified(
    answer: { readonly result: unknown; readonly receipt: Receipt },
    payment: Omit<Payment, 'amount'> & { readonly amount: bigint | string },
    caller: string,
  ): Promise<VerifiedReceipt> {
    const { txId, serviceId, amount } = payment
    const request = committedText(payment)
    const expected = { txId, serviceId, caller, amountBaseUnits: amount.toString(), request }
    const basis = { facts: this.#facts, secondNode: this.#secondNode, transport: this.#transport }
    return checkReceipt(answer, expected, basis)
  }

  /** If the payment is known without the journal, an unreadable journal is no error. */
  async #kept({ txId }: Pick<Payment, 'txId'>, isKnown = true): Promise<PaymentRecord | undefined> {
    try {
      return await this.#journal.get(txId)
    } catch (error) {
      if (isKnown) return undefined
      throw error
    }
  }

  /** A payment of another process, which the journal lacks, is not added. */
  async #note({ txId }: Payment, state: PaymentState): Promise<void> {
    try {
      const record = await this.#journal.get(txId)
      if (record !== undefined && record.state !== state) await this.#journal.put({ ...record, state })
    } catch {
      // A failing journal must not cost the caller the paid answer. The payment stays resumable.
    }
  }

  /** Null if the call is to be paid by itself. */
  async #callOnTab<R>(serviceId: string, request: string): Promise<CallResult<R> | null> {
    if (this.#options.tabs === undefined) return null
    try {
      const tab = await this.#tabs.forCall(serviceId, request)
      return tab === null ? null : await tab.call<R>(serviceId, request)
    } catch (error) {
      if (isFallback(error)) return null
      throw error
    }
  }

  /** A payment from a tab is named by its tab, and in `quoteId` by its number. */
  async #resumedOnTab<R>({ quoteId = '' }: Resumable): Promise<CallResult<R> | null> {
    const [, tabId, seq] = TAB_CALL_ID.exec(quoteId) ?? []
    if (tabId === undefined) return null
    const tab = await this.tab(tabId)
    const [answer] = await tab.resume<R>(Number(seq))
    if (answer !== undefined) return answer
    throw new FarthingError('this call on the tab has its receipt, or was refused', { code: 'payment_unknown' })
  }

  /** An opening or a top-up of a tab. Null if the payment is none. */
  async #resumedDeposit<R>({ txId }: Resumable): Promise<CallResult<R> | null> {
    const kept = await this.#kept({ txId })
    if (kept === undefined || !kept.url.startsWith(TAB_URL)) return null
    await awaitMined(this.#place, kept, { ...this.#patience(), confirmations: 1 })
    return { result: null as R, receipt: receiptOf({}), payment: kept, verified: null }
  }

  #checkEnded(): void {
    if (this.#options.signal?.aborted === true) throw new FarthingError('the client was ended', { code: 'ended' })
  }

  async #document(path: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await askNode(this.#baseUrl, path, {}, this.#transport)
    if (!answer.ok) throw errorOfFault(answer.fault)
    if (answer.value.status >= 300) throw errorOfAnswer(answer.value)
    return fieldsOf(answer.value.body)
  }
}
