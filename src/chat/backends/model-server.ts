import type { Readable } from 'node:stream'
import { Agent, EnvHttpProxyAgent, request } from 'undici'

/** Answer of a server. Its body must be read or ended. */
export interface ServerAnswer {
  readonly status: number
  /** A header by its lower-case name. Null if absent. */
  readonly header: (name: string) => string | null
  /** If the connection breaks, it first yields everything that came, and then throws. */
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the connection if the body was not read to its end. */
  readonly end: () => void
}

/** A request to a server. */
export interface ServerQuestion {
  readonly headers: Readonly<Record<string, string>>
  /** JSON. Null for none. */
  readonly body: string | null
}

/** How long an idle connection is kept, since a new one costs several round trips. Most servers keep it longer. */
const IDLE_MS = 30_000
const OPTIONS = {
  keepAliveTimeout: IDLE_MS,
  // The caller watches for silence itself, and some models think longer than any default.
  headersTimeout: 0,
  bodyTimeout: 0,
}
/** Proxy settings as Node's own `fetch` uses them. */
const USES_PROXY = process.env.NODE_USE_ENV_PROXY === '1'
const CONNECTIONS = USES_PROXY ? new EnvHttpProxyAgent(OPTIONS) : new Agent(OPTIONS)

/**
 * Sends a request to a model server. Redirects are not followed. Rejects without an answer, with a `code` in the error.
 * Used instead of `fetch`, which takes twice the CPU time before the first word.
 */
export async function askServer(
  url: string,
  { headers, body }: ServerQuestion,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const method = body === null ? 'GET' : 'POST'
  const answer = await request(url, { method, headers, body, signal, dispatcher: CONNECTIONS })
  // The reader gets the error too. Without a handler it would be uncaught.
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
 * All packets to the end. When a connection breaks, the stream is destroyed and its iterator stops, although packets
 * that came before are still buffered.
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
