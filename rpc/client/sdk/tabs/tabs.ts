import { TAB_SCHEME } from '../../../../consensus/crypto/tab-signing.ts'
import { amount, parseAmount } from '../../../../consensus/primitives/amount.ts'
import { toHex } from '../../../../consensus/primitives/bytes.ts'
import { AGENT_ID, type AgentId, type Hash } from '../../../../consensus/primitives/ids.ts'
import { encodeTransaction, type Transaction } from '../../../../consensus/tx/transaction.ts'
import { isChatText } from '../../../../marketplace/services/text/chat-line.ts'
import { fieldsOf } from '../../http.ts'
import { checkAllowed } from '../agreement.ts'
import { FarthingError, PaymentMismatchError, PaymentRequiredError, SpendLimitError } from '../errors.ts'
import { checkNoMore, checkOptions, invalid, KIND, TAB_KINDS } from '../options.ts'
import { must } from '../refusals.ts'
import type { Quote, TabNetworkFacts } from '../shapes.ts'
import { Tab } from './tab.ts'
import { KEY_UNKNOWN, TabBook } from './tab-book.ts'
import type { AgentTermsView } from './tab-chain.ts'
import { isRise } from './tab-guards.ts'
import { tabKeyOf } from './tab-key.ts'
import { type TabParts, TabPurse } from './tab-purse.ts'
import { newSeed } from './tab-seeds.ts'
import { type TabCarrier, TabSeller } from './tab-seller.ts'
import type { RecoverOptions } from './tab-shapes.ts'
import type { AutomaticTabs, OpeningNote, RecoveredTab, TabOptions, TabPrices } from './tab-types.ts'
import type { TabOffer } from './tab-wire.ts'

/** Longest term that a client takes by itself, in blocks: a day. */
const TERM_DEFAULT_MAX = 28_800
const CALLS_AHEAD_DEFAULT = 50n
/** Calls of one agent that are paid one by one before a tab is opened. */
const CALLS_BEFORE_TAB = 3
/** How long an agent is left alone after a tab with it could not be opened. */
const AGAIN_MS = 600_000

/** The tabs of one wallet. */
export class Tabs {
  readonly #purse: TabPurse
  readonly #seller: TabSeller
  readonly #automatic: AutomaticTabs | null
  readonly #unnotedMax: bigint
  readonly #tabs = new Map<string, Tab>()
  readonly #calls = new Map<string, number>()
  readonly #agents = new Map<string, string>()
  readonly #opening = new Map<string, Promise<Tab>>()
  readonly #failed = new Map<string, number>()
  readonly #funding = new Map<string, Promise<void>>()
  /** The one look on the chain for tabs of this wallet. */
  #search: Promise<unknown> | null = null
  /** The tab of an agent that was used last. */
  readonly #current = new Map<string, Tab>()

  constructor(parts: TabParts, automatic: AutomaticTabs | null, unnotedMax: bigint) {
    this.#purse = new TabPurse(parts)
    this.#seller = new TabSeller(parts)
    this.#automatic = automatic
    this.#unnotedMax = unnotedMax
  }

