/** Most UTF-16 units that are spoken at once. */
export const CHUNK_CHARS_MAX = 1_024

/** Text after the window is read too: whether a sentence ends depends on what follows. */
const AHEAD_CHARS = 64
/** Ends of clauses. The next character must begin something new, not be a combining mark. */
const CLAUSE_END = /(?:[,;:–—)\]}»”]\s(?=[^\s\p{M}])|[，、；：](?=[^\s\p{M}]))/gu
const WORD_END = /\s(?=[^\s\p{M}])/gu

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' })
const WORDS = new Intl.Segmenter('en', { granularity: 'word' })
const LETTERS = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Cuts at the end of a sentence, else of a clause, a word, or a letter with its marks. Joined, the pieces are the text. */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = []
  for (let at = 0; at < text.length; ) {
    const end =
      text.length - at <= CHUNK_CHARS_MAX ? text.length : at + cutIn(text.slice(at, at + CHUNK_CHARS_MAX + AHEAD_CHARS))
    chunks.push(text.slice(at, end))
    at = end
  }
  return chunks
}

/** The last good cut, from 1 to {@link CHUNK_CHARS_MAX}. */
function cutIn(window: string): number {
  const cut =
    lastBoundary(SENTENCES, window) ||
    lastEnd(CLAUSE_END, window) ||
    lastEnd(WORD_END, window) ||
    lastBoundary(WORDS, window) ||
    lastBoundary(LETTERS, window)
  if (cut > 0) return cut
  // A letter with a thousand marks must be cut. Surrogate pairs stay whole.
  const last = window.charCodeAt(CHUNK_CHARS_MAX - 1)
  return last >= 0xd800 && last < 0xdc00 ? CHUNK_CHARS_MAX - 1 : CHUNK_CHARS_MAX
}

function lastBoundary(segmenter: Intl.Segmenter, window: string): number {
  let last = 0
  for (const { index } of segmenter.segment(window)) {
    if (index > CHUNK_CHARS_MAX) break
    last = index
  }
  return last
}

function lastEnd(pattern: RegExp, window: string): number {
  let last = 0
  for (const { index, 0: found } of window.matchAll(pattern)) {
    if (index + found.length > CHUNK_CHARS_MAX) break
    last = index + found.length
  }
  return last
}
