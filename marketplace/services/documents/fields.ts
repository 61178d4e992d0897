import { compareToWhole, type Decimal, parseDecimal } from './decimal.ts'
import { Problem, type Reader, takes } from './readers.ts'

const MARKS_MAX = 3
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, 'u')
/** NFC composes at most this many characters into one letter. */
const COMPOSED_CHARS_MAX = 4
/**
 * A run of marks that stays too long even if the letter absorbs as many as NFC allows. It is refused before
 * normalisation, which takes quadratic time on long runs.
 */
const FAR_TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + COMPOSED_CHARS_MAX}}`, 'u')
/** Control, format, private and unassigned characters, line and paragraph separators, and variation selectors. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Variation_Selector}]/u

/** Soft hyphens and zero-width characters, as word processors insert them. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g

/** One line of printable text. */
export function line(charsMax: number): Reader<string> {
  return (value, at) => printable(value, at, { charsMax, linesMax: 1 })
}

/** Printable text that may have line breaks. */
export function lines(charsMax: number, linesMax: number): Reader<string> {
  return (value, at) => printable(value, at, { charsMax, linesMax })
}

interface TextBounds {
  readonly charsMax: number
  readonly linesMax: number
}

/** Text as it will be typeset. */
function printable(value: unknown, at: string, { charsMax, linesMax }: TextBounds): string | Problem {
  const where = linesMax === 1 ? 'on one line' : `on at most ${linesMax} lines`
  const expects = `text of 1 to ${charsMax} characters ${where}`
  if (typeof value !== 'string') return takes(value, at, expects)
  const written = value.replace(INVISIBLE, '').replaceAll('\t', ' ').replace(/\r\n?/g, '\n').trim()
  if (written.length > charsMax * COMPOSED_CHARS_MAX) return takes(value, at, expects)
  if (FAR_TOO_MANY_MARKS.test(written)) return tooManyMarks(at)
  const text = written.normalize('NFC').trim()
  const rows = text.split('\n')
  if (text === '' || text.length > charsMax || rows.length > linesMax) return takes(value, at, expects)
  const stranger = UNPRINTABLE.exec(rows.join(''))?.[0]
  if (stranger !== undefined) return new Problem(`${at} holds ${codePointName(stranger)}, which cannot be printed`)
  return TOO_MANY_MARKS.test(text) ? tooManyMarks(at) : text
}

function tooManyMarks(at: string): Problem {
  return new Problem(`${at} has more than ${MARKS_MAX} marks on one letter`)
}

/** Code point notation, like U+200B. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Bounds of an amount. */
export interface DecimalBounds {
  readonly min: 'above 0' | '0 or more' | 'of either sign'
  readonly wholeMax: bigint
  readonly decimalsMax: number
  /** Advice if the amount is below 0; follows a semicolon. */
  readonly belowZero?: string
}

/** A decimal number, as a JSON number or as text. */
export function decimal({ min, wholeMax, decimalsMax, ...hints }: DecimalBounds): Reader<Decimal> {
  const belowZero = hints.belowZero === undefined ? '' : `; ${hints.belowZero}`
  const expects = `a number ${min}, up to ${wholeMax}, with at most ${decimalsMax} decimals, like 2.5 or "2.5"`
  return (value, at) => {
    const read = typeof value === 'number' || typeof value === 'string' ? parseDecimal(String(value)) : undefined
    if (read === undefined || read.scale > decimalsMax) return takes(value, at, expects)
    if (compareToWhole(read, wholeMax) > 0 || compareToWhole(read, -wholeMax) < 0) return takes(value, at, expects)
    const isTooSmall = min === 'above 0' ? read.units <= 0n : min === '0 or more' && read.units < 0n
    return isTooSmall ? takes(value, at, read.units < 0n ? `${expects}${belowZero}` : expects) : read
  }
}

/** A boolean. Text is refused, because "false" is easily taken for true. */
export const flag: Reader<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : takes(value, at, 'true or false, without quotation marks')

/** A calendar day of the years 1900 to 2999, as YYYY-MM-DD. */
export const day: Reader<string> = (value, at) => {
  if (typeof value !== 'string' || !/^(19|2[0-9])[0-9]{2}-[0-9]{2}-[0-9]{2}$/.test(value))
    return takes(value, at, 'a day as YYYY-MM-DD, like 2026-11-30')
  return calendarDay(value) === value ? value : new Problem(`${at}: there is no day ${value} in the calendar`)
}

function calendarDay(text: string): string | undefined {
  const time = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10)
}

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))

/** Whether there is a currency with this code. */
export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code)
}

/** A currency of ISO 4217. */
export const currency: Reader<string> = (value, at) =>
  typeof value === 'string' && isCurrency(value) ? value : takes(value, at, 'a currency of ISO 4217, like EUR')

const IBAN = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$/

/** An IBAN with valid check digits, returned in capitals without spaces. */
export const iban: Reader<string> = (value, at) => {
  const account = codeOf(value)
  const isRight = IBAN.test(account) && account.length <= 34 && ibanRemainder(account) === 1n
  return isRight ? account : takes(value, at, 'an IBAN with right check digits, like DE89 3704 0044 0532 0130 00')
}

const BIC = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/

/** A BIC (ISO 9362), returned in capitals without spaces. */
export const bic: Reader<string> = (value, at) => {
  const code = codeOf(value)
  return BIC.test(code) ? code : takes(value, at, 'a BIC of 8 or 11 characters, like COBADEFFXXX')
}

function codeOf(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\s/g, '').toUpperCase() : ''
}

/** A VAT or tax number of any country. */
export const vatId: Reader<string> = shaped(
  line(32),
  /^(?=(.*[0-9]){2})[\p{L}0-9][\p{L}0-9 ./&+*-]*$/u,
  'the number under which one pays VAT or tax, like DE123456788',
)

/** A mail address, checked by shape only. */
export const email: Reader<string> = shaped(
  line(254),
  /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)+$/,
  'a mail address, like billing@example.com',
)

function shaped(reader: Reader<string>, shape: RegExp, expects: string): Reader<string> {
  return (value, at) => {
    const text = reader(value, at)
    return text instanceof Problem || shape.test(text) ? text : takes(value, at, expects)
  }
}

/** ISO 13616: the first four characters move to the end, letters count from A = 10; the remainder by 97 must be 1. */
function ibanRemainder(account: string): bigint {
  const moved = account.slice(4) + account.slice(0, 4)
  return BigInt(moved.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))) % 97n
}
