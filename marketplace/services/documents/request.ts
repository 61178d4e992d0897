import { compareToWhole, type Decimal, decimalText, product, unitsAt } from './decimal.ts'
import { readExactJson } from './exact-json.ts'
import { bic, currency, day, decimal, email, flag, iban, line, lines, vatId } from './fields.ts'
import type { DocumentKind } from './kinds.ts'
import { list, optional, Problem, type Reader, record } from './readers.ts'
import { computeTotals, itemsTotalOf } from './totals.ts'

const ITEMS_MAX = 200
/** One page has room for the sums of this many VAT rates. */
export const RATES_MAX = 30
const QTY_MAX = 1_000_000_000n
const PRICE_MAX = 1_000_000_000n
const QTY_DECIMALS_MAX = 4
const PRICE_DECIMALS_MAX = 6
/** Local time is at most this far ahead of UTC. */
const AHEAD_OF_UTC_MS = 14 * 3_600_000
/** Largest sum of the items, without added VAT, in whole units of the currency. So all sums fit their column. */
export const SUM_MAX = 1_000_000_000_000_000n

/** The issuer of a document. */
export interface Seller {
  readonly name: string
  readonly address: string | null
  readonly vatId: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly iban: string | null
  readonly bic: string | null
}

interface Buyer {
  readonly name: string
  readonly address: string | null
  readonly vatId: string | null
}

/** One position of a document. */
export interface DocumentItem {
  readonly description: string
  readonly qty: Decimal
  readonly unitPrice: Decimal
  /** VAT rate in per cent, if it differs from the document's. */
  readonly vatPercent: Decimal | null
}

/** A discount on the sum of the items, in per cent or as an amount. Exactly one field is null. */
export interface Discount {
  readonly percent: Decimal | null
  readonly amount: Decimal | null
}

/** How the document was paid. */
export interface Payment {
  readonly method: string
  readonly reference: string | null
  readonly paidOn: string
}

/** A document as the caller requests it; fields that its kind lacks are null. */
export interface DocumentRequest {
  readonly number: string
  readonly seller: Seller | null
  readonly buyer: Buyer
  readonly items: readonly DocumentItem[]
  /** VAT rate in per cent. */
  readonly vatRate: Decimal
  readonly pricesIncludeVat: boolean
  readonly discount: Discount | null
  readonly currency: string | null
  readonly issueDate: string | null
  /** Due date or end of validity. */
  readonly deadline: string | null
  readonly payment: Payment | null
  readonly originalInvoice: string | null
  readonly deliveryDate: string | null
  readonly prepaid: Decimal | null
  readonly notes: string | null
}

const ADDRESS = lines(500, 10)

const SELLER = record<Seller>({
  name: line(200),
  address: optional(ADDRESS),
  vatId: optional(vatId),
  email: optional(email),
  phone: optional(line(32)),
  iban: optional(iban),
  bic: optional(bic),
})

const BUYER = record<Buyer>({ name: line(200), address: optional(ADDRESS), vatId: optional(vatId) })

const PERCENT = decimal({ min: '0 or more', wholeMax: 100n, decimalsMax: 3 })

const DISCOUNT = record<Discount>({
  percent: optional(PERCENT),
  amount: optional(decimal({ min: '0 or more', wholeMax: PRICE_MAX, decimalsMax: PRICE_DECIMALS_MAX })),
})

/** Up to the largest sum plus 100 % VAT. {@link prepaidProblem} limits it further. */
const PREPAID = decimal({ min: '0 or more', wholeMax: 2n * SUM_MAX, decimalsMax: PRICE_DECIMALS_MAX })

const discount: Reader<Discount> = (value, at) => {
  const read = DISCOUNT(value, at)
  if (read instanceof Problem || (read.percent === null) !== (read.amount === null)) return read
  return new Problem(`${at} takes either percent or amount`)
}

const PAYMENT = record<Payment>({ method: line(100), reference: optional(line(100)), paidOn: day })

/** Fields that some kinds lack or name differently, and the flag `pricesIncludeVat`, which is false if absent. */
type SettledField =
  | 'number'
  | 'deadline'
  | 'payment'
  | 'originalInvoice'
  | 'deliveryDate'
  | 'prepaid'
  | 'pricesIncludeVat'

