import { expect, it } from 'vitest'
import { ANSWER_TOKENS_EXPECTED_MAX, expectedTokens } from '../../../../marketplace/chat/expected-tokens.ts'
import { estimatedPrompt } from '../../../../marketplace/chat/models/usage.ts'
import { callOf } from '../../../support/chat-world.ts'

const messages = [{ role: 'user', content: 'Why is the sky blue? '.repeat(40) }]
const PROMPT = estimatedPrompt(messages)

it('a chat is expected to use its prompt and the answer that it may have, for each answer', () => {
  expect(expectedTokens(callOf({ messages, maxTokens: 300 }))).toBe(PROMPT + 300)
  expect(expectedTokens(callOf({ messages, maxTokens: 300, count: 4 }))).toBe(4 * (PROMPT + 300))
})

it('no caller is held back for a maximum that hardly any answer comes near', () => {
  expect(expectedTokens(callOf({ messages, maxTokens: 131_072 }))).toBe(PROMPT + ANSWER_TOKENS_EXPECTED_MAX)
})

it('stages read and write several times, and one call does not, whatever the model is called', () => {
  const rounds = (['model-1', 'model-2', 'model-3', 'model-4'] as const).map(
    (model) => expectedTokens(callOf({ model, messages, maxTokens: 300 })) / (PROMPT + 300),
  )
  expect(rounds).toEqual([1, 3, 8, 6])
  const json = { form: { is: 'json' }, messages, maxTokens: 300 } as const
  expect(expectedTokens(callOf({ ...json, model: 'model-3' }))).toBe(PROMPT + 300)
})

it('tools are read with the prompt', () => {
  const tools = [{ type: 'function', function: { name: 'look', description: 'Looks at the sky. '.repeat(30) } }]
  const call = callOf({ messages, maxTokens: 300, usesTools: true, extra: { tools } })
  expect(expectedTokens(call)).toBe(estimatedPrompt(messages, { tools }) + 300)
  expect(expectedTokens(call)).toBeGreaterThan(PROMPT + 400)
})
