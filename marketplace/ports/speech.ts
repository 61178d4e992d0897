import type { Result } from '../../consensus/primitives/result.ts'
import type { Readiness } from './readiness.ts'

/** A text to be spoken. */
export interface SpeechRequest {
  /** What can be spoken at once. */
  readonly text: string
  /** One of {@link Speech.voices}; null is the first of whoever speaks. */
  readonly voice: string | null
  /** 1 is as usual, 2 twice as fast. */
  readonly speed: number
  /** Who is to speak, as {@link SpokenText.by} told of another part of the same text; null is whoever can. */
  readonly by: string | null
}

/** A spoken text, as it came: bytes that should be a WAV file. */
export interface SpokenText {
  readonly bytes: Uint8Array
  /** As it is asked for again. */
  readonly by: string
  readonly model: string
}

/** How fast somebody can speak. */
export interface SpeedRange {
  readonly min: number
  readonly max: number
}

/** Who speaks for this node. Faults: `model/*`. */
export interface Speech {
  readonly readiness: () => Readiness
  /** Names of voices that can be asked for now; the first is taken where none is asked for. */
  readonly voices: () => readonly string[]
  readonly speeds: () => SpeedRange
  readonly speak: (request: SpeechRequest, signal: AbortSignal) => Promise<Result<SpokenText>>
}
