import { isChatText } from '../../../../marketplace/services/text/chat-line.ts'
import { isSameReceipt } from './tab-receipts.ts'
import type {
  CallNote,
  MoveNote,
  OpeningNote,
  StopNote,
  TabEvidence,
  TabNote,
  TabPrices,
  TabReceiptJson,
} from './tab-types.ts'

/** Number of the first call of a tab. */
const SEQ_FIRST = 1
const SEQ_LAST = 0xffff_ffff
/**
 * A seller takes 256 numbers above the lowest that it has not seen. From this distance on, numbers of refused calls are
 * used again, so that they leave no hole.
 */
const SEQ_SPREAD_MAX = 200

/** Code of a stop: the tab was found on the chain, and the wallet cannot derive its voucher key. */
export const KEY_UNKNOWN = 'key_unknown'

const BROKEN_SUMS = 'sums that do not add up'

/** Code of a number that another call has. It is not free again. */
const SEQ_USED = 'tab_seq_used'

/** Receipts that no honest seller could have signed, and what is wrong with them. */
export interface Proof {
  readonly kind: TabEvidence['kind']
  readonly receipts: readonly TabReceiptJson[]
  readonly said?: TabEvidence['said']
}

/** Why a word of a seller is not believed. Without a proof the seller may have done no wrong. */
export interface Disbelief {
  readonly reason: string
  readonly proof: Proof | null
}

/** What a client knows of one tab, from its notes in their order. Knows nothing of chain, seller or time. */
export class TabBook {
  opening: OpeningNote | null = null
  stopped: StopNote | null = null
  isOver = false
  /** The highest ceiling that was signed. */
  signed = 0n
  /** Where a wallet without notes began. Calls of an earlier process may be under way up to `ceiling`. */
  base = { charged: 0n, receipts: 0, ceiling: 0n }
  /** Top-ups that were sent and not refused. */
  readonly funds = new Map<string, MoveNote>()
  /** The newest request to close by the chain. */
  closing: MoveNote | null = null
  /** Whether this client made the tab, or has agreed to how it stands. */
  isSettled = false
  /**
   * Calls whose outcome is not known, by their context. Two processes with the same notes may give one number to two calls;
   * only one of them is served.
   */
  readonly unresolved = new Map<string, CallNote>()
  /** Receipts by their number. */
  readonly receipts = new Map<number, TabReceiptJson>()
  /** Prices of services by the chain, as this client knew them first. */
  readonly prices = new Map<string, bigint>()
  /** What the first call of a service that was answered cost at most. A price that was only offered is none. */
  readonly firstPrices = new Map<string, bigint>()
  readonly #bySeq = new Map<number, TabReceiptJson>()
  readonly #contexts = new Set<string>()
  readonly #free = new Set<number>()
  readonly #doubted = new Set<number>()
  #nextSeq = SEQ_FIRST
  #resolved = 0n
  #receiptsMax = 0
  readonly #read = new Set<string>()
  readonly #refused = new Set<string>()

  /** Takes the notes that it has not seen. Those of two pages can come in any order. */
  readAll(notes: readonly TabNote[]): void {
    for (const note of notes) {
      const name = nameOf(note)
      if (this.#read.has(name)) continue
      this.#read.add(name)
      this.#apply(note)
    }
  }

  /** What is known to be charged. */
  get charged(): bigint {
    return this.base.charged + this.#resolved
  }

  /** The most that calls without an answer may be charged. */
  get pending(): bigint {
    return this.#pendingWithout(null)
  }

  /** The most that the seller may say was charged. */
  get bound(): bigint {
    return this.#boundWithout(null)
  }

  /** The most that the seller may say was charged if it did not serve a call. */
  boundWithout({ context }: CallNote): bigint {
    return this.#boundWithout(context)
  }

  #boundWithout(context: string | null): bigint {
    const { charged, ceiling } = this.base
    return this.charged + this.#pendingWithout(context) + (ceiling > charged ? ceiling - charged : 0n)
  }

