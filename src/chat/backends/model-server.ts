import type { Readable } from 'node:stream'
import { Agent, EnvHttpProxyAgent, request } from 'undici'

/** What a server answers; its body is read, or ended. */
export interface ServerAnswer {
  readonly status: number
  /** A header by its name in lower case; null where it did not come. */
  readonly header: (name: string) => string | null
  /** Rejects where the connection breaks off, behind all that came before. */
  readonly body: AsyncIterable<Uint8Array>
  /** Gives up what was not read of it. */
  readonly end: () => void
}

/** What is asked of a server. */
export interface ServerQuestion {
  readonly headers: Readonly<Record<string, string>>
  /** JSON; null where there is none. */
  readonly body: string | null
}

/** Shorter than most servers keep connections; a new one takes several ways there and back before the first word. */
const IDLE_MS = 30_000
const OPTIONS = {
  keepAliveTimeout: IDLE_MS,
  // Whoever asks watches how long nothing comes, and some models think for longer than any default.
  headersTimeout: 0,
  bodyTimeout: 0,
}
/** As Node's own `fetch` takes it. */
const USES_PROXY = process.env.NODE_USE_ENV_PROXY === '1'
const CONNECTIONS = USES_PROXY ? new EnvHttpProxyAgent(OPTIONS) : new Agent(OPTIONS)

/**
 * Asks a server of models. Redirects are answers like any other. Rejects where there is no answer; the error has a `code`. In place of
 * `fetch`, which takes twice the time on the processor, and that before the first word.
 */
export async function askServer(
  url: string,
  { headers, body }: ServerQuestion,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const method = body === null ? 'GET' : 'POST'
  const answer = await request(url, { method, headers, body, signal, dispatcher: CONNECTIONS })
  // Whoever reads it is told, and nobody need read it.
  answer.body.on('error', () => {})
  return {
    status: answer.statusCode,
    header: (name) => {
      const value = answer.headers[name]
      return (typeof value === 'string' ? value : value?.[0]) ?? null
    },
    body: packetsOf(answer.body),
    end: () => void answer.body.destroy(),
  }
}

/**
 * What comes, to its end. A stream whose connection breaks off is destroyed at once, and gives nothing more to those who iterate over
 * it; what they had not taken yet came all the same.
 */
async function* packetsOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    const left: Uint8Array | null = body.read()
    if (left !== null) yield left
    throw error
  }
}
