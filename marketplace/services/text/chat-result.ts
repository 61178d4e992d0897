import { type Static, Type } from 'typebox'
import { tokenUnits } from './token-price.ts'

const TOKENS = Type.Integer({ minimum: 0 })

/** What the sale of a chat needs of its answer, which is that of the OpenAI interface. */
export const CHAT_RESULT = Type.Object({
  usage: Type.Object({ prompt_tokens: TOKENS, completion_tokens: TOKENS }),
})

/** Units of tokens that the answer of a chat used, see {@link tokenUnits}. */
export function unitsOfChat(result: unknown): bigint {
  const { usage } = result as Static<typeof CHAT_RESULT>
  return tokenUnits({ promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens })
}
