import { type Static, Type } from 'typebox'
import { type Fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok } from '../../../consensus/primitives/result.ts'
import { DOCUMENT_BYTES_MAX, DOCUMENT_PAGES_MAX } from '../../ports/documents.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { type RequestForm, refusal, unusable } from '../requests.ts'
import { defineService, type ServiceDefinition, type ServiceFacts } from '../service.ts'
import { type Decimal, decimalText, unitsAt } from './decimal.ts'
import { DOCUMENT_REQUEST_BYTES_MAX } from './exact-json.ts'
import { codePointName } from './fields.ts'
import { type DocumentKind, requestFormatOf } from './kinds.ts'
import { Problem } from './readers.ts'
import {
  credited,
  creditProblem,
  type Discount,
  type DocumentItem,
  type DocumentRequest,
  deadlineProblem,
  discountProblem,
  paymentProblem,
  prepaidProblem,
  readDocumentRequest,
  textsOf,
} from './request.ts'
import samples from './samples.json' with { type: 'json' }
import { sheetOf } from './sheet.ts'
import type { DocumentTerms } from './sheet-sums.ts'
import { computeTotals, currencyDigits, type Totals, type VatTotal } from './totals.ts'

/** The engine pool allows a document 5 s. The other 5 s are for the wait for a free process and for its start. */
const TIMEOUT_MS = 10_000
/** The file as base64, and the fields of the request, which may be longer in the result. */
const RESULT_BYTES_MAX = Math.ceil(DOCUMENT_BYTES_MAX / 3) * 4 + 4 * DOCUMENT_REQUEST_BYTES_MAX
const CHARACTERS_SHOWN_MAX = 20

