import type { ModelUsage } from '../../ports/models.ts'

/** A token that a model writes costs so many times as much as one that it reads, as at most providers. */
const WRITTEN = 4n
/** The price of node-llm-chat pays for its longest answer, 1,024 tokens, and for 2,048 tokens that were read. */
export const PRICE_UNITS = 1_024n * WRITTEN + 2_048n

/** Tokens in units of which {@link PRICE_UNITS} cost the price of node-llm-chat. A token that was read is one. */
export function tokenUnits({
  promptTokens,
  completionTokens,
}: Pick<ModelUsage, 'promptTokens' | 'completionTokens'>): bigint {
  return BigInt(promptTokens) + WRITTEN * BigInt(completionTokens)
}
