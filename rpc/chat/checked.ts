import { type Fault, fault } from '../../consensus/primitives/fault.ts'

/** An object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** Thrown and caught by the functions that read a request. */
export class Unusable extends Error {
  readonly fault: Fault

  constructor(cause: Fault) {
    super(cause.code)
    this.fault = cause
  }
}

/** The refusal of a request because of one field. */
export function unusable(param: string, reason: string): Unusable {
  return new Unusable(fault('chat/invalid-request', { param, reason }))
}

/** For a field that is not supported, which must not be ignored. */
export function unsupported(param: string, reason: string): Unusable {
  return new Unusable(fault('chat/unsupported', { param, reason }))
}

/** Whether a value is an object of JSON. */
export function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** A value of a request with its path in the request. Each method throws {@link Unusable} if the value is of another kind. */
export class Checked {
  readonly value: unknown
  readonly param: string

  constructor(value: unknown, param: string) {
    this.value = value
    this.param = param
  }

  /** A field of the value; null if it is missing or null. */
  field(name: string): Checked | null {
    const { [name]: value } = this.fields()
    return value === undefined || value === null ? null : new Checked(value, this.at(name))
  }

  need(name: string): Checked {
    const found = this.field(name)
    if (found === null) throw unusable(this.at(name), 'it is missing')
    return found
  }

  fields(): Fields {
    if (!isFields(this.value)) throw unusable(this.param || 'body', 'it must be an object')
    return this.value
  }

  list(min: number, max: number): readonly Checked[] {
    const { value, param } = this
    if (!Array.isArray(value)) throw unusable(param, 'it must be a list')
    if (value.length < min || value.length > max) throw unusable(param, `it must have from ${min} to ${max} entries`)
    return value.map((one, i) => new Checked(one, `${param}[${i}]`))
  }

  text(charsMax = Number.POSITIVE_INFINITY, charsMin = 0): string {
    const { value, param } = this
    if (typeof value !== 'string') throw unusable(param, 'it must be a text')
    if (value.length > charsMax) throw unusable(param, `it must have at most ${charsMax} characters`)
    if (value.length < charsMin) throw unusable(param, `it must have at least ${charsMin} characters`)
    return value
  }

  flag(): boolean {
    if (typeof this.value !== 'boolean') throw unusable(this.param, 'it must be true or false')
    return this.value
  }

  number(min: number, max: number): number {
    const { value, param } = this
    if (typeof value !== 'number' || !(value >= min && value <= max))
      throw unusable(param, `it must be a number from ${min} to ${max}`)
    return value
  }

  integer(min: number, max: number): number {
    const value = this.number(min, max)
    if (!Number.isSafeInteger(value)) throw unusable(this.param, 'it must be a whole number')
    return value
  }

  word<Word extends string>(words: readonly Word[]): Word {
    const found = words.find((word) => word === this.value)
    if (found === undefined) throw unusable(this.param, `it must be one of ${words.join(', ')}`)
    return found
  }

  private at(name: string): string {
    return this.param === '' ? name : `${this.param}.${name}`
  }
}
