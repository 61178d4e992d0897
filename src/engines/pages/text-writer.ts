import { visible } from './text.ts'

/** Elements that begin and end a paragraph, except those in `LINES`. */
const PARAGRAPHS = new Set(
  'address article aside blockquote dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav ol p pre section summary table tr ul caption'.split(
    ' ',
  ),
)
/** Elements that begin a line. Those with content also end it. */
const LINES = new Set(['li', 'tr', 'dt', 'dd', 'br', 'summary'])

/** The text of a page: an empty line between paragraphs, one line for each item and row. */
export class TextWriter {
  readonly #parts: string[] = []
  #breaks = 0
  #blank = false
  #pre = 0
  length = 0

  open(tag: string): void {
    if (tag === 'pre') this.#pre += 1
    this.#boundary(tag)
    if (tag === 'li') this.#write('- ')
    if (tag === 'td' || tag === 'th') this.#blank = true
  }

  close(tag: string): void {
    if (tag === 'pre') this.#pre = Math.max(0, this.#pre - 1)
    if (tag !== 'br') this.#boundary(tag)
  }

  text(text: string): void {
    if (this.#pre > 0) {
      this.#write(visible(text).replace(/\r\n?/g, '\n'))
      return
    }
    const words = visible(text).replace(/\s+/g, ' ')
    if (words.startsWith(' ')) this.#blank = true
    const trimmed = words.trim()
    if (trimmed === '') return
    this.#write(trimmed)
    this.#blank = words.endsWith(' ')
  }

  toString(): string {
    return this.#parts.join('').trim()
  }

  #boundary(tag: string): void {
    const breaks = LINES.has(tag) ? 1 : PARAGRAPHS.has(tag) ? 2 : 0
    this.#breaks = Math.max(this.#breaks, breaks)
  }

  #write(text: string): void {
    if (this.length > 0) {
      const gap = this.#gap()
      if (gap !== '') this.#add(gap)
    }
    this.#breaks = 0
    this.#blank = false
    this.#add(text)
  }

  /** Preformatted text may already end with line breaks. */
  #gap(): string {
    const last = this.#parts.at(-1) ?? ''
    if (this.#breaks > 0) return '\n'.repeat(Math.max(0, this.#breaks - (last.endsWith('\n') ? 1 : 0)))
    return this.#blank && !/\s$/.test(last) ? ' ' : ''
  }

  #add(text: string): void {
    this.#parts.push(text)
    this.length += text.length
  }
}
