import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { readAnswer, refusal, type Transport } from './http.ts'

/** `data` is text of an untrusted node. */
export interface ReceivedEvent {
  readonly event: string
  readonly id: string
  readonly data: string
}

/** A node that sends nothing for this long, not even a heartbeat, counts as gone. */
export const SILENCE_MS_MAX = 30_000
const EVENT_CHARS_MAX = 1_048_576

/** Reads server-sent events from text that arrives in pieces. */
export class EventReader {
  #rest = ''
  #endsLine = false

  /** The events that this text completes. Undefined if the unfinished event is too long: its end may never come. */
  push(text: string): readonly ReceivedEvent[] | undefined {
    const isComplete = text.includes('\n\n') || (this.#endsLine && text.startsWith('\n'))
    this.#rest += text
    if (text !== '') this.#endsLine = text.endsWith('\n')
    // Split only when an event ends: splitting at each piece would take quadratic time.
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
 * The stream ends with the connection or the signal, or if the node is silent too long or sends too long an event. Faults:
 * `cli/node-unreachable`, and `cli/refused` with the node's words.
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
    // A broken connection ends the stream too.
  } finally {
    silence.end()
    await reader.cancel().catch(() => {})
  }
}

/** Aborts its signal after {@link SILENCE_MS_MAX} without a call of `broken`. */
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
