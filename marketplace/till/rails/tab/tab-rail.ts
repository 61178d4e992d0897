import { type Pacer, runPaced } from '../../../../consensus/chain/ports.ts'
import type { SignatureBackend } from '../../../../consensus/crypto/hybrid.ts'
import { verifyTabSignature } from '../../../../consensus/crypto/tab-signing.ts'
import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Amount, amount, mulDivUp, ZERO } from '../../../../consensus/primitives/amount.ts'
import { fromHex, ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { type Fault, fault, faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { Hash, TxId } from '../../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../../consensus/primitives/result.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { requestCommitment } from '../../../../consensus/tx/request-hash.ts'
import { encodeTabReceipt, tabQueryMessage, tabReceiptMessage } from '../../../../consensus/tx/tab-messages.ts'
import { TABS } from '../../../ledger/tab-records.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import { runsOf } from '../../claim-store.ts'
import type { Caller } from '../../failing-callers.ts'
import type { Ended, Gate, Held, Rail, Settled, Task, Verdict } from '../../rail.ts'
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
import { CommitGroups } from './commit-groups.ts'
import { Deposits } from './deposits.ts'
import { QUERY_WITHIN_MS } from './settings.ts'
import type { SignedTabReceipt, TabPaidCall, TabPrice, TabQuery, TabState } from './tab-call.ts'
import { TAB_CALLS, TabDesk } from './tab-desk.ts'
import { TabPrices, type Unpriced } from './tab-price.ts'
import { type ReceiptSigner, sealer } from './tab-receipts.ts'
import {
  type AnsweredTabRow,
  callIdOf,
  type EndedTabCall,
  isAnswered,
  type ReservedTabCall,
  type TabCallRow,
  type TabStore,
} from './tab-store.ts'

/** What the tab rail works with. */
export interface TabRailDependencies extends Omit<TillDependencies<TabCallRow>, 'store'> {
  readonly store: TabStore
  readonly sink: Pick<TransactionSink, 'get' | 'ofAccount'>
  readonly price: NativePriceSource
  readonly signer: ReceiptSigner
  readonly backend: Pick<SignatureBackend, 'verifyEd25519'>
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
  readonly #parts: AcceptanceParts
  readonly #commits: CommitGroups

  constructor(dependencies: TabRailDependencies) {
    this.#deps = dependencies
    const { chain, store, clock, signer } = dependencies
    const deposits = new Deposits(dependencies)
    const prices = new TabPrices(dependencies)
    this.#parts = { ...dependencies, receiptKey: signer.key, deposits, prices, bad: new BadVouchers(clock) }
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

  /** A client that has a newer receipt of this seller than the store stops the tab. */
  async named({ call }: TabOrder): Promise<Result<Settled<AnsweredTabRow>> | null> {
    const { tabId, lastReceipt } = call.payment
    if (lastReceipt === undefined) return null
    const lost = await this.#lostBy(tabId, lastReceipt)
    if (lost === null) return null
    await this.#deps.store.mark(tabId, { lostReceipt: lost })
    return fail(fault('tab-call/rolled-back', { tabId, receipt: lost }))
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
    return fault('tab-call/under-way', { tabId, seq: voucher.seq })
  }

  goesOn({ tabId, seq }: TabCallRow): Fault {
    return fault('tab-call/under-way', { tabId, seq })
  }

  answer(_: TabOrder, ended: Result<TabCallRow>, replayed: boolean): Result<Settled<AnsweredTabRow>> {
    return ended.ok ? answer(ended.value as AnsweredTabRow, replayed) : ended
  }

  mayBegin(call: TabCallRow, { definition: { serviceId, timeoutMs } }: Task): Gate<TabCallRow> {
    if (this.till.isStopped) return { is: 'later', ms: null }
    const { chain, shop, store, clock } = this.#deps
    const { tabId } = call
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return { is: 'refused', cause: fault('tab-call/unknown', { tabId }) }
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

  /** The answer leaves only once it is on disk. */
  async end(call: TabCallRow, outcome: Result<string>): Promise<Ended<TabCallRow>> {
    if (this.till.isAbandoned) return null
    const { clock, shop } = this.#deps
    const definition = shop.offer(call.serviceId)?.definition
    return ok(await this.#commits.add(endOf(call as ReservedTabCall, outcome, { definition, nowMs: clock.now() })))
  }

  takeUp(_: TabCallRow, isInHand: boolean): boolean {
    return !isInHand
  }

  whyNotResumed(call: TabCallRow, { serviceId, repeatable }: ServiceDefinition): Fault | null {
    const mayRun = call.state === 'claimed' || (repeatable && runsOf(call) <= RUNS_MAX)
    return mayRun ? null : fault('service/interrupted', { serviceId })
  }

  async starting(): Promise<void> {
    await runPaced(this.#parts.deposits.load(), this.#deps.pacer)
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
    return this.#parts.prices.quoted(serviceId as never)
  }

  receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]> {
    return this.#deps.store.receiptsFrom(tabId, n, limit)
  }

  /** Why a query is not answered; null if the voucher key of its tab signed it just now. */
  verifyQuery({ tabId, timeMs, signature }: TabQuery, what: 'state' | 'refund'): Fault | null {
    const { chain, clock, backend } = this.#deps
    const tab = chain.database.get(TABS, tabId)
    if (tab === undefined) return fault('tab-call/unknown', { tabId })
    const nowMs = clock.now()
    if (Math.abs(nowMs - timeMs) > QUERY_WITHIN_MS)
      return fault('tab-call/query-time', { nowMs, withinMs: QUERY_WITHIN_MS })
    const message = tabQueryMessage(chain.network, { tabId, what, timeMs })
    const isGood = verifyTabSignature(backend, { key: fromHex(tab.voucherKey), message, signature })
    return isGood ? null : fault('tab-call/query-signature', { tabId })
  }

  /** Notes that the payer wants the tab claimed and closed. From then on it takes no more calls. */
  async refund(query: TabQuery): Promise<Result<TabState>> {
    const { store, clock } = this.#deps
    const { tabId } = query
    const refused = this.verifyQuery(query, 'refund')
    if (refused !== null) return fail(refused)
    if ((await store.tab(tabId))?.refundAskedAtMs == null) await store.mark(tabId, { refundAskedAtMs: clock.now() })
    const state = await this.stateOf(tabId)
    return state === null ? fail(fault('tab-call/unknown', { tabId })) : ok(state)
  }

  #taken(known: TabCallRow, order: TabOrder): Standing {
    const refusal = this.mayJoin({ claim: known }, order)
    if (refusal !== null) return { is: 'told', outcome: fail(refusal) }
    if (isAnswered(known)) return { is: 'told', outcome: answer(known, true) }
    const hasMoved = (now: TabCallRow | undefined): boolean => now === undefined || isAnswered(now)
    return { is: 'elsewhere', waitMs: this.#deps.settings.settleWaitMs, hasMoved, why: () => this.underWay(order) }
  }

  /** `n` of a receipt of this seller that is newer than its store and its claims; null if it is not. */
  async #lostBy(tabId: TxId, { receipt, signature }: SignedTabReceipt): Promise<number | null> {
    const { chain, store, backend, signer } = this.#deps
    const tab = chain.database.get(TABS, tabId)
    const { n } = receipt
    const isNewer = (known: { readonly receipts: number } | undefined): boolean => n > (known?.receipts ?? 0)
    if (tab === undefined || receipt.tabId !== tabId || !isNewer(tab) || !isNewer(store.peek(tabId))) return null
    const row = await store.tab(tabId)
    if (!isNewer(row) || n <= (row?.lostReceipt ?? 0)) return null
    const message = tabReceiptMessage(chain.network, encodeTabReceipt(receipt))
    const part = { key: fromHex(signer.key), message, signature: fromHex(signature) }
    return verifyTabSignature(backend, part) ? n : null
  }
}

function answer(row: AnsweredTabRow, replayed: boolean): Result<Settled<AnsweredTabRow>> {
  const { state, result, tabId, seq } = row
  if (state === 'delivered' && result === null) return fail(fault('tab-call/result-expired', { tabId, seq }))
  return ok({ claim: row, replayed })
}

interface EndFacts {
  readonly definition: ServiceDefinition | undefined
  readonly nowMs: number
}

function endOf(call: ReservedTabCall, outcome: Result<string>, { definition, nowMs }: EndFacts): EndedTabCall {
  if (!outcome.ok) {
    const { code } = outcome.fault
    const failed = { charge: ZERO, result: null, resultHash: ZERO_HEX_32 as Hash }
    return { call, ...failed, reason: code, message: faultMessage(outcome.fault), finishedAtMs: nowMs }
  }
  const json = outcome.value
  const charge = chargeOf(call, definition, json)
  const delivered = { charge, result: json, resultHash: resultHash(encodeText(json)) }
  return { call, ...delivered, reason: null, message: null, finishedAtMs: nowMs }
}

/** Never more than the price that was reserved. */
function chargeOf(
  { price, priceUsdMicros }: ReservedTabCall,
  definition: Pick<ServiceDefinition, 'chargeUsdMicros'> | undefined,
  json: string,
): Amount {
  const most = amount(BigInt(price))
  const micros = definition?.chargeUsdMicros?.(JSON.parse(json))
  const full = BigInt(priceUsdMicros)
  return micros === undefined || micros >= full ? most : amount(mulDivUp(most, micros, full))
}
