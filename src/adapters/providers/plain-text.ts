import { ENTITY, entitySign } from '../../../marketplace/services/text/entities.ts'

/** Longer than any wanted text: it bounds the work on one text. */
const READ_CHARS_MAX = 20_000
const TAG_ROUNDS_MAX = 8
const TAG = /<!--[^<>]*-->|<\/?[a-z][^<>]*>/gi
/** Control characters, zero-width spaces, byte order marks, and marks that change the direction of text. */
const UNSEEN = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

/** One line of plain text, from text with or without HTML. */
export function plainText(marked: string, charsMax: number): string {
  const text = withoutTags(marked.slice(0, READ_CHARS_MAX)).replace(ENTITY, entity).replace(UNSEEN, ' ')
  return cut(text.toWellFormed().replace(/\s+/g, ' ').trim(), charsMax)
}

/** Without a tag, the rest may form a new one, so this runs in rounds. */
function withoutTags(marked: string): string {
  let text = marked
  for (let round = 0; round < TAG_ROUNDS_MAX; round++) {
    const less = text.replace(TAG, '')
    if (less === text) break
    text = less
  }
  return text
}

/** A surrogate pair is not split. */
function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const end = charsMax - 1
  const isPair = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
  return `${text.slice(0, isPair ? end - 1 : end).trimEnd()}\u2026`
}

/** An unknown name stays as it is; an invalid number becomes a space. */
function entity(whole: string, decimal?: string, hex?: string, name?: string): string {
  return entitySign(decimal, hex, name) ?? (name === undefined ? ' ' : whole)
}
