/**
 * Tokens of answers of stages that say something of the conversation, and the share of a small window that they may take instead.
 * Models that think aloud think within them.
 */
export const ASIDE_TOKENS = { most: 1_024, share: 0.25 }
/** Tokens of an answer that there must be room for, where its caller allows as many. */
export const ANSWER_TOKENS_MIN = 128

/**
 * UTF-16 units of what one stage hands to the next at most; what is longer is cut in its middle. An answer that another stage
 * rewrites is never cut: where it does not fit, it is not rewritten.
 */
export const HANDED_CHARS = { research: 6_000, plan: 4_000, critique: 4_000, findings: 2_000, judged: 24_000 }

/** Issues of a verdict, and UTF-16 units of each. */
export const ISSUES_MAX = 8
/** @see ISSUES_MAX */
export const ISSUE_CHARS_MAX = 300
