import { taggedHashHex } from '../../../consensus/crypto/hash.ts'
import { textOfMessage } from '../conversation.ts'
import type { ChatMessage } from '../models/backend.ts'
import { bearsImage } from '../vision/image-parts.ts'
import { isInstruction } from './instruct.ts'

/** Characters of history from which on it is compressed. */
export const HISTORY_CHARS_MAX = 20_000
/** Characters of the last turns that are kept as they are, at least. */
const KEPT_CHARS = 6_000
/** Characters that are summarised at once: in a long history more, or there would be too many pieces. */
const PIECE_CHARS = 6_000
const LONG_PIECE_CHARS = 24_000
const LONG_HISTORY_CHARS = 100_000
/** From this share of its characters on a piece is full. */
const FULL_SHARE = 0.75
const CODE_CHARS_MAX = 12_000
const FIGURES_CHARS_MAX = 1_500
const FIGURE_AROUND = 24
const NUMBER = /\d+(?:[.,:/-]\d+)*/g
const CODE_SIGN = /\[code (\d{1,4})\]/g
const UTF8 = new TextEncoder()

/** A part of a turn as it is summarised. */
export interface Turn {
  readonly role: string
  readonly text: string
}

/** Consecutive turns that are summarised together. */
export interface Piece {
  readonly turns: readonly Turn[]
  /** Hash of everything in the history up to the end of the piece: what stands for exactly this beginning of a conversation. */
  readonly key: string
}

/** A conversation taken apart. */
export interface Split {
  /** Instructions, wherever they stood, and messages with images of older turns: as they are. */
  readonly fixed: readonly ChatMessage[]
  /** The oldest turns, in their order. */
  readonly pieces: readonly Piece[]
  /** The last turns as they are, the last question among them. */
  readonly kept: readonly ChatMessage[]
}

/** Characters of the history: what was said before the last question, without instructions. */
export function historyChars(messages: readonly ChatMessage[]): number {
  const last = lastQuestionAt(messages)
  return charsOf(messages.slice(0, last).filter((message) => !isInstruction(message)))
}

/**
 * Takes a conversation apart into what stays and what is summarised. The pieces of a conversation that went on are those that it
 * had before, and further ones: what was summarised once is not summarised again with every question. `pieceChars` bounds a piece
 * where the model that summarises has a small window.
 */
export function splitConversation(messages: readonly ChatMessage[], pieceChars: number): Split {
  const history = messages.slice(0, lastQuestionAt(messages))
  const said = history.filter((message) => !isInstruction(message) && !bearsImage(message))
  const chars = Math.min(pieceChars, charsOf(said) > LONG_HISTORY_CHARS ? LONG_PIECE_CHARS : PIECE_CHARS)
  const { pieces, used } = piecesOf(said.slice(0, keptStart(said)), chars)
  const summarised = new Set(said.slice(0, used))
  const keptFrom = messages.findLastIndex((message) => summarised.has(message)) + 1
  return {
    fixed: messages.slice(0, keptFrom).filter((message) => !summarised.has(message)),
    pieces,
    kept: messages.slice(keptFrom),
  }
}

/** The last question; where there is none, the last message. */
function lastQuestionAt(messages: readonly ChatMessage[]): number {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  return at < 0 ? Math.max(0, messages.length - 1) : at
}

function charsOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + textOfMessage(message).length, 0)
}

/** Index of the first of the last turns: as many as {@link KEPT_CHARS} hold, and a question with its answer in any case. */
function keptStart(said: readonly ChatMessage[]): number {
  let chars = 0
  let start = said.length
  while (start > 0) {
    chars += textOfMessage(said[start - 1] as ChatMessage).length
    if (chars > KEPT_CHARS && said.length - start >= 2) break
    start -= 1
  }
  return start
}

