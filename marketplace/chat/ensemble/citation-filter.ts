import type { Citation } from '../call.ts'
import type { Source } from '../stage.ts'
import { AFTER_CHARS, BEFORE_CHARS, isMadeUp } from './made-up-marks.ts'

/** The Markdown context of a position, as far as it matters for citation marks. */
type Place =
  | { readonly in: 'text' }
  /** Inline code between runs of this many backticks. */
  | { readonly in: 'span'; readonly run: number }
  /** From a fence line to the line that closes it. */
  | { readonly in: 'fence'; readonly sign: string; readonly run: number }
  /** LaTeX, up to its closing sign. */
  | { readonly in: 'formula'; readonly end: string }

/** `chars` is the number of characters consumed. */
interface Step {
  readonly out: string
  readonly chars: number
}

/** Further citations are not recorded: an answer can be full of marks. */
const CITATIONS_MAX = 500
/** A longer text is no mark and is not held back. */
const MARK_CHARS_MAX = 40
/** A run of fence signs must not be held back forever. */
const RUN_MAX = 40
/** Most numbers that a range in a mark adds to its start. */
const MARK_SOURCES_MAX = 12
/** The beginning of a mark with single or double brackets, and a whole mark in single brackets. */
const MARK_BEGUN = /^\[\[?[\d ,;–-]*\]?$/
const MARK = /^\[ *\d{1,3}(?: *[,;–-] *\d{1,3}){0,9} *\]$/
const SINGLE = /^\[(\d{1,3})\]$/
/** Characters that may change the context. Everything before them passes at once. */
const SIGN = /[`~[\n]/g
/** {@link SIGN} with the signs of LaTeX. */
const SIGN_OR_LATEX = /[`~[\n$\\]/g
/** A dollar sign that opens a formula. Before a digit it means money, and before a space it opens nothing. */
const OPENS_FORMULA = /^\$[^\s\d$]/
/** Two marks with this between them belong together. */
const BETWEEN_MARKS = /^(?:[\s,;&]|and|und|et|y)*$/
const BETWEEN_CHARS_MAX = 8
const TEXT: Place = { in: 'text' }

/**
 * Reads an answer as a stream and removes marks ([1], [1, 2], [1-3]) of sources that do not exist. Code stays
 * untouched. The output does not depend on how the text is split into pieces. With sources, the model was told to cite
 * with such marks, so every bracket with numbers counts as a mark. Without sources, only brackets in the place of a
 * mark do ({@link isMadeUp}), outside of LaTeX.
 */
export class CitationFilter {
  readonly #sources: ReadonlyMap<number, Source>
  readonly #citations: Citation[] = []
  #place: Place = TEXT
  /** Text that cannot be decided yet: a mark, a run of fence signs, or a LaTeX sign at the end of the last piece. */
  #held = ''
  #isLineBlank = true
  #given = 0
  readonly #hasLists: boolean
  /** End of the current line of output. */
  #line = ''
  /** Output since the last removed mark. Null if there is none on this line, or if the output is too long to connect two marks. */
  #sinceMark: string | null = null
  #isCiting = false

  constructor(sources: readonly Source[], { hasLists = false }: { readonly hasLists?: boolean } = {}) {
    this.#sources = new Map(sources.map((source) => [source.index, source]))
    this.#hasLists = hasLists
  }

  /** Of the marks that passed, with their positions in the output. */
  get citations(): readonly Citation[] {
    return this.#citations
  }

  /** Returns the output that is certain. */
  push(piece: string): string {
    return this.#take(this.#held + piece, false)
  }

  /** Returns the output that was held back. */
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

  /** Null if the step needs more text, which never happens at the end. */
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

  /** A new line ends an inline span: an unpaired backtick must not hide marks. */
  #newLine(): string {
    if (this.#place.in === 'span') this.#place = TEXT
    // A formula between single dollar signs ends with its line, any other formula with its paragraph.
    if (this.#place.in === 'formula' && (this.#place.end === '$' || this.#isLineBlank)) this.#place = TEXT
    this.#isLineBlank = true
    const out = this.#give('\n')
    this.#line = ''
    this.#sinceMark = null
    return out
  }

  #latex(signs: string, isEnd: boolean): Step | null {
    if (signs.length < 2 && !isEnd) return null
    const place = this.#place
    const isDollar = signs.startsWith('$')
    // A backslash is taken together with the next character, so that an escaped character opens and closes nothing. The exceptions are \(
    // \) \[ \]: they are signs of LaTeX themselves.
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
    // In code a backslash is literal, and the next character may close the code.
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

  /** The length of a run is known only when another character follows. */
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

/** Each number once, with ranges expanded. */
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

/** Filters a complete text. */
export function citedText(
  text: string,
  sources: readonly Source[],
  filter = new CitationFilter(sources),
): { readonly text: string; readonly citations: readonly Citation[] } {
  const cited = filter.push(text) + filter.end()
  return { text: cited, citations: filter.citations }
}
