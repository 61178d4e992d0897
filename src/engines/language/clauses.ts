/** The number of a clause, on a line of its own or within one: "3. ", "3) ", "\u00a7 3 ". */
const MARK = /(?<![^\s(])(?:(\d{1,3})[.)]|(?:\u00a7 ?|Article |Section |Clause )(\d{1,3})[.:)]?)[^\S\n]+(?=\S)/gu
/** The heading after a clause number: a capital, then text up to a full stop or a line end. */
const HEADING = /\p{Lu}[^.!?:;\n]{1,60}(?=\.[^\S\n]+\S|\r?\n[^\S\n]*\S)/uy
/** A sentence has a verb, a heading has none. */
const VERB =
  /\b(?:is|are|was|were|be|been|may|must|shall|should|will|can|cannot|could|would|has|have|had|does|do|did|applies|apply|ends?|begins?|starts?|costs?|takes?|keeps?|pays?|rents?|\p{L}+ed)\b/iu
const HEADING_WORDS_MAX = 5
/** A text with fewer numbers has no clauses. */
const CLAUSES_MIN = 3
/** The first clause begins within this many characters, or within this part of the text. */
const HEAD_CHARS = 200
const HEAD_PART = 0.25

/** The clauses of a text. */
export interface Clauses {
  readonly count: number
  /** Offsets at which headings begin. */
  readonly headings: ReadonlySet<number>
}

/** Numbered from 1. Null if the text has no clauses. Linear in its length. */
export function clausesOf(text: string): Clauses | null {
  const headings = new Set<number>()
  let count = 0
  for (const { 0: mark, 1: plain, 2: named, index } of text.matchAll(MARK)) {
    if (Number(plain ?? named) !== count + 1) continue
    if (count === 0 && index > Math.max(HEAD_CHARS, text.length * HEAD_PART)) return null
    count += 1
    const start = index + mark.length
    if (isHeading(text, start)) headings.add(start)
  }
  return count < CLAUSES_MIN ? null : { count, headings }
}

/**
 * Commands and prohibitions are rules, not headings. Headings continue with a capital letter, or with "of", "and" or
 * "or".
 */
const COMMAND =
  /^(?:No|Never|Do|Don['\u2019]t|Always|Keep|Open|Close|Use|Wear|Turn|Put|Call|Ask|Report|Wash|Switch|Leave|Stay)\s+(?!(?:of|and|or)\b|(?<=(?:Use|No)\s+)(?:for|on|to|by|in)\b)\p{Ll}/u

/** A few words that another number follows at once are a clause of their own. */
function isHeading(text: string, start: number): boolean {
  HEADING.lastIndex = start
  const heading = HEADING.exec(text)?.[0]
  if (
    heading === undefined ||
    VERB.test(heading) ||
    COMMAND.test(heading) ||
    heading.trim().split(/\s+/).length > HEADING_WORDS_MAX
  )
    return false
  const behind = text.slice(start + heading.length, start + heading.length + 12).replace(/^\.?\s+/, '')
  return !/^\(?\d{1,3}[.)]\s/.test(behind)
}
