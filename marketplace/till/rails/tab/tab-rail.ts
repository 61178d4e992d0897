import { type Pacer, runPaced } from '../../../../consensus/chain/ports.ts'
import type { SignatureBackend } from '../../../../consensus/crypto/hybrid.ts'
import type { Amount } from '../../../../consensus/primitives/amount.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { requestCommitment } from '../../../../consensus/tx/request-hash.ts'
import { TAB_TERMS_TABLE, TABS } from '../../../ledger/tab-records.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { addTo } from '../../client-counts.ts'
import type { Caller } from '../../failing-callers.ts'
import type { Ended, Gate, Held, Rail, Settled, Steps, Task, Verdict } from '../../rail.ts'
import type { TransactionSink } from '../../shop.ts'
import { Till, type TillDependencies } from '../../till.ts'
import type { ValueAtRisk } from '../native/payment.ts'
import type { NativePriceSource } from '../native/price.ts'
import {
  type AcceptanceParts,
  heldVoucher,
  judgeTabCall,
  nextSeqIn,
  seqUsed,
  type TabIdentity,
  type TabOrder,
  whyNoTab,
  whyNotSigned,
} from './acceptance.ts'
import { BadVouchers } from './bad-vouchers.ts'
import { answerOf, CallWork, takenCall, whyNotRunAgain } from './call-work.ts'
import { Deposits } from './deposits.ts'
import { TAB_IN_FLIGHT_MAX } from './settings.ts'
import type { SignedTabReceipt, TabPaidCall, TabPrice, TabQuery, TabState } from './tab-call.ts'
import { TAB_CALLS, TabDesk } from './tab-desk.ts'
import { TabPrices, type Unpriced } from './tab-price.ts'
import { type ReceiptSigner, sealer } from './tab-receipts.ts'
import { lostReceipt, whyNoQuery } from './tab-signatures.ts'
import { type AnsweredTabRow, callIdOf, isTab, type TabCallRow, type TabStore } from './tab-store.ts'
import { type VerifyLater, VoucherChecks } from './voucher-checks.ts'

/** What the tab rail works with. */
export interface TabRailDependencies extends Omit<TillDependencies<TabCallRow>, 'store'> {
  readonly store: TabStore
  readonly sink: Pick<TransactionSink, 'get' | 'ofAccount'>
  readonly price: NativePriceSource
  readonly signer: ReceiptSigner
  readonly backend: Pick<SignatureBackend, 'verifyEd25519'>
  readonly verifyLater?: VerifyLater
  /** Shared with the native rail: one reorganisation takes the payments of both. */
  readonly atRisk: ValueAtRisk
  readonly pacer: Pacer
}

type Standing = Verdict<TabCallRow, AnsweredTabRow>

/**
 * The tab rail: many calls are paid from one deposit. A call is reserved in memory, and its end is on disk before any byte of the answer
 * leaves: the voucher, the charge, the signed receipt and the result in one record. Claims on chain come later, see `TabStore.unclaimed`.
 */
export class TabRail implements Rail<TabPaidCall, TabCallRow, TabIdentity, AnsweredTabRow> {
  readonly kind = TAB_CALLS
  readonly joinMs = null
  readonly beginsPatiently = true
  readonly till: Till<TabPaidCall, TabCallRow, TabIdentity, AnsweredTabRow>
  readonly #deps: TabRailDependencies
  /** Bounds the signatures of strangers: of vouchers, queries and receipts. */
  readonly signatures: BadVouchers
  readonly #parts: AcceptanceParts
  readonly #checks: VoucherChecks
  readonly #work: CallWork
  readonly #underWay = new Map<string, number>()