const MONEY = Type.String({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$' })
const RATE = Type.Number({ minimum: 0, maximum: 100 })
const DAY = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' })

const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  type: Type.String(),
  number: Type.String(),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  issueDate: DAY,
  dueOrValidUntil: Type.Optional(DAY),
  deliveryDate: Type.Optional(DAY),
  pricesIncludeVat: Type.Optional(Type.Literal(true)),
  lines: Type.Array(
    Type.Object({
      description: Type.String(),
      qty: MONEY,
      unitPrice: MONEY,
      /** Only for items with a rate of their own. */
      vatPercent: Type.Optional(RATE),
      /** Before VAT; only if prices do not include it. */
      net: Type.Optional(MONEY),
      /** With VAT; only if prices include it. */
      gross: Type.Optional(MONEY),
    }),
  ),
  /** The discount on `itemsTotal`, the sum of the lines; only if there is one. */
  discount: Type.Optional(Type.Object({ percent: Type.Optional(RATE), amount: MONEY, itemsTotal: MONEY })),
  netTotal: MONEY,
  vatRate: RATE,
  vatAmount: MONEY,
  /** VAT per rate, after each rate's share of the discount; only if an item has a rate of its own. */
  vat: Type.Optional(Type.Array(Type.Object({ vatPercent: RATE, net: MONEY, amount: MONEY }))),
  grossTotal: MONEY,
  /** `amountDue` is the rest of `grossTotal`. Both only in invoices with a prepaid amount. */
  prepaid: Type.Optional(MONEY),
  amountDue: Type.Optional(MONEY),
  pages: Type.Integer({ minimum: 1, maximum: DOCUMENT_PAGES_MAX }),
  pdf: Type.Object({
    mime: Type.Literal('application/pdf'),
    bytes: Type.Integer({ minimum: 1, maximum: DOCUMENT_BYTES_MAX }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    base64: Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' }),
  }),
})

/** Result of a document service. */
export type DocumentResult = Static<typeof RESULT>

/** A service that sells one kind of document. */
export function documentService(
  kind: DocumentKind,
  described: Omit<ServiceFacts, 'capability' | 'requestFormat' | 'sample'>,
): ServiceDefinition {
  // `npm run gen` makes the sample from the example in full, so that a buyer sees the whole file and its hash matches.
  const sample = (samples as Readonly<Record<string, object>>)[described.serviceId] as object
  const facts = { ...described, requestFormat: requestFormatOf(kind), sample }
  return defineService<DocumentRequest, typeof RESULT>({
    ...facts,
    capability: 'reports',
    requestCharsMax: DOCUMENT_REQUEST_BYTES_MAX,
    timeoutMs: TIMEOUT_MS,
    resultBytesMax: RESULT_BYTES_MAX,
    repeatable: true,
    resultSchema: RESULT,
    parse: (text) => {
      const request = readDocumentRequest(kind, text)
      return request instanceof Problem ? unusable(request.text, facts) : ok(request)
    },
    check: (request, context) => checkDocument(kind, request, { context, form: facts }),
    ready: ({ outside }) => outside.documents.readiness(),
    execute: (request, context, signal) => {
      // `check` is skipped during a reorganisation, and a day may have ended since. So check again.
      const refused = checkDocument(kind, request, { context, form: facts })
      if (refused !== null) throw new Error(faultMessage(refused))
      return makeDocument({ kind, serviceId: facts.serviceId }, request, { context, signal })
    },
  })
}

/** Why this node refuses a request today; null if it does not. */
function checkDocument(
  kind: DocumentKind,
  written: DocumentRequest,
  { context, form }: { readonly context: ServiceContext; readonly form: RequestForm },
): Fault | null {
  const { request, terms } = settled(kind, written, context)
  const problem =
    deadlineProblem(kind, request, terms.issueDate) ??
    paymentProblem(request, context.clock.now()) ??
    discountProblem(request, terms) ??
    prepaidProblem(request, terms) ??
    (kind.credits ? creditProblem(request, terms) : undefined)
  if (problem !== undefined) return refusal(problem.text, form)
  const { scripts, unsettable } = context.outside.documents
  const strange = new Set(textsOf(request).flatMap(unsettable))
  if (strange.size === 0) return null
  const shown = [...strange].slice(0, CHARACTERS_SHOWN_MAX).map((one) => `"${one}" (${codePointName(one)})`)
  const more = strange.size > shown.length ? ` and ${strange.size - shown.length} more` : ''
  return refusal(
    `these characters cannot be set: ${shown.join(', ')}${more}; this node prints ${scripts.join(', ')}; a font that its operator names in documents.fonts adds others, but none from right to left or with joined letters`,
    form,
  )
}

async function makeDocument(
  { kind, serviceId }: { readonly kind: DocumentKind; readonly serviceId: ServiceId },
  written: DocumentRequest,
  { context, signal }: { readonly context: ServiceContext; readonly signal: AbortSignal },
): Promise<DocumentResult> {
  const { documents } = context.outside
  const { request, terms } = settled(kind, written, context)
  const { vatRate, discount, pricesIncludeVat } = request
  const totals = computeTotals(request.items, { vatRate, discount, pricesIncludeVat, digits: terms.digits })
  const { pages, bytes, sha256 } = delivered(await documents.render(sheetOf(kind, request, { terms, totals }), signal))
  return {
    ...engineEnvelope(serviceId, 'document/pdf', context),
    type: kind.type,
    ...figuresOf(request, terms, totals),
    pages,
    pdf: {
      mime: 'application/pdf',
      bytes: bytes.length,
      sha256,
      base64: bytes.toBase64(),
    },
  }
}

/** Whether a credit note turns its signs depends on the currency, which may be this node's default. */
function settled(kind: DocumentKind, written: DocumentRequest, context: ServiceContext) {
  const terms = termsOf(written, context)
  return { request: kind.credits ? credited(written, terms) : written, terms }
}

/** The issue date defaults to today, so the same request makes another document tomorrow. */
function termsOf({ currency, issueDate, payment }: DocumentRequest, { clock, outside }: ServiceContext): DocumentTerms {
  const chosen = currency ?? outside.documents.currency
  const today = new Date(clock.now()).toISOString().slice(0, 10)
  // East of UTC, the day of the payment may have begun already. The receipt must not have an earlier date.
  const day = payment !== null && payment.paidOn > today ? payment.paidOn : today
  return { currency: chosen, digits: currencyDigits(chosen), issueDate: issueDate ?? day }
}

function figuresOf(request: DocumentRequest, { currency, digits, issueDate }: DocumentTerms, totals: Totals) {
  const { number, deadline, deliveryDate, items, vatRate, pricesIncludeVat, discount, prepaid } = request
  const money: Money = (units) => decimalText({ units, scale: digits }, digits)
  return {
    number,
    currency,
    issueDate,
    ...(deadline === null ? {} : { dueOrValidUntil: deadline }),
    ...(deliveryDate === null ? {} : { deliveryDate }),
    ...(pricesIncludeVat ? { pricesIncludeVat } : {}),
    lines: items.map(({ description, qty, unitPrice, vatPercent }, i) => ({
      description,
      qty: decimalText(qty),
      unitPrice: decimalText(unitPrice, digits),
      ...(vatPercent === null ? {} : { vatPercent: rateOf(vatPercent) }),
      [pricesIncludeVat ? 'gross' : 'net']: money(totals.lines[i] as bigint),
    })),
    ...(discount === null ? {} : { discount: discountOf(discount, totals, money) }),
    netTotal: money(totals.net),
    vatRate: rateOf(vatRate),
    vatAmount: money(totals.vat),
    ...(items.some(hasOwnRate) ? { vat: totals.rates.map((one) => vatOf(one, money)) } : {}),
    grossTotal: money(totals.gross),
    ...(prepaid === null ? {} : prepaidOf(unitsAt(prepaid, digits), totals, money)),
  }
}

type Money = (units: bigint) => string

function discountOf({ percent }: Discount, { discount, itemsTotal }: Totals, money: Money) {
  const rate = percent === null ? {} : { percent: rateOf(percent) }
  return { ...rate, amount: money(discount), itemsTotal: money(itemsTotal) }
}

function prepaidOf(prepaid: bigint, { gross }: Totals, money: Money) {
  return { prepaid: money(prepaid), amountDue: money(gross - prepaid) }
}

function vatOf({ rate, net, vat }: VatTotal, money: Money) {
  return { vatPercent: rateOf(rate), net: money(net), amount: money(vat) }
}

function hasOwnRate({ vatPercent }: DocumentItem): boolean {
  return vatPercent !== null
}

function rateOf(rate: Decimal): number {
  return Number(decimalText(rate))
}
