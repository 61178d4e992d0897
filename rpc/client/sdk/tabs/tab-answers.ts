import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { isChatText } from '../../../../marketplace/services/text/chat-line.ts'
import { fieldsOf, type NodeAnswer } from '../../http.ts'
import { VerificationError } from '../errors.ts'
import { receiptOf } from '../receipts.ts'
import { errorOfAnswer } from '../refusals.ts'
import { interrupted } from '../settling.ts'
import type { CallResult, Receipt, VerifiedReceipt } from '../shapes.ts'
import type { TabCore } from './tab-core.ts'
import { NotChargedError, TabStoppedError } from './tab-errors.ts'
import type { CallPrice, TabGuards } from './tab-guards.ts'
import { type Disbelief, disbeliefOf, moreThanAsked, type TabFloor } from './tab-judge.ts'
import { isReceiptOf, readReceipt } from './tab-receipts.ts'
import type { CallNote, TabReceiptJson } from './tab-types.ts'
import { nextPriceIn, readTabOffer, type SaidState } from './tab-wire.ts'

/** Code of an answer whose result the seller has deleted. */
export const RESULT_EXPIRED = 'result_expired'
/** Most receipts that are looked through for a lost one. */
const LOST_MAX = 10_000
/** So far a seller's next number may be above all that this client knows: two windows of 256, twice. */
const SEQ_AHEAD_MAX = 1_024

/** What is done with an answer of the seller. Nothing in it is believed that it has not signed. */
export class TabAnswers {
  readonly #core: TabCore
  readonly #guards: TabGuards

  constructor(core: TabCore, guards: TabGuards) {
    this.#core = core
    this.#guards = guards
  }

