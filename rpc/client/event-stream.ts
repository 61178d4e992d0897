import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { readAnswer, refusal, type Transport } from './http.ts'

/** An event as it came; its data is text that a stranger wrote. */
export interface ReceivedEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** A node that says nothing for so long, heartbeats included, is taken for gone. */
export const SILENCE_MS_MAX = 30_000
/** Longest text that one event may have. */
const EVENT_CHARS_MAX = 1_048_576

/** Reads server-sent events out of text that comes in any pieces. */
export class EventReader {
  #rest = ''
  #endsLine = false

  /** The events that are complete now; undefined where one is too long to wait for. */
  push(text: string): readonly ReceivedEvent[] | undefined {
    const isComplete = text.includes('\n\n') || (this.#endsLine && text.startsWith('\n'))
    this.#rest += text
    if (text !== '') this.#endsLine = text.endsWith('\n')
    // What came is looked through where an event ends, and not with each letter of it.
    const blocks = isComplete ? this.#rest.split('\n\n') : [this.#rest]
    this.#rest = blocks.pop() as string
    if (this.#rest.length > EVENT_CHARS_MAX) return undefined
    return blocks.map(readEvent).filter(({ data }) => data !== '')
  }
}

function readEvent(block: string): ReceivedEvent {
  const fields = { event: 'message', id: '', data: '' }
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(event|id|data): ?(.*)$/.exec(line) ?? []
    if (name !== undefined) fields[name as keyof typeof fields] = value
  }
  return fields
}

/**
 * Opens a stream of a node, behind `lastEventId` where it is given. Its events come until the node ends it, falls silent, or the signal says so; the end is no
 * fault. Faults: `cli/node-unreachable`, and `cli/refused` with the node's own words.
 */
export async function openEvents(
  baseUrl: string,
  path: string,
  signal: AbortSignal,
  { fetch = globalThis.fetch, lastEventId }: Pick<Transport, 'fetch'> & { readonly lastEventId?: string } = {},
): Promise<Result<AsyncGenerator<ReceivedEvent>>> {
  const silence = new Silence()
  const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  try {
    const init = {
      headers: { accept: 'text/event-stream', ...resume },
      signal: AbortSignal.any([signal, silence.signal]),
    }
    const response = await fetch(`${baseUrl}${path}`, init)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (response.ok && isStream && response.body !== null) return ok(eventsOf(response.body, silence))
    const answer = await readAnswer(response)
    silence.end()
    return fail(response.ok ? fault('cli/refused', { message: `its answer at ${path} is no stream` }) : refusal(answer))
  } catch {
    silence.end()
    return fail(fault('cli/node-unreachable', { url: baseUrl, advice: '' }))
  }
}

async function* eventsOf(body: ReadableStream<Uint8Array>, silence: Silence): AsyncGenerator<ReceivedEvent> {
  const reader = body.getReader()
  const [decoder, events] = [new TextDecoder(), new EventReader()]
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      silence.broken()
      const complete = events.push(decoder.decode(value, { stream: true }))
      if (complete === undefined) return
      yield* complete
    }
  } catch {
    // However a connection breaks, the stream is over.
  } finally {
    silence.end()
    await reader.cancel().catch(() => {})
  }
}

/** Gives a signal when nothing was heard for too long. */
class Silence {
  readonly #controller = new AbortController()
  #timer = this.#wait()

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  broken(): void {
    this.end()
    this.#timer = this.#wait()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #wait(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#controller.abort(), SILENCE_MS_MAX)
  }
}