  /** Of calls with one number only one can be served. */
  #pendingWithout(left: string | null): bigint {
    const dearest = new Map<number, bigint>()
    for (const { seq, context, amount } of this.unresolved.values())
      if (context !== left && BigInt(amount) > (dearest.get(seq) ?? 0n)) dearest.set(seq, BigInt(amount))
    return [...dearest.values()].reduce((sum, amount) => sum + amount, 0n)
  }

  get nextSeq(): number {
    return this.#nextSeq
  }

  /** Highest receipt number that is known. */
  get receiptsKnown(): number {
    return Math.max(this.base.receipts, this.#receiptsMax)
  }

  /** Sum of the opening and of all top-ups, as far as these notes know them. */
  get deposited(): bigint {
    const funds = [...this.funds.values()]
    return funds.reduce((sum, { amount }) => sum + BigInt(amount), BigInt(this.opening?.deposit ?? 0))
  }

  /** Whether a call with this context was ever noted here. Another copy of the wallet has calls of its own. */
  hasCalled(context: string): boolean {
    return this.#contexts.has(context)
  }

  /** Whether all calls of the tab are in these notes. */
  get isWhole(): boolean {
    return this.opening?.tx !== null
  }

  /** The newest receipt and its sum. */
  get floor(): { readonly receipts: number; readonly charged: bigint } {
    const receipts = this.receiptsKnown
    const newest = this.receipts.get(receipts)
    return { receipts, charged: newest === undefined ? this.base.charged : BigInt(newest.cumulative) }
  }

  /** Number and ceiling of a call of at most `amount`. Null if the deposit does not reach. */
  place(amount: bigint, deposit: bigint): { readonly seq: number; readonly ceiling: bigint } | null {
    const needed = this.bound + amount
    if (needed > deposit) return null
    const lowest = Math.min(...this.#free)
    const [doubted] = this.#doubted
    const seq = doubted ?? (this.#nextSeq - lowest > SEQ_SPREAD_MAX ? lowest : this.#nextSeq)
    if (seq > SEQ_LAST) return null
    return { seq, ceiling: needed > this.signed ? needed : this.signed }
  }

  /** The seller has used all numbers below this one. */
  skipTo(seq: number): void {
    this.#nextSeq = Math.max(this.#nextSeq, seq)
  }

  /** Holds the number and the amount of a call from now on, before its note is on the disk. */
  take(call: CallNote): void {
    this.#apply(call)
  }

  /** A call that was not sent: nothing was signed for it that left this client. */
  drop({ context }: CallNote): void {
    this.#refuse(context, 'not_sent')
  }

  /** A call that was refused. */
  refuse({ context }: CallNote, code: string): void {
    this.#refuse(context, code)
  }

  /**
   * A call that another server says was refused. That server may have taken the voucher to the seller. The next call gets its
   * number, so that only one of them can be served.
   */
  doubt({ seq }: CallNote): void {
    if (!this.#bySeq.has(seq)) this.#doubted.add(seq)
  }

  /** A receipt that is on the disk. */
  file(receipt: TabReceiptJson): void {
    this.#receipt(receipt)
  }

  /** The receipt of a call. */
  receiptOf(seq: number): TabReceiptJson | undefined {
    return this.#bySeq.get(seq)
  }

  /** What is wrong with a receipt that the seller signed. Null if it fits all others. */
  contradiction(receipt: TabReceiptJson): Disbelief | null {
    const { n, seq, charged, cumulative } = receipt
    const same = this.receipts.get(n)
    if (same !== undefined && !isSameReceipt(same, receipt)) return proven('two receipts for one number', same, receipt)
    const ofCall = this.#bySeq.get(seq)
    if (ofCall !== undefined && ofCall.n !== n) return proven('two receipts for one call', ofCall, receipt)
    const [before, after] = [this.#sumAt(n - 1), this.receipts.get(n + 1)]
    if (after !== undefined && BigInt(after.cumulative) !== BigInt(cumulative) + BigInt(after.charged))
      return proven(BROKEN_SUMS, receipt, after)
    if (before !== undefined && BigInt(cumulative) !== before + BigInt(charged)) {
      const last = this.receipts.get(n - 1)
      if (last !== undefined) return proven(BROKEN_SUMS, last, receipt)
      // Only the first receipt shows it alone: the sum before another one is known by the seller's word.
      return n === 1 ? proven(BROKEN_SUMS, receipt) : { reason: BROKEN_SUMS, proof: null }
    }
    const call = this.unresolved.get(receipt.context)
    const most = call === undefined ? this.bound : this.boundWithout(call) + BigInt(charged)
    // Calls of another copy of the wallet are charged as well.
    return BigInt(cumulative) > most ? { reason: 'more charged than asked', proof: null } : null
  }

  #sumAt(n: number): bigint | undefined {
    if (n === this.base.receipts) return this.base.charged
    const receipt = this.receipts.get(n)
    return receipt === undefined ? undefined : BigInt(receipt.cumulative)
  }

  #apply(note: TabNote): void {
    switch (note.what) {
      case 'opening':
        this.opening ??= note
        if (note.tx !== null) this.isSettled = true
        this.#price(note.prices ?? {})
        break
      case 'prices':
        this.#price(note.prices)
        break
      case 'fund':
        if (!this.#refused.has(note.txId)) this.funds.set(note.txId, note)
        break
      case 'close':
        this.closing = note
        break
      case 'call':
        this.#call(note)
        break
      case 'receipt':
        this.#receipt(note.receipt)
        break
      case 'refused':
        this.#refuse(note.context, note.code)
        break
      case 'base':
        this.base = { charged: BigInt(note.charged), receipts: note.receipts, ceiling: BigInt(note.ceiling) }
        this.isSettled = true
        this.#resolved = this.#sumBehindBase()
        this.signed = BigInt(note.ceiling) > this.signed ? BigInt(note.ceiling) : this.signed
        this.skipTo(note.nextSeq)
        break
      case 'stop':
        this.stopped ??= note
        break
      case 'end':
        this.isOver = true
        break
    }
  }

  #price(prices: TabPrices): void {
    for (const [serviceId, price] of Object.entries(prices))
      if (!this.prices.has(serviceId)) this.prices.set(serviceId, BigInt(price))
  }

  #refuse(context: string, code: string): void {
    this.funds.delete(context)
    this.#refused.add(context)
    const call = this.unresolved.get(context)
    if (call === undefined) return
    this.unresolved.delete(context)
    const isShared = [...this.unresolved.values()].some(({ seq }) => seq === call.seq)
    if (code !== SEQ_USED && !isShared && !this.#bySeq.has(call.seq)) this.#free.add(call.seq)
  }

  #call(call: CallNote): void {
    const { seq, ceiling, context, signature } = call
    this.#contexts.add(context)
    if (!this.#bySeq.has(seq) && !this.#refused.has(context)) this.unresolved.set(context, call)
    this.#free.delete(seq)
    this.#doubted.delete(seq)
    this.skipTo(seq + 1)
    // A draft has no signature yet, and may never get one.
    if (signature !== '' && BigInt(ceiling) > this.signed) this.signed = BigInt(ceiling)
  }

  #receipt(receipt: TabReceiptJson): void {
    if (this.receipts.has(receipt.n)) return
    this.receipts.set(receipt.n, receipt)
    this.#receiptsMax = Math.max(this.#receiptsMax, receipt.n)
    this.#bySeq.set(receipt.seq, receipt)
    for (const { seq, context, serviceId, amount, request } of this.unresolved.values()) {
      if (seq !== receipt.seq) continue
      this.unresolved.delete(context)
      const isPaid = context === receipt.context && receipt.outcome === 0 && receipt.charged !== '0'
      // Each chat has a price of its own.
      if (isPaid && !isChatText(request) && !this.firstPrices.has(serviceId))
        this.firstPrices.set(serviceId, BigInt(amount))
    }
    this.#free.delete(receipt.seq)
    this.#doubted.delete(receipt.seq)
    if (receipt.n > this.base.receipts) this.#resolved += BigInt(receipt.charged)
  }

  #sumBehindBase(): bigint {
    const behind = [...this.receipts.values()].filter(({ n }) => n > this.base.receipts)
    return behind.reduce((sum, { charged }) => sum + BigInt(charged), 0n)
  }
}

function proven(kind: Proof['kind'], ...receipts: readonly TabReceiptJson[]): Disbelief {
  return { reason: kind, proof: { kind, receipts } }
}

/** Tells notes of one tab apart. */
function nameOf(note: TabNote): string {
  switch (note.what) {
    case 'call':
      return `call ${note.context}`
    case 'receipt':
      return `receipt ${note.receipt.signature}`
    default:
      return JSON.stringify(note)
  }
}