/** Reads the request of a document, or returns its problem. */
export function readDocumentRequest(kind: DocumentKind, text: string): DocumentRequest | Problem {
  const json = readExactJson(text)
  if (json instanceof Problem) return json
  const read = record<Record<string, unknown>>(documentReaders(kind))(json, '')
  if (read instanceof Problem) return read
  const { numberField, deadline } = kind
  const request = {
    ...(read as unknown as Omit<DocumentRequest, SettledField>),
    number: read[numberField] as string,
    deadline: deadline === null ? null : (read[deadline.field] as string | null),
    payment: (read.payment as Payment | undefined) ?? null,
    originalInvoice: (read.originalInvoice as string | undefined) ?? null,
    deliveryDate: (read.deliveryDate as string | null | undefined) ?? null,
    prepaid: (read.prepaid as Decimal | null | undefined) ?? null,
    pricesIncludeVat: read.pricesIncludeVat === true,
  }
  const problem =
    sumProblem(request.items) ??
    ratesProblem(request) ??
    deadlineProblem(kind, request, request.issueDate) ??
    paidLateProblem(request)
  return problem ?? request
}

/** By the names that callers use, in the order in which a refusal lists them. */
export function documentReaders(kind: DocumentKind): Readonly<Record<string, Reader<unknown>>> {
  const { numberField, deadline, hasPayment, hasOriginalInvoice, hasDeliveryDate, hasPrepaid, credits } = kind
  const item = record<DocumentItem>({
    description: line(500),
    qty: decimal({ min: 'above 0', wholeMax: QTY_MAX, decimalsMax: QTY_DECIMALS_MAX }),
    unitPrice: decimal({
      min: credits ? 'of either sign' : '0 or more',
      wholeMax: PRICE_MAX,
      decimalsMax: PRICE_DECIMALS_MAX,
      belowZero: 'what is taken off goes into discount, what is given back into a credit note',
    }),
    vatPercent: optional(PERCENT),
  })
  return {
    [numberField]: line(64),
    buyer: BUYER,
    items: list(item, ITEMS_MAX),
    vatRate: PERCENT,
    pricesIncludeVat: optional(flag),
    discount: optional(discount),
    ...(hasPrepaid ? { prepaid: optional(PREPAID) } : {}),
    ...(deadline === null ? {} : { [deadline.field]: deadline.required ? day : optional(day) }),
    ...(hasPayment ? { payment: PAYMENT } : {}),
    ...(hasOriginalInvoice ? { originalInvoice: line(64) } : {}),
    ...(hasDeliveryDate ? { deliveryDate: optional(day) } : {}),
    seller: optional(SELLER),
    currency: optional(currency),
    issueDate: optional(day),
    notes: optional(lines(2_000, 60)),
  }
}

function sumProblem(items: readonly DocumentItem[]): Problem | undefined {
  let sum = 0n
  for (const [i, { qty, unitPrice }] of items.entries()) {
    const net = product(qty, unitPrice)
    if (compareToWhole(net, SUM_MAX) > 0 || compareToWhole(net, -SUM_MAX) < 0)
      return new Problem(`items[${i}] comes to more than ${SUM_MAX}; a line is limited to that`)
    const size = net.units < 0n ? -net.units : net.units
    sum += size / 10n ** BigInt(net.scale)
  }
  return sum > SUM_MAX
    ? new Problem(`items come to more than ${SUM_MAX} together; a document is limited to that`)
    : undefined
}

function ratesProblem({ items, vatRate }: DocumentRequest): Problem | undefined {
  const { size } = new Set(items.map(({ vatPercent }) => decimalText(vatPercent ?? vatRate)))
  return size > RATES_MAX
    ? new Problem(`items have ${size} rates of VAT; a document has at most ${RATES_MAX}`)
    : undefined
}

function paidLateProblem({ payment, issueDate }: DocumentRequest): Problem | undefined {
  if (payment === null || issueDate === null || payment.paidOn <= issueDate) return undefined
  return new Problem(`payment.paidOn is after the day of issue; it takes ${issueDate} or an earlier day`)
}

/** The problem of a document whose deadline is before its issue date. */
export function deadlineProblem(
  { deadline: rule }: DocumentKind,
  { deadline }: Pick<DocumentRequest, 'deadline'>,
  issueDate: string | null,
): Problem | undefined {
  if (rule === null || deadline === null || issueDate === null || deadline >= issueDate) return undefined
  return new Problem(`${rule.field} is before the day of issue; it takes ${issueDate} or a later day`)
}

