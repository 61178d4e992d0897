import { ModelSpeech } from '../../marketplace/chat/models/model-speech.ts'
import { type VoiceMeans, VoicePlatform } from '../../marketplace/chat/voice/voice-platform.ts'
import { eventLoopPacer, systemClock } from '../../src/daemon/runtime.ts'
import { type ChatWorld, HOUSE } from './chat-world.ts'

const BUDGET_MS = 10_000
const AT_ONCE_MAX = 8

/** A server with two models: one that answers, and one that only speaks. */
export const SPEAKING_BACKEND = {
  models: [HOUSE, { id: 'house-voice', roles: ['speech' as const], voices: ['alloy', 'nova'] }],
}

/** The voice platform over the servers of a world. */
export function voiceOver(
  { platform, pool, engines }: Pick<ChatWorld, 'platform' | 'pool' | 'engines'>,
  means: Partial<VoiceMeans> = {},
): VoicePlatform {
  const speech = new ModelSpeech(pool)
  const usual = { platform, speech, engines, clock: systemClock, pacer: eventLoopPacer }
  return new VoicePlatform({ ...usual, budgetMs: BUDGET_MS, atOnceMax: AT_ONCE_MAX, ...means })
}
