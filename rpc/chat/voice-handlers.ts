import { randomUUID } from 'node:crypto'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { ANSWER_TOKENS_EXPECTED_MAX, expectedTokens } from '../../marketplace/chat/expected-tokens.ts'
import { NO_USAGE, spokenUsage } from '../../marketplace/chat/models/usage.ts'
import { isUnbegun } from '../../marketplace/chat/upstream-fault.ts'
import type { AloudOutcome } from '../../marketplace/chat/voice/voice-platform.ts'
import { VOICE_FORMAT } from '../../marketplace/chat/voice/wav.ts'
import type { ModelUsage } from '../../marketplace/ports/models.ts'
import type { Share } from '../../marketplace/ports/shared-room.ts'
import { httpFault } from '../contract/http-faults.ts'
import type { ChatApi } from '../node/node-api.ts'
import type { ApiRequest, Handler } from '../server/answer.ts'
import { base64Feed, fileFeed } from './audio-feed.ts'
import { usageHeaders, usageJson } from './completion.ts'
import { allowanceHeaders } from './door.ts'
import { readSpeechRequest, readVoiceRequest } from './read-speech.ts'
import { End, enter } from './visit.ts'

const MODEL = 'model-voice'
const TYPES = { wav: 'audio/wav', pcm: 'audio/pcm' } as const

/** Reads a text out. */
export const createSpeech: Handler<'createSpeech'> = async ({ chat }, request) => {
  if (chat == null) return fault('chat/off')
  const read = readSpeechRequest(request.body)
  if (!read.ok) return read.fault
  const { input, wish, format } = read.value
  const expected = (): number => spokenUsage(input).totalTokens
  const done = await aloud(chat, { request, expected }, ({ who, signal, spent }) =>
    chat.voice.speak(input, { ...wish, who }, signal, spent),
  )
  if (!done.ok) return done.fault
  const { made, headers, room } = done.value
  const file = format === 'wav' ? made.file : made.file.slice(1)
  return { feed: fileFeed(file, { ...headers, 'content-type': TYPES[format] }, room) }
}

/** Answers a chat, and reads the answer out. */
export const createVoice: Handler<'createVoice'> = async ({ chat, clock }, request) => {
  if (chat == null) return fault('chat/off')
  const read = readVoiceRequest(request.body, { tokensMax: chat.tokensMax, resumes: false })
  if (!read.ok) return read.fault
  const { call, wish } = read.value
  // Tokens of the answer, and of the part that is read out.
  const expected = (): number =>
    expectedTokens({ ...call, model: 'model-2' }) + Math.min(call.maxTokens, ANSWER_TOKENS_EXPECTED_MAX)
  const done = await aloud(chat, { request, expected }, ({ who, signal, spent }) =>
    chat.voice.answerAloud({ ...call, who }, wish, signal, spent),
  )
  if (!done.ok) return done.fault
  const { made, headers, room } = done.value
  const around = voiceJson(made, Math.floor(clock.now() / 1_000))
  return { feed: base64Feed(around, made.audio.file, { ...headers, ...usageHeaders(made.usage) }, room) }
}

interface Made<T> {
  readonly made: T
  readonly headers: Readonly<Record<string, string>>
  /** Room that the sound takes until it has been sent. */
  readonly room: Share
}

/** What was used is noted in every case. */
async function aloud<T>(
  chat: ChatApi,
  { request, expected }: { readonly request: ApiRequest; readonly expected: () => number },
  make: (means: {
    readonly who: string
    readonly signal: AbortSignal
    readonly spent: (usage: ModelUsage) => void
  }) => Promise<Result<T>>,
): Promise<Result<Made<T>>> {
  const end = new End(request.signal)
  const visit = enter(chat, request, end, expected)
  if (!visit.ok) return visit
  const { pass, left, who, leave } = visit.value
  const room = chat.voice.enter(who)
  const beganMs = performance.now()
  let usage = NO_USAGE
  let made: Result<T> = fail(fault('chat/busy', { model: MODEL, seconds: 1 }))
  let status = 500
  try {
    if (room !== null)
      made = await make({
        who,
        signal: end.signal,
        spent: (used) => {
          usage = used
        },
      })
    if (!made.ok) made = fail(end.faultOf(made.fault))
    status = made.ok ? 200 : statusOf(made.fault)
    if (!made.ok && usage === NO_USAGE && isUnbegun(made.fault)) pass.cancel()
  } finally {
    leave()
    pass.done(usage)
    if (!made.ok) room?.leave()
    const seconds = (performance.now() - beganMs) / 1_000
    chat.onChat({ requestId: request.requestId, model: MODEL, status, seconds, firstPieceSeconds: null, usage })
  }
  if (!made.ok || room === null) return made as Result<never>
  return ok({ made: made.value, headers: allowanceHeaders(left()), room })
}

function statusOf(cause: Fault): number {
  return httpFault(cause.code).status
}

/** JSON of an answer in two parts: before and after the sound. */
function voiceJson({ text, audio, usage, report }: AloudOutcome, created: number): readonly [string, string] {
  const { rate, bits, channels } = VOICE_FORMAT
  const json = JSON.stringify({
    id: `voice-${randomUUID().replaceAll('-', '')}`,
    object: 'voice',
    created,
    model: MODEL,
    text,
    usage: usageJson(usage),
    x_platform: report,
    audio: { format: 'wav', sample_rate: rate, bits, channels, duration_ms: audio.durationMs, data: '' },
  })
  const cut = json.length - '"}}'.length
  return [json.slice(0, cut), json.slice(cut)]
}
