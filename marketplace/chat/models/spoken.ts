import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import type { SpokenText } from '../../ports/speech.ts'
import type { Work } from './attempts.ts'
import type { ModelFacts } from './backend.ts'
import type { Member } from './member.ts'
import { estimatedTokens } from './tokens.ts'

/** A text for a model that speaks. */
export interface PoolSpeechRequest {
  readonly text: string
  /** Null is the first voice of the model. */
  readonly voice: string | null
  /** 1 is as usual. */
  readonly speed: number
  /** The one model that is wanted, by the ids of its backend and its own; null is any that speaks. */
  readonly only: { readonly backend: string; readonly model: string } | null
}

/** What a model of the pool spoke: as it came, and whose it is. */
export interface PoolSpeech extends Omit<SpokenText, 'by'> {
  readonly backend: string
}

/** Tries in all, pauses between them: parts that were spoken before are lost with one that is not. */
const RETRIES_MAX = 4
/** Voices of a model of which the operator names none. */
const VOICES_DEFAULT = ['alloy'] as const

/** Voices of a model that speaks. */
export function voicesOf({ voices = VOICES_DEFAULT }: ModelFacts): readonly string[] {
  return voices
}

/** Whether a model speaks, with a voice where one is wanted. */
export function speaksWith(voice: string | null, model: ModelFacts): boolean {
  return model.roles.includes('speech') && (voice === null || voicesOf(model).includes(voice))
}

/** The work of speaking, for candidates of a pool. */
export function speechWork({
  text,
  voice,
  speed,
}: PoolSpeechRequest): Work<{ readonly member: Member; readonly model: ModelFacts }, PoolSpeech> {
  return {
    tokens: estimatedTokens(text),
    // Paid services do not speak.
    isFree: true,
    mayTryAgain: () => true,
    retriesMax: RETRIES_MAX,
    ask: async ({ member, model }, until, { heard }) => {
      const { backend } = member.entry
      const request = { model, text, voice: voice ?? (voicesOf(model)[0] as string), speed }
      if (backend.speech === undefined)
        return fail(fault('model/answer', { backend: backend.id, reason: 'it does not speak', ofQuestion: true }))
      const spoken = await backend.speech(request, until, heard)
      if (!spoken.ok) return spoken
      return ok({ value: { bytes: spoken.value, backend: backend.id, model: model.id }, usage: null })
    },
  }
}
