import {
  CREDIT_NOTE,
  type DocumentKind,
  INVOICE,
  PROFORMA,
  QUOTE,
  RECEIPT,
} from '../../marketplace/services/documents/kinds.ts'
import { Problem, type Reader } from '../../marketplace/services/documents/readers.ts'
import { documentReaders, RATES_MAX } from '../../marketplace/services/documents/request.ts'

const KINDS: readonly DocumentKind[] = [INVOICE, PROFORMA, RECEIPT, CREDIT_NOTE, QUOTE]

const NUMBERS = KINDS.map(({ numberField }) => numberField)

/** What each member accepts. The numbers of documents have one common row. */
const TAKEN: Readonly<Record<string, string>> = {
  buyer: '`{name, address?, vatId?}`',
  items: `list of \`{description, qty, unitPrice, vatPercent?}\`, with at most ${RATES_MAX} rates of VAT; only a credit note takes a \`unitPrice\` below 0`,
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
  'notes?': 'text',
}

/** Rows of the table of request members: member, accepted values, documents. Throws if a kind has a member without a description. */
export function memberRows(): readonly (readonly string[])[] {
  const membersOf = new Map(KINDS.map((kind) => [kind, Object.keys(documentReaders(kind))]))
  const told = new Set([...NUMBERS, ...Object.keys(TAKEN).map(bare)])
  const untold = [...membersOf.values()].flat().find((name) => !told.has(name))
  if (untold !== undefined) throw new Error(`the table of documents does not tell ${untold}`)
  const whoTakes = (member: string): string => {
    const kinds = KINDS.filter((kind) => membersOf.get(kind)?.includes(bare(member)))
    return kinds.length === KINDS.length ? 'all' : kinds.map(({ type }) => type).join(', ')
  }
  return [
    [NUMBERS.map((name) => `\`${name}\``).join(', '), 'text', 'each its own'],
    ...Object.entries(TAKEN).map(([member, what]) => [`\`${member}\``, what, whoTakes(member)]),
  ]
}

/** Valid values, so that the reader reaches later fields. */
const RIGHT: Readonly<Record<string, unknown>> = { name: 'x', description: 'x', qty: 1, unitPrice: 1, method: 'x' }

/** Rows of the table of bounds: accepted values in a refusal's words, and their fields. */
export function boundRows(): readonly (readonly string[])[] {
  const fieldsBy = new Map<string, Map<string, DocumentKind[]>>()
  for (const kind of KINDS) {
    const fields = Object.entries(documentReaders(kind)).flatMap(([name, reader]) => fieldsOf(name, reader))
    for (const [field, taken] of fields) {
      const kindsOf = fieldsBy.get(taken) ?? new Map<string, DocumentKind[]>()
      fieldsBy.set(taken, kindsOf.set(field, [...(kindsOf.get(field) ?? []), kind]))
    }
  }
  const named = (field: string, kinds: readonly DocumentKind[]): string => {
    const isSame = [...fieldsBy.values()].filter((kindsOf) => kindsOf.has(field)).length === 1
    return isSame ? `\`${field}\`` : `\`${field}\` (${kinds.map(({ type }) => type).join(', ')})`
  }
  return [...fieldsBy].map(([taken, kindsOf]) => [
    taken,
    [...kindsOf].map(([field, kinds]) => named(field, kinds)).join(', '),
  ])
}

/** A field and the fields inside it, each with its reader's words for accepted values. */
function fieldsOf(field: string, reader: Reader<unknown>): readonly (readonly [field: string, taken: string])[] {
  const taken = takenBy(field, reader)
  const element: Reader<unknown> = (value, at) => reader([value], at)
  if (taken.startsWith('a list of ')) return [[field, taken], ...fieldsOf(`${field}[]`, element)]
  const names = /^an object with (.+)$/.exec(taken)?.[1]?.split(', ')
  if (names === undefined) return [[field, taken]]
  const right = Object.fromEntries(Object.entries(RIGHT).filter(([name]) => names.includes(name)))
  return names.flatMap((name) => fieldsOf(`${field}.${name}`, (value, at) => reader({ ...right, [name]: value }, at)))
}

/** Every reader refuses null, and the refusal says what it accepts. */
function takenBy(field: string, reader: Reader<unknown>): string {
  const problem = reader(null, field)
  const taken = problem instanceof Problem ? /^(\S+) takes (.+)$/.exec(problem.text) : null
  if (taken === null || !field.endsWith((taken[1] as string).replace(/^.*[\].]/, '')))
    throw new Error(`the reader of ${field} does not tell what it takes`)
  return taken[2] as string
}

function bare(member: string): string {
  return member.replace('?', '')
}
