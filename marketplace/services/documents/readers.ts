import { meantName } from '../../../consensus/primitives/likeness.ts'

/** What is wrong with a request: the field, and what it accepts. */
export class Problem {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Reads the value at a path of a request; `value` is undefined if absent. */
export type Reader<T> = (value: unknown, at: string) => T | Problem

/** A reader for each field. */
export type Readers<T> = { readonly [Field in keyof T]: Reader<T[Field]> }

const NAME_SHOWN_MAX = 60

/** For hints: names of fields in other systems, in lower case without separators, with the names of the fields here. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['quantity', ['qty']],
  ['price', ['unitPrice']],
  ['name', ['description']],
  ['title', ['description']],
  ['text', ['description']],
  ['vat', ['vatPercent', 'vatRate', 'vatId']],
  ['tax', ['vatPercent', 'vatRate']],
  ['taxrate', ['vatPercent', 'vatRate']],
  ['vatrate', ['vatPercent', 'vatRate']],
  ['vatpercent', ['vatRate']],
  ['vatnumber', ['vatId']],
  ['taxid', ['vatId']],
  ['customer', ['buyer']],
  ['supplier', ['seller']],
  ['date', ['issueDate', 'paidOn']],
  ['invoicedate', ['issueDate']],
  ['duedate', ['dueDate', 'validUntil']],
  ['expirydate', ['validUntil']],
  ['paidon', ['paidOn', 'payment.paidOn']],
  ['paymentdate', ['paidOn', 'payment.paidOn']],
  ['swift', ['bic']],
  ['grossprices', ['pricesIncludeVat']],
  ['pricesincludevat', ['pricesIncludeVat']],
  ['pricesincludetax', ['pricesIncludeVat']],
  ['vatincluded', ['pricesIncludeVat']],
  ['taxincluded', ['pricesIncludeVat']],
  ['vatinclusive', ['pricesIncludeVat']],
  ['taxinclusive', ['pricesIncludeVat']],
  ['deliverydate', ['deliveryDate']],
  ['dateofdelivery', ['deliveryDate']],
  ['dateofsupply', ['deliveryDate']],
  ['supplydate', ['deliveryDate']],
  ['servicedate', ['deliveryDate']],
  ['prepayment', ['prepaid']],
  ['alreadypaid', ['prepaid']],
  ['amountpaid', ['prepaid']],
  ['downpayment', ['prepaid']],
  ['deposit', ['prepaid']],
])

/** The problem of a field: what it accepts instead. */
export function takes(value: unknown, at: string, expects: string): Problem {
  return new Problem(value === undefined ? `${at} is missing; it takes ${expects}` : `${at} takes ${expects}`)
}

/** An optional field: null if absent. */
export function optional<T>(reader: Reader<T>): Reader<T | null> {
  return (value, at) => (value === undefined ? null : reader(value, at))
}

/** An object with these fields and no others; a reader that is {@link optional} lets its field be absent. */
export function record<T extends object>(readers: Readers<T>): Reader<T> {
  const names = Object.keys(readers) as (keyof T & string)[]
  return (value, at) => {
    const name = at === '' ? 'the request' : at
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return takes(value, name, `an object with ${names.join(', ')}`)
    const stranger = Object.keys(value).find((key) => !names.includes(key as never))
    if (stranger !== undefined) return noField(stranger.slice(0, NAME_SHOWN_MAX), name, names)
    const read: Partial<T> = {}
    for (const field of names) {
      const inner = Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined
      const result = readers[field](inner, at === '' ? field : `${at}.${field}`)
      if (result instanceof Problem) return result
      read[field] = result
    }
    return read as T
  }
}

function noField(stranger: string, owner: string, names: readonly string[]): Problem {
  const synonyms = SYNONYMS.get(stranger.toLowerCase().replace(/[^a-z]/g, ''))
  const meant =
    synonyms === undefined
      ? meantName(stranger, names)
      : synonyms.find((name) => names.includes(name.split('.')[0] as string))
  const hint = meant === undefined ? '' : ` did you mean ${meant}?`
  return new Problem(`"${stranger}" is no field of ${owner};${hint} there are ${names.join(', ')}`)
}

/** A list with 1 to `countMax` elements. */
export function list<T>(reader: Reader<T>, countMax: number): Reader<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > countMax)
      return takes(value, at, `a list of 1 to ${countMax}`)
    const read: T[] = []
    for (const [i, element] of value.entries()) {
      const result = reader(element, `${at}[${i}]`)
      if (result instanceof Problem) return result
      read.push(result)
    }
    return read
  }
}
