import type { Sentence } from '../../../marketplace/services/text/sentences.ts'
import { withoutCourtesy } from './courtesy.ts'

/** The line that mail programs put above a signature. */
const DELIMITER = /^--\s*$/
/** What follows such a line and is longer is no signature. */
const SIGNATURE_CHARS_MAX = 600
const WORDS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}@.'\u2019-]*/gu
const GREETING = /^\W*(?:dear|hi|hello|hey|hallo|greetings)(?!\p{L})/iu
/** What is a name or stands in one; and what is a way to reach a person. */
const NAME = /^(?:\p{Lu}|(?:and|of|von|der|und|the|for|f\u00fcr)$)/u
const ADDRESS = /[\d@]|\p{L}\.\p{L}/u

/** Where sentences begin that only greet, thank, part or sign: forms of a letter, which say nothing of what it is about. */
export function formsOf(text: string, sentences: readonly Sentence[]): ReadonlySet<number> {
  const signature = signatureStart(text)
  return new Set(sentences.filter((one) => one.start >= signature || isForm(one.text)).map(({ start }) => start))
}

/** "Kind regards, Anna Berg": nothing but forms of courtesy, and the names of who is greeted and who signs. */
function isForm(sentence: string): boolean {
  if (!/\p{Ll}/u.test(sentence)) return false
  const rest = uncourteous(sentence)
  return rest.length < sentence.trim().length && wordsOf(rest).every((word) => NAME.test(word))
}

/** Where the lines begin that only tell who writes: below a delimiter, or below a line that takes leave. Else the end of the text. */
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
