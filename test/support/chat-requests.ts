import { CHAT_KEY_ROUTES } from '../../rpc/contract/chat-keys.ts'
import { DASHBOARD_ROUTES } from '../../rpc/contract/dashboard.ts'
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

/** Requests of what the node says of its chat platform. */
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
