import { taggedHashHex } from '../../../consensus/crypto/hash.ts'
import { textOfMessage } from '../conversation.ts'
import type { ChatMessage } from '../models/backend.ts'
import { bearsImage } from '../vision/image-parts.ts'
import { isInstruction } from './instruct.ts'

/** A history of more characters is compressed, even if it fits the window. */
export const HISTORY_CHARS_MAX = 20_000
/** The last two turns are kept even if they are longer. */
const KEPT_CHARS = 6_000
/** A piece gets one summary. A long history has larger pieces, to limit their number. */
const PIECE_CHARS = 6_000
const LONG_PIECE_CHARS = 24_000
const LONG_HISTORY_CHARS = 100_000
/** A piece is full from this share of its characters on. */
const FULL_SHARE = 0.75
const CODE_CHARS_MAX = 12_000
const FIGURES_CHARS_MAX = 1_500
const FIGURE_AROUND = 24
const NUMBER = /\d+(?:[.,:/-]\d+)*/g
const CODE_SIGN = /\[code (\d{1,4})\]/g
const UTF8 = new TextEncoder()

/** A part of a turn that is summarised. */
export interface Turn {
  readonly role: string
  readonly text: string
}

/** Consecutive turns that are summarised together. */
export interface Piece {
  readonly turns: readonly Turn[]
  /** Hash of the history up to the end of the piece. */
  readonly key: string
}

/** A conversation, split for compression. */
export interface Split {
  /** Instructions, and older messages with images. They are not summarised. */
  readonly fixed: readonly ChatMessage[]
  /** The oldest turns. */
  readonly pieces: readonly Piece[]
  /** The last turns, with the last question. They are not summarised. */
  readonly kept: readonly ChatMessage[]
}

/** Everything before the last question, without instructions. */
export function historyChars(messages: readonly ChatMessage[]): number {
  const last = lastQuestionAt(messages)
  return charsOf(messages.slice(0, last).filter((message) => !isInstruction(message)))
}

/**
 * When a conversation goes on, its earlier pieces stay the same as long as the size of pieces does, so their summaries
 * can be reused. `pieceChars` limits a piece for models with a small window.
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

/** The last message if there is no question. */
function lastQuestionAt(messages: readonly ChatMessage[]): number {
  const at = messages.findLastIndex(({ role }) => role === 'user')
  return at < 0 ? Math.max(0, messages.length - 1) : at
}

function charsOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + textOfMessage(message).length, 0)
}

/** Keeps at most {@link KEPT_CHARS} of turns, but at least the last two. */
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

/** Only full pieces: an unfinished piece would change with the next question. */
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

/** At line ends if possible. */
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

/** Turns without their code blocks, and the blocks. */
export interface WithoutCode {
  readonly turns: readonly Turn[]
  readonly blocks: readonly string[]
}

/** Signs such as [code 1] replace the blocks, so that the model does not rewrite existing code. */
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
 * Code blocks return in place of their signs, or at the end if the model dropped the sign. Numbers that the summary
 * lacks are added with the words around them.
 */
export function completed(summary: string, { turns, blocks }: WithoutCode): string {
  const left = new Map(blocks.map((block, i) => [String(i + 1), block]))
  const text = summary.replace(CODE_SIGN, (sign, n: string) => {
    const block = left.get(n)
    // Each block once: a model that repeats a sign must not lengthen the history.
    left.delete(n)
    return block === undefined ? sign : `\n${block}\n`
  })
  const said = turns.map((turn) => turn.text).join('\n')
  const figures = missingFigures(said.replace(CODE_SIGN, ' '), summary)
  const more = figures.length === 0 ? [] : [`Also named: ${figures.join('; ')}`]
  return [text.trim(), ...left.values(), ...more].join('\n')
}

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
