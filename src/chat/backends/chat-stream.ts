import { setImmediate } from 'node:timers/promises'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { Fields } from '../../../consensus/primitives/fields.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { ChatAnswer, DeltaSink } from '../../../marketplace/chat/models/backend.ts'
import { type ChatAssembly, readJson, unusableAnswer } from './chat-answer.ts'
import type { ServerAnswer } from './model-server.ts'

const EVENT_CHARS_MAX = 1_048_576
/** Longest stream of a model. */
export const STREAM_BYTES_MAX = 16 * 1_048_576
/** Packets that are already there come without a pause, so other work needs a turn after this many pieces. */
const PIECES_AT_ONCE = 128
/** Most malformed pieces that are skipped. */
const SKIPPED_MAX = 1
const DONE = '[DONE]'
/** How long a stream may stay open after its end mark. */
const END_MS = 2_000

/**
 * Reads server-sent events. A stream without a finish reason is `model/cut`, even with an end mark: gateways send the
 * mark alone if their upstream broke off.
 */
export async function readChatStream(
  backend: string,
  { body, end }: Pick<ServerAnswer, 'body' | 'end'>,
  assembly: ChatAssembly,
  sink: DeltaSink,
): Promise<Result<ChatAnswer>> {
  const events = new EventReader()
  const decoder = new TextDecoder()
  let bytes = 0
  const packets = body[Symbol.asyncIterator]()
  try {
    while (!events.isDone) {
      const packet = await nextPacket(packets)
      bytes += packet?.length ?? 0
      // At the end of the stream, an event counts even without its empty line.
      const text = packet === null ? `${decoder.decode()}\n\n` : decoder.decode(packet, { stream: true })
      if (bytes > STREAM_BYTES_MAX || !events.feed(text)) return assembly.tooMuch()
      const taken = await takeAll(events.taken(), assembly, sink)
      if (!taken.ok) return taken
      if (events.skipped > SKIPPED_MAX) return unusableAnswer(backend, 'its stream is not well-formed')
      if (packet === null) break
    }
    return assembly.end(events.skipped)
  } catch (error) {
    if (error instanceof BrokenOff) return fail(fault('model/cut', { backend }))
    throw error
  } finally {
    // After the end mark the connection can be reused. Without the mark the rest is not needed.
    if (events.isDone) void ended(packets, end)
    else end()
  }
}

class BrokenOff extends Error {}

async function nextPacket(packets: AsyncIterator<Uint8Array>): Promise<Uint8Array | null> {
  try {
    const next = await packets.next()
    return next.done === true ? null : next.value
  } catch {
    throw new BrokenOff()
  }
}

/** Keeps the connection for the next question. */
async function ended(packets: AsyncIterator<Uint8Array>, end: () => void): Promise<void> {
  const late = setTimeout(end, END_MS).unref()
  await nextPacket(packets).catch(() => null)
  clearTimeout(late)
  end()
}

async function takeAll(chunks: readonly Fields[], assembly: ChatAssembly, sink: DeltaSink): Promise<Result<undefined>> {
  for (const [i, chunk] of chunks.entries()) {
    if (i % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await setImmediate()
    const piece = assembly.takeChunk(chunk)
    if (!piece.ok) return piece
    if (piece.value !== null) await sink(piece.value.delta, piece.value.logprobs)
  }
  return ok(undefined)
}

class EventReader {
  isDone = false
  /** Events that were not JSON objects, and lines that were no fields. */
  skipped = 0
  readonly #parser: EventSourceParser
  #taken: Fields[] = []
  #isTooLong = false

  constructor() {
    this.#parser = createParser({
      onEvent: ({ data }) => this.#takeEvent(data),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#isTooLong = true
        else if (type === 'unknown-field') this.skipped += 1
      },
      maxBufferSize: EVENT_CHARS_MAX,
    })
  }

  /** False if an event is too long or has too many values. */
  feed(text: string): boolean {
    this.#parser.feed(text)
    return !this.#isTooLong
  }

  taken(): readonly Fields[] {
    return this.#taken.splice(0)
  }

  #takeEvent(data: string): void {
    if (this.isDone || data.trim() === '') return
    if (data.trim() === DONE) {
      this.isDone = true
      return
    }
    const chunk = readJson(data)
    if (chunk === 'too-much') this.#isTooLong = true
    else if (chunk === 'none') this.skipped += 1
    else this.#taken.push(chunk)
  }
}
