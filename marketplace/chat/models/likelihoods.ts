/** Most JSON values of one answer parsed or written at once, and the values of a token: three fields and its bytes. */
const VALUES_MAX = 200_000
const LIKELIHOOD_VALUES = 16

/** Most tokens of an answer that is not streamed as plain text, with log probabilities. Several answers share it. */
export function wholeTokensMax({ logprobs, top_logprobs: others = 0 }: Readonly<Record<string, unknown>>): number {
  if (logprobs !== true) return Number.POSITIVE_INFINITY
  return Math.floor(VALUES_MAX / ((1 + Number(others)) * LIKELIHOOD_VALUES))
}
