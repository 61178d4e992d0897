/** Values of JSON of one answer that are read or written at once, and those that say how likely one token is: an object of three, and the bytes of the token. */
const VALUES_MAX = 200_000
const LIKELIHOOD_VALUES = 16

/** Tokens of the longest answer that is no stream of plain text, with the likelihoods that are asked for; of several answers, of all together. */
export function wholeTokensMax({ logprobs, top_logprobs: others = 0 }: Readonly<Record<string, unknown>>): number {
  if (logprobs !== true) return Number.POSITIVE_INFINITY
  return Math.floor(VALUES_MAX / ((1 + Number(others)) * LIKELIHOOD_VALUES))
}
