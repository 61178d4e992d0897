/** Most JSON values that are parsed or written at once. */
const VALUES_MAX = 200_000
const LIKELIHOOD_VALUES = 16

/**
 * Most tokens with log probabilities in answers that are not streamed as plain text; the answers of one chat share
 * them. A token takes {@link LIKELIHOOD_VALUES} values: three fields and its bytes. Infinite without log probabilities.
 */
export function wholeTokensMax({ logprobs, top_logprobs: others = 0 }: Readonly<Record<string, unknown>>): number {
  if (logprobs !== true) return Number.POSITIVE_INFINITY
  return Math.floor(VALUES_MAX / ((1 + Number(others)) * LIKELIHOOD_VALUES))
}
