import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { FirstSpeaker } from '../../marketplace/chat/voice/speakers.ts'
import { ModelSpeech } from '../../marketplace/models/model-speech.ts'
import type { ModelPool } from '../../marketplace/models/pool.ts'
import type { Speech } from '../../marketplace/outside/speech.ts'
import { Espeak } from './espeak.ts'
import type { Checkable } from './providers/provider.ts'

/** Who speaks for the node, with what begins and ends it. */
export interface OpenSpeech {
  readonly speech: Speech
  /** What is not among the models. */
  readonly checkable: readonly Checkable[]
  /** Looks for the first time, and from then on. */
  readonly start: () => Promise<void>
  readonly stop: () => void
}

/** Models with the role speech, and after them espeak-ng where the operator names it. */
export function openSpeech(
  pool: ModelPool,
  espeak: string | null,
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
): OpenSpeech {
  const models = new ModelSpeech(pool)
  const program = espeak === null ? [] : [new Espeak({ program: espeak, clock, timers })]
  return {
    speech: new FirstSpeaker([models, ...program]),
    checkable: program,
    start: async () => void (await Promise.all(program.map((one) => one.start()))),
    stop: () => program.forEach((one) => void one.stop()),
  }
}
