import { compareToWhole, type Decimal } from './decimal.ts'
import { readExactJson } from './exact-json.ts'
import { currency, day, decimal, iban, line, lines } from './fields.ts'
import type { DocumentKind } from './kinds.ts'
import { list, optional, Problem, type Reader, record } from './readers.ts'

const ITEMS_MAX = 200
const QTY_MAX = 1_000_000_000n
const PRICE_MAX = 1_000_000_000n
const PRICE_DECIMALS_MAX = 6
/** Largest sum on a document, whole units of the currency: what still fits its column. */
export const SUM_MAX = 1_000_000_000_000_000n

/** Who issues a document. */
export interface Seller {
  readonly name: string
  readonly address: string | null
  readonly vatId: string | null
  readonly email: string | null
  readonly iban: string | null
}

/** One position of a document. */
export interface DocumentItem {
  readonly description: string
  readonly qty: Decimal
  readonly unitPrice: Decimal
}

/** How something was paid. */
export interface Payment {
  readonly method: string
  readonly reference: string | null
  readonly paidOn: string
}

/** A document as its caller wants it; what its kind does not have is null. */
export interface DocumentRequest {
  readonly number: string
  readonly seller: Seller | null
  readonly buyer: { readonly name: string; readonly address: string | null }
  readonly items: readonly DocumentItem[]
  /** Per cent. */
  readonly vatRate: Decimal
  readonly currency: string | null
  readonly issueDate: string | null
  /** Due date or end of validity. */
  readonly deadline: string | null
  readonly payment: Payment | null
  readonly originalInvoice: string | null
  readonly notes: string | null
}

const ADDRESS = lines(500, 10)

const SELLER = record<Seller>({
  name: line(200),
  address: optional(ADDRESS),
  vatId: optional(line(32)),
  email: optional(line(254)),
  iban: optional(iban),
})

const PAYMENT = record<Payment>({ method: line(100), reference: optional(line(100)), paidOn: day })

/** The request of a document, or what is wrong with it. */
export function readDocumentRequest(kind: DocumentKind, text: string): DocumentRequest | Problem {
  const json = readExactJson(text)
  if (json instanceof Problem) return json
  const read = record<Record<string, unknown>>(readersOf(kind))(json, '')
  if (read instanceof Problem) return read
  const { numberField, deadline } = kind
  const request = {
    ...(read as unknown as Omit<DocumentRequest, 'number' | 'deadline' | 'payment' | 'originalInvoice'>),
    number: read[numberField] as string,
    deadline: deadline === null ? null : (read[deadline.field] as string | null),
    payment: (read.payment as Payment | undefined) ?? null,
    originalInvoice: (read.originalInvoice as string | undefined) ?? null,
  }
  return sumProblem(request.items) ?? deadlineProblem(kind, request, request.issueDate) ?? request
}

/** Every field of a kind of document, by the name that its callers use. */
function readersOf(kind: DocumentKind): Readonly<Record<string, Reader<unknown>>> {
  const { numberField, deadline, hasPayment, hasOriginalInvoice, allowsNegativePrices } = kind
  const item = record<DocumentItem>({
    description: line(500),
    qty: decimal({ min: 'above 0', wholeMax: QTY_MAX, decimalsMax: 4 }),
    unitPrice: decimal({
      min: allowsNegativePrices ? 'of either sign' : '0 or more',
      wholeMax: PRICE_MAX,
      decimalsMax: PRICE_DECIMALS_MAX,
    }),
  })
  return {
    [numberField]: line(64),
    buyer: record<DocumentRequest['buyer']>({ name: line(200), address: optional(ADDRESS) }),
    items: list(item, ITEMS_MAX),
    vatRate: decimal({ min: '0 or more', wholeMax: 100n, decimalsMax: 3 }),
    ...(deadline === null ? {} : { [deadline.field]: deadline.required ? day : optional(day) }),
    ...(hasPayment ? { payment: PAYMENT } : {}),
    ...(hasOriginalInvoice ? { originalInvoice: line(64) } : {}),
    seller: optional(SELLER),
    currency: optional(currency),
    issueDate: optional(day),
    notes: optional(lines(2_000, 60)),
  }
}

function sumProblem(items: readonly DocumentItem[]): Problem | undefined {
  let sum = 0n
  for (const [i, { qty, unitPrice }] of items.entries()) {
    const net = { units: qty.units * unitPrice.units, scale: qty.scale + unitPrice.scale }
    if (compareToWhole(net, SUM_MAX) > 0 || compareToWhole(net, -SUM_MAX) < 0)
      return new Problem(`items[${i}] comes to more than ${SUM_MAX}; a line is limited to that`)
    const size = net.units < 0n ? -net.units : net.units
    sum += size / 10n ** BigInt(net.scale)
  }
  return sum > SUM_MAX
    ? new Problem(`items come to more than ${SUM_MAX} together; a document is limited to that`)
    : undefined
}

/** What is wrong where a document ends before it begins, on the day of its issue. */
export function deadlineProblem(
  { deadline: rule }: DocumentKind,
  { deadline }: Pick<DocumentRequest, 'deadline'>,
  issueDate: string | null,
): Problem | undefined {
  if (rule === null || deadline === null || issueDate === null || deadline >= issueDate) return undefined
  return new Problem(`${rule.field} is before the day of issue; it takes ${issueDate} or a later day`)
}

/** Every text of a request that will be set. */
export function textsOf(request: DocumentRequest): readonly string[] {
  const { number, seller, buyer, items, payment, originalInvoice, notes } = request
  const texts = [
    number,
    seller?.name,
    seller?.address,
    seller?.vatId,
    seller?.email,
    buyer.name,
    buyer.address,
    ...items.map(({ description }) => description),
    payment?.method,
    payment?.reference,
    originalInvoice,
    notes,
  ]
  return texts.filter((text) => typeof text === 'string')
}
