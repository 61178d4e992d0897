import { type Static, Type } from 'typebox'
import type { ServiceId } from '../../../consensus/primitives/ids.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ModelAnswer } from '../../ports/models.ts'
import type { ServiceContext } from '../context.ts'
import { delivered, ENGINE_ENVELOPE, engineEnvelope } from '../envelope.ts'
import { unusable } from '../requests.ts'
import { defineService } from '../service.ts'
import { isChatText } from './chat-line.ts'
import { PRICE_UNITS, tokenUnits } from './token-price.ts'

const ID = 'node-llm-chat' as ServiceId
const REQUEST_CHARS_MAX = 8_000
const FORMAT = {
  requestFormat: `any prompt text, 1-${REQUEST_CHARS_MAX} characters`,
  example: 'Explain proof of work in two sentences.',
}
const ROLE = 'general'
const ANSWER_TOKENS_MAX = 1_024
const TEXT_CHARS_MAX = 32_000
/** Finish reasons that mean there is no answer to sell. */
const NO_ANSWER: ReadonlySet<string> = new Set(['error', 'content_filter', 'tool_calls', 'function_call'])

const TOKENS = Type.Integer({ minimum: 0 })
const RESULT = Type.Object({
  ...ENGINE_ENVELOPE,
  text: Type.String({ minLength: 1, maxLength: TEXT_CHARS_MAX }),
  /** The backend's name of the model. */
  model: Type.String(),
  finishReason: Type.String(),
  usage: Type.Object({
    promptTokens: TOKENS,
    completionTokens: TOKENS,
    totalTokens: TOKENS,
    /** Whether the token counts are estimates, because the backend did not count. */
    estimated: Type.Boolean(),
  }),
  truncated: Type.Boolean(),
})

function parse(request: string): Result<string> {
  const prompt = request.trim()
  if (isChatText(prompt)) return unusable('a chat is asked at its own address', FORMAT)
  return prompt === '' ? unusable('there is no prompt', FORMAT) : ok(prompt)
}

async function chat(prompt: string, context: ServiceContext, signal: AbortSignal) {
  const request = { role: ROLE, messages: [{ role: 'user', content: prompt }], maxTokens: ANSWER_TOKENS_MAX } as const
  const answer = delivered(await context.outside.models.complete(request, signal))
  return { ...engineEnvelope(ID, answer.backend, context), ...answerFacts(answer) }
}

function answerFacts({ text, model, finishReason, usage }: ModelAnswer) {
  if (NO_ANSWER.has(finishReason)) throw new Error(`the model ended without an answer (${finishReason})`)
  if (text.trim() === '') throw new Error('the model said nothing')
  const truncated = finishReason === 'length' || text.length > TEXT_CHARS_MAX
  return { text: text.slice(0, TEXT_CHARS_MAX).toWellFormed(), model, finishReason, usage, truncated }
}

/** A language model's answer to a prompt. */
export const llmChat = defineService<string, typeof RESULT>({
  serviceId: ID,
  name: 'Language model',
  description:
    "A language model's answer to any prompt, of up to 1024 tokens, with the model as its backend names it, why the answer ended, and the tokens used. An empty, broken or filtered answer is refunded.",
  brief: 'Answers any prompt with a language model, in up to 1024 tokens.',
  words: 'ai gpt assistant write poem essay story code generate completion ask',
  capability: 'compute',
  priceUsdMicros: 12_000n,
  ...FORMAT,
  sample: {
    service: ID as string,
    asOf: '2026-11-20T12:00:00.000Z',
    engine: 'house',
    text: 'Proof of work makes a block expensive to find and cheap to check. Rewriting history would cost all that work again.',
    model: 'example-8b-instruct',
    finishReason: 'stop',
    usage: { promptTokens: 15, completionTokens: 26, totalTokens: 41, estimated: false },
    truncated: false,
  },
  timeoutMs: 60_000,
  resultBytesMax: 262_144,
  repeatable: true,
  reachesOut: true,
  requestCharsMax: REQUEST_CHARS_MAX,
  parse,
  ready: ({ outside }) => outside.models.readiness(ROLE),
  resultSchema: RESULT,
  execute: chat,
  usedOnTab: (result) => ({ times: tokenUnits((result as Static<typeof RESULT>).usage), of: PRICE_UNITS }),
})
