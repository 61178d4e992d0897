import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Readiness } from '../../ports/readiness.ts'
import type { Speech, SpeechRequest, SpeedRange, SpokenText } from '../../ports/speech.ts'
import type { ModelPool } from './pool.ts'
import { speaksWith, voicesOf } from './spoken.ts'

/** The range of OpenAI's API (https://platform.openai.com/docs/api-reference/audio/createSpeech). */
const SPEEDS: SpeedRange = { min: 0.25, max: 4 }
/** Stands between the ids of backend and model. Ids of backends do not contain it. */
const MARK = '/'

/** The speech models of a pool. */
export class ModelSpeech implements Speech {
  readonly #pool: Pick<ModelPool, 'readiness' | 'speak' | 'facts'>

  constructor(pool: Pick<ModelPool, 'readiness' | 'speak' | 'facts'>) {
    this.#pool = pool
  }

  readonly readiness = (): Readiness => this.#pool.readiness('speech', true)

  /** Voices of the models that are available now, in the order of the models. */
  readonly voices = (): readonly string[] => {
    const usable = this.#pool.facts.filter(({ usable }) => usable).flatMap(({ models }) => models)
    return [...new Set(usable.filter((model) => speaksWith(null, model)).flatMap(voicesOf))]
  }

  readonly speeds = (): SpeedRange => SPEEDS

  async speak({ by, ...request }: SpeechRequest, signal: AbortSignal): Promise<Result<SpokenText>> {
    const spoken = await this.#pool.speak({ ...request, only: by === null ? null : placeIn(by) }, signal)
    if (!spoken.ok) return spoken
    const { bytes, backend, model } = spoken.value
    return ok({ bytes, model, by: `${backend}${MARK}${model}` })
  }
}

function placeIn(by: string): { readonly backend: string; readonly model: string } {
  const mark = by.indexOf(MARK)
  return { backend: by.slice(0, mark), model: by.slice(mark + 1) }
}
