import type { Readable } from 'node:stream'
import { Agent, EnvHttpProxyAgent, request } from 'undici'

/** The body must be read or ended. */
export interface ServerAnswer {
  readonly status: number
  /** `name` in lower case. */
  readonly header: (name: string) => string | null
  /** If the connection breaks, it yields everything that came before it throws. */
  readonly body: AsyncIterable<Uint8Array>
  readonly end: () => void
}

/** A request to a server. */
export interface ServerQuestion {
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string | null
}

/** A new connection costs several round trips. Most servers keep an idle one longer. */
const IDLE_MS = 30_000
const OPTIONS = {
  keepAliveTimeout: IDLE_MS,
  // The caller watches for silence itself, and some models think longer than any default.
  headersTimeout: 0,
  bodyTimeout: 0,
}
/** The same switch as that of Node's own `fetch`. */
const USES_PROXY = process.env.NODE_USE_ENV_PROXY === '1'
const CONNECTIONS = USES_PROXY ? new EnvHttpProxyAgent(OPTIONS) : new Agent(OPTIONS)

/**
 * Redirects are not followed. Rejects without an answer, with a `code` in the error. Not `fetch`, which takes twice the
 * CPU time before the first word.
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

/** When a connection breaks, the stream's iterator stops, although packets that came before are still buffered. */
async function* packetsOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    const left: Uint8Array | null = body.read()
    if (left !== null) yield left
    throw error
  }
}
