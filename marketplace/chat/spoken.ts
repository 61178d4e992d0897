/** Fields of a piece that a reader sees as words. */
const WORDS = ['content', 'reasoning_content', 'reasoning', 'refusal'] as const

/** Whether a piece of an answer has words in it: what was said cannot be taken back, who speaks and the like can be said again. */
export function isSpoken(delta: Readonly<Record<string, unknown>>): boolean {
  return WORDS.some((field) => typeof delta[field] === 'string' && delta[field] !== '')
}
