import type { ChatPiece } from '../../marketplace/chat/call.ts'
import type { FeedOut } from '../server/answer.ts'
import type { CompletionEvents } from './completion.ts'

/** UTF-16 units of an answer that wait for a reader before whoever answers waits too: more than most answers have. */
const WAITING_CHARS_MAX = 65_536
/** Texts that are kept one by one: each takes more room than what is in it. */
const TEXTS_MAX = 256

/** What waits: a piece as it came, or the texts of an answer that followed each other. */
type Waiting = { readonly index: number } & ({ readonly piece: ChatPiece } | { texts: string[] })

/**
 * The line on which an answer goes to one reader, who need not be there yet. A reader who is slow does not hold up the model, which
 * others wait for: what is said meanwhile waits here, put together, and only where that is much the model waits as well.
 */
export class Line {
  /** Resolves once something is to be sent. */
  readonly opened: Promise<'opened'>
  readonly #events: Pick<CompletionEvents, 'piece'>
  readonly #attached: Promise<void>
  #open: (word: 'opened') => void = () => {}
  #attach: () => void = () => {}
  #out: FeedOut | null = null
  /** Until when nothing can be written; null where something can. */
  #blocked: Promise<void> | null
  #waiting: Waiting[] = []
  #chars = 0

  constructor(events: Pick<CompletionEvents, 'piece'>) {
    this.#events = events
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
    this.#attached = new Promise((resolve) => {
      this.#attach = resolve
    })
    this.#blocked = this.#attached
  }

  /** Something good is certain. */
  open(): void {
    this.#open('opened')
  }

  /** The reader is there: what waits for him is written. */
  async attach(out: FeedOut): Promise<void> {
    this.#out = out
    await this.#flush(out)
    this.#attach()
  }

  /** Takes the next piece; the one after it waits for a promise that is given back. */
  take(piece: ChatPiece): void | Promise<void> {
    this.open()
    if (this.#out === null || this.#blocked !== null) return this.#keep(piece)
    const behind = this.#out.write(this.#events.piece(piece))
    if (behind !== undefined) this.#blocked = this.#after(behind, this.#out)
  }

  /** Resolves once nothing waits any more. */
  async rest(): Promise<void> {
    while (this.#blocked !== null) await this.#blocked
  }

  #keep(piece: ChatPiece): void | Promise<void> {
    const { index } = piece
    if (isText(piece)) this.#keepText(index, piece.delta.content)
    else {
      this.#chars += JSON.stringify(piece).length
      this.#waiting.push({ index, piece })
    }
    if (this.#out === null || this.#chars > WAITING_CHARS_MAX) return this.#blocked ?? undefined
  }

  #keepText(index: number, text: string): void {
    this.#chars += text.length
    const last = this.#waiting.findLast((one) => one.index === index)
    if (last === undefined || !('texts' in last)) this.#waiting.push({ index, texts: [text] })
    else if (last.texts.push(text) >= TEXTS_MAX) last.texts = [last.texts.join('')]
  }

  async #after(behind: Promise<void>, out: FeedOut): Promise<void> {
    await behind
    await this.#flush(out)
  }

  async #flush(out: FeedOut): Promise<void> {
    while (this.#waiting.length > 0) {
      const text = this.#waiting.map((one) => this.#events.piece(pieceOf(one))).join('')
      this.#waiting = []
      this.#chars = 0
      await out.write(text)
    }
    this.#blocked = null
  }
}

function pieceOf(waiting: Waiting): ChatPiece {
  if ('piece' in waiting) return waiting.piece
  return { index: waiting.index, delta: { content: waiting.texts.join('') } }
}

/** Whether there is nothing in a piece but text: that can be put together, everything else is handed on as it came. */
function isText(piece: ChatPiece): piece is ChatPiece & { readonly delta: { readonly content: string } } {
  const { delta, logprobs } = piece
  return typeof delta.content === 'string' && logprobs === undefined && Object.keys(delta).length === 1
}
