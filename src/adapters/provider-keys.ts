import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PROVIDER_NAMES } from '../../config/outside-settings.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'

/** The operator's keys at providers, in a private field: no log and no JSON shows them. */
export class ProviderKeys {
  readonly #keys: ReadonlyMap<string, string>

  constructor(keys: Readonly<Record<string, string>> = {}) {
    this.#keys = new Map(Object.entries(keys))
  }

  /** `provider` is its name in the settings. */
  of(provider: string): string | null {
    return this.#keys.get(provider) ?? null
  }
}

/** Prefix of keys that the model backends file refers to. */
export const MODEL_KEY_PREFIX = 'model:'

const KEYS_MAX = 64
const FILE_BYTES_MAX = 65_536
/** What an HTTP header or a query can carry. */
const KEY = /^[\x21-\x7e]{1,512}$/
const NAMES: ReadonlySet<string> = new Set(Object.values(PROVIDER_NAMES).flat())

/**
 * Reads `{"<provider>": "<key>"}`. Fault: `config/file` if the file cannot be read, is malformed, or names an unknown
 * provider. It never shows the file's content.
 */
export async function readProviderKeys(path: string | null): Promise<Result<ProviderKeys>> {
  if (path === null) return ok(new ProviderKeys())
  const wrong = (reason: string): Result<never> => fail(fault('config/file', { path: resolve(path), reason }))
  const text = await readFile(path, 'utf8').catch(() => null)
  if (text === null) return wrong('it cannot be read')
  const keys = text.length > FILE_BYTES_MAX ? null : keysIn(text)
  if (keys === null) return wrong('it is not JSON of {"<provider>": "<key>"}')
  const stranger = Object.keys(keys).find((name) => !NAMES.has(name) && !name.startsWith(MODEL_KEY_PREFIX))
  return stranger === undefined
    ? ok(new ProviderKeys(keys))
    : wrong(`it has a key for a provider that does not exist; there are ${[...NAMES].join(', ')}`)
}

function keysIn(text: string): Readonly<Record<string, string>> | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null
  const entries = Object.entries(value)
  const isWell = entries.length <= KEYS_MAX && entries.every(([, key]) => typeof key === 'string' && KEY.test(key))
  return isWell ? Object.fromEntries(entries) : null
}
