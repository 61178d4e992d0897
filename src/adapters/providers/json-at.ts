import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'

class Misread extends Error {}

/** A position in untrusted JSON. An unexpected value throws; `readJson` catches that. */
export class JsonAt {
  readonly #value: unknown
  readonly #path: string

  constructor(value: unknown, path: string) {
    this.#value = value
    this.#path = path
  }

  at(key: string): JsonAt {
    const value = this.#value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.wrong('is no object')
    const field = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
    return new JsonAt(field, `${this.#path}.${key}`)
  }

  list(): readonly JsonAt[] {
    const value = this.#value
    if (!Array.isArray(value)) return this.wrong('is no list')
    return value.map((item, index) => new JsonAt(item, `${this.#path}[${index}]`))
  }

  entries(): readonly (readonly [string, JsonAt])[] {
    const value = this.#value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.wrong('is no object')
    // Names come from the provider, so errors about a field show its index instead.
    return Object.entries(value).map(([key, field], index) => [key, new JsonAt(field, `${this.#path}[${index}]`)])
  }

  text(): string {
    return typeof this.#value === 'string' ? this.#value : this.wrong('is no text')
  }

  like(pattern: RegExp): string {
    const text = this.text()
    return pattern.test(text) ? text : this.wrong('has another form')
  }

  number(min: number, max: number): number {
    const value = this.#value
    if (typeof value !== 'number' || !(value >= min && value <= max)) return this.wrong(`is not from ${min} to ${max}`)
    return value
  }

  flag(): boolean {
    return typeof this.#value === 'boolean' ? this.#value : this.wrong('is neither true nor false')
  }

  maybe<T>(read: (here: JsonAt) => T): T | null {
    return this.#value === undefined || this.#value === null ? null : read(this)
  }

  wrong(reason: string): never {
    throw new Misread(`${this.#path} ${reason}`)
  }
}

/** Reads a provider's answer; an unexpected form is `provider/answer`. */
export function readJson<T>(provider: string, value: unknown, read: (json: JsonAt) => T): Result<T> {
  try {
    return ok(read(new JsonAt(value, 'it')))
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    return fail(fault('provider/answer', { provider, reason: error.message.slice(0, 200) }))
  }
}
