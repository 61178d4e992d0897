import { access, constants, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { OutsideConfig } from '../../../config/outside-settings.ts'
import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { BackendEntry } from '../../../marketplace/chat/models/backend.ts'
import { ModelPool } from '../../../marketplace/chat/models/pool.ts'
import { ModelTranslator, type TranslationQuery } from '../../../marketplace/chat/models/translator.ts'
import type { Translation } from '../../../marketplace/ports/models.ts'
import type { ProviderKeys } from '../../adapters/provider-keys.ts'
import { libreTranslate } from '../../adapters/providers/libretranslate.ts'
import { ProviderChain } from '../../adapters/providers/provider-chain.ts'
import { whyUnread } from './file-trouble.ts'
import { GgufBackend } from './gguf-backend.ts'
import { loadLlamaPackage } from './llama-package.ts'
import { type DescribedBackend, type KeyRef, readModelsFile } from './models-file.ts'
import { OpenAiBackend } from './openai-backend.ts'

/** What the models are made from. */
export interface ModelParts {
  readonly config: Pick<OutsideConfig, 'models' | 'providers'>
  readonly keys: ProviderKeys
  readonly fixtureModels: boolean
  readonly clock: Clock
  readonly timers: Timers
}

/** The models and the translator. */
export interface OpenModels {
  readonly pool: ModelPool
  readonly translator: ProviderChain<TranslationQuery, Translation>
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** In tokens. Memory is allocated for all of it. */
const GGUF_CONTEXT = 8_192
/** A local model is slow on a CPU, so it is asked last and may be silent for longer. */
const GGUF_LIMITS = { rpm: null, tpm: null, concurrency: 1, priority: 1_000, timeoutMs: 120_000 }
const GGUF_ROLES = ['fast', 'general', 'code', 'reason', 'judge', 'translate'] as const

const TRANSLATION_MS = 3_600_000
const TRANSLATIONS_MAX = 500
/** Below the time limit of a paid call, one minute. */
const TRANSLATION_PATIENCE = { budgetMs: 55_000, oneMs: 50_000 }

/** Fault `config/file` for an unusable file or a missing key. */
export async function openModels(parts: ModelParts): Promise<Result<OpenModels>> {
  const { clock, timers, fixtureModels } = parts
  const config = parts.config.models
  const described = config.file === null ? ok([]) : await readModelsFile(config.file)
  if (!described.ok) return described
  const entries: BackendEntry[] = []
  for (const one of described.value) {
    const entry = entryOf(one, parts)
    if (!entry.ok) return entry
    entries.push(entry.value)
  }
  const unread = config.gguf === null ? null : await unreadBecause(config.gguf)
  if (unread !== null) return fail(fault('config/file', { path: resolve(config.gguf ?? ''), reason: unread }))
  const gguf = config.gguf === null ? null : localBackend(config.gguf, fixtureModels)
  const all = gguf === null ? entries : [...entries, localEntry(gguf)]
  const pool = new ModelPool({ entries: all, clock, timers, random: Math.random })
  const translator = translatorOf(pool, parts)
  const start = async (): Promise<void> => {
    await pool.start()
    await translator.start()
  }
  const close = async (): Promise<void> => {
    translator.stop()
    pool.stop()
    await gguf?.close()
  }
  return ok({ pool, translator, start, close })
}

/** Null if the file can be read. Its content is checked when it is used. */
async function unreadBecause(path: string): Promise<string | null> {
  try {
    if ((await stat(path)).isDirectory()) return 'it is a folder'
    await access(path, constants.R_OK)
    return null
  } catch (error) {
    return whyUnread(error)
  }
}

/** The translators that the operator chose, else a model. */
function translatorOf(pool: ModelPool, { config, keys, clock, timers }: ModelParts): OpenModels['translator'] {
  const chosen = config.providers.translate.map(({ name, url }) => libreTranslate(url, keys.of(name)))
  const isByModels = chosen.length === 0 && hasTranslator(pool)
  return new ProviderChain<TranslationQuery, Translation>({
    what: 'translations',
    requires: ['providers.translate', 'models.file', 'models.gguf'],
    // Without a translation model this is a missing setting, not a failure that may pass.
    providers: isByModels ? [new ModelTranslator(pool)] : chosen,
    ...(isByModels && { readiness: (isFree: boolean) => pool.readiness('translate', isFree) }),
    keyOf: ({ to, text }) => `${to}|${text}`,
    freshMs: TRANSLATION_MS,
    staleMs: TRANSLATION_MS,
    keptMax: TRANSLATIONS_MAX,
    patience: TRANSLATION_PATIENCE,
    clock,
    timers,
  })
}

function hasTranslator(pool: ModelPool): boolean {
  return pool.facts.some(({ models }) => models.some(({ roles }) => roles.includes('translate')))
}

function entryOf(
  { id, baseUrl, keyRef, ...rest }: DescribedBackend,
  { config, keys }: ModelParts,
): Result<BackendEntry> {
  const key = keyRef === null ? null : keyOf(keyRef, keys)
  if (key === undefined) {
    const missing = keyRef !== null && 'variable' in keyRef ? `the variable ${keyRef.variable}` : 'a key of that name'
    return fail(
      fault('config/file', { path: config.models.file, reason: `backend ${id}: keyRef: there is not ${missing}` }),
    )
  }
  return ok({ backend: new OpenAiBackend({ id, baseUrl, key }), ...rest })
}

function keyOf(ref: KeyRef, keys: ProviderKeys): string | undefined {
  const key = 'variable' in ref ? process.env[ref.variable] : keys.of(ref.named)
  return key === null || key === undefined || !/^[\x21-\x7e]{1,512}$/.test(key) ? undefined : key
}

function localBackend(path: string, allowFixture: boolean): GgufBackend {
  return new GgufBackend({ path, context: GGUF_CONTEXT, allowFixture, load: loadLlamaPackage })
}

function localEntry(backend: GgufBackend): BackendEntry {
  const supports = new Set(['jsonSchema', 'streamUsage'] as const)
  const model = { id: 'local', roles: GGUF_ROLES, context: GGUF_CONTEXT, supports, declaredParameters: null }
  return { backend, models: [model], limits: GGUF_LIMITS }
}
