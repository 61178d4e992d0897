import type { ChatPiece, ChatSink } from '../../marketplace/chat/call.ts'
import type { FeedOut } from '../server/answer.ts'
import type { CompletionEvents } from './completion.ts'

/** UTF-16 units that may wait for a reader before the model waits too. Most answers have fewer. */
const WAITING_CHARS_MAX = 65_536
/** Texts that are kept before they are joined: each takes more memory than its characters. */
const TEXTS_MAX = 256

/** A waiting piece, or the waiting texts of one choice that followed each other. */
type Waiting = { readonly index: number } & ({ readonly piece: ChatPiece } | { texts: string[] })

/**
 * Carries an answer from a model to one reader. A slow reader must not hold up the model, which other callers wait for: so
 * pieces wait here. The model waits only until a reader is attached, and while too much has gathered.
 */
export class Line {
  /** Resolves once an answer has begun, so that headers can be sent. */
  readonly opened: Promise<'opened'>
  readonly #events: Pick<CompletionEvents, 'piece'>
  readonly #attached: Promise<void>
  #open: (word: 'opened') => void = () => {}
  #attach: () => void = () => {}
  #out: FeedOut | null = null
  /** Resolves when the reader can take more; null while it can. */
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

  /** Where the model puts its pieces. */
  get sink(): ChatSink {
    return { ready: () => this.open(), take: (piece) => this.take(piece) }
  }

  /** Notes that an answer has begun, even if no piece of it has come yet. */
  open(): void {
    this.#open('opened')
  }

  async attach(out: FeedOut): Promise<void> {
    this.#out = out
    await this.#flush(out)
    this.#attach()
  }

  /** Takes a piece. If it returns a promise, the next piece must wait for that. */
  take(piece: ChatPiece): void | Promise<void> {
    this.open()
    if (this.#out === null || this.#blocked !== null) return this.#keep(piece)
    const behind = this.#out.write(this.#events.piece(piece))
    if (behind !== undefined) this.#blocked = this.#after(behind, this.#out)
  }

  /** Resolves once nothing waits. */
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

/** Only pieces that hold text alone are joined. */
function isText(piece: ChatPiece): piece is ChatPiece & { readonly delta: { readonly content: string } } {
  const { delta, logprobs } = piece
  return typeof delta.content === 'string' && logprobs === undefined && Object.keys(delta).length === 1
}
