import nlp from 'compromise'
import { NO_NAMES, NO_NAMES_ALONE, SHORT_FORMS, STOP_WORDS } from './stop-words.ts'

/** The role that a word can have in a naming phrase. */
export type WordKind = 'name' | 'noun' | 'adjective' | 'gerund' | 'link' | 'verb' | 'other'

/** A word of a text. */
export interface TaggedWord {
  /** As written in the text, and in lower case. */
  readonly text: string
  readonly lower: string
  readonly kind: WordKind
  /** Whether punctuation or a sentence end separates it from the word before. */
  readonly isApart: boolean
}

interface Term {
  readonly text: string
  readonly pre: string
  readonly post: string
  readonly tags?: ReadonlySet<string>
}

interface Draft {
  readonly text: string
  readonly lower: string
  readonly tags: ReadonlySet<string>
  readonly isApart: boolean
  readonly isFirst: boolean
  /** In a clause heading capital letters do not indicate names. */
  readonly isHeading: boolean
}

/** The tagger's work grows faster than its input, so it reads pieces of this length. */
const PIECE_CHARS = 500
/** Abbreviations such as "St" cost the tagger most: this many pieces of them take about a second. */
const TAGGED_PIECES_MAX = 25
/** Best first. A cut at the end of a line or a sentence divides no name. */
const PIECE_ENDS = ['\n', '. ', ' ']
/** With more capitalised words than this, the text has title case, and capitals do not indicate names. */
const CAPITALS_MAX = 0.5
/** Words within a name, as in "Bank of England". */
const LINKS: ReadonlySet<string> = new Set(['of', 'de', 'del', 'da', 'van', 'von', 'der', 'la', 'al', 'bin'])
const NO_TAGS: ReadonlySet<string> = new Set()

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + PIECE_CHARS)
    const ends = at + PIECE_CHARS < text.length ? PIECE_ENDS.map((end) => piece.lastIndexOf(end) + end.length - 1) : []
    const length = ends.find((end) => end > PIECE_CHARS / 2) ?? piece.length
    pieces.push(piece.slice(0, length))
    at += length
  }
  return pieces
}

/** `document` is the tagger's result, null if the piece was not read. */
export interface TextPiece {
  readonly text: string
  readonly document: ReturnType<typeof nlp> | null
}

/** The tagger reads at most {@link TAGGED_PIECES_MAX}: the first, and others spread over the text. */
export function taggedPieces(text: string): readonly TextPiece[] {
  const pieces = piecesOf(text)
  const read = Math.min(pieces.length, TAGGED_PIECES_MAX)
  const places = new Set(Array.from({ length: read }, (_, i) => Math.floor((i * pieces.length) / read)))
  return pieces.map((piece, place) => ({ text: piece, document: places.has(place) ? nlp(piece) : null }))
}

/** Pieces that were not tagged yield only names. */
export function taggedWords(pieces: readonly TextPiece[]): readonly TaggedWord[] {
  const drafts = pieces.flatMap(({ text, document }) =>
    document === null ? plainDrafts(text) : (document.docs as readonly (readonly Term[])[]).flatMap(draftsOf),
  )
  const lowers = new Set(drafts.filter(({ text }) => !isCapital(text)).map(({ lower }) => lower))
  const inside = new Set(
    drafts
      .filter(({ text, isFirst, isHeading }) => isCapital(text) && !isFirst && !isHeading)
      .map(({ lower }) => lower),
  )
  const hasNames = !hasTitles(drafts) || !hasTitles(drafts.filter(({ isFirst }) => !isFirst))
  const words: TaggedWord[] = []
  for (const [i, draft] of drafts.entries()) {
    const next = drafts[i + 1]
    const isName = hasNames && isNameAt(draft, [next, drafts[i + 2]], lowers, inside)
    const isOwner = draft.lower === 'of' && endsPerson(drafts, i)
    const kind = isName ? 'name' : isOwner ? 'other' : kindOf(draft, next, words, drafts[i - 1])
    words.push({ text: draft.text, lower: draft.lower, kind, isApart: draft.isApart })
  }
  return words
}

