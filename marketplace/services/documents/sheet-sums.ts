import type { DocumentSheet, LabelledText } from '../../ports/document-tasks.ts'
import { type Decimal, printedDecimal, unitsAt } from './decimal.ts'
import type { DocumentKind } from './kinds.ts'
import type { DocumentRequest } from './request.ts'
import type { Totals } from './totals.ts'

/** Decided facts of a document that its request may leave open. */
export interface DocumentTerms {
  readonly currency: string
  /** Decimals of amounts. */
  readonly digits: number
  readonly issueDate: string
}

/** The figures of a document. */
export interface Figures {
  readonly terms: DocumentTerms
  readonly totals: Totals
}

type Printed = (units: bigint) => string

/**
 * Net prices add up to a net total, VAT and a gross total. Gross prices add up to the gross total, which contains VAT.
 */
export function sumsOf(
  kind: DocumentKind,
  request: DocumentRequest,
  { terms: { currency, digits }, totals }: Figures,
): Pick<DocumentSheet, 'totals' | 'contained'> {
  const { pricesIncludeVat, prepaid } = request
  const sum: Printed = (units) => printedDecimal({ units, scale: digits }, digits)
  const before = discountLines(request, totals, sum)
  const parts = [netLine(totals, request, sum), ...vatLines(totals, request, sum)]
  const last = (units: bigint): LabelledText => ({ label: kind.grossLabel, value: `${currency} ${sum(units)}` })
  if (prepaid === null)
    return pricesIncludeVat
      ? { totals: [...before, last(totals.gross)], contained: parts }
      : { totals: [...before, ...parts, last(totals.gross)] }
  const gross = { label: 'Total incl. VAT', value: sum(totals.gross) }
  const paid = unitsAt(prepaid, digits)
  return {
    totals: [
      ...before,
      ...(pricesIncludeVat ? [gross, ...parts] : [...parts, gross]),
      { label: 'Already paid', value: sum(-paid) },
      last(totals.gross - paid),
    ],
  }
}

function discountLines({ discount }: DocumentRequest, totals: Totals, sum: Printed): readonly LabelledText[] {
  if (discount === null) return []
  const rate = discount.percent === null ? '' : ` ${printedDecimal(discount.percent)}%`
  return [
    { label: 'Items total', value: sum(totals.itemsTotal) },
    { label: `Discount${rate}`, value: sum(-totals.discount) },
  ]
}

function netLine({ net }: Totals, { pricesIncludeVat }: DocumentRequest, sum: Printed): LabelledText {
  return { label: pricesIncludeVat ? 'Of which net' : 'Net total', value: sum(net) }
}

function vatLines({ rates }: Totals, { pricesIncludeVat }: DocumentRequest, sum: Printed): readonly LabelledText[] {
  const vatLabel = pricesIncludeVat ? 'Of which VAT' : 'VAT'
  return rates.map(({ rate, net, vat }) => {
    const base = rates.length > 1 ? ` on ${sum(net)}` : ''
    return { label: `${vatLabel} ${printedDecimal(rate)}%${base}`, value: sum(vat) }
  })
}

/** Explains how the figures were rounded, with the notice of the document's kind. */
export function ruleOf(
  { notice }: DocumentKind,
  { discount, pricesIncludeVat }: DocumentRequest,
  { terms: { currency, digits }, totals: { rates } }: Figures,
): string {
  const unit: Decimal = { units: 1n, scale: digits }
  const lines = `Each line is rounded to the nearest ${currency} ${printedDecimal(unit)}, halves away from zero`
  const shared = discount === null ? '' : ' after its share of the discount'
  const [once, base] =
    rates.length > 1
      ? ['once for each rate', `the sum of its lines${shared}`]
      : ['once', pricesIncludeVat ? 'the total' : 'the net total']
  const rule = pricesIncludeVat
    ? `Prices include VAT. ${lines}; VAT is worked out ${once}, as rate / (100 + rate) of ${base}.`
    : `${lines}; VAT is worked out ${once}, on ${base}.`
  return notice === null ? rule : `${notice} ${rule}`
}