  /** Locks a deposit for an agent, and waits for the block. Errors: those of payments, `no_tab_terms`, `over_tab_limit`. */
  async open(agentId: string, options: TabOptions, ...more: readonly never[]): Promise<Tab> {
    checkNoMore('openTab', more)
    checkOptions('openTab', options, TAB_KINDS)
    const deposit = parseAmount(options.deposit, this.#purse.parts.facts.decimals)
    if (!deposit.ok) throw invalid('openTab: deposit must be coins as decimal text')
    return this.#open(agentId, deposit.value, { term: options.term, closeDelay: options.closeDelay, offer: null })
  }

  /** All tabs that the journal knows, those that have ended too. */
  async list(): Promise<readonly Tab[]> {
    const ids = await this.#purse.notes.list()
    const tabs = await Promise.all(ids.map((tabId) => this.find(tabId)))
    return tabs.filter((tab) => tab !== undefined)
  }

  /** A tab that the journal knows. */
  async find(tabId: string): Promise<Tab | undefined> {
    const known = this.#tabs.get(tabId)
    if (known !== undefined) return known
    const book = new TabBook()
    book.readAll(await this.#purse.notes.read(tabId))
    if (book.opening === null) return undefined
    // Two callers may have read the notes at the same time; all must share one tab.
    const tab = this.#tabs.get(tabId) ?? new Tab(this.#purse, book)
    this.#tabs.set(tabId, tab)
    return tab
  }

  /** A tab with an agent on which calls can be made now. */
  async usable(agentId: string): Promise<Tab | undefined> {
    const current = this.#current.get(agentId)
    if (current?.isUsable === true) return current
    const mine = (await this.list()).filter((tab) => tab.agentId === agentId && tab.isUsable)
    for (const tab of mine.reverse()) {
      const standing = await tab.state().catch(unlessDisagreed)
      // One that waits for its block may never be mined: it is not waited for here.
      if (standing?.status !== 'open' || !(await tab.ready().then(ok, notOk))) continue
      this.#current.set(agentId, tab)
      return tab
    }
    return undefined
  }

  /**
   * Finds the tabs of this wallet on the chain, derives their keys, and asks their sellers how they stand. A seller is
   * believed only within what the wallet's own keys signed. Charges without notes above `maxUnnoted` need your consent.
   */
  async recover(options: RecoverOptions = {}, ...more: readonly never[]): Promise<readonly RecoveredTab[]> {
    checkNoMore('recoverTabs', more)
    checkOptions('recoverTabs', options, { maxUnnoted: KIND.text })
    const most = options.maxUnnoted === undefined ? this.#unnotedMax : this.#units('maxUnnoted', options.maxUnnoted)
    await this.#purse.height()
    for (const tabId of must(await this.#purse.chain.openTabs(this.#purse.address))) await this.#adopt(tabId)
    const found: RecoveredTab[] = []
    const hidden: unknown[] = []
    for (const tab of await this.list()) {
      const known = await recovered(tab, most).catch((error: unknown) => {
        if (!isOtherTab(error)) throw error
        hidden.push(error)
      })
      if (known) found.push(known)
    }
    if (found.length === 0 && hidden.length > 0) throw hidden[0]
    return found
  }

  /** The tab for a call of a service in automatic mode. Null: pay this call by itself. */
  async forCall(serviceId: string, request: string): Promise<Tab | null> {
    const agentId = this.#agents.get(serviceId)
    return agentId === undefined ? null : this.#automaticFor(agentId, serviceId, request)
  }

  /**
   * Pays a call that `fetch` or an MCP client carries, in automatic mode. False: pay it by itself, also where it does not go
   * to the client's own node, or that one does not sell for this agent. Another server could take the voucher to the seller,
   * keep the answer, and say that there is none. Errors: those of a call on a tab.
   */
  async pay(quote: Quote, carrier: TabCarrier): Promise<boolean> {
    const { agentId, serviceId, request, requestError, available } = quote
    if (request === null || requestError !== null || !available || !this.#isOwnNode(carrier)) return false
    if (!(await this.#isSoldHere(agentId, serviceId, request))) return false
    try {
      const tab = await this.#automaticFor(agentId, serviceId, request)
      await tab?.carried(serviceId, request, carrier)
      return tab !== null
    } catch (error) {
      if (isFallback(error)) return false
      throw error
    }
  }

  /** Counts a call that was paid by itself. `serviceId`: the client's own node sold it. */
  counted(agentId: string, serviceId: string | null): void {
    if (serviceId !== null) this.#agents.set(serviceId, agentId)
    this.#calls.set(agentId, (this.#calls.get(agentId) ?? 0) + 1)
  }

  /** The tab for an offer of any seller: an open one, or a new one in automatic mode. Errors: `no_tab`. */
  async forOffer(offer: TabOffer, request: string): Promise<Tab> {
    const open = await this.usable(offer.agentId)
    if (open !== undefined) return open
    const running = this.#opening.get(offer.agentId)
    if (running !== undefined) return running
    const waiting = await this.#waiting(offer.agentId)
    // It may never be mined.
    if (waiting !== undefined) {
      const message = `the tab ${waiting.tabId} with ${offer.agentId} waits for its block: tab.ready() waits for it`
      throw new PaymentRequiredError(message, { code: 'no_tab', retryable: true })
    }
    if (this.#automatic !== null) {
      // Each chat has a price of its own.
      if (!isChatText(request)) await this.#checkPrice(offer)
      return this.#openOnce(offer)
    }
    const message = `there is no open tab with ${offer.agentId}: openTab it, or set tabs.maxDeposit`
    throw new PaymentRequiredError(message, { code: 'no_tab' })
  }

  get #facts(): TabNetworkFacts {
    const { tabs, name } = this.#purse.parts.facts
    if (tabs !== undefined) return tabs
    throw new FarthingError(`${name} has no tabs`, { code: 'no_tabs' })
  }

  #units(name: string, coins: string): bigint {
    const parsed = parseAmount(coins, this.#purse.parts.facts.decimals)
    if (!parsed.ok) throw invalid(`${name} must be coins as decimal text`)
    return parsed.value
  }

  async #open(
    agentId: string,
    deposit: bigint,
    {
      term = TERM_DEFAULT_MAX,
      closeDelay,
      offer,
    }: {
      readonly term?: number | undefined
      readonly closeDelay?: number | undefined
      readonly offer: TabOffer | null
    },
  ): Promise<Tab> {
    if (!AGENT_ID.test(agentId)) throw invalid('openTab: this is no id of an agent')
    const { parts, notes } = this.#purse
    const agent = must(await this.#purse.chain.agent(agentId))
    if (offer !== null) checkAgainstState(offer, agent)
    const { receiptKey, delay } = this.#agreed(agentId, agent, { deposit, term, closeDelay })
    checkAllowed('agents', parts.allow.agents, [agentId])
    checkAllowed('payTo', parts.allow.payTo, [agent.payout, agentId])
    const prices = (await this.#purse.unitsOf(agent.prices)) ?? {}
    // Without notes nothing must be locked.
    await notes.list()
    const terms = { agentId: agentId as AgentId, deposit: amount(deposit), term, closeDelay: delay, scheme: TAB_SCHEME }
    let kept: string | null = null
    const opening = this.#purse.send({
      ...{
        kind: 'tab_open',
        payload: { ...terms, voucherKey: '' as Hash },
        amount: deposit,
        locked: () => deposit,
        agentId,
      },
      payTo: agent.payout,
      completed: async (payload, nonce) => {
        const made = await newSeed(this.#purse, nonce)
        kept = made.kept
        return { ...payload, voucherKey: (await tabKeyOf(made.seed)).publicKey as Hash }
      },
      note: (signed, validUntil) =>
        this.#note(signed, { agent: { ...agent, receiptKey, prices }, seed: kept, validUntil }),
    })
    const tabId = await this.#mined(opening)
    const tab = (await this.find(tabId)) as Tab
    tab.expect(tabId)
    await tab.ready()
    this.#current.set(agentId, tab)
    return tab
  }

  /** A refused or failed opening is not used, also if the node did not tell the truth. */
  async #mined(opening: ReturnType<TabPurse['send']>): Promise<string> {
    try {
      const { payment } = await opening
      await this.#purse.mined(payment)
      return payment.txId
    } catch (error) {
      if (error instanceof FarthingError && error.payment !== null && NOT_OPENED.has(error.code)) {
        const { txId: tabId } = error.payment
        const stop = { what: 'stop', tabId, code: error.code, reason: error.message, evidence: null } as const
        await this.#purse.keep({ ...stop, atMs: Date.now() })
      }
      throw error
    }
  }

  /** What the chain would refuse is refused here: a failed opening costs its fee. */
  #agreed(
    agentId: string,
    { terms }: AgentTermsView,
    asked: { readonly deposit: bigint; readonly term: number; readonly closeDelay: number | undefined },
  ): { readonly receiptKey: string; readonly delay: number } {
    const { depositMin, closeDelays, terms: allowed } = this.#facts
    if (terms === null) throw new PaymentRequiredError(`${agentId} takes no tabs`, { code: 'no_tab_terms' })
    const least = terms.minDeposit > BigInt(depositMin) ? terms.minDeposit : BigInt(depositMin)
    if (asked.deposit < least)
      throw new PaymentRequiredError(`${agentId} takes deposits from ${this.#purse.coins(least)} on`, {
        code: 'deposit_low',
      })
    if (!allowed.includes(asked.term)) throw invalid(`openTab: term is one of ${allowed.join(', ')} blocks`)
    const fitting = closeDelays.filter((delay) => delay >= terms.minCloseDelay)
    const delay = asked.closeDelay ?? fitting[0]
    if (delay !== undefined && fitting.includes(delay)) return { receiptKey: terms.receiptKey, delay }
    throw invalid(`openTab: closeDelay is one of ${fitting.join(', ')} blocks with ${agentId}`)
  }

  #note(
    tx: Transaction,
    {
      agent,
      seed,
      validUntil,
    }: {
      readonly agent: { readonly payout: string; readonly receiptKey: string; readonly prices: TabPrices }
      readonly seed: string | null
      readonly validUntil: number
    },
  ): OpeningNote {
    const { agentId, deposit, term, closeDelay, voucherKey } = fieldsOf(tx.body.payload) as {
      readonly [field in 'agentId' | 'voucherKey']: string
    } & { readonly deposit: bigint; readonly term: number; readonly closeDelay: number }
    return {
      ...{ what: 'opening', tabId: tx.txId, agentId, payer: this.#purse.address, voucherKey, seed },
      ...{ payout: agent.payout, receiptKey: agent.receiptKey, nonce: tx.body.nonce.toString() },
      ...{
        deposit: deposit.toString(),
        term,
        closeDelay,
        prices: agent.prices,
        tx: toHex(encodeTransaction(tx)),
        validUntil,
        atMs: Date.now(),
      },
    }
  }

  /** Notes a tab of this wallet that only the chain knows. If its key cannot be derived, it can still be closed. */
  async #adopt(tabId: string): Promise<void> {
    if ((await this.find(tabId)) !== undefined) return
    const record = must(await this.#purse.chain.tab(tabId))
    const nonce = must(await this.#purse.chain.nonce(tabId))
    if (record === undefined || nonce === null) return
    const isDerived = this.#purse.wallet.voucherSeed !== undefined
    const key = isDerived ? await tabKeyOf((await newSeed(this.#purse, nonce)).seed) : null
    const { agentId, payout, receiptKey, voucherKey, deposit, closeDelay, openedAt, expiresAt } = record
    await this.#purse.keep({
      ...{ what: 'opening', tabId, agentId, payer: this.#purse.address, payout, receiptKey, voucherKey, seed: null },
      ...{ nonce: nonce.toString(), deposit: deposit.toString(), term: expiresAt - openedAt, closeDelay, tx: null },
      ...{ validUntil: 0, atMs: Date.now() },
    })
    if (key?.publicKey === voucherKey) return
    const reason = 'its voucher key is not known here: tab.close() asks the chain'
    await this.#purse.keep({ what: 'stop', tabId, code: KEY_UNKNOWN, reason, evidence: null, atMs: Date.now() })
  }

  async #automaticFor(agentId: string, serviceId: string, request: string): Promise<Tab | null> {
    if (this.#automatic === null) return null
    const open = await this.usable(agentId)
    const isDue = open === undefined && this.#isDue(agentId) && !(await this.#hasLied(agentId))
    if (isDue && (await this.#waiting(agentId)) !== undefined) return null
    // A tab that ends is followed by another one at once.
    if (open !== undefined) this.#calls.set(agentId, CALLS_BEFORE_TAB)
    const tab = open ?? (isDue ? await this.#openFor(agentId, serviceId, request) : null)
    return tab === null || (await this.#hasRoom(tab, serviceId)) ? tab : null
  }

  /** A tab with an agent whose opening has no block yet. No other one is opened meanwhile. */
  async #waiting(agentId: string): Promise<Tab | undefined> {
    for (const tab of await this.list()) {
      if (tab.agentId !== agentId || !tab.isUsable) continue
      const standing = await tab.state().catch((error: unknown) => {
        if (!isOtherTab(error)) throw error
      })
      if (standing?.status === 'opening') return tab
    }
    return undefined
  }

  /** Nothing more is locked by itself with a seller that was not believed once. */
  async #hasLied(agentId: string): Promise<boolean> {
    return (await this.list()).some((tab) => tab.agentId === agentId && tab.isStopped)
  }

  #isOwnNode({ url }: TabCarrier): boolean {
    return url !== null && new URL(url).origin === new URL(this.#purse.parts.client.baseUrl).origin
  }

  /** Asks only where there is a tab with the agent, or one would be opened. */
  async #isSoldHere(agentId: string, serviceId: string, request: string): Promise<boolean> {
    if (this.#automatic === null || !(this.#current.has(agentId) || this.#isDue(agentId))) return false
    if (!this.#agents.has(serviceId)) {
      const offer = await this.#seller.offer(serviceId, request).catch(nothing)
      if (offer === undefined) this.#failed.set(agentId, Date.now())
      else this.#agents.set(serviceId, offer.agentId)
    }
    return this.#agents.get(serviceId) === agentId
  }

  #isDue(agentId: string): boolean {
    const failedAt = this.#failed.get(agentId)
    const isTried = failedAt !== undefined && Date.now() - failedAt < AGAIN_MS
    return !isTried && (this.#calls.get(agentId) ?? 0) >= CALLS_BEFORE_TAB
  }

  async #openFor(agentId: string, serviceId: string, request: string): Promise<Tab | null> {
    const offer = await this.#seller.offer(serviceId, request).catch(nothing)
    const opened = offer?.agentId === agentId ? this.#foundOr(offer) : Promise.resolve(null)
    const tab = await opened.catch((error: unknown) => {
      if (isFallback(error)) return null
      throw error
    })
    if (tab === null) this.#failed.set(agentId, Date.now())
    return tab
  }

  /** A process without notes, as a script that runs every hour, finds the tab of its last run. */
  async #foundOr(offer: TabOffer): Promise<Tab> {
    this.#search ??= this.recover()
    await this.#search.catch(() => {
      this.#search = null
    })
    const found = await this.usable(offer.agentId)
    if (found !== undefined) return found
    await this.#checkPrice(offer)
    return this.#openOnce(offer)
  }

  /** Nothing is locked for a service that is offered dearer than the chain says: its calls would be refused. */
  async #checkPrice({ agentId, serviceId, amount: price }: TabOffer): Promise<void> {
    const known = await this.#purse.priceOf(agentId, serviceId)
    if (known === null || !isRise(price, known)) return
    const message = `${serviceId} costs ${this.#purse.coins(known)} by the chain, and is offered for ${this.#purse.coins(price)}`
    throw new PaymentMismatchError(message, { code: 'other_price' })
  }

  /** Calls that run side by side share one new tab. */
  #openOnce(offer: TabOffer): Promise<Tab> {
    const { agentId } = offer
    const running = this.#opening.get(agentId)
    if (running !== undefined) return running
    const opened = this.#openWithin(offer).finally(() => this.#opening.delete(agentId))
    this.#opening.set(agentId, opened)
    return opened
  }

  async #openWithin(offer: TabOffer): Promise<Tab> {
    const { terms } = must(await this.#purse.chain.agent(offer.agentId))
    if (terms === null) throw new PaymentRequiredError(`${offer.agentId} takes no tabs`, { code: 'no_tab_terms' })
    const wished = offer.amount * this.#ahead
    const least = [BigInt(this.#facts.depositMin), terms.minDeposit, wished].reduce((a, b) => (a > b ? a : b))
    const most = this.#maxDeposit
    const deposit = least > most && most >= terms.minDeposit ? most : least
    if (deposit > most)
      throw new SpendLimitError(`${offer.agentId} wants a deposit above tabs.maxDeposit`, { code: 'over_tab_limit' })
    return this.#open(offer.agentId, deposit, { offer })
  }

  /** Whether a call fits on the tab, after a top-up if there is need. */
  async #hasRoom(tab: Tab, serviceId: string): Promise<boolean> {
    const price = tab.priceOf(serviceId)
    // Without a price the call itself asks for it.
    if (price === null || tab.available >= price) return true
    // Calls that run side by side share one top-up.
    const running = this.#funding.get(tab.tabId) ?? this.#fund(tab, price)
    this.#funding.set(tab.tabId, running)
    await running.finally(() => this.#funding.delete(tab.tabId))
    return tab.available >= price
  }

  async #fund(tab: Tab, price: bigint): Promise<void> {
    if ((await tab.isFunding()) || tab.available >= price) return
    const room = this.#maxDeposit - tab.locked
    const wished = price * this.#ahead
    const more = wished < room ? wished : room
    if (more < price) return
    await tab.topUp(this.#purse.coins(more).split(' ')[0] as string).catch((error: unknown) => {
      if (!isFallback(error)) throw error
    })
  }

  get #ahead(): bigint {
    const { callsAhead } = this.#automatic ?? {}
    return callsAhead === undefined ? CALLS_AHEAD_DEFAULT : BigInt(Math.max(1, Math.floor(callsAhead)))
  }

  get #maxDeposit(): bigint {
    return this.#automatic === null ? 0n : this.#units('tabs.maxDeposit', this.#automatic.maxDeposit)
  }
}

const ok = (): boolean => true
const notOk = (): boolean => false
const nothing = (): undefined => undefined

/** One of two nodes lies: that must come out before anything is locked or signed. */
function unlessDisagreed(error: unknown): undefined {
  if (error instanceof FarthingError && error.code === 'nodes_disagree') throw error
  return undefined
}

/** How a tab stands; null if it is over. */
async function recovered(tab: Tab, most: bigint): Promise<RecoveredTab | null> {
  const { status } = await tab.state()
  if (status === 'ended' || status === 'void') return null
  const unnoted = status === 'opening' ? 0n : await tab.catchUp(most).catch(unlessOurs)
  return { standing: await tab.state(), unnoted }
}

/** A node that shows one tab wrongly must not hide the others. */
function isOtherTab(error: unknown): boolean {
  return error instanceof FarthingError && error.code === 'other_tab'
}

/** A seller that is away or answers nonsense must not keep the other tabs from being found. */
function unlessOurs(error: unknown): bigint {
  if (error instanceof FarthingError && !OURS.has(error.code)) return 0n
  throw error
}

/** Errors of the wallet's own side. */
const OURS: ReadonlySet<string> = new Set(['ended', 'journal_failed', 'no_web_crypto', 'no_wallet', 'other_tab'])

/** Nothing in an offer is believed where the state knows better. */
function checkAgainstState({ receiptKey, payTo, agentId }: TabOffer, { payout, terms }: AgentTermsView): void {
  if (terms !== null && receiptKey !== terms.receiptKey)
    throw new PaymentMismatchError(`the offer names another receipt key than ${agentId} has on the chain`, {
      code: 'other_receipt_key',
    })
  if (payTo !== payout)
    throw new PaymentMismatchError(`the offer is paid to ${payTo}, ${agentId} is paid at ${payout}`, {
      code: 'other_payee',
    })
}

/** Errors after which a call is better paid by itself: nothing was locked. */
const FALLBACKS: ReadonlySet<string> = new Set([
  ...['no_tab_terms', 'no_tab_offer', 'no_tabs', 'deposit_low', 'over_tab_limit', 'over_day_limit', 'fee_too_high'],
  ...['price_unknown', 'declined', 'journal_failed', 'other_receipt_key', 'other_payee', 'other_price'],
  'no_web_crypto',
  ...['tab_exhausted', 'tab_ending', 'tab_ended', 'tab_closing', 'tab_unconfirmed'],
])

/** The chain has not taken the opening. */
const NOT_OPENED: ReadonlySet<string> = new Set(['payment_refused', 'payment_failed', 'payment_void'])

/** Whether a call can be paid by itself after this error. */
export function isFallback(error: unknown): boolean {
  if (!(error instanceof FarthingError)) return false
  // With a payment, the seller has a voucher for this call. Of a seller's own words none is in the first list.
  return NOT_OPENED.has(error.code) || (error.payment === null && FALLBACKS.has(error.code))
}
