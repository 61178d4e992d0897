import { ok, type Result } from '../../consensus/primitives/result.ts'
import { ModelSpeech } from '../../marketplace/chat/models/model-speech.ts'
import type { ModelPool } from '../../marketplace/chat/models/pool.ts'
import { FirstSpeaker } from '../../marketplace/chat/voice/speakers.ts'
import type { Speech } from '../../marketplace/ports/speech.ts'
import { Espeak } from '../chat/backends/espeak.ts'
import { type ModelParts, type OpenModels, openModels } from '../chat/backends/open-models.ts'
import type { Checkable, ProviderCheck } from './providers/provider.ts'

/** The models for text and for speech. */
export interface Asked {
  readonly models: ModelPool
  readonly speech: Speech
}

/** The same with the translator, and with start and close. */
export interface OpenAsked extends Asked, Pick<OpenModels, 'translator'> {
  readonly checkable: readonly Checkable[]
  /** Checks all of them now, and regularly afterwards. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What they need. */
export interface AskedDependencies extends ModelParts {
  /** Program that speaks if no model does; null for none. */
  readonly espeak: string | null
}

/**
 * Reads the settings of models and speech. espeak-ng, if configured, comes after the models. The fault is
 * `config/file`.
 */
export async function openAsked(parts: AskedDependencies): Promise<Result<OpenAsked>> {
  const models = await openModels(parts)
  if (!models.ok) return models
  const { pool, translator } = models.value
  const { espeak: program, clock, timers } = parts
  const espeak = program === null ? null : new Espeak({ program, clock, timers })
  const programs = espeak === null ? [] : [espeak]
  return ok({
    models: pool,
    translator,
    speech: new FirstSpeaker([new ModelSpeech(pool), ...programs]),
    checkable: [inOrder(pool, translator), ...programs],
    start: async () => void (await Promise.all([models.value.start(), espeak?.start()])),
    close: async () => {
      espeak?.stop()
      await models.value.close()
    },
  })
}

/** Several as one, checked one after the other: the translator's state follows from that of its models. */
function inOrder(...all: readonly Checkable[]): Checkable {
  return {
    get facts() {
      return all.flatMap(({ facts }) => facts)
    },
    checkAll: async () => {
      const checks: ProviderCheck[] = []
      for (const one of all) checks.push(...(await one.checkAll()))
      return checks
    },
  }
}
