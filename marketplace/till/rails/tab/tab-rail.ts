import { type Pacer, runPaced } from '../../../../consensus/chain/ports.ts'
import type { SignatureBackend } from '../../../../consensus/crypto/hybrid.ts'
import { type Fault, fault } from '../../../../consensus/primitives/fault.ts'
import type { TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { requestCommitment } from '../../../../consensus/tx/request-hash.ts'
import { TAB_TERMS_TABLE, TABS } from '../../../ledger/tab-records.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { ClaimsAway, runsOf } from '../../claim-store.ts'
import type { Caller } from '../../failing-callers.ts'
import type { Ended, Gate, Held, Rail, Settled, Steps, Task, Verdict } from '../../rail.ts'
import { RUNS_MAX } from '../../settings.ts'
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
} from './acceptance.ts'
import { BadVouchers } from './bad-vouchers.ts'
import { endOf } from './call-end.ts'
import { CommitGroups } from './commit-groups.ts'
import { Deposits } from './deposits.ts'
import type { SignedTabReceipt, TabPaidCall, TabPrice, TabQuery, TabState } from './tab-call.ts'
import { TAB_CALLS, TabDesk } from './tab-desk.ts'
import { TabPrices, type Unpriced } from './tab-price.ts'
import { type ReceiptSigner, sealer } from './tab-receipts.ts'
import { lostReceipt, whyNoQuery } from './tab-signatures.ts'
import {
  type AnsweredTabRow,
  callIdOf,
  type EndedTabCall,
  isAnswered,
  type ReservedTabCall,
  type TabCallRow,
  type TabStore,
} from './tab-store.ts'
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
  readonly #commits: CommitGroups
  /** Work that has ended well and is to be committed. */
  readonly #worked = new WeakMap<TabCallRow, EndedTabCall>()

  constructor(dependencies: TabRailDependencies) {
    this.#deps = dependencies
    const { chain, store, clock, signer } = dependencies
    const deposits = new Deposits(dependencies)
    const prices = new TabPrices(dependencies)
    this.signatures = new BadVouchers(clock)
    const bad = this.signatures
    this.#checks = new VoucherChecks({ ...dependencies, bad })
    this.#parts = { ...dependencies, receiptKey: signer.key, deposits, prices, bad, checks: this.#checks }
    const isAbandoned = (): boolean => this.till.isAbandoned
    this.#commits = new CommitGroups({ ...dependencies, seal: sealer(signer, chain.network), isAbandoned })
    this.till = new Till({ ...dependencies, store: new TabDesk(store, chain, deposits) }, this)
  }

  identify({ payment, serviceId, request }: TabPaidCall): TabIdentity {
    const { tabId, voucher } = payment
    const { agentId } = this.#deps.shop.operator
    const context = requestCommitment(voucher.secret, { agentId, serviceId: serviceId as never, request })
    return { id: callIdOf({ tabId, seq: voucher.seq }), context }
  }

  /** Has the voucher checked. A client that has a newer receipt of this seller than the store stops the tab. */
  async named(order: TabOrder, turn: number): Promise<Result<Settled<AnsweredTabRow>> | null> {
    if (turn > 0) return null
    const { call } = order
    const { tabId, lastReceipt } = call.payment
    await this.#checks.ahead(order)
    if (lastReceipt === undefined) return null
    const lost = await lostReceipt({ ...this.#deps, bad: this.signatures }, { tabId, from: call.from }, lastReceipt)
    if (lost === null) return null
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
    return isSame ? null : seqUsed(claim, this.#deps.store.peek(claim.tabId))
  }

  underWay({ call }: TabOrder): Fault {
    const { tabId, voucher } = call.payment
    return fault('tabcall/under-way', { tabId, seq: voucher.seq })
  }

  goesOn({ tabId, seq }: TabCallRow): Fault {
    return fault('tabcall/under-way', { tabId, seq })
  }

  answer(_: TabOrder, ended: Result<TabCallRow>, replayed: boolean): Result<Settled<AnsweredTabRow>> {
    return ended.ok ? answer(ended.value as AnsweredTabRow, replayed) : ended
  }

  mayBegin(call: TabCallRow, { definition: { serviceId, timeoutMs } }: Task): Gate<TabCallRow> {
    if (this.till.isStopped) return { is: 'later', ms: null }
    const { chain, shop, store, clock } = this.#deps
    const { tabId } = call
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return { is: 'refused', cause: fault('tabcall/unknown', { tabId }) }
    const reason = shop.closedBecause
    if (reason !== null) return { is: 'refused', cause: fault('service/unavailable', { serviceId, reason }) }
    const cause = whyNoTab(this.#parts, { tabId, tab, row: store.peek(tabId) }, timeoutMs)
    if (cause !== null) return { is: 'refused', cause }
    const reserved = call as ReservedTabCall
    return { is: 'open', begun: { ...reserved, state: 'executing', startedAtMs: clock.now(), runs: runsOf(call) } }
  }

  worked({ definition }: Task, caller: Caller, outcome: Result<string>): void {
    this.#deps.workshop.ended(definition, caller, outcome)
  }

  /** The answer leaves only once it is on disk. The place of the work is free by then: as many calls as end may share a write. */
  async carry(call: TabCallRow, steps: Steps<TabCallRow>): Promise<Ended<TabCallRow>> {
    let isClaimed = false
    try {
      isClaimed = await steps.claim()
      if (!isClaimed) return null
      const worked = await steps.work()
      const ended = worked?.ok === true ? this.#worked.get(worked.value) : undefined
      return ended === undefined ? worked : await this.#committed(ended)
    } catch (error) {
      if (!(error instanceof ClaimsAway)) throw error
      return fail(isClaimed ? this.goesOn(call) : error.fault)
    }
  }

  async end(call: TabCallRow, outcome: Result<string>): Promise<Ended<TabCallRow>> {
    if (this.till.isAbandoned) return null
    const { clock, shop } = this.#deps
    const definition = shop.offer(call.serviceId)?.definition
    const ended = endOf(call as ReservedTabCall, outcome, { definition, nowMs: clock.now() })
    if (!outcome.ok) return this.#committed(ended)
    this.#worked.set(call, ended)
    return ok(call)
  }

  /** Null if the call is no longer this replica's. */
  async #committed(ended: EndedTabCall): Promise<Ended<TabCallRow>> {
    const answered = await this.#commits.add(ended)
    return answered && ok(answered)
  }

  takeUp(_: TabCallRow, isInHand: boolean): boolean {
    return !isInHand
  }

  whyNotResumed(call: TabCallRow, { serviceId, repeatable }: ServiceDefinition): Fault | null {
    const mayRun = call.state === 'claimed' || (repeatable && runsOf(call) <= RUNS_MAX)
    return mayRun ? null : fault('service/interrupted', { serviceId })
  }

  async starting(): Promise<void> {
    const { chain, store, pacer } = this.#deps
    const { deposits } = this.#parts
    await runPaced(deposits.load(), pacer)
    for (const { tabId, charged } of await store.unclaimed()) {
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
    if (isAnswered(known)) return { is: 'told', outcome: answer(known, true) }
    const hasMoved = (now: TabCallRow | undefined): boolean => now === undefined || isAnswered(now)
    return { is: 'elsewhere', waitMs: this.#deps.settings.settleWaitMs, hasMoved, why: () => this.underWay(order) }
  }
}

function answer(row: AnsweredTabRow, replayed: boolean): Result<Settled<AnsweredTabRow>> {
  const { state, result, tabId, seq } = row
  if (state === 'delivered' && result === null) return fail(fault('tabcall/result-expired', { tabId, seq }))
  return ok({ claim: row, replayed })
}
