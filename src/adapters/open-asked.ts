import { ok, type Result } from '../../consensus/primitives/result.ts'
import { ModelSpeech } from '../../marketplace/chat/models/model-speech.ts'
import type { ModelPool } from '../../marketplace/chat/models/pool.ts'
import { FirstSpeaker } from '../../marketplace/chat/voice/speakers.ts'
import type { Speech } from '../../marketplace/ports/speech.ts'
import { Espeak } from '../chat/backends/espeak.ts'
import { type ModelParts, type OpenModels, openModels } from '../chat/backends/open-models.ts'
import type { Checkable, ProviderCheck } from './providers/provider.ts'

/** Whom the node asks for words and for speech. */
export interface Asked {
  readonly models: ModelPool
  readonly speech: Speech
}

/** The same with who translates, and with what begins and ends them. */
export interface OpenAsked extends Asked, Pick<OpenModels, 'translator'> {
  readonly checkable: readonly Checkable[]
  /** Looks at all of them for the first time, and from then on. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What they are made from. */
export interface AskedDependencies extends ModelParts {
  /** Program that speaks where no model does; null is none. */
  readonly espeak: string | null
}

/** Reads the settings of models and speech; espeak-ng, where it is named, comes after the models. The fault is `config/file`. */
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

/** Several as one, each checked after the one before it: a translator is as well as the models that it asks. */
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
