import { ok, type Result } from '../../consensus/primitives/result.ts'
import { ModelSpeech } from '../../marketplace/chat/models/model-speech.ts'
import type { ModelPool } from '../../marketplace/chat/models/pool.ts'
import { FirstSpeaker } from '../../marketplace/chat/voice/speakers.ts'
import type { Speech } from '../../marketplace/ports/speech.ts'
import { Espeak } from '../chat/backends/espeak.ts'
import { type ModelParts, type OpenModels, openModels } from '../chat/backends/open-models.ts'
import type { Checkable, ProviderCheck } from './providers/provider.ts'

/** The models, and the speech. */
export interface Asked {
  readonly models: ModelPool
  readonly speech: Speech
}

/** The models, the speech and the translator, with methods to start and close them. */
export interface OpenAsked extends Asked, Pick<OpenModels, 'translator'> {
  readonly checkable: readonly Checkable[]
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What {@link openAsked} needs. */
export interface AskedDependencies extends ModelParts {
  /** Path or name of espeak-ng; null for none. */
  readonly espeak: string | null
}

/** Opens models and speech by the settings. espeak-ng comes after the models. Fault: `config/file`. */
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

/** Checked one after the other, because the translator's state follows from that of its models. */
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
