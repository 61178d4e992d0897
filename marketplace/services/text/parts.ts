import { isUsable, type Sentence, usableSentences } from './sentences.ts'
import { type Turn, turnsOf } from './speakers.ts'

/** Candidates for a summary: sentences of prose or of comments in code, list items, or whole turns of a dialogue. */
export type Parts =
  | { readonly kind: 'prose' | 'list' | 'code'; readonly parts: readonly Sentence[] }
  | { readonly kind: 'dialogue'; readonly parts: readonly Turn[] }

/** With fewer turns or items, the text is treated as prose. */
const PARTS_MIN = 3
/** Characters that are analysed to classify a text. */
const LOOK_CHARS = 20_000
const LINE_CHARS = 200
// Not `^` with the flag m: it also matches after \r and U+2028, and a run of those would be rescanned from each, in
// quadratic time.
const ITEM = /(?<![^\n])[^\S\n]*(?:[-*+\u2022\u2013\u25aa\u25e6]|\(?\d{1,3}[.)])[^\S\n]+(?=\S)/gu
/** Minimum share of lines that makes a text a list or a program. */
const LISTED_MIN = 0.5
/** A line of this length may have been wrapped. */
const FULL_LINE_CHARS = 60
const SENTENCE_END = /[.!?]["'\u201d\u2019)]?\s*$/
const CODE_LINES_MIN = 3
const COMMENT = /^[^\S\n]*(?:\/\/+|#+|--|\/\*+|\*+(?!\/))[^\S\n]*/
const CODE =
  /[{};]\s*$|^\s*(?:import\b.*\bfrom\b|from \S+ import\b|(?:async )?def \w+|class \w+|(?:export |async )*function\b|(?:const|let|var) [\w{[]|return\b|(?:(?:el|else )?if|for|while|with|try|else)\b.*[:{]$|#include|(?:SELECT|FROM|JOIN|WHERE|GROUP BY|INSERT INTO|UPDATE|DELETE)\b)|^\s*[\w.[\]"']+(?:\(.*\)|\s*[-+*|]?=\s*\S.*)$/

/** The parts of a text that a summary may quote, whole and verbatim, in order; at most `max`. */
export function usableParts(text: string, max: number): Parts {
  if (isCode(text)) return { kind: 'code', parts: commentsOf(text, max) }
  const dialogue = once(turnsOf(text), max)
  if (dialogue.length >= PARTS_MIN) return { kind: 'dialogue', parts: dialogue }
  const list = once(itemsOf(text), max)
  if (list.length >= PARTS_MIN) return { kind: 'list', parts: list }
  return { kind: 'prose', parts: usableSentences(text, max) }
}

function isCode(text: string): boolean {
  const lines = linesOf(text).filter((line) => !COMMENT.test(line))
  const code = lines.filter((line) => CODE.test(line)).length
  return code >= CODE_LINES_MIN && code >= lines.length * LISTED_MIN
}

function linesOf(text: string): readonly string[] {
  const lines = text.slice(0, LOOK_CHARS).split('\n')
  return lines.filter((line) => line.trim() !== '').map((line) => line.slice(0, LINE_CHARS).trimEnd())
}

/** List items without their bullets, and sentences between and after them. */
function itemsOf(text: string): readonly Sentence[] {
  const marks = [...text.matchAll(ITEM)]
  if (marks.length < PARTS_MIN || marks.length < (text.match(/\S[^\n]*/g)?.length ?? 0) * LISTED_MIN) return []
  return marks.flatMap((mark, i) => {
    const start = mark.index + mark[0].length
    return itemAndLines(text.slice(start, marks[i + 1]?.index ?? text.length), start)
  })
}

/** Later lines are joined up to the end of a sentence: half of a broken sentence alone could say its opposite. */
function itemAndLines(rest: string, start: number): readonly Sentence[] {
  const found: Sentence[] = []
  let [item, open, before] = ['', '', '']
  let [at, isItem] = [0, true]
  for (const line of rest.split(/(?<=\n)/)) {
    isItem &&= at === 0 || goesOn(before, line)
    at += line.length
    before = line
    if (isItem) item += line
    else if (line.trim() === '') open = ''
    else {
      open += line
      if (!SENTENCE_END.test(line)) continue
      found.push({ start: start + at - open.length + open.search(/\S/), text: open.trim() })
      open = ''
    }
  }
  return [{ start, text: item.trim() }, ...found]
}

/** A line continues the item if it is indented or in lower case, or if the line before it was full and open. */
function goesOn(before: string, line: string): boolean {
  if (line.trim() === '') return false
  const full = before.trimEnd()
  return /^[^\S\n]|^\p{Ll}/u.test(line) || (full.length >= FULL_LINE_CHARS && !/[.!?:;]$/.test(full))
}

/** Sentences of comments that fit on one line: longer ones would contain comment marks. */
function commentsOf(text: string, max: number): readonly Sentence[] {
  let isOpen = false
  const masked = text.split('\n').map((line) => {
    const mark = COMMENT.exec(line)?.[0]
    const isComment = mark !== undefined || isOpen
    isOpen = (isOpen || line.trimStart().startsWith('/*')) && !line.includes('*/')
    const said = ' '.repeat(mark?.length ?? 0) + line.slice(mark?.length ?? 0).replace(/\*\/\s*$/, '')
    // A sentence may go on in a comment on the next line; a line of code ends it.
    return isComment ? ` ${said.padEnd(line.length)}` : `\n${' '.repeat(line.length)}`
  })
  const flowing = masked.join('').slice(1)
  const found = usableSentences(flowing, max * 2)
  return found.filter(({ start, text: one }) => text.slice(start, start + one.length) === one).slice(0, max)
}

function once<Part extends Sentence>(parts: readonly Part[], max: number): readonly Part[] {
  const found = new Map<string, Part>()
  for (const part of parts) {
    if (found.size === max) break
    const key = part.text.toLowerCase()
    if (isUsable(part.text) && !found.has(key)) found.set(key, part)
  }
  return [...found.values()]
}
