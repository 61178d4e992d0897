/** For notes to later stages: most tokens, and the share of a small window that they may take. Reasoning counts too. */
export const ASIDE_TOKENS = { most: 1_024, share: 0.25 }
/** Least room for an answer in tokens, if the caller allows as much. */
export const ANSWER_TOKENS_MIN = 128

/** Most UTF-16 units that one stage passes to the next. Longer texts are cut in the middle. An answer to rewrite is never cut. */
export const HANDED_CHARS = { research: 6_000, plan: 4_000, critique: 4_000, findings: 2_000, judged: 24_000 }

/** Most issues of a verdict. */
export const ISSUES_MAX = 8
/** Most UTF-16 units of an issue. */
export const ISSUE_CHARS_MAX = 300
