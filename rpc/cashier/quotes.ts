import type { Chain } from '../../consensus/chain/chain.ts'
import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { checkRequest } from '../../marketplace/services/service.ts'
import { channelWord } from '../../marketplace/till/rails/dollar/channel/words.ts'
import type { Offer } from '../../marketplace/till/shop.ts'
import { httpFault } from '../contract/http-faults.ts'
import { moment } from '../json/chain-json.ts'
import { asSentence, shortened } from '../json/shortened.ts'
import type { MarketApi } from '../node/node-api.ts'
import { offerExtensions, offerResource } from './extensions.ts'
import { type OfferState, offerState } from './offer-state.ts'
import { paymentOptions, type Rail, resourceUrl, shortReason, shownOptions } from './options.ts'

/** The parts of a 402 answer that are the same for all callers until `stamp` changes. */
interface QuoteText {
  readonly stamp: string
  readonly error: string
  /** The body after the fields that differ by request. */
  readonly tail: string
  /** The header `PAYMENT-REQUIRED` of an unpaid call, in base64. */
  readonly header: string
  /** The terms in x402 version 2, without their error. */
  readonly terms: string
}

/** `header` is the value of the header `PAYMENT-REQUIRED`. */
export interface QuoteAnswer {
  readonly body: string
  readonly header: string
}

/** What a quote takes from its request. */
export interface RequestFacts {
  readonly requestId: string
  readonly baseUrl: string
  /** Leaves only the options of one rail. */
  readonly rail?: Rail | undefined
  /** URL of the resource in x402 version 2. Default: the service's own URL, with the rail. */
  readonly resource?: string | undefined
}

/** Facts of a kept text. */
interface TextFacts extends Omit<RequestFacts, 'requestId'> {
  /** Whether the options cannot be paid, because the request cannot be used. */
  readonly isWithheld?: boolean | undefined
  /** Whether there are no options, because the caller must not pay again: see {@link wantsAnother}. */
  readonly isPaid?: boolean | undefined
  /**
   * Whether tabs are among the options without a filter. Not over HTTP: with them the header would be larger than some
   * facilitators take.
   */
  readonly withTabs?: boolean | undefined
}

/** What a refusal adds to a quote. */
interface Correction {
  /** What is added to `extra` of the options, so that a client can go on from there. Null: nothing. */
  readonly corrective?: object | null | undefined
}

/** Maximum texts kept. There is one for each service, base address, resource, rail, and state of the options. */
const TEXTS_MAX = 4_000
const ERROR_CHARS_MAX = 90

/**
 * 402 answers: the body in x402 version 1 and the header in version 2, with the same terms. A text is kept until the head or the state of
 * the market changes, so that a quote costs little.
 */
export class QuoteBook {
  readonly #chain: Chain
  readonly #market: MarketApi
  readonly #texts = new Map<string, QuoteText>()

  constructor(chain: Chain, market: MarketApi) {
    this.#chain = chain
    this.#market = market
  }

  unpaid(offer: Offer, request: string | undefined, facts: RequestFacts): QuoteAnswer {
    const unusable = this.#unusable(offer, request)
    const withheld = isWithheld(request ?? '', unusable === null)
    const { error, tail, header } = this.#text(offer, { ...facts, isWithheld: withheld })
    const extra = requestFields(offer, unusable)
    return { body: quoteBody({ error, code: 'payment_required', requestId: facts.requestId, extra, tail }), header }
  }

  refused(offer: Offer, cause: Fault, { corrective = null, ...facts }: RequestFacts & Correction): QuoteAnswer {
    const { tail, terms } = this.#text(offer, { ...facts, isPaid: !wantsAnother(cause) })
    const error = JSON.stringify(faultMessage(cause))
    const extra = `"details":${JSON.stringify(cause.detail)},`
    const parts = { error, code: httpFault(cause.code).api, requestId: facts.requestId, extra }
    const body = quoteBody({ ...parts, tail: withExtra(tail, corrective) })
    return { body, header: base64(termsText(inHeader(wordsOf(cause)), withExtra(terms, corrective))) }
  }

