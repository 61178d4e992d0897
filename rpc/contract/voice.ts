import { CHAT_BODY, CHAT_WORK_ERRORS, USAGE } from './chat.ts'
import { CHAT_REPORT } from './chat-report.ts'
import type { Route } from './route.ts'
import * as Type from './schema.ts'

/** A text of 4,096 characters fits in this, however JSON escapes it. */
const SPEECH_BODY_BYTES_MAX = 65_536
const VOICE_BODY_BYTES_MAX = 1_048_576

const OPEN = { additionalProperties: true }

const VOICE = Type.String({ minLength: 1, maxLength: 64, description: 'Default: the usual voice' })
const SPEED = Type.Number({ minimum: 0.25, maximum: 4, default: 1 })

const SPEECH_BODY = Type.Object(
  {
    model: Type.Literal('model-voice'),
    input: Type.String({ minLength: 1, maxLength: 4_096, description: 'Its Markdown is not read out' }),
    voice: Type.Optional(VOICE),
    response_format: Type.Optional(Type.Union([Type.Literal('wav'), Type.Literal('pcm')], { default: 'wav' })),
    speed: Type.Optional(SPEED),
  },
  OPEN,
)

const VOICE_BODY = Type.Object(
  {
    ...Type.Omit(CHAT_BODY, ['model', 'stream', 'stream_options']).properties,
    model: Type.Optional(Type.Literal('model-voice')),
    voice: Type.Optional(VOICE),
    speed: Type.Optional(SPEED),
  },
  OPEN,
)

const SPOKEN = Type.Object({
  id: Type.String(),
  object: Type.Literal('voice'),
  created: Type.Integer(),
  model: Type.Literal('model-voice'),
  text: Type.String({ description: 'The answer as text. Its Markdown was not read out' }),
  usage: USAGE,
  x_platform: CHAT_REPORT,
  audio: Type.Object({
    format: Type.Literal('wav'),
    sample_rate: Type.Literal(24_000),
    bits: Type.Literal(16),
    channels: Type.Literal(1),
    duration_ms: Type.Integer({ minimum: 0 }),
    data: Type.String({ contentEncoding: 'base64', description: 'A WAV file' }),
  }),
})

const speech = {
  method: 'POST',
  tag: 'chat',
  summary: 'Read a text out',
  description:
    'OpenAI-compatible, for the model `model-voice`. Markdown is stripped, the text is spoken in pieces of at most 1024 characters, and the sound is one WAV file of 24 kHz, 16 bit, mono, or its samples alone (`pcm`).',
  body: SPEECH_BODY,
  answers: {
    200: {
      description: 'The sound',
      schema: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
      contentType: 'audio/wav',
    },
  },
  isOpenAi: true,
  needsKey: true,
  bodyBytesMax: SPEECH_BODY_BYTES_MAX,
  errors: CHAT_WORK_ERRORS,
  bucket: 'chat',
} as const

/** Operations on speech. */
export const VOICE_ROUTES = {
  createSpeech: { ...speech, path: '/api/v1/audio/speech', operationId: 'createSpeech' },
  createSpeechAlias: { ...speech, path: '/v1/audio/speech', operationId: 'createSpeechAlias' },
  createVoice: {
    method: 'POST',
    path: '/api/v1/voice',
    operationId: 'createVoice',
    tag: 'chat',
    summary: 'Answer a chat, and read the answer out',
    description:
      'The answer is that of model-2; at most 8192 characters of it are read out, and `x_platform.speech` tells how many.',
    body: VOICE_BODY,
    answers: { 200: { description: 'The answer with its sound', schema: SPOKEN } },
    isOpenAi: true,
    needsKey: true,
    bodyBytesMax: VOICE_BODY_BYTES_MAX,
    errors: CHAT_WORK_ERRORS,
    bucket: 'chat',
  },
} as const satisfies Record<string, Route>
