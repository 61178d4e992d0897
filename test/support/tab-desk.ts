import { verifyTabSignature } from '../../consensus/crypto/tab-signing.ts'
import { resultHash } from '../../consensus/ledger/receipt.ts'
import { fromHex, toHex, ZERO_HEX_32 } from '../../consensus/primitives/bytes.ts'
import type { Holder } from '../../consensus/primitives/fair-share.ts'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { Hash, ServiceId, TxId } from '../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { requestCommitment, requestHash } from '../../consensus/tx/request-hash.ts'
import {
  encodeTabReceipt,
  tabQueryMessage,
  tabReceiptMessage,
  voucherMessage,
} from '../../consensus/tx/tab-messages.ts'
import { TABS, type Tab } from '../../marketplace/ledger/tab-records.ts'
import { checkRequest, readRequest } from '../../marketplace/services/service.ts'
import type { Settled } from '../../marketplace/till/rail.ts'
import type {
  AnsweredTabCall,
  SignedTabReceipt,
  TabPaidCall,
  TabPayment,
  TabPrice,
  TabQuery,
  TabState,
} from '../../marketplace/till/rails/tab/tab-call.ts'
import type { BegunRefund, NoPrice, TabDesk } from '../../rpc/node/tab-desk.ts'
import { NATIVE_BACKEND } from '../../src/crypto/native-backend.ts'
import type { TestMarket } from './market.ts'
import { units } from './unsigned.ts'

/** Wrong signatures of one tab, and of one address, after which nothing more is checked for them. */
export const WRONG = { ofTab: 20, ofClient: 40 } as const
const QUERY_MS = 300_000
const UNDELIVERED = { reason: 'service/failed', message: 'it was told to fail' } as const

interface Book {
  charged: bigint
  seqMax: number
  voucher: TabState['voucher']
  readonly receipts: SignedTabReceipt[]
  readonly calls: Map<number, { readonly signature: string; readonly answer: Promise<AnsweredTabCall> }>
}

/**
 * The seller's side of tabs in memory, in order of arrival: it checks every signature and keeps every sum, but writes nothing and claims
 * nothing.
 */
export class MemoryTabDesk implements TabDesk {
  readonly #market: TestMarket
  readonly #receiptSeed: Uint8Array
  readonly #books = new Map<TxId, Book>()
  readonly #wrong = new Map<string, number>()
  /** Tabs whose payer asked for their end. */
  readonly closing = new Set<TxId>()
  /** Signatures that were checked. */
  checked = 0
  /** Why no calls are taken; null: they are. */
  closedBecause: string | null = null
  /** How many times as dear as their quote in coin services are. */
  factor = 1n

  constructor(market: TestMarket, receiptSeed: Uint8Array) {
    this.#market = market
    this.#receiptSeed = receiptSeed
  }

  readonly till = {
    settle: (call: TabPaidCall): Promise<Result<Settled<AnsweredTabCall>>> => this.#settle(call),
    handedOver: async (): Promise<void> => {},
  }

