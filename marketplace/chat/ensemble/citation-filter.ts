import type { Citation } from '../call.ts'
import type { Source } from '../stage.ts'
import { AFTER_CHARS, BEFORE_CHARS, isMadeUp } from './made-up-marks.ts'

/** A place within Markdown, as far as marks go. */
type Place =
  | { readonly in: 'text' }
  /** Between runs of so many backticks on one line. */
  | { readonly in: 'span'; readonly run: number }
  /** From a line that begins with a fence to the line that closes it. */
  | { readonly in: 'fence'; readonly sign: string; readonly run: number }
  /** LaTeX, up to what closes it. */
  | { readonly in: 'formula'; readonly end: string }

/** What a step over the text gives out, and how much of the text it took. */
interface Step {
  readonly out: string
  readonly chars: number
}

/** Marks whose places are told at most: an answer that is nothing but marks needs no list of them. */
const CITATIONS_MAX = 500
/** Characters of a mark at most: what is longer is no mark, and is held back no longer. */
const MARK_CHARS_MAX = 40
/** Fence signs in a row that are looked at together: the run must not be held back without an end. */
const RUN_MAX = 40
/** Sources that one mark names at most, ranges worked out. */
const MARK_SOURCES_MAX = 12
/** What may still become a mark, and what is one: with one pair of brackets, or with two. */
const MARK_BEGUN = /^\[\[?[\d ,;–-]*\]?$/
const MARK = /^\[ *\d{1,3}(?: *[,;–-] *\d{1,3}){0,9} *\]$/
const SINGLE = /^\[(\d{1,3})\]$/
/** Where something changes: everything up to it is taken at once. */
const SIGN = /[`~[\n]/g
/** The same with the signs of LaTeX. */
const SIGN_OR_LATEX = /[`~[\n$\\]/g
/** A dollar sign that opens a formula: before an amount or a space it is money. */
const OPENS_FORMULA = /^\$[^\s\d$]/
/** What may stand between two marks of one place. */
const BETWEEN_MARKS = /^(?:[\s,;&]|and|und|et|y)*$/
const BETWEEN_CHARS_MAX = 8
const TEXT: Place = { in: 'text' }

/**
 * Reads an answer as it comes, and takes out every mark ([1], [1, 2], [1-3]) of a source that there is none of; of a mark with
 * several, those. Code is left as it is. What it gives out is the same however the text is cut into pieces; it holds back no more
 * than a mark that has begun.
 *
 * With sources, the model was told to cite by such marks, and all brackets with numbers in them are taken for marks. Without, only
 * those are that stand where a mark would ({@link isMadeUp}), outside of LaTeX; two characters behind them are held back, too.
 */
export class CitationFilter {
  readonly #sources: ReadonlyMap<number, Source>
  readonly #citations: Citation[] = []
  #place: Place = TEXT
  /** A mark that has begun, or a run of fence signs whose length is not known yet. */
  #held = ''
  #isLineBlank = true
  #given = 0
  readonly #hasLists: boolean
  /** End of the line as it was given out. */
  #line = ''
  /** What was given out since a mark was taken out; null before the first, and where it is too much for one between two marks. */
  #sinceMark: string | null = null
  #isCiting = false

  constructor(sources: readonly Source[], { hasLists = false }: { readonly hasLists?: boolean } = {}) {
    this.#sources = new Map(sources.map((source) => [source.index, source]))
    this.#hasLists = hasLists
  }

  /** Marks that were let through, with their places in what was given out. */
  get citations(): readonly Citation[] {
    return this.#citations
  }

  /** Takes the next piece, and gives out what is certain. */
  push(piece: string): string {
    return this.#take(this.#held + piece, false)
  }

  /** The rest, at the end of the answer. */
  end(): string {
    return this.#take(this.#held, true)
  }

  #take(text: string, isEnd: boolean): string {
    let out = ''
    let at = 0
    while (at < text.length) {
      const taken = this.#step(text, at, isEnd)
      if (taken === null) break
      out += taken.out
      at += taken.chars
    }
    this.#held = text.slice(at)
    return out
  }

  /** The next step over a text; null where more of it must be known, which is never so at its end. */
  #step(text: string, at: number, isEnd: boolean): Step | null {
    const signs = this.#isGrounded ? SIGN : SIGN_OR_LATEX
    signs.lastIndex = at
    const next = signs.exec(text)?.index ?? text.length
    if (next > at) return { out: this.#plain(text.slice(at, next)), chars: next - at }
    const sign = text[at] as string
    if (sign === '\n') return { out: this.#newLine(), chars: 1 }
    if (sign === '$' || sign === '\\') return this.#latex(text.slice(at, at + 2), isEnd)
    if (sign !== '[') return this.#run(text, at, isEnd)
    return this.#place.in === 'text' ? this.#bracket(text, at, isEnd) : { out: this.#plain(sign), chars: 1 }
  }

  get #isGrounded(): boolean {
    return this.#sources.size > 0
  }

  #give(text: string): string {
    this.#given += text.length
    this.#line = `${this.#line}${text}`.slice(-BEFORE_CHARS)
    if (this.#sinceMark !== null) this.#sinceMark += text
    if ((this.#sinceMark?.length ?? 0) > BETWEEN_CHARS_MAX) this.#sinceMark = null
    return text
  }

  #plain(text: string): string {
    if (this.#isLineBlank && text.trim() !== '') this.#isLineBlank = false
    return this.#give(text)
  }

  /** An inline span ends with its line at the latest: a backtick without a partner must not hide marks. */
  #newLine(): string {
    if (this.#place.in === 'span') this.#place = TEXT
    // So does a formula, or with its paragraph.
    if (this.#place.in === 'formula' && (this.#place.end === '$' || this.#isLineBlank)) this.#place = TEXT
    this.#isLineBlank = true
    const out = this.#give('\n')
    this.#line = ''
    this.#sinceMark = null
    return out
  }

  /** A sign of LaTeX with the one behind it. */
  #latex(signs: string, isEnd: boolean): Step | null {
    if (signs.length < 2 && !isEnd) return null
    const place = this.#place
    const isDollar = signs.startsWith('$')
    // What is escaped opens and closes nothing, but for the brackets of LaTeX.
    const chars = isDollar && signs !== '$$' ? 1 : signs.length
    if (place.in === 'formula' && signs.startsWith(place.end)) {
      this.#place = TEXT
      return { out: this.#plain(place.end), chars: place.end.length }
    }
    if (place.in === 'text') {
      if (signs === '$$') this.#place = { in: 'formula', end: '$$' }
      else if (signs === '\\(') this.#place = { in: 'formula', end: '\\)' }
      else if (signs === '\\[') this.#place = { in: 'formula', end: '\\]' }
      else if (OPENS_FORMULA.test(signs)) this.#place = { in: 'formula', end: '$' }
    }
    // In code a backslash is one, and what follows it may close the code.
    const isCode = place.in === 'span' || place.in === 'fence'
    const taken = isCode || signs === '\\\n' ? 1 : chars
    return { out: this.#plain(signs.slice(0, taken)), chars: taken }
  }

  #bracket(text: string, at: number, isEnd: boolean): Step | null {
    const head = text.slice(at, at + MARK_CHARS_MAX)
    const closing = head.startsWith('[[') ? ']]' : ']'
    const end = head.indexOf(closing) + closing.length
    const isClosed = end >= closing.length
    if (!isClosed && !isEnd && head.length < MARK_CHARS_MAX && MARK_BEGUN.test(head)) return null
    const pairs = closing.length - 1
    if (!isClosed || !MARK.test(head.slice(pairs, end - pairs))) return { out: this.#plain('['), chars: 1 }
    if (this.#isGrounded) return { out: this.#mark(head.slice(0, end)), chars: end }
    const mark = head.slice(0, end)
    const after = text.slice(at + end, at + end + AFTER_CHARS)
    if (!this.#isMadeUp(mark, after)) return { out: this.#plain(mark), chars: end }
    if (after.length < AFTER_CHARS && !isEnd) return null
    this.#isCiting = true
    this.#sinceMark = ''
    return { out: '', chars: end }
  }

  #isMadeUp(mark: string, after: string): boolean {
    const isChained = this.#sinceMark !== null && BETWEEN_MARKS.test(this.#sinceMark)
    return isMadeUp(mark, {
      ...{ before: this.#line, after, isChained },
      ...{ isCiting: this.#isCiting, hasLists: this.#hasLists },
    })
  }

  #mark(mark: string): string {
    const named = sourcesNamed(mark)
    const known = named.flatMap((index) => this.#sources.get(index) ?? [])
    if (known.length === 0) return ''
    const start = this.#given
    const isWhole = known.length === named.length
    const out = this.#plain(isWhole ? mark : `[${known.map(({ index }) => index).join(', ')}]`)
    for (const { index, url, title } of known)
      if (this.#citations.length < CITATIONS_MAX) this.#citations.push({ index, url, title, start, end: this.#given })
    return out
  }

  /** A run of backticks or tildes. How long it is is known when something else follows. */
  #run(text: string, at: number, isEnd: boolean): Step | null {
    const sign = text[at] as string
    let chars = 1
    while (text[at + chars] === sign && chars < RUN_MAX) chars += 1
    if (at + chars === text.length && !isEnd && chars < RUN_MAX) return null
    this.#place = this.#after(sign, chars)
    return { out: this.#plain(text.slice(at, at + chars)), chars }
  }

  #after(sign: string, run: number): Place {
    const place = this.#place
    if (place.in === 'formula') return place
    if (place.in === 'fence') return place.sign === sign && run >= place.run && this.#isLineBlank ? TEXT : place
    if (place.in === 'text' && run >= 3 && this.#isLineBlank) return { in: 'fence', sign, run }
    if (sign !== '`') return place
    if (place.in === 'text') return { in: 'span', run }
    return place.run === run ? TEXT : place
  }
}

/** Numbers that a mark names, each once; a range counts as all that lies in it. */
function sourcesNamed(mark: string): readonly number[] {
  const single = SINGLE.exec(mark)
  if (single !== null) return [Number(single[1])]
  const parts = mark.replace(/[[\]]/g, '').split(/[,;]/)
  const numbers = parts.flatMap((part) => {
    const [from = 0, to = from] = part.split(/[–-]/).map(Number)
    return Array.from({ length: Math.min(Math.max(to - from, 0), MARK_SOURCES_MAX) + 1 }, (_, i) => from + i)
  })
  return [...new Set(numbers)]
}

/** A finished text without marks of what there is not, with the places of the others. */
export function citedText(
  text: string,
  sources: readonly Source[],
  filter = new CitationFilter(sources),
): { readonly text: string; readonly citations: readonly Citation[] } {
  const cited = filter.push(text) + filter.end()
  return { text: cited, citations: filter.citations }
}
