import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import {
  type BackendLimits,
  MODEL_SUPPORTS,
  type ModelFacts,
  type ModelSupport,
} from '../../../marketplace/chat/models/backend.ts'
import { MODEL_ROLES, type ModelRole } from '../../../marketplace/ports/models.ts'
import { MODEL_KEY_PREFIX } from '../../adapters/provider-keys.ts'
import { whereNoJson, whyUnread } from './file-trouble.ts'

/** A backend in the operator's file. */
export interface DescribedBackend {
  readonly id: string
  readonly baseUrl: string
  /** Null if the backend needs no key. */
  readonly keyRef: KeyRef | null
  readonly models: readonly ModelFacts[]
  readonly limits: BackendLimits
}

/** Where the key is: an environment variable, or a name in the file of `providers.keys-file`. */
export type KeyRef = { readonly variable: string } | { readonly named: string }

const BACKENDS_MAX = 32
const MODELS_MAX = 64
const VOICES_MAX = 64
const FILE_CHARS_MAX = 262_144
const CONTEXT_MAX = 16_777_216
const DEFAULTS = { rpm: null, tpm: null, concurrency: 4, priority: 0, timeoutMs: 60_000 } as const

class Wrong extends Error {}

/** Reads the file of model backends (docs/models.md). The fault `config/file` names the place. */
export async function readModelsFile(path: string): Promise<Result<readonly DescribedBackend[]>> {
  const wrong = (reason: string): Result<never> => fail(fault('config/file', { path: resolve(path), reason }))
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    return wrong(whyUnread(error))
  }
  try {
    return ok(backendsIn(text))
  } catch (error) {
    if (error instanceof Wrong) return wrong(error.message)
    throw error
  }
}

function backendsIn(text: string): readonly DescribedBackend[] {
  if (text.length > FILE_CHARS_MAX) throw new Wrong(`it is longer than ${FILE_CHARS_MAX} characters`)
  const file = new Place(parsed(text), '').only(['backends'])
  const backends = file.field('backends').list(1, BACKENDS_MAX).map(backendOf)
  const twice = backends.find(({ id }, i) => backends.findIndex((other) => other.id === id) < i)
  if (twice !== undefined) throw new Wrong(`backends: the id "${twice.id}" is there twice`)
  return backends
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Wrong(`it is not JSON (${whereNoJson(text, error)})`)
  }
}

const BACKEND_FIELDS = ['id', 'baseUrl', 'keyRef', 'models', 'rpm', 'tpm', 'concurrency', 'priority', 'timeoutMs']

function backendOf(place: Place): DescribedBackend {
  place.only(BACKEND_FIELDS)
  const url = place.field('baseUrl').text(/^https?:\/\/[^\s?#]{1,500}$/, 'an http(s) URL without query')
  const keyRef = place.optional('keyRef')
  return {
    id: place
      .field('id')
      .text(/^[a-z0-9][a-z0-9._-]{0,39}$/, 'lower-case letters, digits, dots and dashes, at most 40'),
    baseUrl: url.replace(/\/+$/, ''),
    keyRef: keyRef === null ? null : keyRefOf(keyRef),
    models: place.field('models').list(1, MODELS_MAX).map(modelOf),
    limits: {
      rpm: place.optional('rpm')?.integer(1, 1_000_000) ?? DEFAULTS.rpm,
      tpm: place.optional('tpm')?.integer(1, 1_000_000_000) ?? DEFAULTS.tpm,
      concurrency: place.optional('concurrency')?.integer(1, 4_096) ?? DEFAULTS.concurrency,
      priority: place.optional('priority')?.integer(0, 1_000) ?? DEFAULTS.priority,
      timeoutMs: place.optional('timeoutMs')?.integer(100, 600_000) ?? DEFAULTS.timeoutMs,
    },
  }
}

function keyRefOf(place: Place): KeyRef {
  const ref = place.text(
    /^(env:[A-Za-z_][A-Za-z0-9_]{0,99}|model:[A-Za-z0-9._-]{1,100})$/,
    'env:VARIABLE or model:NAME',
  )
  return ref.startsWith(MODEL_KEY_PREFIX) ? { named: ref } : { variable: ref.slice('env:'.length) }
}

function modelOf(place: Place): ModelFacts {
  place.only(['id', 'roles', 'context', 'supports', 'declaredParameters', 'voices'])
  const roles = place
    .field('roles')
    .list(1, MODEL_ROLES.length)
    .map((role): ModelRole => role.word(MODEL_ROLES))
  const named = place.optional('supports')?.list(0, MODEL_SUPPORTS.length) ?? []
  const supports = named.map((support): ModelSupport => support.word(MODEL_SUPPORTS))
  const voices = place.optional('voices')?.list(1, VOICES_MAX)
  return {
    id: place.field('id').text(/^[\x21-\x7e]{1,100}$/, 'at most 100 printable characters'),
    roles,
    context: place.field('context').integer(256, CONTEXT_MAX),
    // The role `vision` implies the support.
    supports: new Set([...supports, ...(roles.includes('vision') ? ['vision' as const] : [])]),
    declaredParameters:
      place.optional('declaredParameters')?.text(/^[\x20-\x7e]{1,40}$/, 'a text of at most 40 characters') ?? null,
    ...(voices && {
      voices: voices.map((voice) => voice.text(/^[\x21-\x7e]{1,60}$/, 'at most 60 printable characters')),
    }),
  }
}

class Place {
  readonly #value: unknown
  readonly #path: string

  constructor(value: unknown, path: string) {
    this.#value = value
    this.#path = path
  }

  only(keys: readonly string[]): this {
    const stranger = Object.keys(this.#fields()).find((key) => !keys.includes(key))
    if (stranger !== undefined) throw this.#wrong(`there is no "${stranger.slice(0, 60)}"; allowed: ${keys.join(', ')}`)
    return this
  }

  field(key: string): Place {
    const found = this.optional(key)
    if (found === null) throw this.#wrong(`"${key}" is missing`)
    return found
  }

  optional(key: string): Place | null {
    const fields = this.#fields()
    return Object.hasOwn(fields, key) ? new Place(fields[key], this.#path === '' ? key : `${this.#path}.${key}`) : null
  }

  list(min: number, max: number): readonly Place[] {
    if (!Array.isArray(this.#value) || this.#value.length < min || this.#value.length > max)
      throw this.#wrong(`must be a list of ${min} to ${max}`)
    return this.#value.map((value, i) => new Place(value, `${this.#path}[${i}]`))
  }

  text(pattern: RegExp, allowed: string): string {
    if (typeof this.#value !== 'string' || !pattern.test(this.#value)) throw this.#wrong(`must be ${allowed}`)
    return this.#value
  }

  word<Word extends string>(words: readonly Word[]): Word {
    const found = words.find((word) => word === this.#value)
    if (found === undefined) throw this.#wrong(`must be one of ${words.join(', ')}`)
    return found
  }

  integer(min: number, max: number): number {
    const value = this.#value
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max)
      throw this.#wrong(`must be a whole number from ${min} to ${max}`)
    return value as number
  }

  #fields(): Readonly<Record<string, unknown>> {
    const value = this.#value
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw this.#wrong('must be an object')
    return value as Readonly<Record<string, unknown>>
  }

  #wrong(reason: string): Wrong {
    return new Wrong(this.#path === '' ? `it ${reason}`.replace(/^it (there|")/, '$1') : `${this.#path}: ${reason}`)
  }
}