  priceOf(serviceId: ServiceId): TabPrice | NoPrice {
    if (this.closedBecause !== null) return { reason: this.closedBecause }
    const amount = units(this.factor * this.#market.priceOf(serviceId))
    return { amount, priceUsdMicros: 2_000n, validUntil: this.#market.test.height + 40 }
  }

  async stateOf(tabId: TxId): Promise<TabState | undefined> {
    const tab = this.#tab(tabId)
    if (tab === undefined) return undefined
    const { charged, receipts, seqMax, voucher } = this.#book(tabId)
    const { deposit, claimed, expiresAt, closesAt } = tab
    const counts = { charged: units(charged), receipts: receipts.length, nextSeq: seqMax + 1 }
    return { tabId, deposit, claimed, expiresAt, closesAt, ...counts, voucher, lastReceipt: receipts.at(-1) ?? null }
  }

  async receiptsFrom(tabId: TxId, n: number, limit: number): Promise<readonly SignedTabReceipt[]> {
    return this.#book(tabId).receipts.slice(n - 1, n - 1 + limit)
  }

  verifyQuery({ tabId, timeMs, signature }: TabQuery, what: 'state' | 'refund', from: Holder): Result<null> {
    const tab = this.#tab(tabId)
    if (tab === undefined) return fail(fault('tab/unknown', { tabId }))
    const spent = this.#spent(tabId, from)
    if (spent !== null) return fail(spent)
    if (Math.abs(timeMs - this.#market.time.now()) > QUERY_MS)
      return fail(fault('tab-call/query-time', { nowMs: this.#market.time.now(), withinMs: QUERY_MS }))
    const message = tabQueryMessage(this.#network, { tabId, what, timeMs })
    if (this.#isSigned(tab, { tabId, message, signature }, from)) return ok(null)
    return fail(fault('tab-call/query-signature', { tabId }))
  }

  async refund(query: TabQuery, from: Holder): Promise<Result<BegunRefund>> {
    const verified = this.verifyQuery(query, 'refund', from)
    if (!verified.ok) return verified
    this.closing.add(query.tabId)
    return ok({ transaction: null })
  }

  knows(tabId: TxId): boolean {
    return this.#tab(tabId) !== undefined
  }

  async hasTaken({ tabId, voucher }: TabPayment): Promise<boolean> {
    return this.#books.get(tabId)?.calls.get(voucher.seq)?.signature === toHex(voucher.signature)
  }

  isOfPayer({ serviceId, request, payment, from }: TabPaidCall): boolean {
    const tab = this.#tab(payment.tabId)
    if (tab === undefined || this.#spent(payment.tabId, from) !== null) return false
    return this.#isOfKey(tab, { serviceId, request, payment, ...(from && { from }) })
  }

  get #network() {
    return this.#market.test.chain.network
  }

  #tab(tabId: TxId): Tab | undefined {
    return this.#market.test.chain.database.get(TABS, tabId)
  }

  #book(tabId: TxId): Book {
    const book = this.#books.get(tabId) ?? { charged: 0n, seqMax: 0, voucher: null, receipts: [], calls: new Map() }
    this.#books.set(tabId, book)
    return book
  }

  async #settle(call: TabPaidCall): Promise<Result<Settled<AnsweredTabCall>>> {
    const { serviceId, request, payment, from } = call
    const { tabId, voucher, transaction } = payment
    const tab = this.#tab(tabId)
    if (transaction !== null && this.#market.test.chain.database.location(transaction) === undefined)
      return fail(fault('tab-call/unconfirmed', { tabId, confirmations: 0, needed: 1 }))
    if (tab === undefined) return fail(fault('tab-call/unknown', { tabId }))
    if (this.closing.has(tabId)) return fail(fault('tab-call/closing', { tabId }))
    const book = this.#book(tabId)
    const known = book.calls.get(voucher.seq)
    if (known !== undefined)
      return known.signature === toHex(voucher.signature)
        ? ok({ claim: await known.answer, replayed: true })
        : fail(fault('tab-call/seq-used', { tabId, seq: voucher.seq, nextSeq: book.seqMax + 1 }))
    const spent = this.#spent(tabId, from)
    if (spent !== null) return fail(spent)
    const price = this.priceOf(serviceId as ServiceId)
    if ('reason' in price) return fail(fault('service/unavailable', { serviceId, reason: price.reason }))
    const needed = book.charged + price.amount
    const most = voucher.ceiling > (book.voucher?.ceiling ?? 0n) ? voucher.ceiling : (book.voucher?.ceiling ?? 0n)
    const nextSeq = book.seqMax + 1
    if (needed > most) return fail(fault('tab-call/ceiling-low', { ceiling: `${most}`, needed: `${needed}`, nextSeq }))
    if (most > tab.deposit)
      return fail(fault('tab-call/deposit-low', { tabId, deposit: `${tab.deposit}`, needed: `${most}` }))
    if (!this.#isOfKey(tab, call)) return fail(fault('tab-call/signature', { tabId }))
    const offer = this.#market.shop.offer(serviceId)
    if (offer === undefined) return fail(fault('service/not-found', { serviceId }))
    const checked = checkRequest(offer.definition, request, this.#market.shop.context)
    if (!checked.ok) return checked
    const answer = this.#work(tab, call, price.amount)
    book.calls.set(voucher.seq, { signature: toHex(voucher.signature), answer })
    book.seqMax = Math.max(book.seqMax, voucher.seq)
    if (voucher.ceiling === most)
      book.voucher = { ...voucher, context: this.#contextOf(call), signature: toHex(voucher.signature) }
    return ok({ claim: await answer, replayed: false })
  }

  async #work(tab: Tab, call: TabPaidCall, price: bigint): Promise<AnsweredTabCall> {
    const { request, payment } = call
    const { tabId, voucher } = payment
    const serviceId = call.serviceId as ServiceId
    const book = this.#book(tabId)
    const { definition } = this.#market.shop.offer(serviceId) as NonNullable<ReturnType<TestMarket['shop']['offer']>>
    const input = readRequest(definition, request) as { readonly value: unknown }
    const signal = AbortSignal.timeout(definition.timeoutMs)
    const result = await Promise.resolve(definition.execute(input.value, this.#market.shop.context, signal))
      .then((made: unknown) => JSON.stringify(made))
      .catch(() => null)
    const charged = result === null ? 0n : price
    book.charged += charged
    const receipt = {
      ...{ tabId, seq: voucher.seq, n: book.receipts.length + 1, serviceId, context: this.#contextOf(call) },
      resultHash: result === null ? (ZERO_HEX_32 as Hash) : resultHash(Buffer.from(result)),
      ...{ outcome: result === null ? 1 : 0, charged: units(charged), cumulative: units(book.charged) },
      ...{ durationMs: 1, timeMs: this.#market.time.now() },
    }
    const message = tabReceiptMessage(this.#network, encodeTabReceipt(receipt))
    const signed = { receipt, signature: toHex(NATIVE_BACKEND.signEd25519(message, this.#receiptSeed)) }
    book.receipts.push(signed)
    return {
      ...{ state: result === null ? 'failed' : 'delivered', tabId, serviceId, caller: tab.payer },
      ...{ requestHash: requestHash(serviceId, request), receipt: signed, result },
      finishedAtMs: this.#market.time.now(),
      ...(result === null ? UNDELIVERED : { reason: null, message: null }),
    } as AnsweredTabCall
  }

  #contextOf({ serviceId, request, payment }: TabPaidCall): Hash {
    const { agentId } = this.#market.operator
    return requestCommitment(payment.voucher.secret, { agentId, serviceId: serviceId as ServiceId, request })
  }

  #isOfKey(tab: Tab, call: TabPaidCall): boolean {
    const { tabId, voucher } = call.payment
    const { seq, ceiling, signature } = voucher
    const message = voucherMessage(this.#network, tabId, { seq, ceiling, context: this.#contextOf(call) })
    return this.#isSigned(tab, { tabId, message, signature }, call.from)
  }

  #isSigned(
    { voucherKey }: Tab,
    {
      tabId,
      message,
      signature,
    }: { readonly tabId: TxId; readonly message: Uint8Array; readonly signature: Uint8Array },
    from: Holder | undefined,
  ): boolean {
    this.checked += 1
    const isGood = verifyTabSignature(NATIVE_BACKEND, { key: fromHex(voucherKey), message, signature })
    if (!isGood)
      for (const name of [tabId, from?.address ?? '']) this.#wrong.set(name, (this.#wrong.get(name) ?? 0) + 1)
    return isGood
  }

  #spent(tabId: TxId, from: Holder | undefined): Fault | null {
    const has = (name: string, most: number): boolean => (this.#wrong.get(name) ?? 0) >= most
    if (has(tabId, WRONG.ofTab)) return fault('tab-call/failing', { seconds: 60 })
    return has(from?.address ?? '', WRONG.ofClient) ? fault('tab-call/failing', { seconds: 60 }) : null
  }
}
