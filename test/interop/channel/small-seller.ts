import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { Fields } from '../../../consensus/primitives/fields.ts'
import {
  depositAnswer,
  failedAnswer,
  refundAnswer,
  voucherAnswer,
} from '../../../marketplace/till/rails/dollar/channel/answers.ts'
import type { ChannelChain } from '../../../marketplace/till/rails/dollar/channel/chain.ts'
import type {
  ChannelPayment,
  ChannelState,
  ChannelVoucher,
  ClaimRow,
} from '../../../marketplace/till/rails/dollar/channel/channel.ts'
import {
  checkCeiling,
  checkChannel,
  checkDeposit,
  checkVoucherSignature,
  isSignedOnChain,
  offeredAmount,
  refundable,
} from '../../../marketplace/till/rails/dollar/channel/checks.ts'
import { readChannelPayment } from '../../../marketplace/till/rails/dollar/channel/payment.ts'
import { channelOffer, correctiveOffer } from '../../../marketplace/till/rails/dollar/channel/terms.ts'
import { channelWord } from '../../../marketplace/till/rails/dollar/channel/words.ts'
import { decode, encode } from '../x402/payments.ts'
import { AMOUNT, type ChannelShop, rowOf } from './channel-shop.ts'

/** What a seller remembers of a channel. */
interface Book {
  charged: bigint
  state: ChannelState
  /** The payment with the highest voucher. */
  last: ChannelPayment | null
}

/** A seller that does one call after another and remembers in memory: enough to see what official clients make of our answers. */
export class SmallSeller {
  readonly books = new Map<string, Book>()
  /** Answers of all requests: the status, and the error of a 402. */
  readonly said: (readonly [number, string?])[] = []
  /** Ceilings of the vouchers that paid. */
  readonly ceilings: bigint[] = []
  /** What the next call costs. */
  price = AMOUNT
  readonly #shop: ChannelShop

  readonly #channels: ChannelChain

  constructor(shop: ChannelShop, channels: ChannelChain = shop.channels) {
    this.#shop = shop
    this.#channels = channels
  }

  /** Takes the place of `fetch` in a client. */
  fetch = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const request = new Request(input, init)
    const header = request.headers.get('payment-signature')
    if (header === null) return this.#refuse(request.url, 'payment required', channelOffer(this.#shop.terms, AMOUNT))
    const read = readChannelPayment(decode(header), 'the header', this.#shop.terms)
    if (!read.ok) return this.#refuse(request.url, faultMessage(read.fault), channelOffer(this.#shop.terms, AMOUNT))
    return this.#take(request.url, read.value)
  }

  /** What can be claimed now, with all that was charged. */
  rows(): readonly ClaimRow[] {
    return [...this.books.values()].flatMap(({ last, charged }) => (last === null ? [] : [rowOf(last, charged)]))
  }

  async #take(url: string, payment: ChannelPayment): Promise<Response> {
    const { terms } = this.#shop
    const { channelId } = payment.voucher
    const offer = channelOffer(terms, AMOUNT)
    const amount = offeredAmount(payment, terms, [AMOUNT])
    const refusal = amount.ok ? this.#refusal(payment) : amount.fault
    if (refusal !== null) return this.#refuse(url, wordOf(refusal), offer)
    const verified = await this.#channels.verify(payment, AMOUNT)
    const known = this.books.get(channelId)
    if (!verified.ok && known === undefined) return this.#refuse(url, wordOf(verified.fault), offer)
    const state = verified.ok ? verified.value : (known as Book).state
    const book = known ?? { charged: state.totalClaimed, state, last: null }
    this.books.set(channelId, { ...book, state })
    const wrong = checkCeiling(payment, { charged: book.charged, amount: AMOUNT, state })
    const last: ChannelVoucher | null = book.last?.voucher ?? null
    const standing = { channelId, state, charged: book.charged }
    if (wrong !== null) return this.#refuse(url, wordOf(wrong), correctiveOffer(offer, standing, last))
    return this.#serve(url, payment, { ...book, state })
  }

  #refusal(payment: ChannelPayment): Fault | null {
    const { terms } = this.#shop
    const ofChannel = checkChannel(payment, terms)
    if (ofChannel !== null || isSignedOnChain(payment)) return ofChannel
    const ofVoucher = checkVoucherSignature(payment, terms)
    return ofVoucher ?? (payment.kind === 'deposit' ? checkDeposit(payment, terms, Date.now()) : null)
  }

  async #serve(url: string, payment: ChannelPayment, book: Book): Promise<Response> {
    const { terms } = this.#shop
    const { channelId } = payment.voucher
    const basis = (state: ChannelState, charged: bigint) => {
      this.books.set(channelId, { charged, state, last: payment })
      return { network: terms.network.caip2, payer: payment.config.payer, standing: { channelId, state, charged } }
    }
    if (payment.kind === 'refund') {
      const left = refundable(payment, book)
      if (!left.ok) return this.#fail(url, wordOf(left.fault))
      const claims = book.charged > book.state.totalClaimed ? [rowOf(payment, book.charged)] : []
      const { refundNonce } = book.state
      const done = await this.#channels.refund({ payment, amount: left.value, refundNonce, claims })
      return done.is === 'done'
        ? this.#answer(refundAnswer(basis(done.state, book.charged), done))
        : this.#fail(url, done.is)
    }
    const charged = book.charged + this.price
    this.ceilings.push(payment.voucher.maxClaimable)
    if (payment.kind === 'voucher') return this.#answer(voucherAnswer(basis(book.state, charged), this.price))
    const done = await this.#channels.deposit(payment, AMOUNT)
    return done.is === 'done'
      ? this.#answer(depositAnswer(basis(done.state, charged), this.price, done))
      : this.#fail(url, done.is)
  }

  #answer(response: Fields): Response {
    this.said.push([200])
    return Response.json({ served: true }, { headers: { 'payment-response': encode(response) } })
  }

  #refuse(url: string, error: string, offer: object, headers: Readonly<Record<string, string>> = {}): Response {
    this.said.push([402, error])
    const required = { x402Version: 2, error, resource: { url, description: '', mimeType: '' }, accepts: [offer] }
    return Response.json({}, { status: 402, headers: { 'payment-required': encode(required), ...headers } })
  }

  #fail(url: string, reason: string): Response {
    const { terms } = this.#shop
    const failed = { 'payment-response': encode(failedAnswer(terms.network.caip2, reason)) }
    return this.#refuse(url, reason, channelOffer(terms, AMOUNT), failed)
  }
}

function wordOf(fault: Fault): string {
  return channelWord(fault) ?? faultMessage(fault)
}