  constructor(dependencies: TabRailDependencies) {
    this.#deps = dependencies
    const { chain, store, clock, signer } = dependencies
    const deposits = new Deposits(dependencies)
    const prices = new TabPrices(dependencies)
    this.signatures = new BadVouchers(clock)
    const bad = this.signatures
    const checks = new VoucherChecks({ ...dependencies, bad })
    const underWay = (tabId: TxId): number => this.#underWay.get(tabId) ?? 0
    this.#checks = checks
    this.#parts = { ...dependencies, receiptKey: signer.key, deposits, prices, bad, checks, underWay }
    const isAbandoned = (): boolean => this.till.isAbandoned
    this.#work = new CallWork({ ...dependencies, seal: sealer(signer, chain.network), isAbandoned })
    this.till = new Till({ ...dependencies, store: new TabDesk(store, chain, deposits) }, this)
  }

  identify({ payment, serviceId, request }: TabPaidCall): TabIdentity {
    const { tabId, voucher } = payment
    const { agentId } = this.#deps.shop.operator
    const context = requestCommitment(voucher.secret, { agentId, serviceId: serviceId as never, request })
    return { id: callIdOf({ tabId, seq: voucher.seq }), context }
  }

  /** A client that has a newer receipt of this seller than the store stops the tab. Else the voucher is checked ahead. */
  async named(order: TabOrder, turn: number): Promise<Result<Settled<AnsweredTabRow>> | null> {
    if (turn > 0) return null
    const { from, payment } = order.call
    const { tabId, lastReceipt } = payment
    const parts = { ...this.#deps, bad: this.signatures }
    const lost = lastReceipt === undefined ? null : await lostReceipt(parts, { tabId, from }, lastReceipt)
    if (lost === null) {
      await this.#checks.ahead(order)
      return null
    }
    await this.#deps.store.mark(tabId, { lostReceipt: lost })
    return fail(fault('tabcall/rolled-back', { tabId, receipt: lost }))
  }

  judge(order: TabOrder, known: TabCallRow | undefined): Standing {
    if (known !== undefined) return this.#taken(known, order)
    // Another call with this voucher was taken since the store was asked. What it reserved must not count against this one.
    if (this.till.isRunning(order.identity.id)) return { is: 'moved' }
    return judgeTabCall(this.#parts, order)
  }

  mayJoin({ claim }: Pick<Held<TabCallRow, TabIdentity>, 'claim'>, order: TabOrder): Fault | null {
    const { ceiling, context, signature } = heldVoucher(order)
    const { voucher } = claim
    const isSame = voucher.context === context && voucher.ceiling === ceiling && voucher.signature === signature
    if (isSame) return null
    return whyNotSigned(this.#parts, order) ?? seqUsed(claim, this.#deps.store.peek(claim.tabId))
  }

  underWay({ call }: TabOrder): Fault {
    const { tabId, voucher } = call.payment
    return fault('tabcall/under-way', { tabId, seq: voucher.seq })
  }

  goesOn({ tabId, seq }: TabCallRow): Fault {
    return fault('tabcall/under-way', { tabId, seq })
  }

  answer(_: TabOrder, ended: Result<TabCallRow>, replayed: boolean): Result<Settled<AnsweredTabRow>> {
    return ended.ok ? answerOf(ended.value as AnsweredTabRow, replayed) : ended
  }

  mayBegin(call: TabCallRow, { definition }: Task): Gate<TabCallRow> {
    const { serviceId, timeoutMs } = definition
    if (this.till.isStopped) return { is: 'later', ms: null }
    const { chain, shop, store } = this.#deps
    const { tabId } = call
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return { is: 'refused', cause: fault('tabcall/unknown', { tabId }) }
    const reason = shop.closedBecause
    if (reason !== null) return { is: 'refused', cause: fault('service/unavailable', { serviceId, reason }) }
    const cause = whyNoTab(this.#parts, { tabId, tab, row: store.peek(tabId) }, timeoutMs)
    if (cause !== null) return { is: 'refused', cause }
    return { is: 'open', begun: this.#work.begun(call, definition) }
  }

  worked({ definition }: Task, caller: Caller, outcome: Result<string>): void {
    this.#deps.workshop.ended(definition, caller, outcome)
  }

  async carry(call: TabCallRow, steps: Steps<TabCallRow>, order: TabOrder | null): Promise<Ended<TabCallRow>> {
    const { tabId } = call
    // Calls that waited for one block are all judged before the first of them begins.
    if (order !== null && this.#parts.underWay(tabId) >= TAB_IN_FLIGHT_MAX) return null
    addTo(this.#underWay, tabId, 1)
    try {
      return await this.#work.carry(steps, this.goesOn(call))
    } finally {
      addTo(this.#underWay, tabId, -1)
    }
  }

  end(call: TabCallRow, outcome: Result<string>): Promise<Ended<TabCallRow>> {
    return this.#work.end(call, outcome)
  }

  takeUp(_: TabCallRow, isInHand: boolean): boolean {
    return !isInHand
  }

  whyNotResumed(call: TabCallRow, definition: ServiceDefinition): Fault | null {
    return whyNotRunAgain(call, definition)
  }

  async starting(): Promise<void> {
    const { chain, store, pacer } = this.#deps
    const { deposits } = this.#parts
    await runPaced(deposits.load(), pacer)
    for (const { tabId, charged } of (await store.unclaimed()).filter(isTab)) {
      const tab = chain.database.get(TABS, tabId)
      if (tab !== undefined) deposits.take(tabId, tab, charged)
    }
  }

  forget(): void {}
  async stop(): Promise<void> {}
  async handedOver(): Promise<void> {}

  /** How a tab stands; null if the chain has no such open tab. */
  async stateOf(tabId: TxId): Promise<TabState | null> {
    const { chain, store } = this.#deps
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return null
    const row = await store.tab(tabId)
    const { deposit, claimed, expiresAt, closesAt } = tab
    const charged = row === undefined || row.charged < claimed ? claimed : row.charged
    const receipts = Math.max(row?.receipts ?? 0, tab.receipts)
    const { voucher = null, lastReceipt = null } = row ?? {}
    const nextSeq = nextSeqIn(store.peek(tabId) ?? row)
    return { tabId, deposit, claimed, expiresAt, closesAt, charged, receipts, nextSeq, voucher, lastReceipt }
  }

  /** The most that may be charged on one tab and not claimed. */
  get unclaimedMost(): Amount {
    return this.#parts.deposits.unclaimedMost
  }

  /** What one call costs now, or why it has no price. */
  priceOf(serviceId: string): TabPrice | Unpriced {
    const { chain, shop, signer } = this.#deps
    const terms = chain.database.get(TAB_TERMS_TABLE, shop.operator.agentId)
    if (terms?.receiptKey !== signer.key) return { reason: 'this node has no terms for new tabs on chain' }
    return this.#parts.prices.quoted(serviceId as never)
  }

  receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]> {
    return this.#deps.store.receiptsFrom(tabId, n, limit)
  }

  /** Why a query is not answered; null if the voucher key of its tab signed it just now. */
  verifyQuery(query: TabQuery, what: 'state' | 'refund'): Fault | null {
    return whyNoQuery(this.#deps, query, what)
  }

  /** Notes that the payer wants the tab claimed and closed. From then on it takes no more calls. */
  async refund(query: TabQuery): Promise<Result<TabState>> {
    const { store, clock } = this.#deps
    const { tabId } = query
    const refused = this.verifyQuery(query, 'refund')
    if (refused !== null) return fail(refused)
    if ((await store.tab(tabId))?.refundAskedAtMs == null) await store.mark(tabId, { refundAskedAtMs: clock.now() })
    const state = await this.stateOf(tabId)
    return state === null ? fail(fault('tabcall/unknown', { tabId })) : ok(state)
  }

  #taken(known: TabCallRow, order: TabOrder): Standing {
    const refusal = this.mayJoin({ claim: known }, order)
    if (refusal !== null) return { is: 'told', outcome: fail(refusal) }
    return takenCall(known, { waitMs: this.#deps.settings.settleWaitMs, why: () => this.underWay(order) })
  }
}
