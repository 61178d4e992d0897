import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'

class Misread extends Error {}

/** A place in JSON that somebody else wrote; whatever is not there as expected ends the reading (`readJson`). */
export class JsonAt {
  readonly #value: unknown
  readonly #path: string

  constructor(value: unknown, path: string) {
    this.#value = value
    this.#path = path
  }

  /** A field of an object, there or not. */
  at(key: string): JsonAt {
    const value = this.#value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.wrong('is no object')
    const field = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
    return new JsonAt(field, `${this.#path}.${key}`)
  }

  /** The places of a list. */
  list(): readonly JsonAt[] {
    const value = this.#value
    if (!Array.isArray(value)) return this.wrong('is no list')
    return value.map((item, index) => new JsonAt(item, `${this.#path}[${index}]`))
  }

  /** The fields of an object by their names. */
  entries(): readonly (readonly [string, JsonAt])[] {
    const value = this.#value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.wrong('is no object')
    // The names are the provider's words: what is wrong with a field tells its place instead.
    return Object.entries(value).map(([key, field], index) => [key, new JsonAt(field, `${this.#path}[${index}]`)])
  }

  text(): string {
    return typeof this.#value === 'string' ? this.#value : this.wrong('is no text')
  }

  /** A text that has this form. */
  like(pattern: RegExp): string {
    const text = this.text()
    return pattern.test(text) ? text : this.wrong('has another form')
  }

  /** A number between two others, both included. */
  number(min: number, max: number): number {
    const value = this.#value
    if (typeof value !== 'number' || !(value >= min && value <= max)) return this.wrong(`is not from ${min} to ${max}`)
    return value
  }

  flag(): boolean {
    return typeof this.#value === 'boolean' ? this.#value : this.wrong('is neither true nor false')
  }

  /** What is read here, or null where there is nothing, or null. */
  maybe<T>(read: (here: JsonAt) => T): T | null {
    return this.#value === undefined || this.#value === null ? null : read(this)
  }

  /** Ends the reading. */
  wrong(reason: string): never {
    throw new Misread(`${this.#path} ${reason}`)
  }
}

/** Reads what a provider answered. What does not fit is `provider/answer`. */
export function readJson<T>(provider: string, value: unknown, read: (json: JsonAt) => T): Result<T> {
  try {
    return ok(read(new JsonAt(value, 'it')))
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    return fail(fault('provider/answer', { provider, reason: error.message.slice(0, 200) }))
  }
}