/** The problem of a payment date that is in the future in every time zone. */
export function paymentProblem({ payment }: Pick<DocumentRequest, 'payment'>, nowMs: number): Problem | undefined {
  const latest = new Date(nowMs + AHEAD_OF_UTC_MS).toISOString().slice(0, 10)
  if (payment === null || payment.paidOn <= latest) return undefined
  return new Problem(`payment.paidOn is in the future; it takes ${latest} or an earlier day`)
}

type Priced = Pick<DocumentRequest, 'items' | 'vatRate' | 'discount' | 'pricesIncludeVat'>

interface Coinage {
  readonly currency: string
  readonly digits: number
}

/**
 * A credit note has positive amounts. If the items sum to less than 0 with VAT (or to 0 with VAT and less without), the
 * caller listed changes of the invoice instead, so all signs are turned.
 */
export function credited<Request extends Priced>(request: Request, { digits }: Coinage): Request {
  const { items, vatRate, pricesIncludeVat } = request
  // The discount is left out, since there is no sum to take it from before the signs are right.
  const { net, gross } = computeTotals(items, { vatRate, pricesIncludeVat, discount: null, digits })
  if (gross > 0n || (gross === 0n && net >= 0n)) return request
  const turned = ({ units, scale }: Decimal): Decimal => ({ units: -units, scale })
  return { ...request, items: items.map((item) => ({ ...item, unitPrice: turned(item.unitPrice) })) }
}

/** The totals with and without VAT must not differ in sign. Call it only if {@link discountProblem} found none. */
export function creditProblem(request: Priced, { currency, digits }: Coinage): Problem | undefined {
  const { net, gross } = computeTotals(request.items, { ...request, digits })
  if (net >= 0n && gross >= 0n) return undefined
  const [before, after] = [net, gross].map((units) =>
    decimalText({ units: units < 0n ? -units : units, scale: digits }, digits),
  )
  return new Problem(
    `items come to ${currency} ${before} without VAT for one side and to ${currency} ${after} with VAT for the other, which is no credit; what the buyer gives back goes into a credit note, what the buyer takes instead into an invoice`,
  )
}

/** The problem of a discount with too many decimals for the currency, or above the sum. */
export function discountProblem(
  { discount, items }: Pick<Priced, 'discount' | 'items'>,
  { currency, digits }: Coinage,
): Problem | undefined {
  const amount = discount?.amount
  if (amount == null) return undefined
  if (amount.scale > digits)
    return new Problem(`discount.amount takes at most ${digits} decimals, as amounts in ${currency} have`)
  const sum = itemsTotalOf(items, digits)
  if (unitsAt(amount, digits) <= sum) return undefined
  const most = decimalText({ units: sum < 0n ? 0n : sum, scale: digits }, digits)
  return new Problem(`discount.amount is more than the items come to; it takes up to ${currency} ${most}`)
}

/** Call it only if {@link discountProblem} found none. */
export function prepaidProblem(
  { prepaid, ...priced }: Priced & Pick<DocumentRequest, 'prepaid'>,
  { currency, digits }: Coinage,
): Problem | undefined {
  if (prepaid === null) return undefined
  if (prepaid.scale > digits)
    return new Problem(`prepaid takes at most ${digits} decimals, as amounts in ${currency} have`)
  const { gross } = computeTotals(priced.items, { ...priced, digits })
  if (unitsAt(prepaid, digits) <= gross) return undefined
  const most = decimalText({ units: gross, scale: digits }, digits)
  return new Problem(`prepaid is more than there is to pay; it takes up to ${currency} ${most}`)
}

/** The free texts of a request. Its other fields have only characters that the built-in fonts have. */
export function textsOf(request: DocumentRequest): readonly string[] {
  const { number, seller, buyer, items, payment, originalInvoice, notes } = request
  const texts = [
    number,
    seller?.name,
    seller?.address,
    seller?.vatId,
    seller?.email,
    seller?.phone,
    buyer.name,
    buyer.address,
    buyer.vatId,
    ...items.map(({ description }) => description),
    payment?.method,
    payment?.reference,
    originalInvoice,
    notes,
  ]
  return texts.filter((text) => typeof text === 'string')
}
