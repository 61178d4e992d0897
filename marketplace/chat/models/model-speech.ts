import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { Readiness } from '../../ports/readiness.ts'
import type { Speech, SpeechRequest, SpeedRange, SpokenText } from '../../ports/speech.ts'
import type { ModelPool } from './pool.ts'
import { speaksWith, voicesOf } from './spoken.ts'

/** What OpenAI's interface takes (https://platform.openai.com/docs/api-reference/audio/createSpeech). */
const SPEEDS: SpeedRange = { min: 0.25, max: 4 }
/** Stands between the ids of a backend and of its model; ids of backends have none. */
const MARK = '/'

/** The models of a pool that speak. */
export class ModelSpeech implements Speech {
  readonly #pool: Pick<ModelPool, 'readiness' | 'speak' | 'facts'>

  constructor(pool: Pick<ModelPool, 'readiness' | 'speak' | 'facts'>) {
    this.#pool = pool
  }

  readonly readiness = (): Readiness => this.#pool.readiness('speech', true)

  /** Those of the models that can be asked now, in the order in which they would be. */
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
