import { ENTITY, entitySign } from './entities.ts'
import { withoutQuotes } from './quoted-mail.ts'

/** A tag, or a border of a comment. Every part of a text is read once. */
const TAG = /<!--|-->|<(\/?)([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>|<![a-z][^<>]*>/gi
/** Elements whose tags tell that a text is HTML: others, such as `List<String>`, are what the text says. */
const KNOWN =
  setOf(`a abbr address article aside b big blockquote body br button caption center code dd del details div dl dt em
  font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins label li link main mark meta nav ol option p picture
  pre script section select small source span strong style sub summary sup svg table tbody td template textarea tfoot th thead time
  title tr u ul video`)
/** Those within a sentence; all others end one. */
const INLINE = setOf('a abbr b big button code del em font i ins label mark small span strong sub sup time u')
/** Those whose text is not for readers. */
const SILENT = setOf('head iframe script select style svg template textarea')
const TAGS_MIN = 2
/** How mail programs mark a mail that is answered; other block quotes are part of what is said. */
const ANSWERED =
  /\s(?:(?:class|id)=["']?[^"'<>]*(?:gmail_quote|yahoo_quoted|moz-cite|protonmail_quote)|type=["']?cite\b)/i
const ANSWERED_CHARS = 400
/**
 * A text as it is read where it was pasted: of HTML without tags, scripts and comments, each block on a line of its own, entities
 * as the signs that they stand for; of a mail without what it quotes, if at least `charsMin` characters are left. Any other text
 * as it stands. Total; the work grows with the length.
 */
export function pastedText(text: string, charsMin = 1): string {
  const tags = text.includes('<') ? [...text.matchAll(TAG)] : []
  const isHtml = tags.filter(([, , name]) => name !== undefined && KNOWN.has(name.toLowerCase())).length >= TAGS_MIN
  const isAnswer = isHtml && tags.some(([tag]) => ANSWERED.test(tag.slice(0, ANSWERED_CHARS)))
  return withoutQuotes(withoutEntities(isHtml ? withoutTags(text, tags, isAnswer) : text), { charsMin, isAnswer })
}

/** `isAnswer` has block quotes marked as mail programs mark what they quote. */
function withoutTags(text: string, tags: readonly RegExpExecArray[], isAnswer: boolean): string {
  const parts: string[] = []
  /** The element, or the comment, that is passed over until it ends. */
  let silent: string | null = null
  let [quotes, at] = [0, 0]
  for (const tag of tags) {
    const name = (tag[2] ?? tag[0]).toLowerCase()
    if (silent === null) {
      if (isAnswer && name === 'blockquote') quotes = Math.max(0, quotes + (tag[1] === '' ? 1 : -1))
      parts.push(flowing(text.slice(at, tag.index)), INLINE.has(name) ? '' : quotes > 0 ? '\n> ' : '\n')
      if (name === '<!--' || (SILENT.has(name) && tag[1] === '')) silent = name === '<!--' ? '-->' : name
    } else if (name === silent && tag[1] !== '') silent = null
    at = tag.index + tag[0].length
  }
  if (silent === null) parts.push(flowing(text.slice(at)))
  const lines = parts.join('').split('\n')
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '>')
    .join('\n')
}

/** In HTML a line break is a space. */
function flowing(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** An unknown entity stands for itself. */
function withoutEntities(text: string): string {
  return text.replace(ENTITY, (entity, decimal, hex, name) => entitySign(decimal, hex, name) ?? entity)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