  /** Checks and notes the receipt of a call. Errors: `NotChargedError`, and `VerificationError` with the tab stopped. */
  async accept<R>(call: CallNote, { status, body, settled = {} }: NodeAnswer, isSeen = true): Promise<CallResult<R>> {
    const receipt = readReceipt(fieldsOf(body.receipt).tab)
    const answer = { result: body.result as R, receipt: receiptOf(body) }
    const { network } = this.#core
    const isSigned = receipt !== undefined && (await isReceiptOf(network, this.#core.receiptKey, receipt))
    if (receipt === undefined || !isSigned) {
      const reason = 'an answer came without a receipt of the seller'
      await this.#core.stop({ reason, kind: null }, null)
      throw this.#unverified(call, answer, reason)
    }
    // A receipt of another call of this client, as a cache on the way would give it, is no answer to this one.
    if (receipt.context !== call.context && this.#core.book.hasCalled(receipt.context))
      throw interrupted(this.#core.payment(call))
    const wrong = misfitOf(call, receipt, isSeen ? { result: body.result } : null)
    if (wrong !== null) {
      const kind = 'a receipt that does not fit its call'
      await this.#core.stop(
        { reason: wrong, kind },
        this.#core.evidence(kind, [receipt], { call: { ...call, secret: '' } }),
      )
      throw this.#unverified(call, answer, wrong)
    }
    await this.#checkAgainstOthers(call, receipt, answer)
    const isNew = this.#core.book.receiptOf(receipt.seq) === undefined
    if (isNew) await this.#keep(call, receipt)
    this.#core.book.file(receipt)
    if (this.#core.fresh === call.transaction) this.#core.fresh = null
    const next = nextPriceIn(settled)
    if (next !== null) this.#guards.priced(call.serviceId, { amount: next, usd: null })
    const payment = { ...this.#core.payment(call), amount: BigInt(receipt.charged) }
    if (receipt.outcome === 1) {
      const { message, code, details } = errorOfAnswer({ status, body })
      throw new NotChargedError(`${message.replace(/\.?$/, '.')} Nothing was charged.`, {
        ...{ code, details, status, payment, receipt },
      })
    }
    const facts = { tabId: this.#core.tabId, seq: call.seq, charged: BigInt(receipt.charged), receipt }
    return { ...answer, payment, verified: VERIFIED, tab: facts }
  }

  /** The call was served: it must not be paid in another way because its receipt could not be noted. */
  async #keep(call: CallNote, receipt: TabReceiptJson): Promise<void> {
    try {
      await this.#core.purse.keep({ what: 'receipt', tabId: this.#core.tabId, receipt })
    } catch {
      throw interrupted(this.#core.payment(call))
    }
  }

  /**
   * A refusal: the call was not served. The price at which to try again, or null if there is no use. Errors:
   * `TabStoppedError` if what the seller says of the tab cannot be believed.
   */
  async refused(call: CallNote, { status, body }: NodeAnswer, floor: TabFloor): Promise<CallPrice | null> {
    const code = typeof body.code === 'string' ? body.code : 'refused'
    if (code === RESULT_EXPIRED) {
      await this.#fetchLost(call)
      return null
    }
    const offer = readTabOffer(body, this.#core.purse.parts.facts)
    // Another seller than that of the tab cannot know what became of the call.
    if (offer !== undefined) this.#guards.checkOffer(offer)
    const said = offer?.state ?? null
    // A seller that has judged the voucher says how the tab stands, or why there is none. Other terms may come from between.
    if (status === 402 && said === null && !code.startsWith('tab_')) throw interrupted(this.#core.payment(call))
    if (said !== null) {
      // Another process with the same notes may have taken the number.
      await this.#core.reload()
      const disbelief = await this.judge(said, floor, false)
      if (disbelief !== null) await this.#stopAndThrow(disbelief, said)
      this.#skipTo(said)
      if (await this.#wasServed(call, said)) return null
    }
    await this.#core.purse.keep({ what: 'refused', tabId: this.#core.tabId, context: call.context, code })
    this.#core.book.refuse(call, code)
    if (offer === undefined || said === null || offer.serviceId !== call.serviceId) return null
    if (!offer.available) return null
    if (!isChatText(call.request)) this.#guards.learn(offer)
    return { amount: offer.amount, usd: offer.usd }
  }

  /** Why a state is not believed; null if it is. */
  judge(said: SaidState, floor: TabFloor, anyCharge: boolean): Promise<Disbelief | null> {
    const { tabId } = this.#core
    const { network } = this.#core
    const basis = { network, tabId, voucherKey: this.#core.opening.voucherKey, receiptKey: this.#core.receiptKey }
    return disbeliefOf(said, this.#core.book, { basis, floor, anyCharge })
  }

  /** Numbers of calls are far apart only in the word of a seller that wants to use them up. */
  #skipTo(said: SaidState): void {
    this.#core.book.skipTo(this.believed(said, this.#core.book.nextSeq))
  }

  /** The seller's next number, if it is not far above one that is known. */
  believed({ nextSeq, lastReceipt }: SaidState, known: number): number {
    return Math.min(nextSeq, Math.max(known, lastReceipt?.n ?? 0) + SEQ_AHEAD_MAX)
  }

  /**
   * Asks the seller for the receipt of a call whose answer was lost. Receipts of other calls are left: their results can
   * still be asked for.
   */
  async #fetchLost(call: CallNote): Promise<void> {
    const known = this.#core.book.receipts
    let from = this.#core.book.base.receipts + 1
    while (known.has(from)) from += 1
    const given = await this.#core.seller.receipts(this.#core.tabId, await this.#core.key(), from, LOST_MAX)
    for (const receipt of given) if (receipt.context === call.context) await this.#fileLost(call, receipt)
  }

  /** A second look at the journal: another process with the same notes may have made calls. */
  async #checkAgainstOthers(
    call: CallNote,
    receipt: TabReceiptJson,
    answer: { readonly result: unknown; readonly receipt: Receipt },
  ): Promise<void> {
    if (this.#core.book.contradiction(receipt) === null) return
    await this.#core.reload()
    const found = this.#core.book.contradiction(receipt)
    if (found === null) return
    await this.#core.stop({ reason: found.kind, kind: found.kind }, this.#core.evidence(found.kind, found.with, null))
    throw this.#unverified(call, answer, found.kind)
  }

  #unverified(
    call: CallNote,
    answer: { readonly result: unknown; readonly receipt: Receipt },
    reason: string,
  ): VerificationError {
    const verified = { ok: false, failed: ['receiptMatches'], checks: { ...VERIFIED.checks, receiptMatches: false } }
    const payment = this.#core.payment(call)
    const message = `the answer does not verify: ${reason}; the tab is stopped, close it`
    return new VerificationError(message, { code: 'unverified', status: 200, ...answer, payment, verified })
  }

  /**
   * Whether a refused call was served before, as where its answer was lost and its result is deleted by now. Then what the
   * seller says was charged is only explained by it, and the seller has its receipt.
   */
  async #wasServed(call: CallNote, said: SaidState): Promise<boolean> {
    if (said.charged <= this.#core.book.boundWithout(call) && said.lastReceipt?.context !== call.context) return false
    await this.#fetchLost(call)
    if (this.#core.book.receiptOf(call.seq)?.context === call.context) return true
    if (said.charged <= this.#core.book.boundWithout(call)) return false
    const reason = `it charged ${said.charged}, and has no receipts for it`
    return this.#stopAndThrow(moreThanAsked(said, this.#core.book, reason), said)
  }

  /** Notes the receipt of an own call whose answer was lost. */
  async #fileLost(call: CallNote, receipt: TabReceiptJson): Promise<void> {
    if (misfitOf(call, receipt, null) !== null) return
    const { network } = this.#core
    if (
      !(await isReceiptOf(network, this.#core.receiptKey, receipt)) ||
      this.#core.book.contradiction(receipt) !== null
    )
      return
    await this.#core.purse.keep({ what: 'receipt', tabId: this.#core.tabId, receipt })
    this.#core.book.file(receipt)
  }

  async #stopAndThrow(disbelief: Disbelief, said: SaidState): Promise<never> {
    await this.#core.stop(disbelief, null, said)
    const { stopped } = this.#core.book
    const message = `not believed: ${disbelief.reason}. Nothing more is signed for this tab; close it`
    throw new TabStoppedError(message, { code: 'tab_stopped', evidence: stopped?.evidence ?? null })
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
