/** The text between two sentence ends, with its position and the whitespace after it. */
export interface Stretch {
  readonly start: number
  readonly text: string
}

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'sentence' })
/** Characters around a full stop that decide whether it ends a sentence. */
const LOOK_CHARS = 40

/** Abbreviations that never end a sentence. */
const NEVER_LAST =
  /(?:^|[\s("'\u201c\u2018])(?:Dr|Mr|Mrs|Ms|Mx|Prof|Gen|Sen|Rep|Gov|Capt|Lt|Col|Sgt|Rev|Hon|Mt|Messrs|Mmes|[Ee]\.\s?g|[Ii]\.\s?e|[Cc]f|[Vv]s|[Vv]|[Aa]pprox|[Ii]ncl|[Ee]xcl|[Ee]sp|[Rr]esp)\.$/
/** Abbreviations that do not end a sentence if a number follows. */
const BEFORE_NUMBER =
  /(?:^|[\s("'\u201c\u2018])(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|[Nn]os?|[Pp]p?|[Vv]ol|[Cc]h|[Aa]rt|[Ss]ec|Figs?|Eqs?|[Cc]a|[Cc]irca|Tel|Ext)\.$/
/** Abbreviations and initials that may end a sentence: the next word decides. */
const MAY_BE_LAST =
  /(?:^|[\s("'\u201c\u2018])(?:(?:\p{Lu}\.[\s-]?)*\p{Lu}|St|Ave|Rd|Blvd|Ste|Inc|Ltd|Corp|Co|Bros|Jr|Sr|Ph\.?D|al|Dept|Univ|Assn|Ft)\.$/u
/** The end of a time of day. It does not end a sentence if a weekday, a time zone or a bracket follows. */
const TIME = /\d\s?[ap]\.\s?m\.$/i
const DAY = /^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[A-Z]{2,4}\b|\()/
/** Words that begin sentences and are not parts of names. */
const OPENERS: ReadonlySet<string> = new Set(
  `The A An He She It They We I You His Her Their Its My Our This That These Those There Here In On At For From With By As When While
  After Before Since Although But And Or So Then Now Later If What Who How Why Where Not No Yes Some Many Most All Both Each Every
  Also Even Only Once Today Yesterday Do Does Did Is Are Was Were Has Have Had Will Would Can Could However Meanwhile Despite Because
  Nobody Everybody Another Other Others Two Three Several Few Until During Under Over Between Such`.split(/\s+/),
)

/** Splits a text at its sentence ends and line breaks. Nothing is dropped. Linear in the length. */
export function* stretches(text: string): Generator<Stretch> {
  let from = 0
  for (const { index, segment } of SEGMENTER.segment(text)) {
    const end = index + segment.length
    if (end < text.length && goesOn(segment.slice(-LOOK_CHARS), text.slice(end, end + LOOK_CHARS))) continue
    yield { start: from, text: text.slice(from, end) }
    from = end
  }
}

/** Whether the sentence continues after the mark at the end of `before`. */
function goesOn(before: string, after: string): boolean {
  const said = before.trimEnd()
  const gap = before.slice(said.length)
  // Without a gap, the mark is probably the question mark inside a URL.
  if (gap === '') return /[?!]$/.test(said) && /^[\p{Ll}\p{N}=&]/u.test(after)
  if (/[\r\n\u2028\u2029]/.test(gap)) return false
  // Like: "Where?" he asked.
  if (/(?:[?!]["'\u201d\u2019)]|\.{3}|\u2026)$/.test(said)) return /^\p{Ll}/u.test(after)
  if (!said.endsWith('.')) return false
  if (NEVER_LAST.test(said)) return true
  if (BEFORE_NUMBER.test(said) && /^\d/.test(after)) return true
  if (TIME.test(said)) return DAY.test(after)
  return MAY_BE_LAST.test(said) && !OPENERS.has(/^\p{L}+/u.exec(after)?.[0] ?? 'The')
}
