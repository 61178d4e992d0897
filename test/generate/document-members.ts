import {
  CREDIT_NOTE,
  type DocumentKind,
  INVOICE,
  PROFORMA,
  QUOTE,
  RECEIPT,
} from '../../marketplace/services/documents/kinds.ts'
import { documentMembers } from '../../marketplace/services/documents/request.ts'

const KINDS: readonly DocumentKind[] = [INVOICE, PROFORMA, RECEIPT, CREDIT_NOTE, QUOTE]

const NUMBERS = KINDS.map(({ numberField }) => numberField)

/** What each member takes; the number of a document is told once for all kinds. */
const TAKEN: Readonly<Record<string, string>> = {
  buyer: '`{name, address?, vatId?}`',
  items: '1 to 200 of `{description, qty, unitPrice, vatPercent?}`; only a credit note takes a `unitPrice` below 0',
  vatRate: 'percent, for items without `vatPercent`',
  'pricesIncludeVat?': 'true: `unitPrice` and `discount` include VAT; else they are before VAT',
  'discount?': '`{percent}` or `{amount}`, off the sum of the items',
  'prepaid?': 'what was paid before, up to the gross total',
  'dueDate?': 'day, not before `issueDate`',
  'validUntil?': 'day, not before `issueDate`; a quote must have it',
  payment: '`{method, reference?, paidOn}`',
  originalInvoice: 'number of the invoice that is corrected',
  'deliveryDate?': 'day of delivery or service, as German invoices must name it',
  'seller?': '`{name, address?, vatId?, email?, phone?, iban?, bic?}`',
  'currency?': 'of ISO 4217, else `documents.currency` (EUR)',
  'issueDate?': 'day, else today',
  'notes?': 'text of up to 60 lines',
}

/** Rows of the table of request members: member, what it takes, which documents take it. Throws where a kind has a member that is not told. */
export function memberRows(): readonly (readonly string[])[] {
  const membersOf = new Map(KINDS.map((kind) => [kind, documentMembers(kind)]))
  const told = new Set([...NUMBERS, ...Object.keys(TAKEN).map(bare)])
  const untold = [...membersOf.values()].flat().find((name) => !told.has(name))
  if (untold !== undefined) throw new Error(`the table of documents does not tell ${untold}`)
  const whoTakes = (member: string): string => {
    const kinds = KINDS.filter((kind) => membersOf.get(kind)?.includes(bare(member)))
    return kinds.length === KINDS.length ? 'all' : kinds.map(({ type }) => type).join(', ')
  }
  return [
    [NUMBERS.map((name) => `\`${name}\``).join(', '), 'text of up to 64 characters', 'each its own'],
    ...Object.entries(TAKEN).map(([member, what]) => [`\`${member}\``, what, whoTakes(member)]),
  ]
}

function bare(member: string): string {
  return member.replace('?', '')
}
