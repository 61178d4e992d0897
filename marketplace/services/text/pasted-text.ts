import { ENTITY, entitySign } from './entities.ts'
import { withoutQuotes } from './quoted-mail.ts'

/** A tag, a declaration, or the beginning or end of a comment. The pattern reads every part of a text once. */
const TAG = /<!--|-->|<(\/?)([a-z][a-z0-9]*)(?:[\s/][^<>]*)?>|<![a-z][^<>]*>/gi
/** Elements that mark a text as HTML. Other angle brackets, such as `List<String>`, are content. */
const KNOWN =
  setOf(`a abbr address article aside b big blockquote body br button caption center code dd del details div dl dt em
  font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins label li link main mark meta nav ol option p picture
  pre script section select small source span strong style sub summary sup svg table tbody td template textarea tfoot th thead time
  title tr u ul video`)
/** Elements within a sentence; all others end one. */
const INLINE = setOf('a abbr b big button code del em font i ins label mark small span strong sub sup time u')
/** Elements whose text is not for readers. */
const SILENT = setOf('head iframe script select style svg template textarea')
const TAGS_MIN = 2
/** How mail programs mark a quoted mail; other block quotes are content. */
const ANSWERED =
  /\s(?:(?:class|id)=["']?[^"'<>]*(?:gmail_quote|yahoo_quoted|moz-cite|protonmail_quote)|type=["']?cite\b)/i
const ANSWERED_CHARS = 400
/**
 * The readable text of pasted input: HTML without tags, scripts and comments, mail without what it quotes (see {@link
 * withoutQuotes}), and entities decoded. Never throws; linear in the length.
 */
export function pastedText(text: string, charsMin = 1): string {
  const tags = text.includes('<') ? [...text.matchAll(TAG)] : []
  const isHtml = tags.filter(([, , name]) => name !== undefined && KNOWN.has(name.toLowerCase())).length >= TAGS_MIN
  const isAnswer = isHtml && tags.some(([tag]) => ANSWERED.test(tag.slice(0, ANSWERED_CHARS)))
  return withoutQuotes(withoutEntities(isHtml ? withoutTags(text, tags, isAnswer) : text), { charsMin, isAnswer })
}

/** With `isAnswer`, block quotes get the mark ">" of mail quotes. */
function withoutTags(text: string, tags: readonly RegExpExecArray[], isAnswer: boolean): string {
  const parts: string[] = []
  /** The element or comment that is skipped until it ends. */
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

function withoutEntities(text: string): string {
  return text.replace(ENTITY, (entity, decimal, hex, name) => entitySign(decimal, hex, name) ?? entity)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
