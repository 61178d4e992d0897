import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'

/** A text to be spoken. */
export interface SpeechRequest {
  /** At most as long as one request can speak. */
  readonly text: string
  /** One of {@link Speech.voices}; null means the speaker's first voice. */
  readonly voice: string | null
  /** 1 is normal, 2 twice as fast. */
  readonly speed: number
  /** The speaker of another part of the same text, from {@link SpokenText.by}; null means any speaker. */
  readonly by: string | null
}

/** Spoken text. The bytes should be a WAV file, but are unchecked. */
export interface SpokenText {
  readonly bytes: Uint8Array
  /** Names the speaker, for {@link SpeechRequest.by} of the other parts. */
  readonly by: string
  readonly model: string
}

/** Speeds that the speakers support. */
export interface SpeedRange {
  readonly min: number
  readonly max: number
}

/** The speakers of this node. Faults: `model/*`. */
export interface Speech {
  readonly readiness: () => Readiness
  /** Names of available voices. The first is the default. */
  readonly voices: () => readonly string[]
  readonly speeds: () => SpeedRange
  readonly speak: (request: SpeechRequest, signal: AbortSignal) => Promise<Result<SpokenText>>
}
