import { CHAT_KEY_ROUTES } from '../../rpc/contract/chat-keys.ts'
import { DASHBOARD_ROUTES } from '../../rpc/contract/dashboard.ts'
import { HELLO } from './chat-server.ts'
import type { Asked } from './ledger-requests.ts'

const many =
  (path: string, rests: readonly string[] = ['']): Asked =>
  (send) =>
    rests.map((rest) => send(`${path}${rest}`))

const QUESTIONS: readonly unknown[] = [
  { question: 'How do I get an API key?' },
  { question: 'Which of Jupiter’s moons has the most ice?' },
  { question: '価格はいくらですか' },
  { question: 'x'.repeat(4_000), more: 1 },
  { question: 'x'.repeat(4_001) },
  { question: '' },
  { question: 7 },
  {},
  '{',
]

/** Requests for the description of the chat platform. */
export const infoRequests: Readonly<Record<string, Asked>> = {
  getApiIndex: many('/api/v1'),
  getChatInfo: many('/api/v1/info'),
  listChatModelInfos: many('/api/v1/info/models'),
  getChatModelInfo: many('/api/v1/info/models', ['/model-1', '/model-voice', '/model-9', `/${'x'.repeat(201)}`]),
  getChatComparison: many('/api/v1/info/compare'),
  getInfoOpenApi: many('/api/v1/info/openapi'),
  askChatInfo: (send) => QUESTIONS.map((body) => send('/api/v1/info/qa', body)),
  getChatPage: many('/chat'),
}

/** Operations on API keys, and the pages where they are made. */
export const KEY_OPERATIONS: readonly string[] = [...Object.keys(CHAT_KEY_ROUTES), ...Object.keys(DASHBOARD_ROUTES)]

const USER = { role: 'user' }
/** Chats that are answered, then chats that are refused. The last one is no JSON. */
const CHATS: readonly unknown[] = [
  HELLO,
  { ...HELLO, stream: true, stream_options: { include_usage: true } },
  { ...HELLO, model: 'model-2' },
  { ...HELLO, model: 'model-3', stream: true },
  { ...HELLO, model: 'model-4', temperature: 0.5, stop: ['END'] },
  { ...HELLO, n: 2, seed: 7 },
  { ...HELLO, tools: [{ type: 'function', function: { name: 'look' } }] },
  { ...HELLO, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } } },
  { ...HELLO, model: 'model-9' },
  { ...HELLO, model: 'model-2', n: 2 },
  { ...HELLO, messages: [] },
  { ...HELLO, messages: [{ ...USER, content: 'word '.repeat(60_000) }] },
  { ...HELLO, messages: [{ ...USER, content: [{ type: 'video_url' }] }] },
  {},
  [],
  '{',
]
const TEXTS: readonly unknown[] = [
  { model: 'model-voice', input: 'Hello there.' },
  { model: 'model-voice', input: 'Hello.', voice: 'nova', response_format: 'wav', speed: 1.5 },
  { model: 'model-voice', input: '' },
  { model: 'model-voice', input: 'Hello.', response_format: 'mp3' },
  { model: 'tts-1', input: 'Hello.' },
  {},
  '{',
]
const TALKS: readonly unknown[] = [
  { messages: HELLO.messages },
  { messages: HELLO.messages, model: 'model-voice', voice: 'alloy' },
  { messages: [] },
  { messages: HELLO.messages, voice: 'nobody' },
  '{',
]

/** Requests of the OpenAI interface. `key` gives a valid key. */
export function openAiRequests(key: () => string): Readonly<Record<string, Asked>> {
  const posts =
    (path: string, bodies: readonly unknown[]): Asked =>
    (send) => [
      ...bodies.map((body) => send(path, body, { authorization: `Bearer ${key()}` })),
      send(path, bodies[0]),
      send(path, bodies[0], { authorization: 'Bearer fk-nothing' }),
      send(path, bodies[0], { authorization: `Bearer ${key()}`, 'content-type': 'text/plain' }),
    ]
  const ids = ['/model-1', '/model-voice', '/model-9', `/${'x'.repeat(200)}`]
  return {
    createChatCompletion: posts('/api/v1/chat/completions', CHATS),
    createChatCompletionAlias: posts('/v1/chat/completions', CHATS),
    listChatModels: many('/api/v1/models'),
    listChatModelsAlias: many('/v1/models'),
    getChatModel: many('/api/v1/models', ids),
    getChatModelAlias: many('/v1/models', ids),
    createSpeech: posts('/api/v1/audio/speech', TEXTS),
    createSpeechAlias: posts('/v1/audio/speech', TEXTS),
    createVoice: posts('/api/v1/voice', TALKS),
  }
}