function hasTitles(drafts: readonly Draft[]): boolean {
  return drafts.filter(({ text }) => isCapital(text)).length > drafts.length * CAPITALS_MAX
}

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}-]*(?:['\u2019]s(?!\p{L}))?/gu
const OPENS_SENTENCE = /[.!?:"\u201c(]|\n\s*\n/

function plainDrafts(piece: string): readonly Draft[] {
  let end = 0
  return [...piece.matchAll(WORD)].map(({ 0: written, index }): Draft => {
    const between = piece.slice(end, index)
    const text = unowned(
      written,
      /^ (\p{Lu}\p{L}+)/u.exec(piece.slice(index + written.length, index + written.length + NAME_PART_CHARS))?.[1],
    )
    const isFirst = end === 0 || OPENS_SENTENCE.test(between)
    end = index + text.length
    return {
      text,
      lower: text.toLowerCase(),
      tags: NO_TAGS,
      isApart: isFirst || between.trim() !== '',
      isFirst,
      isHeading: false,
    }
  })
}

/** Words joined by a hyphen are one. */
function draftsOf(sentence: readonly Term[]): readonly Draft[] {
  const drafts: Draft[] = []
  const isHeading = isClauseHeading(sentence)
  let [joined, isApart] = ['', true]
  let opens = true
  for (const [i, term] of sentence.entries()) {
    const { text, pre, post, tags } = term
    if (text === '') continue
    isApart ||= pre.trim() !== ''
    joined += text
    if (post === '-') {
      joined += post
      continue
    }
    const next = sentence.slice(i + 1, i + 3).find((term) => term.text !== '')
    const bare = unowned(joined, post === ' ' ? next?.text : undefined)
    const isPossessive = bare !== joined
    drafts.push({
      text: bare,
      lower: bare.toLowerCase(),
      tags: tags ?? NO_TAGS,
      isApart,
      isFirst: opens || /[:"\u201c(]/u.test(pre),
      isHeading,
    })
    joined = ''
    isApart = post.trim() !== '' || isPossessive || /\n\s*\n/.test(post)
    // The heading of a clause begins after its number.
    opens = /[:?!"\u201c(\n]/u.test(post) || (opens && isMark(term, sentence[i - 1])) || isFormOfCompany(term)
  }
  return drafts
}

/** "Ltd.": a sentence may begin after it. */
function isFormOfCompany({ post, tags }: Term): boolean {
  return post.startsWith('.') && tags?.has('Abbreviation') === true && tags.has('Organization')
}

/** The number of a clause: "3.", "\u00a7 3". */
function isMark({ text, post }: Term, before: Term | undefined): boolean {
  return text === PARAGRAPH || (/^\d{1,3}$/.test(text) && (/^[.)]/.test(post) || before?.text === PARAGRAPH))
}

const PARAGRAPH = '\u00a7'

const HEADING_TERMS_MAX = 5

/** "4. Governing Law." */
function isClauseHeading(sentence: readonly Term[]): boolean {
  if (sentence.length > HEADING_TERMS_MAX) return false
  const start = sentence.findIndex((term, i) => !isMark(term, sentence[i - 1]))
  if (start < 1 || !isCapital((sentence[start] as Term).text)) return false
  return !sentence.some(({ tags }) => tags?.has('Verb') === true && !tags.has('Gerund'))
}

const NAME_PART_CHARS = 20
/** Second parts of names with a possessive, such as "King's Cross". */
const OWNED_NAMES: ReadonlySet<string> = new Set(
  `Cross Court Square Street Road Lane Hill College Cathedral Theatre Theater Wood Bridge Park Day Hospital School Church Hall House
  Gate Market Island Bay Arms Inn End Green Well Head Club University Disease Law Syndrome Paradox Theorem Cup Bush Palace Castle
  Garden Gardens Bench Point Landing Chapel Eve`.split(/\s+/),
)

/** A possessive that is part of a name stays: "King's" before "Cross". */
function unowned(word: string, next: string | undefined): string {
  const isPart = isCapital(word) && next !== undefined && OWNED_NAMES.has(next)
  return isPart ? word : word.replace(/['\u2019]s?$/u, '')
}

function isCapital(text: string): boolean {
  return /^\p{Lu}/u.test(text)
}

/** "Ada Berg of Berg Looms" is two names. "Bank of England" and "William of Orange" are one each. */
function endsPerson(drafts: readonly Draft[], at: number): boolean {
  const [first, last] = [drafts[at - 2], drafts[at - 1]]
  if (first === undefined || last === undefined || last.isApart || !isCapital(first.text)) return false
  return last.tags.has('LastName') || (first.tags.has('FirstName') && last.tags.has('Person'))
}

/** The tagger's tags for real names. A word that stands alone, such as "Good.", may get another name tag. */
const NAME_TAGS = ['Person', 'Place', 'Organization']

/** A capital letter indicates a name. At the start of a sentence another sign is needed. */
function isNameAt(
  { text, lower, tags, isFirst, isHeading }: Draft,
  [next, after]: readonly [Draft | undefined, Draft | undefined],
  lowers: ReadonlySet<string>,
  inside: ReadonlySet<string>,
): boolean {
  if (NO_NAMES.has(lower) || SHORT_FORMS.has(lower)) return false
  if (!isCapital(text) || STOP_WORDS.has(lower) || tags.has('Date') || tags.has('Pronoun')) {
    // "New" and "First" are stop words, but can be parts of names.
    return isCapital(text) && !isFirst && tags.has('ProperNoun') && !tags.has('Date') && !tags.has('Pronoun')
  }
  if (!isFirst && !isHeading) return true
  if (lowers.has(lower)) return false
  if (inside.has(lower)) return true
  // "Breakage of pieces" is a thing, whatever the tagger says.
  const isOwned = next?.lower === 'of' && after !== undefined && !isCapital(after.text)
  if (isOwned && !['FirstName', 'City', 'Country'].some((tag) => tags.has(tag))) return false
  if (isHeading) return NAME_TAGS.some((tag) => tags.has(tag))
  const isBeforeCapital = next !== undefined && !next.isApart && isCapital(next.text) && !STOP_WORDS.has(next.lower)
  if (!isBeforeCapital && !NAME_TAGS.some((tag) => tags.has(tag))) return false
  // The tagger takes "Customer service" at the start of a sentence for an organisation.
  if (tags.has('ProperNoun'))
    return !(tags.has('Organization') && next?.tags.has('Organization') === true && !isCapital(next.text))
  return isBeforeCapital && tags.has('Noun')
}

function kindOf(draft: Draft, next: Draft | undefined, words: readonly TaggedWord[], before?: Draft): WordKind {
  const { lower, tags, text } = draft
  if (LINKS.has(lower)) return 'link'
  if (isHeading(draft, next)) return 'other'
  if (
    !/\p{L}{2}/u.test(text) ||
    STOP_WORDS.has(lower) ||
    NO_NAMES.has(lower) ||
    tags.has('Date') ||
    tags.has('Pronoun')
  )
    return 'other'
  if (tags.has('Gerund')) return gerundKind(next, words.at(-1))
  if (tags.has('Noun') || tags.has('Plural') || tags.has('Singular'))
    return isMisreadNoun(next, words.at(-1), before) ? 'verb' : 'noun'
  if (tags.has('Verb') && isParticiple(draft, next, before)) return 'adjective'
  if (tags.has('Verb')) return isMisread(draft, words, before) ? 'noun' : 'verb'
  return tags.has('Adjective') && !tags.has('Comparative') ? 'adjective' : 'other'
}

/** "Complaint about", "Refund the", "Purchasing" below a name: the purpose of a line, not the subject of the text. */
function isHeading({ text, lower, isApart }: Draft, next: Draft | undefined): boolean {
  if (!isApart || !isCapital(text) || !NO_NAMES_ALONE.has(lower)) return false
  return (
    next === undefined || next.isApart || ['Preposition', 'Conjunction', 'Determiner'].some((tag) => next.tags.has(tag))
  )
}

/** "Drinking water" and "interval training", but not "eating the cake" and "working on". */
function gerundKind(next: Draft | undefined, last: TaggedWord | undefined): WordKind {
  if (next === undefined || next.isApart) return 'gerund'
  if (next.tags.has('Preposition')) return last?.kind === 'noun' ? 'gerund' : 'verb'
  return next.tags.has('Determiner') || next.tags.has('Pronoun') ? 'verb' : 'gerund'
}

/** "Could handle", "Madrid beat Barcelona": after modal verbs and between names stands a verb. */
function isMisreadNoun(next: Draft | undefined, last: TaggedWord | undefined, before: Draft | undefined): boolean {
  if (before?.tags.has('Modal')) return true
  return last?.kind === 'name' && next !== undefined && !next.isApart && isCapital(next.text)
}

/** "A paid market": a participle between an article and a noun is an adjective. */
function isParticiple({ tags, isApart }: Draft, next: Draft | undefined, before: Draft | undefined): boolean {
  if (!tags.has('PastTense') || isApart || next === undefined || next.isApart) return false
  return before?.tags.has('Determiner') === true && next.tags.has('Noun')
}

/** A word in -s is no verb after a plural ("the sales figures") or a verb ("needs software updates"). */
function isMisread({ tags, isApart, lower }: Draft, words: readonly TaggedWord[], before: Draft | undefined): boolean {
  const last = words.at(-1)
  if (isApart || before === undefined || last?.kind !== 'noun' || !tags.has('PresentTense') || !lower.endsWith('s'))
    return false
  return before.tags.has('Plural') || (!before.isApart && words.at(-2)?.kind === 'verb')
}
