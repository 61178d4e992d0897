import type { Sentence } from '../../../marketplace/services/text/sentences.ts'
import { withoutCourtesy } from './courtesy.ts'

/** The line that mail programs put above a signature. */
const DELIMITER = /^--\s*$/
/** A longer text after such a line is not a signature. */
const SIGNATURE_CHARS_MAX = 600
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}@.'\u2019-]*/gu
const GREETING = /^\W*(?:dear|hi|hello|hey|hallo|greetings)(?!\p{L})/iu
const NAME = /^(?:\p{Lu}|(?:and|of|von|der|und|the|for|f\u00fcr)$)/u
const ADDRESS = /[\d@]|\p{L}\.\p{L}/u

/** Offsets of sentences that only greet, thank, take leave or sign: they say nothing about the subject of a letter. */
export function formsOf(text: string, sentences: readonly Sentence[]): ReadonlySet<number> {
  const signature = signatureStart(text)
  return new Set(sentences.filter((one) => one.start >= signature || isForm(one.text)).map(({ start }) => start))
}

/** "Kind regards, Anna Berg". */
function isForm(sentence: string): boolean {
  if (!/\p{Ll}/u.test(sentence)) return false
  const rest = uncourteous(sentence)
  return rest.length < sentence.trim().length && wordsOf(rest).every((word) => NAME.test(word))
}

/** The signature begins at a delimiter line or a line that takes leave. The end of the text if there is none. */
function signatureStart(text: string): number {
  const earliest = text.length - SIGNATURE_CHARS_MAX
  let [end, hasOthers] = [text.length, false]
  while (end > 0) {
    const start = text.lastIndexOf('\n', end - 1) + 1
    if (start < earliest) break
    const line = text.slice(start, end)
    if (DELIMITER.test(line) && start > 0) return start
    const isLeave = !hasOthers && start > 0 && wordsOf(line).length > 0 && wordsOf(uncourteous(line)).length === 0
    if (isLeave) return start
    hasOthers ||= !wordsOf(line).every((word) => NAME.test(word) || ADDRESS.test(word))
    end = start - 1
  }
  return text.length
}

function uncourteous(sentence: string): string {
  return withoutCourtesy(sentence, 'asking').replace(GREETING, '').trim()
}

function wordsOf(text: string): readonly string[] {
  return text.match(WORDS) ?? []
}