/** Full pieces only: one that is not full yet would be another one with the next question. The rest stays as it is. */
function piecesOf(
  older: readonly ChatMessage[],
  chars: number,
): { readonly pieces: readonly Piece[]; readonly used: number } {
  const pieces: Piece[] = []
  let [used, whole] = [0, 0]
  let turns: Turn[] = []
  let size = 0
  const close = (): void => {
    const before = pieces.at(-1)?.key ?? ''
    pieces.push({ turns, key: taggedHashHex('textDigest', UTF8.encode(JSON.stringify([before, turns]))) })
    turns = []
    size = 0
  }
  for (const [i, { role, ...message }] of older.entries()) {
    const slices = slicesOf(textOfMessage({ role, ...message }), chars)
    for (const text of slices) {
      if (size > 0 && size + text.length > chars) close()
      turns.push({ role, text })
      size += text.length
    }
    if (slices.length === 1 && size < chars * FULL_SHARE) continue
    close()
    used = i + 1
    whole = pieces.length
  }
  return { pieces: pieces.slice(0, whole), used }
}

/** A long text in parts, cut at ends of lines where there are any. */
function slicesOf(text: string, chars: number): readonly string[] {
  const slices: string[] = []
  let from = 0
  while (text.length - from > chars) {
    const line = text.lastIndexOf('\n', from + chars)
    const to = line > from + chars / 2 ? line + 1 : wellFormedEnd(text, from + chars)
    slices.push(text.slice(from, to))
    from = to
  }
  return [...slices, text.slice(from)]
}

function wellFormedEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end
}

/** Turns with their blocks of code taken out, and these. */
export interface WithoutCode {
  readonly turns: readonly Turn[]
  readonly blocks: readonly string[]
}

/** Takes the fenced blocks of code out of turns and leaves signs like [code 1]: no model is to write code again that is there. */
export function withoutCode(turns: readonly Turn[]): WithoutCode {
  const blocks: string[] = []
  let room = CODE_CHARS_MAX
  const bare = turns.map(({ role, text }) => {
    const parts = text.split(/^(?=[ \t]{0,12}(?:```|~~~))/m)
    let out = ''
    let block: string | null = null
    for (const part of parts) {
      const isFence = /^[ \t]{0,12}(?:```|~~~)/.test(part)
      if (block === null && isFence) block = part
      else if (block === null) out += part
      else {
        const closing = part.indexOf('\n')
        const [end, after] = closing < 0 ? [part, ''] : [part.slice(0, closing), part.slice(closing)]
        out += take(block + end)
        out += after
        block = null
      }
    }
    return { role, text: block === null ? out : out + block }
  })
  return { turns: bare, blocks }

  function take(block: string): string {
    if (block.length > room) return block
    room -= block.length
    blocks.push(block)
    return `[code ${blocks.length}]`
  }
}

/**
 * The summary of a piece made whole: its code put back where the model left its sign and else behind it, and the numbers that it
 * left out, each with the words around it.
 */
export function completed(summary: string, { turns, blocks }: WithoutCode): string {
  const left = new Map(blocks.map((block, i) => [String(i + 1), block]))
  const text = summary.replace(CODE_SIGN, (sign, n: string) => {
    const block = left.get(n)
    // Once each: a sign that a model writes again and again must not make the history longer.
    left.delete(n)
    return block === undefined ? sign : `\n${block}\n`
  })
  const said = turns.map((turn) => turn.text).join('\n')
  const figures = missingFigures(said.replace(CODE_SIGN, ' '), summary)
  const more = figures.length === 0 ? [] : [`Also named: ${figures.join('; ')}`]
  return [text.trim(), ...left.values(), ...more].join('\n')
}

/** Numbers of a text that a summary lacks, in the words around them. */
function missingFigures(text: string, summary: string): readonly string[] {
  const known = new Set(summary.match(NUMBER))
  const found: string[] = []
  let room = FIGURES_CHARS_MAX
  for (const { 0: number, index } of text.matchAll(NUMBER)) {
    if (known.has(number)) continue
    known.add(number)
    const around = text.slice(Math.max(0, index - FIGURE_AROUND), index + number.length + FIGURE_AROUND)
    const words = around.toWellFormed().replace(/\s+/g, ' ').trim()
    if (words.length > room) break
    room -= words.length
    found.push(words)
  }
  return found
}
