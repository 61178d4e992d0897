import type { Readiness } from './readiness.ts'

/** Result of one GET of an endpoint. */
export interface Probe {
  readonly path: string
  /** Null without an answer. */
  readonly status: number | null
  readonly latencyMs: number
  readonly requestId: string | null
  readonly contentType: string | null
  /** Why no answer came. */
  readonly error: string | null
}

/** Checks the endpoint that the operator named, and no other. */
export interface EndpointProbe {
  readonly readiness: () => Readiness
  readonly target: string
  /** One GET, without redirects and retries, within `timeoutMs`. */
  readonly probe: (path: string, timeoutMs: number, signal: AbortSignal) => Promise<Probe>
}
