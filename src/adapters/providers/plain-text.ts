import { ENTITY, entitySign } from '../../../marketplace/services/text/entities.ts'

/** Far longer than any text that is wanted of a provider, so that work on one text has an end. */
const READ_CHARS_MAX = 20_000
const TAG_ROUNDS_MAX = 8
const TAG = /<!--[^<>]*-->|<\/?[a-z][^<>]*>/gi
/** Controls, and what turns the direction of the text around it. */
const UNSEEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** Text as people read it, from text with or without marks of HTML; in one line, cut to this many characters. */
export function plainText(marked: string, charsMax: number): string {
  const text = withoutTags(marked.slice(0, READ_CHARS_MAX)).replace(ENTITY, entity).replace(UNSEEN, ' ')
  return cut(text.toWellFormed().replace(/\s+/g, ' ').trim(), charsMax)
}

/** What is left around a tag can be one again. */
function withoutTags(marked: string): string {
  let text = marked
  for (let round = 0; round < TAG_ROUNDS_MAX; round++) {
    const less = text.replace(TAG, '')
    if (less === text) break
    text = less
  }
  return text
}

/** The beginning of a text, without half a character at its end. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const end = charsMax - 1
  const isPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return `${text.slice(0, isPair ? end - 1 : end).trimEnd()}\u2026`
}

/** A name that is unknown stands for itself, a number without a sign for a space. */
function entity(whole: string, decimal?: string, hex?: string, name?: string): string {
  return entitySign(decimal, hex, name) ?? (name === undefined ? ' ' : whole)
}