  /** Terms in x402 version 2, for MCP, A2A and catalogues. */
  terms(
    offer: Offer,
    facts: RequestFacts & TextFacts & Correction & { readonly cause?: Fault | undefined },
  ): Readonly<Record<string, unknown>> {
    const { error, terms } = this.#text(offer, facts)
    const { cause, isWithheld, corrective = null } = facts
    const message = cause === undefined ? '' : wordsOf(cause)
    const refusal = isWithheld ? `${asSentence(message)} Do not pay now: correct the request first.` : message
    const said = cause === undefined ? error : JSON.stringify(refusal)
    return JSON.parse(termsText(said, withExtra(terms, corrective))) as Readonly<Record<string, unknown>>
  }

  #text(offer: Offer, facts: TextFacts): QuoteText {
    const { shop, stable, tabs, channels } = this.#market
    const { baseUrl, rail, resource, isWithheld = false, isPaid = false, withTabs = false } = facts
    const { serviceId } = offer.definition
    const key = `${serviceId} ${rail ?? ''} ${isWithheld} ${isPaid} ${withTabs} ${resource ?? ''} ${baseUrl}`
    const { head, moving } = this.#chain
    const ready = offer.definition.ready(shop.context)
    const unready = ready.available ? '' : ready.reason
    const price = withTabs || rail === 'tab' ? tabs?.priceOf(serviceId) : undefined
    const noTabs = price !== undefined && 'reason' in price ? price.reason : ''
    const closed = [shop, stable, channels].map((one) => one?.closedBecause ?? '').join(' ')
    const stamp = `${head.id} ${moving} ${closed} ${unready} ${noTabs}`
    const known = this.#texts.get(key)
    if (known?.stamp === stamp) return known
    const text = { stamp, ...this.#compose(offer, facts) }
    if (this.#texts.size >= TEXTS_MAX) this.#texts.clear()
    this.#texts.set(key, text)
    return text
  }

  #compose(offer: Offer, facts: TextFacts): Omit<QuoteText, 'stamp'> {
    const { baseUrl, rail, isWithheld = false, isPaid = false, withTabs = false } = facts
    const { serviceId, name } = offer.definition
    const { resource = resourceUrl(baseUrl, serviceId, rail) } = facts
    const state = offerState(this.#chain, this.#market, offer)
    const reason = reasonOver(state, rail)
    const basis = { chain: this.#chain, market: this.#market, offer, baseUrl }
    const options = isPaid ? [] : paymentOptions(basis, state, rail, withTabs)
    const unusable = isWithheld ? ', but this request cannot be used; correct it first. Do not pay now.' : ''
    const off = railOff(state, rail)
    const error = JSON.stringify(
      reason === null
        ? `Payment required${off}: ${name}${unusable}`
        : `Payment required${off}, but ${serviceId} is unavailable: ${asSentence(shortReason(reason))} Do not pay now.`,
    )
    const tail = {
      serviceId,
      available: reason === null,
      ...(reason === null ? {} : { unavailableReason: reason }),
      expiresAt: moment(
        this.#expiryMs((rail === 'tab' ? state.tab?.price : null)?.validUntil ?? state.native.quote?.validUntil),
      ),
      ...shownOptions(options, 'v1', isWithheld),
    }
    const terms = {
      resource: offerResource(offer.definition, resource),
      ...shownOptions(options, 'v2', isWithheld),
      extensions: offerExtensions(offer.definition),
    }
    const rest = JSON.stringify(terms).slice(1)
    return { error, tail: JSON.stringify(tail).slice(1), terms: rest, header: base64(termsText(error, rest)) }
  }

  #unusable({ definition }: Offer, request: string | undefined): string | null {
    const checked = checkRequest(definition, request ?? '', this.#market.shop.context)
    return checked.ok ? null : String(checked.fault.detail.reason)
  }

  /** When the last block that honours the native price is due. */
  #expiryMs(validUntil: number | undefined): number {
    const { header } = this.#chain.head
    const blocks = validUntil === undefined ? 0 : validUntil - header.height
    return header.timeMs + blocks * this.#chain.ruleBook.at(header.height).block.spacingMs
  }
}

/**
 * Whether the options of a quote must not be payable. A stock client pays without checking its request, so an unusable
 * request gets nothing to pay. An empty request only asks for price and format.
 */
export function isWithheld(request: string, isUsable: boolean): boolean {
  return !isUsable && request.trim() !== ''
}

/** Says whether the request can be used, so that no caller pays for a typo. */
function requestFields({ definition: { example, requestFormat } }: Offer, reason: string | null): string {
  if (reason === null) return '"requestValid":true,'
  return `"requestValid":false,"requestError":${JSON.stringify({ reason, example, requestFormat })},`
}

/** Says that the asked rail is off; empty if it is on. */
function railOff({ stable, tab, channel }: OfferState, rail: Rail | undefined): string {
  if (rail === 'channel' && channel === null) return ' (this node takes no channels: each call is paid by itself)'
  if (rail === 'stable' && stable === null) return ' (this node takes no stablecoin: its own coin is what is asked for)'
  return rail === 'tab' && tab === null ? ' (this node takes no tabs: each call is paid by itself)' : ''
}

/** Why an offer cannot be bought over the rails that a quote shows, or null. */
function reasonOver(state: OfferState, rail: Rail | undefined): string | null {
  if (rail === 'tab' && state.tab !== null) return state.tab.reason
  if (rail === 'channel' && state.channel !== null) return state.channel.reason
  if (state.stable === null || rail === undefined) return state.reason
  return state[rail]?.reason ?? null
}

function quoteBody(parts: { error: string; code: string; requestId: string; extra: string; tail: string }): string {
  const { error, code, requestId, extra, tail } = parts
  return `{"x402":true,"x402Version":1,"error":${error},"code":"${code}","requestId":"${requestId}",${extra}${tail}`
}

function termsText(error: string, terms: string): string {
  return `{"x402Version":2,"error":${error},${terms}`
}

/** Adds members to `extra` of every option of a text. The text is an object without its opening brace. */
function withExtra(text: string, extra: object | null): string {
  if (extra === null) return text
  const whole = JSON.parse(`{${text}`) as Readonly<Record<string, unknown>>
  const more = (options: readonly { readonly extra: object }[]): readonly object[] =>
    options.map((option) => ({ ...option, extra: { ...option.extra, ...extra } }))
  const added = ['accepts', 'offers'].flatMap((name) => (name in whole ? [[name, more(whole[name] as [])]] : []))
  return JSON.stringify({ ...whole, ...Object.fromEntries(added) }).slice(1)
}

/** A refusal in the words that official clients know, where there are any: they act on them. */
function wordsOf(cause: Fault): string {
  return channelWord(cause) ?? faultMessage(cause)
}

/** An error as JSON, short enough for a header; the body has all of it. */
function inHeader(error: string): string {
  return JSON.stringify(shortened(error, ERROR_CHARS_MAX))
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/**
 * Whether another payment would help. Only then does the answer have options, because an automatic client pays one. The client must not
 * pay again if its payment waits for a block, or is good once the shape, the secret or the request of the call is corrected.
 */
export function wantsAnother({ code, detail }: Fault): boolean {
  const { status, retry } = httpFault(code)
  return status === 402 && !retry && code !== 'pay/unreadable' && detail.correctable !== true
}

const QUOTE_BOOKS = new WeakMap<MarketApi, QuoteBook>()

/** The one book of quotes of a market, so that HTTP, MCP and A2A quote the same. */
export function quoteBook(chain: Chain, market: MarketApi): QuoteBook {
  let book = QUOTE_BOOKS.get(market)
  if (book === undefined) {
    book = new QuoteBook(chain, market)
    QUOTE_BOOKS.set(market, book)
  }
  return book
}
