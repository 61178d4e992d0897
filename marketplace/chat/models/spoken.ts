import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok } from '../../../consensus/primitives/result.ts'
import type { SpokenText } from '../../ports/speech.ts'
import type { Work } from './attempts.ts'
import type { ModelFacts } from './backend.ts'
import type { Member } from './member.ts'
import { estimatedTokens } from './tokens.ts'

/** A text for a speech model. */
export interface PoolSpeechRequest {
  readonly text: string
  /** Null means the model's first voice. */
  readonly voice: string | null
  readonly speed: number
  /** Null means any speech model. */
  readonly only: { readonly backend: string; readonly model: string } | null
}

/** Speech by a model of the pool, unprocessed. */
export interface PoolSpeech extends Omit<SpokenText, 'by'> {
  readonly backend: string
}

/** More than usual: one failed part of a text makes all earlier parts useless. */
const RETRIES_MAX = 4
const VOICES_DEFAULT = ['alloy'] as const

/** Voices of a speech model. */
export function voicesOf({ voices = VOICES_DEFAULT }: ModelFacts): readonly string[] {
  return voices
}

/** Whether a model speaks, with this voice if one is given. */
export function speaksWith(voice: string | null, model: ModelFacts): boolean {
  return model.roles.includes('speech') && (voice === null || voicesOf(model).includes(voice))
}

/** The speech work for candidates of a pool. */
export function speechWork({
  text,
  voice,
  speed,
}: PoolSpeechRequest): Work<{ readonly member: Member; readonly model: ModelFacts }, PoolSpeech> {
  return {
    tokens: estimatedTokens(text),
    // No paid service speaks.
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
