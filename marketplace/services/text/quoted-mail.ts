/** A quoted line of a mail; ">50 %" and ">= 5" are content. */
const QUOTED = /^[^\S\n]*>(?![=\d])/
const MARKS = /^[^\S\n]*(?:>(?![=\d])[^\S\n]?)+/
/** The attribution ("On ... wrote:") fits on a line of this length, or on two. */
const LINE_CHARS = 300
/** "On Mon, 23 Nov 2026 at 10:12, Shop wrote:", "Am 23.11.2026 um 10:12 schrieb Shop:". */
const WRITTEN_ON = /^(?:On|Am|Le)\s.*(?:\d:\d\d|\d{4})/
/** Mail programs give the time to the minute; prose that mentions a date seldom does. */
const TO_THE_MINUTE = /\d:\d\d/
/** Marks of a forwarded mail, whose content is meant to be read. After dashes, words may follow. */
const MARKER =
  '(?:Begin )?Forwarded message|(?:Anfang der )?weitergeleiteten? Nachricht|(?:Début du )?message transféré'
const PASSED_ON = new RegExp(`^(?:-*\\s*(?:${MARKER})\\s*[-:]*$|-{2,}\\s*(?:${MARKER})(?![\\p{L}\\p{N}]))`, 'iu')
const SENTENCE_END = /[.!?]$/
const WROTE = /(?:\bwrote|\bschrieb\b.{0,100}|\ba \u00e9crit)\s?:$/
const SAYS = /[\p{L}\p{N}]/u

/**
 * A mail without its quotations and their attributions. If it was forwarded, if fewer than `charsMin` characters would
 * remain, or if it has no attribution and is not known to be a reply, it loses only quote marks and attributions. Never
 * throws; linear in the length.
 */
export function withoutQuotes(
  text: string,
  { charsMin, isAnswer }: { readonly charsMin: number; readonly isAnswer: boolean },
): string {
  const lines = text.split('\n')
  const telling = tellingLines(lines)
  if (telling.size === 0 && !lines.some((line) => QUOTED.test(line))) return text
  const first = isPassedOn(lines, telling) ? lines.length : isAnswer ? 0 : beginOf(lines, telling)
  const own = lines.filter((line, i) => !telling.has(i) && (i < first || !QUOTED.test(line))).join('\n')
  if (first < lines.length && own.trim().length >= charsMin && SAYS.test(own)) return own
  const all = lines.filter((_, i) => !telling.has(i)).map((line) => line.replace(MARKS, ''))
  return all.join('\n')
}

/** Index of the first attribution; the number of lines if there is none. */
function beginOf(lines: readonly string[], telling: ReadonlySet<number>): number {
  const first = lines.findIndex((_, i) => telling.has(i))
  return first < 0 ? lines.length : first
}

/** The mark counts on a line that is not quoted, or on the first quoted line if no attribution is before it. */
function isPassedOn(lines: readonly string[], telling: ReadonlySet<number>): boolean {
  const quoted = lines.findIndex((line, i) => telling.has(i) || QUOTED.test(line))
  return lines.some((line, i) => (i === quoted || !QUOTED.test(line)) && PASSED_ON.test(said(line)))
}

/** Indexes of the attribution lines: those with a time to the minute, or right before a quoted line. */
function tellingLines(lines: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>()
  let isBeforeQuote = false
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = said(lines[i] as string)
    const isDated = WRITTEN_ON.test(line)
    const before = i === 0 ? '' : said(lines[i - 1] as string)
    const isBroken = !isDated && WRITTEN_ON.test(before) && !SENTENCE_END.test(before)
    const isToTheMinute = TO_THE_MINUTE.test(isBroken ? before : line) && (isDated || isBroken)
    if (WROTE.test(line) && (isToTheMinute || isBeforeQuote)) {
      found.add(i)
      if (isBroken) found.add(i - 1)
    }
    if (line !== '' || QUOTED.test(lines[i] as string)) isBeforeQuote = QUOTED.test(lines[i] as string)
  }
  return found
}

function said(line: string): string {
  return line.length > LINE_CHARS ? '' : line.replace(MARKS, '').trim()
}
