import { taggedHashHex } from '../../../../consensus/crypto/hash.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import { isChatText } from '../../../../marketplace/services/text/chat-line.ts'
import { fieldsOf, type NodeAnswer } from '../../http.ts'
import { VerificationError } from '../errors.ts'
import { receiptOf } from '../receipts.ts'
import { errorOfAnswer } from '../refusals.ts'
import { interrupted } from '../settling.ts'
import type { CallResult, Receipt, VerifiedReceipt } from '../shapes.ts'
import type { Disbelief } from './tab-book.ts'
import type { TabCore } from './tab-core.ts'
import { NotChargedError, TAB_STOPPED, TabStoppedError } from './tab-errors.ts'
import type { CallPrice, TabGuards } from './tab-guards.ts'
import { disbeliefOf, moreThanAsked, type TabFloor } from './tab-judge.ts'
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

  /**
   * Checks and notes the receipt of a call. `isHearsay`: another client brings it, and its result was not seen. Errors:
   * `NotChargedError`, and `VerificationError`, with the tab stopped unless a server on the way may be to blame.
   */
  async accept<R>(
    call: CallNote,
    { status, body, settled = {} }: NodeAnswer,
    isHearsay = false,
  ): Promise<CallResult<R>> {
    const receipt = readReceipt(fieldsOf(body.receipt).tab)
    const answer = { result: body.result as R, receipt: receiptOf(body) }
    const { network } = this.#core
    const isSigned = receipt !== undefined && (await isReceiptOf(network, this.#core.receiptKey, receipt))
    if (receipt === undefined || !isSigned) {
      const told = { reason: 'an answer came without a receipt of the seller', proof: null }
      throw await this.#unverified(call, answer, { ...told, isHearsay })
    }
    // A receipt of another call, as a cache or a server on the way would give it, is no answer to this one.
    if (!isOf(call, receipt)) this.#unclear(call)
    const wrong =
      this.#misfit(call, receipt, isHearsay ? null : { result: body.result }) ?? (await this.#contradiction(receipt))
    if (wrong !== null) throw await this.#unverified(call, answer, { ...wrong, isHearsay })
    const isNew = this.#core.book.receiptOf(receipt.seq) === undefined
    if (isNew) await this.#keep(call, receipt)
    this.#core.book.file(receipt)
    if (this.#core.fresh === call.transaction) this.#core.fresh = null
    const next = nextPriceIn(settled)
    if (next !== null) this.#guards.priced(call.serviceId, { ...next, usd: null })
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
      this.#unclear(call)
    }
  }

  /**
   * A refusal: the call was not served. The price at which to try again, or null if there is no use. `isHearsay`: another
   * server may have said it, who can have the voucher served and give an old state. Errors: `TabStoppedError` if what the
   * seller says of the tab cannot be believed.
   */
  async refused(
    call: CallNote,
    { status, body }: NodeAnswer,
    { floor, isHearsay = false }: { readonly floor: TabFloor; readonly isHearsay?: boolean },
  ): Promise<CallPrice | null> {
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
    if (status === 402 && said === null && !code.startsWith('tab_')) this.#unclear(call)
    if (said !== null) {
      // Another process with the same notes may have taken the number.
      await this.#core.reload()
      const { at, disbelief } = isHearsay
        ? { at: said, disbelief: await this.#disbelief(said, floor, false) }
        : await this.judge(said, floor, false).catch(() => this.#unclear(call))
      if (disbelief !== null) await this.#disbelieve(call, { ...disbelief, isHearsay })
      this.#core.book.skipTo(isHearsay ? (at.voucher?.seq ?? 0) + 1 : this.believed(at, this.#core.book.nextSeq))
      if (await this.#wasServed(call, at, isHearsay)) return null
    }
    if (isHearsay) this.#core.book.doubt(call)
    else {
      await this.#core.purse.keep({ what: 'refused', tabId: this.#core.tabId, context: call.context, code })
      this.#core.book.refuse(call, code)
    }
    if (offer === undefined || said === null || offer.serviceId !== call.serviceId) return null
    if (!offer.available) return null
    if (!isChatText(call.request)) this.#guards.learn(offer)
    return offer
  }

  /**
   * The state to go on from, and why it is not believed; null if it is. One that is older than a receipt may have come late:
   * then the seller is asked once more. Errors: those of its node.
   */
  async judge(
    said: SaidState,
    floor: TabFloor,
    anyCharge: boolean,
  ): Promise<{ readonly at: SaidState; readonly disbelief: Disbelief | null }> {
    const first = { at: said, disbelief: await this.#disbelief(said, floor, anyCharge) }
    if (first.disbelief === null || !('code' in first.disbelief)) return first
    const at = await this.#core.seller.state(this.#core.tabId, await this.#core.key())
    await this.#core.reload()
    return at === null ? first : { at, disbelief: await this.#disbelief(at, floor, anyCharge) }
  }

  #disbelief(said: SaidState, floor: TabFloor, anyCharge: boolean): ReturnType<typeof disbeliefOf> {
    const { tabId } = this.#core
    const { network } = this.#core
    const basis = { network, tabId, voucherKey: this.#core.opening.voucherKey, receiptKey: this.#core.receiptKey }
    return disbeliefOf(said, this.#core.book, { basis, floor, anyCharge })
  }

  /** The seller's next number, if it is not far above one that is known: else it wants to use the numbers up. */
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
  async #contradiction(receipt: TabReceiptJson): Promise<Disbelief | null> {
    if (this.#core.book.contradiction(receipt) === null) return null
    await this.#core.reload()
    return this.#core.book.contradiction(receipt)
  }

  /** Why a receipt of a call does not fit it. What a seller offered and answered is not signed, so it proves little. */
  #misfit(call: CallNote, receipt: TabReceiptJson, answer: { readonly result: unknown } | null): Disbelief | null {
    const reason = misfitOf(call, receipt, answer)
    if (reason === null) return null
    const { charged, cumulative } = receipt
    const isAbove = BigInt(charged) > BigInt(call.amount) && BigInt(cumulative) > this.#core.book.signed
    const isProven = isBrokenFailure(receipt) || isAbove
    const said = { call: { ...call, secret: '' } }
    return {
      reason,
      proof: isProven ? { kind: 'a receipt that does not fit its call', receipts: [receipt], said } : null,
    }
  }

  /** What came is not what was paid for. */
  async #unverified(
    call: CallNote,
    answer: { readonly result: unknown; readonly receipt: Receipt },
    wrong: Disbelief & { readonly isHearsay: boolean },
  ): Promise<VerificationError> {
    const isStopped = !wrong.isHearsay || wrong.proof !== null
    if (isStopped) await this.#core.stop(wrong)
    const verified = { ok: false, failed: ['receiptMatches'], checks: { ...VERIFIED.checks, receiptMatches: false } }
    const payment = this.#core.payment(call)
    const message = `the answer does not verify: ${wrong.reason}${isStopped ? '; the tab is stopped, close it' : ''}`
    return new VerificationError(message, { code: 'unverified', status: 200, ...answer, payment, verified })
  }

  /**
   * Whether a refused call was served before, as where its answer was lost and its result is deleted by now. Then what the
   * seller says was charged is only explained by it, and the seller has its receipt.
   */
  async #wasServed(call: CallNote, said: SaidState, isHearsay: boolean): Promise<boolean> {
    if (said.charged <= this.#core.book.boundWithout(call) && said.lastReceipt?.context !== call.context) return false
    await this.#fetchLost(call)
    if (this.#core.book.receiptOf(call.seq)?.context === call.context) return true
    if (said.charged <= this.#core.book.boundWithout(call)) return false
    const reason = `it charged ${said.charged}, and has no receipts for it`
    return this.#disbelieve(call, { ...moreThanAsked(said, this.#core.book, reason), isHearsay })
  }

  /** Notes the receipt of an own call whose answer was lost. */
  async #fileLost(call: CallNote, receipt: TabReceiptJson): Promise<void> {
    if (!isOf(call, receipt) || misfitOf(call, receipt, null) !== null) return
    const { network } = this.#core
    if (
      !(await isReceiptOf(network, this.#core.receiptKey, receipt)) ||
      this.#core.book.contradiction(receipt) !== null
    )
      return
    await this.#core.purse.keep({ what: 'receipt', tabId: this.#core.tabId, receipt })
    this.#core.book.file(receipt)
  }

  #unclear(call: CallNote): never {
    throw interrupted(this.#core.payment(call))
  }

  /** What a server on the way may have said stops nothing, unless the seller signed it. */
  async #disbelieve(call: CallNote, disbelief: Disbelief & { readonly isHearsay: boolean }): Promise<never> {
    if (disbelief.isHearsay && disbelief.proof === null) this.#unclear(call)
    await this.#core.stop(disbelief)
    const { code = TAB_STOPPED, evidence = null } = this.#core.book.stopped ?? {}
    const message = `not believed: ${disbelief.reason}. Nothing more is signed for this tab; close it`
    throw new TabStoppedError(message, { code, evidence })
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

/** Whether a receipt is of a call. */
function isOf(call: CallNote, { tabId, seq, context }: TabReceiptJson): boolean {
  return tabId === call.tabId && seq === call.seq && context === call.context
}

/** A failed call costs nothing and has no result. */
function isBrokenFailure({ outcome, charged, resultHash }: TabReceiptJson): boolean {
  return outcome === 1 && (charged !== '0' || resultHash !== ZERO_HEX_32)
}

/** Why a receipt does not fit its call and the answer. Null if it is. An answer that was not seen is null, and is not compared. */
function misfitOf(call: CallNote, receipt: TabReceiptJson, answer: { readonly result: unknown } | null): string | null {
  const { serviceId, charged, outcome, resultHash } = receipt
  if (serviceId !== call.serviceId) return 'the receipt is of another service'
  if (BigInt(charged) > BigInt(call.amount)) return 'the receipt charges more than the call was offered for'
  if (isBrokenFailure(receipt)) return 'the receipt charges a failed call'
  if (outcome === 1 || answer === null) return null
  const { result } = answer
  const isItsResult = result !== undefined && taggedHashHex('result', encodeText(JSON.stringify(result))) === resultHash
  return isItsResult ? null : 'the receipt is of another result'
}
